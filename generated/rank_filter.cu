// To be read: nothing is built from this text. It is the base for
// depth=1 height=4096 width=4096 window_depth=1 window_height=3 window_width=3 footprint=box rank=4 boundary=reflect origin_z=0 origin_y=0 origin_x=0 dtype=f32 value="0",
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// rank_filter/base for sm_90a, rendered by Tunesmith from templates/rank_filter/base.cu: change that and render again.
// compiled in: dtype=f32
// config: BLOCK=256

// ---- templates/common/boundary.cuh
// SPDX-License-Identifier: Apache-2.0
// Which sample stands at a place outside an array, by the words of scipy.ndimage. In kernels a boundary is an
// argument: only what lies at an edge asks for it.

// As tunesmith/boundary.h numbers them.
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
// SPDX-License-Identifier: Apache-2.0
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
// SPDX-License-Identifier: Apache-2.0
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
#define ENTRY(name) name##_d030bcd6

// ---- templates/rank_filter/base.cu
// SPDX-License-Identifier: Apache-2.0
// rank_filter, the plain kernels: any rank of any window, and extremes along one axis. Only the element type
// is compiled in.


using Order = Keys<T>;
using Key = Order::Key;
constexpr Key last_key = Order::bits == 8 * sizeof(Key) ? ~Key(0) : (Key(1) << Order::bits % 64) - 1;

// Out of line where it is long, which keeps the code small.
__device__ __noinline__ long long place_outside(long long place, long long size, int boundary) {
  return sample_at(place, size, boundary);
}
__device__ __forceinline__ long long place_at(long long place, long long size, int boundary) {
  return place >= 0 && place < size ? place : place_outside(place, size, boundary);
}

__device__ __forceinline__ Key lesser(Key a, Key b) { return a < b ? a : b; }
__device__ __forceinline__ Key greater(Key a, Key b) { return a < b ? b : a; }

// ---- any rank

// Outputs of a thread below each other, which share what they read.
constexpr int together = 4;

struct Window {
  const T* image;
  long long depth, height, width;  // of the image
  long long z, y, x;               // of the first output's first place
  int planes, rows, columns;
  const unsigned long long* bits;  // which places count; null: all
  int boundary;
  T outside;
};

// Calls take(key, k, i, j) for the elements of the rows from `begin` to `end` of all of the window's planes.
template <typename Take>
__device__ __forceinline__ void for_rows(const Window& w, int begin, int end, const Take& take) {
#pragma unroll 1
  for (int k = 0; k < w.planes; ++k) {
    const long long plane = place_at(w.z + k, w.depth, w.boundary);
#pragma unroll 1
    for (int i = begin; i < end; ++i) {
      const long long row = place_at(w.y + i, w.height, w.boundary);
      const bool is_there = plane >= 0 && row >= 0;
      const T* const from = w.image + (is_there ? (plane * w.height + row) * w.width : 0);
      if (is_there && w.x >= 0 && w.x + w.columns <= w.width) {
        const T* next = from + w.x;
#pragma unroll 1
        for (int j = 0; j < w.columns; ++j) take(Order::key(*next++), k, i, j);
        continue;
      }
#pragma unroll 1
      for (int j = 0; j < w.columns; ++j) {
        const long long column = place_at(w.x + j, w.width, w.boundary);
        take(Order::key(is_there && column >= 0 ? from[column] : w.outside), k, i, j);
      }
    }
  }
}

__device__ __forceinline__ bool has_row(const Window& w, int i) {
  return static_cast<unsigned>(i) < static_cast<unsigned>(w.rows);
}
__device__ __forceinline__ bool counts(const Window& w, int k, int i, int j) {
  const int place = (k * w.rows + i) * w.columns + j;
  return (w.bits[place / 64] >> (place % 64) & 1) != 0;
}

// So many of the least keys, in order.
template <int size>
struct Least {
  Key key[size];
  __device__ __forceinline__ void insert(Key given) {
#pragma unroll
    for (int n = 0; n < size; ++n) {
      const Key less = lesser(given, key[n]);
      given = greater(given, key[n]);
      key[n] = less;
    }
  }
};

// Ranks near an end of the order, of two outputs at a time: the rows that both windows of a box have are
// taken once. A `turn` of all bits makes the order the other way round.
template <int size, typename Write>
__device__ __forceinline__ void find_near_end(const Window& w, int rank, Key turn, const Write& write) {
  const bool is_box = w.bits == nullptr;
#pragma unroll 1
  for (int pair = 0; pair < together; pair += 2) {
    Least<size> common;
#pragma unroll
    for (int n = 0; n < size; ++n) common.key[n] = last_key;
    if (is_box)
      for_rows(w, pair + 1, pair + w.rows, [&](Key key, int, int, int) { common.insert(key ^ turn); });
#pragma unroll 1
    for (int output = pair; output < pair + 2; ++output) {
      Least<size> least = common;
      const int first = is_box && output > pair ? output + w.rows - 1 : output;
      for_rows(w, first, is_box ? first + 1 : first + w.rows, [&](Key key, int k, int i, int j) {
        if (is_box || counts(w, k, i - output, j)) least.insert(key ^ turn);
      });
      Key found = least.key[0];
#pragma unroll
      for (int n = 1; n < size; ++n) found = n == rank ? least.key[n] : found;
      write(output, found ^ turn);
    }
  }
}

