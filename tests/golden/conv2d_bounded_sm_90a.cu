// conv2d/bounded for sm_90a, rendered by Tunesmith from templates/conv2d/bounded.cu: change that and render again.
// compiled in: mask_height=5 mask_width=4 dtype=u8 PHASE=3 IN_VECTOR=4 OUT_VECTOR=4
// config: SMEM_LAYOUT=flat COPY=sync CHUNK=4 UNROLL=1 VECTOR=4 OUT_X=4 OUT_Y=1 BLOCK_X=16 BLOCK_Y=8 STORE=plain START=plain TRIGGER=none RESIDENT_WARPS=16

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
constexpr int mask_height = 5;
constexpr int mask_width = 4;
using T = unsigned char;  // dtype=u8
constexpr int PHASE = 3;
constexpr int IN_VECTOR = 4;
constexpr int OUT_VECTOR = 4;
enum class SmemLayout { flat, padded };
constexpr SmemLayout SMEM_LAYOUT = SmemLayout::flat;
enum class Copy { async, sync };
constexpr Copy COPY = Copy::sync;
constexpr int CHUNK = 4;
constexpr int UNROLL = 1;
constexpr int VECTOR = 4;
constexpr int OUT_X = 4;
constexpr int OUT_Y = 1;
constexpr int BLOCK_X = 16;
constexpr int BLOCK_Y = 8;
enum class Store { plain, streaming };
constexpr Store STORE = Store::plain;
enum class Start { plain, overlapped };
constexpr Start START = Start::plain;
enum class Trigger { none, early };
constexpr Trigger TRIGGER = Trigger::none;
constexpr int RESIDENT_WARPS = 16;
#define ENTRY(name) name##_c4fde12e

// ---- templates/conv2d/bounded.cu
// conv2d for every boundary, size, origin and type of image. Samples pass through a tile in shared memory, as
// the numbers that sums are made of: only tiles that reach over the image's edge ask what stands outside, all
// else is the same for all. A thread's outputs slide down over a ring of the tile's rows in registers. It
// knows the image's type, the mask's size and how rows lie to vectors (PHASE, IN_VECTOR, OUT_VECTOR); the
// boundary, the mode and the sizes are arguments.

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
constexpr int tile_width = BLOCK_X * OUT_X;                                // outputs of a block
constexpr int tile_height = BLOCK_Y * OUT_Y;
constexpr int lanes = 16 / static_cast<int>(sizeof(Sum));  // elements of a 16-byte access to shared memory
constexpr int load = smaller(VECTOR, IN_VECTOR);           // elements of a global load
constexpr int store = smaller(VECTOR, alignment_of(OUT_X, OUT_VECTOR));

// ---- shared memory: the mask, then the tile

// A row begins so many samples before the first that is needed that vectors of the image are aligned.
constexpr int skipped = PHASE % load;
constexpr int staged_rows = tile_height + mask_height - 1;
constexpr int staged_columns = skipped + tile_width + mask_width - 1;
constexpr int staged_vectors = ceil_divide(staged_columns, load);
constexpr int used_width = round_up(staged_vectors * load, lanes);

// Threads whose rows of outputs are longer than 16 bytes would meet in the same banks: `padded` leaves out 16
// bytes after each 128.
constexpr int bank_width = 8 * lanes;
__device__ __forceinline__ constexpr int place_of(int position) {
  return SMEM_LAYOUT == SmemLayout::padded ? position + position / bank_width * lanes : position;
}
constexpr int pitch = place_of(used_width - 1) / lanes * lanes + lanes;
constexpr int mask_pitch = round_up(mask_width, lanes);

struct Place {
  int height, width, boundary;
  Sum outside;      // what stands there, where the boundary is a constant
  int column, row;  // of the tile's first sample, `skipped` included
  int out_height, out_width;
  int x, y;  // of the thread's first output
};

__device__ __forceinline__ void stage_mask(Sum* to, const Sum* mask, bool convolve) {
  for (int n = threadIdx.y * BLOCK_X + threadIdx.x; n < mask_height * mask_width; n += threads) {
    const int i = n / mask_width, j = n % mask_width;
    to[i * mask_pitch + j] = mask[convolve ? mask_height * mask_width - 1 - n : n];
  }
}

