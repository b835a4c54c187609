// To be read: nothing is built from this text. It is the base for
// batch=1 height=4096 width=4096 channels=1 filters=2 taps_y=9 taps_x=9 results=norm boundary=reflect origin_y=0 origin_x=0 dtype=f32 value="0",
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// filter_bank/base for sm_90a, rendered by Tunesmith from templates/filter_bank/base.cu: change that and render again.
// compiled in: dtype=f32 EACH=0 NORM=2
// config: BLOCK=128 ROWS=8

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

// ---- templates/common/widened.cuh
// SPDX-License-Identifier: Apache-2.0
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

// ---- templates/filter_bank/filter_bank.cuh
// SPDX-License-Identifier: Apache-2.0
// What becomes of a place's sums, one of each filter.

// Limits between which the sum of the squares is neither too large nor so small that it loses digits, and the
// power of two that takes any other number there.
template <typename Sum>
struct NormScale {
  static constexpr float least = 0x1p-80f, most = 0x1p100f, power = 0x1p100f;
};
template <>
struct NormScale<double> {
  static constexpr double least = 0x1p-600, most = 0x1p800, power = 0x1p600;
};

template <typename Sum, int count>
__device__ __forceinline__ Sum sum_of_squares(const Sum (&sums)[count], Sum scale) {
  Sum squares = 0;
#pragma unroll
  for (int f = 0; f < count; ++f) squares += (sums[f] * scale) * (sums[f] * scale);
  return squares;
}

// Of squares between the limits; of f32 by the reciprocal root, whose error is 4 u, and that of the product.
__device__ __forceinline__ float root(float x) {
#ifdef TUNESMITH_HOST
  return x * rsqrtf(x);
#else
  float reciprocal;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(x));
  return x * reciprocal;
#endif
}
__device__ __forceinline__ double root(double x) { return sqrt(x); }

template <typename Sum>
__device__ __forceinline__ bool is_between(Sum squares) {
  return squares >= NormScale<Sum>::least && squares <= NormScale<Sum>::most;
}

// The root of the sum of the squares where that is not between the limits, of NaN and infinity too.
template <typename Sum, int count>
__device__ __forceinline__ Sum far_norm(const Sum (&sums)[count]) {
  constexpr Sum power = NormScale<Sum>::power;
  const Sum squares = sum_of_squares<Sum, count>(sums, 1);
  const bool is_small = squares<NormScale<Sum>::least, is_large = squares> NormScale<Sum>::most;
  const Sum scale = is_small ? power : is_large ? 1 / power : Sum(1);
  const Sum back = is_small ? 1 / power : is_large ? power : Sum(1);
  const Sum scaled = sum_of_squares<Sum, count>(sums, scale);
  return scaled == 0 ? Sum(0) : sqrt(scaled) * back;  // images have many zeros
}

// The roots of the sums of the squares, which overflow only where the root does.
template <typename Sum, int count, int outputs>
__device__ __forceinline__ void norms(Sum (&to)[outputs], const Sum (&sums)[outputs][count]) {
  bool all_between = true;
#pragma unroll
  for (int o = 0; o < outputs; ++o) {
    to[o] = sum_of_squares<Sum, count>(sums[o], 1);
    all_between = is_between(to[o]) && all_between;
  }
  if (all_between) {
#pragma unroll
    for (int o = 0; o < outputs; ++o) to[o] = root(to[o]);
  } else {
#pragma unroll
    for (int o = 0; o < outputs; ++o) to[o] = is_between(to[o]) ? root(to[o]) : far_norm<Sum, count>(sums[o]);
  }
}

// ---- what this variant is
using T = float;  // dtype=f32
constexpr int EACH = 0;
constexpr int NORM = 2;
constexpr int BLOCK = 128;
constexpr int ROWS = 8;
#define ENTRY(name) name##_87e26d67

// ---- templates/filter_bank/base.cu
// SPDX-License-Identifier: Apache-2.0
// filter_bank, the plain kernel: a thread has ROWS outputs below each other. A row of the image is summed
// along the row mask once, and added to each output whose window has it. Only the image's type is compiled
// in. The two halves of a mask are summed apart, from its middle outwards: of equal numbers and a mask whose
// halves differ in sign alone they are then opposite, whatever was rounded, and the output is exactly 0.


using Sum = sum_type<T>;
constexpr int most_filters = 4;

// The windows of outputs below each other: their first row is y, their first pixel x.
struct Windows {
  const T* first;  // of the image, of the outputs' channel
  long long height, width, channels, y, x;
  int boundary;
  Sum outside;
};

template <bool inside>
__device__ __forceinline__ Sum sample(const Windows& from, const T* line, long long x) {
  const long long column = inside ? x : sample_at(x, from.width, from.boundary);
  return inside || (line != nullptr && column >= 0) ? widened(line[column * from.channels]) : from.outside;
}

