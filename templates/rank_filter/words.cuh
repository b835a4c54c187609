// SPDX-License-Identifier: Apache-2.0
// The words that tuned templates compare: an element, or two elements of at most 16 bits by their keys, of
// which one instruction makes the lesser or greater of both. lower() and upper() are those of the order in
// rank_filter.cuh.
#pragma once

#include "common/float16.cuh"
#include "common/vector.cuh"
#include "rank_filter/rank_filter.cuh"

// Elements of 4 bytes are their own words.
template <typename T, int bytes = sizeof(T)>
struct Words {
  static constexpr int lanes = 1;
  static constexpr bool is_plain = true;
  using Word = T;
};
template <typename T>
struct Words<T, 8> {
  static constexpr int lanes = 1;
  static constexpr bool is_plain = false;
  using Word = unsigned long long;
  static __device__ __forceinline__ Word of(T value) { return Keys<T>::key(value); }
  template <int lane>
  static __device__ __forceinline__ T element(Word word) {
    return Keys<T>::value(word);
  }
};
template <typename T>
struct PairWords {
  static constexpr int lanes = 2;
  static constexpr bool is_plain = false;
  using Word = unsigned;
  static __device__ __forceinline__ Word of(T low, T high) {
    return Keys<T>::key(low) | Keys<T>::key(high) << 16;
  }
  template <int lane>
  static __device__ __forceinline__ T element(Word word) {
    return Keys<T>::value(lane == 0 ? word & 0xffffu : word >> 16);
  }
};
template <typename T>
struct Words<T, 2> : PairWords<T> {};
template <typename T>
struct Words<T, 1> : PairWords<T> {};

__device__ __forceinline__ float lower(float a, float b) {
#ifdef TUNESMITH_HOST
  return Keys<float>::key(a) < Keys<float>::key(b) ? a : b;
#else
  float result;  // the number, of a number and a NaN; of zeros that with the sign
  asm("min.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#endif
}
__device__ __forceinline__ float upper(float a, float b) {
#if defined(TUNESMITH_HOST)
  return Keys<float>::key(a) < Keys<float>::key(b) ? b : a;
#elif __CUDA_ARCH__ >= 800
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  float result;
  asm("max.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return a != a ? a : b != b ? b : result;
#endif
}
__device__ __forceinline__ int lower(int a, int b) { return a < b ? a : b; }
__device__ __forceinline__ int upper(int a, int b) { return a < b ? b : a; }
__device__ __forceinline__ unsigned long long lower(unsigned long long a, unsigned long long b) {
  return a < b ? a : b;
}
__device__ __forceinline__ unsigned long long upper(unsigned long long a, unsigned long long b) {
  return a < b ? b : a;
}
// Of two numbers of 16 bits each.
__device__ __forceinline__ unsigned lower(unsigned a, unsigned b) {
#if defined(TUNESMITH_HOST)
  const unsigned low_a = a & 0xffffu, low_b = b & 0xffffu, high_a = a >> 16, high_b = b >> 16;
  return (low_a < low_b ? low_a : low_b) | (high_a < high_b ? high_a : high_b) << 16;
#elif __CUDA_ARCH__ >= 900
  unsigned result;
  asm("min.u16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return __vminu2(a, b);
#endif
}
__device__ __forceinline__ unsigned upper(unsigned a, unsigned b) {
#if defined(TUNESMITH_HOST)
  const unsigned low_a = a & 0xffffu, low_b = b & 0xffffu, high_a = a >> 16, high_b = b >> 16;
  return (low_a < low_b ? low_b : low_a) | (high_a < high_b ? high_b : high_a) << 16;
#elif __CUDA_ARCH__ >= 900
  unsigned result;
  asm("max.u16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return __vmaxu2(a, b);
#endif
}

// Both of two bytes each, as the halves 1024 + byte, by exact additions: another unit makes these than
// comparisons.
constexpr unsigned bytes_as_halves = 0x64006400u;
__device__ __forceinline__ void order_by_adding(unsigned a, unsigned b, unsigned& least, unsigned& greatest) {
#if defined(TUNESMITH_HOST) || __CUDA_ARCH__ < 800
  least = lower(a, b);
  greatest = upper(a, b);
#else
  unsigned excess;  // a - b, or 0
  asm("fma.rn.relu.f16x2 %0, %1, %2, %3;" : "=r"(excess) : "r"(b), "r"(0xbc00bc00u), "r"(a));
  asm("sub.f16x2 %0, %1, %2;" : "=r"(least) : "r"(a), "r"(excess));
  asm("add.f16x2 %0, %1, %2;" : "=r"(greatest) : "r"(b), "r"(excess));
#endif
}

// Of three; from compute capability 9.0 on one instruction, where the words are integers.
template <typename Word>
__device__ __forceinline__ Word lower(Word a, Word b, Word c) {
  return lower(lower(a, b), c);
}
template <typename Word>
__device__ __forceinline__ Word upper(Word a, Word b, Word c) {
  return upper(upper(a, b), c);
}
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
__device__ __forceinline__ unsigned lower(unsigned a, unsigned b, unsigned c) {
  return __vimin3_u16x2(a, b, c);
}
__device__ __forceinline__ unsigned upper(unsigned a, unsigned b, unsigned c) {
  return __vimax3_u16x2(a, b, c);
}
__device__ __forceinline__ int lower(int a, int b, int c) { return __vimin3_s32(a, b, c); }
__device__ __forceinline__ int upper(int a, int b, int c) { return __vimax3_s32(a, b, c); }
#endif
