// SPDX-License-Identifier: Apache-2.0
// conv1d for every boundary and type of signal. Samples pass through a row in shared memory, converted to the
// type of the sums; only tiles that reach beyond the signal's ends compute samples outside. A thread's
// outputs are neighbours, over a window of samples in registers. The signal's type, the number of taps and
// the alignment of rows to vectors (PHASE, IN_VECTOR, OUT_VECTOR) are compiled in; everything else is an
// argument.

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

constexpr int threads = BLOCK_X * BLOCK_Y;
constexpr int tile = BLOCK_X * OUT_X;                      // outputs of a block's row
constexpr int lanes = 16 / static_cast<int>(sizeof(Sum));  // elements of a 16-byte access to shared memory
constexpr int load = smaller(VECTOR, IN_VECTOR);           // elements of a global load
constexpr int store = smaller(VECTOR, alignment_of(OUT_X, OUT_VECTOR));

// ---- shared memory

#include "conv1d/bounded_layout.inl"
constexpr bool padded = SMEM_LAYOUT == SmemLayout::padded;
constexpr BoundedLayout layout = bounded_layout({tile, BLOCK_Y, load, lanes, taps, PHASE, padded});
constexpr int skipped = layout.skipped, staged_vectors = layout.vectors, pitch = layout.pitch,
              taps_elements = layout.taps, staged_samples = skipped + tile + taps - 1;
__device__ __forceinline__ constexpr int place_of(int position) {
  return bounded_place(position, lanes, padded);
}

// Taps are processed in chunks. Each chunk has its window; the next chunk needs the last `carried` samples of
// it.
constexpr int step = alignment_of(OUT_X, lanes);  // samples of one read of the window
constexpr int carried = round_up(skipped + OUT_X - 1, step);

// Stages samples that all lie in the signal, by vectors.
__device__ __forceinline__ void stage_inside(Sum* to, const T* from) {
  constexpr int part = smaller(load, lanes);
#pragma unroll(smaller(ceil_divide(staged_vectors, BLOCK_X), 8))
  for (int n = threadIdx.x; n < staged_vectors; n += BLOCK_X) {
    if constexpr (COPY == Copy::async) {
#pragma unroll
      for (int p = 0; p < load; p += part) {
        copy_async<part>(to + place_of(n * load + p), reinterpret_cast<const Sum*>(from + n * load) + p,
                         true);
      }
    } else {
      const Vector<T, load> vector = load_vector<load>(from + n * load);
#pragma unroll
      for (int p = 0; p < load; p += part) {
        Vector<Sum, part> piece;
#pragma unroll
        for (int e = 0; e < part; ++e) piece.element[e] = widened(vector.element[p + e]);
        store_vector<part>(to + place_of(n * load + p), piece);
      }
    }
  }
}

// Stages samples from `first` on one by one, inside or outside the signal.
__device__ __forceinline__ void stage_edge(Sum* to, const T* signal, long long first, long long length,
                                           int boundary, Sum outside) {
#pragma unroll 1
  for (int n = threadIdx.x; n < staged_samples; n += BLOCK_X) {
    const long long from = sample_at<long long>(first + n, length, boundary);
    to[place_of(n)] = from < 0 ? outside : widened(signal[from]);
  }
}

__device__ __forceinline__ void read_samples(Sum* window, const Sum* row, int position, int count) {
#pragma unroll
  for (int c = 0; c < count; c += step) {
    const Vector<Sum, step> vector = load_vector<step>(row + place_of(position + c));
#pragma unroll
    for (int e = 0; e < step; ++e) window[c + e] = vector.element[e];
  }
}

