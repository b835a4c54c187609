// SPDX-License-Identifier: Apache-2.0
// Launches: grids of any size, and one launch at a time.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/host/loaded.h"
#include "tests/host/shim/neighbours.h"

namespace tunesmith {
namespace {

TEST(ShimLaunch, RunsHugeGrids) {
  const char* body = R"(
extern "C" __global__ void ENTRY(kernel)(unsigned long long* out) {
  atomicAdd(out, 1ull);
  atomicMax(out + 1, static_cast<unsigned long long>(blockIdx.x));
  atomicMax(out + 2, static_cast<unsigned long long>(blockIdx.y) * blockIdx.z);
})";
  for (const Extent& grid : {Extent{1 << 20, 1, 1}, Extent{1, 65535, 2}, Extent{2, 1, 65535}}) {
    LoadedBinary kernel = load(body, grid, {});
    unsigned long long out[3] = {};
    ASSERT_EQ(kernel.run({out}), 0);
    EXPECT_EQ(out[0], static_cast<unsigned long long>(grid.x * grid.y * grid.z));
    EXPECT_EQ(out[1], static_cast<unsigned long long>(grid.x - 1));
    EXPECT_EQ(out[2], static_cast<unsigned long long>((grid.y - 1) * (grid.z - 1)));
  }
  EXPECT_THROW(load(body, {1, 65536, 1}, {}), LoadError);
  EXPECT_THROW(load(body, {}, {1024, 2, 1}), LoadError);
}

TEST(ShimLaunch, OneVariantLaunchedFromTwoThreadsWaitsForItself) {
  std::string body = neighbour_sum;
  body.replace(body.find("BARRIER"), 7, "__syncthreads();");
  LoadedBinary kernel = load(body, {2, 1, 1}, {64, 1, 1});
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> outs(4, std::vector<float>(128));
  for (auto& out : outs) {
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n) EXPECT_EQ(kernel.run({out.data()}), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& out : outs) EXPECT_EQ(out, std::vector<float>(128, 63.0f));
}

}  // namespace
}  // namespace tunesmith
