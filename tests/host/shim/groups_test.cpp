// SPDX-License-Identifier: Apache-2.0
// Cooperative groups, and the barriers and pipelines of <cuda/barrier> and <cuda/pipeline>.
#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "tests/host/loaded.h"

namespace tunesmith {
namespace {

constexpr const char* groups = R"(#include "common/cooperative_groups.cuh"
namespace cg = cooperative_groups;
#define CHECK(condition) if (!(condition)) { atomicCAS(out, 0, __LINE__ - first); }
)";

// The test reports the first condition that is false.
TEST(ShimGroups, RanksSizesAndShufflesOfTilesAndBlocks) {
  LoadedBinary kernel = load(std::string(groups) + R"(
struct Three { double a; int b; };
__device__ int sum_of(cg::thread_group group, int* work, int value) {
  const int rank = group.thread_rank();
  for (int n = group.size() / 2; n > 0; n /= 2) {
    work[rank] = value;
    group.sync();
    if (rank < n) value += work[rank + n];
    group.sync();
  }
  return value;
}
extern "C" __global__ void ENTRY(kernel)(int* out) {
  const int first = __LINE__;
  __shared__ int work[64];
  cg::thread_block block = cg::this_thread_block();
  const int t = threadIdx.y * 16 + threadIdx.x;
  CHECK(block.thread_rank() == t && block.size() == 64 && block.num_threads() == 64);
  CHECK(block.group_index().x == blockIdx.x && block.thread_index().y == threadIdx.y && block.group_dim().x == 16);
  auto warp = cg::tiled_partition<32>(block);
  CHECK(warp.thread_rank() == t % 32 && warp.size() == 32 && warp.meta_group_rank() == t / 32 && warp.meta_group_size() == 2);
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  CHECK(tile.thread_rank() == t % 8 && tile.meta_group_rank() == t / 8 && tile.meta_group_size() == 8);
  auto inner = cg::tiled_partition<4>(warp);
  CHECK(inner.meta_group_rank() == t % 32 / 4 && inner.meta_group_size() == 8);
  CHECK(tile.shfl(t, 3) == t / 8 * 8 + 3); CHECK(tile.shfl(t, 11) == t / 8 * 8 + 3);
  CHECK(tile.shfl_up(t, 2) == (t % 8 < 2 ? t : t - 2)); CHECK(tile.shfl_down(t, 3) == (t % 8 > 4 ? t : t + 3));
  CHECK(tile.shfl_xor(t, 5) == (t ^ 5));
  const Three mine = {0.5 * t, t}, other = warp.shfl_xor(mine, 1);
  CHECK(other.b == (t ^ 1) && other.a == 0.5 * (t ^ 1));
  CHECK(tile.ballot(t % 2) == 0xaa); CHECK(tile.any(t % 8 == 7) == 1 && tile.all(t < 64) == 1 && tile.all(t % 8 < 7) == 0);
  CHECK(tile.match_any(t % 8 / 4) == (t % 8 < 4 ? 0x0f : 0xf0));
  CHECK(cg::tiled_partition(block, 16).thread_rank() == t % 16);
  CHECK(cg::thread_rank(tile) == t % 8); cg::sync(tile); cg::sync(block);
  const int of_block = sum_of(block, work, t), of_tile = sum_of(tile, work + t / 8 * 8, t);
  CHECK(t != 0 || of_block == 2016); CHECK(t % 8 != 0 || of_tile == 8 * t + 28);
  if (t % 3 == 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    CHECK(active.size() == (t < 32 ? 11 : 11)); CHECK(active.thread_rank() == (t < 32 ? t / 3 : (t - 33) / 3));
    CHECK(active.shfl(t, 0) == (t < 32 ? 0 : 33)); CHECK(active.shfl_down(t, 1) == (active.thread_rank() == 10 ? t : t + 3));
    CHECK(active.shfl_up(t, 1) == (active.thread_rank() == 0 ? t : t - 3)); CHECK(active.ballot(1) == 0x7ff);
  }
  auto odd = cg::binary_partition(warp, t % 2 == 1);
  CHECK(odd.size() == 16 && odd.thread_rank() == t % 32 / 2 && odd.meta_group_rank() == t % 2);
  CHECK(cg::labeled_partition(warp, t % 32 / 10).size() == (t % 32 < 30 ? 10 : 2));
  CHECK(cg::this_grid().thread_rank() == 64 * blockIdx.x + t && cg::this_grid().num_blocks() == 2 && cg::this_grid().is_valid());
  CHECK(cg::this_thread().size() == 1);
})",
                             {2, 1, 1}, {16, 4, 1});
  for (const bool reverse : {false, true}) {
    kernel.executable->reverse_threads(reverse);
    int line = 0;
    ASSERT_EQ(kernel.run({&line}), 0);
    EXPECT_EQ(line, 0) << "the line of the kernel whose condition is false";
  }
}

