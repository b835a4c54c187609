// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "generator/c_characters.h"
#include "kernel_file/c_type.h"
#include "kernel_file/described_parts.h"
#include "kernel_file/preprocessor.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {
namespace {

// Headers that NVRTC and the host do not need: device code gets their contents without them.
constexpr std::array<std::string_view, 20> known_without = {"<cuda_runtime.h>",
                                                            "<cuda.h>",
                                                            "<cuda_runtime_api.h>",
                                                            "<device_launch_parameters.h>",
                                                            "<vector_types.h>",
                                                            "<stdio.h>",
                                                            "<cstdio>",
                                                            "<stdlib.h>",
                                                            "<cstdlib>",
                                                            "<math.h>",
                                                            "<cmath>",
                                                            "<assert.h>",
                                                            "<cassert>",
                                                            "<float.h>",
                                                            "<cfloat>",
                                                            "<limits.h>",
                                                            "<climits>",
                                                            "<stdint.h>",
                                                            "<cstdint>",
                                                            "<stddef.h>"};

// Headers that a host function may need and a kernel never does.
constexpr std::array<std::string_view, 20> known_on_host = {
    "<algorithm>", "<array>",  "<complex>", "<cstddef>", "<cstring>", "<deque>",  "<functional>",
    "<limits>",    "<list>",   "<map>",     "<memory>",  "<numeric>", "<random>", "<set>",
    "<stdexcept>", "<string>", "<tuple>",   "<utility>", "<vector>",  "<span>"};

// Headers of the C++ library that have a part for kernels, <cuda/std/…>.
constexpr std::array<std::string_view, 24> known_by_libcu = {
    "<algorithm>", "<array>",       "<bit>",        "<bitset>",           "<cmath>",
    "<complex>",   "<concepts>",    "<cstddef>",    "<cstdint>",          "<cstdlib>",
    "<cstring>",   "<expected>",    "<functional>", "<initializer_list>", "<iterator>",
    "<limits>",    "<memory>",      "<numeric>",    "<optional>",         "<span>",
    "<tuple>",     "<type_traits>", "<utility>",    "<variant>"};

bool is_known_header(const std::string& header) {
  const auto is_in = [&](const auto& headers) {
    return std::find(headers.begin(), headers.end(), header) != headers.end();
  };
  return is_in(known_without) || is_in(known_on_host) || is_in(known_by_libcu);
}

// Returns the name of the file in templates/common that stands on the host for a header of device functions;
// empty if the host needs none, nothing if the host does not emulate the header.
std::optional<std::string_view> twin_of(const std::string& header) {
  static const std::map<std::string, std::string_view, std::less<>> twins = {
      {"<math_constants.h>", ""},
      {"<cuda_fp16.h>", "half_types"},
      {"<cuda_bf16.h>", "half_types"},
      {"<cuda_pipeline.h>", "cuda_pipeline"},
      {"<cuda_pipeline_primitives.h>", "cuda_pipeline"},
      {"<cooperative_groups.h>", "cooperative_groups"},
      {"<cooperative_groups/reduce.h>", "cooperative_groups"},
      {"<cooperative_groups/scan.h>", "cooperative_groups"},
      {"<cooperative_groups/memcpy_async.h>", "cooperative_groups"},
      {"<cuda/barrier>", "cuda_barrier"},
      {"<cuda/pipeline>", "cuda_cpp_pipeline"},
      {"<cuda/functional>", "cub"},
      {"<curand_kernel.h>", "curand"},
      {"<curand_philox4x32_x.h>", "curand"},
      {"<mma.h>", "wmma"}};
  if (header.starts_with("<cuda/std/")) return "cpp_library";
  if (header == "<cub/cub.cuh>" || header.starts_with("<cub/block/") || header.starts_with("<cub/warp/"))
    return "cub";
  const auto found = twins.find(header);
  return found == twins.end() ? std::nullopt : std::optional(found->second);
}
bool is_emulated(const std::string& header) { return twin_of(header).has_value(); }

// Returns the name of a constant that tells if the header exists for the target.
std::string presence_of(const std::string& header) {
  std::string name = "tunesmith_has";
  for (const char c : header)
    if (c != '>') name += is_name(c) ? c : '_';
  return name;
}

// True for headers outside the CUDA toolkit: those of C++, of the system, and of C except the known ones.
bool is_foreign(const std::string& header) {
  static const std::set<std::string> of_c = {
      "<ctype.h>", "<errno.h>", "<inttypes.h>", "<iostream.h>", "<locale.h>", "<malloc.h>", "<memory.h>",
      "<omp.h>", "<pthread.h>", "<setjmp.h>", "<signal.h>", "<stdarg.h>", "<stdbool.h>", "<string.h>",
      "<strings.h>", "<time.h>", "<unistd.h>", "<wchar.h>", "<windows.h>",
      // Libraries that a host calls.
      "<cublas.h>", "<cublas_v2.h>", "<cublasLt.h>", "<cufft.h>", "<curand.h>", "<cusparse.h>",
      "<cusolverDn.h>", "<nvml.h>", "<nvToolsExt.h>", "<cuda_profiler_api.h>"};
  return header.find_first_of("./") == std::string::npos || header.starts_with("<sys/") ||
         header.starts_with("<cub/device/") || of_c.contains(header);
}

// Returns the text that replaces the #include of the header: a check in the same line, so that the compiler
// names that line.
std::string in_place_of(const std::string& header) {
  if (is_emulated(header)) return "";
  const std::string guard = "write #ifndef TUNESMITH around what only your own program needs.\");";
  const std::string check = "static_assert(" + presence_of(header) + ", \"The header " + header;
  return check +
         " is not there. If it is of the CUDA toolkit, it has no twin for the host: tune this kernel on a "
         "CUDA "
         "device, or only compile it, by --target. If not, " +
         guard;
}

// Defines names that nvcc gets from system headers that it includes itself, if the code uses them without
// defining them.
std::string names_of_system(std::string_view code) {
  struct Name {
    std::string_view name, meaning;
  };
  static constexpr Name types[] = {{"uchar", "unsigned char"},
                                   {"ushort", "unsigned short"},
                                   {"uint", "unsigned int"},
                                   {"ulong", "unsigned long"}};
  static constexpr Name numbers[] = {
      {"M_E", "2.7182818284590452354"},         {"M_LOG2E", "1.4426950408889634074"},
      {"M_LOG10E", "0.43429448190325182765"},   {"M_LN2", "0.69314718055994530942"},
      {"M_LN10", "2.30258509299404568402"},     {"M_PI", "3.14159265358979323846"},
      {"M_PI_2", "1.57079632679489661923"},     {"M_PI_4", "0.78539816339744830962"},
      {"M_1_PI", "0.31830988618379067154"},     {"M_2_PI", "0.63661977236758134308"},
      {"M_2_SQRTPI", "1.12837916709551257390"}, {"M_SQRT2", "1.41421356237309504880"},
      {"M_SQRT1_2", "0.70710678118654752440"}};
  const auto is_missing = [&](std::string_view name) {
    return find_word(code, name) != std::string_view::npos && !defines(code, name);
  };
  std::string text;
  for (const auto& [name, meaning] : types)
    if (is_missing(name)) text += "typedef " + std::string(meaning) + " " + std::string(name) + ";\n";
  for (const auto& [name, meaning] : numbers)
    if (is_missing(name))
      text += "#ifndef " + std::string(name) + "\n#define " + std::string(name) + " " + std::string(meaning) +
              "\n#endif\n";
  return text;
}

// True if a function with these parameters adds an overload to a name that CUDA has: make_ of a vector from
// other parts, or a function on vectors that CUDA has for numbers.
bool is_overload(const std::string& name, const std::vector<DeclaredKernel::Parameter>& parameters,
                 std::string_view code) {
  static const std::regex makes(R"(make_(u?(char|short|int|long|longlong)|float|double)([1-4]))");
  std::smatch match;
  if (std::regex_match(name, match, makes)) return parameters.size() != std::stoul(match[3]);
  static const std::set<std::string> of_numbers = {
      "min",   "max",   "abs",   "fabs",  "fmin",   "fmax",  "floor", "ceil",  "fmod",   "sqrt",
      "rsqrt", "fabsf", "fminf", "fmaxf", "floorf", "ceilf", "fmodf", "sqrtf", "rsqrtf", "atomicAdd"};
  if (!of_numbers.contains(name)) return false;
  return std::any_of(parameters.begin(), parameters.end(), [&](const DeclaredKernel::Parameter& one) {
    std::string type = one.type;
    std::erase(type, '&');
    return c_type(type, code).lanes > 1;
  });
}

// True if the code names the namespace std itself, not cuda::std.
bool names_std(std::string_view code) {
  constexpr std::string_view within = "cuda::";
  for (std::size_t at = find_word(code, "std"); at != std::string_view::npos;
       at = find_word(code, "std", at + 1))
    if (at < within.size() || code.substr(at - within.size(), within.size()) != within) return true;
  return false;
}

// Returns the headers <cuda/std/…> that have the names of std:: in the code, and makes them std's: NVRTC has
// no C++ library.
std::string library_text(std::string_view code) {
  static const std::pair<std::string_view, std::regex> all[] = {
      {"limits", std::regex("numeric_limits")},
      {"cstdint", std::regex("u?int(8|16|32|64|ptr)_t")},
      {"cstddef", std::regex("size_t|ptrdiff_t|byte|nullptr_t|max_align_t")},
      {"algorithm", std::regex("min|max")},
      {"utility", std::regex("move|forward|swap|exchange|pair|make_pair|declval|.*_sequence.*|as_const")},
      {"functional", std::regex("plus|minus|multiplies|divides|modulus|negate|less|greater|less_equal|"
                                "greater_equal|equal_to|bit_and|bit_or|bit_xor|logical_and|logical_or")},
      {"array", std::regex("array")},
      {"tuple", std::regex("tuple|make_tuple|tie|tuple_.*")},
      {"complex", std::regex("complex")},
      {"type_traits", std::regex("(is|add|remove|make|enable)_.*|conditional.*|integral_constant|.*_constant|"
                                 "decay.*|common_type.*|underlying_type.*|true_type|false_type|void_t|"
                                 "invoke_result.*|rank.*|extent.*|alignment_of.*")}};
  std::set<std::string> headers;
  static const std::regex name(R"(\bstd\s*::\s*(\w+))");
  const std::string text(code);
  for (std::sregex_iterator one(text.begin(), text.end(), name), end; one != end; ++one) {
    const std::string word = (*one)[1];
    const auto found = std::find_if(std::begin(all), std::end(all),
                                    [&](const auto& each) { return std::regex_match(word, each.second); });
    headers.insert(found == std::end(all) ? "cmath" : std::string(found->first));
  }
  if (headers.empty()) headers.insert("type_traits");
  std::string made = "#ifndef TUNESMITH_HOST\n";
  for (const std::string& header : headers) {
    if (header == "algorithm") {  // whose name has changed
      made +=
          "#if __has_include(<cuda/std/algorithm>)\n#include <cuda/std/algorithm>\n#else\n"
          "#include <cuda/std/__algorithm/max.h>\n#include <cuda/std/__algorithm/min.h>\n#endif\n";
    } else {
      made += "#include <cuda/std/" + header + ">\n";
    }
  }
  return made +
         "namespace std {\nusing namespace cuda::std;\n}\n#endif\n#include \"common/cpp_library.cuh\"\n";
}

// Returns the headers of CUB's collectives that the code uses: NVRTC cannot compile <cub/cub.cuh>, which also
// has what a host calls.
std::string cub_text(std::string_view code) {
  static constexpr std::pair<std::string_view, std::string_view> all[] = {
      {"BlockAdjacentDifference", "block/block_adjacent_difference"},
      {"BlockDiscontinuity", "block/block_discontinuity"},
      {"BlockExchange", "block/block_exchange"},
      {"BlockHistogram", "block/block_histogram"},
      {"BlockLoad", "block/block_load"},
      {"BlockMergeSort", "block/block_merge_sort"},
      {"BlockRadixSort", "block/block_radix_sort"},
      {"BlockReduce", "block/block_reduce"},
      {"BlockScan", "block/block_scan"},
      {"BlockShuffle", "block/block_shuffle"},
      {"BlockStore", "block/block_store"},
      {"WarpExchange", "warp/warp_exchange"},
      {"WarpLoad", "warp/warp_load"},
      {"WarpMergeSort", "warp/warp_merge_sort"},
      {"WarpReduce", "warp/warp_reduce"},
      {"WarpScan", "warp/warp_scan"},
      {"WarpStore", "warp/warp_store"}};
  std::string text;
  for (const auto& [name, header] : all)
    if (find_word(code, name) != std::string_view::npos)
      text += "#include <cub/" + std::string(header) + ".cuh>\n";
  return text;
}

// Returns the position of a call by which a whole grid waits; npos if there is none.
std::size_t grid_sync_of(std::string_view code) {
  static const std::regex named(
      R"(\b(\w+)\s*[=({]\s*(\w+\s*::\s*)*this_grid\s*\(|\bgrid_group\s*&?\s*(\w+))");
  const std::string text(code);
  std::string names = R"(this_grid\s*\(\s*\))";
  for (std::sregex_iterator one(text.begin(), text.end(), named), end; one != end; ++one)
    names += "|" + ((*one)[1].matched ? (*one)[1].str() : (*one)[3].str());
  const std::regex call("\\b(" + names + R"()\s*\.\s*sync\s*\(|\bsync\s*\(\s*()" + names + R"()\s*\))");
  std::smatch match;
  return std::regex_search(text, match, call) ? static_cast<std::size_t>(match.position())
                                              : std::string::npos;
}

std::string includes_text(const std::string& lines, std::string_view code) {
  std::string text = "#include \"common/c_names.cuh\"\n" + names_of_system(code);
  std::vector<std::string_view> twins;
  std::set<std::string> seen;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const std::string header = lines.substr(at, end - at);
    at = end + 1;
    if (is_known_header(header) || is_foreign(header) || !seen.insert(header).second) continue;
    if (const auto twin = twin_of(header)) {
      text += "#ifndef TUNESMITH_HOST\n" +
              (header == "<cub/cub.cuh>" ? cub_text(code) : "#include " + header + "\n") + "#endif\n";
      if (!twin->empty() && std::find(twins.begin(), twins.end(), *twin) == twins.end())
        twins.push_back(*twin);
      continue;
    }
    const std::string has = "constexpr bool " + presence_of(header) + " = ";
    text += "#if !defined(TUNESMITH_HOST) && __has_include(" + header + ")\n#include " + header + "\n" + has +
            "true;\n#else\n" + has + "false;\n#endif\n";
  }
  // The order of the twins that there were first is part of the identity of kernels.
  for (const std::string_view first : {"cuda_pipeline", "half_types"}) {
    const auto found = std::find(twins.begin(), twins.end(), first);
    if (found != twins.end()) std::rotate(twins.begin(), found, found + 1);
  }
  for (const std::string_view twin : twins) text += "#include \"common/" + std::string(twin) + ".cuh\"\n";
  if (names_std(code)) text += library_text(code);
  static const std::regex aligned_shared(R"(\b__shared__\s+alignas\b)");
  if (std::regex_search(code.begin(), code.end(), aligned_shared))
    text += "#include \"common/aligned_shared.cuh\"\n";  // the last: it defines a macro of that name
  return text;
}

