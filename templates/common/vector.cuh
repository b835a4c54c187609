// SPDX-License-Identifier: Apache-2.0
// Several neighbouring elements moved by one memory access, at most 16 bytes wide each. Knows nothing of
// images.
// (On the host common/host/vector.h stands for this file; what is here for it stays, because a kernel's
// identity is its text.)
#pragma once

template <typename T, int N>
struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) Vector {
  T element[N];
};

// `from` is aligned to the vector, or to 16 bytes where the vector is longer.
template <int N, typename T>
__device__ __forceinline__ Vector<T, N> load_vector(const T* from) {
#ifdef TUNESMITH_HOST
  Vector<T, N> vector;  // element by element: a host compiler may assume that no float is read as a Vector
  for (int i = 0; i < N; ++i) vector.element[i] = from[i];
  return vector;
#else
  return *reinterpret_cast<const Vector<T, N>*>(from);
#endif
}

template <int N, typename T>
__device__ __forceinline__ void store_vector(T* to, const Vector<T, N>& vector) {
#ifdef TUNESMITH_HOST
  for (int i = 0; i < N; ++i) to[i] = vector.element[i];
#else
  *reinterpret_cast<Vector<T, N>*>(to) = vector;
#endif
}

// A store of data that this kernel does not read again: it may leave the caches first.
template <int N, typename T>
__device__ __forceinline__ void store_vector_streaming(T* to, const Vector<T, N>& vector) {
#ifdef TUNESMITH_HOST
  for (int i = 0; i < N; ++i) to[i] = vector.element[i];
#else
  constexpr int bytes = sizeof(T) * N;
  if constexpr (bytes >= 16) {
#pragma unroll
    for (int i = 0; i < bytes / 16; ++i)
      __stcs(reinterpret_cast<float4*>(to) + i, reinterpret_cast<const float4*>(&vector)[i]);
  } else if constexpr (bytes == 8) {
    __stcs(reinterpret_cast<float2*>(to), reinterpret_cast<const float2&>(vector));
  } else {
    __stcs(reinterpret_cast<float*>(to), reinterpret_cast<const float&>(vector));
  }
#endif
}
