// SPDX-License-Identifier: Apache-2.0
// Loads of data that is read once.
#pragma once

#include "common/hinted_access.cuh"
#include "common/vector.cuh"

#ifndef TUNESMITH_HOST
// A load of 1 or 2 bytes, which no hint is for.
template <int N, typename T>
__device__ __forceinline__ Vector<T, N> load_part_of_word(const T* from) {
  unsigned short raw;
  if constexpr (sizeof(T) * N == 2)
    asm volatile("ld.global.u16 %0, [%1];" : "=h"(raw) : "l"(from));
  else
    asm volatile("ld.global.u8 %0, [%1];" : "=h"(raw) : "l"(from));
  return reinterpret_cast<const Vector<T, N>&>(raw);
}

template <int HINT, int N, typename T>
__device__ __forceinline__ Vector<T, N> load_words(const T* from) {
  constexpr int bytes = sizeof(T) * N;
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "a load moves 1, 2, 4, 8 or 16 bytes");
  struct alignas(bytes) {
    unsigned word[bytes / 4];
  } raw;
  // The loads are volatile so that all loads of a tile are under way before the first is added, and none is
  // moved before the wait for the previous kernel.
#define TUNESMITH_LOADS(hint)                                                        \
  if constexpr (bytes == 16) {                                                       \
    asm volatile("ld.global" hint ".v4.u32 {%0, %1, %2, %3}, [%4];"                  \
                 : "=r"(raw.word[0]), "=r"(raw.word[1]), "=r"(raw.word[bytes / 8]),  \
                   "=r"(raw.word[bytes / 4 - 1])                                     \
                 : "l"(from));                                                       \
  } else if constexpr (bytes == 8) {                                                 \
    asm volatile("ld.global" hint ".v2.u32 {%0, %1}, [%2];"                          \
                 : "=r"(raw.word[0]), "=r"(raw.word[bytes / 4 - 1])                  \
                 : "l"(from));                                                       \
  } else {                                                                           \
    asm volatile("ld.global" hint ".u32 %0, [%1];" : "=r"(raw.word[0]) : "l"(from)); \
  }
#if __CUDA_ARCH__ < 800
  constexpr int hint = HINT == 3 ? 2 : HINT;
#else
  constexpr int hint = HINT;
  if constexpr (hint == 3) {
    TUNESMITH_LOADS(".nc.L1::no_allocate.L2::256B")
  }
#endif
  if constexpr (hint == 2) {
    TUNESMITH_LOADS(".nc.L1::no_allocate")
  } else if constexpr (hint == 1) {
    TUNESMITH_LOADS(".cs")
  } else if constexpr (hint == 0) {
    TUNESMITH_LOADS("")
  }
#undef TUNESMITH_LOADS
  return reinterpret_cast<const Vector<T, N>&>(raw);
}
#endif

// HINT is 0 for no hint; 1: the data may leave the caches first; 2: the first-level cache does not keep it;
// 3: like 2, and the second-level cache fetches 256 bytes at a time; 4: one half may leave the second-level
// cache first.
template <int HINT, int N, typename T>
__device__ __forceinline__ Vector<T, N> load_once(const T* from) {
#ifdef TUNESMITH_HOST
  return load_vector<N>(from);
#else
  if constexpr (HINT == 4) {
    return load_hinted<Hint::half>(reinterpret_cast<const Vector<T, N>*>(from));
  } else if constexpr (sizeof(T) * N < 4) {
    static_assert(HINT == 0, "hints are for loads of 4 bytes and more");
    return load_part_of_word<N>(from);
  } else {
    return load_words<HINT, N>(from);
  }
#endif
}
