// conv_covariance/factored_any for sm_90a, rendered by Tunesmith from templates/conv_covariance/factored_any.cu: change that and render again.
// compiled in: dtype=f32
// config: MARCH=1 STAGING=none BLOCK_X=16 VECTOR=1 BLOCK_D=4 BLOCK_J=2 OUT_J=1 CHUNK=4 GAMMA_VECTOR=1 FILL=2 START=plain TRIGGER=none MU_IN=global UNROLL=4 FAN=4 INPUT=late STORE=plain INDEX_BITS=32 RESIDENT_WARPS=16

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

// ---- what this variant is
using T = float;  // dtype=f32
constexpr int MARCH = 1;
enum class Staging { none, flat, padded };
constexpr Staging STAGING = Staging::none;
constexpr int BLOCK_X = 16;
constexpr int VECTOR = 1;
constexpr int BLOCK_D = 4;
constexpr int BLOCK_J = 2;
constexpr int OUT_J = 1;
constexpr int CHUNK = 4;
constexpr int GAMMA_VECTOR = 1;
constexpr int FILL = 2;
enum class Start { plain, overlapped };
constexpr Start START = Start::plain;
enum class Trigger { none, early };
constexpr Trigger TRIGGER = Trigger::none;
enum class MuIn { global, shared };
constexpr MuIn MU_IN = MuIn::global;
constexpr int UNROLL = 4;
constexpr int FAN = 4;
enum class Input { late, early };
constexpr Input INPUT = Input::late;
enum class Store { plain, streaming };
constexpr Store STORE = Store::plain;
constexpr int INDEX_BITS = 32;
constexpr int RESIDENT_WARPS = 16;
#define ENTRY(name) name##_2f3d38a2

// ---- templates/conv_covariance/factored_any.cu
// conv_covariance as in factored.cu, where the box filter along the shared diagonal is explained, for a mask
// of any size and any number of input channels, which are arguments: one binary serves them all. It knows
// only the element type.
//
// A thread holds the outputs that are begun and not complete in slots, the oldest first: as many as its MARCH
// has rows, or most_slots for a mask of at most so many rows. The columns of the box are taken 1 to CHUNK at
// a time, for each number of which there is code of its own.

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
constexpr int most_slots = 8;
constexpr int slots = smaller(MARCH, most_slots);
constexpr int write_part = smaller(GAMMA_VECTOR, lanes);

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

struct Mask {
  int height, width, channels;  // of the input
};

// p in shared memory: two tiles, each of so many rows (values of x) times BLOCK_D diagonals times `columns`
// values of x', with `pitch` sums from one such row to the next.
struct Tiles {
  int row_vectors, vectors;
  unsigned reciprocal;  // of row_vectors, times 2^32, rounded up
  int pitch, elements;
};
__device__ __forceinline__ Tiles tiles_of(const Mask& mask, int pitch) {
  Tiles tiles;
  tiles.row_vectors = ceil_divide(tile_columns + mask.width - 1, GAMMA_VECTOR);
  const int rows = (tile_rows + mask.width - 1) * BLOCK_D;
  tiles.vectors = rows * tiles.row_vectors;
  tiles.reciprocal = 0xffffffffu / static_cast<unsigned>(tiles.row_vectors) + 1;
  tiles.pitch = pitch;
  tiles.elements = rows * pitch;
  return tiles;
}

