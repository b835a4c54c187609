#include "runtime/cache.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <random>
#include <vector>

#include "generator/hash.h"
#include "runtime/files.h"
#include "runtime/trust.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t digits = 64;  // a file is the SHA-256 of the bytes, a line feed and the bytes

std::string name_of(const Source& source) { return source.hash + "-" + source.target; }

}  // namespace

fs::path user_cache_folder() {
  if (const char* folder = ::secure_getenv("XDG_CACHE_HOME"); folder != nullptr && *folder == '/')
    return fs::path(folder) / "tunesmith";
  if (const char* home = ::secure_getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache/tunesmith";
  return {};
}

std::optional<std::string> BinaryCache::find(const Source& source) const { return find(name_of(source)); }
void BinaryCache::put(const Source& source, const std::string& bytes) const { put(name_of(source), bytes); }

std::optional<std::string> BinaryCache::why_unused() const {
  const auto why = folder_.empty() ? std::nullopt : why_untrusted(folder_ / "any");
  return why ? std::optional("The cache of binaries is not used. " + *why) : std::nullopt;
}

std::optional<std::string> BinaryCache::find(const std::string& name) const {
  errno = 0;
  if (folder_.empty() || why_untrusted(folder_ / name)) return std::nullopt;
  const std::string content = read_file(folder_ / name);
  if (content.size() <= digits) return std::nullopt;
  std::string bytes = content.substr(digits + 1);
  if (content.compare(0, digits, sha256(bytes)) != 0) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(folder_ / name, fs::file_time_type::clock::now(), ignored);  // for trim()
  return bytes;
}

void BinaryCache::put(const std::string& name, const std::string& bytes) const {
  if (folder_.empty()) return;
  std::error_code error;
  if (fs::create_directories(folder_, error)) fs::permissions(folder_, fs::perms::owner_all, error);
  const fs::path place = folder_ / name;
  if (why_untrusted(place)) return;
  fs::path part = place;
  part += "." + std::to_string(::getpid()) + "." + std::to_string(std::random_device{}());
  {
    std::ofstream file(part, std::ios::binary | std::ios::trunc);
    file << sha256(bytes) << '\n' << bytes;
    file.close();
    if (!file) {
      fs::remove(part, error);
      return;
    }
  }
  fs::rename(part, place, error);
  if (error) fs::remove(part, error);
}

void BinaryCache::trim(std::uintmax_t most_bytes) const {
  struct Entry {
    fs::file_time_type used;
    std::uintmax_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::uintmax_t total = 0;
  std::error_code error;
  if (folder_.empty()) return;
  for (fs::recursive_directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // another process may trim too
    if (!at->is_regular_file(gone)) continue;
    Entry entry{at->last_write_time(gone), at->file_size(gone), at->path()};
    if (gone) continue;
    total += entry.bytes;
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= most_bytes) return;
    total -= entry.bytes;
    fs::remove(entry.path, error);
  }
}

}  // namespace tunesmith
