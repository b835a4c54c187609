// SPDX-License-Identifier: Apache-2.0
// The functions of CUDA's runtime that arrays need. Without the CUDA toolkit at build time all of them throw.
#pragma once

#include <cstdint>
#include <string>

namespace tunesmith::python {

/// The version of the CUDA runtime of the build, such as "13.0"; empty if it was built without CUDA.
std::string built_with_cuda();

/// The ordinal of the device that `pointer` belongs to; 0 for null.
int device_of(const void* pointer);

/// Makes a device current for the lifetime of the object.
class CurrentDevice {
 public:
  explicit CurrentDevice(int ordinal);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = -1;  // -1: the device was current
};

/// Memory of the current device.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::int64_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  void* data() const { return data_; }
  void fill_from(const void* host);  ///< on the default stream; done on return
  void copy_to(void* host) const;    ///< on the default stream, after its launches; done on return

 private:
  std::int64_t bytes_;
  void* data_ = nullptr;
};

/// Waits for all work of the current device.
void synchronize();

}  // namespace tunesmith::python
