// To be read: nothing is built from this text. It is the winner on NVIDIA H200 for
// batch=1 length=1000000 taps=5 function=convolve mode=valid dtype=f64 boundary=zero origin=0 value="0",
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// conv1d/tiled for sm_90a, rendered by Tunesmith from templates/conv1d/tiled.cu: change that and render again.
// compiled in: taps=5 function=convolve dtype=f64 PHASE=0
// config: SMEM_LAYOUT=none TAPS_IN=registers COPY=sync SEGMENT=16 UNROLL=0 VECTOR=2 STORE_VECTOR=2 OUT_X=2 ITEMS=2 BLOCK_X=128 BLOCK_Y=1 STORE=streaming START=plain TRIGGER=none RESIDENT_WARPS=32

// ---- templates/common/async_copy.cuh
// SPDX-License-Identifier: Apache-2.0
// Copies from global to shared memory that pass no register and are waited for as one group. Before compute
// capability 8.0 they are ordinary copies and the wait does nothing; on the host they arrive at the wait.
// On the host common/host/async_copy.h stands for this file.

// Copies N elements (4, 8 or 16 bytes in all, both addresses aligned to that), or writes zeros if not
// `inside`; then `from` is not read but still has to be a pointer into the array.
template <int N, typename T>
__device__ __forceinline__ void copy_async(T* to, const T* from, bool inside) {
  constexpr int bytes = sizeof(T) * N;
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "an asynchronous copy moves 4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const int read = inside ? bytes : 0;
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(read));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(bytes),
                 "r"(read));
  }
#else
  for (int i = 0; i < N; ++i) to[i] = inside ? from[i] : T(0);
#endif
}

// Waits for this thread's copies; a barrier must follow before other threads read them.
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
#endif
}

// ---- templates/common/integer.cuh
// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic on compile-time sizes.

__host__ __device__ constexpr int ceil_divide(int value, int divisor) {
  return (value + divisor - 1) / divisor;
}
__host__ __device__ constexpr int round_up(int value, int multiple) {
  return ceil_divide(value, multiple) * multiple;
}
__host__ __device__ constexpr int smaller(int a, int b) { return a < b ? a : b; }
__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }

// The largest power of two that divides `value` and is at most `limit`, itself a power of two.
__host__ __device__ constexpr int alignment_of(int value, int limit) {
  int alignment = 1;
  while (alignment < limit && value % (2 * alignment) == 0) alignment *= 2;
  return alignment;
}

// ---- templates/common/shared.cuh
// SPDX-License-Identifier: Apache-2.0
// Dynamic shared memory as an array of any type, aligned to 16 bytes. On the host the shim defines it.

#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(type, name)                               \
  extern __shared__ __align__(16) unsigned char name##_bytes_[]; \
  type* name = reinterpret_cast<type*>(name##_bytes_)
#endif

// ---- templates/common/vector.cuh
// SPDX-License-Identifier: Apache-2.0
// Several neighbouring elements moved by one memory access, at most 16 bytes wide each. Knows nothing of
// images.
// On the host common/host/vector.h stands for this file.

template <typename T, int N>
struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) Vector {
  T element[N];
};

// `from` is aligned to the vector, or to 16 bytes where the vector is longer.
template <int N, typename T>
__device__ __forceinline__ Vector<T, N> load_vector(const T* from) {
  return *reinterpret_cast<const Vector<T, N>*>(from);
}

template <int N, typename T>
__device__ __forceinline__ void store_vector(T* to, const Vector<T, N>& vector) {
  *reinterpret_cast<Vector<T, N>*>(to) = vector;
}

// A store of data that this kernel does not read again: it may leave the caches first.
template <int N, typename T>
__device__ __forceinline__ void store_vector_streaming(T* to, const Vector<T, N>& vector) {
  constexpr int bytes = sizeof(T) * N;
  if constexpr (bytes >= 16) {
#pragma unroll
    for (int i = 0; i < bytes / 16; ++i)
      __stcs(reinterpret_cast<float4*>(to) + i, reinterpret_cast<const float4*>(&vector)[i]);
  } else if constexpr (bytes == 8) {
    __stcs(reinterpret_cast<float2*>(to), reinterpret_cast<const float2&>(vector));
  } else {
    __stcs(reinterpret_cast<float*>(to), reinterpret_cast<const float&>(vector));
  }
}

