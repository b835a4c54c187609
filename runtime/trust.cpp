// SPDX-License-Identifier: Apache-2.0
#include "runtime/trust.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "generator/number_text.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> why_not_mine(const fs::path& path, const std::string& what) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  const std::string name = what + path.string();
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

// Checks all folders above the file, up to the user's home folder or the root.
std::optional<std::string> why_not_folders(const fs::path& file) {
  const char* const given = ::secure_getenv("HOME");
  const fs::path home = given == nullptr ? "" : given;
  for (fs::path folder = file.parent_path();; folder = folder.parent_path()) {
    if (auto why = why_not_mine(folder, "Its folder ")) return why;
    if (folder == home || !folder.has_relative_path()) return std::nullopt;
  }
}

}  // namespace

std::optional<std::string> why_no_file(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode)) return std::nullopt;
  return path.string() + (S_ISDIR(found.st_mode) ? " is a folder" : " is a pipe, a socket or a device") +
         ": give a regular file.";
}

// The folders of the given name are checked too, because they decide where a link leads.
std::optional<std::string> why_untrusted(const fs::path& file) {
  std::error_code error;
  const fs::path name = fs::absolute(file, error).lexically_normal();
  const fs::path place = error ? fs::path() : fs::weakly_canonical(name, error);
  if (error) return "The file " + file.string() + " cannot be followed: " + error.message() + ".";
  if (auto why = why_not_folders(place)) return why;
  if (place != name) {
    if (auto why = why_not_folders(name)) return why;
  }
  for (const char* beside : {"", "-wal", "-shm", "-journal"}) {
    const std::string part = place.string() + beside;
    if (auto why = why_no_file(part)) return why;
    if (auto why = why_not_mine(part, "The file ")) return why;
  }
  return std::nullopt;
}

}  // namespace tunesmith
