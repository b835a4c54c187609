// SPDX-License-Identifier: Apache-2.0
// CUDA's built-in vector types and variables.
#pragma once

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
#define TUNESMITH_VECTORS(type, name, alignment)                              \
  struct name##1 {                                                            \
    type x;                                                                   \
  };                                                                          \
  struct alignas(2 * sizeof(type)) name##2 {                                  \
    type x, y;                                                                \
  };                                                                          \
  struct name##3 {                                                            \
    type x, y, z;                                                             \
  };                                                                          \
  struct alignas(alignment) name##4 {                                         \
    type x, y, z, w;                                                          \
  };                                                                          \
  inline name##1 make_##name##1(type x) { return {x}; }                       \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
TUNESMITH_VECTORS(signed char, char, 4)
TUNESMITH_VECTORS(unsigned char, uchar, 4)
TUNESMITH_VECTORS(short, short, 8)
TUNESMITH_VECTORS(unsigned short, ushort, 8)
TUNESMITH_VECTORS(int, int, 16)
TUNESMITH_VECTORS(unsigned, uint, 16)
TUNESMITH_VECTORS(long, long, 16)
TUNESMITH_VECTORS(unsigned long, ulong, 16)
TUNESMITH_VECTORS(long long, longlong, 16)
TUNESMITH_VECTORS(unsigned long long, ulonglong, 16)
TUNESMITH_VECTORS(float, float, 16)
TUNESMITH_VECTORS(double, double, 16)
#undef TUNESMITH_VECTORS

__attribute__((used)) static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
[[maybe_unused]] constexpr int warpSize = 32;
