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

#include "constants"

// ---- templates/conv_covariance/factored.cu
// conv_covariance with each inner sum computed once and added to every output channel. Summed over the input
// channels first,
//   p(y, x, y', x') = sum over ci of mu[ci, y, x] mu[ci, y', x'] + gamma[ci, y, x, ci, y', x'],
// it is a box filter along the shared diagonal: a thread keeps i' - i, goes down the rows, adds up the box's
// row p(y, j + k, y', j' + k) over k, and adds that to the mask_height outputs that need it. So each
// covariance is read once, except in the tiles' halos. No sum is subtracted from another: NaN and infinity
// reach only the outputs whose terms hold them. It knows the element type, the mask and the input channels,
// but not the image's size.

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

using Real = compute_type<T>;

// The type of offsets within one image's covariances. Needs INDEX_BITS.

template <int BITS>
struct IndexOf {
  using type = int;
};
template <>
struct IndexOf<64> {
  using type = long long;
};
using Index = IndexOf<INDEX_BITS>::type;  // of an element within one image's covariances

constexpr int threads = BLOCK_X * BLOCK_D * BLOCK_J;
constexpr int resident_blocks = larger(1, RESIDENT_WARPS * 32 / threads);  // bounds the registers of a thread
constexpr bool staged = STAGING != Staging::none;                          // p passes through shared memory
constexpr bool mu_staged = MU_IN == MuIn::shared;
constexpr int lanes = 16 / static_cast<int>(sizeof(Real));  // sums of a 16-byte access
constexpr int tile_columns = BLOCK_X * VECTOR;              // j' of a block
constexpr int tile_rows = BLOCK_J * OUT_J;                  // j of a block
constexpr int pending = larger(mask_height - 1, 1);         // outputs that are begun and not complete

// What one box row of a thread's OUT_J x VECTOR outputs needs.
constexpr int window_rows = OUT_J + mask_width - 1;
constexpr int window_columns = VECTOR + mask_width - 1;
__device__ __forceinline__ constexpr bool in_window(int r, int k) {
  return larger(larger(r - OUT_J, k - VECTOR) + 1, 0) <= smaller(smaller(r, k), mask_width - 1);
}

// ---- p in shared memory: two tiles, each of (tile_rows + mask_width - 1) values of x times BLOCK_D
// diagonals times staged_columns values of x'

constexpr int read_part = smaller(VECTOR, lanes);  // sums that one access can take
constexpr int write_part = smaller(GAMMA_VECTOR, lanes);
constexpr int staged_columns = round_up(tile_columns + mask_width - 1, larger(read_part, GAMMA_VECTOR));
constexpr int staged_rows = tile_rows + mask_width - 1;
constexpr int row_vectors = staged_columns / GAMMA_VECTOR;
constexpr int staged_vectors = staged_rows * BLOCK_D * row_vectors;
constexpr int thread_vectors = ceil_divide(staged_vectors, threads);
// `padded` puts a warp's rows of threads, where they are shorter than a warp, into different banks.
constexpr int banks = 128 / static_cast<int>(sizeof(Real));
constexpr int pitch = STAGING == Staging::padded
                          ? staged_columns + (tile_columns % banks - staged_columns % banks + banks) % banks
                          : staged_columns;
constexpr int tile_elements = staged ? staged_rows * BLOCK_D * pitch : 0;

// What factored.cu and factored_any.cu know of an image. Needs T, Real, Index and mu_staged.

// Pointers point to where a row begins, so that offsets known at compile time are part of the load
// instruction.
template <bool STAGED>
struct MeanOf {
  using type = T;
  __device__ static const T* either(const T* global, const Real*) { return global; }
};
template <>
struct MeanOf<true> {
  using type = Real;
  __device__ static const Real* either(const T*, const Real* shared) { return shared; }
};
using Mean = MeanOf<mu_staged>::type;

