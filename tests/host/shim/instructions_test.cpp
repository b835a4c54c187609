// SPDX-License-Identifier: Apache-2.0
// Tests the host versions of the operations that templates/common has instructions for.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "generator/random.h"
#include "tests/host/loaded.h"

namespace tunesmith {
namespace {

TEST(Instructions, MinimaAndMaximaOfFloatsKeepNanAndTheSignOfZero) {
  LoadedBinary kernel = load(R"(#include "common/ordered.cuh"
extern "C" __global__ void ENTRY(kernel)(float* out, const float* in) {
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) {
      out[0] = minimum(in[a], in[b]);
      out[1] = maximum(in[a], in[b]);
      out[2] = minimum_number(in[a], in[b]);
      out += 3;
    }
  }
})",
                             {}, {}, 2);
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> in = {std::nanf(""), -infinity, -1.5F, -0.0F, 0.0F, 1e-40F, 2.0F, infinity};
  std::vector<float> out(3 * in.size() * in.size());
  ASSERT_EQ(kernel.run({out.data(), in.data()}), 0);
  const auto is = [](float x, float y) { return std::memcmp(&x, &y, sizeof(x)) == 0; };
  std::size_t n = 0;
  for (std::size_t a = 0; a < in.size(); ++a) {
    for (std::size_t b = 0; b < in.size(); ++b, n += 3) {
      if (a == 0 || b == 0) {
        EXPECT_TRUE(std::isnan(out[n]) && std::isnan(out[n + 1]));
        EXPECT_TRUE(a == b || is(out[n + 2], in[std::max(a, b)])) << a << " " << b;
        continue;
      }
      EXPECT_TRUE(is(out[n], in[std::min(a, b)])) << in[a] << " " << in[b];
      EXPECT_TRUE(is(out[n + 1], in[std::max(a, b)])) << in[a] << " " << in[b];
      EXPECT_TRUE(is(out[n + 2], in[std::min(a, b)])) << in[a] << " " << in[b];
    }
  }
}

// The position of a number of 16 bits in the order: NaN after all numbers, -0 before 0.
int place_of(std::uint32_t bits, int infinity) {
  const int size = static_cast<int>(bits & 0x7fffU);
  if (size > infinity) return 1 << 16;
  return (bits & 0x8000U) != 0 ? -size - 1 : size;
}

TEST(Instructions, PairsAreOrderedAsTheirNumbers) {
  LoadedBinary kernel = load(R"(#include "common/pairs.cuh"
extern "C" __global__ void ENTRY(kernel)(unsigned* out, const unsigned* in, int count) {
  for (int n = 0; n + 2 < count; ++n) {
    const unsigned a = in[n], b = in[n + 1], c = in[n + 2];
    const unsigned both[12] = {minimum_u16x2(a, b), maximum_u16x2(a, b), minimum_s16x2(a, b),
                               maximum_s16x2(a, b), minimum_f16x2(a, b), maximum_f16x2(a, b),
                               minimum_bf16x2(a, b), maximum_bf16x2(a, b), minimum_u16x2(a, b, c),
                               maximum_u16x2(a, b, c), minimum_s16x2(a, b, c), maximum_s16x2(a, b, c)};
    for (int k = 0; k < 12; ++k) out[12 * n + k] = both[k];
  }
})",
                             {}, {}, 2, 0, {std::int32_t{4096}});
  std::vector<std::uint32_t> in(4096);
  Random random(3);
  for (std::uint32_t& word : in) {
    word = static_cast<std::uint32_t>(random.next());
    if (word % 5 == 0) word &= 0x80008000U;  // zeros
    if (word % 7 == 0) word |= 0x7f807c00U;  // infinities and NaN
  }
  std::vector<std::uint32_t> out(12 * in.size());
  ASSERT_EQ(kernel.run({out.data(), in.data()}), 0);
  const auto place = [](std::size_t kind, std::uint32_t bits) {
    switch (kind / 2) {
      case 0:
      case 4:
        return static_cast<int>(bits);
      case 2:
        return place_of(bits, 0x7c00);
      case 3:
        return place_of(bits, 0x7f80);
      default:
        return static_cast<int>(static_cast<std::int16_t>(bits));
    }
  };
  for (std::size_t n = 0; n + 2 < in.size(); ++n) {
    for (std::size_t kind = 0; kind < 12; ++kind) {
      for (const int shift : {0, 16}) {
        const auto at = [&](std::uint32_t word) { return place(kind, word >> shift & 0xffffU); };
        int expected = at(in[n]);
        for (std::size_t k = 1; k < (kind < 8 ? 2U : 3U); ++k)
          expected = kind % 2 == 0 ? std::min(expected, at(in[n + k])) : std::max(expected, at(in[n + k]));
        ASSERT_EQ(at(out[12 * n + kind]), expected) << "kind " << kind << " of word " << n;
      }
    }
  }
}

