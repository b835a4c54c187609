// SPDX-License-Identifier: Apache-2.0
// One tuner at a time measures on a GPU: a lock file by the GPU's UUID, which the system lets go of when the
// process ends, however it ends.
#pragma once

#include <filesystem>
#include <string>

namespace tunesmith {

/// Where the lock files of all users of this machine are.
inline constexpr const char* lock_folder = "/tmp";

class DeviceLock {
 public:
  /// Takes nothing yet. Where the file cannot be opened there is nobody to wait for.
  DeviceLock(const std::filesystem::path& folder, const std::string& uuid);
  ~DeviceLock();
  DeviceLock(DeviceLock&& other) noexcept;
  DeviceLock& operator=(DeviceLock&&) = delete;
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

  /// False: another tuner has it. Never waits.
  bool take();

 private:
  int file_ = -1;
};

}  // namespace tunesmith
