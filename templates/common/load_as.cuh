// SPDX-License-Identifier: Apache-2.0
// Loads a V from the bytes of elements of another type, and stores it likewise. The address is a multiple of
// V's alignment.
#pragma once

template <typename V, typename T>
__device__ __forceinline__ V load_as(const T* from) {
  return *reinterpret_cast<const V*>(from);
}
template <typename V, typename T>
__device__ __forceinline__ void store_as(T* to, const V& value) {
  *reinterpret_cast<V*>(to) = value;
}
