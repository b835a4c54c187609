// SPDX-License-Identifier: Apache-2.0
// histogram with its counters in global memory, for few elements and for more bins than shared memory holds.
// Elements are loaded by vectors, and equal ones are counted together before they go to memory.

#include "histogram/bins.cuh"

constexpr int per_thread = ITEMS * VECTOR;  // elements of a tile
constexpr long long per_block = static_cast<long long>(BLOCK) * per_thread;

__device__ __forceinline__ void add(unsigned long long* counts, unsigned bin, int times, const Bins& bins) {
  if (bin < bins.count) atomicAdd(counts + bin, static_cast<unsigned long long>(times));
}

__device__ __forceinline__ void count(unsigned long long* counts, const unsigned (&bin)[per_thread],
                                      const Bins& bins) {
  if constexpr (MERGE == Merge::run) {
    unsigned current = bin[0];
    int times = 1;
#pragma unroll
    for (int e = 1; e < per_thread; ++e) {
      if (bin[e] == current) {
        ++times;
      } else {
        add(counts, current, times, bins);
        current = bin[e];
        times = 1;
      }
    }
    add(counts, current, times, bins);
  } else {
#pragma unroll
    for (int e = 0; e < per_thread; ++e) {
      if constexpr (MERGE == Merge::warp) {
        const unsigned peers = __match_any_sync(0xffffffffu, bin[e]);
        if (static_cast<int>(threadIdx.x % 32) == __ffs(static_cast<int>(peers)) - 1)
          add(counts, bin[e], __popc(peers), bins);
      } else {
        add(counts, bin[e], 1, bins);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(histogram_direct)(const T* __restrict__ values, unsigned long long* __restrict__ counts,
                            long long length, long long stride, int bins, double lo, double step, double hi,
                            double inverse, double addend, int window) {
  const Bins b = {static_cast<unsigned>(bins), lo, step, hi, inverse, addend, static_cast<unsigned>(window)};
  const long long per_grid = gridDim.x * per_block;
  for (long long first = blockIdx.x * per_block; first < length; first += per_grid) {
    Tile<T, ITEMS, VECTOR> tile;
    unsigned bin[per_thread];
    load_tile<BLOCK, static_cast<Hint>(LOAD), CONTIGUOUS != 0>(tile, values, first, length, stride);
    bins_of_tile<BLOCK, function == Function::bincount>(bin, tile, b, first, length);
    count(counts, bin, b);
  }
}
