// SPDX-License-Identifier: Apache-2.0
// The host twin of common/warp_matrix.cuh: lanes give each other what they brought, as in a collective.
#pragma once

#include "common/host/aligned.h"
#include "common/host/matrix_terms.h"
#include "common/host/warp.h"

namespace tunesmith_shim {

// Two words of each lane.
struct WordPair {
  unsigned near, far;
};

// The terms along a row or column that the four lanes from `first` on brought.
template <typename T>
inline void brought(MatrixNumber<T> (&terms)[matrix_terms<T>], int first) {
  constexpr int of_word = 4 / static_cast<int>(sizeof(T)), bits = 8 * static_cast<int>(sizeof(T));
  for (int t = 0; t < 4; ++t) {
    const WordPair words = given<WordPair>(first + t);
    for (int e = 0; e < of_word; ++e) {
      terms[of_word * t + e] = element_of<T>(words.near >> bits * e);
      terms[matrix_terms<T> / 2 + of_word * t + e] = element_of<T>(words.far >> bits * e);
    }
  }
}

}  // namespace tunesmith_shim

template <bool TURNED, typename T>
inline void load_matrices(unsigned (&matrix)[4], const T* row, int line = __builtin_LINE()) {
  using namespace tunesmith_shim;
  static_assert(sizeof(T) <= 2, "matrices are of 16-bit elements or pairs of bytes");
  require_alignment(row, 16);
  meet(~0u, operand(row), line);
  const int q = running->lane / 4, t = running->lane % 4;
  const unsigned char* rows[4][2];  // of each matrix where the lane's two elements are
  for (int m = 0; m < 4; ++m) {
    for (int e = 0; e < 2; ++e) {
      const int its_row = TURNED ? 2 * t + e : q, its_column = TURNED ? q : 2 * t + e;
      rows[m][e] = reinterpret_cast<const unsigned char*>(given<const T*>(8 * m + its_row)) + 2 * its_column;
    }
  }
  for (int m = 0; m < 4; ++m) {
    const auto bits = [](const unsigned char* at) { return static_cast<unsigned>(at[0] | at[1] << 8); };
    matrix[m] = bits(rows[m][0]) | bits(rows[m][1]) << 16;
  }
}

template <typename T, typename Sum>
inline void multiply_add_matrices(Sum (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                                  int line = __builtin_LINE()) {
  using namespace tunesmith_shim;
  const int q = running->lane / 4, t = running->lane % 4;
  MatrixNumber<T> row[2][matrix_terms<T>], column[2][matrix_terms<T>];
  meet(~0u, operand(WordPair{a[0], a[2]}), line);
  brought<T>(row[0], 4 * q);
  meet(~0u, operand(WordPair{a[1], a[3]}), line);
  brought<T>(row[1], 4 * q);
  meet(~0u, operand(WordPair{b0, b1}), line);
  brought<T>(column[0], 8 * t);
  brought<T>(column[1], 8 * t + 4);
  for (int n = 0; n < 4; ++n) sum[n] = sum_of_products(sum[n], row[n / 2], column[n % 2]);
}