// The tile for row y, whose first diagonal is d and whose first columns are j and other_j; a thread has FILL
// vectors at once.
__device__ __forceinline__ void fill(Real* tile, const Image& image, const Mask& mask, const Tiles& tiles,
                                     int thread, int y, int d, int j, int other_j) {
#pragma unroll 1
  for (int first = thread; first < tiles.vectors; first += FILL * threads) {
    bool inside[FILL];
    int to[FILL];
    const T* gamma[FILL];
    const Mean* left[FILL];
    const Mean* right[FILL];
    Real p[FILL][GAMMA_VECTOR];
#pragma unroll
    for (int e = 0; e < FILL; ++e) {
      const int n = first + e * threads;
      // Exact, as n times row_vectors is less than 2^32; row_vectors is 2 or more.
      const int q = static_cast<int>(static_cast<unsigned long long>(n) * tiles.reciprocal >> 32);
      const int k = n - q * tiles.row_vectors;
      const int x = j + q / BLOCK_D, other_y = y + d + q % BLOCK_D, other_x = other_j + k * GAMMA_VECTOR;
      // The width is a multiple of GAMMA_VECTOR, so a vector is inside as a whole or not at all.
      inside[e] = n < tiles.vectors && x < image.width && other_x < image.width &&
                  static_cast<unsigned>(other_y) < static_cast<unsigned>(image.height);
      to[e] = n < tiles.vectors ? q * tiles.pitch + k * GAMMA_VECTOR : -1;
      gamma[e] = inside[e] ? covariances(image, y, x, other_y, other_x) : image.gamma;
      left[e] = inside[e] ? means(image, y, x) : image.mu;
      right[e] = inside[e] ? means(image, other_y, other_x) : image.mu;
#pragma unroll
      for (int v = 0; v < GAMMA_VECTOR; ++v) p[e][v] = 0;
    }
#pragma unroll 1
    for (int channel = 0; channel < mask.channels; channel += UNROLL) {
      // All are asked for before the first is used; of channels that do not exist zeros are added.
      Real left_mean[UNROLL][FILL], right_mean[UNROLL][FILL][GAMMA_VECTOR], term[UNROLL][FILL][GAMMA_VECTOR];
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        const bool exists = channel + u < mask.channels;
#pragma unroll
        for (int e = 0; e < FILL; ++e) {
          left_mean[u][e] = 0;
#pragma unroll
          for (int v = 0; v < GAMMA_VECTOR; ++v) right_mean[u][e][v] = term[u][e][v] = 0;
          if (!exists) continue;
          left_mean[u][e] = to_float(left[e][u * image.plane]);
          const Vector<T, GAMMA_VECTOR> vector = load_vector<GAMMA_VECTOR>(gamma[e] + u * image.gamma_step);
#pragma unroll
          for (int v = 0; v < GAMMA_VECTOR; ++v) {
            right_mean[u][e][v] = to_float(right[e][u * image.plane + v]);
            term[u][e][v] = to_float(vector.element[v]);
          }
        }
      }
#pragma unroll
      for (int e = 0; e < FILL; ++e) {
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
#pragma unroll
          for (int v = 0; v < GAMMA_VECTOR; ++v)
            p[e][v] += left_mean[u][e] * right_mean[u][e][v] + term[u][e][v];
        }
        gamma[e] += UNROLL * image.gamma_step;
        left[e] += UNROLL * image.plane;
        right[e] += UNROLL * image.plane;
      }
    }
#pragma unroll
    for (int e = 0; e < FILL; ++e) {
      if (to[e] < 0) continue;
#pragma unroll
      for (int v = 0; v < GAMMA_VECTOR; v += write_part) {
        Vector<Real, write_part> part;
#pragma unroll
        for (int w = 0; w < write_part; ++w) part.element[w] = inside[e] ? p[e][v + w] : Real(0);
        store_vector<write_part>(tile + to[e] + v, part);
      }
    }
  }
}

// ---- one box row

struct Place {
  int j, other_j;    // of the thread's first output
  const Real* tile;  // where its part of a staged tile begins
};

using Box = Real[OUT_J][VECTOR];

