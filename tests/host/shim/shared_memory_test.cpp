// Shared memory is poisoned before each block, and dynamic shared memory is guarded.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/host/loaded.h"
#include "tests/host/shim/neighbours.h"

namespace tunesmith {
namespace {

TEST(ShimSharedMemory, AMissingBarrierReadsPoisonInEveryBlock) {
  for (const bool reverse : {false, true}) {
    const std::vector<float> out = neighbours("", reverse);
    for (const std::size_t block : {0u, 64u}) {
      bool poisoned = false;
      for (std::size_t t = 0; t < 64; ++t) poisoned = poisoned || out[block + t] != out[block + t];
      EXPECT_TRUE(poisoned) << "block " << block / 64 << " must not see the block before it";
    }
  }
}

TEST(ShimSharedMemory, DynamicSharedMemoryHasTheLaunchsSizeAndAGuard) {
  const char* body = R"(
extern "C" __global__ void ENTRY(kernel)(double* out, int beyond) {
  DYNAMIC_SHARED(double, shared);
  shared[threadIdx.x] = threadIdx.x;
  if (beyond && threadIdx.x == 0) shared[beyond] = 1;
  __syncthreads();
  out[threadIdx.x] = shared[7 - threadIdx.x];
})";
  std::vector<double> out(8);
  Loaded good = load(body, {}, {8, 1, 1}, 1, 64, {std::int32_t{0}});
  ASSERT_EQ(good.run({out.data()}), 0);
  EXPECT_EQ(out, (std::vector<double>{7, 6, 5, 4, 3, 2, 1, 0}));
  for (const int index : {-512, -1, 8, 519}) {
    Loaded bad = load(body, {3, 1, 1}, {8, 1, 1}, 1, 64, {std::int32_t{index}});
    const int code = bad.run({out.data()});
    EXPECT_EQ(bad.executable->describe(code), "the kernel wrote outside its dynamic shared memory");
  }
}

}  // namespace
}  // namespace tunesmith
