// SPDX-License-Identifier: Apache-2.0
// Atomic operations.
#include <gtest/gtest.h>

#include "tests/host/loaded.h"

namespace tunesmith {
namespace {

TEST(ShimAtomics, CountAndSumOverAllThreads) {
  LoadedBinary kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(int* count, float* sum) {
  atomicAdd(count, 1);
  atomicMax(count + 1, static_cast<int>(threadIdx.x));
  atomicAdd(sum, 0.5f);
})",
                             {4, 1, 1}, {1024, 1, 1}, 2);
  int count[2] = {0, 0};
  float sum = 0;
  ASSERT_EQ(kernel.run({count, &sum}), 0);
  EXPECT_EQ(count[0], 4096);
  EXPECT_EQ(count[1], 1023);
  EXPECT_EQ(sum, 2048.0f);
}

TEST(ShimAtomics, AnswerTheOldValueAndStoreTheNew) {
  LoadedBinary kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(unsigned* at, unsigned* old) {
  old[0] = atomicSub(at, 2u);
  old[1] = atomicMin(at + 1, 3u);
  old[2] = atomicAnd(at + 2, 6u);
  old[3] = atomicOr(at + 3, 6u);
  old[4] = atomicXor(at + 4, 6u);
  old[5] = atomicExch(at + 5, 6u);
  old[6] = atomicCAS(at + 6, 6u, 60u);
  old[7] = atomicCAS(at + 7, 7u, 60u);
  old[8] = atomicInc(at + 8, 9u);
  old[9] = atomicInc(at + 9, 8u);
})",
                             {}, {}, 2);
  std::vector<unsigned> at = {9, 9, 9, 9, 9, 9, 6, 6, 8, 8};
  const std::vector<unsigned> before = at;
  std::vector<unsigned> old(10);
  ASSERT_EQ(kernel.run({at.data(), old.data()}), 0);
  EXPECT_EQ(old, before);
  EXPECT_EQ(at, (std::vector<unsigned>{7, 3, 0, 15, 15, 6, 60, 6, 9, 0}));
}

}  // namespace
}  // namespace tunesmith
