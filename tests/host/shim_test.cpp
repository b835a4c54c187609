// The execution model: small kernels, compiled and run as any variant is.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "generator/ops.h"
#include "generator/random.h"
#include "runtime/toolchain.h"
#include "tests/kernels.h"
#include "tuner/check_data.h"
#include "tuner/device_memory.h"

namespace tunesmith {
namespace {

Source source_of(const std::string& body, const std::string& kernel = "kernel") {
  Source source;
  std::string shim = template_files().at("common/host_shim.h");
  shim.erase(shim.find("#pragma once"), 12);
  source.text =
      shim + "\n#define ENTRY(name) name##_test\n" + body + "\nTUNESMITH_HOST_ENTRY(" + kernel + "_test)\n";
  source.suffix = "_test";
  source.target = "host";
  return source;
}

struct Loaded {
  std::unique_ptr<Executable> executable;
  int run(std::vector<void*> arguments) { return executable->launch(arguments.data(), nullptr, nullptr); }
};

// One launch whose parameters are the first `pointers` arguments, then `extra`.
Loaded load(const std::string& body, Extent grid, Extent block, int pointers = 1,
            std::int64_t dynamic_bytes = 0, std::vector<KernelArgument> extra = {},
            const std::string& before = "") {
  static const std::unique_ptr<Toolchain> toolchain = make_host_toolchain();
  Source source = source_of(body);
  source.text = before + source.text;
  const Compiled compiled = toolchain->compile(source);
  EXPECT_TRUE(compiled.ok) << compiled.log;
  Launch launch{.kernel = "kernel", .grid = grid, .block = block, .dynamic_shared_bytes = dynamic_bytes};
  for (int n = 0; n < pointers; ++n) launch.arguments.push_back(ArgumentPointer{n});
  launch.arguments.insert(launch.arguments.end(), extra.begin(), extra.end());
  return {load_host(compiled.bytes, source.suffix, Work{.steps = {launch}})};
}

TEST(Shim, IndicesAndDimsAreThoseOfTheLaunch) {
  Loaded kernel = load(R"(
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

constexpr const char* neighbour_sum = R"(
extern "C" __global__ void ENTRY(kernel)(float* out) {
  __shared__ float shared[64];
  const int t = threadIdx.x;
  shared[t] = t;
  BARRIER
  out[blockIdx.x * 64 + t] = shared[t] + shared[63 - t];
})";

std::vector<float> neighbours(const std::string& barrier, bool reverse) {
  std::string body = neighbour_sum;
  body.replace(body.find("BARRIER"), 7, barrier);
  Loaded kernel = load(body, {2, 1, 1}, {64, 1, 1});
  kernel.executable->reverse_threads(reverse);
  std::vector<float> out(128, -1);
  EXPECT_EQ(kernel.run({out.data()}), 0);
  EXPECT_EQ(kernel.executable->facts().static_shared_bytes, 256);
  return out;
}

TEST(Shim, ABarrierMakesSharedMemoryVisible) {
  for (const bool reverse : {false, true}) {
    EXPECT_EQ(neighbours("__syncthreads();", reverse), std::vector<float>(128, 63.0f));
  }
}

TEST(Shim, AMissingBarrierReadsPoisonInEveryBlock) {
  for (const bool reverse : {false, true}) {
    const std::vector<float> out = neighbours("", reverse);
    for (const std::size_t block : {0u, 64u}) {
      bool poisoned = false;
      for (std::size_t t = 0; t < 64; ++t) poisoned = poisoned || out[block + t] != out[block + t];
      EXPECT_TRUE(poisoned) << "block " << block / 64 << " must not see the block before it";
    }
  }
}

TEST(Shim, AMissingSecondBarrierShowsInOneOfTheOrders) {
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
  Loaded kernel = load(body, {}, {32, 1, 1});
  int wrong = 0;
  for (const bool reverse : {false, true}) {
    std::vector<int> out(32);
    kernel.executable->reverse_threads(reverse);
    ASSERT_EQ(kernel.run({out.data()}), 0);
    for (const int value : out) wrong += value != 3;
  }
  EXPECT_GT(wrong, 0);
}

TEST(Shim, ThreadsMayReturnBeforeOthersMeet) {
  Loaded kernel = load(R"(
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

TEST(Shim, WaitingAtDifferentBarriersIsAnErrorThatLeavesTheVariantUsable) {
  Loaded kernel = load(R"(
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

TEST(Shim, ATrapAndABrokenAssumptionEndTheLaunch) {
  Loaded kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  __syncthreads();
  if (out[0] == 1 && threadIdx.x == 2) __trap();
  __builtin_assume(out[0] != 2);
  atomicAdd(out + 1, 1);
})",
                       {5, 1, 1}, {4, 1, 1});
  int out[2] = {1, 0};
  EXPECT_EQ(kernel.executable->describe(kernel.run({out})), "the kernel called __trap()");
  EXPECT_EQ(out[1], 2);
  out[0] = 2;
  EXPECT_EQ(kernel.executable->describe(kernel.run({out})),
            "a __builtin_assume() of the kernel did not hold");
  out[0] = 0;
  EXPECT_EQ(kernel.run({out}), 0);
  EXPECT_EQ(out[1], 22);
}

TEST(Shim, AThousandThreadsKeepTheirOwnStacks) {
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
       {"", "#define TUNESMITH_UCONTEXT 1\n"}) {  // as where there is no switch of our own
    Loaded kernel = load(body, {}, {8, 4, 32}, 1, 0, {}, switches);
    std::vector<int> out(1024);
    for (const bool reverse : {false, true}) {
      kernel.executable->reverse_threads(reverse);
      ASSERT_EQ(kernel.run({out.data()}), 0);
      for (int t = 0; t < 1024; ++t) ASSERT_EQ(out[static_cast<std::size_t>(t)], 512 * t);
    }
  }
}

TEST(Shim, RunsHugeGrids) {
  const char* body = R"(
extern "C" __global__ void ENTRY(kernel)(unsigned long long* out) {
  atomicAdd(out, 1ull);
  atomicMax(out + 1, static_cast<unsigned long long>(blockIdx.x));
  atomicMax(out + 2, static_cast<unsigned long long>(blockIdx.y) * blockIdx.z);
})";
  for (const Extent& grid : {Extent{1 << 20, 1, 1}, Extent{1, 65535, 2}, Extent{2, 1, 65535}}) {
    Loaded kernel = load(body, grid, {});
    unsigned long long out[3] = {};
    ASSERT_EQ(kernel.run({out}), 0);
    EXPECT_EQ(out[0], static_cast<unsigned long long>(grid.x * grid.y * grid.z));
    EXPECT_EQ(out[1], static_cast<unsigned long long>(grid.x - 1));
    EXPECT_EQ(out[2], static_cast<unsigned long long>((grid.y - 1) * (grid.z - 1)));
  }
  EXPECT_THROW(load(body, {1, 65536, 1}, {}), LoadError);
  EXPECT_THROW(load(body, {}, {1024, 2, 1}), LoadError);
}

TEST(Shim, DynamicSharedMemoryHasTheLaunchsSizeAndAGuard) {
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

TEST(Shim, AtomicsAndVectorsAndMaths) {
  Loaded kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(int* count, float* sum, float4* vector) {
  atomicAdd(count, 1);
  atomicMax(count + 1, static_cast<int>(threadIdx.x));
  atomicAdd(sum, 0.5f);
  if (threadIdx.x == 0) *vector = make_float4(min(1.0f, 2.0f), max(3, 4), fmaf(2.0f, 3.0f, 1.0f), __ldg(sum));
})",
                       {4, 1, 1}, {1024, 1, 1}, 3);
  int count[2] = {0, 0};
  float sum = 0;
  alignas(16) float vector[4] = {};
  ASSERT_EQ(kernel.run({count, &sum, vector}), 0);
  EXPECT_EQ(count[0], 4096);
  EXPECT_EQ(count[1], 1023);
  EXPECT_EQ(sum, 2048.0f);
  EXPECT_EQ(vector[0], 1.0f);
  EXPECT_EQ(vector[1], 4.0f);
  EXPECT_EQ(vector[2], 7.0f);
}

TEST(Shim, ShufflesMoveBetweenTheLanesOfASegment) {
  Loaded kernel = load(shuffle_kernel, {}, {8, 8, 1}, 1, 0, {std::int32_t{32}, std::int32_t{0}});
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

// A block of 48: the second warp has 16 lanes, and what its lanes 16 to 31 would give is undefined.
TEST(Shim, VotesMatchesAndReductionsOfTwoWarps) {
  Loaded kernel = load(vote_kernel, {}, {48, 1, 1}, 2);
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

// The even lanes of the second half meet on their own while the others return; a returned lane gives poison.
TEST(Shim, PartialMasksAndReturnedLanes) {
  Loaded kernel = load(R"(
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

TEST(Shim, ABlockSumAndAScanInOneKernelWithBarriersAndCollectives) {
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
    Loaded kernel = load(body, {2, 1, 1}, {1024, 1, 1}, 1, 0, {}, switches);
    for (const bool reverse : {false, true}) {
      kernel.executable->reverse_threads(reverse);
      std::vector<long long> out(1025);
      ASSERT_EQ(kernel.run({out.data()}), 0);
      for (std::size_t t = 0; t < 1024; ++t) ASSERT_EQ(out[t], static_cast<long long>(t % 32 + 1));
      EXPECT_EQ(out[1024], 1023 * 512);
    }
  }
}

TEST(Shim, AWarpThatDoesNotMeetIsAnErrorThatLeavesTheVariantUsable) {
  Loaded kernel = load(R"(
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
          "threads of a warp did not all come to the warp collective (shuffle, vote, __syncwarp) whose mask "
          "names them")
          << way;
      out[0] = 0;
      ASSERT_EQ(kernel.run({out.data()}), 0);
      for (int t = 0; t < 40; ++t) ASSERT_EQ(out[static_cast<std::size_t>(t)], t);
    }
  }
}

TEST(Shim, IntrinsicsOfBits) {
  Loaded kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(unsigned long long* out) {
  out[0] = __brev(0x80000003u);
  out[1] = __brevll(3ull);
  out[2] = __clz(1) * 100 + __clz(0);
  out[3] = __clzll(1ll) * 100 + __clzll(0ll);
  out[4] = __ffs(0) * 100 + __ffs(8);
  out[5] = __ffsll(1ll << 40);
  out[6] = __popc(0xf0f0u) * 100 + __popcll(~0ull);
  out[7] = __byte_perm(0x33221100u, 0x77665544u, 0x7610u);
  out[8] = __byte_perm(0x33228100u, 0x77665544u, 0x9080u);
  out[9] = __umul64hi(~0ull, ~0ull);
  out[10] = __float_as_uint(__int_as_float(0x3f800001));
  out[11] = static_cast<unsigned long long>(__double_as_longlong(__longlong_as_double(77)));
  float sine, cosine;
  sincosf(0.0f, &sine, &cosine);
  out[12] = static_cast<unsigned long long>(sine + 10 * cosine + pow(2.0f, 3.0) + fmaf(2.0f, 3.0f, 4.0f));
})",
                       {}, {});
  unsigned long long out[13] = {};
  ASSERT_EQ(kernel.run({out}), 0);
  const unsigned long long expected[] = {0xc0000001u, 3ull << 62,  3132,      6364,        4,  41, 864,
                                         0x77661100u, 0xff000000u, ~0ull - 1, 0x3f800001u, 77, 28};
  for (std::size_t n = 0; n < 13; ++n) EXPECT_EQ(out[n], expected[n]) << n;
}

