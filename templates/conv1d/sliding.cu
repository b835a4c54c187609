// SPDX-License-Identifier: Apache-2.0
// conv1d for any number of taps, direction, boundary and alignment of rows to vectors. All of these are
// arguments, so that one binary serves every problem with a type of signal.
//
// Samples pass through shared memory, converted to the type of the sums, with as many taps as fit there
// (`part`). Only tiles that reach beyond the signal's ends compute samples outside. A thread holds ITEMS rows
// of OUT_X outputs, each over a window of samples in registers that slides over the taps, 1 to CHUNK at a
// time. Each of these numbers has code of its own, so that no sample is multiplied by a zero next to the
// taps; this would be wrong for infinity. SPLIT groups of threads share the taps; their sums are added in a
// fixed order. With SAMPLES_IN=global, windows over at most CHUNK taps are read from global memory directly
// if all outputs and samples exist.
//
// Vectors are read from the last aligned address, `skip` samples before the first one needed. Taps are
// counted from there too, in slots: tap j has slot skip + j, and output i needs the sample in place i + slot,
// so that whole vectors of slots lie on whole vectors of samples. Only the first slots may have no tap.

#include "common/async_copy.cuh"
#include "common/boundary.cuh"
#include "common/integer.cuh"
#include "common/overlap.inl"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"
#include "common/widened.cuh"

using Sum = sum_type<T>;

constexpr int row_threads = BLOCK_X * SPLIT;
constexpr int threads = row_threads * BLOCK_Y;
constexpr int item_stride = BLOCK_X * OUT_X;               // outputs between a thread's items
constexpr int tile = item_stride * ITEMS;                  // outputs of a block's row
constexpr int lanes = 16 / static_cast<int>(sizeof(Sum));  // elements of a 16-byte access to shared memory
constexpr int load = smaller(VECTOR, lanes);               // elements of a global load
constexpr int step = alignment_of(OUT_X, lanes);           // samples of one read of the window
constexpr int store = smaller(STORE_VECTOR, step);         // elements of a global store
constexpr int carried = round_up(OUT_X - 1, step);         // samples that the next chunk needs too
constexpr int window_size = carried + round_up(larger(CHUNK, load), step);
constexpr bool from_global = SAMPLES_IN == SamplesIn::global;
constexpr bool converted = sizeof(T) != sizeof(Sum);

// Elements that a thread stores one by one lie OUT_X apart from its neighbour's. They pass through shared
// memory, so that neighbouring threads store neighbouring elements.
constexpr bool one_by_one = OUT_X == 1 && SPLIT == 1;

static_assert(CHUNK % lanes == 0, "chunks begin at whole vectors");
static_assert(!from_global || (load > 1 && OUT_X % load == 0 && SPLIT == 1),
              "windows come from global memory as vectors");

#include "conv1d/sliding_layout.inl"

using Sums = Sum[ITEMS][OUT_X];
using Windows = Sum[ITEMS][window_size];

// ---- sums

template <int FIRST, int END, int WIDTH>
__device__ __forceinline__ void multiply_add(Sums& sum, const Sum (&weight)[round_up(END, lanes)],
                                             const Sum (&window)[ITEMS][WIDTH], int end) {
#pragma unroll
  for (int k = FIRST; k < END; ++k) {
    if (k < end) {
#pragma unroll
      for (int item = 0; item < ITEMS; ++item) {
#pragma unroll
        for (int x = 0; x < OUT_X; ++x) sum[item][x] += weight[k] * window[item][x + k];
      }
    }
  }
}

// Reads the part [from, to) of the windows that begin at `samples` in shared memory.
__device__ __forceinline__ void read_windows(Windows& window, const Sum* samples, int from, int to) {
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
#pragma unroll
    for (int c = from; c < to; c += step) {
      const Vector<Sum, step> vector = load_vector<step>(samples + item * item_stride + c);
#pragma unroll
      for (int e = 0; e < step; ++e) window[item][c + e] = vector.element[e];
    }
  }
}

// Adds the slots [FIRST, END) at `weights`, but none from `end` on. The first `carried` samples of the
// windows are already there; afterwards those for the following slots are.
template <int FIRST, int END>
__device__ __forceinline__ void add_slots(Sums& sum, Windows& window, const Sum* samples, const Sum* weights,
                                          int end) {
  read_windows(window, samples, carried, carried + round_up(END, step));
  Sum weight[round_up(END, lanes)];
#pragma unroll
  for (int k = 0; k < END; k += lanes) {
    const Vector<Sum, lanes> vector = load_vector<lanes>(weights + k);
#pragma unroll
    for (int e = 0; e < lanes; ++e) weight[k + e] = vector.element[e];
  }
  multiply_add<FIRST, END>(sum, weight, window, end);
  if constexpr (END % step == 0) {
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
#pragma unroll
      for (int c = 0; c < carried; ++c) window[item][c] = window[item][c + END];
    }
  }
}