struct Image {
  T* input;
  const T* gamma;
  const Mean* mu;
  const T* c;
  int channels_out, height, width, rows, columns;
  int plane;                      // pixels of an input channel
  Index gamma_pitch;              // between covariances with neighbouring first pixels
  Index gamma_step;               // both pixels in the next input channel
  Index input_pitch, input_step;  // the same for the output
};

// Both of the first input channel.
__device__ __forceinline__ const Mean* means(const Image& image, int y, int x) {
  return image.mu + (y * image.width + x);
}
__device__ __forceinline__ const T* covariances(const Image& image, int y, int x, int other_y, int other_x) {
  return image.gamma + static_cast<Index>(y * image.width + x) * image.gamma_pitch +
         (other_y * image.width + other_x);
}

// ---- filling shared memory

// Where this thread's vector number `e` comes from and goes to, in the tile for row y whose first diagonal is
// d.
struct Spot {
  bool inside;
  int x, other_y, other_x;
  int to;
};
__device__ __forceinline__ Spot spot(const Image& image, int e, int thread, int y, int d, int j,
                                     int other_j) {
  const int n = thread + e * threads;
  const int k = n % row_vectors, q = n / row_vectors;
  Spot found;
  found.x = j + q / BLOCK_D;
  found.other_y = y + d + q % BLOCK_D;
  found.other_x = other_j + k * GAMMA_VECTOR;
  // The width is a multiple of GAMMA_VECTOR, so a vector is inside as a whole or not at all.
  found.inside = n < staged_vectors && found.x < image.width && found.other_x < image.width &&
                 static_cast<unsigned>(found.other_y) < static_cast<unsigned>(image.height);
  found.to = n < staged_vectors ? q * pitch + k * GAMMA_VECTOR : -1;
  return found;
}

using GammaVector = Vector<T, GAMMA_VECTOR>;

__device__ __forceinline__ const T* first_of(const Image& image, const Spot& at, int y) {
  return covariances(image, y, at.x, at.other_y, at.other_x);
}

__device__ __forceinline__ void add_channel(Real (&p)[GAMMA_VECTOR], const Image& image, const Spot& at,
                                            int ci, int y, const GammaVector& gamma) {
  const Real left = to_float(means(image, y, at.x)[ci * image.plane]);
  const Mean* right = means(image, at.other_y, at.other_x) + ci * image.plane;
#pragma unroll
  for (int e = 0; e < GAMMA_VECTOR; ++e) p[e] += left * to_float(right[e]) + to_float(gamma.element[e]);
}

__device__ __forceinline__ void store_sums(Real* tile, const Spot& at, const Real (&p)[GAMMA_VECTOR]) {
  if (at.to < 0) return;
#pragma unroll
  for (int e = 0; e < GAMMA_VECTOR; e += write_part) {
    Vector<Real, write_part> part;
#pragma unroll
    for (int k = 0; k < write_part; ++k) part.element[k] = p[e + k];
    store_vector<write_part>(tile + at.to + e, part);
  }
}

__device__ __forceinline__ void fill(Real* tile, const Image& image, int thread, int y, int d, int j,
                                     int other_j) {
#pragma unroll(smaller(thread_vectors, 8))
  for (int e = 0; e < thread_vectors; ++e) {
    const Spot at = spot(image, e, thread, y, d, j, other_j);
    Real p[GAMMA_VECTOR];
#pragma unroll
    for (int k = 0; k < GAMMA_VECTOR; ++k) p[k] = 0;
    if (at.inside) {
#pragma unroll(UNROLL)
      for (int ci = 0; ci < channels_in; ++ci) {
        add_channel(p, image, at, ci, y,
                    load_vector<GAMMA_VECTOR>(first_of(image, at, y) + ci * image.gamma_step));
      }
    }
    store_sums(tile, at, p);
  }
}