// Every pattern to float and back, and floats of every size rounded, against check_data's conversions.
TEST(Float16, AgreesWithThePackedBytesOfTheChecks) {
  std::string header = template_files().at("common/float16.cuh");
  header.erase(header.find("#pragma once"), 12);
  Loaded kernel = load(header + float16_kernel, {1 << 10, 1, 1}, {1024, 1, 1}, 4, 0,
                       {std::int32_t{1 << 20}, std::int32_t{0}});
  constexpr std::size_t count = 1 << 20;
  std::vector<float> in(count);
  Random random(7);
  for (float& value : in) {
    const auto bits = static_cast<std::uint32_t>(random.next());
    std::memcpy(&value, &bits, sizeof(value));
  }
  // Around every value of 16 bits: halfway to the next, and its neighbours.
  for (std::uint32_t n = 0; n < 65536; ++n) {
    for (const std::uint32_t add : {0x7fffu, 0x8000u, 0x8001u}) {
      const std::uint32_t bits = (n << 16) + add;
      std::memcpy(&in[n * 3 + add - 0x7fffu], &bits, sizeof(float));
    }
  }
  for (std::uint32_t n = 0; n < 0x7c00; ++n) {
    const float halfway = static_cast<float>(
        (unpack(DType::f16, std::string{static_cast<char>(n & 255), static_cast<char>(n >> 8)})[0] +
         (n == 0x7bff ? 65536.0
                      : unpack(DType::f16, std::string{static_cast<char>((n + 1) & 255),
                                                       static_cast<char>((n + 1) >> 8)})[0])) /
        2);
    in[200000 + 3 * n] = halfway;
    in[200000 + 3 * n + 1] = -std::nextafter(halfway, 0.0f);
    in[200000 + 3 * n + 2] = std::nextafter(halfway, 1e9f);
  }
  const std::vector<double> in_double(in.begin(), in.end());
  for (const DType dtype : {DType::f16, DType::bf16}) {
    Launch launch{.kernel = "kernel", .grid = {1 << 10, 1, 1}, .block = {1024, 1, 1}};
    for (int n = 0; n < 4; ++n) launch.arguments.push_back(ArgumentPointer{n});
    launch.arguments.push_back(std::int32_t{count});
    launch.arguments.push_back(std::int32_t{dtype == DType::f16 ? 1 : 0});
    std::vector<float> wide(65536);
    std::vector<std::uint16_t> back(65536), rounded(count);
    void* arguments[] = {wide.data(), back.data(), in.data(), rounded.data()};
    ASSERT_EQ(kernel.executable->with(Work{.steps = {launch}})->launch(arguments, nullptr, nullptr), 0);
    std::string patterns(2 * 65536, '\0');
    for (std::size_t n = 0; n < 65536; ++n) {
      patterns[2 * n] = static_cast<char>(n & 255);
      patterns[2 * n + 1] = static_cast<char>(n >> 8);
    }
    const std::vector<double> values = unpack(dtype, patterns);
    const auto is_nan = [&](std::uint16_t bits) {
      return dtype == DType::f16 ? (bits & 0x7fff) > 0x7c00 : (bits & 0x7fff) > 0x7f80;
    };
    for (std::size_t n = 0; n < 65536; ++n) {
      if (is_nan(static_cast<std::uint16_t>(n))) {
        ASSERT_TRUE(std::isnan(wide[n]) && is_nan(back[n])) << n;
      } else {
        ASSERT_EQ(static_cast<double>(wide[n]), values[n]) << n;
        ASSERT_EQ(back[n], n);
      }
    }
    const std::string packed = pack(dtype, in_double);
    for (std::size_t n = 0; n < count; ++n) {
      std::uint16_t expected = 0;
      std::memcpy(&expected, packed.data() + 2 * n, 2);
      if (is_nan(expected)) {
        ASSERT_TRUE(is_nan(rounded[n])) << in[n];
      } else {
        ASSERT_EQ(rounded[n], expected) << name(dtype) << " of " << in[n];
      }
    }
  }
}

