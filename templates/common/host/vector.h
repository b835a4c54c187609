// SPDX-License-Identifier: Apache-2.0
// The host twin of common/vector.cuh. It copies element by element, because a host compiler may assume that
// no float is read as a Vector. An address that a GPU would refuse ends the launch.
#pragma once

#include "common/host/aligned.h"

template <typename T, int N>
struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) Vector {
  T element[N];
};

template <int N, typename T>
inline Vector<T, N> load_vector(const T* from) {
  tunesmith_shim::require_alignment(from, alignof(Vector<T, N>));
  Vector<T, N> vector;
  for (int i = 0; i < N; ++i) vector.element[i] = from[i];
  return vector;
}

template <int N, typename T>
inline void store_vector(T* to, const Vector<T, N>& vector) {
  tunesmith_shim::require_alignment(to, alignof(Vector<T, N>));
  for (int i = 0; i < N; ++i) to[i] = vector.element[i];
}

template <int N, typename T>
inline void store_vector_streaming(T* to, const Vector<T, N>& vector) {
  static_assert(sizeof(T) * N >= 4, "a GPU has no streaming store of less than 4 bytes");
  store_vector<N>(to, vector);
}
