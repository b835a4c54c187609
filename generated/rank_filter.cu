// To be read: nothing is built from this text. It is the base for
// depth=1 height=4096 width=4096 window_depth=1 window_height=3 window_width=3 footprint=box rank=4 boundary=reflect origin_z=0 origin_y=0 origin_x=0 dtype=f32 value="0",
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// rank_filter/base for sm_90a, rendered by Tunesmith from templates/rank_filter/base.cu: change that and render again.
// compiled in: dtype=f32
// config: BLOCK=256

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

// ---- templates/rank_filter/rank_filter.cuh
// One total order of the elements of each type: NaN after all numbers, and all NaN alike; -0 before 0. A key
// is an unsigned integer whose order it is.

template <typename T>
struct Keys {  // signed and unsigned integers
  static constexpr bool is_signed = T(-1) < T(0);
  static constexpr int bits = 8 * sizeof(T);
  using Key = unsigned;
  static constexpr Key sign = is_signed ? 1u << (bits - 1) : 0u, mask = ~0u >> (32 - bits);
  static __device__ __forceinline__ Key key(T value) { return (static_cast<Key>(value) ^ sign) & mask; }
  static __device__ __forceinline__ T value(Key key) { return static_cast<T>(key ^ sign); }
};
template <>
struct Keys<long long> {
  static constexpr int bits = 64;
  using Key = unsigned long long;
  static constexpr Key sign = 1ull << 63;
  static __device__ __forceinline__ Key key(long long value) { return static_cast<Key>(value) ^ sign; }
  static __device__ __forceinline__ long long value(Key key) { return static_cast<long long>(key ^ sign); }
};

// Of floating-point numbers by their bits, the sign first. `infinity` without it.
template <typename Unsigned, Unsigned sign, Unsigned infinity>
__device__ __forceinline__ Unsigned key_of_bits(Unsigned bits) {
  constexpr Unsigned all = sign | (sign - 1);
  const Unsigned size = bits & (sign - 1);
  if (size > infinity) bits = sign - 1;  // a NaN
  return bits ^ ((bits & sign) != 0 ? all : sign);
}
template <typename Unsigned, Unsigned sign>
__device__ __forceinline__ Unsigned bits_of_key(Unsigned key) {
  constexpr Unsigned all = sign | (sign - 1);
  return key ^ ((key & sign) != 0 ? sign : all);
}

template <>
struct Keys<float> {
  static constexpr int bits = 32;
  using Key = unsigned;
  static __device__ __forceinline__ Key key(float value) {
    return key_of_bits<Key, 0x80000000u, 0x7f800000u>(__float_as_uint(value));
  }
  static __device__ __forceinline__ float value(Key key) {
    return __uint_as_float(bits_of_key<Key, 0x80000000u>(key));
  }
};
template <>
struct Keys<double> {
  static constexpr int bits = 64;
  using Key = unsigned long long;
  static constexpr Key sign = 1ull << 63;
  static __device__ __forceinline__ Key key(double value) {
    return key_of_bits<Key, sign, 0x7ffull << 52>(static_cast<Key>(__double_as_longlong(value)));
  }
  static __device__ __forceinline__ double value(Key key) {
    return __longlong_as_double(static_cast<long long>(bits_of_key<Key, sign>(key)));
  }
};
template <typename Half, unsigned infinity>
struct HalfKeys {
  static constexpr int bits = 16;
  using Key = unsigned;
  static __device__ __forceinline__ Key key(Half value) {
    return key_of_bits<Key, 0x8000u, infinity>(value.bits);
  }
  static __device__ __forceinline__ Half value(Key key) {
    Half half;
    half.bits = static_cast<unsigned short>(bits_of_key<Key, 0x8000u>(key));
    return half;
  }
};
template <>
struct Keys<Float16> : HalfKeys<Float16, 0x7c00u> {};
template <>
struct Keys<BFloat16> : HalfKeys<BFloat16, 0x7f80u> {};

// What stands outside an image, a number that the type holds.
template <typename T>
__device__ __forceinline__ T from_outside(double value) {
  return static_cast<T>(value);
}
template <>
__device__ __forceinline__ Float16 from_outside<Float16>(double value) {
  return from_float<Float16>(static_cast<float>(value));
}
template <>
__device__ __forceinline__ BFloat16 from_outside<BFloat16>(double value) {
  return from_float<BFloat16>(static_cast<float>(value));
}

// ---- what this variant is
using T = float;  // dtype=f32
constexpr int BLOCK = 256;
#define ENTRY(name) name##_8f25447e

// ---- templates/rank_filter/base.cu
// rank_filter, the plain kernel: one thread per output. Only the element type is compiled in.


