// SPDX-License-Identifier: Apache-2.0
// Compares two numbers of 16 bits in a word at once: integers, and halves, for which NaN comes after all
// numbers and -0 before 0.
#pragma once

#include "common/float16.cuh"
#include "common/ordered.cuh"

#ifdef TUNESMITH_HOST
inline unsigned minimum_u16x2(unsigned a, unsigned b) {
  const unsigned low_a = a & 0xffffu, low_b = b & 0xffffu, high_a = a >> 16, high_b = b >> 16;
  return (low_a < low_b ? low_a : low_b) | (high_a < high_b ? high_a : high_b) << 16;
}
inline unsigned maximum_u16x2(unsigned a, unsigned b) { return ~minimum_u16x2(~a, ~b); }
// With their signs flipped, the numbers have the order of unsigned numbers.
inline unsigned minimum_s16x2(unsigned a, unsigned b) {
  constexpr unsigned signs = 0x80008000u;
  return minimum_u16x2(a ^ signs, b ^ signs) ^ signs;
}
inline unsigned maximum_s16x2(unsigned a, unsigned b) { return ~minimum_s16x2(~a, ~b); }
#else
__device__ __forceinline__ unsigned minimum_u16x2(unsigned a, unsigned b) {
#if __CUDA_ARCH__ >= 900
  unsigned result;
  asm("min.u16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return __vminu2(a, b);
#endif
}
__device__ __forceinline__ unsigned maximum_u16x2(unsigned a, unsigned b) {
#if __CUDA_ARCH__ >= 900
  unsigned result;
  asm("max.u16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return __vmaxu2(a, b);
#endif
}
__device__ __forceinline__ unsigned minimum_s16x2(unsigned a, unsigned b) { return __vmins2(a, b); }
__device__ __forceinline__ unsigned maximum_s16x2(unsigned a, unsigned b) { return __vmaxs2(a, b); }
#endif

// The minimum and the maximum of three numbers take one instruction from compute capability 9.0 on.
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
#define TUNESMITH_OF_THREE(of_two, of_three) return of_three(a, b, c)
#else
#define TUNESMITH_OF_THREE(of_two, of_three) return of_two(of_two(a, b), c)
#endif
__device__ __forceinline__ unsigned minimum_u16x2(unsigned a, unsigned b, unsigned c) {
  TUNESMITH_OF_THREE(minimum_u16x2, __vimin3_u16x2);
}
__device__ __forceinline__ unsigned maximum_u16x2(unsigned a, unsigned b, unsigned c) {
  TUNESMITH_OF_THREE(maximum_u16x2, __vimax3_u16x2);
}
__device__ __forceinline__ unsigned minimum_s16x2(unsigned a, unsigned b, unsigned c) {
  TUNESMITH_OF_THREE(minimum_s16x2, __vimin3_s16x2);
}
__device__ __forceinline__ unsigned maximum_s16x2(unsigned a, unsigned b, unsigned c) {
  TUNESMITH_OF_THREE(maximum_s16x2, __vimax3_s16x2);
}
#undef TUNESMITH_OF_THREE

#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 800
#define TUNESMITH_OF_HALVES(name, instruction, Half, of_floats)      \
  __device__ __forceinline__ unsigned name(unsigned a, unsigned b) { \
    unsigned result;                                                 \
    asm(instruction " %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b)); \
    return result;                                                   \
  }
#else
template <typename Half>
__device__ __forceinline__ float float_of(unsigned bits) {
  Half half;
  half.bits = static_cast<unsigned short>(bits);
  return to_float(half);
}
#define TUNESMITH_OF_HALVES(name, instruction, Half, of_floats)                   \
  __device__ __forceinline__ unsigned name(unsigned a, unsigned b) {              \
    unsigned result = 0;                                                          \
    for (int shift = 0; shift < 32; shift += 16) {                                \
      const float x = float_of<Half>(a >> shift), y = float_of<Half>(b >> shift); \
      const bool is_x = __float_as_uint(of_floats(x, y)) == __float_as_uint(x);   \
      result |= (is_x ? a : b) & 0xffffu << shift;                                \
    }                                                                             \
    return result;                                                                \
  }
#endif
TUNESMITH_OF_HALVES(minimum_f16x2, "min.f16x2", Float16, minimum_number)
TUNESMITH_OF_HALVES(maximum_f16x2, "max.NaN.f16x2", Float16, maximum)
TUNESMITH_OF_HALVES(minimum_bf16x2, "min.bf16x2", BFloat16, minimum_number)
TUNESMITH_OF_HALVES(maximum_bf16x2, "max.NaN.bf16x2", BFloat16, maximum)
#undef TUNESMITH_OF_HALVES

// The lesser and the greater of bytes, two in a word, stored as the halves 1024 + byte. They are computed by
// exact additions, because additions run on another unit than comparisons.
constexpr unsigned bytes_as_halves = 0x64006400u;
__device__ __forceinline__ void order_by_adding(unsigned a, unsigned b, unsigned& least, unsigned& greatest) {
#if defined(TUNESMITH_HOST) || __CUDA_ARCH__ < 800
  least = minimum_u16x2(a, b);
  greatest = maximum_u16x2(a, b);
#else
  unsigned excess;  // a - b, or 0
  asm("fma.rn.relu.f16x2 %0, %1, %2, %3;" : "=r"(excess) : "r"(b), "r"(0xbc00bc00u), "r"(a));
  asm("sub.f16x2 %0, %1, %2;" : "=r"(least) : "r"(a), "r"(excess));
  asm("add.f16x2 %0, %1, %2;" : "=r"(greatest) : "r"(b), "r"(excess));
#endif
}