// The same in two steps; the outputs of the row before are computed between them.
struct Ahead {
  GammaVector gamma[AHEAD > 0 ? thread_vectors : 1][AHEAD > 0 ? larger(channels_in, 1) : 1];
};
__device__ __forceinline__ void load_ahead(Ahead& ahead, const Image& image, int thread, int y, int d, int j,
                                           int other_j) {
#pragma unroll
  for (int e = 0; e < thread_vectors; ++e) {
    const Spot at = spot(image, e, thread, y, d, j, other_j);
    if (!at.inside) continue;
#pragma unroll
    for (int ci = 0; ci < channels_in; ++ci) {
      ahead.gamma[e][ci] = load_vector<GAMMA_VECTOR>(first_of(image, at, y) + ci * image.gamma_step);
    }
  }
}
__device__ __forceinline__ void store_ahead(Real* tile, const Ahead& ahead, const Image& image, int thread,
                                            int y, int d, int j, int other_j) {
#pragma unroll
  for (int e = 0; e < thread_vectors; ++e) {
    const Spot at = spot(image, e, thread, y, d, j, other_j);
    Real p[GAMMA_VECTOR];
#pragma unroll
    for (int k = 0; k < GAMMA_VECTOR; ++k) p[k] = 0;
    if (at.inside) {
#pragma unroll
      for (int ci = 0; ci < channels_in; ++ci) add_channel(p, image, at, ci, y, ahead.gamma[e][ci]);
    }
    store_sums(tile, at, p);
  }
}

// ---- one box row

struct Place {
  int j, other_j;    // of the thread's first output
  const Real* tile;  // where its part of a staged tile begins
};

__device__ __forceinline__ void zero(Real (&box)[OUT_J][VECTOR]) {
#pragma unroll
  for (int a = 0; a < OUT_J; ++a) {
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) box[a][v] = 0;
  }
}

// `k`, or the number of columns after x where that is less: outputs beyond the image's last column are
// computed from that column and not stored.
template <bool INSIDE>
__device__ __forceinline__ int after(const Image& image, int x, int k) {
  return INSIDE ? k : min(k, image.width - 1 - x);
}

template <bool INSIDE>
__device__ __forceinline__ void box_from_window(Real (&box)[OUT_J][VECTOR], const Image& image,
                                                const Place& place, int tile_at, int y, int other_y) {
  Real p[window_rows][window_columns];
  if constexpr (staged) {
#pragma unroll
    for (int r = 0; r < window_rows; ++r) {
      Real row[round_up(window_columns, read_part)];
#pragma unroll
      for (int k = 0; k < window_columns; k += read_part) {
        const Vector<Real, read_part> part =
            load_vector<read_part>(place.tile + tile_at + r * BLOCK_D * pitch + k);
#pragma unroll
        for (int e = 0; e < read_part; ++e) row[k + e] = part.element[e];
      }
#pragma unroll
      for (int k = 0; k < window_columns; ++k) p[r][k] = row[k];
    }
  } else {
#pragma unroll
    for (int r = 0; r < window_rows; ++r) {
#pragma unroll
      for (int k = 0; k < window_columns; ++k) p[r][k] = 0;
    }
#pragma unroll(UNROLL)
    for (int ci = 0; ci < channels_in; ++ci) {
      const T* gamma = covariances(image, y, place.j, other_y, place.other_j) + ci * image.gamma_step;
      const Mean* lefts = means(image, y, place.j) + ci * image.plane;
      const Mean* rights = means(image, other_y, place.other_j) + ci * image.plane;
      Real right[window_columns];
#pragma unroll
      for (int k = 0; k < window_columns; ++k)
        right[k] = to_float(rights[after<INSIDE>(image, place.other_j, k)]);
#pragma unroll
      for (int r = 0; r < window_rows; ++r) {
        const int x = after<INSIDE>(image, place.j, r);
        const Real left = to_float(lefts[x]);
        const T* row = gamma + x * image.gamma_pitch;
#pragma unroll
        for (int k = 0; k < window_columns; ++k) {
          if (in_window(r, k))
            p[r][k] += left * right[k] + to_float(row[after<INSIDE>(image, place.other_j, k)]);
        }
      }
    }
  }
#pragma unroll
  for (int tap = 0; tap < mask_width; ++tap) {
#pragma unroll
    for (int a = 0; a < OUT_J; ++a) {
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) box[a][v] += p[a + tap][v + tap];
    }
  }
}

