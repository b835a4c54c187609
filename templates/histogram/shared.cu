// SPDX-License-Identifier: Apache-2.0
// histogram with its counters in shared memory, in several copies. Each copy is for some lanes of every warp,
// in banks of its own, or for some warps. At its end, a block adds its counts to the output.

#include "common/overlap.inl"
#include "common/shared.cuh"
#include "histogram/bins.cuh"
#include "histogram/counters.inl"

__device__ __forceinline__ void put(unsigned cell, unsigned times, const Counters& counters,
                                    const Bins& bins) {
  if (times == 0) return;
  unsigned bin = cell;
  if constexpr (of_bytes && function == Function::histogram) bin = bin_of<double>(cell, bins);
  if (bin < bins.count) atomicAdd(counters.counts + bin, static_cast<unsigned long long>(times));
}

// `alone` tells that there is only one block, which then sets the output to zero itself. `one` is 1. A block
// has at most 2^31 elements.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(histogram_shared)(InputPointer<T> values, unsigned long long* __restrict__ counts, long long length,
                            long long stride, int bins, double lo, double step, double hi, double inverse,
                            double addend, int window, int alone, int one) {
  DYNAMIC_SHARED(unsigned, word);
  const Bins b = {static_cast<unsigned>(bins), lo, step, hi, inverse, addend, static_cast<unsigned>(window)};
  Counters counters;
  counters.word = word;
  counters.cells = of_bytes ? 256 : b.count;
  counters.rows = packed ? (counters.cells + 1) / 2 : counters.cells;
  counters.offset = by_lane ? threadIdx.x % COPIES : threadIdx.x / 32 % COPIES * counters.rows;
  counters.one = INCREMENT == Increment::value ? static_cast<unsigned>(one) : 1;
  counters.counts = counts;
  for (unsigned i = threadIdx.x; i < counters.rows * COPIES; i += BLOCK) word[i] = 0;
  wait_for_previous();
  if (alone != 0) {
    for (unsigned i = threadIdx.x; i < b.count; i += BLOCK) counts[i] = 0;
  }
  __syncthreads();

  const long long per_grid = gridDim.x * per_block;
  long long first = blockIdx.x * per_block;
  Loaded next;
  if constexpr (AHEAD != 0) {
    if (first < length)
      load_tile<BLOCK, static_cast<Hint>(LOAD), CONTIGUOUS != 0>(next, values, first, length, stride);
  }
  for (; first < length; first += per_grid) {
    Loaded tile;
    if constexpr (AHEAD != 0) {
      tile = next;
      if (first + per_grid < length)
        load_tile<BLOCK, static_cast<Hint>(LOAD), CONTIGUOUS != 0>(next, values, first + per_grid, length,
                                                                   stride);
    } else {
      load_tile<BLOCK, static_cast<Hint>(LOAD), CONTIGUOUS != 0>(tile, values, first, length, stride);
    }
    count_tile(tile, b, counters, first, length);
  }
  let_next_start();
  __syncthreads();

  for (unsigned row = threadIdx.x; row < counters.rows; row += BLOCK) {
    unsigned low = 0;
    unsigned high = 0;
#pragma unroll
    for (unsigned copy = 0; copy < COPIES; ++copy) {
      // Neighbouring copies are read in an order that gives a warp's lanes different banks.
      const unsigned at =
          by_lane ? row * COPIES + (copy + row * COPIES / 32) % COPIES : copy * counters.rows + row;
      low += packed ? word[at] & 0xffff : word[at];
      if constexpr (packed) high += word[at] >> 16;
    }
    put(packed ? 2 * row : row, low, counters, b);
    if constexpr (packed) {
      if (2 * row + 1 < counters.cells) put(2 * row + 1, high, counters, b);
    }
  }
}
