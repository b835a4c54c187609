// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/headers.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "generator/c_characters.h"
#include "generator/listed.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {
namespace {

// Headers that NVRTC and the host do not need: device code gets their contents without them.
constexpr std::array<std::string_view, 29> known_without = {"<cuda_runtime.h>",
                                                            "<cuda.h>",
                                                            "<cuda_runtime_api.h>",
                                                            "<device_launch_parameters.h>",
                                                            "<device_functions.h>",
                                                            "<vector_types.h>",
                                                            "<vector_functions.h>",
                                                            "<driver_types.h>",
                                                            "<host_defines.h>",
                                                            "<builtin_types.h>",
                                                            "<library_types.h>",
                                                            "<math_functions.h>",
                                                            "<device_atomic_functions.h>",
                                                            "<channel_descriptor.h>",
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

template <std::size_t N>
bool is_in(const std::array<std::string_view, N>& all, std::string_view header) {
  return std::find(all.begin(), all.end(), header) != all.end();
}

// True for headers outside the CUDA toolkit: those of C++, of the system, and of C except the known ones.
bool is_of_system(const std::string& header) {
  static const std::set<std::string> of_c = {
      "<ctype.h>",    "<errno.h>",   "<inttypes.h>", "<iostream.h>", "<locale.h>",  "<malloc.h>",
      "<memory.h>",   "<omp.h>",     "<pthread.h>",  "<setjmp.h>",   "<signal.h>",  "<stdarg.h>",
      "<stdbool.h>",  "<string.h>",  "<strings.h>",  "<time.h>",     "<unistd.h>",  "<wchar.h>",
      "<windows.h>",  "<getopt.h>",  "<fcntl.h>",    "<dirent.h>",   "<io.h>",      "<winsock.h>",
      "<conio.h>",    "<dlfcn.h>",   "<netdb.h>",    "<poll.h>",     "<sched.h>",   "<semaphore.h>",
      "<execinfo.h>", "<libgen.h>",  "<pwd.h>",      "<glob.h>",     "<error.h>",   "<err.h>",
      "<regex.h>",    "<termios.h>", "<grp.h>",      "<ftw.h>",      "<fnmatch.h>", "<syslog.h>",
      "<spawn.h>",    "<utime.h>",   "<alloca.h>",   "<fenv.h>",     "<process.h>", "<direct.h>",
      "<values.h>"};
  return header.find_first_of("./") == std::string::npos || header.starts_with("<sys/") ||
         header.starts_with("<arpa/") || header.starts_with("<net/") || header.starts_with("<netinet/") ||
         of_c.contains(header);
}

// True for headers of the toolkit that declare only what a host calls, under the names that kernels use too.
bool is_called_by_host(const std::string& header) {
  return header == "<curand.h>" || header.starts_with("<cub/device/");
}

// A library, by its headers, and the words by which a text uses it.
struct Library {
  std::string_view headers;  // how their names begin
  bool is_of_toolkit;        // its headers for kernels come with the CUDA toolkit
  std::vector<std::string_view> words;
  std::vector<std::string_view> beginnings;  // of words
};

const std::vector<Library>& libraries() {
  static const auto& all = *new std::vector<Library>{
      {"cooperative_groups",
       true,
       {"cooperative_groups", "this_thread_block", "thread_block", "tiled_partition", "thread_block_tile",
        "this_grid", "grid_group", "coalesced_threads", "coalesced_group", "thread_group", "this_cluster",
        "cluster_group"},
       {}},
      {"mma.h", true, {"nvcuda", "wmma"}, {}},
      {"cuda_fp8.h", true, {}, {"__nv_fp8", "__nv_cvt", "__NV_E", "__NV_SATFINITE"}},
      {"cuda_fp6.h", true, {}, {"__nv_fp6", "__nv_cvt", "__NV_E"}},
      {"cuda_fp4.h", true, {}, {"__nv_fp4", "__nv_cvt", "__NV_E"}},
      {"cuComplex.h", true, {}, {"cuComplex", "cuFloatComplex", "cuDoubleComplex", "cuC", "make_cu"}},
      {"cub/", true, {"cub"}, {}},
      {"thrust/", true, {"thrust"}, {}},
      {"cuda/", true, {"cuda", "nv"}, {}},
      {"nv/target", true, {}, {"NV_"}},
      {"curand", true, {}, {"curand", "CURAND"}},
      {"cublas", false, {}, {"cublas", "CUBLAS"}},
      {"cusparse", false, {}, {"cusparse", "CUSPARSE"}},
      {"cusolver", false, {}, {"cusolver", "CUSOLVER"}},
      {"cufft", false, {}, {"cufft", "CUFFT"}},
      {"cudnn", false, {}, {"cudnn", "CUDNN"}},
      {"nccl", false, {}, {"nccl", "NCCL"}},
      {"nvml", false, {}, {"nvml", "NVML"}},
      {"npp", false, {}, {"npp", "Npp", "NPP"}},
      {"nvrtc", false, {}, {"nvrtc", "NVRTC"}},
      {"nvToolsExt", false, {}, {"nvtx"}},
      {"nvtx3/", false, {}, {"nvtx", "NVTX"}},
      {"cuda_profiler_api.h", false, {}, {"cudaProfiler", "cuProfiler"}},
      {"cudaProfiler.h", false, {}, {"cudaProfiler", "cuProfiler"}},
      {"cuda_gl_interop.h", false, {}, {"cudaGraphics", "cudaGL", "GL"}},
      {"cuda_d3d", false, {}, {"cudaGraphics", "cudaD3D"}},
      {"cupti", false, {}, {"cupti", "CUpti", "CUPTI"}},
      {"GL/", false, {}, {"GL", "gl"}},
      {"torch/", false, {"torch", "at", "c10", "py", "pybind11"}, {"AT_", "TORCH_", "C10_"}},
      {"ATen/", false, {"torch", "at", "c10"}, {"AT_", "TORCH_", "C10_"}},
      {"c10/", false, {"torch", "at", "c10"}, {"AT_", "TORCH_", "C10_"}},
      {"pybind11/", false, {"py", "pybind11"}, {"PYBIND11_"}},
      {"Python.h", false, {}, {"Py"}},
      {"mpi.h", false, {}, {"MPI_"}},
      {"opencv2/", false, {"cv"}, {"CV_"}},
      {"boost/", false, {"boost"}, {"BOOST_"}},
      {"Eigen/", false, {"Eigen"}, {"EIGEN_"}},
      {"gtest/", false, {"testing"}, {"TEST", "EXPECT_", "ASSERT_"}},
      {"benchmark/", false, {"benchmark"}, {"BENCHMARK"}},
      {"nvbench/", false, {"nvbench"}, {"NVBENCH_"}},
      {"hip/", false, {}, {"hip", "HIP_"}},
      {"helper_cuda",
       false,
       {"checkCudaErrors", "getLastCudaError", "printLastCudaError", "__getLastCudaError", "check",
        "findCudaDevice", "findIntegratedGPU", "gpuDeviceInit", "gpuGetMaxGflopsDeviceId", "ftoi", "MAX",
        "MIN"},
       {"_ConvertSMVer2"}},
      {"helper_functions.h", false, {"MAX", "MIN"}, {"sdk", "StopWatch", "checkCmdLine", "getCmdLine"}},
      {"helper_string.h", false, {}, {"sdk", "STRCPY", "STRNCASECMP", "checkCmdLine", "getCmdLine"}},
      {"helper_timer.h", false, {}, {"sdk", "StopWatch"}},
      {"helper_image.h", false, {"MAX", "MIN"}, {"sdk", "compareData"}},
      {"helper_gl.h", false, {}, {"GL", "gl", "isGLVersion"}},
      {"rendercheck_gl.h", false, {}, {"CheckBackBuffer", "CheckFBO", "GL", "gl"}},
      {"exception.h", false, {"Exception"}, {}},
      {"timer.h", false, {"Timer", "GpuTimer", "CpuTimer"}, {"get_time"}},
  };
  return all;
}

// Helpers that are operators and overloads for vectors: nothing but the types tells that they are used.
bool is_of_vectors(std::string_view file) {
  return file == "helper_math.h" || file == "cutil_math.h" || file == "vector_math.h" ||
         file == "float_math.h";
}

bool uses_vectors(const std::set<std::string>& words) {
  static const std::set<std::string> functions = {"lerp",      "clamp",   "dot",        "cross", "length",
                                                  "normalize", "reflect", "smoothstep", "fracf", "rsqrtf3"};
  static const std::regex vector(R"((make_)?(u?(char|short|int|long|longlong)|float|double|half)[234]|dim3)");
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return functions.contains(word) || std::regex_match(word, vector);
  });
}