TEST(Instructions, AWarpMultipliesMatricesOfDoubles) {
  LoadedBinary kernel = load(R"(#include "common/matrix_f64.cuh"
extern "C" __global__ void ENTRY(kernel)(double* sums, const double* rows, const double* columns) {
  const int q = threadIdx.x / 4, t = threadIdx.x % 4;
  double* const a = sums + 8 * q + 2 * t;
  double* const b = a + 64;
  multiply_in_tensor_cores(a[0], a[1], b[0], b[1], rows[4 * q + t], rows[4 * (q + 8) + t], columns[4 * q + t]);
})",
                             {}, {32, 1, 1}, 3);
  std::vector<double> rows(16 * 4), columns(8 * 4), sums(16 * 8), expected(16 * 8);
  for (std::size_t n = 0; n < rows.size(); ++n) rows[n] = static_cast<double>(n * n % 17);
  for (std::size_t n = 0; n < columns.size(); ++n) columns[n] = static_cast<double>(n * n % 13) - 4;
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      double& sum = expected[8 * row + column] = sums[8 * row + column] = static_cast<double>(row + column);
      for (std::size_t t = 0; t < 4; ++t) sum += rows[4 * row + t] * columns[4 * column + t];
    }
  }
  ASSERT_EQ(kernel.run({sums.data(), rows.data(), columns.data()}), 0);
  EXPECT_EQ(sums, expected);
}

// Multiplies 16 rows by 16 columns of 16 terms each, of Float16 or BFloat16, read as they lie or turned.
std::string matrix_kernel(const std::string& type) {
  return "using T = " + type + R"(;
#include "common/warp_matrix.cuh"
template <bool TURNED>
__device__ void multiply(float* sums, const T* rows, const T* columns) {
  const int lane = threadIdx.x % 32, q = lane / 4, t = lane % 4;
  unsigned a[4], b[4];
  const int low = lane % 8 + lane / 8 % 2 * 8, high = lane / 16 * 8;
  // The first two matrices are rows 0 to 7 and 8 to 15; by columns, the terms 0 to 7 and 8 to 15.
  load_matrices<TURNED>(a, rows + (TURNED ? (lane % 8 + high) * 16 + lane / 8 % 2 * 8 : low * 16 + high));
  load_matrices<TURNED>(b, columns + (TURNED ? low * 16 + high : (lane % 8 + high) * 16 + lane / 8 % 2 * 8));
  for (int half = 0; half < 2; ++half) {
    float* const to = sums + 16 * q + 8 * half + 2 * t;
    float sum[4] = {to[0], to[1], to[128], to[129]};
    multiply_add_matrices<T>(sum, a, b[2 * half], b[2 * half + 1]);
    to[0] = sum[0];
    to[1] = sum[1];
    to[128] = sum[2];
    to[129] = sum[3];
  }
}
extern "C" __global__ void ENTRY(kernel)(float* sums, const T* rows, const T* columns, int turned) {
  if (turned) {
    multiply<true>(sums, rows, columns);
  } else {
    multiply<false>(sums, rows, columns);
  }
})";
}

