// SPDX-License-Identifier: Apache-2.0
// The type in which elements are compared and added, and the ends of an element type in it.
#pragma once

#include "common/float16.cuh"

// Narrow elements are converted to 4 bytes as they are read.
template <typename T>
struct NumberType {
  static constexpr bool is_narrow = false;
  using Type = T;
};
#define TUNESMITH_NARROW(stored, number)    \
  template <>                               \
  struct NumberType<stored> {               \
    static constexpr bool is_narrow = true; \
    using Type = number;                    \
  };
TUNESMITH_NARROW(signed char, int)
TUNESMITH_NARROW(unsigned char, int)
TUNESMITH_NARROW(short, int)
TUNESMITH_NARROW(unsigned short, int)
TUNESMITH_NARROW(Float16, float)
TUNESMITH_NARROW(BFloat16, float)
#undef TUNESMITH_NARROW
template <typename T>
using NumberOf = typename NumberType<T>::Type;

template <typename T>
__device__ __forceinline__ NumberOf<T> as_number(T x) {
  return static_cast<NumberOf<T>>(to_float(x));
}
template <typename T>
__device__ __forceinline__ T narrowed(NumberOf<T> x) {
  return from_float<T>(static_cast<compute_type<T>>(x));
}

template <typename T>
constexpr bool is_whole = static_cast<NumberOf<T>>(0.5) == 0;

// The greatest and the least number of the type T; infinities if it has them.
template <typename T>
__device__ __forceinline__ NumberOf<T> greatest_of() {
  if constexpr (is_whole<T>) {
    constexpr bool has_sign = static_cast<T>(-1) < static_cast<T>(0);
    return static_cast<NumberOf<T>>(~0ull >> (64 - 8 * sizeof(T) + (has_sign ? 1 : 0)));
  } else if constexpr (sizeof(NumberOf<T>) == 8) {
    return __longlong_as_double(0x7ff0000000000000ll);
  } else {
    return __int_as_float(0x7f800000);
  }
}
template <typename T>
__device__ __forceinline__ NumberOf<T> least_of() {
  if constexpr (is_whole<T>) {
    return static_cast<T>(-1) < static_cast<T>(0) ? -greatest_of<T>() - 1 : 0;
  } else {
    return -greatest_of<T>();
  }
}
