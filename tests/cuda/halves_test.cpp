// SPDX-License-Identifier: Apache-2.0
// Tests products of f32 by halves in tensor cores with numbers that are hard to split, in tiles as large as
// those that are fast, and long sums.
#include <algorithm>
#include <iostream>
#include <string>

#include "runtime/toolchain.h"
#include "tests/cuda/gpu.h"
#include "tests/halves_cases.h"

namespace tunesmith {
namespace {

class HalvesOnGpu : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && device().facts().compute_capability < 80)
      GTEST_SKIP() << "tensor cores multiply halves from compute capability 8.0 on";
  }
};

TEST_F(HalvesOnGpu, KeepTheBoundForAllNumbers) {
  const double worst = halves_test::keep_the_bound(
      device(), *make_nvrtc_toolchain(), device().facts().target, 1200, 131, 260,
      {{58, "TILE_M=128 TILE_N=128 THREAD_M=8 THREAD_N=8 TILE_K=32"},
       {67, "TILE_M=128 TILE_N=256 THREAD_M=8 THREAD_N=16 TILE_K=16"},
       {128, "TILE_M=64 TILE_N=64 THREAD_M=8 THREAD_N=8 TILE_K=16"},
       {40, "TILE_M=32 TILE_N=32 THREAD_M=4 THREAD_N=8 TILE_K=16"},
       {64, "TILE_M=128 TILE_N=128 THREAD_M=8 THREAD_N=8 TILE_K=32 STAGES=4"},
       {100, "TILE_M=128 TILE_N=256 THREAD_M=8 THREAD_N=16 TILE_K=32 STAGES=3"},
       {333, "TILE_M=128 TILE_N=64 THREAD_M=8 THREAD_N=8 TILE_K=32 STAGES=3 SPLIT=2"},
       {40, "TILE_M=64 TILE_N=64 THREAD_M=8 THREAD_N=8 TILE_K=16 STAGES=2"}});
  std::cout << "The largest error is " << worst << " of what is permitted.\n";
}

TEST_F(HalvesOnGpu, KeepTheBoundInWarpgroups) {
  if (device().facts().compute_capability != 90) GTEST_SKIP() << "wgmma is of compute capability 9.0 alone";
  const double worst = halves_test::keep_the_bound(
      device(), *make_nvrtc_toolchain(), device().facts().target, 800, 131, 260,
      {{98, "TILE_M=128 TILE_N=256 THREAD_M=2 THREAD_N=64 TILE_K=64 STAGES=2"},
       {128, "TILE_M=256 TILE_N=128 THREAD_M=4 THREAD_N=32 TILE_K=64 STAGES=2"},
       {130, "TILE_M=128 TILE_N=128 THREAD_M=2 THREAD_N=32 TILE_K=64 STAGES=3"},
       {333, "TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=2 SPLIT=2"}});
  std::cout << "The largest error is " << worst << " of what is permitted.\n";
}

TEST_F(HalvesOnGpu, OneOfEachNumberKeepsItsBound) {
  double worst = halves_test::keep_the_bound(
      device(), *make_nvrtc_toolchain(), device().facts().target, 600, 131, 260,
      {{1, "TILE_M=32 TILE_N=32 THREAD_M=4 THREAD_N=8 TILE_K=16"},
       {58, "TILE_M=128 TILE_N=128 THREAD_M=8 THREAD_N=8 TILE_K=32"},
       {367, "TILE_M=128 TILE_N=256 THREAD_M=8 THREAD_N=16 TILE_K=16"},
       {64, "TILE_M=128 TILE_N=128 THREAD_M=8 THREAD_N=8 TILE_K=32 STAGES=4"},
       {333, "TILE_M=128 TILE_N=64 THREAD_M=8 THREAD_N=8 TILE_K=32 STAGES=3 SPLIT=2"}},
      "tf32");
  if (device().facts().compute_capability == 90)
    worst =
        std::max(worst, halves_test::keep_the_bound(
                            device(), *make_nvrtc_toolchain(), device().facts().target, 1000, 131, 260,
                            {{1, "TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=3"},
                             {130, "TILE_M=128 TILE_N=256 THREAD_M=2 THREAD_N=64 TILE_K=64 STAGES=4"},
                             {400, "TILE_M=256 TILE_N=128 THREAD_M=4 THREAD_N=32 TILE_K=64 STAGES=3"},
                             {641, "TILE_M=128 TILE_N=128 THREAD_M=2 THREAD_N=32 TILE_K=64 STAGES=4"},
                             {777, "TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=3 SPLIT=2"}},
                            "tf32"));
  std::cout << "The largest error is " << worst << " of what is permitted.\n";
  EXPECT_GT(worst, 0.3) << "factors are not rounded";
}

TEST_F(HalvesOnGpu, KeepLongSumsClose) {
  const Problem problem = halves_test::product_of(16, 16, 1000003);
  for (const std::string config : {"TILE_M=64 TILE_N=64 THREAD_M=8 THREAD_N=8 TILE_K=32",
                                   "TILE_M=128 TILE_N=64 THREAD_M=8 THREAD_N=8 TILE_K=32 STAGES=3"})
    halves_test::keep_long_sums_close(device(), *make_nvrtc_toolchain(), device().facts().target, problem,
                                      config);
}

}  // namespace
}  // namespace tunesmith
