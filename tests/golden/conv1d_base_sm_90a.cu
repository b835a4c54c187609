// conv1d/base for sm_90a, rendered by Tunesmith from templates/conv1d/base.cu: change that and render again.
// compiled in: dtype=f32
// config: BLOCK_X=128

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
constexpr int BLOCK_X = 128;
#define ENTRY(name) name##_5973e65e

// ---- templates/conv1d/base.cu
// conv1d, the plain kernel: one thread per output, a loop over the taps, all read from global memory. It
// knows nothing but the element type, so it serves every problem and is what the other templates are compared
// with.


// Launched with blocks of BLOCK_X threads over the outputs of a row; a grid whose y would exceed 65535, the
// limit, is walked in strides. The window of output i begins `left` samples before sample i. `value` stands
// outside where the boundary is a constant.
extern "C" __global__ void __launch_bounds__(BLOCK_X)
    ENTRY(conv1d_base)(const T* __restrict__ signal, const sum_type<T>* __restrict__ kernel,
                       sum_type<T>* __restrict__ output, int batch, int convolve, long long length,
                       long long taps, long long output_length, long long left, int boundary, double value) {
  using Sum = sum_type<T>;
  const long long i = static_cast<long long>(blockIdx.x) * BLOCK_X + threadIdx.x;
  if (i >= output_length) return;
  // The taps that lie on the signal: those before and behind them see what stands outside.
  const long long first = max(0LL, min(left - i, taps));
  const long long last = max(first, min(taps, length + left - i));
  const Sum outside = static_cast<Sum>(value);
  for (long long b = blockIdx.y; b < batch; b += gridDim.y) {
    const T* row = signal + b * length;
    Sum sum = 0;
    const auto add_outside = [&](long long begin, long long end) {
      for (long long j = begin; j < end; ++j) {
        const long long from = sample_at<long long>(i - left + j, length, boundary);
        sum += kernel[convolve ? taps - 1 - j : j] * (from < 0 ? outside : widened(row[from]));
      }
    };
    if (boundary != boundary_zero) add_outside(0, first);
    for (long long j = first; j < last; ++j)
      sum += kernel[convolve ? taps - 1 - j : j] * widened(row[i - left + j]);
    if (boundary != boundary_zero) add_outside(last, taps);
    output[b * output_length + i] = sum;
  }
}
