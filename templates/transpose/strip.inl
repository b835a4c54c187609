// SPDX-License-Identifier: Apache-2.0
// Moves strips of the few long rows of an array to and from shared memory, where their elements alternate.
// Needs T, BLOCK, ITEMS, STRIP, element_bytes, load_hint, store_hint, row_vector and
// common/shared_layout.cuh.

#include "transpose/strip_layout.inl"

constexpr int row_threads = STRIP / row_vector;  // side by side in a long row
constexpr int rows_at_once = BLOCK / row_threads;

__device__ __forceinline__ int place_of(int at) { return strip_place(at, element_bytes); }

template <int N>
__device__ __forceinline__ Vector<T, N> loaded_from(const T* from) {
  return load_hinted<load_hint>(reinterpret_cast<const Vector<T, N>*>(from));
}
template <int N>
__device__ __forceinline__ void store_to(T* to, const Vector<T, N>& vector) {
  store_hinted<store_hint>(reinterpret_cast<Vector<T, N>*>(to), vector);
}

// A part of each long row, of `columns` columns. `x` is the thread's first column of it.
struct Strip {
  int x, first_row, rows, columns;
};

__device__ __forceinline__ void load_rows(T* shared, const T* from, long long pitch, const Strip& strip) {
  for (int y0 = strip.first_row; y0 < strip.rows; y0 += ITEMS * rows_at_once) {
    Vector<T, row_vector> loaded[ITEMS];
#pragma unroll
    for (int n = 0; n < ITEMS; ++n) {
      const int y = y0 + n * rows_at_once;
      if (y < strip.rows && strip.x < strip.columns)
        loaded[n] = loaded_from<row_vector>(from + y * pitch + strip.x);
    }
#pragma unroll
    for (int n = 0; n < ITEMS; ++n) {
      const int y = y0 + n * rows_at_once;
      if (y >= strip.rows) break;
#pragma unroll
      for (int v = 0; v < row_vector; ++v)
        shared[place_of((strip.x + v) * strip.rows + y)] = loaded[n].element[v];
    }
  }
}

__device__ __forceinline__ void store_rows(const T* shared, T* to, long long pitch, const Strip& strip) {
  if (strip.x >= strip.columns) return;
  for (int y = strip.first_row; y < strip.rows; y += rows_at_once) {
    Vector<T, row_vector> vector;
#pragma unroll
    for (int v = 0; v < row_vector; ++v) vector.element[v] = shared[place_of((strip.x + v) * strip.rows + y)];
    store_to<row_vector>(to + y * pitch + strip.x, vector);
  }
}
