// SPDX-License-Identifier: Apache-2.0
// Device memory with an owner.
#pragma once

#include <cstdint>
#include <memory>

#include "tuner/device/device.h"

namespace tunesmith {

/// Memory of a device, with its guards; released by the destructor. The device must live longer.
class DeviceMemory {
 public:
  /// Throws Error when there is not enough memory.
  DeviceMemory(Device& device, std::int64_t bytes, std::int64_t alignment = 256)
      : bytes_(bytes), memory_(device.allocate(bytes, alignment), Release{&device}) {}

  void* get() const { return memory_.get(); }
  template <typename T>
  T* as() const {
    return static_cast<T*>(memory_.get());
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  struct Release {
    Device* device;
    void operator()(void* memory) const { device->release(memory); }
  };
  std::int64_t bytes_;
  std::unique_ptr<void, Release> memory_;
};

}  // namespace tunesmith