// The 16 bits of a small whole number.
std::uint16_t half_of(int number) {
  if (number == 0) return 0;
  const int size = std::abs(number), exponent = static_cast<int>(std::ilogb(size));
  const int mantissa = (size << (10 - exponent)) & 0x3ff;
  return static_cast<std::uint16_t>((number < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | mantissa);
}
std::uint16_t bfloat_of(float number) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(number) >> 16);
}

struct alignas(16) Matrix16 {
  std::array<std::uint16_t, 256> element;
};

TEST(Instructions, AWarpMultipliesMatricesOfSixteenBits) {
  for (const bool is_half : {true, false}) {
    LoadedBinary kernel =
        load(matrix_kernel(is_half ? "Float16" : "BFloat16"), {}, {32, 1, 1}, 3, 0, {std::int32_t{0}});
    LoadedBinary turned =
        load(matrix_kernel(is_half ? "Float16" : "BFloat16"), {}, {32, 1, 1}, 3, 0, {std::int32_t{1}});
    std::array<Matrix16, 2> rows, columns;  // as they are and turned
    std::vector<float> start(256), expected(256);
    for (int line = 0; line < 16; ++line) {
      for (int term = 0; term < 16; ++term) {
        const auto element = [&](int number) {
          return is_half ? half_of(number) : bfloat_of(static_cast<float>(number));
        };
        const auto at = static_cast<std::size_t>(16 * line + term),
                   across = static_cast<std::size_t>(16 * term + line);
        rows[0].element[at] = rows[1].element[across] = element(line * 7 % 11 - term);
        columns[0].element[at] = columns[1].element[across] = element(line * term % 13 - 5);
        start[at] = static_cast<float>(line - term);
        float& sum = expected[at] = start[at];  // of row `line` and column `term`
        for (int k = 0; k < 16; ++k) sum += static_cast<float>((line * 7 % 11 - k) * (term * k % 13 - 5));
      }
    }
    std::vector<float> sums = start;
    ASSERT_EQ(kernel.run({sums.data(), rows[0].element.data(), columns[0].element.data()}), 0);
    EXPECT_EQ(sums, expected);
    sums = start;
    ASSERT_EQ(turned.run({sums.data(), rows[1].element.data(), columns[1].element.data()}), 0);
    EXPECT_EQ(sums, expected);
  }
}

// 24 bits behind the largest addend's leading one are kept while eight products are added.
TEST(Instructions, AMatrixUnitCutsWhatIsSmallBesideTheRest) {
  LoadedBinary kernel = load(matrix_kernel("BFloat16"), {}, {32, 1, 1}, 3, 0, {std::int32_t{0}});
  const auto sum_of = [&](float before, const std::vector<float>& terms) {
    Matrix16 rows = {}, columns = {};
    for (std::size_t k = 0; k < terms.size(); ++k) {
      rows.element[k] = bfloat_of(terms[k]);
      columns.element[k] = bfloat_of(1);
    }
    std::vector<float> sums(256);
    sums[0] = before;
    EXPECT_EQ(kernel.run({sums.data(), rows.element.data(), columns.element.data()}), 0);
    return sums[0];
  };
  EXPECT_EQ(sum_of(1, {0x1p-24F, 0x1p-24F}), 1 + 0x1p-23F);
  EXPECT_EQ(sum_of(1, {0x1p-25F, 0x1p-25F, 0x1p-25F, 0x1p-25F}), 1) << "each is cut off";
  EXPECT_EQ(sum_of(1, std::vector<float>(4, -0x1p-25F)), 1);
  EXPECT_EQ(sum_of(-1, {-0x1p-24F}), -1) << "cut, not rounded";
  EXPECT_EQ(sum_of(0, {0x1p-130F, 0x1p-130F}), 0x1p-129F);
  EXPECT_TRUE(std::isinf(sum_of(1, {std::numeric_limits<float>::infinity()})));
  EXPECT_TRUE(
      std::isnan(sum_of(-std::numeric_limits<float>::infinity(), {std::numeric_limits<float>::infinity()})));
}

