// SPDX-License-Identifier: Apache-2.0
// What becomes of a place's sums, one of each filter.
#pragma once

#include "common/approximate.cuh"

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
__device__ __forceinline__ float root(float x) { return x * approximate_rsqrt(x); }
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