// Adds the first `load` slots; up to SKIP of them, at the beginning, have no taps.
template <int SKIP>
__device__ __forceinline__ void add_head(int skip, Sums& sum, Windows& window, const Sum* samples,
                                         const Sum* weights, int end) {
  if (skip == SKIP) {
    add_slots<SKIP, load>(sum, window, samples, weights, end);
  } else if constexpr (SKIP > 1) {
    add_head<SKIP - 1>(skip, sum, window, samples, weights, end);
  }
}

// Adds the last slots, COUNT or fewer.
template <int COUNT>
__device__ __forceinline__ void add_rest(int count, Sums& sum, Windows& window, const Sum* samples,
                                         const Sum* weights) {
  if (count == COUNT) {
    add_slots<0, COUNT>(sum, window, samples, weights, COUNT);
  } else if constexpr (COUNT > 1) {
    add_rest<COUNT - 1>(count, sum, window, samples, weights);
  }
}

// Adds the slots [skip, end) at `weights` over the samples at `samples`, where the first slot of the thread's
// first output lies.
__device__ __forceinline__ void add_taps(Sums& sum, const Sum* samples, const Sum* weights, int skip,
                                         int end) {
  if (end <= skip) return;
  Windows window;
  read_windows(window, samples, 0, carried);
  if constexpr (load > 1) {
    if (skip > 0) {
      add_head<load - 1>(skip, sum, window, samples, weights, end);
      samples += load;
      weights += load;
      end -= load;
    }
  }
#pragma unroll(UNROLL)
  for (; end >= CHUNK; end -= CHUNK) {
    add_slots<0, CHUNK>(sum, window, samples, weights, CHUNK);
    samples += CHUNK;
    weights += CHUNK;
  }
  add_rest<CHUNK - 1>(end, sum, window, samples, weights);
}

// ---- few taps over samples in global memory

constexpr int few_samples = round_up(load - 1 + OUT_X - 1 + CHUNK, load);
using FewWindows = Sum[ITEMS][few_samples];

// Drops the first `skip` samples; `skip` is less than twice BY, a power of two.
template <int BY>
__device__ __forceinline__ void leave_out(FewWindows& window, int skip) {
  if constexpr (BY > 0) {
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
#pragma unroll
      for (int c = 0; c < few_samples - BY; ++c)
        window[item][c] = (skip & BY) != 0 ? window[item][c + BY] : window[item][c];
    }
    leave_out<BY / 2>(window, skip);
  }
}

template <int TAPS>
__device__ __forceinline__ void add_few_of(int taps, bool turned, Sums& sum, const Sum (&kernel)[CHUNK],
                                           const FewWindows& window) {
  if (taps == TAPS) {
    Sum weight[round_up(TAPS, lanes)];
#pragma unroll
    for (int k = 0; k < TAPS; ++k) weight[k] = turned ? kernel[TAPS - 1 - k] : kernel[k];
    multiply_add<0, TAPS>(sum, weight, window, TAPS);
  } else if constexpr (TAPS > 1) {
    add_few_of<TAPS - 1>(taps, turned, sum, kernel, window);
  }
}

// Adds at most CHUNK taps. All taps and samples are loaded before the first is used.
__device__ __forceinline__ void add_few(Sums& sum, const T* samples, const Sum* kernel, bool turned, int skip,
                                        int taps) {
  FewWindows window = {};
#pragma unroll
  for (int c = 0; c < few_samples; c += load) {
    if (c == 0 || c < skip + OUT_X - 1 + taps) {
#pragma unroll
      for (int item = 0; item < ITEMS; ++item) {
        const Vector<T, load> vector = load_vector<load>(samples + item * item_stride + c);
#pragma unroll
        for (int e = 0; e < load; ++e) window[item][c + e] = widened(vector.element[e]);
      }
    }
  }
  Sum weight[CHUNK] = {};
#pragma unroll
  for (int k = 0; k < CHUNK; ++k) {
    if (k == 0 || k < taps) weight[k] = kernel[k];
  }
  leave_out<load / 2>(window, skip);
  add_few_of<CHUNK>(taps, turned, sum, weight, window);
}

// ---- filling shared memory; a row's threads fill its samples

