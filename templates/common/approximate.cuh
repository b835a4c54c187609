// SPDX-License-Identifier: Apache-2.0
// Functions that the device approximates by one instruction.
#pragma once

// 1 / sqrt(x), with a relative error of at most 2^-22.9. A subnormal number counts as 0. On the host, the
// result is correctly rounded.
__device__ __forceinline__ float approximate_rsqrt(float x) {
#ifdef TUNESMITH_HOST
  return rsqrtf(x);
#else
  float result;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#endif
}
