// SPDX-License-Identifier: Apache-2.0
// conv1d for any number of taps: a block walks the taps that meet the signal in chunks, each staged in shared
// memory with the samples that it needs. SPLIT groups of a block's threads share a chunk's taps; their sums
// are added at the end, in a fixed order. The element type and the function are compiled in.

#include "common/async_copy.cuh"
#include "common/integer.cuh"
#include "common/overlap.inl"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"

constexpr bool turned = function == Function::convolve;

constexpr int threads = BLOCK_X * SPLIT;
constexpr int tile = BLOCK_X * OUT_X;                    // outputs of a block
constexpr int chunk = SPLIT * SHARE;                     // taps
constexpr int lanes = 16 / static_cast<int>(sizeof(T));  // elements of a 16-byte access
constexpr int step = alignment_of(OUT_X, lanes);         // samples of one read of the window
constexpr int carried = round_up(OUT_X - 1, step);       // samples that the next segment needs too
constexpr int window_size = larger(carried + SEGMENT, step);

#include "conv1d/chunked_layout.inl"
constexpr ChunkedLayout layout =
    chunked_layout({tile, OUT_X, SPLIT, SHARE, VECTOR, lanes, SMEM_LAYOUT == SmemLayout::padded});
constexpr int staged = layout.staged, sample_elements = layout.samples, taps_pitch = layout.taps_pitch,
              sum_pitch = layout.sum_pitch;

static_assert(SHARE % SEGMENT == 0 && SEGMENT % step == 0 && SEGMENT % VECTOR == 0 && OUT_X % VECTOR == 0,
              "chunks, shares and segments begin at whole vectors");

#include "conv1d/padding.inl"
static_assert(pad == 0 || SEGMENT % OUT_X == 0, "a loop over padded samples steps by whole rows of outputs");

// Adds the segment at `samples` and `taps`; if GUARDED, only its taps [begin, end).
template <bool GUARDED>
__device__ __forceinline__ void add_segment(T (&sum)[OUT_X], T (&window)[window_size], const T* samples,
                                            const T* taps, int begin, int end) {
#pragma unroll
  for (int c = carried; c < OUT_X - 1 + SEGMENT; c += step) {
    const Vector<T, step> vector = load_vector<step>(samples + place_of(c));
#pragma unroll
    for (int e = 0; e < step; ++e) window[c + e] = vector.element[e];
  }
  T row[SEGMENT];
#pragma unroll
  for (int k = 0; k < SEGMENT; k += lanes) {
    const Vector<T, lanes> vector = load_vector<lanes>(taps + k);
#pragma unroll
    for (int e = 0; e < lanes; ++e) row[k + e] = vector.element[e];
  }
#pragma unroll
  for (int k = 0; k < SEGMENT; ++k) {
    if (!GUARDED || (k >= begin && k < end)) {
#pragma unroll
      for (int i = 0; i < OUT_X; ++i) sum[i] += row[k] * window[i + k];
    }
  }
#pragma unroll
  for (int c = 0; c < carried; ++c) window[c] = window[c + SEGMENT];
}

// Adds the taps [begin, end) of a group's share of the chunk.
__device__ __forceinline__ void add_share(T (&sum)[OUT_X], const T* samples, const T* taps, int begin,
                                          int end) {
  if (begin >= end) return;
  int at = begin / SEGMENT * SEGMENT;
  samples += place_of(at);
  taps += at;
  T window[window_size];
#pragma unroll
  for (int c = 0; c < carried; c += step) {
    const Vector<T, step> vector = load_vector<step>(samples + place_of(c));
#pragma unroll
    for (int e = 0; e < step; ++e) window[c + e] = vector.element[e];
  }
  if (at < begin) {
    add_segment<true>(sum, window, samples, taps, begin - at, end - at);
    at += SEGMENT;
    samples += place_of(SEGMENT);
    taps += SEGMENT;
  }
#pragma unroll(UNROLL)
  for (; at + SEGMENT <= end; at += SEGMENT) {
    add_segment<false>(sum, window, samples, taps, 0, SEGMENT);
    samples += place_of(SEGMENT);
    taps += SEGMENT;
  }
  if (at < end) add_segment<true>(sum, window, samples, taps, 0, end - at);
}

#include "conv1d/staging.inl"