template <bool INSIDE>
__device__ __forceinline__ void box_from_taps(Real (&box)[OUT_J][VECTOR], const Image& image,
                                              const Place& place, int tile_at, int y, int other_y) {
#pragma unroll 2
  for (int tap = 0; tap < mask_width; ++tap) {
    if constexpr (staged) {
#pragma unroll
      for (int a = 0; a < OUT_J; ++a) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v)
          box[a][v] += place.tile[tile_at + (a + tap) * BLOCK_D * pitch + v + tap];
      }
    } else {
#pragma unroll(UNROLL)
      for (int ci = 0; ci < channels_in; ++ci) {
        const T* gamma = covariances(image, y, place.j, other_y, place.other_j) + ci * image.gamma_step;
        const Mean* lefts = means(image, y, place.j) + ci * image.plane;
        const Mean* rights = means(image, other_y, place.other_j) + ci * image.plane;
        Real right[VECTOR];
#pragma unroll
        for (int v = 0; v < VECTOR; ++v)
          right[v] = to_float(rights[after<INSIDE>(image, place.other_j, v + tap)]);
#pragma unroll
        for (int a = 0; a < OUT_J; ++a) {
          const int x = after<INSIDE>(image, place.j, a + tap);
          const Real left = to_float(lefts[x]);
          const T* row = gamma + x * image.gamma_pitch;
#pragma unroll
          for (int v = 0; v < VECTOR; ++v)
            box[a][v] += left * right[v] + to_float(row[after<INSIDE>(image, place.other_j, v + tap)]);
        }
      }
    }
  }
}

// ---- the outputs

// The outputs of factored.cu and factored_any.cu. Needs VECTOR, OUT_J, FAN, STORE, Place, common/overlap.inl,
// common/vector.cuh and conv_covariance/image.inl.

// FAN output channels of a thread's outputs in one row: all are loaded before the first is stored.
struct Fan {
  Vector<T, VECTOR> value[FAN][OUT_J];
};

template <bool INSIDE>
__device__ __forceinline__ bool wanted(const Image& image, const Place& place, int a) {
  // The columns are a multiple of VECTOR.
  return INSIDE || (place.j + a < image.columns && place.other_j < image.columns);
}

// The thread's first output of the first channel.
__device__ __forceinline__ T* outputs(const Image& image, const Place& place, int i, int other_i) {
  return image.input + static_cast<Index>(i * image.columns + place.j) * image.input_pitch +
         (other_i * image.columns + place.other_j);
}

template <bool INSIDE>
__device__ __forceinline__ void load_fan(Fan& fan, const Image& image, const Place& place, int c0,
                                         const T* first) {
#pragma unroll
  for (int f = 0; f < FAN; ++f) {
#pragma unroll
    for (int a = 0; a < OUT_J; ++a) {
      if (c0 + f < image.channels_out && wanted<INSIDE>(image, place, a))
        fan.value[f][a] = load_vector<VECTOR>(first + (c0 + f) * image.input_step + a * image.input_pitch);
    }
  }
}

