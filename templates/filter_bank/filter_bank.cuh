// SPDX-License-Identifier: Apache-2.0
// The norm of the sums at a place, one of each filter. The kernels of filter_bank use it.
#pragma once

#include "common/approximate.cuh"

// The limits between which a sum of squares neither overflows nor is so small that it loses digits, and the
// power of two that scales any other number into this range.
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

// The root of a sum of squares between the limits. For f32 it uses the reciprocal root, whose error is 4 u;
// the product adds its own error.
__device__ __forceinline__ float root(float x) { return x * approximate_rsqrt(x); }
__device__ __forceinline__ double root(double x) { return sqrt(x); }

template <typename Sum>
__device__ __forceinline__ bool is_between(Sum squares) {
  return squares >= NormScale<Sum>::least && squares <= NormScale<Sum>::most;
}

// The root of a sum of squares that is not between the limits, including NaN and infinity.
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

// The roots of the sums of squares. They overflow only if the root itself does.
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