// The block's threads fill in the chunk's samples; a thread's samples are a constant distance apart. The
// signal has those in [begin, end).
template <bool INSIDE>
__device__ __forceinline__ void stage_samples(T* to, const T* from, int begin, int end) {
  constexpr int stride = threads * VECTOR;
  static_assert(pad == 0 || stride % OUT_X == 0, "a thread's vectors are whole rows of outputs apart");
  constexpr int rounds = staged / stride;
  const int own = (threadIdx.y * BLOCK_X + threadIdx.x) * VECTOR;
#include "conv1d/stage_round.inl"
#pragma unroll(INSIDE ? larger(1, smaller(rounds, 8)) : 1)
  for (int round = 0; round < rounds; ++round) stage(round);
  if (rounds * stride + own < staged) stage(rounds);
}

// Launched with blocks of BLOCK_X x SPLIT threads over the tiles of a row's outputs and the rows of the
// batch; a grid whose y would exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv1d_chunked)(InputPointer<T> signal, InputPointer<T> kernel, T* __restrict__ output, int batch,
                          long long length, long long taps, long long output_length, long long left) {
  DYNAMIC_SHARED(T, memory);
  T* shared_taps = memory + sample_elements;
  start();
  // Taps are counted from `phase` taps before the first, so that the samples under every VECTOR-th tap are
  // aligned. The taps [begin, end) lie on the signal for some output of the tile.
  const long long phase = (VECTOR - left % VECTOR) % VECTOR;
  const long long tile_first = static_cast<long long>(blockIdx.x) * tile;
  const long long origin = tile_first - left - phase;  // the sample under the tile's first output and tap 0
  const long long begin = max(phase, 1 - tile - origin);
  const long long end = min(phase + taps, length - origin);
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
  const int group_begin = threadIdx.y * SHARE;
  const T* samples = memory + place_of(threadIdx.x * OUT_X) + place_of(group_begin);
  for (int b = blockIdx.y; b < batch; b += gridDim.y) {
    T sum[OUT_X] = {};
    for (long long first = begin / SEGMENT * SEGMENT; first < end; first += chunk) {
      const T* from = signal + b * length + origin + first;
      const long long sample_end = length - (origin + first);
      if (origin + first >= 0 && sample_end >= staged) {
        stage_samples<true>(memory, from, 0, staged);
      } else {
        stage_samples<false>(memory, from, static_cast<int>(max(0LL, -(origin + first))),
                             static_cast<int>(min(static_cast<long long>(staged), sample_end)));
      }
      const T* taps_from = kernel + (turned ? taps - 1 - (first - phase) : first - phase);
      const int taps_begin = static_cast<int>(max(0LL, phase - first));
      const int taps_end = static_cast<int>(min(static_cast<long long>(chunk), phase + taps - first));
#pragma unroll(smaller(ceil_divide(chunk, threads), 8))
      for (int j = thread; j < chunk; j += threads) {
        shared_taps[j / SHARE * taps_pitch + j % SHARE] =
            j >= taps_begin && j < taps_end ? taps_from[turned ? -j : j] : T(0);
      }
      if constexpr (COPY == Copy::async) wait_for_copies();
      __syncthreads();
      const long long share_first = first + group_begin;
      add_share(sum, samples, shared_taps + threadIdx.y * taps_pitch,
                static_cast<int>(max(0LL, begin - share_first)),
                static_cast<int>(min(static_cast<long long>(SHARE), end - share_first)));
      __syncthreads();  // the chunk is no longer needed
    }
    // Sums pass through shared memory, so that the groups' sums are added and neighbouring threads write
    // neighbouring outputs.
    T* sums = memory + threadIdx.y * sum_pitch + place_of(threadIdx.x * OUT_X);
#pragma unroll
    for (int i = 0; i < OUT_X; i += step) {
      Vector<T, step> vector;
#pragma unroll
      for (int e = 0; e < step; ++e) vector.element[e] = sum[i + e];
      store_vector<step>(sums + i, vector);
    }
    __syncthreads();
    T* to = output + b * output_length + tile_first;
    const int count = static_cast<int>(min(output_length - tile_first, static_cast<long long>(tile)));
    for (int i = thread; i < count; i += threads) {
      T total = memory[place_of(i)];
#pragma unroll(smaller(SPLIT - 1, 8) > 0 ? smaller(SPLIT - 1, 8) : 1)
      for (int group = 1; group < SPLIT; ++group) total += memory[group * sum_pitch + place_of(i)];
      to[i] = total;
    }
    __syncthreads();  // the sums are no longer needed
  }
}