TEST(ShimGroups, ReductionsAndScans) {
  LoadedBinary kernel = load(std::string(groups) + R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  const int first = __LINE__;
  const int t = threadIdx.x;
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int base = t / 16 * 16;
  CHECK(cg::reduce(tile, t, cg::plus<int>()) == 16 * base + 120);
  CHECK(cg::reduce(tile, 0.5 * t, cg::plus<double>()) == 8.0 * base + 60);
  CHECK(cg::reduce(tile, t, cg::less<int>()) == base && cg::reduce(tile, t, cg::greater<int>()) == base + 15);
  CHECK(cg::reduce(tile, 1 << t % 16, cg::bit_or<int>()) == 0xffff && cg::reduce(tile, ~(1 << t % 16), cg::bit_and<int>()) == ~0xffff);
  CHECK(cg::reduce(tile, t, [](int a, int b) { return a > b ? a : b; }) == base + 15);
  const int r = t % 16;
  CHECK(cg::inclusive_scan(tile, t) == (r + 1) * base + r * (r + 1) / 2);
  CHECK(cg::exclusive_scan(tile, t) == r * base + r * (r - 1) / 2);
  CHECK(cg::inclusive_scan(tile, (t * 7) % 16, cg::greater<int>()) >= (t * 7) % 16);
  CHECK(cg::exclusive_scan(tile, 1ll << 40) == (1ll << 40) * r);
  if (t % 2 == 0) {
    auto active = cg::coalesced_threads();
    CHECK(cg::reduce(active, 1, cg::plus<int>()) == 16); CHECK(cg::exclusive_scan(active, 1) == t % 32 / 2);
  }
})",
                             {}, {64, 1, 1});
  int line = 0;
  ASSERT_EQ(kernel.run({&line}), 0);
  EXPECT_EQ(line, 0) << "the line of the kernel whose condition is false";
}

TEST(ShimGroups, ABlockCopiesAndWaits) {
  const auto body = [](const std::string& wait) {
    return std::string(groups) + R"(
extern "C" __global__ void ENTRY(kernel)(float* out, const float* in) {
  __shared__ __align__(16) float tile[100];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof(float) * 50);
  cg::memcpy_async(block, tile + 50, 50, in + 50, 60);
  )" + wait +
           R"(
  for (int n = threadIdx.x; n < 100; n += 32) out[n] = tile[99 - n];
})";
  };
  std::vector<float> in(110), out(100);
  std::iota(in.begin(), in.end(), 0.0F);
  ASSERT_EQ(load(body("cg::wait(block);"), {}, {32, 1, 1}, 2).run({out.data(), in.data()}), 0);
  for (std::size_t n = 0; n < 100; ++n) ASSERT_EQ(out[n], static_cast<float>(99 - n));
  ASSERT_EQ(load(body("cg::wait_prior<1>(block);"), {}, {32, 1, 1}, 2).run({out.data(), in.data()}), 0);
  EXPECT_EQ(out[99], 0) << "the first copy has arrived";
  EXPECT_NE(out[0], 99) << "the second one has not";
}

