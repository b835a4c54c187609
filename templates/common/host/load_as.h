// SPDX-License-Identifier: Apache-2.0
// The host twin of common/load_as.cuh. It copies byte by byte, because a host compiler may assume that no
// element is read as a V. An address that a GPU would refuse ends the launch.
#pragma once

#include <string.h>

#include "common/host/aligned.h"

template <typename V, typename T>
inline V load_as(const T* from) {
  tunesmith_shim::require_alignment(from, alignof(V));
  V value;
  memcpy(static_cast<void*>(&value), from, sizeof(V));
  return value;
}
template <typename V, typename T>
inline void store_as(T* to, const V& value) {
  tunesmith_shim::require_alignment(to, alignof(V));
  memcpy(static_cast<void*>(to), &value, sizeof(V));
}
