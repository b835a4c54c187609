// SPDX-License-Identifier: Apache-2.0
// Tests the stacks of fibers, with the switch in assembly and with ucontext.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tests/host/loaded.h"

namespace tunesmith {
namespace {

TEST(ShimFibers, AThousandThreadsKeepTheirOwnStacks) {
  const std::string body = R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  __shared__ int total;
  int local[512];
  const int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  if (t == 0) total = 0;
  for (int n = 0; n < 512; ++n) local[n] = t ^ n;
  for (int n = 0; n < 512; n += 64) {
    __syncthreads();
    atomicAdd(&total, local[(n + t) % 512]);
  }
  __syncthreads();
  int sum = 0;
  for (int n = 0; n < 512; ++n) sum += local[n] ^ n;
  out[t] = total == sum ? -1 : sum;
})";
  for (const char* switches :
       {"", "#define TUNESMITH_UCONTEXT 1\n"}) {  // as on machines without a switch in assembly
    LoadedBinary kernel = load(body, {}, {8, 4, 32}, 1, 0, {}, switches);
    std::vector<int> out(1024);
    for (const bool reverse : {false, true}) {
      kernel.executable->reverse_threads(reverse);
      ASSERT_EQ(kernel.run({out.data()}), 0);
      for (int t = 0; t < 1024; ++t) ASSERT_EQ(out[static_cast<std::size_t>(t)], 512 * t);
    }
  }
}

}  // namespace
}  // namespace tunesmith
