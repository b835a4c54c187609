// SPDX-License-Identifier: Apache-2.0
// Products of a warp's matrices, with the elements of each lane where the PTX ISA has them ("Matrix Fragments
// for mma.m16n8k16" and its kind). Of eight lanes g and four lanes t, lane 4 g + t has of the factor a rows g
// and g + 8 and of b column g, as many neighbouring terms as a register holds, from the t-th register of a
// group of four on; of the sums it has columns 2 t and 2 t + 1 of its rows.
#pragma once

#include "common/host/aligned.h"
#include "common/host/matrix_terms.h"
#include "common/host/warp.h"

namespace tunesmith_shim {

struct Tf32 {
  float value;
};

// A factor's elements in a register, and as numbers whose products are exact.
template <typename T>
struct Factor {
  using Register = unsigned;
  using Number = MatrixNumber<T>;
  static constexpr int of_register = 4 / static_cast<int>(sizeof(T));
  static Number number(unsigned bits, int n) {
    return element_of<T>(bits >> 8 * static_cast<int>(sizeof(T)) * n);
  }
};
template <>
struct Factor<Tf32> {
  using Register = unsigned;
  using Number = double;
  static constexpr int of_register = 1;
  static Number number(unsigned bits, int) { return tf32_number(__uint_as_float(bits)); }
};
template <>
struct Factor<double> {
  using Register = unsigned long long;
  using Number = double;
  static constexpr int of_register = 1;
  static Number number(unsigned long long bits, int) {
    return __longlong_as_double(static_cast<long long>(bits));
  }
};

template <typename Number>
struct BroughtFactors {
  Number a[16 * 32], b[8 * 32];  // rows of a, columns of b
};

// The factors that the warp's lanes brought. The lane that goes on first reads them all.
template <typename A, typename B, int M, int K, int NA, int NB>
TUNESMITH_UNWATCHED inline const BroughtFactors<typename Factor<A>::Number>& brought_factors(
    const typename Factor<A>::Register (&a)[NA], const typename Factor<B>::Register (&b)[NB], int line) {
  constexpr int terms = Factor<A>::of_register, halves = M / 8;
  static_assert(NA == M * K / 32 / terms && NB == 8 * K / 32 / terms, "the registers of the factors");
  struct Registers {
    const typename Factor<A>::Register* a;
    const typename Factor<B>::Register* b;
  };
  static BroughtFactors<typename Factor<A>::Number> all;
  static unsigned long long of = 0;  // the meeting at which the lanes brought them
  const Registers mine = {a, b};
  meet(~0u, operand(&mine), line);
  if (met != ~0u) fail(divergent_warp);
  if (of == meetings) return all;
  of = meetings;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    const Registers& its = *given<const Registers*>(lane);
    const int g = lane / 4, t = lane % 4;
    for (int r = 0; r < NA; ++r)
      for (int n = 0; n < terms; ++n)
        all.a[(g + 8 * (r % halves)) * K + (r / halves * 4 + t) * terms + n] = Factor<A>::number(its.a[r], n);
    for (int r = 0; r < NB; ++r)
      for (int n = 0; n < terms; ++n) all.b[g * K + (r * 4 + t) * terms + n] = Factor<B>::number(its.b[r], n);
  }
  return all;
}

inline float product_sum(float sum, const double* row, const double* column, int terms, bool is_tf32, bool) {
  return is_tf32 ? sum_in_tensor_cores<terms_at_once / 2>(sum, row, column, 1, terms)
                 : sum_in_tensor_cores<terms_at_once>(sum, row, column, 1, terms);
}
inline double product_sum(double sum, const double* row, const double* column, int terms, bool, bool) {
  for (int k = 0; k < terms; ++k) sum = __builtin_fma(row[k], column[k], sum);
  return sum;
}
inline int product_sum(int sum, const int* row, const int* column, int terms, bool, bool saturates) {
  long long all = sum;
  for (int k = 0; k < terms; ++k) all += row[k] * column[k];
  if (!saturates) return static_cast<int>(static_cast<unsigned>(all));
  return static_cast<int>(all > 0x7fffffff ? 0x7fffffff : all < -0x7fffffff - 1 ? -0x7fffffff - 1 : all);
}

// sum (M x 8) += a (M x K) * b (K x 8)
template <typename A, typename B, int M, int K, bool Saturates = false, typename Sum, int NA, int NB>
TUNESMITH_UNWATCHED inline void multiply_add_fragments(Sum (&sum)[M / 4],
                                                       const typename Factor<A>::Register (&a)[NA],
                                                       const typename Factor<B>::Register (&b)[NB],
                                                       int line) {
  const auto& all = brought_factors<A, B, M, K>(a, b, line);
  const int g = running->lane / 4, t = running->lane % 4;
  for (int n = 0; n < M / 4; ++n)
    sum[n] = product_sum(sum[n], all.a + (g + 8 * (n / 2)) * K, all.b + (2 * t + n % 2) * K, K,
                         __is_same(A, Tf32), Saturates);
}

// Up to four 8x8 matrices of 16-bit elements. Lane l gives the address of row l % 8 of matrix l / 8; of each
// matrix it has elements 2 t and 2 t + 1 of row g, or turned of column g.
template <bool Turned>
inline const unsigned char* matrix_element(int matrix, int e) {
  const int g = running->lane / 4, t = running->lane % 4;
  const int row = Turned ? 2 * t + e : g, column = Turned ? g : 2 * t + e;
  return given<const unsigned char*>(8 * matrix + row) + 2 * column;
}

template <bool Turned, int N>
inline void load_rows(unsigned (&matrix)[N], const void* row, int line) {
  if (running->lane < 8 * N) require_alignment(row, 16);
  meet(~0u, operand(row), line);
  if (met != ~0u) fail(divergent_warp);
  const unsigned char* at[N][2];
  for (int m = 0; m < N; ++m)
    for (int e = 0; e < 2; ++e) at[m][e] = matrix_element<Turned>(m, e);
  const auto bits = [](const unsigned char* from) { return static_cast<unsigned>(from[0] | from[1] << 8); };
  for (int m = 0; m < N; ++m) matrix[m] = bits(at[m][0]) | bits(at[m][1]) << 16;
}

template <bool Turned, int N>
inline void store_rows(const unsigned (&matrix)[N], void* row, int line) {
  if (running->lane < 8 * N) require_alignment(row, 16);
  meet(~0u, operand(row), line);
  if (met != ~0u) fail(divergent_warp);
  unsigned char* at[N][2];
  for (int m = 0; m < N; ++m)
    for (int e = 0; e < 2; ++e) at[m][e] = const_cast<unsigned char*>(matrix_element<Turned>(m, e));
  for (int m = 0; m < N; ++m) {
    for (int e = 0; e < 2; ++e) {
      at[m][e][0] = static_cast<unsigned char>(matrix[m] >> 16 * e);
      at[m][e][1] = static_cast<unsigned char>(matrix[m] >> (16 * e + 8));
    }
  }
}

}  // namespace tunesmith_shim
