// SPDX-License-Identifier: Apache-2.0
// Finds the bin of equal width that holds a number, exactly as numpy.histogram does, and loads elements by
// whole words. templates/histogram/bins.cpp computes the numbers in Bins and bounds their error.
#pragma once

#include "common/hinted_access.cuh"

// Edge i is lo + i * step; each operation is rounded to double, and the result to float if the elements are
// floats. The last edge is hi. A bin includes its lower edge, the last bin both edges.
struct Bins {
  unsigned count;
  double lo, step, hi;
  // inverse * x + addend, rounded down, is 2^20 plus x's bin, with 32 bits of fraction. It may be too large,
  // but only if the fraction is less than `window`.
  double inverse, addend;
  unsigned window;
};

// The bin of `value`; if `unsure` is set, it may be the next bin instead. The result is bins.count or more
// for values outside and for NaN.
__device__ __forceinline__ unsigned estimated_bin(double value, const Bins& bins, bool& unsure) {
  const auto fixed =
      static_cast<unsigned long long>(__double_as_longlong(__fma_rd(value, bins.inverse, bins.addend)));
  unsure |= static_cast<unsigned>(fixed) < bins.window;
  return static_cast<unsigned>(fixed >> 32) - 0x41300000u;  // the high word of 2^20
}

template <typename E>
__device__ __forceinline__ double lower_edge(unsigned bin, const Bins& bins) {
  if (bin == bins.count) return bins.hi;
  const double edge = __dadd_rn(__dmul_rn(bin, bins.step), bins.lo);
  return static_cast<double>(static_cast<E>(edge));
}

// The type of the edges with which NumPy compares elements of type T.
template <typename T>
struct EdgeOf {
  using Type = double;
};
template <>
struct EdgeOf<float> {
  using Type = float;
};
template <typename T>
using Edge = typename EdgeOf<T>::Type;

// The bin of `value`; E is the type of the edges. The result is bins.count or more for values outside and for
// NaN.
template <typename E>
__device__ __forceinline__ unsigned bin_of(double value, const Bins& bins) {
  bool unsure = false;
  unsigned bin = estimated_bin(value, bins, unsure);
  if (unsure && value < lower_edge<E>(bin, bins)) --bin;
  return value == bins.hi ? bins.count - 1 : bin;
}

// Finds the bins of N elements; with AS_THEY_ARE, the elements themselves are the bins. Up to four elements
// share a branch, because estimates are rarely unsure.
template <bool AS_THEY_ARE, typename T, int N>
__device__ __forceinline__ void bins_of(unsigned (&bin)[N], const T (&element)[N], const Bins& bins) {
  constexpr int together = N < 4 ? N : 4;
#pragma unroll
  for (int first = 0; first < N; first += together) {
    bool unsure = false;
#pragma unroll
    for (int e = first; e < first + together; ++e) {
      if constexpr (AS_THEY_ARE) {
        bin[e] = static_cast<unsigned>(element[e]);
      } else {
        bin[e] = estimated_bin(static_cast<double>(element[e]), bins, unsure);
        if (static_cast<Edge<T>>(element[e]) == static_cast<Edge<T>>(bins.hi)) bin[e] = bins.count - 1;
      }
    }
    if (unsure) {
#pragma unroll
      for (int e = first; e < first + together; ++e)
        bin[e] = bin_of<Edge<T>>(static_cast<double>(element[e]), bins);
    }
  }
}

// ---- elements by words

// Loads BYTES bytes (1, 2, 4, 8 or 16) from an address aligned to as many.
template <int BYTES, Hint HINT>
__device__ __forceinline__ void load_words(unsigned (&word)[(BYTES + 3) / 4], const void* from) {
  const auto moved = load_hinted<HINT>(static_cast<const typename Moved<BYTES>::Type*>(from));
  word[0] = 0;  // a byte does not fill it
  memcpy(word, &moved, BYTES);
}

// Element `e`, of type T, of some words.
template <typename T>
__device__ __forceinline__ T element_of(const unsigned* word, int e) {
  if constexpr (sizeof(T) < 4) {
    constexpr int size = sizeof(T);
    return static_cast<T>(word[e * size / 4] >> 8 * (e * size % 4));
  } else {
    union {
      unsigned word;
      T element;
    } both = {word[e]};
    return both.element;
  }
}

// This thread's elements of a tile, unchanged from memory: ITEMS vectors, a block's width apart.
template <typename T, int ITEMS, int VECTOR>
struct Tile {
  unsigned word[ITEMS][(VECTOR * sizeof(T) + 3) / 4];
  bool whole;  // every thread's elements lie before `length`
};

// Loads this thread's elements of the tile that begins at `first`. Elements from `length` on are not read.
template <int BLOCK, Hint HINT, bool CONTIGUOUS, typename T, int ITEMS, int VECTOR>
__device__ __forceinline__ void load_tile(Tile<T, ITEMS, VECTOR>& tile, const T* values, long long first,
                                          long long length, long long stride) {
  static_assert(CONTIGUOUS || VECTOR == 1, "only neighbours are loaded together");
  constexpr int size = sizeof(T);
  const int thread = static_cast<int>(threadIdx.x) * VECTOR;
  const T* const from = values + (first + thread) * (CONTIGUOUS ? 1 : stride);
  tile.whole = first + BLOCK * ITEMS * VECTOR <= length;
  if (tile.whole) {
#pragma unroll
    for (int item = 0; item < ITEMS; ++item)
      load_words<VECTOR * size, HINT>(tile.word[item],
                                      from + item * BLOCK * VECTOR * (CONTIGUOUS ? 1 : stride));
    return;
  }
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
#pragma unroll
    for (int w = 0; w < (VECTOR * size + 3) / 4; ++w) tile.word[item][w] = 0;
#pragma unroll
    for (int e = 0; e < VECTOR; ++e) {
      const int at = item * BLOCK * VECTOR + e;
      if (first + thread + at >= length) continue;
      unsigned one[1];
      load_words<size, HINT>(one, from + at * (CONTIGUOUS ? 1 : stride));
      tile.word[item][e * size / 4] |= one[0] << 8 * (e * size % 4);
    }
  }
}

// Finds the bins of a tile's elements, or the elements themselves if AS_THEY_ARE. Elements from `length` on
// get a bin that no histogram has.
template <int BLOCK, bool AS_THEY_ARE, typename T, int ITEMS, int VECTOR>
__device__ __forceinline__ void bins_of_tile(unsigned (&bin)[ITEMS * VECTOR],
                                             const Tile<T, ITEMS, VECTOR>& tile, const Bins& bins,
                                             long long first, long long length) {
  T element[ITEMS * VECTOR];
#pragma unroll
  for (int e = 0; e < ITEMS * VECTOR; ++e) element[e] = element_of<T>(tile.word[e / VECTOR], e % VECTOR);
  bins_of<AS_THEY_ARE>(bin, element, bins);
  if (tile.whole) return;
#pragma unroll
  for (int e = 0; e < ITEMS * VECTOR; ++e) {
    const int at = (e / VECTOR * BLOCK + static_cast<int>(threadIdx.x)) * VECTOR + e % VECTOR;
    if (first + at >= length) bin[e] = 0xffffffffu;
  }
}
