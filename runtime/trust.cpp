#include "runtime/trust.h"

#include <sys/stat.h>
#include <unistd.h>

#include "generator/number_text.h"

namespace tunesmith {
namespace {

std::optional<std::string> why_not_mine(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  const std::string name = (S_ISDIR(found.st_mode) ? "Its folder " : "The file ") + path.string();
  if (found.st_uid != ::geteuid() && found.st_uid != 0) {
    return name + " belongs to another user, number " + std::to_string(found.st_uid) +
           ": use one of your own.";
  }
  const bool sticky = S_ISDIR(found.st_mode) && (found.st_mode & S_ISVTX) != 0;
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) == 0 || sticky) return std::nullopt;
  return name +
         printed(" can be written by others (mode %04o)", static_cast<unsigned>(found.st_mode & 07777)) +
         ": run chmod go-w " + path.string() + ".";
}

}  // namespace

std::optional<std::string> why_untrusted(const std::filesystem::path& file) {
  if (auto why = why_not_mine(file.has_parent_path() ? file.parent_path() : ".")) return why;
  for (const char* beside : {"", "-wal", "-shm", "-journal"}) {
    if (auto why = why_not_mine(file.string() + beside)) return why;
  }
  return std::nullopt;
}

}  // namespace tunesmith
