// SPDX-License-Identifier: Apache-2.0
// Built-in variables and vector types, and loads of them.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/host/loaded.h"

namespace tunesmith {
namespace {

TEST(ShimBuiltins, IndicesAndDimsAreThoseOfTheLaunch) {
  LoadedBinary kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(int* out, int scale, long long offset) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const int threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = static_cast<int>(offset) + scale * (block * 1000 + thread);
})",
                             {3, 2, 2}, {4, 3, 2}, 1, 0, {std::int32_t{2}, std::int64_t{7}});
  for (const bool reverse : {false, true}) {
    std::vector<int> out(12 * 24, -1);
    kernel.executable->reverse_threads(reverse);
    ASSERT_EQ(kernel.run({out.data()}), 0);
    for (int n = 0; n < 12 * 24; ++n)
      ASSERT_EQ(out[static_cast<std::size_t>(n)], 7 + 2 * (n / 24 * 1000 + n % 24));
  }
}

TEST(ShimBuiltins, VectorsAreStoredWhole) {
  LoadedBinary kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(float4* out, const float* in) {
  *out = make_float4(1.0f, 4, __ldg(in), 7.0f);
})",
                             {}, {}, 2);
  alignas(16) float out[4] = {};
  float in = 2.5f;
  ASSERT_EQ(kernel.run({out, &in}), 0);
  EXPECT_EQ(std::vector<float>(out, out + 4), (std::vector<float>{1, 4, 2.5f, 7}));
}

}  // namespace
}  // namespace tunesmith