using Order = Keys<T>;
using Key = Order::Key;

struct Window {
  const T* image;
  long long depth, height, width;  // of the image
  long long z, y, x;               // of the window's first place
  int planes, rows, columns;
  const unsigned long long* bits;  // which places count; null: all
  int boundary;
  T outside;
};

// Calls use(key) for each element that counts.
template <typename Use>
__device__ __forceinline__ void for_elements(const Window& w, const Use& use) {
  const bool inside = w.z >= 0 && w.z + w.planes <= w.depth && w.y >= 0 && w.y + w.rows <= w.height &&
                      w.x >= 0 && w.x + w.columns <= w.width;
  int place = 0;
  for (int k = 0; k < w.planes; ++k) {
    const long long plane = inside ? w.z + k : sample_at(w.z + k, w.depth, w.boundary);
    for (int i = 0; i < w.rows; ++i) {
      const long long row = inside ? w.y + i : sample_at(w.y + i, w.height, w.boundary);
      const T* const from = w.image + (plane * w.height + row) * w.width;
      for (int j = 0; j < w.columns; ++j, ++place) {
        if (w.bits != nullptr && (w.bits[place / 64] >> (place % 64) & 1) == 0) continue;
        const long long column = inside ? w.x + j : sample_at(w.x + j, w.width, w.boundary);
        const bool there = inside || (plane >= 0 && row >= 0 && column >= 0);
        use(Order::key(there ? from[column] : w.outside));
      }
    }
  }
}

// The smallest key that at least `rank` + 1 elements do not exceed. Near an end of the order by walking from
// key to key, of which there is one for each rank at most; else bit by bit.
__device__ __forceinline__ Key ranked(const Window& w, int rank, int count) {
  constexpr Key all = Order::bits == 8 * sizeof(Key) ? ~Key(0) : (Key(1) << Order::bits % 64) - 1;
  const bool backward = rank > count - 1 - rank;
  int left = backward ? count - 1 - rank : rank;
  if (left >= Order::bits) {
    Key found = 0;
    for (int bit = Order::bits - 1; bit >= 0; --bit) {
      const Key candidate = found | Key(1) << bit;
      int below = 0;
      for_elements(w, [&](Key key) { below += key < candidate; });
      if (below <= rank) found = candidate;
    }
    return found;
  }
  const Key turn = backward ? all : 0;  // then the order is the other way round
  Key from = 0;
  for (;;) {
    Key next = all;
    int alike = 0;
    for_elements(w, [&](Key given) {
      const Key key = given ^ turn;
      if (key < from) return;
      if (key == next) ++alike;
      if (key < next) {
        next = key;
        alike = 1;
      }
    });
    if (left < alike) return next ^ turn;
    left -= alike;
    from = next + 1;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(rank_filter_base)(const T* image, T* output, long long depth, long long height, long long width,
                            int planes, int rows, int columns, int before_z, int before_y, int before_x,
                            int rank, int count, int boundary, double outside, int has_bits, long long bits0,
                            long long bits1, long long bits2, long long bits3, long long bits4,
                            long long bits5, long long bits6, long long bits7, long long bits8,
                            long long bits9, long long bits10, long long bits11, long long bits12,
                            long long bits13, long long bits14, long long bits15, long long bits16,
                            long long bits17, long long bits18, long long bits19, long long bits20,
                            long long bits21, long long bits22, long long bits23, long long bits24,
                            long long bits25, long long bits26, long long bits27, long long bits28,
                            long long bits29, long long bits30, long long bits31) {
  const long long places[] = {bits0,  bits1,  bits2,  bits3,  bits4,  bits5,  bits6,  bits7,
                              bits8,  bits9,  bits10, bits11, bits12, bits13, bits14, bits15,
                              bits16, bits17, bits18, bits19, bits20, bits21, bits22, bits23,
                              bits24, bits25, bits26, bits27, bits28, bits29, bits30, bits31};
  unsigned long long bits[32];
  if (has_bits != 0) {
    for (int n = 0; n < 32; ++n) bits[n] = static_cast<unsigned long long>(places[n]);
  }
  const long long outputs = depth * height * width;
  const long long step = static_cast<long long>(gridDim.x) * BLOCK;
  for (long long at = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; at < outputs; at += step) {
    const long long line = at / width;
    const Window window = {image,
                           depth,
                           height,
                           width,
                           line / height - before_z,
                           line % height - before_y,
                           at % width - before_x,
                           planes,
                           rows,
                           columns,
                           has_bits != 0 ? bits : nullptr,
                           boundary,
                           from_outside<T>(outside)};
    output[at] = Order::value(ranked(window, rank, count));
  }
}
