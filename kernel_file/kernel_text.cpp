// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "generator/c_characters.h"
#include "generator/listed.h"
#include "kernel_file/c_type.h"
#include "kernel_file/described_parts.h"
#include "kernel_file/headers.h"
#include "kernel_file/preprocessor.h"
#include "kernel_file/reach.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {
namespace {

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

// True if the word stands before something else than the text of an asm statement.
bool has_volatile_access(std::string_view code) {
  for (std::size_t at = 0; (at = find_word(code, "volatile", at)) != std::string_view::npos; ++at) {
    const std::string before = squeezed(code.substr(0, at).substr(at - std::min<std::size_t>(at, 64)));
    static const std::regex of_asm(R"([^]*\b(asm|__asm|__asm__)\s?)");
    if (!std::regex_match(before, of_asm)) return true;
  }
  return false;
}

// True if the code has instructions of PTX, or the functions that make addresses for them.
bool has_ptx(std::string_view code) {
  constexpr std::string_view words[] = {"asm",
                                        "__asm",
                                        "__asm__",
                                        "__cvta_generic_to_shared",
                                        "__cvta_shared_to_generic",
                                        "__cvta_generic_to_global",
                                        "__cvta_global_to_generic",
                                        "__isShared",
                                        "__isGlobal"};
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return find_word(code, word) != std::string_view::npos; });
}

std::string includes_text(const std::string& lines, std::string_view code, const HeaderRules& rules) {
  std::string text = "#include \"common/c_names.cuh\"\n" + names_of_system(code);
  bool has_headers = false;
  std::vector<std::string_view> twins;
  std::set<std::string> seen;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const std::string header = lines.substr(at, end - at);
    at = end + 1;
    if (is_known_header(header) || !rules.why_left_out(header).empty() || !seen.insert(header).second)
      continue;
    if (const auto twin = twin_of(header)) {
      text += "#ifndef TUNESMITH_HOST\n" +
              (header == "<cub/cub.cuh>" ? cub_text(code) : "#include " + header + "\n") + "#endif\n";
      if (!twin->empty() && std::find(twins.begin(), twins.end(), *twin) == twins.end())
        twins.push_back(*twin);
      continue;
    }
    has_headers = true;
    text += rules.inclusion(header);
  }
  if (has_headers)
    text +=
        "#ifdef TUNESMITH_HOST\nconstexpr bool tunesmith_is_host = true;\n#else\nconstexpr bool "
        "tunesmith_is_host = false;\n#endif\n";
  // The order of the twins that there were first is part of the identity of kernels.
  for (const std::string_view first : {"cuda_pipeline", "half_types"}) {
    const auto found = std::find(twins.begin(), twins.end(), first);
    if (found != twins.end()) std::rotate(twins.begin(), found, found + 1);
  }
  for (const std::string_view twin : twins) text += "#include \"common/" + std::string(twin) + ".cuh\"\n";
  text += library_text(code);
  if (has_volatile_access(code)) text += "#include \"common/volatile_looks.cuh\"\n";
  if (has_ptx(code)) text += "#include \"common/ptx.cuh\"\n";
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
    if (is_header_of_function(header)) text += "#include " + header + "\n";
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

