// SPDX-License-Identifier: Apache-2.0
// histogram in one kernel, without a fill before it. Blocks count in shared memory and add to counts in the
// workspace; the last block to end moves these to the output.

#include "common/overlap.inl"
#include "common/shared.cuh"
#include "histogram/bins.cuh"

enum class Owner { lane };
constexpr Owner OWNER = Owner::lane;
enum class Increment { constant, value };
constexpr Increment INCREMENT = Increment::constant;
constexpr int COUNTER_BITS = 32;

#include "histogram/counters.inl"

// `kept` has the number of blocks that have ended, then a count for each bin. All are zero before and after
// the launch.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(histogram_gathered)(InputPointer<T> values, unsigned long long* __restrict__ counts,
                              long long length, long long stride, int bins, double lo, double step, double hi,
                              double inverse, double addend, int window, InOutPointer<unsigned> kept) {
  DYNAMIC_SHARED(unsigned, word);
  __shared__ bool last;
  const Bins b = {static_cast<unsigned>(bins), lo, step, hi, inverse, addend, static_cast<unsigned>(window)};
  Counters counters;
  counters.word = word;
  counters.cells = of_bytes ? 256 : b.count;
  counters.rows = counters.cells;
  counters.offset = threadIdx.x % COPIES;
  counters.one = 1;
  counters.counts = counts;
  for (unsigned i = threadIdx.x; i < counters.rows * COPIES; i += BLOCK) word[i] = 0;
  wait_for_previous();
  __syncthreads();

  for (long long first = blockIdx.x * per_block; first < length; first += gridDim.x * per_block) {
    Loaded tile;
    load_tile<BLOCK, static_cast<Hint>(LOAD), CONTIGUOUS != 0>(tile, values, first, length, stride);
    count_tile(tile, b, counters, first, length);
  }
  let_next_start();
  __syncthreads();

  for (unsigned cell = threadIdx.x; cell < counters.cells; cell += BLOCK) {
    unsigned times = 0;
#pragma unroll
    for (unsigned copy = 0; copy < COPIES; ++copy)  // in an order that keeps a warp's banks apart
      times += word[cell * COPIES + (copy + cell * COPIES / 32) % COPIES];
    if (times == 0) continue;
    unsigned bin = cell;
    if constexpr (of_bytes && function == Function::histogram) bin = bin_of<double>(cell, b);
    if (bin < b.count) atomicAdd(kept + 1 + bin, times);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(kept, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  for (unsigned bin = threadIdx.x; bin < b.count; bin += BLOCK) counts[bin] = atomicExch(kept + 1 + bin, 0u);
}
