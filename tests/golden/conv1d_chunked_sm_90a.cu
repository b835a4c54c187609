// conv1d/chunked for sm_90a, rendered by Tunesmith from templates/conv1d/chunked.cu: change that and render again.
// compiled in: function=convolve dtype=f32
// config: SMEM_LAYOUT=padded COPY=async SEGMENT=16 UNROLL=2 VECTOR=4 OUT_X=8 BLOCK_X=64 SPLIT=1 SHARE=128 START=plain TRIGGER=none RESIDENT_WARPS=16

// ---- templates/common/async_copy.cuh
// Copies from global to shared memory that pass no register and are waited for as one group. Before compute
// capability 8.0 they are ordinary copies and the wait does nothing; on the host they arrive at the wait.
// (On the host common/host/async_copy.h stands for this file; what is here for it stays, because a kernel's
// identity is its text.)

// Copies N elements (4, 8 or 16 bytes in all, both addresses aligned to that), or writes zeros if not
// `inside`; then `from` is not read but still has to be a pointer into the array.
template <int N, typename T>
__device__ __forceinline__ void copy_async(T* to, const T* from, bool inside) {
  constexpr int bytes = sizeof(T) * N;
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "an asynchronous copy moves 4, 8 or 16 bytes");
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 800
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
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
#endif
}

// ---- templates/common/integer.cuh
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
// Dynamic shared memory as an array of any type, aligned to 16 bytes. On the host the shim defines it.

#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(type, name)                               \
  extern __shared__ __align__(16) unsigned char name##_bytes_[]; \
  type* name = reinterpret_cast<type*>(name##_bytes_)
#endif

// ---- templates/common/vector.cuh
// Several neighbouring elements moved by one memory access, at most 16 bytes wide each. Knows nothing of
// images.
// (On the host common/host/vector.h stands for this file; what is here for it stays, because a kernel's
// identity is its text.)

template <typename T, int N>
struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) Vector {
  T element[N];
};

// `from` is aligned to the vector, or to 16 bytes where the vector is longer.
template <int N, typename T>
__device__ __forceinline__ Vector<T, N> load_vector(const T* from) {
#ifdef TUNESMITH_HOST
  Vector<T, N> vector;  // element by element: a host compiler may assume that no float is read as a Vector
  for (int i = 0; i < N; ++i) vector.element[i] = from[i];
  return vector;
#else
  return *reinterpret_cast<const Vector<T, N>*>(from);
#endif
}

template <int N, typename T>
__device__ __forceinline__ void store_vector(T* to, const Vector<T, N>& vector) {
#ifdef TUNESMITH_HOST
  for (int i = 0; i < N; ++i) to[i] = vector.element[i];
#else
  *reinterpret_cast<Vector<T, N>*>(to) = vector;
#endif
}

// A store of data that this kernel does not read again: it may leave the caches first.
template <int N, typename T>
__device__ __forceinline__ void store_vector_streaming(T* to, const Vector<T, N>& vector) {
#ifdef TUNESMITH_HOST
  for (int i = 0; i < N; ++i) to[i] = vector.element[i];
#else
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
#endif
}

// ---- what this variant is
enum class Function { convolve, correlate };
constexpr Function function = Function::convolve;
using T = float;  // dtype=f32
enum class SmemLayout { padded, flat };
constexpr SmemLayout SMEM_LAYOUT = SmemLayout::padded;
enum class Copy { async, sync };
constexpr Copy COPY = Copy::async;
constexpr int SEGMENT = 16;
constexpr int UNROLL = 2;
constexpr int VECTOR = 4;
constexpr int OUT_X = 8;
constexpr int BLOCK_X = 64;
constexpr int SPLIT = 1;
constexpr int SHARE = 128;
enum class Start { plain, overlapped };
constexpr Start START = Start::plain;
enum class Trigger { none, early };
constexpr Trigger TRIGGER = Trigger::none;
constexpr int RESIDENT_WARPS = 16;
#define ENTRY(name) name##_90041088

