// SPDX-License-Identifier: Apache-2.0
// Samples of any type converted to the type of sums: double for double, otherwise float.
#pragma once

#include "common/float16.cuh"

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
