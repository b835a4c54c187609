// SPDX-License-Identifier: Apache-2.0
// conv1d with a row of OUT_X outputs per thread, held in registers while a window of samples slides over the
// taps. The element type, the function, the number of taps and the window's alignment to 4 samples (PHASE)
// are compiled in; the lengths are not.

#include "common/async_copy.cuh"
#include "common/integer.cuh"
#include "common/overlap.inl"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"

// Everything below is a correlation; a convolution is one with the taps reversed.
constexpr bool turned = function == Function::convolve;

constexpr bool staged = SMEM_LAYOUT != SmemLayout::none;  // the samples pass through shared memory
constexpr bool taps_staged = TAPS_IN == TapsIn::shared;
constexpr bool held = TAPS_IN == TapsIn::registers;
constexpr int threads = BLOCK_X * BLOCK_Y;
constexpr int item_stride = BLOCK_X * OUT_X;             // outputs between a thread's items
constexpr int tile = item_stride * ITEMS;                // outputs of a block's row
constexpr int lanes = 16 / static_cast<int>(sizeof(T));  // elements of a 16-byte access

#include "conv1d/tiled_layout.inl"
// `left`, the samples of a window before its output's own, is -PHASE modulo 4.
constexpr TiledLayout layout = tiled_layout({tile, OUT_X, BLOCK_Y, VECTOR, STORE_VECTOR, lanes, taps, PHASE,
                                             taps_staged, staged, SMEM_LAYOUT == SmemLayout::padded});
constexpr int skipped = layout.skipped, tile_vectors = layout.vectors, pitch = layout.pitch,
              taps_elements = layout.taps, sums_pitch = layout.sums_pitch, sums_at = layout.sums_at;
constexpr bool regrouped = layout.regrouped;

// Taps are processed in segments, each with a window of segment + OUT_X - 1 samples. Samples that the next
// segment needs too stay in registers.
constexpr int segment = smaller(SEGMENT, taps);
constexpr int segments = taps / segment;
constexpr int rest = taps % segment;
constexpr bool one_segment = segments == 1 && rest == 0;
constexpr int unrolled = UNROLL == 0 ? segments : smaller(UNROLL, segments);
constexpr bool written_out = unrolled == segments;
constexpr int step = staged ? alignment_of(OUT_X, lanes) : VECTOR;  // samples of one read of the window
constexpr int carried = round_up(skipped + OUT_X - 1, step);
constexpr int window_size = carried + round_up(segment, step);

static_assert(OUT_X % VECTOR == 0 && OUT_X % STORE_VECTOR == 0, "outputs are stored in whole vectors");
static_assert(!held || written_out, "registers have no index at run time");
static_assert(one_segment || segment % lanes == 0, "a segment's samples and taps are read in whole vectors");

// ---- the samples in shared memory

#include "conv1d/padding.inl"
static_assert(pad == 0 || written_out || unrolled * segment % OUT_X == 0,
              "a loop over padded samples steps by whole rows of outputs");

// ---- the taps

// A separate step fills this before the kernel runs. It has one element if it is not used.
__constant__ T ENTRY(taps_copy)[TAPS_IN == TapsIn::constant ? taps : 1];

__device__ __forceinline__ constexpr int tap_index(int j) { return turned ? taps - 1 - j : j; }

struct Taps {
  const T* source;  // the first tap of the loop's present round, in shared or global memory
  T all[held ? taps : 1];
};

template <int TAPS>
__device__ __forceinline__ void read_taps(T (&row)[round_up(TAPS, lanes)], const Taps& from, int at) {
  if constexpr (taps_staged) {
#pragma unroll
    for (int k = 0; k < TAPS; k += lanes) {
      const Vector<T, lanes> vector = load_vector<lanes>(from.source + at + k);
#pragma unroll
      for (int e = 0; e < lanes; ++e) row[k + e] = vector.element[e];
    }
  } else {
#pragma unroll
    for (int k = 0; k < TAPS; ++k) {
      if constexpr (held) {
        row[k] = from.all[at + k];
      } else if constexpr (TAPS_IN == TapsIn::constant) {
        row[k] = ENTRY(taps_copy)[tap_index(at + k)];
      } else {
        row[k] = from.source[turned ? -(at + k) : at + k];
      }
    }
  }
}

// ---- a thread's window

struct Place {
  const T* samples;  // the first of the window, in global or shared memory
  int begin, end;    // which of the samples from there on the signal has; in shared memory all are there
};

#include "common/read_part.inl"

// Reads the samples [at + from, at + to), both ends rounded to `step`, into [from, to) of the window.
template <bool INSIDE>
__device__ __forceinline__ void read_window(T (&window)[window_size], const Place& place, int at, int from,
                                            int to) {
#pragma unroll
  for (int c = from / step * step; c < to; c += step) {
    const int first = at == 0 && c < skipped ? smaller(skipped - c, step - 1) : 0;
    const int last = smaller(to - c, step);
    const T* source = place.samples + (staged ? place_of(at + c) : at + c);
    if (staged || INSIDE || (at + c >= place.begin && at + c + step <= place.end)) {
      read_part(window + c, source, first, last);
    } else {
#pragma unroll
      for (int e = 0; e < step; ++e) {
        window[c + e] = at + c + e >= place.begin && at + c + e < place.end ? source[e] : T(0);
      }
    }
  }
}

