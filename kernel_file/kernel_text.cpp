#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>
#include <utility>

#include "kernel_file/described_parts.h"

namespace tunesmith {
namespace {

// The headers that NVRTC and the host have no need of: what device code uses of them is known without.
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

// What a host function may need; a kernel has none of it.
constexpr std::array<std::string_view, 20> known_on_host = {
    "<algorithm>", "<array>",  "<complex>", "<cstddef>", "<cstring>", "<deque>",  "<functional>",
    "<limits>",    "<list>",   "<map>",     "<memory>",  "<numeric>", "<random>", "<set>",
    "<stdexcept>", "<string>", "<tuple>",   "<utility>", "<vector>",  "<span>"};

bool is_known_header(const std::string& header) {
  return std::find(known_without.begin(), known_without.end(), header) != known_without.end() ||
         std::find(known_on_host.begin(), known_on_host.end(), header) != known_on_host.end();
}

std::string includes_text(const std::string& lines) {
  std::string text = "#include \"common/c_names.cuh\"\n";
  bool has_halves = false, has_copies = false;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const std::string header = lines.substr(at, end - at);
    at = end + 1;
    if (is_known_header(header)) continue;
    text += "#ifndef TUNESMITH_HOST\n#include " + header + "\n";
    if (header == "<cuda_fp16.h>" || header == "<cuda_bf16.h>") {
      has_halves = true;
    } else if (header == "<cuda_pipeline.h>" || header == "<cuda_pipeline_primitives.h>") {
      has_copies = true;
    } else if (header != "<math_constants.h>") {
      text += "#else\n#error \"The header " + header +
              " has no twin for the host: what it declares runs on a GPU only. Tune this kernel on a CUDA "
              "device, leave the header out, or only compile the kernel, by --target.\"\n";
    }
    text += "#endif\n";
  }
  if (has_halves) text += "#include \"common/half_types.cuh\"\n";
  if (has_copies) text += "#include \"common/cuda_pipeline.cuh\"\n";
  return text;
}

// The function alone, in its lines, with the headers that a host has; and what calls it with the addresses of
// its arguments.
std::string function_text(const HostFunction& function, const std::string& cu, const std::string& file,
                          const std::string& includes) {
  std::string text = "#include <cmath>\n#include <cstddef>\n#include <cstdint>\n";
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
  const std::function<void(const std::string&, const std::string&, const std::string&)> add =
      [&](const std::string& file, const std::string& path, const std::string& text) {
        for (const std::string& name : constants) {
          if (form_of(text, name) == ConstantForm::macro) tmpl.macros.push_back(name);
        }
        KernelBody body = kernel_body(text, names, is_known_header);
        includes += body.includes;
        all_includes += body.includes + body.conditional_includes;
        body.text += body.behind;
        for (const std::string& note : body.notes) made.notes.push_back(path + ": " + note);
        std::string lines;
        std::istringstream all(body.text);
        for (std::string line; std::getline(all, line); lines += line + "\n") {
          const std::string name = included_file(line);
          const auto found = std::find_if(made.file.included.begin(), made.file.included.end(),
                                          [&](const auto& one) { return one.first == name; });
          if (name.empty() || name.starts_with("common/")) continue;
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
          if (seen.insert(name).second) add(folder + name + ".inl", name, found->second);
        }
        made.files[file] = std::move(lines);
      };
  const std::string main = folder + tmpl.name + ".cu";
  std::string text = made.file.cu;
  if (const auto& function = description.reference_function) {
    for (std::size_t at = function->begin; at < function->end; ++at)
      if (text[at] != '\n') text[at] = ' ';
  }
  add(main, made.file.path, text);
  if (description.reference_function)
    made.reference_text =
        function_text(*description.reference_function, made.file.cu,
                      std::filesystem::path(made.file.path).filename().string(), all_includes);
  for (const auto& [name, text] : common)
    if (name.starts_with("common/")) made.files.emplace(name, text);
  made.files[folder + "includes.h"] = includes_text(includes);
  // Behind the last line, so that the lines before keep their numbers; render moves it to the top.
  made.files[main] += "#include \"" + folder + "includes.h\"\n#include \"common/shared.cuh\"\n";
}

}  // namespace tunesmith
