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
  // Of rows the first two matrices are rows 0 to 7 and 8 to 15, of columns the terms 0 to 7 and 8 to 15.
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
})",
                             {}, {}, 1);
  int line = 0;
  ASSERT_EQ(kernel.run({&line}), 0);
  EXPECT_EQ(line, 0) << "the line of the kernel whose condition is false";
}

}  // namespace
}  // namespace tunesmith
