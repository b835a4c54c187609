// SPDX-License-Identifier: Apache-2.0
// Warp collectives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/host/loaded.h"
#include "tests/kernels.h"

namespace tunesmith {
namespace {

TEST(ShimWarp, ShufflesMoveBetweenTheLanesOfASegment) {
  LoadedBinary kernel = load(shuffle_kernel, {}, {8, 8, 1}, 1, 0, {std::int32_t{32}, std::int32_t{0}});
  for (int type = 0; type < 7; ++type) {
    for (const int width : {32, 16, 8, 1}) {
      Launch launch{.kernel = "kernel",
                    .block = {8, 8, 1},
                    .arguments = {ArgumentPointer{0}, std::int32_t{width}, std::int32_t{type}}};
      const auto executable = kernel.executable->with(Work{.steps = {launch}});
      for (const bool reverse : {false, true}) {
        executable->reverse_threads(reverse);
        std::vector<long long> out(64 * 16, -7);
        void* arguments[] = {out.data()};
        ASSERT_EQ(executable->launch(arguments, nullptr, nullptr), 0);
        for (int t = 0; t < 64; ++t) {
          const int lane = t % 32;
          const int first = lane / width * width;
          const int last = first + width - 1;
          const auto own_if = [&](bool outside, int from) { return outside ? lane : from; };
          const int from[] = {first + 5 % width,
                              first + t * 7 % 32 % width,
                              own_if(lane - 3 < first, lane - 3),
                              own_if(lane + 3 > last, lane + 3),
                              own_if((lane ^ 6) > last, lane ^ 6),
                              own_if((lane ^ 9) > last, lane ^ 9)};
          for (int n = 0; n < 6; ++n)
            ASSERT_EQ(out[static_cast<std::size_t>(t * 16 + n)], 1000 + t / 32 * 32 + from[n])
                << "type " << type << ", width " << width << ", thread " << t << ", shuffle " << n;
        }
      }
    }
  }
}

// In a block of 48 threads the second warp has 16 lanes; the values of its lanes 16 to 31 are undefined.
TEST(ShimWarp, VotesMatchesAndReductionsOfTwoWarps) {
  LoadedBinary kernel = load(vote_kernel, {}, {48, 1, 1}, 2);
  std::vector<int> in(48);
  for (std::size_t t = 0; t < 48; ++t) in[t] = static_cast<int>(t * 37 % 101) - 40;
  in[40] = 99;
  for (const bool reverse : {false, true}) {
    kernel.executable->reverse_threads(reverse);
    std::vector<unsigned> out(48 * 16);
    ASSERT_EQ(kernel.run({out.data(), in.data()}), 0);
    for (std::size_t t = 0; t < 48; ++t) {
      const std::size_t begin = t / 32 * 32;
      const std::size_t end = std::min<std::size_t>(begin + 32, 48);
      unsigned ballot = 0, same = 0, all_bits = ~0u, any_bits = 0, odd_bits = 0;
      unsigned least = ~0u, most = 0;
      int sum = 0, lowest = in[begin], highest = in[begin];
      for (std::size_t n = begin; n < end; ++n) {
        const unsigned bit = 1u << (n - begin);
        const auto bits = static_cast<unsigned>(in[n]);
        if (in[n] > 0) ballot |= bit;
        if (in[n] % 4 == in[t] % 4) same |= bit;
        sum += in[n];
        lowest = std::min(lowest, in[n]);
        highest = std::max(highest, in[n]);
        least = std::min(least, bits);
        most = std::max(most, bits);
        all_bits &= bits;
        any_bits |= bits;
        odd_bits ^= bits;
      }
      const unsigned everyone = begin == 0 ? ~0u : 0xffffu;
      const unsigned expected[] = {ballot,
                                   begin == 0 ? 1u : 3u,
                                   same,
                                   static_cast<unsigned>(sum),
                                   static_cast<unsigned>(lowest),
                                   static_cast<unsigned>(highest),
                                   least,
                                   most,
                                   all_bits,
                                   any_bits,
                                   odd_bits,
                                   everyone,
                                   1,
                                   begin == 0 ? 0 : everyone,
                                   begin == 0 ? 0u : 1u,
                                   everyone};
      for (std::size_t n = 0; n < 16; ++n) ASSERT_EQ(out[t * 16 + n], expected[n]) << t << " " << n;
    }
  }
}

// The even lanes of the second half meet alone while the others return; a returned lane gives poison.
TEST(ShimWarp, PartialMasksAndReturnedLanes) {
  LoadedBinary kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  const int t = threadIdx.x;
  const int lane = t % 32;
  if (lane < 16) {
    int sum = t;
    for (int n = 8; n > 0; n /= 2) sum += __shfl_xor_sync(0x0000ffffu, sum, n);
    out[t] = sum;
  } else if (lane % 2 == 0) {
    int sum = t;
    for (int n = 8; n > 1; n /= 2) sum += __shfl_xor_sync(0x55550000u, sum, n);
    out[t] = 10000 + sum;
  } else {
    out[t] = static_cast<int>(__activemask() >> 16);
    if (lane == 31) return;
  }
  __syncwarp();
  out[64 + t] = __shfl_sync(0xffffffffu, t, 31);
  __syncthreads();
  out[128 + t] = __shfl_down_sync(0xffffffffu, out[t ^ 32], 1);
})",
                             {2, 1, 1}, {64, 1, 1});
  for (const bool reverse : {false, true}) {
    kernel.executable->reverse_threads(reverse);
    std::vector<int> out(192, -5);
    ASSERT_EQ(kernel.run({out.data()}), 0);
    std::vector<int> first(64);
    for (int t = 0; t < 64; ++t) {
      const int base = t / 32 * 32;
      const int lane = t % 32;
      if (lane < 16) {
        first[static_cast<std::size_t>(t)] = 16 * base + 120;
      } else {
        first[static_cast<std::size_t>(t)] = lane % 2 == 0 ? 10000 + 8 * base + 184 : 0xaaaa;
      }
    }
    for (std::size_t t = 0; t < 64; ++t) {
      ASSERT_EQ(out[t], first[t]) << t;
      if (t % 32 == 31) {
        ASSERT_EQ(out[64 + t], -5);
      } else {
        ASSERT_EQ(out[64 + t], -1) << "lane 31 has returned";
        ASSERT_EQ(out[128 + t], t % 32 == 30 ? -1 : first[(t + 1) ^ 32]) << t;
      }
    }
  }
}

