// SPDX-License-Identifier: Apache-2.0
// Functions as the device approximates them, by one instruction.
#pragma once

// 1 / sqrt(x), with an error of 2^-22.9 of it at most; a subnormal number is as 0. On the host rounded.
__device__ __forceinline__ float approximate_rsqrt(float x) {
#ifdef TUNESMITH_HOST
  return rsqrtf(x);
#else
  float result;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#endif
}