TEST(Instructions, FmaRoundsDown) {
  LoadedBinary kernel = load(R"(
extern "C" __global__ void ENTRY(kernel)(double* out) {
  out[0] = __fma_rd(1.0, 1.0, 0x1p-60);
  out[1] = __fma_rd(1.0, 1.0, -0x1p-60);
  out[2] = 1.0 - out[3];
})",
                             {}, {});
  std::vector<double> out = {0, 0, 0, 0x1p-60};
  ASSERT_EQ(kernel.run({out.data()}), 0);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], 1 - 0x1p-53);
  EXPECT_EQ(out[2], 1) << "what follows is rounded to nearest again";
}

// Functions that users' own kernels find beside those of the library's ops. The test reports the first
// condition that is false.
TEST(Instructions, FurtherFunctionsOfCuda) {
  LoadedBinary kernel = load(R"(#include "common/c_names.cuh"
#define CHECK(condition) if (!(condition) && out[0] == 0) { out[0] = __LINE__ - first; }
extern "C" __global__ void ENTRY(kernel)(int* out) {
  const int first = __LINE__;
  CHECK(__mul24(0x1000001, -3) == -3); CHECK(__umul24(0x1000002u, 5u) == 10);
  CHECK(__mul24(0x7fffff, 0x7fffff) == (int)(0x7fffffll * 0x7fffffll));
  CHECK(__dp4a((int)0xff020304, 0x01010101, 10) == 10 + -1 + 2 + 3 + 4);
  CHECK(__dp4a(0xff020304u, 0x01010101u, 10u) == 10 + 255 + 9);
  CHECK(__funnelshift_l(0x80000000u, 1u, 1) == 3); CHECK(__funnelshift_r(2u, 1u, 1) == 0x80000001u);
  CHECK(__funnelshift_lc(7, 9, 32) == 7); CHECK(__funnelshift_l(7, 9, 32) == 9);
  CHECK(__float2int_rn(2.5f) == 2); CHECK(__float2int_rz(-2.5f) == -2); CHECK(__float2int_ru(2.1f) == 3); CHECK(__float2int_rd(-2.1f) == -3);
  CHECK(__float2int_rn(1e20f) == 2147483647); CHECK(__float2int_rn(-1e20f) == -2147483647 - 1); CHECK(__float2uint_rn(-5.0f) == 0); CHECK(__float2int_rn(__builtin_nanf("")) == 0);
  CHECK(__float2uint_rn(1e20f) == 4294967295u); CHECK(__double2ll_rn(1e30) == 9223372036854775807ll); CHECK(__double2ull_rz(1e30) == ~0ull);
  CHECK(__float2int_rn(2147483520.0f) == 2147483520); CHECK(__double2int_rn(-2147483648.0) == -2147483647 - 1);
  CHECK(__fadd_ru(1.0f, 1e-10f) > 1.0f); CHECK(__fadd_rd(1.0f, 1e-10f) == 1.0f); CHECK(__fsub_rz(1.0f, 1e-10f) < 1.0f); CHECK(__fadd_rn(1.0f, 1e-10f) == 1.0f);
  CHECK(__fdiv_ru(1.0f, 3.0f) > __fdiv_rd(1.0f, 3.0f)); CHECK(__dsqrt_ru(2.0) > __dsqrt_rd(2.0)); CHECK(__double2float_ru(0.1) > __double2float_rd(0.1));
  CHECK(sinpif(1.0f) == 0 && cospif(0.5f) == 0 && cospif(1.0f) == -1 && sinpif(0.5f) == 1 && sinpif(-0.5f) == -1 && sinpif(2.5f) == 1);
  CHECK(fabs(sinpi(0.25) - 0.70710678118654752) < 1e-15); CHECK(isnan(sinpi(__builtin_inf())));
  CHECK(signbit(-0.0f) && !signbit(1.0)); CHECK(lrintf(2.5f) == 2 && lroundf(2.5f) == 3);
  CHECK(__hiloint2double(__double2hiint(-1.5), __double2loint(-1.5)) == -1.5);
  CHECK(normcdff(0.0f) == 0.5f); CHECK(norm3df(2, 3, 6) == 7); CHECK(rcbrtf(8) == 0.5f);
  unsigned u = 0; CHECK(atomicDec(&u, 5) == 0 && u == 5); CHECK(atomicDec(&u, 5) == 5 && u == 4); u = 9; CHECK(atomicDec(&u, 5) == 9 && u == 5);
  CHECK(atomicAdd_system(&u, 2) == 5 && u == 7); unsigned long long v = 3; CHECK(atomicCAS_system(&v, 3, 4) == 3 && v == 4); 
  long long w = 3; atomicMin(&w, -5ll); CHECK(w == -5); CHECK(__sad(-5, 7, 1u) == 13);
  u = 7; CHECK(atomicAdd_block(&u, 2) == 7 && u == 9); CHECK(atomicCAS_block(&u, 9, 1) == 9 && u == 1); CHECK(atomicExch_block(&u, 3u) == 1 && u == 3);
  CHECK(atomicInc_block(&u, 3u) == 3 && u == 0); CHECK(atomicMax_system(&u, 8) == 0 && atomicSub_block(&u, 1) == 8 && u == 7);
  float g = 2; CHECK(atomicAdd_block(&g, 1) == 2 && g == 3); CHECK(atomicExch(&g, 5.0f) == 3 && g == 5); double h = 1; CHECK(atomicAdd(&h, 0.5) == 1 && h == 1.5);
  unsigned short s = 40000; CHECK(atomicCAS(&s, (unsigned short)40000, (unsigned short)7) == 40000 && s == 7);
  CHECK(atomicCAS(&s, (unsigned short)8, (unsigned short)9) == 7 && s == 7);
  float4 four = make_float4(1, 2, 3, 4); const float4 was = atomicAdd(&four, make_float4(1, 1, 1, 1)); CHECK(was.w == 4 && four.w == 5 && four.x == 2);
  CHECK(__dp2a_lo((int)0xfffe0003, 0x00000201, 1) == 3 - 4 + 1); CHECK(__dp2a_hi((int)0xfffe0003, 0x02010000, 1) == 3 - 4 + 1);
  CHECK(__dp2a_lo(0x00020003u, 0x0000ff01u, 1u) == 3 + 510 + 1);
  CHECK(__hadd(-3, -4) == -4 && __rhadd(-3, -4) == -3 && __uhadd(4294967295u, 1u) == 2147483648u && __urhadd(2u, 1u) == 2);
  CHECK(__int2float_rz(16777217) == 16777216.0f && __int2float_ru(16777217) == 16777218.0f && __int2float_rd(-16777217) == -16777218.0f);
  CHECK(__ull2float_rz(~0ull) < 18446744073709551616.0f && __uint2float_ru(4294967295u) == 4294967296.0f);
  const long long before = clock64(); CHECK(clock64() > before && clock() != clock());
  float sine, cosine; __sincosf(0.0f, &sine, &cosine); CHECK(sine == 0 && cosine == 1); CHECK(norm4df(1, 2, 4, 10) == 11); CHECK(pow(3.0f, 2) == 9 && pow(2.0, -1) == 0.5);
  long4 longs = make_long4(1, 2, 3, 4); CHECK(sizeof(longs) == 32 && longs.w == 4); CHECK(sizeof(ulong2) == 16 && alignof(long2) == 16);
})",
                             {}, {}, 1);
  int line = 0;
  ASSERT_EQ(kernel.run({&line}), 0);
  EXPECT_EQ(line, 0) << "the line of the kernel whose condition is false";
}

