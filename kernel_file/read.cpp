// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/read.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "generator/error.h"
#include "kernel_file/kernel_source.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = std::size_t{4} << 20, most_files = 100;

// Adds what the text includes by quotes, sought as compilers do: in the folder of the text, then in that of
// the kernel's file. `taken` has the file of each name.
void add_included(const fs::path& root, const fs::path& folder, const std::string& text, KernelFile& own,
                  std::map<std::string, fs::path>& taken) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = included_file(line);
    if (name.empty() || name.starts_with("common/")) continue;
    if (is_outside(name) && (fs::path(name).is_absolute() || !is_code_file(name))) continue;
    fs::path file;
    for (const fs::path& place : {folder, root}) {
      std::error_code ignored;
      if (file.empty() && fs::is_regular_file(place / name, ignored))
        file = (place / name).lexically_normal();
    }
    if (file.empty()) continue;  // an error only if the compiler compiles that line
    const auto [known, is_new] = taken.emplace(name, file);
    if (!is_new && known->second != file)
      throw UsageError(own.path + " includes two files as \"" + name + "\": " + known->second.string() +
                       " and " + file.string() + ". Give one of them another name.");
    if (!is_new) continue;
    if (own.included.size() == most_files)
      throw UsageError(own.path + " includes more than " + std::to_string(most_files) + " files.");
    own.included.emplace_back(name, read_text_file(file));
    const std::string inner = own.included.back().second;
    add_included(root, file.parent_path(), inner, own, taken);
  }
}

}  // namespace

bool is_code_file(const std::filesystem::path& name) {
  static constexpr std::string_view endings[] = {".h",   ".hh", ".hpp", ".hxx", ".cuh",
                                                 ".inl", ".cu", ".c",   ".cc",  ".cpp"};
  const std::string ending = name.extension().string();
  return std::find(std::begin(endings), std::end(endings), ending) != std::end(endings);
}

std::string read_text_file(const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored) && !fs::is_directory(path, ignored))
    throw UsageError("The file " + path.string() + " cannot be read: it is a pipe, a socket or a device.");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file || fs::is_directory(path))
    throw UsageError("The file " + path.string() +
                     " cannot be read: " + (errno != 0 ? std::strerror(errno) : "it is a folder") + ".");
  if (text.size() > most_bytes)
    throw UsageError("The file " + path.string() + " is larger than the 4 MiB that are allowed.");
  if (text.find('\0') != std::string::npos) throw UsageError("The file " + path.string() + " is not a text.");
  return text;
}

KernelFile read_kernel_file(const fs::path& path) {
  KernelFile own{.path = path.string(), .cu = read_text_file(path), .description = {}};
  const fs::path beside = fs::path(path).replace_extension(".toml");
  std::error_code ignored;
  if (fs::exists(beside, ignored)) own.description = read_text_file(beside);
  const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  std::map<std::string, fs::path> taken;
  add_included(folder, folder, own.cu, own, taken);
  return own;
}

}  // namespace tunesmith
