// SPDX-License-Identifier: Apache-2.0
// wmma, and CUB's collectives of blocks and warps.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/host/loaded.h"

namespace tunesmith {
namespace {

// Multiplies matrices that lie by rows or columns, and adds a sum that lies otherwise than the result.
std::string wmma_kernel(const std::string& type, const std::string& stored, int m, int n, int k,
                        const std::string& result = "float") {
  const std::string shape = std::to_string(m) + ", " + std::to_string(n) + ", " + std::to_string(k);
  return R"(#include "common/wmma.cuh"
using namespace nvcuda;
extern "C" __global__ void ENTRY(kernel)(void* d, const void* a, const void* b, const void* c) {
  using In = )" +
         stored + R"(;
  using Out = )" +
         result + R"(;
  wmma::fragment<wmma::matrix_a, )" +
         shape + ", " + type + R"(, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, )" +
         shape + ", " + type + R"(, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, )" +
         shape + ", " + result + R"(> fc, fd;
  wmma::load_matrix_sync(fa, (const In*)a, 32);
  wmma::load_matrix_sync(fb, (const In*)b, 32);
  wmma::load_matrix_sync(fc, (const Out*)c, 32, wmma::mem_col_major);
  wmma::fill_fragment(fd, (Out)0);
  wmma::mma_sync(fd, fa, fb, fc);
  for (int n = 0; n < fd.num_elements; ++n) fd.x[n] = (Out)((float)fd.x[n] * 2);
  wmma::store_matrix_sync((Out*)d, fd, 32, wmma::mem_row_major);
})";
}

template <typename In, typename Out>
struct Matrices {
  alignas(32) In a[32 * 32], b[32 * 32];
  alignas(32) Out c[32 * 32], d[32 * 32];
};

// Small whole numbers, as the 16 bits of `is_half` or of a bfloat16, or as a number.
template <typename In>
In small(int number, bool is_half) {
  if constexpr (std::is_same_v<In, std::uint16_t>) {
    if (!is_half) return static_cast<In>(std::bit_cast<std::uint32_t>(static_cast<float>(number)) >> 16);
    if (number == 0) return 0;
    const int size = std::abs(number), exponent = static_cast<int>(std::ilogb(size));
    return static_cast<In>((number < 0 ? 0x8000 : 0) | (exponent + 15) << 10 |
                           ((size << (10 - exponent)) & 0x3ff));
  } else {
    return static_cast<In>(number);
  }
}

template <typename In, typename Out>
void expect_product(const std::string& type, const std::string& stored, int m, int n, int k,
                    const std::string& result) {
  static Matrices<In, Out> of;
  const bool is_half = stored == "__half";
  for (int line = 0; line < 32; ++line) {
    for (int term = 0; term < 32; ++term) {
      of.a[32 * line + term] = small<In>(line * 7 % 11 - term % 5, is_half);
      of.b[32 * line + term] = small<In>(line * term % 13 - 5, is_half);
      of.c[32 * line + term] = static_cast<Out>(line - term);
    }
  }
  LoadedBinary kernel = load(wmma_kernel(type, stored, m, n, k, result), {}, {32, 1, 1}, 4);
  ASSERT_EQ(kernel.run({of.d, of.a, of.b, of.c}), 0) << type;
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      int sum = column - row;
      for (int term = 0; term < k; ++term) sum += (row * 7 % 11 - term % 5) * (column * term % 13 - 5);
      ASSERT_EQ(of.d[32 * row + column], static_cast<Out>(2 * sum))
          << type << " " << m << " " << row << " " << column;
    }
  }
}

TEST(ShimWmma, MultipliesMatricesOfEachTypeAndShape) {
  for (const auto& [m, n] : {std::pair(16, 16), std::pair(32, 8), std::pair(8, 32)}) {
    expect_product<std::uint16_t, float>("__half", "__half", m, n, 16, "float");
    expect_product<std::uint16_t, float>("__nv_bfloat16", "__nv_bfloat16", m, n, 16, "float");
    expect_product<signed char, int>("signed char", "signed char", m, n, 16, "int");
  }
  expect_product<float, float>("wmma::precision::tf32", "float", 16, 16, 8, "float");
  expect_product<double, double>("double", "double", 8, 8, 4, "double");
}

