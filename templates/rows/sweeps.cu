// rows with a block per row, which reads it once for each pass and once for the results: for rows of any
// length. What is computed, the arrays' kinds and the element type are compiled in.

#include "common/hinted_access.cuh"
#include "common/vector.cuh"
#include "rows/row.cuh"

constexpr Hint load_hint = LOAD == Load::streaming     ? Hint::streaming
                           : LOAD == Load::no_allocate ? Hint::no_allocate
                                                       : Hint::none;
constexpr Hint store_hint = STORE == Store::streaming ? Hint::streaming : Hint::none;
#include "rows/held.inl"

constexpr int resident_blocks = RESIDENT_WARPS * 32 > BLOCK ? RESIDENT_WARPS * 32 / BLOCK : 1;
using Tile = Held<ITEMS, BLOCK, true>;
constexpr int tile_vectors = BLOCK * ITEMS;
constexpr int warps = BLOCK / 32;

// Every second pass goes backwards: what the one before read last may still be in the caches.
template <int PASS>
__device__ __forceinline__ int vector_of(int tile, int tiles) {
  return (PASS % 2 == 0 ? tile : tiles - 1 - tile) * tile_vectors + static_cast<int>(threadIdx.x);
}

template <int PASS>
__device__ __forceinline__ void sweep(const Place& place, Row& row, int tiles,
                                      Compute (&shared)[2][1][MOST][warps]) {
  if constexpr (PASS < PASSES) {
    Compute total[1][Pass<PASS>::count];
    Pass<PASS>::none(total[0]);
    for (int tile = 0; tile < tiles; ++tile) {
      const int first = vector_of<PASS>(tile, tiles);
      Tile held;
      held.template load<MATRICES | EARLY>(place, first);
      held.template reduce<PASS, false>(row, first, place.shift, place.columns, total[0]);
    }
    reduce_lanes<PASS, 32, 1>(total);
    reduce_warps<PASS, warps, 1, warps>(total, static_cast<int>(threadIdx.x) / 32, shared[PASS % 2]);
    Pass<PASS>::finish(row, total[0]);
    sweep<PASS + 1>(place, row, tiles, shared);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, resident_blocks) ENTRY(rows_sweeps)(ROWS_PARAMETERS) {
  __shared__ Compute shared[2][1][MOST][warps];
  ROWS_ARRAYS;
  const Place place = place_of(blockIdx.x, inputs, outputs, strides, static_cast<int>(columns));
  Row row = row_of(place);
  const int vectors = (place.shift + place.columns + VECTOR - 1) / VECTOR;
  const int tiles = (vectors + tile_vectors - 1) / tile_vectors;
  sweep<0>(place, row, tiles, shared);
  if constexpr (WIDE != 0) {
    for (int tile = 0; tile < tiles; ++tile) {
      const int first = vector_of<PASSES>(tile, tiles);
      Tile held;
      held.template load<MATRICES | PER_COLUMN>(place, first);
#pragma unroll
      for (int item = 0; item < ITEMS; ++item) held.store_item(place, row, first, item);
    }
  }
  if (threadIdx.x == 0) store_row(place, row);
}
