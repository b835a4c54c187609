// conv_covariance/base for sm_90a, rendered by Tunesmith from templates/conv_covariance/base.cu: change that and render again.
// compiled in: dtype=f32
// config: BLOCK=256

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

// ---- what this variant is
using T = float;  // dtype=f32
constexpr int BLOCK = 256;
#define ENTRY(name) name##_dde8eef5

// ---- templates/conv_covariance/base.cu
// conv_covariance, the plain kernel: one thread per pair of output pixels, with the original Numba kernel's
// loops over input channels and mask, then one addition per output channel. It knows only the element type,
// so it serves every problem, and the other templates are compared with it.


// Launched with blocks of BLOCK threads over all pairs, the second pixel's column fastest; where the grid is
// too small, threads take further pairs in strides of the grid.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(conv_covariance_base)(T* __restrict__ input, const T* __restrict__ gamma, const T* __restrict__ mu,
                                const T* __restrict__ c, long long batch, long long channels_out,
                                long long channels_in, long long height, long long width,
                                long long mask_height, long long mask_width) {
  const long long rows = height - mask_height + 1, columns = width - mask_width + 1;
  const long long pixels = rows * columns;
  const long long image = height * width;
  for (long long n = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; n < batch * pixels * pixels;
       n += static_cast<long long>(gridDim.x) * BLOCK) {
    const long long second = n % pixels, first = n / pixels % pixels, b = n / pixels / pixels;
    const long long i0 = first / columns, j0 = first % columns;
    const long long i0p = second / columns, j0p = second % columns;
    compute_type<T> sum = 0;
    for (long long ci = 0; ci < channels_in; ++ci) {
      const T* means = mu + (b * channels_in + ci) * image;
      const T* covariances = gamma + (b * channels_in + ci) * image * channels_in * image + ci * image;
      for (long long ii = 0; ii < mask_height; ++ii) {
        for (long long ji = 0; ji < mask_width; ++ji) {
          const long long x = (i0 + ii) * width + j0 + ji;
          const long long xp = (i0p + ii) * width + j0p + ji;
          sum +=
              to_float(means[x]) * to_float(means[xp]) + to_float(covariances[x * channels_in * image + xp]);
        }
      }
    }
    for (long long c0 = 0; c0 < channels_out; ++c0) {
      T* to =
          input + ((b * channels_out + c0) * pixels + first) * channels_out * pixels + c0 * pixels + second;
      *to = from_float<T>(to_float(*to) + to_float(c[c0]) * sum);
    }
  }
}
