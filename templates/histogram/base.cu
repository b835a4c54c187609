// SPDX-License-Identifier: Apache-2.0
// The plain kernel of histogram: one thread per element, which it counts in global memory.

#include "histogram/bins.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(histogram_base)(const T* __restrict__ values, unsigned long long* __restrict__ counts,
                          long long length, long long stride, int bins, double lo, double step, double hi,
                          double inverse, double addend, int window) {
  const Bins b = {static_cast<unsigned>(bins), lo, step, hi, inverse, addend, static_cast<unsigned>(window)};
  const long long threads = static_cast<long long>(gridDim.x) * BLOCK;
  for (long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; i < length; i += threads) {
    const T value = values[i * stride];
    unsigned bin;
    if constexpr (function == Function::bincount) {
      bin = static_cast<unsigned>(value);
    } else {
      bin = bin_of<Edge<T>>(static_cast<double>(value), b);
    }
    if (bin < b.count) atomicAdd(counts + bin, 1ull);
  }
}