template <bool INSIDE>
__device__ __forceinline__ void store_fan(const Fan& fan, const Image& image, const Place& place, int c0,
                                          T* first, const Real (&sum)[OUT_J][VECTOR]) {
  // Loads that are not by the read-only path stay behind stores that stand before them.
  Real weights[FAN];
#pragma unroll
  for (int f = 0; f < FAN; ++f) {
    if (overlapped && c0 + f < image.channels_out) weights[f] = to_float(image.c[c0 + f]);
  }
#pragma unroll
  for (int f = 0; f < FAN; ++f) {
    if (c0 + f >= image.channels_out) continue;
    const Real weight = overlapped ? weights[f] : to_float(image.c[c0 + f]);
#pragma unroll
    for (int a = 0; a < OUT_J; ++a) {
      if (!wanted<INSIDE>(image, place, a)) continue;
      Vector<T, VECTOR> vector;
#pragma unroll
      for (int v = 0; v < VECTOR; ++v)
        vector.element[v] = from_float<T>(to_float(fan.value[f][a].element[v]) + weight * sum[a][v]);
      T* to = first + (c0 + f) * image.input_step + a * image.input_pitch;
      if constexpr (STORE == Store::streaming) {
        store_vector_streaming<VECTOR>(to, vector);
      } else {
        store_vector<VECTOR>(to, vector);
      }
    }
  }
}

// Goes down the rows from begin_y to end_y; an output row i is complete after row i + mask_height - 1. `d` is
// the thread's i' - i, `block_d` that of the block's first diagonal; `tile_j` and `tile_other_j` are the
// columns of the block's first output.
template <bool INSIDE>
__device__ __forceinline__ void march(const Image& image, const Place& place, Real* tiles, int thread,
                                      int begin_y, int end_y, int d, int block_d, int tile_j,
                                      int tile_other_j) {
  Real sums[pending][OUT_J][VECTOR];  // the oldest first
#pragma unroll
  for (int m = 0; m < pending; ++m) zero(sums[m]);
  int tile_at = 0;
  if constexpr (staged) fill(tiles, image, thread, begin_y, block_d, tile_j, tile_other_j);
#pragma unroll 1
  for (int y = begin_y; y < end_y; ++y) {
    const int other_y = y + d;
    const int i = y - mask_height + 1, other_i = other_y - mask_height + 1;
    bool complete = i >= begin_y;
    if constexpr (staged) {
      __syncthreads();
      complete = complete && static_cast<unsigned>(other_i) < static_cast<unsigned>(image.rows);
    }
    Ahead ahead;
    if constexpr (staged && AHEAD > 0) {
      if (y + 1 < end_y) load_ahead(ahead, image, thread, y + 1, block_d, tile_j, tile_other_j);
    }
    Fan fan;
    T* const first = complete ? outputs(image, place, i, other_i) : image.input;
    if (INPUT == Input::early && complete) load_fan<INSIDE>(fan, image, place, 0, first);

    Real box[OUT_J][VECTOR];
    zero(box);
    if constexpr (BOX == Box::window) {
      box_from_window<INSIDE>(box, image, place, tile_at, y, other_y);
    } else {
      box_from_taps<INSIDE>(box, image, place, tile_at, y, other_y);
    }
    Real sum[OUT_J][VECTOR];
#pragma unroll
    for (int a = 0; a < OUT_J; ++a) {
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) {
        sum[a][v] = mask_height == 1 ? box[a][v] : sums[0][a][v] + box[a][v];
#pragma unroll
        for (int m = 0; m + 1 < pending; ++m) sums[m][a][v] = sums[m + 1][a][v] + box[a][v];
        sums[pending - 1][a][v] = box[a][v];
      }
    }
    if (complete) {
#pragma unroll 1
      for (int c0 = 0; c0 < image.channels_out; c0 += FAN) {
        if (INPUT == Input::late || c0 > 0) load_fan<INSIDE>(fan, image, place, c0, first);
        store_fan<INSIDE>(fan, image, place, c0, first, sum);
      }
    }
    if constexpr (staged) {
      // The other tile was last read before this row's barrier.
      tile_at = tile_elements - tile_at;
      if (y + 1 < end_y) {
        if constexpr (AHEAD > 0) {
          store_ahead(tiles + tile_at, ahead, image, thread, y + 1, block_d, tile_j, tile_other_j);
        } else {
          fill(tiles + tile_at, image, thread, y + 1, block_d, tile_j, tile_other_j);
        }
      }
    }
  }
}