// Behind the wait each block finds what all have done before, and its own shared memory.
TEST(ShimGroups, AGridWaitsForAllItsBlocks) {
  LoadedBinary kernel = load(std::string(groups) + R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  __shared__ int own[32];
  own[threadIdx.x] = blockIdx.x;
  atomicAdd(&out[0], 1);
  cg::this_grid().sync();
  const int all = out[0];
  cg::grid_group grid = cg::this_grid();
  grid.sync();
  if (out[0] < 0 && blockIdx.x == 1) return;
  out[1 + blockIdx.x * 32 + threadIdx.x] = all + own[31 - threadIdx.x];
})",
                             {3, 1, 1}, {32, 1, 1});
  std::vector<int> out(97);
  ASSERT_EQ(kernel.run({out.data()}), 0);
  for (int n = 0; n < 96; ++n) ASSERT_EQ(out[1 + static_cast<std::size_t>(n)], 96 + n / 32) << n;
  ASSERT_EQ(kernel.run({out.data()}), 0) << "a second launch finds nothing of the first";
  EXPECT_EQ(out[0], 192);
}

TEST(ShimGroups, AGridThatABlockHasLeftNeverGoesOn) {
  LoadedBinary kernel = load(std::string(groups) + R"(
extern "C" __global__ void ENTRY(kernel)(int* out) { if (blockIdx.x > 0 || out[0] > 0) cg::this_grid().sync(); })",
                             {3, 1, 1}, {32, 1, 1});
  int zero = 0, one = 1;
  EXPECT_EQ(
      kernel.executable->describe(kernel.run({&zero})),
      "threads waited at grid.sync() for others that never arrive, because a block or a thread has ended "
      "or waits elsewhere");
  EXPECT_EQ(kernel.run({&one}), 0) << "the blocks of the launch that failed are forgotten";
}

constexpr const char* barriers = R"(#include "common/cooperative_groups.cuh"
#include "common/cuda_barrier.cuh"
#include "common/cuda_cpp_pipeline.cuh"
namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
)";

// The first warp fills what the others have read; each side waits for the other only.
TEST(ShimGroups, ProducersAndConsumersWaitAtBarriers) {
  LoadedBinary kernel = load(std::string(barriers) + R"(
extern "C" __global__ void ENTRY(kernel)(int* out, int rounds) {
  __shared__ int buffer[2][32];
  __shared__ Barrier ready[2], filled[2];
  const int t = threadIdx.x;
  if (t < 4) init(t < 2 ? ready + t : filled + t - 2, blockDim.x);
  __syncthreads();
  if (t < 32) {
    for (int n = 0; n < rounds; ++n) {
      ready[n % 2].arrive_and_wait();
      buffer[n % 2][t] = 100 * n + t;
      Barrier::arrival_token token = filled[n % 2].arrive();
    }
  } else {
    Barrier::arrival_token first = ready[0].arrive(), second = ready[1].arrive();
    int sum = 0;
    for (int n = 0; n < rounds; ++n) {
      filled[n % 2].arrive_and_wait();
      sum += buffer[n % 2][t % 32];
      Barrier::arrival_token token = ready[n % 2].arrive();
    }
    out[t] = __shfl_xor_sync(~0u, sum, 1);
  }
})",
                             {2, 1, 1}, {96, 1, 1}, 1, 0, {std::int32_t{7}});
  for (const bool reverse : {false, true}) {
    kernel.executable->reverse_threads(reverse);
    std::vector<int> out(96);
    ASSERT_EQ(kernel.run({out.data()}), 0);
    for (int t = 32; t < 96; ++t) ASSERT_EQ(out[static_cast<std::size_t>(t)], 2100 + 7 * ((t ^ 1) % 32)) << t;
  }
}

TEST(ShimGroups, ABarrierForWhichTooFewArriveEndsTheLaunch) {
  LoadedBinary kernel = load(std::string(barriers) + R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  __shared__ Barrier one;
  if (threadIdx.x == 0) init(&one, out[0]);
  __syncthreads();
  if (threadIdx.x < 50) one.arrive_and_wait();
  __syncthreads();
  out[threadIdx.x] = 1;
})",
                             {}, {64, 1, 1});
  std::vector<int> out(64, 50);
  ASSERT_EQ(kernel.run({out.data()}), 0);
  for (const int expected : {51, 49}) {
    out.assign(64, expected);
    EXPECT_EQ(kernel.executable->describe(kernel.run({out.data()})),
              "threads of a block waited at a cuda::barrier or cuda::pipeline for others that never arrive");
  }
  out.assign(64, 50);
  EXPECT_EQ(kernel.run({out.data()}), 0);
}