// A tile that lies in the image as a whole, by vectors. A thread steps through them without a division.
__device__ __forceinline__ void stage_inside(Sum* to, const T* image, const Place& place) {
  constexpr int part = smaller(load, lanes);
  constexpr int vectors = staged_rows * staged_vectors;
  const T* corner = image + static_cast<long long>(place.row) * place.width + place.column;
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
  int r = thread / staged_vectors, c = thread % staged_vectors;
#pragma unroll(smaller(ceil_divide(vectors, threads), 8))
  for (int n = thread; n < vectors; n += threads) {
    const T* from = corner + static_cast<long long>(r) * place.width + c * load;
    Sum* row = to + r * pitch;
    if constexpr (COPY == Copy::async) {
#pragma unroll
      for (int p = 0; p < load; p += part)
        copy_async<part>(row + place_of(c * load + p), reinterpret_cast<const Sum*>(from) + p, true);
    } else {
      const Vector<T, load> vector = load_vector<load>(from);
#pragma unroll
      for (int p = 0; p < load; p += part) {
        Vector<Sum, part> piece;
#pragma unroll
        for (int e = 0; e < part; ++e) piece.element[e] = widened(vector.element[p + e]);
        store_vector<part>(row + place_of(c * load + p), piece);
      }
    }
    r += threads / staged_vectors;
    c += threads % staged_vectors;
    if (c >= staged_vectors) {
      c -= staged_vectors;
      ++r;
    }
  }
}

// Any tile, sample by sample.
__device__ __forceinline__ void stage_edge(Sum* to, const T* image, const Place& place) {
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
  int r = thread / staged_columns, c = thread % staged_columns;
#pragma unroll 1
  for (int n = thread; n < staged_rows * staged_columns; n += threads) {
    const int y = sample_at(place.row + r, place.height, place.boundary);
    const int x = sample_at(place.column + c, place.width, place.boundary);
    to[r * pitch + place_of(c)] =
        y < 0 || x < 0 ? place.outside : widened(image[static_cast<long long>(y) * place.width + x]);
    r += threads / staged_columns;
    c += threads % staged_columns;
    if (c >= staged_columns) {
      c -= staged_columns;
      ++r;
    }
  }
}

// ---- a thread's outputs

// The samples of one row of the tile under OUT_X outputs and TAPS columns of the mask.
constexpr int step = alignment_of(OUT_X, lanes);
template <int TAPS>
struct Row {
  static constexpr int last = skipped + OUT_X + TAPS - 1;
  Sum sample[round_up(last, step)];
};

// read_part(), for the tile's type.
struct Tile {
  using T = Sum;
  static
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
};

template <int TAPS>
__device__ __forceinline__ void read_row(Row<TAPS>& row, const Sum* tile, int position, int r) {
#pragma unroll
  for (int c = skipped / step * step; c < Row<TAPS>::last; c += step) {
    Tile::read_part(row.sample + c, tile + r * pitch + place_of(position + c), larger(skipped - c, 0),
                    smaller(Row<TAPS>::last - c, step));
  }
}

// COUNT rows of the mask from `i` on. The ring has the tile's rows of all outputs but the last one.
template <int TAPS, int COUNT>
__device__ __forceinline__ void add_rows(Sum (&sum)[OUT_Y][OUT_X], Row<TAPS> (&ring)[OUT_Y], const Sum* tile,
                                         int position, const Sum* mask, int i) {
#pragma unroll
  for (int u = 0; u < COUNT; ++u) {
    read_row<TAPS>(ring[(u + OUT_Y - 1) % OUT_Y], tile, position, i + u + OUT_Y - 1);
    Sum weight[round_up(TAPS, lanes)];
#pragma unroll
    for (int k = 0; k < TAPS; k += lanes) {
      const Vector<Sum, lanes> vector = load_vector<lanes>(mask + (i + u) * mask_pitch + k);
#pragma unroll
      for (int e = 0; e < lanes; ++e) weight[k + e] = vector.element[e];
    }
#pragma unroll
    for (int o = 0; o < OUT_Y; ++o) {
#pragma unroll
      for (int k = 0; k < TAPS; ++k) {
#pragma unroll
        for (int x = 0; x < OUT_X; ++x)
          sum[o][x] += weight[k] * ring[(u + o) % OUT_Y].sample[skipped + x + k];
      }
    }
  }
}