// Returns the function alone, on its original lines, with the headers that a host has, and a wrapper that
// calls it with the addresses of its arguments.
std::string function_text(const HostFunction& function, const std::string& cu, const std::string& file,
                          const std::string& includes) {
  std::string text = "#define TUNESMITH 1\n#include <cmath>\n#include <cstddef>\n#include <cstdint>\n";
  std::istringstream lines(includes);
  for (std::string header; std::getline(lines, header);) {
    const auto is_in = [&](const auto& headers) {
      return std::find(headers.begin(), headers.end(), header) != headers.end();
    };
    const bool is_of_c = is_in(known_without) && header.find("cuda") == std::string::npos &&
                         header != "<vector_types.h>" && header != "<device_launch_parameters.h>";
    if (is_of_c || is_in(known_on_host)) text += "#include " + header + "\n";
  }
  const DeclaredKernel& declared = function.declared;
  const auto begin = cu.begin() + static_cast<std::ptrdiff_t>(function.begin);
  const auto line = 1 + std::count(cu.begin(), begin, '\n');
  text += "#line " + std::to_string(line) + " \"" + file + "\"\n" +
          cu.substr(function.begin, function.end - function.begin) +
          "\nextern \"C\" __attribute__((visibility(\"default\"))) void tunesmith_call(void* const* values) "
          "{\n  " +
          declared.name + "(";
  for (std::size_t i = 0; i < declared.parameters.size(); ++i) {
    const DeclaredKernel::Parameter& one = declared.parameters[i];
    const std::string value = "values[" + std::to_string(i) + "]";
    text += i == 0 ? "" : ", ";
    if (one.is_pointer) {
      text += "(" + one.type + (one.type.find('*') == std::string::npos ? "*" : "") + ")" + value;
    } else {
      text += "*(const " + one.type + "*)" + value;
    }
  }
  return text + ");\n}\n";
}

}  // namespace