std::string name_of(const std::string& header) { return header.substr(1, header.size() - 2); }

std::string base_of(const std::string& file) { return file.substr(file.rfind('/') + 1); }

const Library* library_of(const std::string& header) {
  const std::string file = name_of(header), base = base_of(file);
  for (const Library& one : libraries()) {
    const bool is_folder = one.headers.ends_with('/');
    if (file.starts_with(one.headers) || (!is_folder && base.starts_with(one.headers))) return &one;
  }
  return nullptr;
}

// Returns a word by which the texts use the library without declaring it; empty: there is none.
std::string use_of(const Library& library, const Reach& reach) {
  for (const std::string& word : reach.words) {
    if (reach.declared.contains(word)) continue;
    const bool begins = std::any_of(library.beginnings.begin(), library.beginnings.end(),
                                    [&](std::string_view one) { return word.starts_with(one); });
    if (begins || std::find(library.words.begin(), library.words.end(), word) != library.words.end())
      return word;
  }
  return "";
}

// Returns the name of a constant that tells if the header exists for the target.
std::string presence_of(const std::string& header) {
  std::string name = "tunesmith_has";
  for (const char c : header)
    if (c != '>') name += is_name(c) ? c : '_';
  return name;
}

std::string escaped(const std::string& header) {
  std::string made;
  for (const char c : header) made += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return made;
}