// ---- what this variant is
constexpr int taps = 5;
enum class Function { convolve, correlate };
constexpr Function function = Function::convolve;
using T = double;  // dtype=f64
constexpr int PHASE = 0;
enum class SmemLayout { none, flat, padded };
constexpr SmemLayout SMEM_LAYOUT = SmemLayout::none;
enum class TapsIn { registers, shared, constant, global };
constexpr TapsIn TAPS_IN = TapsIn::registers;
enum class Copy { async, sync };
constexpr Copy COPY = Copy::sync;
constexpr int SEGMENT = 16;
constexpr int UNROLL = 0;
constexpr int VECTOR = 2;
constexpr int STORE_VECTOR = 2;
constexpr int OUT_X = 2;
constexpr int ITEMS = 2;
constexpr int BLOCK_X = 128;
constexpr int BLOCK_Y = 1;
enum class Store { plain, streaming };
constexpr Store STORE = Store::streaming;
enum class Start { plain, overlapped };
constexpr Start START = Start::plain;
enum class Trigger { none, early };
constexpr Trigger TRIGGER = Trigger::none;
constexpr int RESIDENT_WARPS = 32;
#define ENTRY(name) name##_f3ab19d8

// ---- templates/conv1d/tiled.cu
// SPDX-License-Identifier: Apache-2.0
// conv1d with a row of OUT_X outputs per thread, held in registers while a window of samples slides over the
// taps. It knows the element type, the function, the number of taps and how the window lies to 4 samples
// (PHASE); it does not know the lengths.

// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launch: how a kernel overlaps with its neighbours in a stream. Needs START and
// TRIGGER. Before compute capability 9.0 and on the host there is none, and START and TRIGGER change nothing.

// START=overlapped: the kernel may start while its predecessor still runs, and waits for it.
constexpr bool overlapped = START == Start::overlapped;

