// SPDX-License-Identifier: Apache-2.0
// The host twin of common/warp_matrix.cuh.
#pragma once

#include "common/host/mma.h"

template <bool TURNED, typename T>
inline void load_matrices(unsigned (&matrix)[4], const T* row, int line = __builtin_LINE()) {
  static_assert(sizeof(T) <= 2, "matrices are of 16-bit elements or pairs of bytes");
  tunesmith_shim::load_rows<TURNED>(matrix, row, line);
}

template <typename T, typename Sum>
inline void multiply_add_matrices(Sum (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                                  int line = __builtin_LINE()) {
  const unsigned b[2] = {b0, b1};
  tunesmith_shim::multiply_add_fragments<T, T, 16, tunesmith_shim::matrix_terms<T>>(sum, a, b, line);
}