template <int TAPS>
__device__ __forceinline__ void multiply_add(T (&sum)[OUT_X], const T (&row)[round_up(TAPS, lanes)],
                                             const T (&window)[window_size]) {
#pragma unroll
  for (int k = 0; k < TAPS; ++k) {
#pragma unroll
    for (int i = 0; i < OUT_X; ++i) sum[i] += row[k] * window[skipped + i + k];
  }
}

// Adds the TAPS taps at `at` of the current round; the first `carried` samples of their window are already
// there.
template <int TAPS, bool INSIDE>
__device__ __forceinline__ void add_segment(T (&sum)[OUT_X], T (&window)[window_size], const Place& place,
                                            const Taps& from, int at) {
  constexpr bool more = TAPS == segment && !one_segment;  // the next segment needs whole reads
  read_window<INSIDE>(window, place, at, carried, more ? carried + segment : skipped + OUT_X - 1 + TAPS);
  T row[round_up(TAPS, lanes)];
  read_taps<TAPS>(row, from, at);
  multiply_add<TAPS>(sum, row, window);
  if constexpr (TAPS == segment) {
#pragma unroll
    for (int c = 0; c < carried; ++c) window[c] = window[c + segment];
  }
}

template <bool INSIDE>
__device__ __forceinline__ void accumulate(T (&sum)[OUT_X], Place place, Taps from) {
  T window[window_size];
  read_window<INSIDE>(window, place, 0, 0, carried);
  if constexpr (written_out) {
#pragma unroll
    for (int s = 0; s < segments; ++s) add_segment<segment, INSIDE>(sum, window, place, from, s * segment);
  } else {
#pragma unroll 1
    for (int round = 0; round < segments / unrolled; ++round) {
#pragma unroll
      for (int s = 0; s < unrolled; ++s) add_segment<segment, INSIDE>(sum, window, place, from, s * segment);
      place.samples += staged ? place_of(unrolled * segment) : unrolled * segment;
      place.begin -= unrolled * segment;
      place.end -= unrolled * segment;
      from.source += turned && !taps_staged ? -unrolled * segment : unrolled * segment;
    }
#pragma unroll
    for (int s = 0; s < segments % unrolled; ++s)
      add_segment<segment, INSIDE>(sum, window, place, from, s * segment);
  }
  constexpr int done = written_out ? segments : segments % unrolled;
  if constexpr (rest > 0) add_segment<rest, INSIDE>(sum, window, place, from, done * segment);
}

// Stores outputs from `to` on; `count` of them exist. If they are regrouped, `to` is in shared memory, which
// has room for all.
template <bool INSIDE>
__device__ __forceinline__ void store_outputs(T* to, const T (&sum)[OUT_X], int count) {
  if constexpr (regrouped) {
#pragma unroll
    for (int c = 0; c < OUT_X; c += step) {
      Vector<T, step> vector;
#pragma unroll
      for (int e = 0; e < step; ++e) vector.element[e] = sum[c + e];
      store_vector<step>(to + c, vector);
    }
    return;
  }
#pragma unroll
  for (int c = 0; c < OUT_X; c += STORE_VECTOR) {
    if (INSIDE || c + STORE_VECTOR <= count) {
      Vector<T, STORE_VECTOR> vector;
#pragma unroll
      for (int e = 0; e < STORE_VECTOR; ++e) vector.element[e] = sum[c + e];
      if constexpr (STORE == Store::streaming) {
        store_vector_streaming<STORE_VECTOR>(to + c, vector);
      } else {
        store_vector<STORE_VECTOR>(to + c, vector);
      }
    } else {
#pragma unroll
      for (int e = 0; e < STORE_VECTOR; ++e) {
        if (c + e < count) to[c + e] = sum[c + e];
      }
    }
  }
}

// Computes all outputs of a thread. `place` is the place of its first item, `to` the address of that item's
// outputs; `count` of the tile's outputs from there on exist.
template <bool INSIDE>
__device__ __forceinline__ void compute(const Place& place, const Taps& from, T* to, int count) {
  constexpr int output_stride = regrouped ? place_of(item_stride) : item_stride;
  const auto item_place = [&](int item) {
    return Place{place.samples + item * (staged ? place_of(item_stride) : item_stride),
                 place.begin - item * item_stride, place.end - item * item_stride};
  };
  if constexpr (one_segment) {
    // All samples are loaded before the first is used.
    T window[ITEMS][window_size];
#pragma unroll
    for (int item = 0; item < ITEMS; ++item)
      read_window<INSIDE>(window[item], item_place(item), 0, 0, skipped + OUT_X - 1 + taps);
    T row[round_up(taps, lanes)];
    read_taps<taps>(row, from, 0);
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      T sum[OUT_X] = {};
      multiply_add<taps>(sum, row, window[item]);
      store_outputs<INSIDE>(to + item * output_stride, sum, count - item * item_stride);
    }
  } else {
#pragma unroll 1
    for (int item = 0; item < ITEMS; ++item) {
      T sum[OUT_X] = {};
      accumulate<INSIDE>(sum, item_place(item), from);
      store_outputs<INSIDE>(to + item * output_stride, sum, count - item * item_stride);
    }
  }
}

