// SPDX-License-Identifier: Apache-2.0
// A kernel in which each thread reads a value that another thread wrote to shared memory.
#pragma once

#include <string>
#include <vector>

#include "tests/host/loaded.h"

namespace tunesmith {

inline constexpr const char* neighbour_sum = R"(
extern "C" __global__ void ENTRY(kernel)(float* out) {
  __shared__ float shared[64];
  const int t = threadIdx.x;
  shared[t] = t;
  BARRIER
  out[blockIdx.x * 64 + t] = shared[t] + shared[63 - t];
})";

// The same in a template, whose variables some compilers treat otherwise. A user's are in such a namespace.
inline constexpr const char* neighbour_sum_of_template = R"(
namespace {
template <int SIZE>
void sum(float* out) {
  __shared__ float shared[SIZE];
  const int t = threadIdx.x;
  shared[t] = t;
  BARRIER
  out[blockIdx.x * SIZE + t] = shared[t] + shared[SIZE - 1 - t];
}
}
extern "C" __global__ void ENTRY(kernel)(float* out) { sum<64>(out); })";

inline std::vector<float> neighbours(const std::string& barrier, bool reverse,
                                     std::string body = neighbour_sum) {
  body.replace(body.find("BARRIER"), 7, barrier);
  LoadedBinary kernel = load(body, {2, 1, 1}, {64, 1, 1});
  kernel.executable->reverse_threads(reverse);
  std::vector<float> out(128, -1);
  EXPECT_EQ(kernel.run({out.data()}), 0);
#if defined(__SANITIZE_ADDRESS__)  // adds a zone behind each variable
  EXPECT_GE(kernel.executable->facts().static_shared_bytes, 256);
#else
  EXPECT_EQ(kernel.executable->facts().static_shared_bytes, 256);
#endif
  return out;
}

}  // namespace tunesmith
