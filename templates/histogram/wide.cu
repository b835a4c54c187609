// SPDX-License-Identifier: Apache-2.0
// histogram of elements of 8 bytes. Copies of the counters are in each block's shared memory, each for some
// lanes of every warp. At its end, a block adds them to the output.

#include "common/shared.cuh"
#include "histogram/bins.cuh"

constexpr int per_thread = ITEMS * VECTOR;  // elements of a tile
constexpr long long per_block = static_cast<long long>(BLOCK) * per_thread;

// Loads the elements of a thread's `item`-th vector of the tile that begins at `first`. Returns how many
// exist.
__device__ __forceinline__ int load_vector(T (&element)[VECTOR], const T* values, long long first, int item,
                                           long long length, long long stride) {
  const long long at = first + (static_cast<long long>(item) * BLOCK + threadIdx.x) * VECTOR;
  if (at + VECTOR <= length) {
    using Word = typename Moved<VECTOR * 8>::Type;
    const Word moved = load_hinted<static_cast<Hint>(LOAD)>(
        reinterpret_cast<const Word*>(values + at * (CONTIGUOUS ? 1 : stride)));
    memcpy(element, &moved, VECTOR * 8);
    return VECTOR;
  }
  const int count = at < length ? static_cast<int>(length - at) : 0;
#pragma unroll
  for (int e = 0; e < VECTOR; ++e)
    element[e] = e < count ? values[(at + e) * (CONTIGUOUS ? 1 : stride)] : T(0);
  return count;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(histogram_wide)(const T* __restrict__ values, unsigned long long* __restrict__ counts,
                          long long length, long long stride, int bins, double lo, double step, double hi,
                          double inverse, double addend, int window) {
  DYNAMIC_SHARED(unsigned, word);
  const Bins b = {static_cast<unsigned>(bins), lo, step, hi, inverse, addend, static_cast<unsigned>(window)};
  const unsigned copy = threadIdx.x % COPIES;
  for (unsigned i = threadIdx.x; i < b.count * COPIES; i += BLOCK) word[i] = 0;
  __syncthreads();

  for (long long first = blockIdx.x * per_block; first < length; first += gridDim.x * per_block) {
    T element[ITEMS][VECTOR];
    int count[ITEMS];
#pragma unroll
    for (int item = 0; item < ITEMS; ++item)
      count[item] = load_vector(element[item], values, first, item, length, stride);
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      unsigned bin[VECTOR];
      bins_of<false>(bin, element[item], b);
#pragma unroll
      for (int e = 0; e < VECTOR; ++e) {
        if (e < count[item] && bin[e] < b.count) atomicAdd(word + bin[e] * COPIES + copy, 1u);
      }
    }
  }
  __syncthreads();

  for (unsigned bin = threadIdx.x; bin < b.count; bin += BLOCK) {
    unsigned times = 0;
#pragma unroll
    for (unsigned k = 0; k < COPIES; ++k)  // in an order that keeps a warp's banks apart
      times += word[bin * COPIES + (k + bin * COPIES / 32) % COPIES];
    if (times != 0) atomicAdd(counts + bin, static_cast<unsigned long long>(times));
  }
}
