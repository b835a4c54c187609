// SPDX-License-Identifier: Apache-2.0
// rows/sweeps: a block per row, which reads the row once for each pass and once for the results; for rows of
// any length. Tiles that fit stay in shared memory after the first pass. The expression, the arrays' kinds
// and the element type are compiled in.

#include "common/hinted_access.cuh"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/vector.cuh"
#include "rows/row.cuh"

constexpr Hint load_hint = LOAD == Load::streaming     ? Hint::streaming
                           : LOAD == Load::no_allocate ? Hint::no_allocate
                                                       : Hint::none;
constexpr Hint store_hint = STORE == Store::streaming ? Hint::streaming : Hint::none;
#include "rows/held.inl"

using Tile = Held<ITEMS, BLOCK, true>;
constexpr int tile_vectors = BLOCK * ITEMS;
constexpr int warps = BLOCK / 32;
constexpr bool keeps = KEEP == Keep::shared;

__device__ __forceinline__ constexpr int ones(int mask) {
  int count = 0;
  for (; mask != 0; mask &= mask - 1) ++count;
  return count;
}

// The row's first `tiles` tiles; each thread has its own vectors there, so that none waits for another.
struct Kept {
  Loaded* vectors;
  int tiles;

  __device__ __forceinline__ Loaded& at(int tile, int k, int item) const {
    const int array = tile * ones(MATRICES) + ones(MATRICES & ((1 << k) - 1));
    return vectors[(array * ITEMS + item) * BLOCK + static_cast<int>(threadIdx.x)];
  }
};

template <int PASS, int MASK>
__device__ __forceinline__ void load_tile(Tile& held, const Place& place, int first, int tile,
                                          const Kept& kept) {
  const bool is_kept = keeps && tile < kept.tiles;
  if (PASS > 0 && is_kept) {
    held.template load<MASK & ~MATRICES>(place, first);
  } else {
    held.template load<MASK>(place, first);
  }
  if (!is_kept) return;
#pragma unroll
  for (int k = 0; k < INPUTS; ++k) {
    if (!has(MATRICES, k)) continue;
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      if (PASS > 0) {
        held.vector[k][item] = kept.at(tile, k, item);
      } else {
        kept.at(tile, k, item) = held.vector[k][item];
      }
    }
  }
}

// Every second pass goes backwards: the elements that the pass before it read last may still be in the
// caches.
template <int PASS>
__device__ __forceinline__ int tile_of(int step, int tiles) {
  return PASS % 2 == 0 ? step : tiles - 1 - step;
}

template <int PASS>
__device__ __forceinline__ void sweep(const Place& place, Row& row, int tiles, const Kept& kept,
                                      Compute (&shared)[2][1][MOST][warps]) {
  if constexpr (PASS < PASSES) {
    Compute total[1][Pass<PASS>::count];
    Pass<PASS>::none(total[0]);
    for (int step = 0; step < tiles; ++step) {
      const int tile = tile_of<PASS>(step, tiles);
      const int first = tile * tile_vectors + static_cast<int>(threadIdx.x);
      Tile held;
      load_tile<PASS, MATRICES | EARLY>(held, place, first, tile, kept);
      held.template reduce<PASS, false>(row, first, place.shift, place.columns, total[0]);
    }
    reduce_lanes<PASS, 32, 1>(total);
    reduce_warps<PASS, warps, 1, warps>(total, static_cast<int>(threadIdx.x) / 32, shared[PASS % 2]);
    Pass<PASS>::finish(row, total[0]);
    sweep<PASS + 1>(place, row, tiles, kept, shared);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, resident_blocks(RESIDENT_WARPS, BLOCK))
    ENTRY(rows_sweeps)(ROWS_PARAMETERS, int kept_tiles) {
  DYNAMIC_SHARED(Loaded, kept_vectors);
  const Kept kept = {kept_vectors, kept_tiles};
  __shared__ Compute shared[2][1][MOST][warps];
  ROWS_ARRAYS;
  const Place place = place_of(blockIdx.x, inputs, outputs, strides, rows, static_cast<int>(columns));
  Row row = row_of(place);
  const int vectors = (place.shift + place.columns + VECTOR - 1) / VECTOR;
  const int tiles = (vectors + tile_vectors - 1) / tile_vectors;
  sweep<0>(place, row, tiles, kept, shared);
  if constexpr (WIDE != 0) {
    for (int step = 0; step < tiles; ++step) {
      const int tile = tile_of<PASSES>(step, tiles);
      const int first = tile * tile_vectors + static_cast<int>(threadIdx.x);
      Tile held;
      load_tile<PASSES, MATRICES | PER_COLUMN>(held, place, first, tile, kept);
#pragma unroll
      for (int item = 0; item < ITEMS; ++item) held.store_item(place, row, first, item);
    }
  }
  if (threadIdx.x == 0) store_row(place, row);
}