// True if the code names the namespace std itself, not cuda::std.
bool names_std(std::string_view code) {
  constexpr std::string_view within = "cuda::";
  for (std::size_t at = find_word(code, "std"); at != std::string_view::npos;
       at = find_word(code, "std", at + 1))
    if (at < within.size() || code.substr(at - within.size(), within.size()) != within) return true;
  return false;
}

}  // namespace

bool is_known_header(const std::string& header) {
  return is_in(known_without, header) || is_in(known_on_host, header) || is_in(known_by_libcu, header);
}

bool is_header_of_function(const std::string& header) {
  static const std::set<std::string> of_cuda = {"<cuda_runtime.h>",     "<cuda.h>",
                                                "<vector_types.h>",     "<cuda_runtime_api.h>",
                                                "<driver_types.h>",     "<device_launch_parameters.h>",
                                                "<device_functions.h>", "<vector_functions.h>"};
  return is_known_header(header) && !of_cuda.contains(header);
}

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
      {"<cuda/atomic>", "cuda_atomic"},
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

std::vector<std::string> asked_names(const std::vector<CompiledText>& texts,
                                     const std::vector<std::string>& constants) {
  std::set<std::string> defined(constants.begin(), constants.end()), asked;
  for (const CompiledText& one : texts) {
    std::string guard;  // the name of the line before, if that is #ifndef
    for (std::size_t begin = 0; begin < one.text.size(); begin = line_end(one.text, begin) + 1) {
      const std::string line =
          squeezed(std::string_view(one.text).substr(begin, line_end(one.text, begin) - begin));
      static const std::regex directive(R"(\s?# ?(define|undef|if|ifdef|ifndef|elif)\b ?(.*))");
      std::smatch match;
      if (!std::regex_match(line, match, directive)) {
        if (!line.empty() && line != " ") guard.clear();
        continue;
      }
      const std::string word = match[1].str(), rest = match[2].str();
      std::size_t end = 0;
      while (end < rest.size() && is_name(rest[end])) ++end;
      const std::string first = rest.substr(0, end);
      if (word == "define") {
        const bool is_guard = first == guard && skip_space(rest, end) == rest.size();
        if (is_guard) asked.erase(first);
        defined.insert(first);
      } else if (word != "undef") {
        for (std::size_t at = 0; at < rest.size();) {
          std::size_t stop = at;
          while (stop < rest.size() && is_name(rest[stop])) ++stop;
          const std::string name = rest.substr(at, stop - at);
          at = std::max(stop, at + 1);
          const bool is_number = !name.empty() && name.front() >= '0' && name.front() <= '9';
          if (!name.empty() && !is_number && name != "defined" && !defined.contains(name) &&
              !may_be_of_compiler(name))
            asked.insert(name);
        }
      }
      guard = word == "ifndef" ? first : "";
    }
  }
  return {asked.begin(), asked.end()};
}