// ---- templates/conv1d/chunked.cu
// conv1d for any number of taps: a block walks the taps that meet the signal in chunks, each staged in shared
// memory with the samples that it needs. SPLIT groups of a block's threads share a chunk's taps; their
// sums are added at the end, in a fixed order. It knows the element type and the function.

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

constexpr bool turned = function == Function::convolve;

constexpr int threads = BLOCK_X * SPLIT;
constexpr int resident_blocks = larger(1, RESIDENT_WARPS * 32 / threads);  // bounds the registers of a thread
constexpr int tile = BLOCK_X * OUT_X;                                      // outputs of a block
constexpr int chunk = SPLIT * SHARE;                                       // taps
constexpr int lanes = 16 / static_cast<int>(sizeof(T));                    // elements of a 16-byte access
constexpr int step = alignment_of(OUT_X, lanes);    // samples of one read of the window
constexpr int carried = round_up(OUT_X - 1, step);  // samples that the next segment needs too
constexpr int window_size = larger(carried + SEGMENT, step);
constexpr int staged = round_up(tile + chunk, VECTOR);  // samples

static_assert(SHARE % SEGMENT == 0 && SEGMENT % step == 0 && SEGMENT % VECTOR == 0 && OUT_X % VECTOR == 0,
              "chunks, shares and segments begin at whole vectors");

// Where a sample lies in shared memory. Needs SMEM_LAYOUT, OUT_X and `lanes` (elements of a 16-byte access).

// Threads whose outputs fill an even number of 16-byte units would meet in the same banks: `padded` leaves
// out one unit after each OUT_X samples, where a thread's own begin, so that an offset stays a constant.
constexpr int pad = SMEM_LAYOUT == SmemLayout::padded ? lanes : 0;
__device__ __forceinline__ constexpr int place_of(int position) { return position + position / OUT_X * pad; }
static_assert(pad == 0 || SEGMENT % OUT_X == 0, "a loop over padded samples steps by whole rows of outputs");

constexpr int sample_elements = round_up(place_of(staged) + lanes, lanes);
constexpr int taps_pitch = SHARE + lanes;  // groups of one warp read different banks
constexpr int sum_pitch = round_up(place_of(tile), lanes);

// The segment at `samples` and `taps`; only its taps [begin, end) if GUARDED.
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

// The taps [begin, end) of a group's share of the chunk.
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

// The block's threads fill the chunk's samples, each thread's a constant apart; the signal has those in
// [begin, end).
template <bool INSIDE>
__device__ __forceinline__ void stage_samples(T* to, const T* from, int begin, int end) {
  constexpr int stride = threads * VECTOR;
  static_assert(pad == 0 || stride % OUT_X == 0, "a thread's vectors are whole rows of outputs apart");
  constexpr int rounds = staged / stride;
  const int own = (threadIdx.y * BLOCK_X + threadIdx.x) * VECTOR;
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
#pragma unroll(INSIDE ? larger(1, smaller(rounds, 8)) : 1)
  for (int round = 0; round < rounds; ++round) stage(round);
  if (rounds * stride + own < staged) stage(rounds);
}

// Launched with blocks of BLOCK_X x SPLIT threads over the tiles of a row's outputs and the rows of the
// batch; a grid whose y would exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
    ENTRY(conv1d_chunked)(InputPointer<T> signal, InputPointer<T> kernel, T* __restrict__ output, int batch,
                          long long length, long long taps, long long output_length, long long left) {
  DYNAMIC_SHARED(T, memory);
  T* shared_taps = memory + sample_elements;
  start();
  // Taps are counted from the `phase` before the first on, so that the samples under every VECTOR-th are
  // aligned. Of these, [begin, end) meet the signal in some output of the tile.
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
    // Through shared memory, so that the sums of the groups meet and neighbours write neighbours.
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
