// SPDX-License-Identifier: Apache-2.0
// The host twin of common/swizzled_matrix.cuh. A product reads its matrices when it is waited for, as late as
// a GPU may, so that a tile which is written too early shows.
#pragma once

#include <stddef.h>

#include "common/host/matrix_terms.h"
#include "common/host/pending.h"
#include "common/host/shared_memory.h"

#define SWIZZLED_SHARED(type, name) DYNAMIC_SHARED(type, name)

// Where a matrix begins, and how far the next 64 rows are if it is turned.
struct MatrixPlace {
  const unsigned char* tile;
  int at, far;
};

template <typename T>
inline MatrixPlace swizzled_place(const T* at, int far) {
  const auto* const tile = reinterpret_cast<const unsigned char*>(at);
  const auto from_start = tile - static_cast<const unsigned char*>(tunesmith_shim::dynamic_shared);
  if (from_start % 1024 != 0) tunesmith_shim::fail(tunesmith_shim::misaligned);
  return {tile, 0, far};
}
inline MatrixPlace moved(MatrixPlace place, int bytes) { return {place.tile, place.at + bytes, place.far}; }

namespace tunesmith_shim {

// A product of the running thread: its two rows of sums, and the matrices.
struct PendingProduct {
  void (*add)(void* low, void* high, const MatrixPlace& a, const MatrixPlace& b);
  void *low, *high;
  MatrixPlace a, b;
  int group;
};
static Pending<PendingProduct> pending_products[max_threads];

// Frees the products when the kernel is unloaded.
__attribute__((destructor)) static void free_pending_products() { free_lists(pending_products); }

// The terms of a row.
template <typename T, bool TURNED>
inline void terms_of(MatrixNumber<T> (&terms)[matrix_terms<T>], const MatrixPlace& matrix, int row) {
  constexpr int size = static_cast<int>(sizeof(T));
  for (int k = 0; k < matrix_terms<T>; ++k) {
    const int line = TURNED ? row / 64 * matrix.far + k * 128 + row % 64 * size : row * 128 + k * size;
    const int at = matrix.at + line;
    const unsigned char* const from = matrix.tile + (at ^ (at >> 7 & 7) << 4);
    TUNESMITH_NOTE(from, size, reads);
    terms[k] = element_of<T>(size == 1 ? *from : static_cast<unsigned>(from[0] | from[1] << 8));
  }
}

template <typename T, bool A_TURNED, bool B_TURNED, typename Sum, int N>
inline void add_products(void* its_low, void* its_high, const MatrixPlace& a, const MatrixPlace& b) {
  const int thread = static_cast<int>(running->thread.x) % 128;
  const int row = thread / 32 * 16 + thread % 32 / 4;
  Sum* const low = static_cast<Sum*>(its_low);
  Sum* const high = static_cast<Sum*>(its_high);
  MatrixNumber<T> first[2][matrix_terms<T>], second[matrix_terms<T>];
  terms_of<T, A_TURNED>(first[0], a, row);
  terms_of<T, A_TURNED>(first[1], a, row + 8);
  for (int j = 0; j < N; ++j) {
    terms_of<T, B_TURNED>(second, b, j / 2 * 8 + thread % 4 * 2 + j % 2);
    low[j] = sum_of_products(low[j], first[0], second);
    high[j] = sum_of_products(high[j], first[1], second);
  }
}

}  // namespace tunesmith_shim

template <typename T, bool A_TURNED, bool B_TURNED, typename Sum, int N>
inline void multiply_add_swizzled(Sum (&low)[N], Sum (&high)[N], const MatrixPlace& a, const MatrixPlace& b) {
  static_assert(sizeof(T) == 2 || (sizeof(T) == 1 && !A_TURNED && !B_TURNED), "as wgmma takes elements");
  static_assert(N == 8 || N == 16 || N == 32 || N == 64, "as many columns as a GPU's version has");
  auto& mine = tunesmith_shim::list_of_thread(tunesmith_shim::pending_products);
  mine.add({tunesmith_shim::add_products<T, A_TURNED, B_TURNED, Sum, N>, low, high, a, b, mine.group});
}

inline void show_to_products() {}
inline void begin_products() {}
inline void end_group() { ++tunesmith_shim::list_of_thread(tunesmith_shim::pending_products).group; }

template <int RUNNING>
inline void wait_for_groups() {
  auto& mine = tunesmith_shim::list_of_thread(tunesmith_shim::pending_products);
  mine.end_some([&mine](const tunesmith_shim::PendingProduct& product) {
    if (product.group >= mine.group - RUNNING) return false;
    product.add(product.low, product.high, product.a, product.b);
    return true;
  });
}

template <typename Sum, int N>
inline void hold(Sum (&)[N]) {}
