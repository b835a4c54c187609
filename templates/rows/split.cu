// SPDX-License-Identifier: Apache-2.0
// rows/split: PARTS blocks share a row; for few long rows. Each pass over the row is a launch, and so are the
// results. A block of a later launch combines the totals that the parts of its row have left in the
// workspace. The expression, the arrays' kinds and the element type are compiled in.

#include "common/hinted_access.cuh"
#include "common/resident_blocks.cuh"
#include "common/vector.cuh"
#include "rows/row.cuh"

constexpr Hint load_hint = LOAD == Load::streaming     ? Hint::streaming
                           : LOAD == Load::no_allocate ? Hint::no_allocate
                                                       : Hint::none;
constexpr Hint store_hint = STORE == Store::streaming ? Hint::streaming : Hint::none;
#include "common/overlap.inl"
#include "rows/held.inl"

using Tile = Held<ITEMS, BLOCK, true>;
constexpr int tile_vectors = BLOCK * ITEMS;
constexpr int warps = BLOCK / 32;

// A block's part of its row: every PARTS-th tile, from tile number `part` on.
struct Part {
  int part, tiles;
  Compute* totals;  // of the row: in each pass, for each reduction, PARTS of them

  __device__ __forceinline__ Compute& total(int pass, int reduction, int of) const {
    return totals[(pass * MOST + reduction) * PARTS + of];
  }
  __device__ __forceinline__ int first(int tile) const {
    return tile * tile_vectors + static_cast<int>(threadIdx.x);
  }
};

template <int PASS>
__device__ __forceinline__ void reduce_block(Compute (&total)[1][Pass<PASS>::count],
                                             Compute (&shared)[2][1][MOST][warps]) {
  reduce_lanes<PASS, 32, 1>(total);
  reduce_warps<PASS, warps, 1, warps>(total, static_cast<int>(threadIdx.x) / 32, shared[PASS % 2]);
}

// Combines the totals of the passes before `pass`, and then makes this pass over the part, or its results.
template <int PASS>
__device__ __forceinline__ void continue_row(const Place& place, Row& row, const Part& part, int pass,
                                             Compute (&shared)[2][1][MOST][warps]) {
  if constexpr (PASS < PASSES) {
    using P = Pass<PASS>;
    Compute total[1][P::count];
    P::none(total[0]);
    if (PASS == pass) {
      for (int tile = part.part; tile < part.tiles; tile += PARTS) {
        Tile held;
        held.template load<MATRICES | EARLY>(place, part.first(tile));
        held.template reduce<PASS, false>(row, part.first(tile), place.shift, place.columns, total[0]);
      }
      reduce_block<PASS>(total, shared);
      if (threadIdx.x != 0) return;
#pragma unroll
      for (int r = 0; r < P::count; ++r) part.total(PASS, r, part.part) = total[0][r];
      return;
    }
    for (int of = static_cast<int>(threadIdx.x); of < PARTS; of += BLOCK) {
      Compute other[P::count];
#pragma unroll
      for (int r = 0; r < P::count; ++r) other[r] = part.total(PASS, r, of);
      P::combine(total[0], other);
    }
    reduce_block<PASS>(total, shared);
    P::finish(row, total[0]);
    continue_row<PASS + 1>(place, row, part, pass, shared);
  } else {
    if constexpr (WIDE != 0) {
      for (int tile = part.part; tile < part.tiles; tile += PARTS) {
        Tile held;
        held.template load<MATRICES | PER_COLUMN>(place, part.first(tile));
#pragma unroll
        for (int item = 0; item < ITEMS; ++item) held.store_item(place, row, part.first(tile), item);
      }
    }
    if (part.part == 0 && threadIdx.x == 0) store_row(place, row);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, resident_blocks(RESIDENT_WARPS, BLOCK))
    ENTRY(rows_split)(ROWS_PARAMETERS_OF(InputPointer<T>, InOutPointer<T>), Compute* totals, int pass) {
  __shared__ Compute shared[2][1][MOST][warps];
  ROWS_ARRAYS;
  const long long number = blockIdx.x / PARTS;
  const Place place = place_of(number, inputs, outputs, strides, rows, static_cast<int>(columns));
  const int vectors = (place.shift + place.columns + VECTOR - 1) / VECTOR;
  constexpr long long totals_of_row = static_cast<long long>(PASSES) * MOST * PARTS;
  const Part part = {static_cast<int>(blockIdx.x % PARTS), (vectors + tile_vectors - 1) / tile_vectors,
                     totals + number * totals_of_row};
  start();
  Row row = row_of(place);
  continue_row<0>(place, row, part, pass, shared);
}