// ---- filling shared memory

#include "conv1d/staging.inl"

// The threads of one row of the block fill in that row's samples. A thread's vectors are BLOCK_X apart, so
// that each address is the thread's first one plus a constant. The signal has the samples in [begin, end).
template <bool INSIDE>
__device__ __forceinline__ void stage_samples(T* to, const T* from, int begin, int end) {
  constexpr int stride = BLOCK_X * VECTOR;
  static_assert(pad == 0 || stride % OUT_X == 0, "a thread's vectors are whole rows of outputs apart");
  constexpr int rounds = tile_vectors / BLOCK_X;
  const int own = threadIdx.x * VECTOR;
#include "conv1d/stage_round.inl"
#pragma unroll(INSIDE ? larger(1, smaller(rounds, 16)) : 1)
  for (int round = 0; round < rounds; ++round) stage(round);
  if (rounds * BLOCK_X + static_cast<int>(threadIdx.x) < tile_vectors) stage(rounds);
}

// Launched with blocks of BLOCK_X x BLOCK_Y threads over the tiles of a row's outputs and the rows of the
// batch; a grid whose y would exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv1d_tiled)(InputPointer<T> signal, InputPointer<T> kernel, T* __restrict__ output, int batch,
                        long long length, long long output_length, long long left) {
  DYNAMIC_SHARED(T, memory);
  start();
  Taps from;
  from.source = taps_staged ? memory : kernel + (turned ? taps - 1 : 0);
  if constexpr (taps_staged) {
    for (int j = threadIdx.y * BLOCK_X + threadIdx.x; j < taps; j += threads)
      memory[j] = kernel[tap_index(j)];
  }
  if constexpr (held) {
#pragma unroll
    for (int j = 0; j < taps; ++j) from.all[j] = kernel[tap_index(j)];
  }

  const long long tile_first = static_cast<long long>(blockIdx.x) * tile;
  const long long sample_first = tile_first - left - skipped;
  const bool inside = sample_first >= 0 && sample_first + tile_vectors * VECTOR <= length &&
                      tile_first + tile <= output_length;
  const int begin = static_cast<int>(max(0LL, min(-sample_first, static_cast<long long>(tile + taps))));
  const int end =
      static_cast<int>(max(0LL, min(length - sample_first, static_cast<long long>(tile + taps + VECTOR))));
  const int count = static_cast<int>(min(output_length - tile_first, static_cast<long long>(tile)));
  const int position = threadIdx.x * OUT_X;
  T* row_samples = memory + taps_elements + threadIdx.y * pitch;
  T* row_sums = memory + sums_at + threadIdx.y * sums_pitch;
  bool first = true;
  for (long long group = blockIdx.y; group * BLOCK_Y < batch; group += gridDim.y) {
    const long long row = group * BLOCK_Y + threadIdx.y;
    const bool exists = BLOCK_Y == 1 || row < batch;
    const T* samples = signal + row * length + sample_first;
    if constexpr (staged) {
      if (!first) __syncthreads();  // the rows before are still being read
      if (exists) {
        if (inside) {
          stage_samples<true>(row_samples, samples, begin, end);
        } else {
          stage_samples<false>(row_samples, samples, begin, end);
        }
      }
    }
    if constexpr (staged || taps_staged) {
      if (staged || first) {
        if constexpr (staged && COPY == Copy::async) wait_for_copies();
        __syncthreads();
      }
    }
    first = false;
    const Place place = {staged ? row_samples + place_of(position) : samples + position, begin - position,
                         end - position};
    T* row_output = output + row * output_length + tile_first;
    T* to = regrouped ? row_sums + place_of(position) : row_output + position;
    if (!staged && exists && inside) {
      compute<true>(place, from, to, count - position);
    } else if (exists && position < count) {
      compute<false>(place, from, to, count - position);
    }
    if constexpr (regrouped) {
      __syncthreads();
      static_assert(pad == 0 || BLOCK_X % OUT_X == 0, "a thread's outputs are whole rows of outputs apart");
      const T* sums = row_sums + place_of(threadIdx.x);
#pragma unroll
      for (int n = 0; n < tile / BLOCK_X; ++n) {
        const int i = n * BLOCK_X + static_cast<int>(threadIdx.x);
        if (exists && i < count) row_output[i] = sums[place_of(n * BLOCK_X)];
      }
    }
  }
}
