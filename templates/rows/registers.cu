// SPDX-License-Identifier: Apache-2.0
// rows/registers: a row is in the registers of a team of threads, so that each element is read once. The
// expression, the arrays' kinds and the element type are compiled in.

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

// The arrays that are loaded before the reductions. An overlapped kernel is short, and its loads cannot pass
// its stores.
constexpr int FIRST = MATRICES | (overlapped ? PER_COLUMN : EARLY);
constexpr int BLOCK = TEAM * TEAMS;
constexpr int width = TEAM < 32 ? TEAM : 32;  // lanes of a team
constexpr int warps = TEAM / width;           // of a team
using TeamHeld = Held<ITEMS, TEAM, false>;
constexpr int block_warps = warps > 1 ? BLOCK / 32 : 1;

template <int PASS>
__device__ __forceinline__ void reduce_rows(const TeamHeld (&held)[ROWS], const Place (&place)[ROWS],
                                            Row (&row)[ROWS], int thread,
                                            Compute (&shared)[2][ROWS][MOST][block_warps]) {
  if constexpr (PASS < PASSES) {
    Compute total[ROWS][Pass<PASS>::count];
#pragma unroll
    for (int n = 0; n < ROWS; ++n)
      held[n].template reduce<PASS, true>(row[n], thread, place[n].shift, place[n].columns, total[n]);
    reduce_lanes<PASS, width, ROWS>(total);
    // The next pass's totals have another place, since a slower warp may still read these.
    if constexpr (warps > 1)
      reduce_warps<PASS, warps, ROWS, block_warps>(total, static_cast<int>(threadIdx.x) / 32,
                                                   shared[PASS % 2]);
#pragma unroll
    for (int n = 0; n < ROWS; ++n) Pass<PASS>::finish(row[n], total[n]);
    reduce_rows<PASS + 1>(held, place, row, thread, shared);
  }
}

// A team works on ROWS rows at once, which are TEAMS apart.
extern "C" __global__ void __launch_bounds__(BLOCK, resident_blocks(RESIDENT_WARPS, BLOCK))
    ENTRY(rows_registers)(ROWS_PARAMETERS_OF(InputPointer<T>, InOutPointer<T>)) {
  __shared__ Compute shared[2][ROWS][MOST][block_warps];
  ROWS_ARRAYS;
  const int thread = static_cast<int>(threadIdx.x) % TEAM;
  const long long first =
      static_cast<long long>(blockIdx.x) * ROWS * TEAMS + static_cast<int>(threadIdx.x) / TEAM;
  Place place[ROWS];
  TeamHeld held[ROWS];
  Row row[ROWS];
#pragma unroll
  for (int n = 0; n < ROWS; ++n) {
    const long long at = first + n * TEAMS;  // behind the last row it is read once more
    place[n] = place_of(at < rows ? at : rows - 1, inputs, outputs, strides, rows, static_cast<int>(columns));
  }
  start();
#pragma unroll
  for (int n = 0; n < ROWS; ++n) held[n].template load<FIRST>(place[n], thread);
#pragma unroll
  for (int n = 0; n < ROWS; ++n) row[n] = row_of(place[n]);
  reduce_rows<0>(held, place, row, thread, shared);
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
#pragma unroll
    for (int n = 0; n < ROWS; ++n) {
      held[n].template load_item<(MATRICES | PER_COLUMN) & ~FIRST>(place[n], thread, item);
      if (first + n * TEAMS < rows) held[n].store_item(place[n], row[n], thread, item);
    }
  }
#pragma unroll
  for (int n = 0; n < ROWS; ++n)
    if (thread == 0 && first + n * TEAMS < rows) store_row(place[n], row[n]);
}