// Returns when all work before this kernel has ended and is visible.
__device__ __forceinline__ void wait_for_previous() {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
  if constexpr (overlapped) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel's blocks start as soon as there is room for them; they wait before they touch memory.
__device__ __forceinline__ void let_next_start() {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
  if constexpr (TRIGGER == Trigger::early) asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Comes before a kernel's first access to global memory.
__device__ __forceinline__ void start() {
  let_next_start();
  wait_for_previous();
}

// The types of a kernel's pointers to what it reads, and to what it reads and writes. __restrict__ promises
// that nobody else writes there while the kernel runs, so that loads may take the read-only path and move
// across the wait. Before the wait the predecessor may still write.
template <typename Element, bool PROMISED>
struct PointerTo {
  using Type = Element* __restrict__;
};
template <typename Element>
struct PointerTo<Element, false> {
  using Type = Element*;
};
template <typename Element>
using InputPointer = typename PointerTo<const Element, !overlapped>::Type;
template <typename Element>
using InOutPointer = typename PointerTo<Element, !overlapped>::Type;

// Everything below is a correlation; a convolution is one with the taps reversed.
constexpr bool turned = function == Function::convolve;

constexpr bool staged = SMEM_LAYOUT != SmemLayout::none;  // the samples pass through shared memory
constexpr bool taps_staged = TAPS_IN == TapsIn::shared;
constexpr bool held = TAPS_IN == TapsIn::registers;
constexpr int threads = BLOCK_X * BLOCK_Y;
constexpr int resident_blocks = larger(1, RESIDENT_WARPS * 32 / threads);  // bounds the registers of a thread
constexpr int item_stride = BLOCK_X * OUT_X;                               // outputs between a thread's items
constexpr int tile = item_stride * ITEMS;                                  // outputs of a block's row
constexpr int lanes = 16 / static_cast<int>(sizeof(T));                    // elements of a 16-byte access

// Samples read before the first that is needed, which keeps vectors aligned: `left`, the samples of a window
// before its output's own, is -PHASE modulo 4.
constexpr int skipped = PHASE % VECTOR;
constexpr int tile_vectors = ceil_divide(skipped + tile + taps - 1, VECTOR);  // that a block's row reads

// Taps are taken in segments, each with a window of segment + OUT_X - 1 samples, of which those that the next
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

// SPDX-License-Identifier: Apache-2.0
// Where a sample lies in shared memory. Needs SMEM_LAYOUT, OUT_X and `lanes` (elements of a 16-byte access).

// Threads whose outputs fill an even number of 16-byte units would meet in the same banks: `padded` leaves
// out one unit after each OUT_X samples, where a thread's own begin, so that an offset stays a constant.
constexpr int pad = SMEM_LAYOUT == SmemLayout::padded ? lanes : 0;
__device__ __forceinline__ constexpr int place_of(int position) { return position + position / OUT_X * pad; }
static_assert(pad == 0 || written_out || unrolled * segment % OUT_X == 0,
              "a loop over padded samples steps by whole rows of outputs");
constexpr int pitch = round_up(place_of(round_up(tile_vectors * VECTOR, lanes)) + lanes, lanes);
constexpr int taps_elements = taps_staged ? round_up(taps, lanes) : 0;

// Scalars that a thread stores one by one lie OUT_X apart from its neighbour's. With the samples the outputs
// pass through shared memory too, and neighbours store neighbours.
constexpr bool regrouped = staged && STORE_VECTOR == 1 && OUT_X > 1;
constexpr int sums_pitch = regrouped ? round_up(place_of(tile), lanes) : 0;

// ---- the taps

// Filled by a step of its own before the kernel; one element where it is not used.
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

// SPDX-License-Identifier: Apache-2.0
// Reads the samples [from, to) of the `step` at `source`, which is aligned to a vector of that many.
// Needs T, `step` (a constant of the body, or with `template <int step>` in the line before the include) and
// common/vector.cuh.
__device__ __forceinline__ void read_part(T* samples, const T* source, int from, int to) {
  if (to - from == 1) {
    samples[from] = source[from];
  } else if (to - from == 2 && from % 2 == 0 && step == 4) {
    const Vector<T, 2> vector = load_vector<2>(source + from);
    samples[from] = vector.element[0];
    samples[from + 1] = vector.element[1];
  } else {
    const Vector<T, step> vector = load_vector<step>(source);
#pragma unroll
    for (int e = 0; e < step; ++e) samples[e] = vector.element[e];
  }
}

// Reads the samples [at + from, at + to), both ends rounded to `step`, into the window's [from, to).
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

// The TAPS taps at `at` of the present round; their window's first `carried` samples are there already.
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

// `count` of the outputs from `to` on exist; if they are regrouped, `to` is in shared memory, which has room
// for all.
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

// All outputs of a thread. `place` is that of its first item, `to` where its output goes; `count` of the
// tile's outputs from there on exist.
template <bool INSIDE>
__device__ __forceinline__ void compute(const Place& place, const Taps& from, T* to, int count) {
  constexpr int output_stride = regrouped ? place_of(item_stride) : item_stride;
  const auto item_place = [&](int item) {
    return Place{place.samples + item * (staged ? place_of(item_stride) : item_stride),
                 place.begin - item * item_stride, place.end - item * item_stride};
  };
  if constexpr (one_segment) {
    // All samples are asked for before the first is used.
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

// SPDX-License-Identifier: Apache-2.0
// Copying VECTOR samples to shared memory. Needs T, VECTOR, COPY, `lanes` (elements of a 16-byte access),
// common/async_copy.cuh, common/integer.cuh and common/vector.cuh.

constexpr int part = smaller(VECTOR, lanes);  // elements that one store can take

__device__ __forceinline__ void stage_vector(T* to, const T* from) {
  if constexpr (COPY == Copy::async) {
#pragma unroll
    for (int p = 0; p < VECTOR; p += part) copy_async<part>(to + p, from + p, true);
  } else {
    const Vector<T, VECTOR> vector = load_vector<VECTOR>(from);
#pragma unroll
    for (int p = 0; p < VECTOR; p += part) {
      Vector<T, part> piece;
#pragma unroll
      for (int e = 0; e < part; ++e) piece.element[e] = vector.element[p + e];
      store_vector<part>(to + p, piece);
    }
  }
}

// The threads of one row of the block fill that row's samples, each BLOCK_X vectors apart, so that addresses
// are a thread's first and a constant; the signal has those in [begin, end).
template <bool INSIDE>
__device__ __forceinline__ void stage_samples(T* to, const T* from, int begin, int end) {
  constexpr int stride = BLOCK_X * VECTOR;
  static_assert(pad == 0 || stride % OUT_X == 0, "a thread's vectors are whole rows of outputs apart");
  constexpr int rounds = tile_vectors / BLOCK_X;
  const int own = threadIdx.x * VECTOR;
// SPDX-License-Identifier: Apache-2.0
// One of the rounds in which a block stages its samples: where `own`, the thread's first, comes from and goes
// to, and stage(round). Needs T, VECTOR, INSIDE, `stride`, `begin`, `end`, conv1d/padding.inl and
// conv1d/staging.inl.

to += place_of(own);
from += own;
const auto stage = [&](int round) {
  const int c = own + round * stride;
  if (INSIDE || (c >= begin && c + VECTOR <= end)) {
    stage_vector(to + place_of(round * stride), from + round * stride);
  } else {
#pragma unroll
    for (int e = 0; e < VECTOR; ++e) {
      to[place_of(round * stride) + e] = c + e >= begin && c + e < end ? from[round * stride + e] : T(0);
    }
  }
};
#pragma unroll(INSIDE ? larger(1, smaller(rounds, 16)) : 1)
  for (int round = 0; round < rounds; ++round) stage(round);
  if (rounds * BLOCK_X + static_cast<int>(threadIdx.x) < tile_vectors) stage(rounds);
}

// Launched with blocks of BLOCK_X x BLOCK_Y threads over the tiles of a row's outputs and the rows of the
// batch; a grid whose y would exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
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
  T* row_sums = memory + taps_elements + BLOCK_Y * pitch + threadIdx.y * sums_pitch;
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
