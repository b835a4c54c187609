// SPDX-License-Identifier: Apache-2.0
// Loads of data that is read once.
#pragma once

#include "common/hinted_access.cuh"
#include "common/vector.cuh"

// HINT is 0 for no hint; 1: the data may leave the caches first; 2: the first-level cache does not keep it;
// 3: like 2, and the second-level cache fetches 256 bytes at a time; 4: one half may leave the second-level
// cache first.
template <int HINT, int N, typename T>
__device__ __forceinline__ Vector<T, N> load_once(const T* from) {
#ifdef TUNESMITH_HOST
  return load_vector<N>(from);
#else
  if constexpr (HINT == 4) return load_hinted<Hint::half>(reinterpret_cast<const Vector<T, N>*>(from));
  constexpr int bytes = sizeof(T) * N;
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "a load moves 4, 8 or 16 bytes");
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
#endif
}