TEST(Instructions, NumbersOf16BitsAndTheirPairs) {
  for (const std::string type : {"half", "nv_bfloat16"}) {
    const std::string name = type == "half" ? "half" : "bfloat16",
                      two = type == "half" ? "half2" : "bfloat162";
    LoadedBinary kernel =
        load("#include \"common/half_types.cuh\"\nusing H = " + type + ";\nusing H2 = " + type +
                 "2;\n#define NAME(a, b) a##" + name + "##b\n#define TWO(a, b) a##" + two + "##b\n" + R"(
#define CHECK(condition) if (!(condition) && out[0] == 0) { out[0] = __LINE__ - first; }
__device__ bool is(H2 a, float x, float y) { return (float)a.x == x && (float)a.y == y; }
extern "C" __global__ void ENTRY(kernel)(int* out) {
  const int first = __LINE__;
  const H2 a = TWO(__floats2, _rn)(1.5f, -2.0f), b = TWO(make_,)(H(0.5f), H(4.0f));
  CHECK(is(a + b, 2, 2)); CHECK(is(a - b, 1, -6)); CHECK(is(a * b, 0.75f, -8)); CHECK(is(b / a, (float)H(0.5f / 1.5f), -2));
  CHECK(is(__hfma2(a, b, b), 1.25f, -4)); CHECK(is(__hmax2(a, b), 1.5f, 4)); CHECK(is(__hmin2(a, b), 0.5f, -2)); CHECK(is(__hneg2(a), -1.5f, 2)); CHECK(is(__habs2(a), 1.5f, 2));
  H2 c = a; c += b; CHECK(c == a + b); c *= b; CHECK(is(c, 1, 8)); CHECK(is(h2sqrt(b), (float)hsqrt(H(0.5f)), 2)); CHECK((float)hrcp(H(4.0f)) == 0.25f && (float)hexp2(H(3.0f)) == 8);
  CHECK(is(__hgt2(a, b), 1, 0)); CHECK(!__hbgt2(a, b) && __hblt2(a, H2{H(2.0f), H(0.0f)}) && __hbeq2(a, a)); CHECK(is(TWO(__low2,)(a), 1.5f, 1.5f)); CHECK(is(TWO(__highs2,)(a, b), -2, 4));
  CHECK(NAME(__ushort_as_,)(NAME(__, _as_ushort)(H(1.5f))) == H(1.5f)); CHECK(NAME(__, 2int_rn)(H(2.5f)) == 2 && NAME(__, 2int_rz)(H(-2.5f)) == -2 && NAME(__, 2int_ru)(H(2.5f)) == 3);
  CHECK((float)H(7ll) == 7 && (float)H((short)-3) == -3);
  H one = H(1.0f); CHECK((float)atomicAdd(&one, H(2.0f)) == 1 && (float)one == 3);
  H2 pair = a; const H2 was = atomicAdd(&pair, b); CHECK(is(was, 1.5f, -2) && is(pair, 2, 2));
  CHECK((float)__shfl_xor_sync(~0u, H((float)threadIdx.x), 1) == (threadIdx.x ^ 1)); CHECK(is(__shfl_sync(~0u, b, 3), 0.5f, 4));
})",
             {}, {32, 1, 1}, 1);
    int line = 0;
    ASSERT_EQ(kernel.run({&line}), 0);
    EXPECT_EQ(line, 0) << type << ": the line of the kernel whose condition is false";
  }
}

