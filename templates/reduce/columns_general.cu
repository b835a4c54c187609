// SPDX-License-Identifier: Apache-2.0
// reduce across rows by any reduction of general.cuh: a thread holds the totals of VECTOR neighbouring
// columns, a block's threads lie side by side along the columns and BLOCK_Y deep along the length, and blocks
// may share the length. The element type, the function and the type of sums are compiled in.

#include "common/overlap.inl"
#include "reduce/general.cuh"

using R = General<static_cast<int>(function), T, wide, SHORT_PLACES != 0>;
using Partial = R::Partial;

static_assert(!overlapped || (LOAD != Load::bypass && LOAD != Load::wide),
              "these hints load by the read-only path");

#include "reduce/columns_totals.inl"

struct Shifts {
  R::Shift of[VECTOR];
};

__device__ __forceinline__ Shifts shifts_of(const T* first, long long length) {
  Shifts shifts;
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) shifts.of[v] = R::shift(first + v, length);
  return shifts;
}

struct Rows {
  Vector<T, VECTOR> row[ITEMS];
};

// Loads ITEMS rows, BLOCK_Y rows apart; unless `all`, only those before row `count` exist. How many there
// are.
template <bool all>
__device__ __forceinline__ int load_rows(Rows& rows, const T* from, long long stride, long long count) {
  int there = 0;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    if constexpr (!all) rows.row[i] = {};
    if (all || i * BLOCK_Y < count) {
      rows.row[i] = load_once<static_cast<int>(LOAD), VECTOR>(from + i * BLOCK_Y * stride);
      there = i + 1;
    }
  }
  return there;
}

// Adds them; the first is row `first`.
template <bool all>
__device__ __forceinline__ void add_rows(Totals& totals, const Rows& rows, int there, long long first,
                                         const Shifts& shifts) {
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) {
    T column[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) column[i] = rows.row[i].element[v];
    R::template add<ITEMS, all>(totals.of[v], column, there, Places<1, BLOCK_Y>{first}, shifts.of[v]);
  }
}

#include "reduce/columns_across.inl"

__device__ __forceinline__ void write(R::Output* y, const Totals& totals, const Shifts& shifts,
                                      long long length, Ratios ratios) {
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) y[v] = R::output(totals.of[v], shifts.of[v], length, ratios);
}

// Adds up the partials that `splits` blocks stored for a block's columns.
__device__ __forceinline__ void finish(R::Output* y, const Partial* kept, Partial* shared,
                                       const Shifts& shifts, unsigned outer, long long column,
                                       long long inner, long long length, int splits, Ratios ratios) {
  Totals totals = no_totals();
  if (column < inner) {
    const Partial* const own = kept + static_cast<long long>(outer) * splits * inner + column;
    int s = static_cast<int>(threadIdx.y);
    if constexpr (SHORT_PLACES != 0) {
      // Eight loads are under way before the first is added; the compiler keeps fewer of a loop's.
      constexpr int together = 8 / VECTOR;
#pragma unroll 1
      for (; s < splits; s += together * BLOCK_Y) {
        Totals some[together];  // those behind the last are loaded, and not added
#pragma unroll
        for (int k = 0; k < together; ++k) {
          const int at = s + k * BLOCK_Y < splits ? s + k * BLOCK_Y : splits - 1;
#pragma unroll
          for (int v = 0; v < VECTOR; ++v) some[k].of[v] = load_once<0, 1>(own + at * inner + v).element[0];
        }
#pragma unroll
        for (int k = 0; k < together; ++k) {
#pragma unroll
          for (int v = 0; v < VECTOR; ++v) {
            const Partial sum = R::combine(totals.of[v], some[k].of[v]);
            if (s + k * BLOCK_Y < splits) totals.of[v] = sum;
          }
        }
      }
    } else {
#pragma unroll 4
      for (; s < splits; s += BLOCK_Y) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) totals.of[v] = R::combine(totals.of[v], own[s * inner + v]);
      }
    }
  }
  add_across(totals, shared);
  if (threadIdx.y == 0 && column < inner) write(y + outer * inner + column, totals, shifts, length, ratios);
}

