// conv1d/sliding for sm_90a, rendered by Tunesmith from templates/conv1d/sliding.cu: change that and render again.
// compiled in: dtype=f32
// config: SAMPLES_IN=global CHUNK=8 UNROLL=1 VECTOR=4 STORE_VECTOR=4 OUT_X=4 ITEMS=1 BLOCK_X=64 BLOCK_Y=1 SPLIT=1 STORE=plain START=plain TRIGGER=none RESIDENT_WARPS=24

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
using T = float;  // dtype=f32
enum class SamplesIn { global, shared };
constexpr SamplesIn SAMPLES_IN = SamplesIn::global;
constexpr int CHUNK = 8;
constexpr int UNROLL = 1;
constexpr int VECTOR = 4;
constexpr int STORE_VECTOR = 4;
constexpr int OUT_X = 4;
constexpr int ITEMS = 1;
constexpr int BLOCK_X = 64;
constexpr int BLOCK_Y = 1;
constexpr int SPLIT = 1;
enum class Store { plain, streaming };
constexpr Store STORE = Store::plain;
enum class Start { plain, overlapped };
constexpr Start START = Start::plain;
enum class Trigger { none, early };
constexpr Trigger TRIGGER = Trigger::none;
constexpr int RESIDENT_WARPS = 24;
#define ENTRY(name) name##_a1e62da2

// ---- templates/conv1d/sliding.cu
// conv1d for any number of taps, direction, boundary and way in which rows lie to vectors, all of which are
// arguments: one binary serves every problem of a type of signal.
//
// Samples pass through shared memory, as the numbers that sums are made of, with as many taps as fit there
// (`part`); only tiles that reach over the signal's ends ask what stands outside. A thread holds ITEMS rows
// of OUT_X outputs, each over a window of samples in registers that slides over the taps, 1 to CHUNK at a
// time, for each number of which there is code of its own: no sample is multiplied by a zero beside the taps,
// which would not do for infinity. SPLIT groups of threads share the taps; their sums are added in a fixed
// order. With SAMPLES_IN=global windows over at most CHUNK taps, where all outputs and samples exist, come
// straight from global memory.
//
// Vectors are read from the last address on that is a multiple of theirs, `skip` samples before the first
// that is needed. Taps are counted from there too, in slots: the tap j has slot skip + j, and output i needs
// what stands in place i + slot, so that whole vectors of slots lie over whole vectors of samples. Only the
// first slots are not all taps.

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

constexpr int row_threads = BLOCK_X * SPLIT;
constexpr int threads = row_threads * BLOCK_Y;
constexpr int resident_blocks = larger(1, RESIDENT_WARPS * 32 / threads);  // bounds the registers of a thread
constexpr int item_stride = BLOCK_X * OUT_X;                               // outputs between a thread's items
constexpr int tile = item_stride * ITEMS;                                  // outputs of a block's row
constexpr int lanes = 16 / static_cast<int>(sizeof(Sum));  // elements of a 16-byte access to shared memory
constexpr int load = smaller(VECTOR, lanes);               // elements of a global load
constexpr int step = alignment_of(OUT_X, lanes);           // samples of one read of the window
constexpr int store = smaller(STORE_VECTOR, step);         // elements of a global store
constexpr int carried = round_up(OUT_X - 1, step);         // samples that the next chunk needs too
constexpr int window_size = carried + round_up(larger(CHUNK, load), step);
constexpr bool from_global = SAMPLES_IN == SamplesIn::global;
constexpr bool converted = sizeof(T) != sizeof(Sum);

// What a thread stores one by one lies OUT_X apart from its neighbour's: it passes through shared memory, so
// that neighbours store neighbours.
constexpr bool one_by_one = OUT_X == 1 && SPLIT == 1;

static_assert(CHUNK % lanes == 0, "chunks begin at whole vectors");
static_assert(!from_global || (load > 1 && OUT_X % load == 0 && SPLIT == 1),
              "windows come from global memory as vectors");

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

// Of the windows that begin at `samples` what is in [from, to), from shared memory.
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

// The slots [FIRST, END) at `weights`, but none from `end` on; the first `carried` samples of the windows are
// there already, and are again for the slots that follow.
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

// The first `load` slots, of which the first SKIP or fewer are no taps.
template <int SKIP>
__device__ __forceinline__ void add_head(int skip, Sums& sum, Windows& window, const Sum* samples,
                                         const Sum* weights, int end) {
  if (skip == SKIP) {
    add_slots<SKIP, load>(sum, window, samples, weights, end);
  } else if constexpr (SKIP > 1) {
    add_head<SKIP - 1>(skip, sum, window, samples, weights, end);
  }
}

// The last slots, COUNT or fewer.
template <int COUNT>
__device__ __forceinline__ void add_rest(int count, Sums& sum, Windows& window, const Sum* samples,
                                         const Sum* weights) {
  if (count == COUNT) {
    add_slots<0, COUNT>(sum, window, samples, weights, COUNT);
  } else if constexpr (COUNT > 1) {
    add_rest<COUNT - 1>(count, sum, window, samples, weights);
  }
}

// The slots [skip, end) at `weights` over the samples from `samples` on, where the thread's first output has
// its first slot.
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

// The first `skip` samples, less than twice BY, a power of two.
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

// At most CHUNK taps; all are asked for, and all samples, before the first is used.
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

// Places from `from` on, all of which the signal has, in vectors of WIDTH.
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

// So many places that the signal has, `tile` or more, with what else is in the last vector.
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

// So many places from sample `first` of a signal on, some of which it does not have.
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

// To where a thread's outputs go, of which the first `count` of the tile's exist, or ALL.
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

// A thread's sums to shared memory.
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

// The tile's outputs, of which `count` exist, from the sums that all groups kept.
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

// How many elements before `at` the last multiple of N lies, a power of two.
template <int N, typename Element>
__device__ __forceinline__ int behind(const Element* array, long long at) {
  const unsigned address = static_cast<unsigned>(reinterpret_cast<unsigned long long>(array));
  return static_cast<int>((address / static_cast<unsigned>(sizeof(Element)) + static_cast<unsigned>(at)) % N);
}

// Launched with blocks of BLOCK_X x BLOCK_Y x SPLIT threads over the tiles of a row's outputs and the rows of
// the batch; a grid whose y would exceed 65535, the limit, is walked in strides. The window of output i
// begins `left` samples before sample i. `part` is a multiple of `lanes`.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
    ENTRY(conv1d_sliding)(InputPointer<T> signal, InputPointer<Sum> kernel, Sum* __restrict__ output,
                          int batch, long long length, long long taps, long long output_length,
                          long long left, int convolve, int boundary, int part, double value) {
  DYNAMIC_SHARED(Sum, memory);  // a part of the taps, the rows of samples, in which sums are kept later
  start();
  const int pitch = larger(round_up(tile + load + part, lanes) + lanes, SPLIT * tile);
  Sum* row_memory = memory + round_up(load + part, lanes) + threadIdx.y * pitch;
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
    // The taps that meet the signal in some output of the tile, or all, where something stands beside it.
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