// Launched with blocks of BLOCK_X x BLOCK_D x BLOCK_J over the second column, the diagonals and the first
// column; the grid's x goes over the tiles of both columns, the strips of MARCH rows and the batch, its y
// over the diagonals that a strip meets.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
    ENTRY(conv_covariance_factored)(InOutPointer<T> input, InputPointer<T> gamma, InputPointer<T> mu,
                                    InputPointer<T> c, int channels_out, int height, int width, int strips) {
  DYNAMIC_SHARED(Real, memory);
  const int thread = (threadIdx.z * BLOCK_D + threadIdx.y) * BLOCK_X + threadIdx.x;
  Image image;
  image.height = height;
  image.width = width;
  image.rows = height - mask_height + 1;
  image.columns = width - mask_width + 1;
  image.channels_out = channels_out;
  image.plane = height * width;
  image.gamma_pitch = channels_in * image.plane;
  image.gamma_step = image.gamma_pitch * image.plane + image.plane;
  image.input_pitch = channels_out * image.rows * image.columns;
  image.input_step = image.input_pitch * (image.rows * image.columns) + image.rows * image.columns;
  image.c = c;

  const int tiles_x = (image.columns + tile_columns - 1) / tile_columns;
  const int tiles_j = (image.columns + tile_rows - 1) / tile_rows;
  int block = blockIdx.x;
  const int tile_other_j = block % tiles_x * tile_columns;
  block /= tiles_x;
  const int tile_j = block % tiles_j * tile_rows;
  block /= tiles_j;
  const int strip_begin = block % strips * MARCH;
  const long long b = block / strips;
  const int strip_end = min(strip_begin + MARCH, image.rows);
  // The first diagonal holds the strip's last row alone, at i' = 0; the last holds its first row alone.
  const int block_d = static_cast<int>(blockIdx.y) * BLOCK_D - (strip_begin + MARCH - 1);
  const int d = block_d + static_cast<int>(threadIdx.y);
  // The output rows i for which i' is a row too: on any diagonal of a block that shares tiles, else on the
  // thread's own.
  const int begin = max(strip_begin, staged ? -(block_d + BLOCK_D - 1) : -d);
  const int end = min(strip_end, image.rows - (staged ? block_d : d));

  start();
  image.input = input + b * image.input_pitch * image.input_pitch;
  image.gamma = gamma + b * image.gamma_pitch * image.gamma_pitch;
  const T* mu_image = mu + b * image.gamma_pitch;
  image.mu = MeanOf<mu_staged>::either(mu_image, memory + 2 * tile_elements);
  if constexpr (mu_staged) {
    for (int n = thread; n < channels_in * image.plane; n += threads)
      memory[2 * tile_elements + n] = to_float(mu_image[n]);
    __syncthreads();
  }
  Place place;
  place.j = tile_j + static_cast<int>(threadIdx.z) * OUT_J;
  place.other_j = tile_other_j + static_cast<int>(threadIdx.x) * VECTOR;
  place.tile = memory +
               (static_cast<int>(threadIdx.z) * OUT_J * BLOCK_D + static_cast<int>(threadIdx.y)) * pitch +
               static_cast<int>(threadIdx.x) * VECTOR;
  if (begin >= end) return;  // where a block shares tiles, all its threads or none
  if (!staged && (place.j >= image.columns || place.other_j >= image.columns)) return;
  if (tile_j + tile_rows <= image.columns && tile_other_j + tile_columns <= image.columns) {
    march<true>(image, place, memory, thread, begin, end + mask_height - 1, d, block_d, tile_j, tile_other_j);
  } else {
    march<false>(image, place, memory, thread, begin, end + mask_height - 1, d, block_d, tile_j,
                 tile_other_j);
  }
}