// Any rank: how many elements are less than a pivot tells on which side of it the result is, and the elements
// beside the pivot are the result's new bounds. Pivots are where evenly spread elements would have the rank,
// and halfway in turns, as others would take too long.
template <bool is_box, typename Write>
__device__ __forceinline__ void find(const Window& w, int rank, int count, const Write& write) {
  Key from[together], to[together];
  int below[together], up_to[together];  // elements less than `from`, and up to `to`
#pragma unroll
  for (int n = 0; n < together; ++n) {
    from[n] = 0;
    to[n] = last_key;
    below[n] = 0;
    up_to[n] = count;
  }
  bool is_found = false;
  for (bool halfway = false; !is_found; halfway = !halfway) {
    Key pivot[together], least[together], greatest[together];
    int less[together];
#pragma unroll
    for (int n = 0; n < together; ++n) {
      const float even =
          (static_cast<float>(rank - below[n]) + 0.5f) / static_cast<float>(up_to[n] - below[n]);
      const float part = halfway ? 0.5f : even < 0.99f ? even : 0.99f;
      const Key between = to[n] - from[n] - 1;
      pivot[n] = from[n];
      if (from[n] < to[n]) pivot[n] += 1 + static_cast<Key>(part * static_cast<float>(between));
      least[n] = last_key;
      greatest[n] = 0;
      less[n] = 0;
    }
    for_rows(w, 0, w.rows + together - 1, [&](Key key, int k, int i, int j) {
      const auto compare = [&](int n) {
        if (key < pivot[n]) {
          ++less[n];
          greatest[n] = greater(greatest[n], key);
        } else {
          least[n] = lesser(least[n], key);
        }
      };
      const bool have_all = is_box && i >= together - 1 && i < w.rows;
#pragma unroll
      for (int n = 0; n < together; ++n) {
        if (have_all || (has_row(w, i - n) && (is_box || counts(w, k, i - n, j)))) compare(n);
      }
    });
    is_found = true;
#pragma unroll
    for (int n = 0; n < together; ++n) {
      if (less[n] <= rank) {
        from[n] = least[n];
        below[n] = less[n];
        if (less[n] == rank) to[n] = from[n];
      } else {
        to[n] = greatest[n];
        up_to[n] = less[n];
        if (less[n] == rank + 1) from[n] = to[n];
      }
      is_found = is_found && from[n] == to[n];
    }
  }
#pragma unroll
  for (int n = 0; n < together; ++n) write(n, from[n]);
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
  const bool backward = rank > count - 1 - rank;
  const int left = backward ? count - 1 - rank : rank;
  const Key turn = backward ? last_key : 0;
  const long long groups = (height + together - 1) / together, all = depth * groups * width;
  const long long step = static_cast<long long>(gridDim.x) * BLOCK;
  for (long long at = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; at < all; at += step) {
    const long long line = at / width, x = at - line * width, z = line / groups;
    const long long y = (line - z * groups) * together;
    const Window window = {image,
                           depth,
                           height,
                           width,
                           z - before_z,
                           y - before_y,
                           x - before_x,
                           planes,
                           rows,
                           columns,
                           has_bits != 0 ? bits : nullptr,
                           boundary,
                           from_outside<T>(outside)};
    const auto write = [&](int n, Key found) {
      if (y + n < height) output[(z * height + y + n) * width + x] = Order::value(found);
    };
    if (left < 5) {  // the median of 9
      find_near_end<5>(window, left, turn, write);
    } else if (left < 14) {  // and of 25 and 27
      find_near_end<14>(window, left, turn, write);
    } else if (has_bits != 0) {
      find<false>(window, rank, count, write);
    } else {
      find<true>(window, rank, count, write);
    }
  }
}

// ---- any rank of bytes

// A thread goes down a column with the histogram of its window, of at most 65535 bytes; from one output to
// the next the result is near. Of other types there is nothing.
constexpr int byte_threads = 64;

