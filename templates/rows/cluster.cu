// SPDX-License-Identifier: Apache-2.0
// rows/cluster: a row is in the registers of a cluster of blocks, which send each other their totals. For
// rows that no single block holds. The expression, the arrays' kinds and the element type are compiled in.

#include "common/cluster.cuh"
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
using ClusterHeld = Held<ITEMS, BLOCK * CLUSTER, false>;
constexpr int warps = BLOCK / 32;

// `totals` has a place for each block, in each pass. The first wait makes sure that the blocks have started.
template <int PASS>
__device__ __forceinline__ void reduce_row(const ClusterHeld& held, const Place& place, Row& row, int rank,
                                           int vector, Compute (&shared)[2][1][MOST][warps],
                                           Compute (&totals)[PASSES + 1][MOST][CLUSTER]) {
  if constexpr (PASS < PASSES) {
    using P = Pass<PASS>;
    Compute total[1][P::count];
    held.template reduce<PASS, true>(row, vector, place.shift, place.columns, total[0]);
    reduce_lanes<PASS, 32, 1>(total);
    reduce_warps<PASS, warps, 1, warps>(total, static_cast<int>(threadIdx.x) / 32, shared[PASS % 2]);
    if constexpr (PASS == 0) wait_for_cluster();
    if (threadIdx.x < CLUSTER) {
#pragma unroll
      for (int r = 0; r < P::count; ++r)
        send_to_block(&totals[PASS][r][rank], static_cast<int>(threadIdx.x), total[0][r]);
    }
    arrive_in_cluster();
    wait_for_cluster();
    Compute part[CLUSTER][P::count];
#pragma unroll
    for (int b = 0; b < CLUSTER; ++b)
#pragma unroll
      for (int r = 0; r < P::count; ++r) part[b][r] = totals[PASS][r][b];
#pragma unroll
    for (int by = 1; by < CLUSTER; by *= 2)
#pragma unroll
      for (int b = 0; b + by < CLUSTER; b += 2 * by) P::combine(part[b], part[b + by]);
    P::finish(row, part[0]);
    reduce_row<PASS + 1>(held, place, row, rank, vector, shared, totals);
  }
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1)
    __launch_bounds__(BLOCK, resident_blocks(RESIDENT_WARPS, BLOCK))
        ENTRY(rows_cluster)(ROWS_PARAMETERS_OF(InputPointer<T>, InOutPointer<T>)) {
  __shared__ Compute shared[2][1][MOST][warps];
  __shared__ Compute totals[PASSES + 1][MOST][CLUSTER];
  if constexpr (PASSES > 0) arrive_in_cluster();
  ROWS_ARRAYS;
  const int rank = static_cast<int>(blockIdx.x) % CLUSTER;
  const int vector = rank * BLOCK + static_cast<int>(threadIdx.x);
  const Place place = place_of(static_cast<long long>(blockIdx.x / CLUSTER), inputs, outputs, strides, rows,
                               static_cast<int>(columns));
  start();
  ClusterHeld held;
  held.template load<FIRST>(place, vector);
  Row row = row_of(place);
  reduce_row<0>(held, place, row, rank, vector, shared, totals);
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    held.template load_item<(MATRICES | PER_COLUMN) & ~FIRST>(place, vector, item);
    held.store_item(place, row, vector, item);
  }
  if (vector == 0) store_row(place, row);
}
