// SPDX-License-Identifier: Apache-2.0
// Barriers.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "tests/host/loaded.h"
#include "tests/host/shim/neighbours.h"

namespace tunesmith {
namespace {

TEST(ShimBlock, ABarrierMakesSharedMemoryVisible) {
  for (const bool reverse : {false, true}) {
    EXPECT_EQ(neighbours("__syncthreads();", reverse), std::vector<float>(128, 63.0f));
  }
}

TEST(ShimBlock, AMissingSecondBarrierShowsInOneOfTheOrders) {
  const char* body = R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  __shared__ int shared[32];
  const int t = threadIdx.x;
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    shared[t] = round;
    __syncthreads();
    sum += shared[31 - t];  // the next round may overwrite what others still read
  }
  out[t] = sum;
})";
  LoadedBinary kernel = load(body, {}, {32, 1, 1});
  int wrong = 0;
  for (const bool reverse : {false, true}) {
    std::vector<int> out(32);
    kernel.executable->reverse_threads(reverse);
    ASSERT_EQ(kernel.run({out.data()}), 0);
    for (const int value : out) wrong += value != 3;
  }
  EXPECT_GT(wrong, 0);
}

TEST(ShimBlock, ThreadsMayReturnBeforeOthersMeet) {
  LoadedBinary kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  if (threadIdx.x % 2 == 1) return;
  const int even = __syncthreads_count(threadIdx.x % 4 == 0);
  const int any = __syncthreads_or(threadIdx.x == 2);
  const int none = __syncthreads_or(0);
  const int all = __syncthreads_and(1);
  const int not_all = __syncthreads_and(threadIdx.x != 4);
  out[threadIdx.x] = even + 100 * any + 1000 * none + 10000 * all + 100000 * not_all;
})",
                             {}, {16, 1, 1});
  std::vector<int> out(16, -1);
  ASSERT_EQ(kernel.run({out.data()}), 0);
  for (std::size_t t = 0; t < 16; ++t) EXPECT_EQ(out[t], t % 2 == 1 ? -1 : 10104);
}

TEST(ShimBlock, WaitingAtDifferentBarriersIsAnErrorThatLeavesTheVariantUsable) {
  LoadedBinary kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  if (*out < 0 && threadIdx.x < 3) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  out[threadIdx.x] = threadIdx.x;
})",
                             {}, {8, 1, 1});
  std::vector<int> out(8);
  for (const bool reverse : {false, true}) {
    kernel.executable->reverse_threads(reverse);
    out[0] = -1;
    EXPECT_EQ(kernel.executable->describe(kernel.run({out.data()})),
              "threads of a block waited at different barriers");
    out[0] = 0;
    ASSERT_EQ(kernel.run({out.data()}), 0);
    EXPECT_EQ(out, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  }
}

}  // namespace
}  // namespace tunesmith