namespace {

// Returns the names that the description uses, beside the kernels'.
std::vector<std::string> names_of_description(const Description& description,
                                              const std::vector<std::string>& constants) {
  std::vector<std::string> names = constants;
  if (!description.type.empty()) names.push_back(description.type);
  for (const DescribedSymbol& one : description.symbols) names.push_back(one.name);
  for (const Instantiation& made : description.instantiations) {
    for (const std::string& argument : made.arguments) {
      for (std::size_t at = 0; at < argument.size();) {
        std::size_t end = at;
        while (end < argument.size() && is_name(argument[end])) ++end;
        if (end > at) names.push_back(argument.substr(at, end - at));
        at = std::max(end, at + 1);
      }
    }
  }
  return names;
}

// Returns the headers of 16-bit types that kernels use: libraries' headers bring them.
std::vector<std::string> headers_of_halves(const Reach& reach) {
  const auto uses = [&](const auto& names) {
    return std::any_of(std::begin(names), std::end(names), [&](const char* name) {
      return reach.words.contains(name) && !reach.declared.contains(name);
    });
  };
  static constexpr const char* halves[] = {"half", "__half", "half2", "__half2"};
  static constexpr const char* bfloats[] = {"nv_bfloat16", "__nv_bfloat16", "nv_bfloat162", "__nv_bfloat162"};
  std::vector<std::string> headers;
  if (uses(halves)) headers.emplace_back("<cuda_fp16.h>");
  if (uses(bfloats)) headers.emplace_back("<cuda_bf16.h>");
  return headers;
}

// Kernels of the two conversions of an array; both are empty if it has none.
std::string taking(const DescribedArray& array) {
  return array.is_workspace || array.type_axis.empty() || array.role == Role::output
             ? ""
             : "tunesmith_take_" + array.name;
}
std::string giving(const DescribedArray& array) {
  return array.is_workspace || array.type_axis.empty() || array.role == Role::input
             ? ""
             : "tunesmith_give_" + array.name;
}

std::string conversion(const std::string& name, const std::string& from, const std::string& to) {
  return "extern \"C\" __global__ void ENTRY(" + name + ")(const " + from + "* from, " + to +
         "* to, long long count) {\n"
         "  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll)\n"
         "    to[i] = static_cast<" +
         to + ">(from[i]);\n}\n";
}

// Returns a sentence on what is left out, in short.
std::string left_out_note(const std::vector<UnreachedPart>& parts, std::string_view text) {
  constexpr std::size_t most_named = 6;
  std::vector<std::string> names;
  int first = 0, last = 0;
  for (const UnreachedPart& one : parts) {
    if (one.name.empty()) continue;
    const std::string name = one.name + (one.is_function ? "()" : "");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    if (first == 0) first = line_number(text, one.begin);
    last = line_number(text, one.end - 1);
  }
  if (names.empty()) return "";
  const std::size_t others = names.size() > most_named ? names.size() - most_named : 0;
  names.resize(names.size() - others);
  if (others > 0) names.push_back(std::to_string(others) + " more");
  return "the kernel does not reach " + listed(names) + "; what is theirs in lines " + std::to_string(first) +
         " to " + std::to_string(last) + " is left out.";
}

}  // namespace

std::vector<std::string> conversions_of(const Description& description) {
  std::vector<std::string> names;
  for (const DescribedArray& array : description.arrays)
    for (const std::string& name : {taking(array), giving(array)})
      if (!name.empty()) names.push_back(name);
  return names;
}