constexpr int shared_partials = BLOCK_Y > 1 ? BLOCK_X* BLOCK_Y* VECTOR : 1;

// The grid's x is outer x tiles of columns, its y the blocks that share a length, `rows` rows each.
// `counters` (FINISH=last), one per tile, are zero before and after; `kept` is [outer, split, inner].
extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    ENTRY(reduce_columns)(const T* x, R::Output* y, void* counters, void* kept, int tiles, long long length,
                          long long inner, long long outer_stride, long long stride, long long rows,
                          double mean_ratio, double variance_ratio) {
  __shared__ Partial shared[shared_partials];
  __shared__ bool last;
  start();
  const unsigned outer = blockIdx.x / static_cast<unsigned>(tiles);
  const unsigned tile = blockIdx.x % static_cast<unsigned>(tiles);
  const long long column = static_cast<long long>(tile) * columns + threadIdx.x * VECTOR;
  const int splits = static_cast<int>(gridDim.y);

  Totals totals = no_totals();
  Shifts shifts = {};
  if (column < inner) {
    const T* from = x + outer * outer_stride + column;
    shifts = shifts_of(from, length);
    long long row = blockIdx.y * rows + threadIdx.y;
    const long long end = length < (blockIdx.y + 1) * rows ? length : (blockIdx.y + 1) * rows;
    from += row * stride;
    Rows rows;
    bool whole = row + (ITEMS - 1) * BLOCK_Y < end;
    if (whole) load_rows<true>(rows, from, stride, ITEMS * BLOCK_Y);
    while (whole) {
      add_rows<true>(totals, rows, ITEMS, row, shifts);
      row += ITEMS * BLOCK_Y;
      from += ITEMS * BLOCK_Y * stride;
      whole = row + (ITEMS - 1) * BLOCK_Y < end;
      if (whole) load_rows<true>(rows, from, stride, ITEMS * BLOCK_Y);
    }
    if (row < end) {
      const int there = load_rows<false>(rows, from, stride, end - row);
      add_rows<false>(totals, rows, there, row, shifts);
    }
  }
  add_across(totals, shared);

  const bool writes = threadIdx.y == 0 && column < inner;
  if (splits == 1) {
    if (writes) write(y + outer * inner + column, totals, shifts, length, Ratios{mean_ratio, variance_ratio});
    return;
  }
  Partial* const partials = static_cast<Partial*>(kept);
  if (writes) {
    Partial* const own = partials + (static_cast<long long>(outer) * splits + blockIdx.y) * inner + column;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) own[v] = totals.of[v];
  }
  if constexpr (FINISH == Finish::last) {
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0)
      last = last_of(static_cast<unsigned*>(counters) + blockIdx.x, gridDim.y);
    __syncthreads();
    if (last)
      finish(y, partials, shared, shifts, outer, column, inner, length, splits,
             Ratios{mean_ratio, variance_ratio});
  }
}

// FINISH=launch: adds up the blocks' partials; the grid is outer x tiles.
extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    ENTRY(reduce_columns_kept)(const T* x, R::Output* y, const void* kept, int tiles, long long length,
                               long long inner, long long outer_stride, int splits, double mean_ratio,
                               double variance_ratio) {
  __shared__ Partial shared[shared_partials];
  start();
  const unsigned outer = blockIdx.x / static_cast<unsigned>(tiles);
  const unsigned tile = blockIdx.x % static_cast<unsigned>(tiles);
  const long long column = static_cast<long long>(tile) * columns + threadIdx.x * VECTOR;
  Shifts shifts = {};
  if (column < inner) shifts = shifts_of(x + outer * outer_stride + column, length);
  finish(y, static_cast<const Partial*>(kept), shared, shifts, outer, column, inner, length, splits,
         Ratios{mean_ratio, variance_ratio});
}
