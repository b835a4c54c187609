// SPDX-License-Identifier: Apache-2.0
// The reductions of a warp whose instructions devices have from compute capability 8.0 on, for older ones.
#pragma once

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
__device__ __forceinline__ unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  for (int by = 16; by > 0; by /= 2) value = max(value, __shfl_xor_sync(mask, value, by));
  return value;
}
__device__ __forceinline__ unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  for (int by = 16; by > 0; by /= 2) value = min(value, __shfl_xor_sync(mask, value, by));
  return value;
}
#endif