TEST(ShimGroups, CopiesThatAreBoundToABarrierArriveWithItsPhase) {
  LoadedBinary kernel = load(std::string(barriers) + R"(
extern "C" __global__ void ENTRY(kernel)(float* out, const float* in) {
  __shared__ __align__(16) float tile[64];
  __shared__ Barrier one;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&one, block.size());
  block.sync();
  for (int n = 0; n < 4; ++n) {
    cuda::memcpy_async(block, tile, in + 64 * n, cuda::aligned_size_t<16>(sizeof(tile)), one);
    const bool early = tile[threadIdx.x] == in[64 * n + threadIdx.x];
    one.arrive_and_wait();
    out[64 * n + threadIdx.x] = early ? -1 : tile[63 - threadIdx.x];
    block.sync();
  }
})",
                             {}, {64, 1, 1}, 2);
  alignas(16) float in[256];
  std::iota(std::begin(in), std::end(in), 0.0F);
  std::vector<float> out(256);
  ASSERT_EQ(kernel.run({out.data(), in}), 0);
  for (std::size_t n = 0; n < 256; ++n) ASSERT_EQ(out[n], in[n / 64 * 64 + 63 - n % 64]) << n;
  EXPECT_NE(kernel.run({out.data(), in + 1}), 0) << "aligned_size_t<16> promises more";
}

TEST(ShimGroups, PipelinesOfAThreadAndOfABlock) {
  for (const std::string made : {"cuda::make_pipeline()", "cuda::make_pipeline(block, &state)",
                                 "cuda::make_pipeline(block, &state, block.thread_rank() < 64 ? "
                                 "cuda::pipeline_role::producer : cuda::pipeline_role::consumer)",
                                 "cuda::make_pipeline(block, &state, (size_t)64)"}) {
    const bool is_split = made.find("role") != std::string::npos || made.find("64)") != std::string::npos;
    LoadedBinary kernel = load(std::string(barriers) + R"(
extern "C" __global__ void ENTRY(kernel)(float* out, const float* in, int count) {
  constexpr int stages = 2, batch = 128;
  __shared__ __align__(16) float tile[stages][batch];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cg::this_thread_block();
  auto pipe = )" + made + R"(;
  constexpr bool split = )" + (is_split ? "true" : "false") +
                                   R"(;
  const int t = block.thread_rank();
  const bool puts = !split || t < 64, takes = !split || t >= 64;
  auto put = [&](int n) {
    pipe.producer_acquire();
    for (int i = t; i < batch; i += split ? 64 : 128)
      cuda::memcpy_async(&tile[n % stages][i], &in[n * batch + i], sizeof(float), pipe);
    pipe.producer_commit();
  };
  auto take = [&](int n) {
    pipe.consumer_wait();
    if (!split) block.sync();
    for (int i = split ? t - 64 : t; i < batch; i += split ? 64 : 128)
      out[n * batch + i] = tile[n % stages][batch - 1 - i];
    if (!split) block.sync();
    pipe.consumer_release();
  };
  if (split) {
    if (puts) for (int n = 0; n < count; ++n) put(n);
    if (takes) for (int n = 0; n < count; ++n) take(n);
  } else {
    put(0);
    for (int n = 1; n < count; ++n) { put(n); take(n - 1); }
    take(count - 1);
  }
})",
                               {}, {128, 1, 1}, 2, 0, {std::int32_t{5}});
    std::vector<float> in(640), out(640);
    std::iota(in.begin(), in.end(), 0.0F);
    for (const bool reverse : {false, true}) {
      kernel.executable->reverse_threads(reverse);
      ASSERT_EQ(kernel.run({out.data(), in.data()}), 0) << made;
      for (std::size_t n = 0; n < 640; ++n) ASSERT_EQ(out[n], in[n / 128 * 128 + 127 - n % 128]) << made << n;
    }
  }
}

}  // namespace
}  // namespace tunesmith
