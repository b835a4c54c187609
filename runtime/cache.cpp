#include "runtime/cache.h"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>

#include "generator/hash.h"

namespace tunesmith {
namespace {
constexpr std::size_t digits = 64;  // a file is the SHA-256 of the bytes, a line feed and the bytes
}

std::filesystem::path BinaryCache::place_of(const Source& source) const {
  return folder_ / (source.hash + "-" + source.target);
}

std::optional<std::string> BinaryCache::find(const Source& source) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(place_of(source), std::ios::binary);
  if (!file) return std::nullopt;
  std::string content{std::istreambuf_iterator<char>(file), {}};
  if (content.size() <= digits) return std::nullopt;
  std::string bytes = content.substr(digits + 1);
  if (content.compare(0, digits, sha256(bytes)) != 0) return std::nullopt;
  return bytes;
}

void BinaryCache::put(const Source& source, const std::string& bytes) const {
  if (folder_.empty()) return;
  std::error_code error;
  const bool is_new = std::filesystem::create_directories(folder_, error);
  if (is_new) {  // what is loaded from here is run: nobody else may write it
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, error);
  }
  const std::filesystem::path place = place_of(source);
  std::filesystem::path part = place;
  part += "." + std::to_string(::getpid()) + "." + std::to_string(std::random_device{}());
  {
    std::ofstream file(part, std::ios::binary | std::ios::trunc);
    file << sha256(bytes) << '\n' << bytes;
    file.close();
    if (!file) {
      std::filesystem::remove(part, error);
      return;
    }
  }
  std::filesystem::rename(part, place, error);
  if (error) std::filesystem::remove(part, error);
}

}  // namespace tunesmith