std::string HeaderRules::why_left_out(const std::string& header) const {
  if (is_known_header(header) || is_emulated(header)) return "";
  if (is_called_by_host(header) || (is_of_system(header) && library_of(header) == nullptr))
    return "no kernel has the header " + header;
  const std::string why = "the kernel uses nothing of the header " + header;
  if (const std::string file = base_of(name_of(header)); is_of_vectors(file))
    return uses_vectors(reach_.words) ? "" : why;
  if (const Library* library = library_of(header)) return use_of(*library, reach_).empty() ? why : "";
  return "";
}

bool HeaderRules::is_of_library(const std::string& header) const { return library_of(header) != nullptr; }

std::string HeaderRules::absence(const std::string& header) const {
  std::string sentence = "The header " + escaped(header) + " is not there";
  if (is_of_vectors(base_of(name_of(header))))
    sentence += ", and the kernel uses vectors, whose operators it may define";
  else if (!asked_.empty())
    sentence += ", and #if asks for " + listed(asked_) + ", which it may define";
  return sentence +
         ". Put it beside the file and include it by quotes, or write #ifndef TUNESMITH around the line if "
         "no "
         "kernel needs it.";
}

std::string HeaderRules::in_place(const std::string& header) const {
  if (is_emulated(header)) return "";
  const std::string has = presence_of(header);
  const auto check = [&](const std::string& unless, const std::string& says) {
    return "static_assert(" + has + unless + ", \"" + says + "\");";
  };
  const Library* library = library_of(header);
  if (library == nullptr) {
    if (asked_.empty() && !is_of_vectors(base_of(name_of(header)))) return "";
    return check("", absence(header));
  }
  const std::string used =
      "The header " + escaped(header) + ", of which the kernel uses " + use_of(*library, reach_) + ", ";
  if (!library->is_of_toolkit)
    return check("", used +
                         "is neither NVRTC's nor the host's: write what the kernel needs of it into the "
                         "file, and #ifndef TUNESMITH around the line.");
  return check(" || !tunesmith_is_host",
               used +
                   "has no twin for the host: tune this kernel on a CUDA device, or only compile it, by "
                   "--target.") +
         " " +
         check(" || tunesmith_is_host",
               used + "is not in the CUDA toolkit that was found; CUDA_PATH names another one.");
}

std::string HeaderRules::inclusion(const std::string& header) const {
  const std::string has = "constexpr bool " + presence_of(header) + " = ";
  return "#if !defined(TUNESMITH_HOST) && __has_include(" + header + ")\n#include " + header + "\n" + has +
         "true;\n#else\n" + has + "false;\n#endif\n";
}

std::string library_text(std::string_view code) {
  if (!names_std(code)) return "";
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

}  // namespace tunesmith
