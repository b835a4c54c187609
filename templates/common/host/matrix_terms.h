// SPDX-License-Identifier: Apache-2.0
// The terms that a product of matrices multiplies at once, 32 bytes of a row and of a column, and their sum:
// of 16-bit elements as tensor_sum.h has it, of bytes exact but for wrapping.
#pragma once

#include "common/float16.cuh"
#include "common/host/tensor_sum.h"

namespace tunesmith_shim {

// An element as a number of which products are exact.
inline double exact(float x) { return static_cast<double>(x); }
inline int exact(signed char x) { return x; }
inline int exact(unsigned char x) { return x; }

template <typename T>
using MatrixNumber = decltype(exact(to_float(T())));
template <typename T>
constexpr int matrix_terms = 32 / static_cast<int>(sizeof(T));

// The element whose bytes are the lowest of `bits`.
template <typename T>
inline MatrixNumber<T> element_of(unsigned bits) {
  if constexpr (sizeof(T) == 1) {
    return exact(static_cast<T>(bits & 0xffu));
  } else {
    return exact(to_float(T{static_cast<unsigned short>(bits & 0xffffu)}));
  }
}

inline float sum_of_products(float sum, const double (&row)[16], const double (&column)[16]) {
  return sum_in_tensor_cores<terms_at_once>(sum, row, column, 1, 16);
}
inline int sum_of_products(int sum, const int (&row)[32], const int (&column)[32]) {
  unsigned all = static_cast<unsigned>(sum);
  for (int k = 0; k < 32; ++k) all += static_cast<unsigned>(row[k] * column[k]);
  return static_cast<int>(all);
}

}  // namespace tunesmith_shim
