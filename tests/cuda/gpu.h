// SPDX-License-Identifier: Apache-2.0
// One CUDA device for all tests of a process. A test is skipped with the reason if there is no device.
#pragma once

#include <gtest/gtest.h>

#include "generator/error.h"
#include "tuner/device/device.h"

namespace tunesmith {

inline std::string why_no_gpu() {
  std::string why_none;
  static_cast<void>(cuda_devices(why_none));
  return why_none;
}

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
  }
  static Device& device() {
    static const std::unique_ptr<Device> only = make_cuda_device(0);
    return *only;
  }
};

}  // namespace tunesmith