// The columns [tap, tap + TAPS) of the box.
template <int TAPS>
__device__ __forceinline__ void add_taps(Box& box, const Image& image, const Mask& mask, const Place& place,
                                         const Real* tile, int row_pitch, int y, int other_y, int tap) {
  if constexpr (staged) {
    const Real* from = tile + tap * (row_pitch + 1);
#pragma unroll
    for (int k = 0; k < TAPS; ++k) {
#pragma unroll
      for (int a = 0; a < OUT_J; ++a) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) box[a][v] += from[a * row_pitch + v];
      }
      from += row_pitch + 1;
    }
  } else {
    const T* gamma = covariances(image, y, place.j + tap, other_y, place.other_j + tap);
    const Mean* lefts = means(image, y, place.j + tap);
    const Mean* rights = means(image, other_y, place.other_j + tap);
    // Outputs beyond the last column are computed from that column and not stored.
    int column[OUT_J + TAPS - 1];
#pragma unroll
    for (int c = 0; c < OUT_J + TAPS - 1; ++c)
      column[c] = OUT_J == 1 ? c : min(c, image.width - 1 - (place.j + tap));
#pragma unroll 1
    for (int channel = 0; channel < mask.channels; channel += UNROLL) {
      // All are asked for before the first is used; of channels that do not exist zeros are added.
      Real left[UNROLL][OUT_J + TAPS - 1], right[UNROLL][VECTOR + TAPS - 1],
          covariance[UNROLL][TAPS][OUT_J][VECTOR];
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        const bool exists = channel + u < mask.channels;
        const T* own = gamma + u * image.gamma_step;
#pragma unroll
        for (int k = 0; k < TAPS; ++k) {
#pragma unroll
          for (int n = 0; n < OUT_J * VECTOR; ++n) {
            const int a = n / VECTOR, v = n % VECTOR;
            covariance[u][k][a][v] = exists ? to_float(own[column[a + k] * image.gamma_pitch + (v + k)]) : 0;
          }
        }
#pragma unroll
        for (int c = 0; c < OUT_J + TAPS - 1; ++c)
          left[u][c] = exists ? to_float(lefts[u * image.plane + column[c]]) : 0;
#pragma unroll
        for (int c = 0; c < VECTOR + TAPS - 1; ++c)
          right[u][c] = exists ? to_float(rights[u * image.plane + c]) : 0;
      }
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
#pragma unroll
        for (int k = 0; k < TAPS; ++k) {
#pragma unroll
          for (int n = 0; n < OUT_J * VECTOR; ++n) {
            const int a = n / VECTOR, v = n % VECTOR;
            box[a][v] += left[u][a + k] * right[u][v + k] + covariance[u][k][a][v];
          }
        }
      }
      gamma += UNROLL * image.gamma_step;
      lefts += UNROLL * image.plane;
      rights += UNROLL * image.plane;
    }
  }
}

