// SPDX-License-Identifier: Apache-2.0
// reduce/columns: a thread holds the totals of VECTOR neighbouring columns. A block's threads lie side by
// side along the columns and BLOCK_Y deep along the length, and blocks may share the length. The element
// type, the function, the order and the type of sums are compiled in.

#include "common/overlap.inl"
#include "reduce/chosen.inl"
#include "reduce/columns_totals.inl"
#include "reduce/reductions.cuh"

struct Shifts {
  R::Shift of[VECTOR];
};

__device__ __forceinline__ Shifts shifts_of(const T* first, long long length) {
  Shifts shifts;
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) shifts.of[v] = R::shift(first + v, length);
  return shifts;
}

// Adds ITEMS rows, BLOCK_Y rows apart; unless `all`, only those before row `count` exist.
template <bool all, typename Fold>
__device__ __forceinline__ void fold_rows(Totals& totals, const T* from, long long stride, long long count) {
  Vector<T, VECTOR> rows[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    if (all || i * BLOCK_Y < count)
      rows[i] = load_once<static_cast<int>(LOAD), VECTOR>(from + i * BLOCK_Y * stride);
  }
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) {
    typename Fold::Item items[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
      items[i] = all || i * BLOCK_Y < count ? Fold::item(rows[i].element[v]) : Fold::none();
    totals.of[v] = Fold::combine(totals.of[v], Fold::lift(tree<Fold, ITEMS>(items)));
  }
}

// The rows for any reduction, which are loaded first and added then.
struct Rows {
  Vector<T, VECTOR> row[ITEMS];
};

// Loads ITEMS rows, BLOCK_Y rows apart; unless `all`, only those before row `count` exist. Returns how many
// exist.
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

// Adds the loaded rows; the first one is row `first`.
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
    if constexpr (SHORT_PLACES != 0) {
      const Partial* const own = kept + static_cast<long long>(outer) * splits * inner + column;
      // Eight loads are under way before the first is added; the compiler keeps fewer loads of a loop under
      // way.
      constexpr int together = 8 / VECTOR;
#pragma unroll 1
      for (int s = static_cast<int>(threadIdx.y); s < splits; s += together * BLOCK_Y) {
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
      for (int s = static_cast<int>(threadIdx.y); s < splits; s += BLOCK_Y) {
        const Partial* from = kept + (static_cast<long long>(outer) * splits + s) * inner + column;
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) totals.of[v] = R::combine(totals.of[v], from[v]);
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
                          long long inner, long long outer_stride, long long stride,
                          long long rows ONLY_FOR_MOMENTS(, double mean_ratio, double variance_ratio)) {
  __shared__ Partial shared[shared_partials];
  __shared__ bool last;
  start();
  const unsigned outer = blockIdx.x / static_cast<unsigned>(tiles);
  const unsigned tile = blockIdx.x % static_cast<unsigned>(tiles);
  const long long column = static_cast<long long>(tile) * columns + threadIdx.x * VECTOR;
  const int splits = static_cast<int>(gridDim.y);

  const Ratios ratios = {ONLY_FOR_MOMENTS(mean_ratio, variance_ratio)};

  Totals totals = no_totals();
  Shifts shifts = {};
  if (column < inner) {
    constexpr int depth = ITEMS * BLOCK_Y;
    long long row = blockIdx.y * rows + threadIdx.y;
    const long long end = length < (blockIdx.y + 1) * rows ? length : (blockIdx.y + 1) * rows;
    if constexpr (R::is_fold) {
      long long left = end - row;
      const T* from = x + outer * outer_stride + row * stride + column;
      for (; left > (ITEMS - 1) * BLOCK_Y; left -= depth) {
        fold_rows<true, R>(totals, from, stride, left);
        from += depth * stride;
      }
      if (left > 0) fold_rows<false, R>(totals, from, stride, left);
    } else {
      const T* from = x + outer * outer_stride + column;
      shifts = shifts_of(from, length);
      from += row * stride;
      Rows held;
      bool whole = row + (ITEMS - 1) * BLOCK_Y < end;
      if (whole) load_rows<true>(held, from, stride, depth);
      while (whole) {
        add_rows<true>(totals, held, ITEMS, row, shifts);
        row += depth;
        from += depth * stride;
        whole = row + (ITEMS - 1) * BLOCK_Y < end;
        if (whole) load_rows<true>(held, from, stride, depth);
      }
      if (row < end) {
        const int there = load_rows<false>(held, from, stride, end - row);
        add_rows<false>(totals, held, there, row, shifts);
      }
    }
  }
  add_across(totals, shared);

  const bool writes = threadIdx.y == 0 && column < inner;
  R::Output* const to = y + outer * inner + column;
  if (splits == 1) {
    if (writes) write(to, totals, shifts, length, ratios);
    return;
  }
  if constexpr (FINISH == Finish::atomic) {
    if (writes) {
#pragma unroll
      for (int v = 0; v < VECTOR; ++v)
        add_atomically(to + v, R::output(totals.of[v], shifts.of[v], length, ratios));
    }
  } else {
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
      if (last) finish(y, partials, shared, shifts, outer, column, inner, length, splits, ratios);
    }
  }
}

// FINISH=launch: adds up the blocks' partials; the grid is outer x tiles.
extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    ENTRY(reduce_columns_kept)(ONLY_FOR_MOMENTS(const T* x, ) R::Output* y, const void* kept, int tiles,
                               long long length, long long inner,
                               ONLY_FOR_MOMENTS(long long outer_stride, ) int splits
                                   ONLY_FOR_MOMENTS(, double mean_ratio, double variance_ratio)) {
  __shared__ Partial shared[shared_partials];
  start();
  const unsigned outer = blockIdx.x / static_cast<unsigned>(tiles);
  const unsigned tile = blockIdx.x % static_cast<unsigned>(tiles);
  const long long column = static_cast<long long>(tile) * columns + threadIdx.x * VECTOR;
  Shifts shifts = {};
  ONLY_FOR_MOMENTS(if (column < inner) shifts = shifts_of(x + outer * outer_stride + column, length);)
  finish(y, static_cast<const Partial*>(kept), shared, shifts, outer, column, inner, length, splits,
         Ratios{ONLY_FOR_MOMENTS(mean_ratio, variance_ratio)});
}
