// SPDX-License-Identifier: Apache-2.0
#include "runtime/cache.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <utility>
#include <vector>

#include "generator/hash.h"
#include "runtime/files.h"
#include "runtime/trust.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

// A file begins with the SHA-256 of the rest. The rest is an optional blank with the SHA-256 of the
// toolchain's identity, a line feed and the bytes.
constexpr std::size_t digits = 64;

std::string name_of(const Source& source) { return source.hash + "-" + source.target; }

}  // namespace

fs::path user_cache_folder() {
  if (const char* folder = ::secure_getenv("XDG_CACHE_HOME"); folder != nullptr && *folder == '/')
    return fs::path(folder) / "tunesmith";
  if (const char* home = ::secure_getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache/tunesmith";
  return {};
}

std::optional<std::string> BinaryCache::find(const Source& source) const {
  auto entry = find_entry(source);
  return entry ? std::optional(std::move(entry->bytes)) : std::nullopt;
}

std::optional<std::string> BinaryCache::why_unused() const {
  if (folder_.empty()) return std::nullopt;
  if (const auto why = why_untrusted(folder_ / "any")) return "The cache of binaries is not used. " + *why;
  std::error_code error;
  fs::path place = folder_;  // or the folder in which it would be made
  while (!fs::exists(place, error) && place.has_relative_path()) place = place.parent_path();
  if (fs::is_directory(place, error) && ::access(place.c_str(), W_OK | X_OK) == 0) return std::nullopt;
  return "The cache of binaries " + folder_.string() +
         " cannot be written: each process compiles what is not in it. Set XDG_CACHE_HOME to a folder that "
         "can be "
         "written.";
}

std::optional<BinaryCache::Entry> BinaryCache::find_entry(const Source& source) const {
  errno = 0;
  const fs::path place = folder_ / name_of(source);
  if (folder_.empty() || why_untrusted(place)) return std::nullopt;
  std::string content = read_file(place);
  if (content.size() <= digits || content.compare(0, digits, sha256(content.substr(digits))) != 0)
    return std::nullopt;
  Entry entry;
  std::size_t begin = digits + 1;
  if (content[digits] == ' ') {
    entry.made_by = content.substr(begin, digits);
    begin += digits + 1;
  }
  if (content.size() <= begin) return std::nullopt;
  entry.bytes = content.substr(begin);
  std::error_code ignored;
  fs::last_write_time(place, fs::file_time_type::clock::now(),
                      ignored);  // trim() reads the time of the last use
  return entry;
}

std::optional<std::string> BinaryCache::put(const Source& source, const std::string& bytes,
                                            const std::string& toolchain) const {
  if (folder_.empty()) return std::nullopt;
  const auto failed = [&](const std::string& why) {
    return "Compiled binaries cannot be kept in the cache " + folder_.string() + ": " + why +
           ". Each process compiles them again; make it a folder that can be written, or name another one.";
  };
  std::error_code error;
  if (fs::create_directories(folder_, error)) fs::permissions(folder_, fs::perms::owner_all, error);
  const fs::path place = folder_ / name_of(source);
  if (why_untrusted(place)) return std::nullopt;  // why_unused() reports this
  fs::path part = place;
  part += "." + std::to_string(::getpid()) + "." + std::to_string(std::random_device{}());
  {
    errno = 0;
    std::ofstream file(part, std::ios::binary | std::ios::trunc);
    const std::string entry = (toolchain.empty() ? "" : " " + sha256(toolchain)) + "\n" + bytes;
    file << sha256(entry) << entry;
    file.close();
    if (!file) {
      const int why = errno;
      fs::remove(part, error);
      return failed(why == 0 ? "the file system refuses it" : std::strerror(why));
    }
  }
  fs::rename(part, place, error);
  if (!error) return std::nullopt;
  const std::string why = error.message();
  fs::remove(part, error);
  return failed(why);
}

void trim_folder(const fs::path& folder, std::uintmax_t most_bytes, const fs::path& extension) {
  struct CachedFile {
    fs::file_time_type used;
    std::uintmax_t bytes;
    fs::path path;
  };
  std::vector<CachedFile> entries;
  std::uintmax_t total = 0;
  std::error_code error;
  if (folder.empty()) return;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // another process may trim too
    if (!extension.empty() && at->path().extension() != extension) continue;
    if (!at->is_regular_file(gone)) continue;
    CachedFile entry{at->last_write_time(gone), at->file_size(gone), at->path()};
    if (gone) continue;
    total += entry.bytes;
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const CachedFile& a, const CachedFile& b) { return a.used < b.used; });
  for (const CachedFile& entry : entries) {
    if (total <= most_bytes) return;
    total -= entry.bytes;
    fs::remove(entry.path, error);
  }
}

}  // namespace tunesmith
