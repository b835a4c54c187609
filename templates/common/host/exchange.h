// SPDX-License-Identifier: Apache-2.0
// The lanes of a warp give each other values of any size; each lane takes those that it needs.
#pragma once

#include <stddef.h>
#include <string.h>

#include "common/host/warp.h"

namespace tunesmith_shim {

// The type without references and const.
template <typename T>
struct PlainType {
  typedef T type;
};
template <typename T>
struct PlainType<const T> : PlainType<T> {};
template <typename T>
struct PlainType<T&> : PlainType<T> {};
template <typename T>
struct PlainType<T&&> : PlainType<T> {};
template <typename T>
using Plain = typename PlainType<T>::type;

// The value of each lane that met; any type that may be copied byte by byte.
template <typename T>
struct OfLanes {
  static_assert(__is_trivially_copyable(T), "a group exchanges values that may be copied byte by byte");
  alignas(T) unsigned char bytes[warp_lanes][sizeof(T)];
  T operator[](int lane) const {
    T value;
    memcpy(static_cast<void*>(&value), bytes[lane], sizeof(T));
    return value;
  }
};
template <typename T>
TUNESMITH_UNWATCHED inline OfLanes<T> exchanged(unsigned mask, const T& value, int line) {
  OfLanes<T> all;
  for (size_t at = 0; at < sizeof(T); at += 8) {
    const size_t size = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
    unsigned long long word = 0;
    memcpy(&word, reinterpret_cast<const unsigned char*>(&value) + at, size);
    meet(mask, word, line);
    for (int lane = 0; lane < warp_lanes; ++lane) memcpy(all.bytes[lane] + at, &met_operands[lane], size);
  }
  return all;
}

inline unsigned rank_in_block() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
inline unsigned threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }

}  // namespace tunesmith_shim