// The sum of a row along a mask. `inside`: all of its pixels are in the image; line: nullptr where none is.
template <bool inside>
__device__ __forceinline__ Sum line_sum(const Windows& from, const T* line, const Sum* mask, int taps) {
  Sum low = 0, high = 0;
  for (int j = taps / 2 - 1; j >= 0; --j) {
    low += mask[j] * sample<inside>(from, line, from.x + j);
    high += mask[taps - 1 - j] * sample<inside>(from, line, from.x + taps - 1 - j);
  }
  Sum sum = low + high;
  if (taps % 2 != 0) sum += mask[taps / 2] * sample<inside>(from, line, from.x + taps / 2);
  return sum;
}

// Of the r-th row of the first window, and of those below it.
__device__ __forceinline__ Sum row_sum(const Windows& from, int r, const Sum* mask, int taps) {
  const long long row = sample_at(from.y + r, from.height, from.boundary);
  const T* const line = row < 0 ? nullptr : from.first + row * from.width * from.channels;
  const bool inside = row >= 0 && from.x >= 0 && from.x + taps <= from.width;
  return inside ? line_sum<true>(from, line, mask, taps) : line_sum<false>(from, line, mask, taps);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(filter_bank_base)(const T* image, const Sum* column_masks, const Sum* row_masks, Sum* output,
                            long long batch, long long height, long long width, long long channels,
                            int filters, int taps_y, int taps_x, int before_y, int before_x, int results,
                            int boundary, double value) {
  const long long columns = width * channels, groups = (height + ROWS - 1) / ROWS;
  const long long step = static_cast<long long>(gridDim.x) * BLOCK;
  for (long long at = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; at < batch * groups * columns;
       at += step) {
    const long long column = at % columns, group = at / columns % groups, plane = at / columns / groups;
    const long long y = group * ROWS, channel = column % channels;
    const int rows = height - y < ROWS ? static_cast<int>(height - y) : ROWS;
    const Windows from = {image + plane * height * columns + channel,
                          height,
                          width,
                          channels,
                          y - before_y,
                          column / channels - before_x,
                          boundary,
                          static_cast<Sum>(value)};
    const int half = taps_y / 2, even = taps_y % 2 == 0 ? 1 : 0;
    Sum sums[ROWS][most_filters] = {};
#pragma unroll 1
    for (int f = 0; f < filters; ++f) {
      const Sum* const mask = column_masks + static_cast<long long>(f) * taps_y;
      const Sum* const row_mask = row_masks + static_cast<long long>(f) * taps_x;
      Sum middle[ROWS] = {}, low[ROWS] = {}, high[ROWS] = {};  // `middle`: at the windows' middles
#pragma unroll 1
      for (int r = 0; r < ROWS && half + r < taps_y + rows - 1; ++r) {
        const Sum sum = row_sum(from, half + r, row_mask, taps_x);
#pragma unroll
        for (int k = 0; k < ROWS; ++k) middle[k] = k == r ? sum : middle[k];
      }
#pragma unroll
      for (int n = 1; n <= ROWS; ++n) {  // places from the middle
        if (n > half) break;
        const Sum before = mask[half - n], behind = mask[half + n - even];
#pragma unroll
        for (int k = 0; k < ROWS; ++k) {
          if (k >= n) low[k] += before * middle[k - n];
          const int other = k + n - even;
          if (other < ROWS) high[k] += behind * middle[other];
        }
      }
      for (int r = half - 1; r >= 0; --r) {
        const Sum sum = row_sum(from, r, row_mask, taps_x);
#pragma unroll
        for (int k = 0; k < ROWS; ++k) {
          if (r >= k) low[k] += mask[r - k] * sum;
        }
      }
      for (int r = half + ROWS; r < taps_y + rows - 1; ++r) {
        const Sum sum = row_sum(from, r, row_mask, taps_x);
#pragma unroll
        for (int k = 0; k < ROWS; ++k) {
          if (r - k < taps_y) high[k] += mask[r - k] * sum;
        }
      }
#pragma unroll
      for (int k = 0; k < ROWS; ++k) {
        sums[k][f] = low[k] + high[k];
        if (!even) sums[k][f] += mask[half] * middle[k];
      }
    }
#pragma unroll 1
    for (int k = 0; k < rows; ++k) {
      Sum* const to = output + (plane * height + y + k) * columns + column;
      Sum here[1][most_filters], all[1] = {0};
#pragma unroll
      for (int f = 0; f < most_filters; ++f) here[0][f] = sums[k][f];  // 0 of a filter that is not there
      if (results == EACH) {
        for (int f = 0; f < filters; ++f) to[f * batch * height * columns] = sums[k][f];
        continue;
      }
      if (results == NORM) {
        norms<Sum, most_filters, 1>(all, here);
      } else {
        all[0] = here[0][0];
#pragma unroll
        for (int f = 1; f < most_filters; ++f) all[0] += here[0][f];
      }
      to[0] = all[0];
    }
  }
}