void add_files(UserKernel& made, const DescriptionFacts& facts, const Files& common, Template& tmpl) {
  const Description& description = facts.description;
  std::vector<std::string> constants = description.compiled_in;
  for (const DescribedAxis& axis : description.axes) constants.push_back(axis.name);
  for (const auto& [name, setting] : description.compilation.defines) constants.push_back(name);
  std::vector<std::string> names = constants;
  if (!description.type.empty()) names.push_back(description.type);
  std::string includes, all_includes;
  std::set<std::string> seen;
  const std::string folder = made.op.name + "/";
  std::vector<CompiledText> compiled = compiled_texts(made.file.cu, made.file.included, constants);
  std::string text = made.file.cu;
  if (const auto& function = description.reference_function) {
    for (std::size_t at = function->begin; at < function->end; ++at)
      if (text[at] != '\n') text[at] = compiled.front().text[at] = ' ';
  }
  std::vector<std::string> kernels;
  for (const DescribedLaunch& one : description.launches) kernels.push_back(one.kernel);
  if (description.has_reference) kernels.push_back(description.reference.kernel);
  const Reach reach = reach_of(compiled, kernels, names_of_description(description, constants));
  const HeaderRules rules(reach, asked_names(compiled, constants));
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    const std::vector<UnreachedPart>& parts = reach.unreached[i];
    const std::string& path = i == 0 ? made.file.path : made.file.included[i - 1].first;
    if (const std::string note = left_out_note(parts, compiled[i].text); !note.empty())
      made.notes.push_back(path + ": " + note);
    if (i == 0) leave_out(text, parts);
    leave_out(compiled[i].text, parts);
  }
  std::string code;
  for (const CompiledText& one : compiled) code += one.text + "\n";
  std::vector<std::string> absent;  // headers that are left out although kernels may need them
  // Returns what stands for the line that includes a file which is not beside the kernel's.
  const auto without_file = [&](const std::string& name, const std::string& path, std::size_t line) {
    const std::string header = "<" + name + ">";
    if (is_known_header(header)) return std::string();
    if (is_emulated(header)) {
      includes += header + "\n";
      return std::string();
    }
    std::string why = rules.why_left_out(header);
    if (why.empty() && rules.is_of_library(header)) {
      includes += header + "\n";
      return rules.in_place(header);
    }
    const std::string check = rules.in_place(header);
    if (why.empty() && !is_outside(name) && check.empty()) {
      why = "there is no file " + name + " beside it";
      absent.push_back(name);
    }
    if (!why.empty()) {
      made.notes.push_back(path + ": " + why + "; line " + std::to_string(line) + " is left out.");
      return std::string();
    }
    if (!is_outside(name))
      return "#error \"There is no file " + name + " beside " + made.file.path + ". " +
             rules.absence(header) + "\"";
    return "#error \"The file " + name + ", which " + made.file.path +
           " includes, is not there or not one of C++ (.h, .cuh, .cpp): put it there, or write #ifndef " +
           "TUNESMITH around what only your own program needs.\"";
  };
  const std::function<void(const std::string&, const std::string&, const std::string&, const CompiledText&)>
      add = [&](const std::string& file, const std::string& path, const std::string& text,
                const CompiledText& of_file) {
        for (const std::string& name : constants) {
          if (form_of(text, name) == ConstantForm::macro) tmpl.macros.push_back(name);
        }
        KernelBody body = kernel_body(
            text, names,
            {.is_known_header = is_known_header,
             .why_left_out = [&](const std::string& header) { return rules.why_left_out(header); },
             .in_place =
                 [&](const std::string& header) {
                   const std::string check = rules.in_place(header);
                   if (check.empty() && !is_emulated(header)) {
                     made.notes.push_back(path + ": the header " + header +
                                          " is left out where the compiler does not have it.");
                     absent.push_back(header);
                   }
                   return check;
                 },
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
          if (found == made.file.included.end()) {
            line = without_file(name, path, at + 1);
            continue;
          }
          line = seen.contains(name) ? "" : "#include \"" + folder + name + ".inl\"";
          if (!seen.insert(name).second) continue;
          const auto place = static_cast<std::size_t>(found - made.file.included.begin());
          std::string inner = found->second;
          leave_out(inner, reach.unreached[1 + place]);
          add(folder + name + ".inl", name, inner, compiled[1 + place]);
        }
        made.files[file] = std::move(lines);
      };
  const std::string main = folder + tmpl.name + ".cu";
  add(main, made.file.path, text, compiled.front());
  for (const std::string& header : headers_of_halves(reach))
    if (all_includes.find(header) == std::string::npos) includes += header + "\n";
  for (const DescribedAxis& axis : description.axes)
    for (const auto& [type, header] : {std::pair("f16", "<cuda_fp16.h>"), std::pair("bf16", "<cuda_bf16.h>")})
      if (std::find(axis.types.begin(), axis.types.end(), type) != axis.types.end() &&
          (all_includes + includes).find(header) == std::string::npos)
        includes += std::string(header) + "\n";
  if (!absent.empty())
    made.absent =
        "Left out of it, as " + std::string(absent.size() == 1 ? "it is" : "they are") +
        " not there: " + listed(absent) +
        ". If what is missing is declared there, put the file beside the kernel's and include it by "
        "quotes.";
  if (description.reference_function)
    made.reference_text =
        function_text(*description.reference_function, made.file.cu,
                      std::filesystem::path(made.file.path).filename().string(), all_includes);
  for (const auto& [name, text] : common)
    if (name.starts_with("common/")) made.files.emplace(name, text);
  made.files[folder + "includes.h"] = includes_text(includes, code, rules);
  std::set<std::string> asserted;
  const auto assert_layout = [&](const std::string& type, const StructLayout& layout) {
    if (asserted.insert(type).second)
      made.files[main] +=
          (asserted.size() == 1 ? std::string(offset_macro) : std::string()) + layout_assertion(type, layout);
  };
  std::vector<const DescribedLaunch*> launches = {&description.reference};
  for (const DescribedLaunch& one : description.launches) launches.push_back(&one);
  for (const DescribedLaunch* launch : launches)
    for (const DescribedArgument& one : launch->arguments)
      if (one.type == DescribedArgument::Type::record) assert_layout(one.record_type, one.layout);
  for (const DescribedArray& one : description.arrays)
    if (one.is_of_structs()) assert_layout(one.record_type, one.record);
  for (const DescribedArray& array : description.arrays) {
    const std::string given = "tunesmith_type_of_" + array.name;
    if (const std::string name = taking(array); !name.empty())
      made.files[main] += conversion(name, given, array.type_axis);
    if (const std::string name = giving(array); !name.empty())
      made.files[main] += conversion(name, array.type_axis, given);
  }
  // Appended after the last line, so that the lines before keep their numbers; render() moves it to the top.
  made.files[main] += "#include \"" + folder + "includes.h\"\n#include \"common/shared.cuh\"\n";
}

}  // namespace tunesmith
