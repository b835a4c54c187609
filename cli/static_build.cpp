// SPDX-License-Identifier: Apache-2.0
#include "cli/static_build.h"

#include <algorithm>

#include "generator/csv.h"
#include "generator/error.h"
#include "generator/hash.h"
#include "runtime/files.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view list_file = "export.cmake";
constexpr std::string_view tvm_ffi_file = "tvm_ffi_module.cpp";  // in cli/static/CMakeLists.txt too

std::string file_of(const StaticKernel& kernel) {
  return (kernel.on_host ? "host/" : "gpu/") + kernel.name + (kernel.on_host ? ".cpp" : ".cu");
}

// Returns the kernel's text with the two halves of its body as includes, because many kernels share them.
std::string shared_text(const StaticKernel& kernel, Texts& files) {
  const std::size_t split = kernel.body.find(constants_line);
  std::string text = kernel.text;
  for (const std::string& half :
       {kernel.body.substr(0, split), kernel.body.substr(split + constants_line.size())}) {
    const std::size_t at = text.find(half);
    if (half.empty() || at == std::string::npos) continue;  // generated code stands in this half
    const std::string name = "bodies/" + sha256(half).substr(0, 12) + ".inl";
    files["kernels/" + name] = half;
    text.replace(at, half.size(), "\n#include \"../" + name + "\"\n");
  }
  return text;
}

std::string kernels_csv(const std::vector<StaticKernel>& kernels) {
  std::string text = "kind,variant,hash,file\n";
  for (const StaticKernel& kernel : kernels) {
    text += std::string(kernel.on_host ? "host" : "gpu") + "," + csv_field(kernel.key) + "," + kernel.hash +
            "," + file_of(kernel) + "\n";
  }
  return text;
}

std::string cmake_list(const std::string& name, const std::vector<std::string>& items) {
  std::string text = "set(" + name + "\n";
  for (const std::string& item : items) text += "  \"" + item + "\"\n";
  return text + ")\n";
}

// Writes the table of ops as cmake/ops_library.cmake does.
std::string ops_cpp(const std::vector<std::string>& ops) {
  std::string declarations;
  std::string calls;
  for (const std::string& op : ops) {
    declarations += "Op ops_" + op + "();\n";
    calls += "ops_" + op + "(), ";
  }
  return "#include \"generator/ops.h\"\n\nnamespace tunesmith {\n" + declarations +
         "\nconst std::vector<Op>& ops() {\n  static const std::vector<Op>& all = *new const "
         "std::vector<Op>{" +
         calls + "};\n  return all;\n}\n}  // namespace tunesmith\n";
}

// True for files of an exported op, or of all ops: "templates/axes.h", "templates/along_axis/strided_axis.h".
bool belongs(const std::string& path, const std::vector<std::string>& ops) {
  const std::string folder = std::next(fs::path(path).begin())->string();
  return !op_sources().contains("templates/" + folder + "/op.cpp") ||
         std::find(ops.begin(), ops.end(), folder) != ops.end();
}

// True for files of which only one is built: CMakeLists.txt chooses it.
bool is_chosen_by_target(const std::string& path) { return path.starts_with("runtime/cuda_"); }

}  // namespace

void write_static_folder(const StaticFolder& content, const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && !(fs::is_directory(folder, error) && fs::is_empty(folder, error)) &&
      !fs::exists(folder / list_file, error)) {
    throw UsageError(
        "The folder " + folder.string() +
        " has files and is not an earlier export; name an empty folder, or one that does not exist.");
  }
  Texts files;
  std::vector<std::string> sources;
  const auto add_source = [&](const std::string& path, const std::string& text) {
    files["source/" + path] = text;
    if (path.ends_with(".cpp") && !is_chosen_by_target(path)) sources.push_back(path);
  };
  for (const auto& [path, text] : library_sources()) {
    if (path == tvm_ffi_file) {  // a target of its own
      if (content.tvm_ffi) files["source/" + path] = text;
    } else if (path.find('/') == std::string::npos) {
      files[path] = text;
    } else {
      add_source(path, text);
    }
  }
  for (const auto& [path, text] : op_sources())
    if (belongs(path, content.ops)) add_source(path, text);
  add_source("ops.cpp", ops_cpp(content.ops));
  for (const auto& [name, text] : content.tables) files["tables/" + name] = text;
  files["kernels.csv"] = kernels_csv(content.kernels);
  std::vector<std::string> kernels;
  for (const StaticKernel& kernel : content.kernels) {
    files["kernels/" + file_of(kernel)] = shared_text(kernel, files);
    for (const std::string& target : kernel.targets)
      kernels.push_back(target + " " + kernel.hash + " " + file_of(kernel));
  }
  std::sort(kernels.begin(), kernels.end());  // two spellings of one expression are one kernel
  kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
  std::vector<std::string> tables;
  for (const auto& [name, text] : content.tables) tables.push_back(name);
  files[std::string(list_file)] =
      "# Written by `tunesmith export --static`.\n" + cmake_list("tunesmith_targets", content.targets) +
      cmake_list("tunesmith_ops", content.ops) + cmake_list("tunesmith_sources", sources) +
      cmake_list("tunesmith_tables", tables) + cmake_list("tunesmith_kernels", kernels);

  // The content names the version, so that in a process with the shared library, or with another export,
  // neither calls the other's functions.
  std::string all;
  for (const auto& [name, text] : files) all += name + "\n" + text;
  std::string& version = files.at("source/dispatch/include/tunesmith/version.h");
  constexpr std::string_view mark = "_export_CONTENT";
  const std::string name = "_export_" + sha256(all).substr(0, 12);
  for (std::size_t at = 0; (at = version.find(mark, at)) != std::string::npos;)
    version.replace(at, mark.size(), name);

  fs::remove(folder / "CMakeLists.txt",
             error);  // written last, so that a half-made export is not taken for one
  for (const char* old : {"kernels", "source", "tables"}) fs::remove_all(folder / old, error);
  fs::create_directories(folder, error);
  write_file(folder / list_file, "");  // this file marks the folder as an export from now on
  for (const auto& [name, text] : files) {
    if (name == "CMakeLists.txt") continue;
    fs::create_directories((folder / name).parent_path(), error);
    write_file(folder / name, text);
  }
  write_file(folder / "CMakeLists.txt", files.at("CMakeLists.txt"));
}

}  // namespace tunesmith
