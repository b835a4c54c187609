// SPDX-License-Identifier: Apache-2.0
// Shared memory is poisoned before each block, and dynamic shared memory is guarded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/host/loaded.h"
#include "tests/host/shim/neighbours.h"

namespace tunesmith {
namespace {

TEST(ShimSharedMemory, AMissingBarrierReadsPoisonInEveryBlock) {
  for (const char* const body : {neighbour_sum, neighbour_sum_of_template})
    for (const bool reverse : {false, true}) {
      const std::vector<float> out = neighbours("", reverse, body);
      for (const std::size_t block : {0u, 64u}) {
        bool poisoned = false;
        for (std::size_t t = 0; t < 64; ++t) poisoned = poisoned || !(out[block + t] < 1000);
        EXPECT_TRUE(poisoned) << "block " << block / 64 << " must not see the block before it in " << body;
      }
    }
}

// All 32 values are 3, and every thread combines them, or one thread does: a lost value is not missed, so
// only poison reveals it.
constexpr const char* taken = R"(
template <typename Number, typename Take>
void all(Number* shared, Number* values, Number start, Take take, int who) {
  const int t = threadIdx.x;
  shared[t] = values[t];
  BARRIER
  if (who >= 0 && t != who) return;
  for (int i = 0; i < 32; ++i) start = take(start, shared[i]);
  values[32 + t] = start;
}
extern "C" __global__ void ENTRY(kernel)(int* integers, float* floats, int what, int who) {
  __shared__ int whole[32];
  __shared__ float real[32];
  if (what == 0) all<int>(whole, integers, -5, [](int a, int b) { return max(a, b); }, who);
  if (what == 1) all<int>(whole, integers, 5, [](int a, int b) { return min(a, b); }, who);
  if (what == 2) all<int>(whole, integers, 0, [](int a, int b) { return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)); }, who);
  if (what == 3) all<float>(real, floats, -1e30f, [](float a, float b) { return fmaxf(a, b); }, who);
  if (what == 4) all<float>(real, floats, 1e30f, [](float a, float b) { return fminf(a, b); }, who);
  if (what == 5) all<float>(real, floats, 0, [](float a, float b) { return a + b; }, who);
})";

// The number of a check's four runs that have a wrong result.
int runs_that_tell(const std::string& barrier, int what, int who) {
  std::string body = taken;
  body.replace(body.find("BARRIER"), 7, barrier);
  static std::map<std::string, std::pair<std::string, std::string>>
      compiled;  // of each barrier: bytes, suffix
  auto& [bytes, suffix] = compiled[barrier];
  if (bytes.empty()) {
    const Source source = host_source(body);
    Compilation made = make_host_toolchain()->compile(source);
    EXPECT_TRUE(made.ok) << made.log;
    bytes = made.bytes;
    suffix = source.suffix;
  }
  const Launch launch{
      .kernel = "kernel",
      .block = {32, 1, 1},
      .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, std::int32_t{what}, std::int32_t{who}}};
  const auto kernel = load_host(bytes, suffix, Work{.steps = {launch}});
  const int right = what % 3 == 2 ? 96 : 3;
  int telling = 0;
  for (const bool reverse : {false, true}) {
    for (const bool other : {false, true}) {
      std::vector<int> integers(64, right);
      std::vector<float> floats(64, static_cast<float>(right));
      std::fill_n(integers.begin(), 32, 3);
      std::fill_n(floats.begin(), 32, 3.0f);
      void* arguments[] = {integers.data(), floats.data()};
      kernel->emulate(reverse, poison_of(reverse, other));
      EXPECT_EQ(kernel->launch(arguments, nullptr, nullptr), 0);
      telling += std::any_of(integers.begin() + 32, integers.end(), [&](int n) { return n != right; }) ||
                 std::any_of(floats.begin() + 32, floats.end(),
                             [&](float n) { return !(n == static_cast<float>(right)); });
    }
  }
  return telling;
}

TEST(ShimSharedMemory, AMissingBarrierBeforeAMaximumAMinimumOrASumShows) {
  for (int what = 0; what < 6; ++what) {
    for (const int who : {-1, 0, 31}) {
      EXPECT_GE(runs_that_tell("", what, who), 1) << what << " by " << who;
      EXPECT_EQ(runs_that_tell("__syncthreads();", what, who), 0) << what << " by " << who;
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
  LoadedBinary good = load(body, {}, {8, 1, 1}, 1, 64, {std::int32_t{0}});
  ASSERT_EQ(good.run({out.data()}), 0);
  EXPECT_EQ(out, (std::vector<double>{7, 6, 5, 4, 3, 2, 1, 0}));
  for (const int index : {-512, -1, 8, 519}) {
    LoadedBinary bad = load(body, {3, 1, 1}, {8, 1, 1}, 1, 64, {std::int32_t{index}});
    const int code = bad.run({out.data()});
    EXPECT_EQ(bad.executable->describe(code), "the kernel wrote outside its dynamic shared memory");
  }
}

}  // namespace
}  // namespace tunesmith
