// SPDX-License-Identifier: Apache-2.0
// A V where elements of another type lie, of whose bytes it is made. The address is a multiple of V's
// alignment.
#pragma once

template <typename V, typename T>
__device__ __forceinline__ V load_as(const T* from) {
  return *reinterpret_cast<const V*>(from);
}
template <typename V, typename T>
__device__ __forceinline__ void store_as(T* to, const V& value) {
  *reinterpret_cast<V*>(to) = value;
}
