// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/device_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <utility>

namespace tunesmith {

// A lock needs no write permission, so another user's file will do. No link is followed, because everybody
// may write in the folder.
DeviceLock::DeviceLock(const std::filesystem::path& folder, const std::string& uuid) {
  std::string name = "tunesmith-";
  for (const char c : uuid) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  const std::filesystem::path path = folder / (name + ".lock");
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  file_ = ::open(path.c_str(), flags);
  if (file_ < 0 && errno == ENOENT) {
    file_ = ::open(path.c_str(), flags | O_CREAT, 0644);
    if (file_ >= 0) static_cast<void>(::fchmod(file_, 0644));  // with any umask
  }
  struct stat status = {};
  if (file_ < 0 || (::fstat(file_, &status) == 0 && S_ISREG(status.st_mode))) return;
  ::close(file_);
  file_ = -1;
}

DeviceLock::~DeviceLock() {
  if (file_ >= 0) ::close(file_);
}

DeviceLock::DeviceLock(DeviceLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

bool DeviceLock::take() {
  return file_ < 0 || ::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

}  // namespace tunesmith