std::string own_type(DType dtype) {
  if (dtype == DType::f16) return "__half";
  if (dtype == DType::bf16) return "__nv_bfloat16";
  return std::string(cuda_type(dtype));
}

void add_files(UserKernel& made, const DescriptionFacts& facts, const Files& common, Template& tmpl) {
  const Description& description = facts.description;
  std::vector<std::string> constants = description.compiled_in;
  for (const DescribedAxis& axis : description.axes) constants.push_back(axis.name);
  std::vector<std::string> names = constants;
  if (!description.type.empty()) names.push_back(description.type);
  std::string includes, all_includes;
  std::set<std::string> seen;
  const std::string folder = made.op.name + "/";
  std::vector<CompiledText> compiled = compiled_texts(made.file.cu, made.file.included, constants);
  std::string code;
  for (const CompiledText& one : compiled) code += one.text + "\n";
  const std::function<void(const std::string&, const std::string&, const std::string&, const CompiledText&)>
      add = [&](const std::string& file, const std::string& path, const std::string& text,
                const CompiledText& of_file) {
        for (const std::string& name : constants) {
          if (form_of(text, name) == ConstantForm::macro) tmpl.macros.push_back(name);
        }
        KernelBody body = kernel_body(
            text, names,
            {.is_known_header = is_known_header,
             .is_foreign_header = is_foreign,
             .in_place = in_place_of,
             .is_overload =
                 [&](const std::string& name, const std::vector<DeclaredKernel::Parameter>& parameters) {
                   return is_overload(name, parameters, code);
                 },
             .compiled = &of_file,
             .instantiations = description.instantiations,
             .symbols = tmpl.symbols});
        includes += body.includes;
        all_includes += body.includes + body.conditional_includes;
        body.text += body.behind;
        for (const std::string& note : body.notes) made.notes.push_back(path + ": " + note);
        std::string lines;
        std::istringstream all(body.text);
        std::size_t number = 0;
        for (std::string line; std::getline(all, line); lines += line + "\n") {
          const std::string name = included_file(line);
          const std::size_t at = number++;
          const auto found = std::find_if(made.file.included.begin(), made.file.included.end(),
                                          [&](const auto& one) { return one.first == name; });
          if (name.empty() || name.starts_with("common/")) continue;
          // A fragment inlined in a part that is never compiled would be missing where it is compiled.
          if (at < of_file.lines.size() && of_file.lines[at] == Truth::no) {
            line.clear();
            continue;
          }
          if (is_outside(name)) {
            line = "#error \"The file " + name + " is not in the folder of " + made.file.path +
                   ", and only files there are part of a kernel: put it there, or write #ifndef TUNESMITH " +
                   "around what only your own program needs.\"";
            continue;
          }
          if (found == made.file.included.end()) {
            line = "#error \"There is no file " + name + " beside " + made.file.path +
                   "; write #ifndef TUNESMITH around what only your own program needs.\"";
            continue;
          }
          line = seen.contains(name) ? "" : "#include \"" + folder + name + ".inl\"";
          if (seen.insert(name).second)
            add(folder + name + ".inl", name, found->second,
                compiled[1 + static_cast<std::size_t>(found - made.file.included.begin())]);
        }
        made.files[file] = std::move(lines);
      };
  const std::string main = folder + tmpl.name + ".cu";
  std::string text = made.file.cu;
  if (const auto& function = description.reference_function) {
    for (std::size_t at = function->begin; at < function->end; ++at)
      if (text[at] != '\n') text[at] = compiled.front().text[at] = ' ';
  }
  add(main, made.file.path, text, compiled.front());
  if (description.reference_function)
    made.reference_text =
        function_text(*description.reference_function, made.file.cu,
                      std::filesystem::path(made.file.path).filename().string(), all_includes);
  for (const auto& [name, text] : common)
    if (name.starts_with("common/")) made.files.emplace(name, text);
  for (std::size_t n = 0; n < compiled.size(); ++n) {
    const std::size_t at = grid_sync_of(compiled[n].text);
    if (at != std::string::npos)
      made.notes.push_back(
          (n == 0 ? made.file.path : made.file.included[n - 1].first) + ":" +
          std::to_string(line_number(compiled[n].text, at)) +
          ": a grid that waits for all its blocks needs a cooperative launch, which Tunesmith "
          "does not make; a kernel that comes here fails.");
  }
  std::string kernels_code;  // without the host function
  for (const CompiledText& one : compiled) kernels_code += one.text + "\n";
  made.files[folder + "includes.h"] = includes_text(includes, kernels_code);
  std::set<std::string> asserted;
  for (const DescribedLaunch* launch : {&description.launch, &description.reference})
    for (const DescribedArgument& one : launch->arguments)
      if (one.type == DescribedArgument::Type::record && asserted.insert(one.record_type).second)
        made.files[main] += (asserted.size() == 1 ? std::string(offset_macro) : std::string()) +
                            layout_assertion(one.record_type, one.layout);
  // Appended after the last line, so that the lines before keep their numbers; render() moves it to the top.
  made.files[main] += "#include \"" + folder + "includes.h\"\n#include \"common/shared.cuh\"\n";
}

}  // namespace tunesmith