// The known answers are those of Random123, by the authors of Philox.
TEST(Instructions, PhiloxGivesTheNumbersOfItsAuthors) {
  LoadedBinary kernel = load(R"(#include "common/curand.cuh"
extern "C" __global__ void ENTRY(kernel)(unsigned* out, float* floats) {
  curandStatePhilox4_32_10_t state;
  curand_init(0, 0, 0, &state);
  for (int n = 0; n < 5; ++n) out[n] = curand(&state);
  curand_init(0x299f31d0a4093822ull, 0x0370734413198a2eull, 0, &state);
  skipahead(0x85a308d3243f6a88ull * 4, &state);   // modulo 2^64: the counter's low half without its upper bits
  state.ctr.y = 0x85a308d3; skipahead(0, &state);
  const uint4 four = curand4(&state);
  out[5] = four.x; out[6] = four.y; out[7] = four.z; out[8] = four.w;
  curand_init(0, 0, 1, &state);
  const uint4 from_second = curand4(&state);
  out[9] = from_second.x; out[10] = from_second.w; out[11] = curand(&state);
  curand_init(0, 0, 0, &state);
  floats[0] = curand_uniform(&state);
  floats[1] = curand_normal(&state); floats[2] = curand_normal(&state); floats[3] = curand_uniform(&state);
})",
                             {}, {}, 2);
  std::vector<unsigned> out(12);
  std::vector<float> floats(4);
  ASSERT_EQ(kernel.run({out.data(), floats.data()}), 0);
  const std::vector<unsigned> first = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  EXPECT_EQ(std::vector<unsigned>(out.begin(), out.begin() + 4), first);
  EXPECT_EQ(std::vector<unsigned>(out.begin() + 5, out.begin() + 9),
            (std::vector<unsigned>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  EXPECT_EQ((std::vector<unsigned>{out[9], out[10]}), (std::vector<unsigned>{first[1], out[4]}));
  const auto part = [&](std::size_t n) { return (first[n] + 0.5) / 0x1p32; };
  constexpr double turn = 6.283185307179586;
  EXPECT_NEAR(floats[0], part(0), 1e-7);
  EXPECT_NEAR(floats[1], std::sqrt(-2 * std::log(part(1))) * std::sin(turn * part(2)), 1e-6);
  EXPECT_NEAR(floats[2], std::sqrt(-2 * std::log(part(1))) * std::cos(turn * part(2)), 1e-6);
  EXPECT_NEAR(floats[3], part(3), 1e-7);
}

TEST(Instructions, NamesOfTheLibraryOfCpp) {
  LoadedBinary kernel = load(R"(#include "common/c_names.cuh"
#include "common/cpp_library.cuh"
#define CHECK(condition) if (!(condition) && out[0] == 0) { out[0] = __LINE__ - first; }
template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>> __device__ T next(T x) { return x + 1; }
extern "C" __global__ void ENTRY(kernel)(int* out) {
  const int first = __LINE__;
  CHECK(std::min(3, 2) == 2 && std::max(2.5f, 1.0f) == 2.5f && std::abs(-3) == 3 && std::abs(-0.5f) == 0.5f && std::sqrt(4.0f) == 2 && std::pow(2.0, 3) == 8);
  static_assert(std::is_same_v<std::conditional_t<true, int, float>, int> && std::is_same<decltype(std::sqrt(1.0f)), float>::value);
  static_assert(cuda::std::is_floating_point<double>::value && cuda::std::numeric_limits<float>::max() > 1e38f);
  CHECK(next(std::uint64_t(4)) == 5 && std::numeric_limits<short>::min() == -32768);
  std::array<int, 3> three = {1, 2, 3}; auto [a, b] = std::pair(three[1], 2.5f); CHECK(a == 2 && b == 2.5f); std::swap(three[0], three[2]); CHECK(three[0] == 3);
  CHECK(std::isnan(std::numeric_limits<float>::quiet_NaN()) && std::plus<int>()(1, 2) == 3);
})",
                             {}, {}, 1);
  int line = 0;
  ASSERT_EQ(kernel.run({&line}), 0);
  EXPECT_EQ(line, 0) << "the line of the kernel whose condition is false";
}

}  // namespace
}  // namespace tunesmith
