// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/read.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "generator/error.h"
#include "kernel_file/description.h"
#include "kernel_file/headers.h"
#include "kernel_file/kernel_source.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = std::size_t{4} << 20, most_files = 100;

// A line of a text that includes a file.
struct Inclusion {
  std::string name;
  std::size_t begin = 0, end = 0;  // of the name with its quotes or brackets
  bool is_in_brackets = false;
};

std::vector<Inclusion> inclusions_of(const std::string& text) {
  static const std::regex include(R"re(^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>))re");
  std::vector<Inclusion> made;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    std::smatch match;
    if (line.find("include") != std::string::npos && std::regex_search(line, match, include)) {
      const std::size_t which = match[1].matched ? 1 : 2;
      const std::size_t at = begin + static_cast<std::size_t>(match.position(which));
      made.push_back({match[which], at - 1, at + match[which].str().size() + 1, which == 2});
    }
    begin = end + 1;
  }
  return made;
}

bool may_be_a_file(const Inclusion& one) {
  if (one.name.starts_with("common/") || fs::path(one.name).is_absolute()) return false;
  if (one.is_in_brackets && (is_known_header("<" + one.name + ">") || is_emulated("<" + one.name + ">")))
    return false;
  return is_code_file(one.name) || (!one.is_in_brackets && !is_outside(one.name));
}

// Where files are sought: the folders of the description stand before those of the text and the kernel for
// names in brackets, and behind them for names in quotes.
struct Places {
  fs::path root;
  std::vector<fs::path> folders;

  fs::path file_of(const Inclusion& one, const fs::path& folder) const {
    if (one.is_in_brackets && folders.empty()) return {};
    std::vector<fs::path> all = {folder, root};
    all.insert(one.is_in_brackets ? all.begin() : all.end(), folders.begin(), folders.end());
    for (const fs::path& place : all) {
      std::error_code ignored;
      if (fs::is_regular_file(place / one.name, ignored)) return (place / one.name).lexically_normal();
    }
    return {};
  }
};

// Adds what the text includes, as far as there is a file. What is found by a name in brackets is included by
// quotes from here on. `taken` has the file of each name.
void add_included(const Places& places, const fs::path& folder, std::string& text, KernelFile& own,
                  std::map<std::string, fs::path>& taken) {
  for (const Inclusion& one : inclusions_of(text)) {
    if (!may_be_a_file(one)) continue;
    const std::string& name = one.name;
    const fs::path file = places.file_of(one, folder);
    if (file.empty()) continue;  // an error only if the compiler compiles that line
    text[one.begin] = text[one.end - 1] = '"';
    const auto [known, is_new] = taken.emplace(name, file);
    if (!is_new && known->second != file)
      throw UsageError(own.path + " includes two files as \"" + name + "\": " + known->second.string() +
                       " and " + file.string() + ". Give one of them another name.");
    if (!is_new) continue;
    if (own.included.size() == most_files)
      throw UsageError(own.path + " includes more than " + std::to_string(most_files) + " files.");
    own.included.emplace_back(name, read_text_file(file));
    const std::size_t at = own.included.size() - 1;
    std::string inner = own.included[at].second;
    add_included(places, file.parent_path(), inner, own, taken);
    own.included[at].second = std::move(inner);
  }
}

// Returns the nearest folder that has the file: one above the kernel's, or a folder in one of these that is
// named for files that others include. Empty: there is none.
std::string folder_with(const fs::path& folder, const std::string& name) {
  constexpr int most_levels = 4;
  static const std::regex of_includes("common|inc|util|share|head|help|lib|src|core", std::regex::icase);
  std::error_code ignored;
  const auto has = [&](const fs::path& place) { return fs::is_regular_file(folder / place / name, ignored); };
  fs::path above = ".";
  for (int level = 0; level <= most_levels; ++level) {
    if (has(above)) return above.lexically_normal().generic_string();
    std::set<fs::path> within;
    for (fs::directory_iterator one(folder / above, ignored), end; one != end; one.increment(ignored))
      if (one->is_directory(ignored) && within.size() < most_files &&
          std::regex_search(one->path().filename().string(), of_includes))
        within.insert(one->path().filename());
    for (const fs::path& one : within)
      if (has(above / one)) return (above / one).lexically_normal().generic_string();
    if (fs::exists(folder / above / ".git", ignored)) break;  // another project's files lie above
    above /= "..";
  }
  return "";
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

KernelFile read_kernel_file(const fs::path& path, const std::vector<std::string>& folders) {
  KernelFile own{.path = path.string(), .cu = read_text_file(path), .description = {}};
  const fs::path beside = fs::path(path).replace_extension(".toml");
  std::error_code ignored;
  if (fs::exists(beside, ignored)) own.description = read_text_file(beside);
  const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  Places places{.root = folder, .folders = {}};
  for (const std::string& one : include_folders(own)) places.folders.push_back(folder / one);
  for (const std::string& one : folders) places.folders.push_back(folder / one);
  std::map<std::string, fs::path> taken;
  add_included(places, folder, own.cu, own, taken);
  return own;
}

std::vector<std::string> folders_of_absent_files(const fs::path& path) {
  const fs::path own_folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  std::vector<std::string> found;
  std::set<std::string> sought;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    const KernelFile file = read_kernel_file(path, found);
    std::vector<std::string> texts = {file.cu};
    std::set<std::string> there;
    for (const auto& [name, text] : file.included) {
      texts.push_back(text);
      there.insert(name);
    }
    for (const std::string& text : texts)
      for (const Inclusion& one : inclusions_of(text)) {
        if (goes_on || !may_be_a_file(one) || is_outside(one.name) || there.contains(one.name) ||
            !sought.insert(one.name).second)
          continue;
        const std::string folder = folder_with(own_folder, one.name);
        if (folder.empty()) continue;
        found.push_back(folder);
        goes_on = true;
      }
  }
  return found;
}

}  // namespace tunesmith
