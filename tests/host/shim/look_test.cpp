// SPDX-License-Identifier: Apache-2.0
// Tests threads that wait for each other by looking again and again.
#include <array>

#include "tests/host/loaded.h"

namespace tunesmith {
namespace {

TEST(ShimLook, AThreadAtALockLetsItsHolderGoOn) {
  LoadedBinary loaded = load(R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  while (atomicCAS(&out[0], static_cast<int>(threadIdx.x), -1) != static_cast<int>(threadIdx.x)) {
  }
  out[1] += threadIdx.x;
  atomicExch(&out[0], static_cast<int>(threadIdx.x) + 1);
}
)",
                             {3}, {70});
  for (const bool reverse : {false, true}) {
    std::array<int, 2> out = {};
    loaded.executable->emulate(reverse, Poison::nan);
    EXPECT_EQ(loaded.run({out.data()}), host_waits_for_ever) << "the second block finds the lock at 70";
    EXPECT_EQ(out[1], 70 * 69 / 2);
  }
}

TEST(ShimLook, AVolatileFlagIsWaitedFor) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "no volatile load is reported beside another sanitizer";
#endif
  LoadedBinary loaded = load(R"(
#include "common/volatile_looks.cuh"
extern "C" __global__ void ENTRY(kernel)(int* out) {
  volatile int* flag = out;
  if (threadIdx.x == 0) {
    while (*flag != 64) {
    }
    out[1] = 5;
    *flag = 0;
  } else {
    while (*flag != static_cast<int>(threadIdx.x) - 1) {
    }
    *flag = threadIdx.x == 63 ? 64 : static_cast<int>(threadIdx.x);
    while (*flag != 0) {
    }
    out[1 + threadIdx.x] = out[1];
  }
}
)",
                             {1}, {64});
  for (const bool reverse : {false, true}) {
    std::array<int, 65> out = {};
    loaded.executable->emulate(reverse, Poison::nan);
    ASSERT_EQ(loaded.run({out.data()}), 0);
    for (std::size_t thread = 1; thread < out.size(); ++thread) EXPECT_EQ(out.at(thread), 5) << thread;
  }
}

TEST(ShimLook, LooksThatAreMeantEnd) {
  LoadedBinary loaded = load(R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  for (int i = 0; i < 20000; ++i) atomicMax(&out[0], 7);
  __syncthreads();
  atomicAdd(&out[1], 1);
}
)",
                             {2}, {128});
  std::array<int, 2> out = {9, 0};
  ASSERT_EQ(loaded.run({out.data()}), 0);
  EXPECT_EQ(out[0], 9);
  EXPECT_EQ(out[1], 256);
}

}  // namespace
}  // namespace tunesmith