TEST(ShimWmma, Tf32HasElevenBitsAndWhatIsSmallBesideTheRestIsCut) {
  LoadedBinary kernel = load(wmma_kernel("wmma::precision::tf32", "float", 16, 16, 8), {}, {32, 1, 1}, 4);
  static Matrices<float, float> of;
  of = {};
  of.a[0] = 1 + 0x1p-11F;
  of.b[0] = 1;
  ASSERT_EQ(kernel.run({of.d, of.a, of.b, of.c}), 0);
  EXPECT_EQ(of.d[0], 2) << "a factor's last 13 bits have no effect";
  of.a[0] = 0x1p-13F;
  of.b[0] = 0x1p-12F;
  of.c[0] = 1;
  for (int n = 1; n < 4; ++n) of.a[n] = of.a[0], of.b[n] = of.b[0];
  ASSERT_EQ(kernel.run({of.d, of.a, of.b, of.c}), 0);
  EXPECT_EQ(of.d[0], 2) << "each product is cut off, as in the matrix units";
}

TEST(ShimWmma, MisuseIsReported) {
  const std::string kernel = R"(#include "common/wmma.cuh"
using namespace nvcuda;
extern "C" __global__ void ENTRY(kernel)(float* d, int way) {
  __shared__ __align__(32) float tile[40 * 40];
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 1.0f);
  if (way == 1) wmma::store_matrix_sync(tile + 1, sum, 32, wmma::mem_row_major);
  if (way == 2) wmma::store_matrix_sync(tile, sum, 33, wmma::mem_row_major);
  if (way == 3) wmma::store_matrix_sync(tile + (threadIdx.x & 8), sum, 32, wmma::mem_row_major);
  if (way == 4 && threadIdx.x < 16) wmma::store_matrix_sync(tile, sum, 32, wmma::mem_row_major);
})";
  const char* const expected[] = {
      "no error", "several elements at once at an address", "several elements at once at an address",
      "the lanes of a warp gave one function of matrices (wmma) different pointers",
      "not all threads of a warp reached"};
  for (int way = 0; way < 5; ++way) {
    LoadedBinary binary = load(kernel, {}, {32, 1, 1}, 1, 0, {std::int32_t{way}});
    float d = 0;
    EXPECT_NE(binary.executable->describe(binary.run({&d})).find(expected[way]), std::string::npos) << way;
  }
}

constexpr const char* cub = R"(#include "common/cub.cuh"
#define CHECK(condition) if (!(condition)) { atomicCAS(out, 0, __LINE__ - first); }
)";

TEST(ShimCub, ReducesAndScansBlocksAndWarps) {
  LoadedBinary kernel = load(std::string(cub) + R"(
struct Before { int total; __device__ int operator()(int of_block) { int old = total; total += of_block; return old; } };
extern "C" __global__ void ENTRY(kernel)(int* out) {
  const int first = __LINE__;
  const int t = threadIdx.x;
  typedef cub::BlockReduce<int, 80> Reduce;
  typedef cub::BlockScan<int, 80> Scan;
  typedef cub::WarpReduce<int, 16> Warp;
  typedef cub::WarpScan<int> OfWarp;
  __shared__ union { typename Reduce::TempStorage reduce; typename Scan::TempStorage scan; } storage;
  __shared__ typename Warp::TempStorage warps[5];
  __shared__ typename OfWarp::TempStorage scans[3];
  int sum = Reduce(storage.reduce).Sum(t); CHECK(t != 0 || sum == 3160);
  CHECK(t == 0 || sum != 3160);
  __syncthreads();
  sum = Reduce(storage.reduce).Reduce(t, cub::Max()); CHECK(t != 0 || sum == 79);
  __syncthreads();
  sum = Reduce(storage.reduce).Sum(1, 37); CHECK(t != 0 || sum == 37);
  __syncthreads();
  int both[2] = {t, 1}; sum = Reduce(storage.reduce).Sum(both); CHECK(t != 0 || sum == 3240);
  __syncthreads();
  int before, total;
  Scan(storage.scan).ExclusiveSum(t, before, total); CHECK(before == t * (t - 1) / 2 && total == 3160);
  __syncthreads();
  Scan(storage.scan).InclusiveSum(t, before); CHECK(before == t * (t + 1) / 2);
  __syncthreads();
  Scan(storage.scan).InclusiveScan(t * 37 % 80, before, cub::Max()); CHECK(before >= t * 37 % 80);
  __syncthreads();
  int items[2] = {1, 2}; Scan(storage.scan).ExclusiveSum(items, items, total); CHECK(items[0] == 3 * t && items[1] == 3 * t + 1 && total == 240);
  __syncthreads();
  Before prefix{1000}; Scan(storage.scan).ExclusiveSum(1, before, prefix); CHECK(before == 1000 + t);
  typedef cub::KeyValuePair<int, float> Pair;
  typedef cub::BlockReduce<Pair, 80> Arg;
  __shared__ typename Arg::TempStorage pairs;
  Pair best = Arg(pairs).Reduce(Pair(t, static_cast<float>(t / 2)), cub::ArgMax()); CHECK(t != 0 || (best.key == 78 && best.value == 39));
  __syncthreads();
  best = Arg(pairs).Reduce(Pair(79 - t, static_cast<float>(t / 2)), cub::ArgMin()); CHECK(t != 0 || (best.key == 78 && best.value == 0));
  sum = Warp(warps[t / 16]).Sum(t); CHECK(t % 16 != 0 || sum == 16 * t + 120);
  OfWarp(scans[t / 32]).InclusiveSum(1, before); CHECK(before == t % 32 + 1);
  OfWarp(scans[t / 32]).ExclusiveScan(t, before, -1, cub::Max()); CHECK(before == (t % 32 == 0 ? -1 : t - 1));
})",
                             {}, {80, 1, 1});
  for (const bool reverse : {false, true}) {
    kernel.executable->reverse_threads(reverse);
    int line = 0;
    ASSERT_EQ(kernel.run({&line}), 0);
    EXPECT_EQ(line, 0) << "the line of the kernel whose condition is false";
  }
}