TEST(Shim, AConstantSymbolIsFilledByItsStep) {
  const Source source = source_of(R"(
__constant__ float ENTRY(table)[4];
extern "C" __global__ void ENTRY(kernel)(float* out) { out[threadIdx.x] = 2 * ENTRY(table)[threadIdx.x]; }
)");
  const Compiled compiled = make_host_toolchain()->compile(source);
  ASSERT_TRUE(compiled.ok) << compiled.log;
  Launch launch{.kernel = "kernel", .block = {4, 1, 1}, .arguments = {ArgumentPointer{0}}};
  const Work work{.steps = {ConstantCopy{.symbol = "table", .argument = 1, .bytes = 16}, launch}};
  EXPECT_FALSE(reentrant(work));
  const auto executable = load_host(compiled.bytes, source.suffix, work);
  std::vector<float> out(4), table = {1, 2, 3, 4};
  void* arguments[] = {out.data(), table.data()};
  ASSERT_EQ(executable->launch(arguments, nullptr, nullptr), 0);
  EXPECT_EQ(out, (std::vector<float>{2, 4, 6, 8}));
}

TEST(Shim, OneVariantLaunchedFromTwoThreadsWaitsForItself) {
  std::string body = neighbour_sum;
  body.replace(body.find("BARRIER"), 7, "__syncthreads();");
  Loaded kernel = load(body, {2, 1, 1}, {64, 1, 1});
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

TEST(HostToolchain, ASourceThatDoesNotCompileIsAnAnswer) {
  const Compiled compiled = make_host_toolchain()->compile(source_of("int broken = undeclared_name;"));
  EXPECT_FALSE(compiled.ok);
  EXPECT_NE(compiled.log.find("undeclared_name"), std::string::npos);
  EXPECT_EQ(compiled.log.rfind("variant.cpp:", 0), 0u) << "no folder's name: " << compiled.log;
}

// A compiler of ours, for as long as the object lives.
class Script {
 public:
  explicit Script(const std::string& text)
      : path_(testing::TempDir() + "tunesmith_compiler_" + std::to_string(getpid())) {
    std::ofstream(path_) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
    setenv("TUNESMITH_CXX", path_.c_str(), 1);
  }
  ~Script() {
    unsetenv("TUNESMITH_CXX");
    std::filesystem::remove(path_);
  }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

 private:
  std::string path_;
};

TEST(HostToolchain, EndsACompilerThatTakesTooLong) {
  const Script slow("if [ \"$1\" = --version ]; then echo slow 1; else sleep 60; fi\n");
  const auto toolchain = make_host_toolchain(std::chrono::milliseconds(400));
  const Compiled compiled = toolchain->compile(source_of(""));
  EXPECT_FALSE(compiled.ok);
  EXPECT_EQ(compiled.log, "The compiler took more than 400 ms and was ended.");
  EXPECT_GE(compiled.milliseconds, 400);
  EXPECT_LT(compiled.milliseconds, 20000);
}

TEST(HostToolchain, TheShimCompilesWithoutAWarning) {
  for (const char* compiler : {"g++", "clang++"}) {
    if (std::system((std::string("command -v ") + compiler + " > /dev/null").c_str()) != 0) continue;
    const Script strict(std::string("[ \"$1\" = --version ] && exec ") + compiler + " --version\nexec " +
                        compiler +
                        " $(echo \"$@\" | sed 's/ -w / -Wall -Wextra -Werror -Wno-unknown-pragmas /')\n");
    const Compiled compiled = make_host_toolchain()->compile(source_of(R"(
extern "C" __global__ void __launch_bounds__(64) ENTRY(kernel)(float* out) {
  __shared__ float fixed[64];
  DYNAMIC_SHARED(float, unused);
#pragma unroll
  for (int n = 0; n < 4; ++n) fixed[threadIdx.x] = out[n];
  __syncthreads();
  out[threadIdx.x] = fixed[63 - threadIdx.x];
})"));
    EXPECT_TRUE(compiled.ok) << compiled.log;
    EXPECT_EQ(compiled.log, "");
  }
}

TEST(HostToolchain, CompilesFromSeveralThreads) {
  const auto toolchain = make_host_toolchain();
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&, n] {
      const Compiled compiled = toolchain->compile(source_of(
          "extern \"C\" __global__ void ENTRY(kernel)(int* out) { *out = " + std::to_string(n) + "; }"));
      ASSERT_TRUE(compiled.ok) << compiled.log;
      Launch launch{.kernel = "kernel", .arguments = {ArgumentPointer{0}}};
      int out = -1;
      void* arguments[] = {&out};
      EXPECT_EQ(
          load_host(compiled.bytes, "_test", Work{.steps = {launch}})->launch(arguments, nullptr, nullptr),
          0);
      EXPECT_EQ(out, n);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(HostToolchain, SaysWhichCompilerIsMissing) {
  setenv("TUNESMITH_CXX", "/nonexistent/c++", 1);
  try {
    make_host_toolchain();
    ADD_FAILURE() << "a missing compiler was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "TUNESMITH_CXX names /nonexistent/c++, which is not a program that can be run.");
  }
  unsetenv("TUNESMITH_CXX");
}

TEST(HostExecutable, DamagedBytesAreALoadError) {
  EXPECT_THROW(load_host("not a shared object", "_test", Work{}), LoadError);
}

TEST(HostDevice, FindsWritesOutsideAnAllocation) {
  const auto device = make_host_device();
  const DeviceMemory owner(*device, 100);
  auto* const memory = owner.as<unsigned char>();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u);
  EXPECT_TRUE(device->guards_intact(memory));
  for (const std::ptrdiff_t offset : {-1, -4096, 100, 4195}) {
    memory[offset] ^= 1;
    EXPECT_FALSE(device->guards_intact(memory)) << offset;
    EXPECT_TRUE(device->guards_intact(memory)) << "the guards are repaired once they have told";
  }
}

TEST(HostDevice, ComparesWithThePermittedErrorAndKeepsNanAndInfinity) {
  const auto device = make_host_device();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const float got[] = {1.0f, 2.5f, static_cast<float>(nan), static_cast<float>(inf), 0.0f, 7.0f};
  const double expected[] = {1, 2, nan, inf, 0, nan};
  const double permitted[] = {0, 0.4, 0, 0, 0, 1};
  const Comparison result = device->compare(got, DType::f32, expected, permitted, 6);
  EXPECT_EQ(result.wrong, 2);
  EXPECT_EQ(result.first_wrong, 1);
  EXPECT_EQ(result.got, 2.5);
  EXPECT_EQ(result.expected, 2);
  EXPECT_TRUE(std::isinf(result.max_error));
  EXPECT_NEAR(device->compare(got, DType::f32, expected, permitted, 2).max_error, 1.25, 1e-12);
  const float poison_seen[] = {static_cast<float>(nan)};
  const double one[] = {1};
  EXPECT_EQ(device->compare(poison_seen, DType::f32, one, one, 1).wrong, 1)
      << "an unwritten element is wrong";
  const double anything[] = {std::numeric_limits<double>::infinity()};
  EXPECT_EQ(device->compare(poison_seen, DType::f32, one, anything, 1).wrong, 0);
  EXPECT_EQ(device->compare(got, DType::f32, &nan, anything, 1).max_error, 0);
}

TEST(HostDevice, TimesGrowWithTheWork) {
  const auto device = make_host_device();
  Loaded kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(float* out) {
  float x = *out;
  for (int n = 0; n < 2000; ++n) x = x * 0.5f + 1.0f;
  *out = x;
})",
                       {}, {});
  Loaded longer = load(R"(
extern "C" __global__ void ENTRY(kernel)(float* out) {
  float x = *out;
  for (int n = 0; n < 2000 * 20; ++n) x = x * 0.5f + 1.0f;
  *out = x;
})",
                       {}, {});
  float out = 0;
  void* arguments[] = {&out};
  const Timing timing{.samples = 5, .sample_target_us = 200};
  const auto least = [&](Loaded& tmpl) {
    const std::vector<double> times = device->time_us(*tmpl.executable, arguments, nullptr, timing);
    EXPECT_EQ(times.size(), 5u);
    return *std::min_element(times.begin(), times.end());
  };
  const double one = least(kernel);
  EXPECT_GT(one, 0.5);
  EXPECT_GT(least(longer), 5 * one);
  EXPECT_EQ(device->time_us(*longer.executable, arguments, nullptr, {.samples = 5, .give_up_above_us = 0.01})
                .size(),
            1u);
}

}  // namespace
}  // namespace tunesmith
