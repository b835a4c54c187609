// conv1d/bounded for sm_90a, rendered by Tunesmith from templates/conv1d/bounded.cu: change that and render again.
// compiled in: taps=8 dtype=u8 PHASE=1 IN_VECTOR=4 OUT_VECTOR=4
// config: SMEM_LAYOUT=flat COPY=sync CHUNK=8 UNROLL=1 VECTOR=4 OUT_X=4 BLOCK_X=32 BLOCK_Y=2 STORE=plain START=plain TRIGGER=none RESIDENT_WARPS=16

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

// ---- templates/common/boundary.cuh
// Which sample stands at a place outside an array, by the words of scipy.ndimage. In kernels a boundary is an
// argument: only what lies at an edge asks for it.

// As templates/boundary.h numbers them.
enum BoundaryNumber {
  boundary_zero,
  boundary_constant,
  boundary_nearest,
  boundary_reflect,
  boundary_mirror,
  boundary_wrap
};

// The place in [0, size), or -1 where a constant stands. One step back is mostly enough; an array that is
// shorter than what lies beside it is repeated.
template <typename Index>
__device__ __forceinline__ Index sample_at(Index place, Index size, int boundary) {
  if (place >= 0 && place < size) return place;
  if (boundary <= boundary_constant) return -1;
  if (boundary == boundary_nearest) return place < 0 ? 0 : size - 1;
  const bool before = place < 0;
  Index found;
  if (boundary == boundary_reflect) {
    found = before ? -1 - place : size - 1 - (place - size);
  } else if (boundary == boundary_mirror) {
    found = before ? -place : size - 2 - (place - size);
  } else {
    found = before ? place + size : place - size;
  }
  if (found >= 0 && found < size) return found;
  if (size == 1) return 0;
  const Index period = boundary == boundary_reflect  ? 2 * size
                       : boundary == boundary_mirror ? 2 * size - 2
                                                     : size;
  found = place % period;
  if (found < 0) found += period;
  if (found < size) return found;
  return boundary == boundary_reflect ? period - 1 - found : period - found;
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

// ---- templates/common/float16.cuh
// Floating-point numbers of 16 bits, converted from and to float; arithmetic is done in compute_type<T>.
// Conversion to 16 bits rounds to nearest even, with overflow to infinity; a NaN stays one.

struct Float16 {  // IEEE 754 binary16
  unsigned short bits;
};
struct BFloat16 {  // the upper half of a float
  unsigned short bits;
};

template <typename T>
struct ComputeType {
  using type = T;
};
template <>
struct ComputeType<Float16> {
  using type = float;
};
template <>
struct ComputeType<BFloat16> {
  using type = float;
};
// What sums and products of T are computed in: float for the types of 16 bits, else T itself.
template <typename T>
using compute_type = typename ComputeType<T>::type;

template <typename T>
__device__ __forceinline__ T to_float(T value) {
  return value;
}
__device__ __forceinline__ float to_float(Float16 value) {
#ifndef TUNESMITH_HOST
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
#else
  const unsigned sign = (value.bits & 0x8000u) << 16;
  const unsigned magnitude = value.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return __uint_as_float(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  // In a float's fields the exponent is off by the difference of the biases, 127 - 15.
  const float scaled = __uint_as_float(magnitude << 13) * 0x1p112f;
  return __uint_as_float(sign | __float_as_uint(scaled));
#endif
}
__device__ __forceinline__ float to_float(BFloat16 value) {
  return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}

template <typename T>
__device__ __forceinline__ T from_float(compute_type<T> value) {
  return value;
}
template <>
__device__ __forceinline__ Float16 from_float<Float16>(float value) {
  Float16 result;
#ifndef TUNESMITH_HOST
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
#else
  unsigned rounded = __float_as_uint(value) & 0x7fffffffu;
  const unsigned sign = __float_as_uint(value) >> 16 & 0x8000u;
  if (rounded > 0x7f800000u) {
    rounded = 0x7e00u;
  } else if (rounded >= 0x47800000u) {  // 2^16
    rounded = 0x7c00u;
  } else if (rounded < 0x38800000u) {  // 2^-14: subnormal, in units of 2^-24 as is the last place of 0.5
    rounded = __float_as_uint(__uint_as_float(rounded) + 0.5f) - 0x3f000000u;
  } else {
    rounded = (rounded - (112u << 23) + 0xfffu + (rounded >> 13 & 1u)) >> 13;
  }
  result.bits = static_cast<unsigned short>(sign | rounded);
#endif
  return result;
}
template <>
__device__ __forceinline__ BFloat16 from_float<BFloat16>(float value) {
  BFloat16 result;
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
#else
  const unsigned bits = __float_as_uint(value);
  const unsigned rounded =
      (bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u);
  result.bits = static_cast<unsigned short>(rounded >> 16);
#endif
  return result;
}

// ---- templates/common/widened.cuh
// Samples of any type as the numbers that sums are made of: double for double, else float.


template <typename T>
struct SumType {
  using type = float;
};
template <>
struct SumType<double> {
  using type = double;
};
template <typename T>
using sum_type = typename SumType<T>::type;

template <typename T>
__device__ __forceinline__ sum_type<T> widened(T value) {
  return static_cast<sum_type<T>>(to_float(value));
}

// ---- what this variant is
constexpr int taps = 8;
using T = unsigned char;  // dtype=u8
constexpr int PHASE = 1;
constexpr int IN_VECTOR = 4;
constexpr int OUT_VECTOR = 4;
enum class SmemLayout { flat, padded };
constexpr SmemLayout SMEM_LAYOUT = SmemLayout::flat;
enum class Copy { async, sync };
constexpr Copy COPY = Copy::sync;
constexpr int CHUNK = 8;
constexpr int UNROLL = 1;
constexpr int VECTOR = 4;
constexpr int OUT_X = 4;
constexpr int BLOCK_X = 32;
constexpr int BLOCK_Y = 2;
enum class Store { plain, streaming };
constexpr Store STORE = Store::plain;
enum class Start { plain, overlapped };
constexpr Start START = Start::plain;
enum class Trigger { none, early };
constexpr Trigger TRIGGER = Trigger::none;
constexpr int RESIDENT_WARPS = 16;
#define ENTRY(name) name##_c03ba918

// ---- templates/conv1d/bounded.cu
// conv1d for every boundary and type of signal. Samples pass through a row in shared memory, as the numbers
// that sums are made of: only tiles that reach over the signal's ends ask what stands outside. A thread's
// outputs lie side by side, over a window of samples in registers. It knows the signal's type, the number of
// taps and how rows lie to vectors (PHASE, IN_VECTOR, OUT_VECTOR); all else are arguments.

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

using Sum = sum_type<T>;

constexpr int threads = BLOCK_X * BLOCK_Y;
constexpr int resident_blocks = larger(1, RESIDENT_WARPS * 32 / threads);  // bounds the registers of a thread
constexpr int tile = BLOCK_X * OUT_X;                                      // outputs of a block's row
constexpr int lanes = 16 / static_cast<int>(sizeof(Sum));  // elements of a 16-byte access to shared memory
constexpr int load = smaller(VECTOR, IN_VECTOR);           // elements of a global load
constexpr int store = smaller(VECTOR, alignment_of(OUT_X, OUT_VECTOR));

// Taps are taken in chunks, each with its window, of which the next chunk needs the last `carried` samples.
constexpr int skipped = PHASE % load;  // samples before the first that is needed, which keeps vectors aligned
constexpr int step = alignment_of(OUT_X, lanes);  // samples of one read of the window
constexpr int carried = round_up(skipped + OUT_X - 1, step);

// ---- shared memory: the taps, then a row of samples for each row of threads

constexpr int staged_samples = skipped + tile + taps - 1;
constexpr int staged_vectors = ceil_divide(staged_samples, load);
constexpr int used_width = round_up(staged_vectors * load, lanes) + 2 * lanes;  // windows are read as a whole

// Threads whose rows of outputs are longer than 16 bytes would meet in the same banks: `padded` leaves out 16
// bytes after each 128.
constexpr int bank_width = 8 * lanes;
__device__ __forceinline__ constexpr int place_of(int position) {
  return SMEM_LAYOUT == SmemLayout::padded ? position + position / bank_width * lanes : position;
}
constexpr int pitch = place_of(used_width - 1) / lanes * lanes + lanes;
constexpr int taps_elements = round_up(taps, lanes);

// Samples that the signal has as a whole, by vectors.
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

// Any samples from `first` on, one by one.
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

// The TAPS taps at `weights`; the first sample of their window is at `position`.
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

// `count` of the outputs from `to` on exist.
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
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
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
