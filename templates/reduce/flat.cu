// SPDX-License-Identifier: Apache-2.0
// reduce/flat: any reduction of the columns of a matrix without gaps. A block's threads lie side by side in
// memory, whatever the number of columns, and there are just so many that each meets the same columns in
// every round. So all lanes work and all loads are vectors, even where the columns are few or odd.

#include "common/overlap.inl"
#include "common/shared.cuh"
#include "reduce/chosen.inl"
#include "reduce/reductions.cuh"

// Like Places, with a step that is no constant.
struct RowsOf {
  long long first;
  int step;
  __device__ __forceinline__ long long of(int k) const { return first + k * step; }
  __device__ __forceinline__ unsigned short_of(int k) const {
    return static_cast<unsigned>(first) + static_cast<unsigned>(k * step);
  }
};

struct Totals {
  Partial of[VECTOR];
};

// A thread's share of every round: VECTOR neighbours, in these rows of the round.
struct Own {
  int row[VECTOR];
  R::Shift shift[VECTOR];
};

// The vectors of ITEMS rounds.
struct Rounds {
  Vector<T, VECTOR> of[ITEMS];
};

template <bool all>
__device__ __forceinline__ void add(Totals& totals, const Rounds& rounds, int there, const Own& own,
                                    long long first_row, int step) {
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) {
    T column[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) column[i] = rounds.of[i].element[v];
    R::template add<ITEMS, all>(totals.of[v], column, there, RowsOf{first_row + own.row[v], step},
                                own.shift[v]);
  }
}

// Combines the rows [0, n) of `slots`, of `inner` columns, into the first; all threads call it.
__device__ __forceinline__ void fold_rows(Partial* slots, int n, int inner) {
  __syncthreads();
  while (n > 1) {
    const int half = (n + 1) / 2;
    for (int i = static_cast<int>(threadIdx.x); i < (n - half) * inner; i += static_cast<int>(blockDim.x))
      slots[i] = R::combine(slots[i], slots[i + half * inner]);
    __syncthreads();
    n = half;
  }
}

__device__ __forceinline__ void write(R::Output* y, const T* x, const Partial* slots, int inner,
                                      long long length, Ratios ratios) {
  const int column = static_cast<int>(threadIdx.x);
  if (column < inner) y[column] = R::output(slots[column], R::shift(x + column, length), length, ratios);
}

// Adds up the partials that `blocks` blocks kept.
__device__ __forceinline__ void finish(R::Output* y, const T* x, const Partial* kept, Partial* slots,
                                       int blocks, int inner, long long length, Ratios ratios) {
  const int groups = static_cast<int>(blockDim.x) / inner;
  const int group = static_cast<int>(threadIdx.x) / inner;
  const int column = static_cast<int>(threadIdx.x) % inner;
  if (group < groups) {
    Partial total = nothing<R>();
#pragma unroll 4
    for (int block = group; block < blocks; block += groups)
      total = R::combine(total, kept[static_cast<long long>(block) * inner + column]);
    slots[threadIdx.x] = total;
  }
  fold_rows(slots, groups, inner);
  write(y, x, slots, inner, length, ratios);
}

// A round has as many elements as a block has threads times VECTOR, a multiple of `inner`. A tile is ITEMS
// rounds; there are `tiles` whole tiles. `counter` (FINISH=last) is zero before and after the launch; `kept`
// is [block, inner].
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_flat)(const T* x, R::Output* y, void* counter, void* kept, long long length, int inner,
                       long long tiles, double mean_ratio, double variance_ratio) {
  DYNAMIC_SHARED(Partial, slots);
  __shared__ bool last;
  start();
  const Ratios ratios = {mean_ratio, variance_ratio};
  const int round = static_cast<int>(blockDim.x) * VECTOR;
  const int rows = round / inner;  // of a round
  const int place = static_cast<int>(threadIdx.x) * VECTOR;
  Own own;
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) {
    own.row[v] = (place + v) / inner;
    own.shift[v] = R::shift(x + (place + v) % inner, length);
  }
  Totals totals;
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) totals.of[v] = nothing<R>();

  constexpr int hint = static_cast<int>(LOAD);
  const T* const from = x + place;
  const long long per_tile = static_cast<long long>(round) * ITEMS;
  Rounds rounds;
  long long tile = blockIdx.x;
  if (tile < tiles) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
      rounds.of[i] = load_once<hint, VECTOR>(from + tile * per_tile + i * round);
  }
  while (tile < tiles) {
    add<true>(totals, rounds, ITEMS, own, tile * ITEMS * rows, rows);
    tile += gridDim.x;
    if (tile < tiles) {
#pragma unroll
      for (int i = 0; i < ITEMS; ++i)
        rounds.of[i] = load_once<hint, VECTOR>(from + tile * per_tile + i * round);
    }
  }
  if (tile == tiles) {                                                // one block has the rest
    const long long rest = length * inner - tile * per_tile - place;  // from this thread's first element on
    int there = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      rounds.of[i] = {};
      if (static_cast<long long>(i) * round + VECTOR <= rest) {
        rounds.of[i] = load_once<hint, VECTOR>(from + tile * per_tile + i * round);
        there = i + 1;
      }
    }
    add<false>(totals, rounds, there, own, tile * ITEMS * rows, rows);
    if constexpr (VECTOR > 1) {  // less than a vector
#pragma unroll
      for (int v = 0; v < VECTOR - 1; ++v) {
        if (static_cast<long long>(there) * round + v >= rest) continue;
        const T one[1] = {from[tile * per_tile + there * round + v]};
        R::template add<1, true>(totals.of[v], one, 1,
                                 RowsOf{(tile * ITEMS + there) * rows + own.row[v], rows}, own.shift[v]);
      }
    }
  }
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) slots[place + v] = totals.of[v];
  fold_rows(slots, rows, inner);

  const int blocks = static_cast<int>(gridDim.x);
  if (blocks == 1) return write(y, x, slots, inner, length, ratios);
  Partial* const partials = static_cast<Partial*>(kept);
  if (static_cast<int>(threadIdx.x) < inner)
    partials[static_cast<long long>(blockIdx.x) * inner + threadIdx.x] = slots[threadIdx.x];
  if constexpr (FINISH == Finish::last) {
    __syncthreads();
    if (threadIdx.x == 0) last = last_of(static_cast<unsigned*>(counter), gridDim.x);
    __syncthreads();
    if (last) finish(y, x, partials, slots, blocks, inner, length, ratios);
  }
}

// FINISH=launch: one block adds up the partials that the others kept.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_flat_kept)(const T* x, R::Output* y, const void* kept, long long length, int inner,
                            int blocks, double mean_ratio, double variance_ratio) {
  DYNAMIC_SHARED(Partial, slots);
  start();
  finish(y, x, static_cast<const Partial*>(kept), slots, blocks, inner, length,
         Ratios{mean_ratio, variance_ratio});
}