TEST(ShimCub, LoadsSortsCountsAndStores) {
  for (const std::string how : {"DIRECT", "TRANSPOSE", "WARP_TRANSPOSE"}) {
    LoadedBinary kernel = load(std::string(cub) + R"(
extern "C" __global__ void ENTRY(kernel)(float* sorted, unsigned* counts, int* places, const float* in, int n) {
  typedef cub::BlockLoad<float, 64, 4, cub::BLOCK_LOAD_)" +
                                   how + R"(> Load;
  typedef cub::BlockStore<float, 64, 4, cub::BLOCK_STORE_)" +
                                   how + R"(> Store;
  typedef cub::BlockRadixSort<float, 64, 4, int> Sort;
  typedef cub::BlockHistogram<unsigned char, 64, 4, 4> Histogram;
  typedef cub::BlockExchange<int, 64, 4> Exchange;
  __shared__ union {
    typename Load::TempStorage load; typename Store::TempStorage store; typename Sort::TempStorage sort;
    typename Histogram::TempStorage histogram; typename Exchange::TempStorage exchange;
  } storage;
  __shared__ unsigned bins[4];
  float keys[4]; int from[4]; unsigned char signs[4];
  Load(storage.load).Load(in, keys, n, 1e30f);
  __syncthreads();
  for (int i = 0; i < 4; ++i) { from[i] = 4 * threadIdx.x + i; signs[i] = (keys[i] < 0) + 2 * (from[i] < n); }
  Histogram(storage.histogram).Histogram(signs, bins);
  __syncthreads();
  if (threadIdx.x < 4) counts[threadIdx.x] = bins[threadIdx.x];
  Sort(storage.sort).Sort(keys, from);
  __syncthreads();
  Store(storage.store).Store(sorted, keys, n);
  __syncthreads();
  Exchange(storage.exchange).BlockedToStriped(from, from);
  for (int i = 0; i < 4; ++i) if (i * 64 + threadIdx.x < n) places[i * 64 + threadIdx.x] = from[i];
})",
                               {}, {64, 1, 1}, 4, 0, {std::int32_t{201}});
    std::vector<float> in(201), sorted(201);
    for (std::size_t n = 0; n < in.size(); ++n) in[n] = static_cast<float>(n * 37 % 50) - 20.5F;
    std::vector<unsigned> counts(4);
    std::vector<int> places(201), expected(201);
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&](int a, int b) {
      return in[static_cast<std::size_t>(a)] < in[static_cast<std::size_t>(b)];
    });
    ASSERT_EQ(kernel.run({sorted.data(), counts.data(), places.data(), in.data()}), 0);
    EXPECT_EQ(places, expected) << how << ": equal keys keep their order";
    std::vector<float> in_order = in;
    std::sort(in_order.begin(), in_order.end());
    EXPECT_EQ(sorted, in_order);
    const auto negative =
        static_cast<unsigned>(std::count_if(in.begin(), in.end(), [](float x) { return x < 0; }));
    EXPECT_EQ(counts, (std::vector<unsigned>{55, 0, 201 - negative, negative}));
  }
}

TEST(ShimCub, AnotherSizeOfTheBlockIsRefused) {
  LoadedBinary kernel = load(std::string(cub) + R"(
extern "C" __global__ void ENTRY(kernel)(int* out) {
  typedef cub::BlockReduce<int, 64> Reduce;
  __shared__ typename Reduce::TempStorage storage;
  const int sum = Reduce(storage).Sum(1);
  if (threadIdx.x == 0) *out = sum;
})",
                             {}, {128, 1, 1});
  int sum = 0;
  EXPECT_EQ(kernel.executable->describe(kernel.run({&sum})),
            "a collective of CUB was made for another number of threads than the block has");
}

}  // namespace
}  // namespace tunesmith
