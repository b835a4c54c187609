// SPDX-License-Identifier: Apache-2.0
// Two halves in a word, converted from and to float. On the host common/host/two_halves.h stands for this
// file.
#pragma once

// The highs and the middles of two neighbours; the first neighbour is in the low half.
struct Halves {
  unsigned high, middle;
};

__device__ __forceinline__ unsigned pack_halves(float low, float high) {
  unsigned packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

__device__ __forceinline__ float low_half(unsigned packed) {
  float value;
  asm("{.reg .f16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low;}" : "=f"(value) : "r"(packed));
  return value;
}
__device__ __forceinline__ float high_half(unsigned packed) {
  float value;
  asm("{.reg .f16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, high;}" : "=f"(value) : "r"(packed));
  return value;
}
