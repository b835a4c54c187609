// SPDX-License-Identifier: Apache-2.0
// reduce/staged: any reduction of short rows without gaps. A block's threads copy their rows to shared memory
// side by side; then each thread has a row to itself, and threads pass nothing to each other.

#include "common/overlap.inl"
#include "common/shared.cuh"
#include "common/vector.cuh"
#include "reduce/chosen.inl"
#include "reduce/reductions.cuh"

constexpr bool finds_places = function == Function::argmin || function == Function::argmax;

// The layout of a block's rows in shared memory, where a thread reads PIECE neighbours of its row at once.
// From one row to the next there is an odd number of pieces, so that a warp's threads read different banks.
template <int PIECE>
struct Pitch {
  int length, gap;
  float inverse;

  explicit __device__ __forceinline__ Pitch(int row_length)
      : length(row_length),
        gap(row_length / PIECE % 2 == 0 ? PIECE : 0),
        inverse(reciprocal(static_cast<float>(row_length))) {}
  __device__ __forceinline__ int place(int element) const {
    // The quotient is exact: half an element is more than the rounding errors of up to 256 rows.
    const int row = static_cast<int>((static_cast<float>(element) + 0.5f) * inverse);
    return element + row * gap;
  }
};

// Copies `count` elements.
template <int PIECE>
__device__ __forceinline__ void stage(T* staged, const T* from, int count, const Pitch<PIECE>& pitch) {
  constexpr int step = BLOCK * VECTOR;
  constexpr int part = VECTOR < PIECE ? VECTOR : PIECE;  // of a vector, within a row
  for (int first = static_cast<int>(threadIdx.x) * VECTOR; first + VECTOR <= count; first += ITEMS * step) {
    Vector<T, VECTOR> vector[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int at = first + i * step;
      if (at + VECTOR <= count) vector[i] = load_once<static_cast<int>(LOAD), VECTOR>(from + at);
    }
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int at = first + i * step;
      if (at + VECTOR > count) continue;
      if (pitch.gap == 0) {
        store_vector<VECTOR>(staged + at, vector[i]);
        continue;
      }
#pragma unroll
      for (int v = 0; v < VECTOR; v += part) {
        Vector<T, part> some;
#pragma unroll
        for (int e = 0; e < part; ++e) some.element[e] = vector[i].element[v + e];
        store_vector<part>(staged + pitch.place(at + v), some);
      }
    }
  }
  if constexpr (VECTOR > 1) {  // less than a vector
    const int at = count / VECTOR * VECTOR + static_cast<int>(threadIdx.x);
    if (at < count) staged[pitch.gap == 0 ? at : pitch.place(at)] = from[at];
  }
}

constexpr int most_singles = TILE / 4;  // which take less time one by one than as a part of a tile

// The row of one thread.
template <int PIECE>
struct Line {
  const T* from;
  int length;

  __device__ __forceinline__ void load(T (&some)[TILE], int at) const {
#pragma unroll
    for (int k = 0; k < TILE; k += PIECE) {
      const Vector<T, PIECE> piece = load_vector<PIECE>(from + at + k);
#pragma unroll
      for (int e = 0; e < PIECE; ++e) some[k + e] = piece.element[e];
    }
  }
  __device__ __forceinline__ void load_numbers(NumberOf<T> (&some)[TILE], int at) const {
    T elements[TILE];
    load(elements, at);
#pragma unroll
    for (int k = 0; k < TILE; ++k) some[k] = as_number(elements[k]);
  }
  // Elements behind the end are 0.
  __device__ __forceinline__ void load_part(T (&some)[TILE], int at) const {
#pragma unroll
    for (int k = 0; k < TILE; k += PIECE) {
      Vector<T, PIECE> piece = {};
      if (at + k < length) piece = load_vector<PIECE>(from + at + k);
#pragma unroll
      for (int e = 0; e < PIECE; ++e) some[k + e] = piece.element[e];
    }
  }

  __device__ __forceinline__ R::Output reduced(Ratios ratios) const {
    const R::Shift shift = R::shift_of(from[0]);
    typename R::Partial total = nothing<R>();
    int at = 0;
#pragma unroll 2
    for (; at + TILE <= length; at += TILE) {
      T some[TILE];
      load(some, at);
      R::template add<TILE, true>(total, some, TILE, Places<TILE, TILE>{at}, shift);
    }
    if (length - at > most_singles) {
      T some[TILE];
      load_part(some, at);
      R::template add<TILE, false>(total, some, length - at, Places<TILE, TILE>{at}, shift);
    } else {
#pragma unroll 1
      for (; at < length; ++at) {
        const T one[1] = {from[at]};
        R::template add<1, true>(total, one, 1, Places<1, 1>{at}, shift);
      }
    }
    return R::output(total, shift, length, ratios);
  }

  // Finds the extreme and the first tile that has it, and then its place there. The last tile may begin
  // within the tile before it; the elements that both have are no better. Behind rows shorter than a tile it
  // reads elements that do not count.
  __device__ __forceinline__ long long place() const {
    using Place = PlaceReduction<NumberOf<T>, function == Function::argmax>;
    using Value = Place::Value;
    NumberOf<T> best = Value::none();
    int first = 0;
    NumberOf<T> some[TILE];
    if (length < TILE) {
#pragma unroll 1
      for (int at = 0; at < length; ++at) best = Value::merge(best, as_number(from[at]));
    } else {
#pragma unroll 2
      for (int at = 0; at < length; at += TILE) {
        const int tile = at + TILE <= length ? at : length - TILE;
        load_numbers(some, tile);
        const NumberOf<T> its = tree<Value, TILE>(some);
        if (Place::is_better(its, best)) first = tile;
        best = Value::merge(best, its);
      }
    }
    load_numbers(some, first);
    return first + place_in_tile(some, best);
  }
};

template <int PIECE>
__device__ __forceinline__ void reduce_block(T* staged, const T* x, R::Output* y, long long outer, int length,
                                             Ratios ratios) {
  const Pitch<PIECE> pitch(length);
  const long long first = static_cast<long long>(blockIdx.x) * BLOCK;
  const int rows = outer - first < BLOCK ? static_cast<int>(outer - first) : BLOCK;
  stage<PIECE>(staged, x + first * length, rows * length, pitch);
  __syncthreads();
  const int row = static_cast<int>(threadIdx.x);
  if (row >= rows) return;
  const Line<PIECE> line = {staged + row * (length + pitch.gap), length};
  if constexpr (finds_places) {
    y[first + row] = line.place();
  } else {
    y[first + row] = line.reduced(ratios);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_staged)(const T* x, R::Output* y, long long outer, int length, double mean_ratio,
                         double variance_ratio) {
  DYNAMIC_SHARED(T, staged);
  start();
  const Ratios ratios = {mean_ratio, variance_ratio};
  if (sizeof(T) <= 4 && length % 4 == 0) {
    reduce_block<4>(staged, x, y, outer, length, ratios);
  } else if (length % 2 == 0) {
    reduce_block<2>(staged, x, y, outer, length, ratios);
  } else {
    reduce_block<1>(staged, x, y, outer, length, ratios);
  }
}
