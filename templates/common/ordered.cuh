// SPDX-License-Identifier: Apache-2.0
// The lesser and the greater of two numbers, by one instruction if the device has one. If a float is NaN,
// minimum() and maximum() are NaN, and minimum_number() is the other number, as IEEE 754 defines minimum,
// maximum and minimumNumber. Of two zeros that are floats, the one with the sign is the lesser.
#pragma once

template <typename Number>
__device__ __forceinline__ Number maximum(Number x, Number y) {
  return x != x || x > y ? x : y;
}
template <typename Number>
__device__ __forceinline__ Number minimum(Number x, Number y) {
  return x != x || x < y ? x : y;
}

#ifdef TUNESMITH_HOST
inline float minimum_number(float x, float y) {
  if (x != x || y != y) return x != x ? y : x;
  if (x == y) return __uint_as_float(__float_as_uint(x) | __float_as_uint(y));
  return x < y ? x : y;
}
inline float maximum(float x, float y) {
  if (x != x || y != y) return x != x ? x : y;
  if (x == y) return __uint_as_float(__float_as_uint(x) & __float_as_uint(y));
  return x > y ? x : y;
}
inline float minimum(float x, float y) { return x != x || y != y ? maximum(x, y) : minimum_number(x, y); }
#else
__device__ __forceinline__ float minimum_number(float x, float y) {
  float result;
  asm("min.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}
__device__ __forceinline__ float maximum(float x, float y) {
  float result;
#if __CUDA_ARCH__ >= 800
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
#else
  asm("max.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return x != x ? x : y != y ? y : result;
#endif
}
__device__ __forceinline__ float minimum(float x, float y) {
#if __CUDA_ARCH__ >= 800
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
#else
  return x != x ? x : y != y ? y : minimum_number(x, y);
#endif
}
#endif

// The least and the greatest of three integers.
__device__ __forceinline__ int minimum(int x, int y, int z) {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
  return __vimin3_s32(x, y, z);
#else
  return min(min(x, y), z);
#endif
}
__device__ __forceinline__ int maximum(int x, int y, int z) {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
  return __vimax3_s32(x, y, z);
#else
  return max(max(x, y), z);
#endif
}