// Copies WIDTH samples from `from` as one vector. The signal has all of them.
template <int WIDTH>
__device__ __forceinline__ void stage_vector(Sum* to, const T* from) {
  if constexpr (!converted) {
    copy_async<WIDTH>(to, reinterpret_cast<const Sum*>(from), true);
  } else {
    const Vector<T, WIDTH> vector = load_vector<WIDTH>(from);
    Vector<Sum, WIDTH> wide;
#pragma unroll
    for (int e = 0; e < WIDTH; ++e) wide.element[e] = widened(vector.element[e]);
    store_vector<WIDTH>(to, wide);
  }
}

// Copies `count` samples, `tile` or more, all of which the signal has, and the rest of the last vector.
template <int WIDTH>
__device__ __forceinline__ void stage_inside(Sum* to, const T* from, int count, int thread) {
  constexpr int stride = row_threads * WIDTH, rounds = tile / stride;
  to += thread * WIDTH;
  from += thread * WIDTH;
#pragma unroll
  for (int round = 0; round < rounds; ++round)
    stage_vector<WIDTH>(to + round * stride, from + round * stride);
#pragma unroll 1
  for (int n = rounds * stride; n < count - thread * WIDTH; n += stride)
    stage_vector<WIDTH>(to + n, from + n);
}

// Fills in `count` samples from sample `first` of a signal on, some of which it does not have.
__device__ __forceinline__ void stage_edge(Sum* to, const T* signal, long long first, int count,
                                           long long length, int boundary, Sum outside, int thread) {
  const int begin = static_cast<int>(min(max(0LL, -first), static_cast<long long>(count)));
  const int end = static_cast<int>(
      max(static_cast<long long>(begin), min(length - first, static_cast<long long>(count))));
#pragma unroll 1
  for (int n = begin + thread; n < end; n += row_threads) stage_vector<1>(to + n, signal + (first + n));
#pragma unroll 1
  for (int n = thread; n < count - (end - begin); n += row_threads) {
    const int place = n < begin ? n : n + (end - begin);
    const long long from = sample_at<long long>(first + place, length, boundary);
    to[place] = from < 0 ? outside : widened(signal[from]);
  }
}

// ---- the outputs

template <int N>
__device__ __forceinline__ void store_some(Sum* to, const Vector<Sum, N>& vector) {
  if constexpr (STORE == Store::streaming) {
    store_vector_streaming<N>(to, vector);
  } else {
    store_vector<N>(to, vector);
  }
}

// Stores a thread's outputs at `to`. The first `count` outputs of the tile exist, or all if ALL.
template <bool ALL>
__device__ __forceinline__ void store_own(Sum* to, const Sums& sum, int count) {
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
#pragma unroll
    for (int c = 0; c < OUT_X; c += store) {
      const int at = item * item_stride + c;
      if (ALL || at + store <= count) {
        Vector<Sum, store> vector;
#pragma unroll
        for (int e = 0; e < store; ++e) vector.element[e] = sum[item][c + e];
        store_some<store>(to + at, vector);
      } else {
#pragma unroll
        for (int e = 0; e < store; ++e) {
          if (at + e < count) to[at + e] = sum[item][c + e];
        }
      }
    }
  }
}

// Writes a thread's sums to shared memory.
__device__ __forceinline__ void keep(Sum* to, const Sums& sum) {
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
#pragma unroll
    for (int c = 0; c < OUT_X; c += step) {
      Vector<Sum, step> vector;
#pragma unroll
      for (int e = 0; e < step; ++e) vector.element[e] = sum[item][c + e];
      store_vector<step>(to + item * item_stride + c, vector);
    }
  }
}

// Stores the tile's outputs, of which `count` exist, from the sums that all groups kept.
__device__ __forceinline__ void store_kept(Sum* to, const Sum* sums, int count, int thread) {
#pragma unroll(smaller(ceil_divide(tile, row_threads), 8))
  for (int i = thread; i < tile; i += row_threads) {
    if (i >= count) break;
    Sum total = sums[i];
#pragma unroll
    for (int group = 1; group < SPLIT; ++group) total += sums[group * tile + i];
    store_some<1>(to + i, {{total}});
  }
}

// The number of elements from the last address that is aligned to N elements, a power of two, to `at`.
template <int N, typename Element>
__device__ __forceinline__ int behind(const Element* array, long long at) {
  const unsigned address = static_cast<unsigned>(reinterpret_cast<unsigned long long>(array));
  return static_cast<int>((address / static_cast<unsigned>(sizeof(Element)) + static_cast<unsigned>(at)) % N);
}

