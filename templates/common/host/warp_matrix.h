// SPDX-License-Identifier: Apache-2.0
// The host twin of common/warp_matrix.cuh: lanes give each other what they brought, as in a collective.
#pragma once

#include "common/float16.cuh"
#include "common/host/aligned.h"
#include "common/host/tensor_sum.h"
#include "common/host/warp.h"

namespace tunesmith_shim {

// The two elements of a word.
template <typename T>
inline void add_pair(double (&elements)[16], int at, unsigned word) {
  elements[at] = static_cast<double>(to_float(T{static_cast<unsigned short>(word & 0xffffu)}));
  elements[at + 1] = static_cast<double>(to_float(T{static_cast<unsigned short>(word >> 16)}));
}

// Two words of each lane.
struct WordPair {
  unsigned near, far;
};

// The sixteen elements along a row or column that the four lanes from `first` on brought.
template <typename T>
inline void brought(double (&elements)[16], int first) {
  for (int t = 0; t < 4; ++t) {
    const WordPair words = given<WordPair>(first + t);
    add_pair<T>(elements, 2 * t, words.near);
    add_pair<T>(elements, 2 * t + 8, words.far);
  }
}

inline float sum_of_products(float sum, const double (&row)[16], const double (&column)[16]) {
  for (int first = 0; first < 16; first += terms_at_once) {
    double product[terms_at_once];
    for (int k = 0; k < terms_at_once; ++k) product[k] = row[first + k] * column[first + k];
    sum = cut_sum(sum, product);
  }
  return sum;
}

}  // namespace tunesmith_shim

template <bool TURNED, typename T>
inline void load_matrices(unsigned (&matrix)[4], const T* row, int line = __builtin_LINE()) {
  using namespace tunesmith_shim;
  static_assert(sizeof(T) == 2, "matrices are of 16-bit elements");
  require_alignment(row, 16);
  meet(~0u, operand(row), line);
  const int q = running->lane / 4, t = running->lane % 4;
  const T* rows[4][2];  // of each matrix where the lane's two elements are
  for (int m = 0; m < 4; ++m) {
    for (int e = 0; e < 2; ++e) {
      const int its_row = TURNED ? 2 * t + e : q, its_column = TURNED ? q : 2 * t + e;
      rows[m][e] = given<const T*>(8 * m + its_row) + its_column;
    }
  }
  for (int m = 0; m < 4; ++m) matrix[m] = rows[m][0]->bits | static_cast<unsigned>(rows[m][1]->bits) << 16;
}

template <typename T>
inline void multiply_add_matrices(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                                  int line = __builtin_LINE()) {
  using namespace tunesmith_shim;
  const int q = running->lane / 4, t = running->lane % 4;
  double row[2][16], column[2][16];
  meet(~0u, operand(WordPair{a[0], a[2]}), line);
  brought<T>(row[0], 4 * q);
  meet(~0u, operand(WordPair{a[1], a[3]}), line);
  brought<T>(row[1], 4 * q);
  meet(~0u, operand(WordPair{b0, b1}), line);
  brought<T>(column[0], 8 * t);
  brought<T>(column[1], 8 * t + 4);
  for (int n = 0; n < 4; ++n) sum[n] = sum_of_products(sum[n], row[n / 2], column[n % 2]);
}
