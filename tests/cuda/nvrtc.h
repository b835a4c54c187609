// NVRTC for a test; the test is skipped with the reason where there is none.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "generator/error.h"
#include "runtime/toolchain.h"

namespace tunesmith {

class Nvrtc : public testing::Test {
 protected:
  void SetUp() override {
    try {
      toolchain_ = make_nvrtc_toolchain();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::unique_ptr<Toolchain> toolchain_;
};

}  // namespace tunesmith