// Launched with blocks of BLOCK_X x BLOCK_Y x SPLIT threads over the tiles of a row's outputs and the rows of
// the batch; a grid whose y would exceed 65535, the limit, is walked in strides. The window of output i
// begins `left` samples before sample i. `part` is a multiple of `lanes`.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv1d_sliding)(InputPointer<T> signal, InputPointer<Sum> kernel, Sum* __restrict__ output,
                          int batch, long long length, long long taps, long long output_length,
                          long long left, int convolve, int boundary, int part, double value) {
  DYNAMIC_SHARED(Sum, memory);  // a part of the taps, the rows of samples, in which sums are kept later
  start();
  const SlidingLayout layout = sliding_layout(tile, BLOCK_Y, SPLIT, load, part, lanes);
  Sum* row_memory = memory + layout.rows_at + threadIdx.y * layout.pitch;
  const int group = threadIdx.z;
  const int thread = group * BLOCK_X + threadIdx.x;  // of the row
  const int position = threadIdx.x * OUT_X;
  const bool vectors = load > 1 && (BLOCK_Y == 1 || length % load == 0);  // rows lie to them alike
  const long long tile_first = static_cast<long long>(blockIdx.x) * tile;

#pragma unroll 1
  for (unsigned rows = blockIdx.y * BLOCK_Y; rows < static_cast<unsigned>(batch);
       rows += gridDim.y * BLOCK_Y) {
    const long long row = rows + threadIdx.y;
    const bool exists = BLOCK_Y == 1 || row < batch;
    const T* samples = signal + row * length;
    Sum* to = output + (row * output_length + tile_first);
    const bool direct =
        one_by_one || (store > 1 && SPLIT == 1 && (BLOCK_Y == 1 || output_length % store == 0) &&
                       behind<store>(to, 0) == 0);
    Sum sum[ITEMS][OUT_X] = {};

    if constexpr (from_global) {
      const int skip = behind<load>(samples, tile_first - left);
      const long long from = tile_first - left - skip;
      if (vectors && direct && taps <= CHUNK && tile_first + tile <= output_length && from >= 0 &&
          from + (tile + few_samples) <= length) {
        if (exists) {
          add_few(sum, samples + (from + position), kernel, convolve != 0, skip, static_cast<int>(taps));
          store_own<true>(to + position, sum, 0);
        }
        continue;
      }
    }

    const int count = static_cast<int>(min(static_cast<long long>(tile), output_length - tile_first));
    // The taps that lie on the signal for some output of the tile; all taps unless the boundary is zero.
    const bool is_plain = boundary == boundary_zero;
    const long long begin = is_plain ? max(0LL, left - (tile_first + count - 1)) : 0;
    const long long end = is_plain ? min(taps, length + left - tile_first) : taps;
    const long long first = tile_first - left;  // the sample under the first tap
    const int skip = vectors ? behind<load>(samples, first + begin) : 0;
    if (rows != blockIdx.y * BLOCK_Y) __syncthreads();  // the rows before are still being read
#pragma unroll 1
    for (long long j = begin; j < end; j += part) {
      if (j != begin) __syncthreads();  // the part before is still being read
      const int part_taps = static_cast<int>(min(static_cast<long long>(part), end - j));
#pragma unroll 1
      for (int n = threadIdx.y * row_threads + thread; n < part_taps; n += threads)
        copy_async<1>(memory + skip + n, kernel + (convolve != 0 ? taps - 1 - (j + n) : j + n), true);
      const long long from = first + j - skip;
      const int slots = skip + part_taps, staged = slots + count - 1;
      if (exists) {
        if (vectors && count == tile && from >= 0 && from + round_up(staged, load) <= length) {
          stage_inside<load>(row_memory, samples + from, staged, thread);
        } else if (!vectors && count == tile && from >= 0 && from + staged <= length) {
          stage_inside<1>(row_memory, samples + from, staged, thread);
        } else {
          stage_edge(row_memory, samples, from, staged, length, boundary, static_cast<Sum>(value), thread);
        }
      }
      wait_for_copies();
      __syncthreads();
      if (exists && position < count) {
        const int share = SPLIT == 1 ? slots : round_up(ceil_divide(slots, SPLIT), lanes);  // of a group
        const int own = group * share;
        add_taps(sum, row_memory + position + own, memory + own, group == 0 ? skip : 0,
                 smaller(share, slots - own));
      }
    }
    if (direct) {
      if (exists) store_own<false>(to + position, sum, count - position);
    } else {
      __syncthreads();  // the samples are no longer needed
      keep(row_memory + group * tile + position, sum);
      __syncthreads();
      if (exists) store_kept(to, row_memory, count, thread);
    }
  }
}