// The part of the mask that lies in TAPS columns, the first of which is `mask`'s, and the sample under it
// `position`'s.
template <int TAPS>
__device__ __forceinline__ void accumulate(Sum (&sum)[OUT_Y][OUT_X], const Sum* tile, int position,
                                           const Sum* mask) {
  constexpr int rounds = mask_height / OUT_Y;
  Row<TAPS> ring[OUT_Y];
#pragma unroll
  for (int o = 0; o < OUT_Y - 1; ++o) read_row<TAPS>(ring[o], tile, position, o);
#pragma unroll(UNROLL == 0 ? larger(rounds, 1) : UNROLL)
  for (int n = 0; n < rounds; ++n) add_rows<TAPS, OUT_Y>(sum, ring, tile, position, mask, n * OUT_Y);
  if constexpr (mask_height % OUT_Y > 0)
    add_rows<TAPS, mask_height % OUT_Y>(sum, ring, tile, position, mask, rounds * OUT_Y);
}

__device__ __forceinline__ void compute(Sum (&sum)[OUT_Y][OUT_X], const Sum* tile, const Sum* mask) {
  const int position = threadIdx.x * OUT_X;
  const Sum* rows = tile + threadIdx.y * OUT_Y * pitch;
#pragma unroll 1
  for (int j = 0; j + CHUNK <= mask_width; j += CHUNK) accumulate<CHUNK>(sum, rows, position + j, mask + j);
  constexpr int rest = mask_width % CHUNK;
  if constexpr (rest > 0) accumulate<rest>(sum, rows, position + mask_width - rest, mask + mask_width - rest);
}

__device__ __forceinline__ void store_outputs(Sum* output, const Sum (&sum)[OUT_Y][OUT_X],
                                              const Place& place) {
#pragma unroll
  for (int o = 0; o < OUT_Y; ++o) {
    if (place.y + o >= place.out_height) return;
    Sum* row = output + static_cast<long long>(place.y + o) * place.out_width + place.x;
#pragma unroll
    for (int c = 0; c < OUT_X; c += store) {
      if (place.x + c >= place.out_width) break;
      Vector<Sum, store> vector;
#pragma unroll
      for (int e = 0; e < store; ++e) vector.element[e] = sum[o][c + e];
      if constexpr (STORE == Store::streaming) {
        store_vector_streaming<store>(row + c, vector);
      } else {
        store_vector<store>(row + c, vector);
      }
    }
  }
}

// Launched with blocks of BLOCK_X x BLOCK_Y over tiles of the output's columns and rows; a grid whose y or z
// would exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
    ENTRY(conv2d_bounded)(InputPointer<T> image, InputPointer<Sum> mask, Sum* __restrict__ output, int batch,
                          int height, int width, int out_height, int out_width, int top, int left,
                          int convolve, int boundary, double value) {
  DYNAMIC_SHARED(Sum, memory);
  Sum* tile = memory + mask_height * mask_pitch;
  start();
  stage_mask(memory, mask, convolve != 0);

  Place place;
  place.height = height;
  place.width = width;
  place.boundary = boundary;
  place.outside = static_cast<Sum>(value);
  place.out_height = out_height;
  place.out_width = out_width;
  const int tile_x = blockIdx.x * tile_width;
  place.column = tile_x - left - skipped;
  place.x = tile_x + threadIdx.x * OUT_X;
  const int tiles_y = (out_height + tile_height - 1) / tile_height;
  bool first = true;
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    for (int t = blockIdx.y; t < tiles_y; t += gridDim.y) {
      if (!first) __syncthreads();  // the tile before is still being read
      first = false;
      place.row = t * tile_height - top;
      place.y = t * tile_height + threadIdx.y * OUT_Y;
      const T* one = image + static_cast<long long>(b) * height * width;
      if (place.column >= 0 && place.column + staged_vectors * load <= width && place.row >= 0 &&
          place.row + staged_rows <= height) {
        stage_inside(tile, one, place);
        if constexpr (COPY == Copy::async) wait_for_copies();
      } else {
        stage_edge(tile, one, place);
      }
      __syncthreads();
      Sum sum[OUT_Y][OUT_X] = {};
      compute(sum, tile, memory);
      store_outputs(output + static_cast<long long>(b) * out_height * out_width, sum, place);
    }
  }
}
