// conv2d/base for sm_90a, rendered by Tunesmith from templates/conv2d/base.cu: change that and render again.
// compiled in: dtype=f32
// config: BLOCK_X=32 BLOCK_Y=8

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
constexpr int BLOCK_X = 32;
constexpr int BLOCK_Y = 8;
#define ENTRY(name) name##_8187effe

// ---- templates/conv2d/base.cu
// conv2d, the plain kernel: one thread per output, every sample read from global memory. It knows nothing but
// the element type, so it serves every problem and is what the other templates are compared with.


// Launched with blocks of BLOCK_X x BLOCK_Y over the columns and rows of the output; a grid whose y or z
// would exceed 65535, the limit, is walked in strides. An output's window begins `top` rows above and `left`
// columns before the image's sample of its place. `value` stands outside where the boundary is a constant.
extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    ENTRY(conv2d_base)(const T* __restrict__ image, const sum_type<T>* __restrict__ mask,
                       sum_type<T>* __restrict__ output, int batch, int height, int width, int mask_height,
                       int mask_width, int convolve, int out_height, int out_width, int top, int left,
                       int boundary, double value) {
  using Sum = sum_type<T>;
  const int x = blockIdx.x * BLOCK_X + threadIdx.x;
  if (x >= out_width) return;
  // The columns of the mask that lie on the image: those before and behind it see what stands outside.
  const long long column = static_cast<long long>(x) - left;
  const int first_column = static_cast<int>(max(0LL, min(-column, static_cast<long long>(mask_width))));
  const int last_column = static_cast<int>(max(0LL, min(width - column, static_cast<long long>(mask_width))));
  const Sum outside = static_cast<Sum>(value);
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    for (int y = blockIdx.y * BLOCK_Y + threadIdx.y; y < out_height; y += gridDim.y * BLOCK_Y) {
      Sum sum = 0;
      for (int i = 0; i < mask_height; ++i) {
        const long long from_y = sample_at<long long>(static_cast<long long>(y) - top + i, height, boundary);
        if (boundary == boundary_zero && from_y < 0) continue;
        const T* row = image + (static_cast<long long>(b) * height + max(from_y, 0LL)) * width;
        // A convolution is a correlation with the mask turned by half a turn.
        const Sum* weights = mask + static_cast<long long>(convolve ? mask_height - 1 - i : i) * mask_width;
        const auto weight = [&](int j) { return weights[convolve ? mask_width - 1 - j : j]; };
        const auto add_outside = [&](int begin, int end) {
          for (int j = begin; j < end; ++j) {
            const long long from_x = from_y < 0 ? -1 : sample_at<long long>(column + j, width, boundary);
            sum += weight(j) * (from_x < 0 ? outside : widened(row[from_x]));
          }
        };
        if (boundary != boundary_zero) add_outside(0, first_column);
        if (from_y < 0) {
          add_outside(first_column, last_column);
        } else {
          for (int j = first_column; j < last_column; ++j) sum += weight(j) * widened(row[column + j]);
        }
        if (boundary != boundary_zero) add_outside(max(first_column, last_column), mask_width);
      }
      output[(static_cast<long long>(b) * out_height + y) * out_width + x] = sum;
    }
  }
}
