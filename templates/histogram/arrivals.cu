// SPDX-License-Identifier: Apache-2.0
// histogram in one kernel, without waiting for one last block: a word of the workspace holds a bin's count
// and the number of blocks that have added theirs. The block that completes a word moves its count to the
// output.

#include "common/overlap.inl"
#include "common/shared.cuh"
#include "histogram/bins.cuh"
#include "histogram/elements.cuh"

constexpr int per_thread = ITEMS * VECTOR;  // elements of a tile
constexpr long long per_block = static_cast<long long>(BLOCK) * per_thread;

// Bytes are counted by value; the bins of the 256 values are found at the end.
constexpr bool of_bytes = sizeof(T) == 1;
constexpr bool regrouped = of_bytes && function == Function::histogram;

template <int BITS>
struct WordOf {
  using Type = unsigned long long;
  static constexpr int count_bits = 48;
};
template <>
struct WordOf<32> {
  using Type = unsigned;
  static constexpr int count_bits = 24;
};
using Word = WordOf<WORD_BITS>::Type;
constexpr int count_bits = WordOf<WORD_BITS>::count_bits;  // below the number of blocks

__device__ __forceinline__ void empty(unsigned* word, unsigned cells) {
  for (unsigned i = threadIdx.x; i < cells; i += BLOCK) word[i] = 0;
}

// A thread's part of a tile. Vectors that reach beyond the last element are missing.
struct Own {
  T element[ITEMS][VECTOR];
  bool is_there[ITEMS];
};

__device__ __forceinline__ void load(Own& own, const T* values, long long first, long long length,
                                     long long stride) {
#pragma unroll
  for (int item = 0; item < ITEMS; ++item)
    own.is_there[item] = load_elements<static_cast<Hint>(LOAD), CONTIGUOUS != 0>(
        own.element[item], values, first + (static_cast<long long>(item) * BLOCK + threadIdx.x) * VECTOR,
        length, stride);
}

template <int N>
__device__ __forceinline__ void count(const T (&element)[N], unsigned* counters, unsigned cells,
                                      const Bins& bins) {
  unsigned cell[N];
  bins_of<of_bytes || function == Function::bincount>(cell, element, bins);
#pragma unroll
  for (int e = 0; e < N; ++e)
    if (of_bytes || cell[e] < cells) atomicAdd(counters + cell[e] * COPIES, 1u);
}

// Adds a block's count of a bin. Each block calls this once for each bin.
__device__ __forceinline__ void arrive(unsigned bin, unsigned times, unsigned long long* counts, Word* kept) {
  if (gridDim.x == 1) {
    counts[bin] = times;
    return;
  }
  const Word before = atomicAdd(kept + bin, (Word(1) << count_bits) + times);
  if (before >> count_bits != gridDim.x - 1) return;
  counts[bin] = (before & ((Word(1) << count_bits) - 1)) + times;
  kept[bin] = 0;
}

// `kept` has a word for each bin, zero before and after the launch. Every block has a tile.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(histogram_arrivals)(InputPointer<T> values, unsigned long long* __restrict__ counts,
                              long long length, long long stride, int bins, double lo, double step, double hi,
                              double inverse, double addend, int window, InOutPointer<Word> kept) {
  DYNAMIC_SHARED(unsigned, word);
  const Bins b = {static_cast<unsigned>(bins), lo, step, hi, inverse, addend, static_cast<unsigned>(window)};
  const unsigned cells = of_bytes ? 256 : b.count;
  unsigned* const total = word + cells * COPIES;  // of each bin, where several cells are of one
  const unsigned words = cells * COPIES + (regrouped ? b.count : 0);
  unsigned* const counters = word + threadIdx.x % COPIES;
  Own own;
  long long first = blockIdx.x * per_block;
  if constexpr (overlapped) empty(word, words);
  wait_for_previous();
  load(own, values, first, length, stride);
  if constexpr (!overlapped) empty(word, words);  // while the elements come
  __syncthreads();

  while (true) {
#pragma unroll
    for (int item = 0; item < ITEMS; ++item)
      if (own.is_there[item]) count(own.element[item], counters, cells, b);
    first += gridDim.x * per_block;
    if (first >= length) break;
    load(own, values, first, length, stride);
  }
  if constexpr (VECTOR > 1) {  // the last elements, less than a vector
    const auto rest = static_cast<unsigned>(length % VECTOR);
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x < rest) {
      const T one[1] = {values[length - rest + threadIdx.x]};
      count(one, counters, cells, b);
    }
  }
  let_next_start();
  __syncthreads();

#pragma unroll 1
  for (unsigned cell = threadIdx.x; cell < cells; cell += BLOCK) {
    unsigned times = 0;
#pragma unroll
    for (unsigned copy = 0; copy < COPIES; ++copy)  // in an order that keeps a warp's banks apart
      times += word[cell * COPIES + (copy + cell * COPIES / 32) % COPIES];
    if constexpr (regrouped) {
      const unsigned bin = bin_of<double>(cell, b);
      if (times != 0 && bin < b.count) atomicAdd(total + bin, times);
    } else {
      if (cell < b.count) arrive(cell, times, counts, kept);
    }
  }
  if constexpr (regrouped) {
    __syncthreads();
#pragma unroll 1
    for (unsigned bin = threadIdx.x; bin < b.count; bin += BLOCK) arrive(bin, total[bin], counts, kept);
  } else if constexpr (of_bytes) {
#pragma unroll 1
    for (unsigned bin = cells + threadIdx.x; bin < b.count; bin += BLOCK) arrive(bin, 0, counts, kept);
  }
}