extern "C" __global__ void __launch_bounds__(byte_threads)
    ENTRY(rank_filter_base_bytes)(const T* image, T* output, long long depth, long long height,
                                  long long width, int planes, int rows, int columns, int before_z,
                                  int before_y, int before_x, int rank, int run, int boundary,
                                  double outside) {
  __shared__ unsigned short counts[sizeof(T) == 1 ? 256 : 1][byte_threads];
  if constexpr (sizeof(T) == 1) {
    const auto count = [&](Key key) -> unsigned short& { return counts[key][threadIdx.x]; };
    const long long runs = (height + run - 1) / run, all = depth * runs * width;
    const long long step = static_cast<long long>(gridDim.x) * byte_threads;
    for (long long at = static_cast<long long>(blockIdx.x) * byte_threads + threadIdx.x; at < all;
         at += step) {
      const long long line = at / width, x = at - line * width, z = line / runs;
      const long long y = (line - z * runs) * run;
      const Window window = {image,
                             depth,
                             height,
                             width,
                             z - before_z,
                             y - before_y,
                             x - before_x,
                             planes,
                             rows,
                             columns,
                             nullptr,
                             boundary,
                             from_outside<T>(outside)};
      for (Key key = 0; key < 256; ++key) count(key) = 0;
      Key found = 0;
      int below = 0;  // bytes less than `found`
      const auto enter = [&](Key key, int, int, int) {
        ++count(key);
        below += key < found;
      };
      const auto leave = [&](Key key, int, int, int) {
        --count(key);
        below -= key < found;
      };
      for_rows(window, 0, rows, enter);
      T* to = output + (z * height + y) * width + x;
      for (int n = 0;;) {
        while (below > rank) below -= count(--found);
        while (below + count(found) <= rank) below += count(found++);
        *to = Order::value(found);
        to += width;
        if (++n == run || y + n == height) break;
        for_rows(window, n - 1, n, leave);
        for_rows(window, n - 1 + rows, n + rows, enter);
      }
    }
  }
}

// ---- extremes along one axis

// Outputs of a thread behind each other along the axis: what all of their windows have is taken once.
constexpr int in_run = 8;

// An image of `lines` x `length` x `beside` elements, along `length`.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(rank_filter_base_extreme)(const T* image, T* output, long long lines, long long length,
                                    long long beside, int window, int before, int is_greatest, int boundary,
                                    double outside) {
  const Key turn = is_greatest != 0 ? last_key : 0;
  const T other = from_outside<T>(outside);
  const long long runs = (length + in_run - 1) / in_run, all = lines * runs * beside;
  const long long step = static_cast<long long>(gridDim.x) * BLOCK;
  for (long long at = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; at < all; at += step) {
    const long long row = at / beside, line = row / runs, run = (row - line * runs) * in_run;
    const long long begin = line * length * beside + (at - row * beside), first = run - before;
    const T* const from = image + begin;
    const auto read = [&](int i) {
      const long long place = place_at(first + i, length, boundary);
      return Order::key(place >= 0 ? from[place * beside] : other) ^ turn;
    };
    const bool inside = first >= 0 && first + window + in_run - 1 <= length;
    Key found[in_run], common = last_key;
    if (inside && window >= in_run) {
      // From each output's first element to the last of the first output's window, and what is behind that.
      const T* place = from + (first + in_run - 1) * beside;
      const auto next_key = [&](long long by) {
        const Key key = Order::key(*place) ^ turn;
        place += by;
        return key;
      };
#pragma unroll 8
      for (int i = in_run - 1; i < window; ++i) common = lesser(common, next_key(beside));
      Key behind = last_key;
      found[0] = common;
#pragma unroll
      for (int n = 1; n < in_run; ++n) {
        behind = lesser(behind, next_key(beside));
        found[n] = lesser(common, behind);
      }
      place = from + (first + in_run - 2) * beside;
      Key before = last_key;
#pragma unroll
      for (int n = in_run - 2; n >= 0; --n) {
        before = lesser(before, next_key(-beside));
        found[n] = lesser(found[n], before);
      }
    } else if (inside) {
      Key key[2 * in_run - 2];
#pragma unroll
      for (int i = 0; i < 2 * in_run - 2; ++i)
        key[i] = i < window + in_run - 1 ? Order::key(from[(first + i) * beside]) ^ turn : last_key;
#pragma unroll
      for (int n = 0; n < in_run; ++n) found[n] = key[n];
#pragma unroll
      for (int i = 1; i < in_run - 1; ++i) {
        if (i >= window) break;
#pragma unroll
        for (int n = 0; n < in_run; ++n) found[n] = lesser(found[n], key[n + i]);
      }
    } else {
#pragma unroll
      for (int n = 0; n < in_run; ++n) found[n] = last_key;
#pragma unroll 1
      for (int i = 0; i < window + in_run - 1; ++i) {
        const Key key = read(i);
        if (i >= in_run - 1 && i < window) {  // all windows have it
          common = lesser(common, key);
          continue;
        }
#pragma unroll
        for (int n = 0; n < in_run; ++n) {
          if (static_cast<unsigned>(i - n) < static_cast<unsigned>(window)) found[n] = lesser(found[n], key);
        }
      }
#pragma unroll
      for (int n = 0; n < in_run; ++n) found[n] = lesser(found[n], common);
    }
#pragma unroll
    for (int n = 0; n < in_run; ++n) {
      if (run + n < length) output[begin + (run + n) * beside] = Order::value(found[n] ^ turn);
    }
  }
}