TEST(ShimWarp, ABlockSumAndAScanInOneKernelWithBarriersAndCollectives) {
  const std::string body = R"(
extern "C" __global__ void ENTRY(kernel)(long long* out) {
  __shared__ double of_warp[32];
  const int t = threadIdx.x;
  double sum = t;
  for (int n = 16; n > 0; n /= 2) sum += __shfl_down_sync(0xffffffffu, sum, n);
  if (t % 32 == 0) of_warp[t / 32] = sum;
  __syncthreads();
  if (t < 32) {
    sum = of_warp[t];
    for (int n = 16; n > 0; n /= 2) sum += __shfl_down_sync(0xffffffffu, sum, n);
    if (t == 0) out[1024] = static_cast<long long>(sum);
  }
  int scan = 1;
  for (int n = 1; n < 32; n *= 2) {
    const int before = __shfl_up_sync(0xffffffffu, scan, n);
    if (t % 32 >= n) scan += before;
  }
  out[t] = scan;
})";
  for (const char* switches : {"", "#define TUNESMITH_UCONTEXT 1\n"}) {
    LoadedBinary kernel = load(body, {2, 1, 1}, {1024, 1, 1}, 1, 0, {}, switches);
    for (const bool reverse : {false, true}) {
      kernel.executable->reverse_threads(reverse);
      std::vector<long long> out(1025);
      ASSERT_EQ(kernel.run({out.data()}), 0);
      for (std::size_t t = 0; t < 1024; ++t) ASSERT_EQ(out[t], static_cast<long long>(t % 32 + 1));
      EXPECT_EQ(out[1024], 1023 * 512);
    }
  }
}

TEST(ShimWarp, AWarpThatDoesNotMeetIsAnErrorThatLeavesTheVariantUsable) {
  LoadedBinary kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  const int t = threadIdx.x;
  const int way = out[0];
  if (way == 1 && t < 3) __syncwarp();     // the others wait at the barrier
  if (way == 2) {
    if (t < 3) __syncwarp();               // at two lines
    else __syncwarp();
  }
  if (way == 3) __syncwarp(t < 3 ? 7 : ~0u);   // two masks
  if (way == 4) __shfl_sync(0xfffeu, t, 1);    // without lane 0
  __syncthreads();
  out[t] = t;
})",
                             {}, {40, 1, 1});
  for (const int way : {1, 2, 3, 4}) {
    for (const bool reverse : {false, true}) {
      kernel.executable->reverse_threads(reverse);
      std::vector<int> out(40, way);
      EXPECT_EQ(
          kernel.executable->describe(kernel.run({out.data()})),
          "not all threads of a warp reached the warp collective (shuffle, vote, __syncwarp) whose mask "
          "names them")
          << way;
      out[0] = 0;
      ASSERT_EQ(kernel.run({out.data()}), 0);
      for (int t = 0; t < 40; ++t) ASSERT_EQ(out[static_cast<std::size_t>(t)], t);
    }
  }
}

}  // namespace
}  // namespace tunesmith
