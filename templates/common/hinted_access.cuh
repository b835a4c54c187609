// Vectors of 2 to 16 bytes read and written with a hint on what is to stay in the caches.
#pragma once

#include "common/vector.cuh"

// No hint, or: L1 need not keep it; or: it is not read again, so that it may leave the caches first.
enum class Hint { none, no_allocate, streaming };

template <int BYTES>
struct AccessBits;
template <>
struct AccessBits<2> {
  using type = unsigned short;
};
template <>
struct AccessBits<4> {
  using type = unsigned;
};
template <>
struct AccessBits<8> {
  using type = uint2;
};
template <>
struct AccessBits<16> {
  using type = uint4;
};

#ifndef TUNESMITH_HOST
__device__ __forceinline__ void load_no_allocate(const unsigned short* from, unsigned short& to) {
  asm volatile("ld.global.L1::no_allocate.u16 %0, [%1];" : "=h"(to) : "l"(from));
}
__device__ __forceinline__ void load_no_allocate(const unsigned* from, unsigned& to) {
  asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(to) : "l"(from));
}
__device__ __forceinline__ void load_no_allocate(const uint2* from, uint2& to) {
  asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(to.x), "=r"(to.y) : "l"(from));
}
__device__ __forceinline__ void load_no_allocate(const uint4* from, uint4& to) {
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
               : "l"(from));
}
#endif

template <int N, Hint HINT, typename T>
__device__ __forceinline__ Vector<T, N> load_hinted(const T* from) {
#ifdef TUNESMITH_HOST
  return load_vector<N>(from);
#else
  if constexpr (HINT == Hint::none) {
    return load_vector<N>(from);
  } else {
    using Bits = typename AccessBits<sizeof(T) * N>::type;
    Vector<T, N> vector;
    if constexpr (HINT == Hint::streaming) {
      reinterpret_cast<Bits&>(vector) = __ldcs(reinterpret_cast<const Bits*>(from));
    } else {
      load_no_allocate(reinterpret_cast<const Bits*>(from), reinterpret_cast<Bits&>(vector));
    }
    return vector;
  }
#endif
}

template <int N, Hint HINT, typename T>
__device__ __forceinline__ void store_hinted(T* to, const Vector<T, N>& vector) {
  static_assert(HINT != Hint::no_allocate, "a hint for loads");
#ifdef TUNESMITH_HOST
  store_vector<N>(to, vector);
#else
  if constexpr (HINT == Hint::none) {
    store_vector<N>(to, vector);
  } else {
    using Bits = typename AccessBits<sizeof(T) * N>::type;
    __stcs(reinterpret_cast<Bits*>(to), reinterpret_cast<const Bits&>(vector));
  }
#endif
}
