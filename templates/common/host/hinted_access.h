// SPDX-License-Identifier: Apache-2.0
// The host twin of common/hinted_access.cuh: it ignores hints and checks that a GPU would accept the
// addresses.
#pragma once

#include <string.h>

#include "common/host/aligned.h"

enum class Hint { none, streaming, no_allocate, half };

template <int BYTES>
struct Moved;
template <>
struct Moved<1> {
  using Type = unsigned char;
};
template <>
struct Moved<2> {
  using Type = unsigned short;
};
template <>
struct Moved<4> {
  using Type = unsigned;
};
template <>
struct Moved<8> {
  using Type = uint2;
};
template <>
struct Moved<16> {
  using Type = uint4;
};

template <typename V>
inline V load_now(const V* from) {
  tunesmith_shim::require_alignment(from, sizeof(V));
  return *from;
}

template <Hint HINT, typename V>
inline V load_hinted(const V* from) {
  tunesmith_shim::require_alignment(from, sizeof(V));
  V value;
  memcpy(static_cast<void*>(&value), from, sizeof(V));
  return value;
}

template <Hint HINT, typename V>
inline void store_hinted(V* to, const V& value) {
  static_assert(HINT == Hint::none || HINT == Hint::streaming, "a hint for stores");
  tunesmith_shim::require_alignment(to, sizeof(V));
  memcpy(static_cast<void*>(to), &value, sizeof(V));
}
