// SPDX-License-Identifier: Apache-2.0
// The host twin of common/matrix_f64.cuh: lanes exchange their operands as in a collective.
#pragma once

#include "common/host/warp.h"

namespace tunesmith_shim {

// The four terms of the lanes from `first` on.
struct FourTerms {
  double term[4];
};
inline FourTerms brought(int first) {
  FourTerms four;
  for (int t = 0; t < 4; ++t) four.term[t] = given<double>(first + t);
  return four;
}
inline double sum_of_products(double sum, const FourTerms& row, const FourTerms& column) {
  for (int t = 0; t < 4; ++t) sum += row.term[t] * column.term[t];
  return sum;
}

}  // namespace tunesmith_shim

template <typename X>
inline void multiply_in_tensor_cores(X& a0, X& a1, X& b0, X& b1, X row_a, X row_b, X column,
                                     int line = __builtin_LINE()) {
  using namespace tunesmith_shim;
  const int q = running->lane / 4, t = running->lane % 4;
  meet(~0u, operand(static_cast<double>(row_a)), line);
  const FourTerms a = brought(4 * q);
  meet(~0u, operand(static_cast<double>(row_b)), line);
  const FourTerms b = brought(4 * q);
  meet(~0u, operand(static_cast<double>(column)), line);
  const FourTerms even = brought(8 * t), odd = brought(8 * t + 4);
  a0 = static_cast<X>(sum_of_products(a0, a, even));
  a1 = static_cast<X>(sum_of_products(a1, a, odd));
  b0 = static_cast<X>(sum_of_products(b0, b, even));
  b1 = static_cast<X>(sum_of_products(b1, b, odd));
}
