// SPDX-License-Identifier: Apache-2.0
// Lets one tuner at a time measure on a GPU, by a lock file named for the GPU's UUID. The system releases the
// lock when the process ends, however it ends.
#pragma once

#include <filesystem>
#include <string>

namespace tunesmith {

/// The folder of the lock files of all users of this machine.
inline constexpr const char* lock_folder = "/tmp";

class DeviceLock {
 public:
  /// Does not take the lock yet. If the file cannot be opened, take() always succeeds.
  DeviceLock(const std::filesystem::path& folder, const std::string& uuid);
  ~DeviceLock();
  DeviceLock(DeviceLock&& other) noexcept;
  DeviceLock& operator=(DeviceLock&&) = delete;
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

  /// Takes the lock; false if another tuner has it. Never waits.
  bool take();

 private:
  int file_ = -1;
};

}  // namespace tunesmith
