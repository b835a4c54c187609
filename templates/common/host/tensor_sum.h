// SPDX-License-Identifier: Apache-2.0
// The sums of tensor cores. Products are exact; the sum so far and eight products at a time (four of tf32)
// are aligned to the largest of them, cut 24 bits below its leading one, added, and cut to 24 bits. That is a
// model of the coarsest tensor cores from compute capability 8.0 on; arXiv 2512.07004 has those of single
// GPUs.
#pragma once

#include "common/host/bits.h"

namespace tunesmith_shim {

// `x` without its bits below 2^`lowest`.
inline double cut_below(double x, int lowest) {
  const double scaled = __builtin_ldexp(x, -lowest);
  return __builtin_ldexp(__builtin_trunc(scaled), lowest);
}

constexpr int terms_at_once = 8;

template <int Terms>
inline float cut_sum(float sum, const double (&product)[Terms]) {
  double largest = __builtin_fabs(static_cast<double>(sum)), all = static_cast<double>(sum);
  for (const double each : product) {
    largest = __builtin_fmax(largest, __builtin_fabs(each));
    all += each;
  }
  if (!__builtin_isfinite(all)) return static_cast<float>(all);
  if (largest == 0) return static_cast<float>(all);
  const int lowest = __builtin_ilogb(largest) - 24;
  all = cut_below(static_cast<double>(sum), lowest);
  for (const double each : product) all += cut_below(each, lowest);
  if (all == 0) return 0;
  const int last = __builtin_ilogb(all) - 23;  // of the 24 bits, or of a subnormal number
  return static_cast<float>(cut_below(all, last < -149 ? -149 : last));
}

// A factor of tf32 as a GPU reads it: without its last 13 bits.
inline double tf32_number(float x) {
  return static_cast<double>(__uint_as_float(__float_as_uint(x) & 0xffffe000u));
}

// sum + row * column, `AtOnce` products at a time. The terms of the column are `step` numbers apart.
template <int AtOnce>
inline float sum_in_tensor_cores(float sum, const double* row, const double* column, int step, int terms) {
  for (int first = 0; first < terms; first += AtOnce) {
    double product[AtOnce];
    for (int k = 0; k < AtOnce; ++k)
      product[k] = first + k < terms ? row[first + k] * column[(first + k) * step] : 0;
    sum = cut_sum(sum, product);
  }
  return sum;
}

}  // namespace tunesmith_shim
