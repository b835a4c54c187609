// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/read.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "generator/error.h"
#include "kernel_file/kernel_source.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = std::size_t{4} << 20, most_files = 100;

void add_included(const fs::path& folder, const std::string& text, KernelFile& own) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = included_file(line);
    const bool known = std::any_of(own.included.begin(), own.included.end(),
                                   [&](const auto& one) { return one.first == name; });
    if (name.empty() || known || name.starts_with("common/")) continue;
    // Either is an error only if the compiler compiles that line.
    if (is_outside(name) || !fs::is_regular_file(folder / name)) continue;
    if (own.included.size() == most_files)
      throw UsageError(own.path + " includes more than " + std::to_string(most_files) +
                       " files of its folder.");
    own.included.emplace_back(name, read_text_file(folder / name));
    const std::string inner = own.included.back().second;
    add_included(folder, inner, own);
  }
}

}  // namespace

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
  add_included(folder, own.cu, own);
  return own;
}

}  // namespace tunesmith
