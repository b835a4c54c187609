// SPDX-License-Identifier: Apache-2.0
// reduce across rows: a thread holds the totals of VECTOR neighbouring columns, a block's threads lie side by
// side along the columns and BLOCK_Y deep along the length, and blocks may share the length. The element
// type, the function and the order are compiled in.

#include "common/overlap.inl"
#include "reduce/reduction.cuh"

using R = Reduction<static_cast<int>(function), T>;
using Item = R::Item;
using Partial = R::Partial;

static_assert(!overlapped || (LOAD != Load::bypass && LOAD != Load::wide),
              "these hints load by the read-only path");

#include "reduce/columns_totals.inl"

// Adds ITEMS rows, BLOCK_Y rows apart; unless `all`, only those before row `count` exist.
template <bool all>
__device__ __forceinline__ void add_rows(Totals& totals, const T* from, long long stride, long long count) {
  Vector<T, VECTOR> rows[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    if (all || i * BLOCK_Y < count)
      rows[i] = load_once<static_cast<int>(LOAD), VECTOR>(from + i * BLOCK_Y * stride);
  }
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) {
    Item items[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
      items[i] = all || i * BLOCK_Y < count ? R::item(rows[i].element[v]) : R::none();
    totals.of[v] = R::combine(totals.of[v], R::lift(tree<R, ITEMS>(items)));
  }
}

#include "reduce/columns_across.inl"

__device__ __forceinline__ void write(R::Output* y, const Totals& totals, long long length) {
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) y[v] = R::output(settled(totals.of[v]), length);
}

// Adds up the partials that `splits` blocks stored for a block's columns.
__device__ __forceinline__ void finish(R::Output* y, const Partial* kept, Partial* shared, unsigned outer,
                                       long long column, long long inner, long long length, int splits) {
  Totals totals = no_totals();
  if (column < inner) {
#pragma unroll 4
    for (int s = static_cast<int>(threadIdx.y); s < splits; s += BLOCK_Y) {
      const Partial* from = kept + (static_cast<long long>(outer) * splits + s) * inner + column;
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) totals.of[v] = R::combine(totals.of[v], from[v]);
    }
  }
  add_across(totals, shared);
  if (threadIdx.y == 0 && column < inner) write(y + outer * inner + column, totals, length);
}

constexpr int shared_partials = BLOCK_Y > 1 ? BLOCK_X* BLOCK_Y* VECTOR : 1;

// The grid's x is outer x tiles of columns, its y the blocks that share a length, `rows` rows each.
// `counters` (FINISH=last), one per tile, are zero before and after; `kept` is [outer, split, inner].
extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    ENTRY(reduce_columns)(const T* x, R::Output* y, void* counters, void* kept, int tiles, long long length,
                          long long inner, long long outer_stride, long long stride, long long rows) {
  __shared__ Partial shared[shared_partials];
  __shared__ bool last;
  start();
  const unsigned outer = blockIdx.x / static_cast<unsigned>(tiles);
  const unsigned tile = blockIdx.x % static_cast<unsigned>(tiles);
  const long long column = static_cast<long long>(tile) * columns + threadIdx.x * VECTOR;
  const int splits = static_cast<int>(gridDim.y);

  Totals totals = no_totals();
  if (column < inner) {
    const long long first = blockIdx.y * rows + threadIdx.y;
    // Rows from this thread's first on.
    long long left = (length < (blockIdx.y + 1) * rows ? length : (blockIdx.y + 1) * rows) - first;
    const T* from = x + outer * outer_stride + first * stride + column;
    for (; left > (ITEMS - 1) * BLOCK_Y; left -= ITEMS * BLOCK_Y) {
      add_rows<true>(totals, from, stride, left);
      from += ITEMS * BLOCK_Y * stride;
    }
    if (left > 0) add_rows<false>(totals, from, stride, left);
  }
  add_across(totals, shared);

  const bool writes = threadIdx.y == 0 && column < inner;
  R::Output* const to = y + outer * inner + column;
  if (splits == 1) {
    if (writes) write(to, totals, length);
    return;
  }
  if constexpr (FINISH == Finish::atomic) {
    if (writes) {
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) add_atomically(to + v, R::output(settled(totals.of[v]), length));
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
      if (last) finish(y, partials, shared, outer, column, inner, length, splits);
    }
  }
}

// FINISH=launch: adds up the blocks' partials; the grid is outer x tiles.
extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    ENTRY(reduce_columns_kept)(R::Output* y, const void* kept, int tiles, long long length, long long inner,
                               int splits) {
  __shared__ Partial shared[shared_partials];
  start();
  const unsigned tile = blockIdx.x % static_cast<unsigned>(tiles);
  finish(y, static_cast<const Partial*>(kept), shared, blockIdx.x / static_cast<unsigned>(tiles),
         static_cast<long long>(tile) * columns + threadIdx.x * VECTOR, inner, length, splits);
}
