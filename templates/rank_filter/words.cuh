// SPDX-License-Identifier: Apache-2.0
// The words that tuned templates compare: an element, or the keys of two elements of at most 16 bits, whose
// lesser or greater one instruction finds. lower() and upper() follow the order of rank_filter.cuh.
#pragma once

#include "common/float16.cuh"
#include "common/ordered.cuh"
#include "common/pairs.cuh"
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

__device__ __forceinline__ float lower(float a, float b) { return minimum_number(a, b); }
__device__ __forceinline__ float upper(float a, float b) { return maximum(a, b); }
__device__ __forceinline__ int lower(int a, int b) { return a < b ? a : b; }
__device__ __forceinline__ int upper(int a, int b) { return a < b ? b : a; }
__device__ __forceinline__ unsigned long long lower(unsigned long long a, unsigned long long b) {
  return a < b ? a : b;
}
__device__ __forceinline__ unsigned long long upper(unsigned long long a, unsigned long long b) {
  return a < b ? b : a;
}
// The lesser and the greater numbers of 16 bits, two in a word.
__device__ __forceinline__ unsigned lower(unsigned a, unsigned b) { return minimum_u16x2(a, b); }
__device__ __forceinline__ unsigned upper(unsigned a, unsigned b) { return maximum_u16x2(a, b); }

// The least and the greatest of three.
template <typename Word>
__device__ __forceinline__ Word lower(Word a, Word b, Word c) {
  return lower(lower(a, b), c);
}
template <typename Word>
__device__ __forceinline__ Word upper(Word a, Word b, Word c) {
  return upper(upper(a, b), c);
}
__device__ __forceinline__ unsigned lower(unsigned a, unsigned b, unsigned c) {
  return minimum_u16x2(a, b, c);
}
__device__ __forceinline__ unsigned upper(unsigned a, unsigned b, unsigned c) {
  return maximum_u16x2(a, b, c);
}
__device__ __forceinline__ int lower(int a, int b, int c) { return minimum(a, b, c); }
__device__ __forceinline__ int upper(int a, int b, int c) { return maximum(a, b, c); }
