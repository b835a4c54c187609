// SPDX-License-Identifier: Apache-2.0
// The functions that the code of an expression calls besides elementwise's operations, for reductions and
// divisors of a row; and the kernels' parameters.
#pragma once

#include "common/functions.cuh"
#include "common/ordered.cuh"

namespace rows {

template <typename X>
__device__ __forceinline__ X infinity() {
  return elementwise::Layout<X>::number(elementwise::Layout<X>::exponent);
}

template <typename X>
__device__ __forceinline__ X sum_of_none() {
  return 0;
}
template <typename X>
__device__ __forceinline__ X sum(X x, X y) {
  return x + y;
}
template <typename X>
__device__ __forceinline__ X prod_of_none() {
  return 1;
}
template <typename X>
__device__ __forceinline__ X prod(X x, X y) {
  return x * y;
}
template <typename X>
__device__ __forceinline__ X max_of_none() {
  return -infinity<X>();
}
template <typename X>
__device__ __forceinline__ X min_of_none() {
  return infinity<X>();
}
// The result is NaN if either operand is.
template <typename X>
__device__ __forceinline__ X max(X x, X y) {
  return maximum(x, y);
}
template <typename X>
__device__ __forceinline__ X min(X x, X y) {
  return minimum(x, y);
}

__device__ __forceinline__ float fused(float x, float y, float z) { return ::fmaf(x, y, z); }
__device__ __forceinline__ double fused(double x, double y, double z) { return ::fma(x, y, z); }

// Returns total / columns, computed with the inverse and a correction.
template <typename X>
__device__ __forceinline__ X mean(X total, X columns, X inverse) {
  const X near = total * inverse;
  const X rest = fused(-near, columns, total);
  return rest - rest == 0 ? fused(rest, inverse, near) : near;  // infinite totals have no rest
}

// A divisor of many values, which are multiplied by its inverse. If the divisor or its inverse has no full
// precision, the inverse is that of the divisor times a power of two.
template <typename X>
struct Divisor {
  X inverse, scale;
  __device__ __forceinline__ void set(X divisor) {
    constexpr bool is_double = sizeof(X) == 8;
    const X small = is_double ? X(0x1p-1022) : X(0x1p-126f), large = is_double ? X(0x1p1022) : X(0x1p126f);
    const X size = elementwise::abs(divisor);
    scale = size < small ? X(0x1p24f) : size >= large ? X(0x1p-24f) : X(1);
    inverse = elementwise::reciprocal(divisor * scale);
  }
  __device__ __forceinline__ X divides(X x) const { return product(x * inverse, scale); }

 private:
  // A product that is not fused with the operation behind it.
  static __device__ __forceinline__ float product(float x, float y) { return __fmul_rn(x, y); }
  static __device__ __forceinline__ double product(double x, double y) { return __dmul_rn(x, y); }
};

}  // namespace rows

// The parameters: arrays, results (of some bytes that fit their type), the strides from one row of a matrix
// to the next, and sizes.
#define ROWS_PARAMETERS_OF(Input, Output)                                                                 \
  Input x0, Input x1, Input x2, Input x3, Input x4, Input x5, Output y0, Output y1, Output y2, Output y3, \
      long long stride0, long long stride1, long long stride2, long long stride3, long long stride4,      \
      long long stride5, long long rows, long long columns
#define ROWS_PARAMETERS ROWS_PARAMETERS_OF(const T* __restrict__, T* __restrict__)
#define ROWS_ARRAYS                                    \
  const T* const inputs[6] = {x0, x1, x2, x3, x4, x5}; \
  T* const outputs[4] = {y0, y1, y2, y3};              \
  const long long strides[6] = {stride0, stride1, stride2, stride3, stride4, stride5}