// Adds the TAPS taps at `weights`; the first sample of their window is at `position`.
template <int TAPS>
__device__ __forceinline__ void add_chunk(Sum (&sum)[OUT_X], Sum (&window)[carried + round_up(CHUNK, step)],
                                          const Sum* row, int position, const Sum* weights) {
  read_samples(window + carried, row, position + carried, round_up(TAPS, step));
  Sum weight[round_up(TAPS, lanes)];
#pragma unroll
  for (int k = 0; k < TAPS; k += lanes) {
    const Vector<Sum, lanes> vector = load_vector<lanes>(weights + k);
#pragma unroll
    for (int e = 0; e < lanes; ++e) weight[k + e] = vector.element[e];
  }
#pragma unroll
  for (int k = 0; k < TAPS; ++k) {
#pragma unroll
    for (int x = 0; x < OUT_X; ++x) sum[x] += weight[k] * window[skipped + x + k];
  }
  if constexpr (TAPS == CHUNK) {
#pragma unroll
    for (int c = 0; c < carried; ++c) window[c] = window[c + CHUNK];
  }
}

__device__ __forceinline__ void compute(Sum (&sum)[OUT_X], const Sum* row, const Sum* weights) {
  constexpr int chunks = taps / CHUNK, rest = taps % CHUNK;
  const int position = threadIdx.x * OUT_X;
  Sum window[carried + round_up(CHUNK, step)];
  read_samples(window, row, position, carried);
#pragma unroll(UNROLL == 0 ? larger(chunks, 1) : UNROLL)
  for (int n = 0; n < chunks; ++n)
    add_chunk<CHUNK>(sum, window, row, position + n * CHUNK, weights + n * CHUNK);
  if constexpr (rest > 0) add_chunk<rest>(sum, window, row, position + taps - rest, weights + taps - rest);
}

// Stores a thread's outputs from `to` on; `count` of them exist.
__device__ __forceinline__ void store_outputs(Sum* to, const Sum (&sum)[OUT_X], long long count) {
#pragma unroll
  for (int c = 0; c < OUT_X; c += store) {
    if (c + store <= count) {
      Vector<Sum, store> vector;
#pragma unroll
      for (int e = 0; e < store; ++e) vector.element[e] = sum[c + e];
      if constexpr (STORE == Store::streaming) {
        store_vector_streaming<store>(to + c, vector);
      } else {
        store_vector<store>(to + c, vector);
      }
    } else {
#pragma unroll
      for (int e = 0; e < store; ++e) {
        if (c + e < count) to[c + e] = sum[c + e];
      }
    }
  }
}

// Launched with blocks of BLOCK_X x BLOCK_Y threads over the tiles of a row's outputs and the rows of the
// batch; a grid whose y would exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv1d_bounded)(InputPointer<T> signal, InputPointer<Sum> kernel, Sum* __restrict__ output,
                          int batch, long long length, long long output_length, long long left, int convolve,
                          int boundary, double value) {
  DYNAMIC_SHARED(Sum, memory);
  Sum* row_samples = memory + taps_elements + threadIdx.y * pitch;
  start();
  for (int j = threadIdx.y * BLOCK_X + threadIdx.x; j < taps; j += threads)
    memory[j] = kernel[convolve != 0 ? taps - 1 - j : j];

  const long long tile_first = static_cast<long long>(blockIdx.x) * tile;
  const long long sample_first = tile_first - left - skipped;
  const bool inside = sample_first >= 0 && sample_first + staged_vectors * load <= length;
  const long long count = output_length - tile_first - threadIdx.x * OUT_X;
  bool first = true;
  for (long long group = blockIdx.y; group * BLOCK_Y < batch; group += gridDim.y) {
    const long long row = group * BLOCK_Y + threadIdx.y;
    const bool exists = BLOCK_Y == 1 || row < batch;
    const T* samples = signal + row * length;
    if (!first) __syncthreads();  // the rows before are still being read
    first = false;
    if (exists) {
      if (inside) {
        stage_inside(row_samples, samples + sample_first);
      } else {
        stage_edge(row_samples, samples, sample_first, length, boundary, static_cast<Sum>(value));
      }
    }
    if constexpr (COPY == Copy::async) wait_for_copies();
    __syncthreads();
    if (exists && count > 0) {
      Sum sum[OUT_X] = {};
      compute(sum, row_samples, memory);
      store_outputs(output + row * output_length + tile_first + threadIdx.x * OUT_X, sum, count);
    }
  }
}