template <int TAPS>
__device__ __forceinline__ void add_taps_of(int taps, Box& box, const Image& image, const Mask& mask,
                                            const Place& place, const Real* tile, int row_pitch, int y,
                                            int other_y, int tap) {
  if (taps == TAPS) {
    add_taps<TAPS>(box, image, mask, place, tile, row_pitch, y, other_y, tap);
  } else if constexpr (TAPS > 1) {
    add_taps_of<TAPS - 1>(taps, box, image, mask, place, tile, row_pitch, y, other_y, tap);
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

// Goes down the rows from begin to end + mask.height - 1; an output row i is complete after row
// i + mask.height - 1. `d` is the thread's i' - i, `block_d` that of the block's first diagonal; `tile_j` and
// `tile_other_j` are the columns of the block's first output.
__device__ __forceinline__ void march(const Image& image, const Mask& mask, const Place& place, Real* memory,
                                      const Tiles& tiles, int thread, int begin, int end, int d, int block_d,
                                      int tile_j, int tile_other_j) {
  const int row_pitch = BLOCK_D * tiles.pitch;
  const int rows = end - begin + mask.height - 1;
  Real sums[slots][OUT_J][VECTOR];
#pragma unroll
  for (int m = 0; m < slots; ++m) {
#pragma unroll
    for (int n = 0; n < OUT_J * VECTOR; ++n) sums[m][n / VECTOR][n % VECTOR] = 0;
  }
  int tile_at = 0;
  if constexpr (staged) fill(memory, image, mask, tiles, thread, begin, block_d, tile_j, tile_other_j);
#pragma unroll 1
  for (int r = 0; r < rows; ++r) {
    const int y = begin + r, other_y = y + d;
    const int i = y - mask.height + 1, other_i = other_y - mask.height + 1;
    const bool is_last = r >= mask.height - 1;  // of the first slot's rows
    bool complete = is_last;
    if constexpr (staged) {
      __syncthreads();
      complete = complete && static_cast<unsigned>(other_i) < static_cast<unsigned>(image.rows);
    }
    Fan fan;
    T* const first = complete ? outputs(image, place, i, other_i) : image.input;
    if (INPUT == Input::early && complete) load_fan<false>(fan, image, place, 0, first);

    Box box = {};
#pragma unroll 1
    for (int tap = 0; tap < mask.width; tap += CHUNK) {
      add_taps_of<CHUNK>(smaller(CHUNK, mask.width - tap), box, image, mask, place, place.tile + tile_at,
                         row_pitch, y, other_y, tap);
    }
#pragma unroll
    for (int m = 0; m < slots; ++m) {
      if (m == 0 || (m <= r && m < mask.height)) {
#pragma unroll
        for (int n = 0; n < OUT_J * VECTOR; ++n)
          sums[m][n / VECTOR][n % VECTOR] += box[n / VECTOR][n % VECTOR];
      }
    }
    if (complete) {
#pragma unroll 1
      for (int c0 = 0; c0 < image.channels_out; c0 += FAN) {
        if (INPUT == Input::late || c0 > 0) load_fan<false>(fan, image, place, c0, first);
        store_fan<false>(fan, image, place, c0, first, sums[0]);
      }
    }
    if (is_last) {
#pragma unroll
      for (int m = 0; m < slots; ++m) {
#pragma unroll
        for (int n = 0; n < OUT_J * VECTOR; ++n)
          sums[m][n / VECTOR][n % VECTOR] =
              m + 1 < slots ? sums[m + 1 < slots ? m + 1 : m][n / VECTOR][n % VECTOR] : 0;
      }
    }
    if constexpr (staged) {
      // The other tile was last read before this row's barrier.
      tile_at = tiles.elements - tile_at;
      if (r + 1 < rows)
        fill(memory + tile_at, image, mask, tiles, thread, y + 1, block_d, tile_j, tile_other_j);
    }
  }
}

// Launched with blocks of BLOCK_X x BLOCK_D x BLOCK_J over the second column, the diagonals and the first
// column; the grid's x goes over the tiles of both columns, the strips of MARCH rows and the batch, its y
// over the diagonals that a strip meets. `pitch` is that of staged tiles.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
    ENTRY(conv_covariance_factored_any)(InOutPointer<T> input, InputPointer<T> gamma, InputPointer<T> mu,
                                        InputPointer<T> c, int channels_out, int channels_in, int height,
                                        int width, int mask_height, int mask_width, int strips, int pitch) {
  DYNAMIC_SHARED(Real, memory);
  const int thread = (threadIdx.z * BLOCK_D + threadIdx.y) * BLOCK_X + threadIdx.x;
  const Mask mask = {mask_height, mask_width, channels_in};
  const Tiles tiles = staged ? tiles_of(mask, pitch) : Tiles{};
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
  image.mu = MeanOf<mu_staged>::either(mu_image, memory + 2 * tiles.elements);
  if constexpr (mu_staged) {
    Real* to = memory + 2 * tiles.elements;
    for (int n = thread; n < channels_in * image.plane; n += threads) to[n] = to_float(mu_image[n]);
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
  march(image, mask, place, memory, tiles, thread, begin, end, d, block_d, tile_j, tile_other_j);
}
