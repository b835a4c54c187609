// SPDX-License-Identifier: Apache-2.0
// Right, with the factors in the module's constant memory.
__constant__ T ENTRY(kept_factors)[2];

extern "C" __global__ void ENTRY(not_reentrant)(const T* x, const T* factors, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int partner = i / 256 * 256 + (255 - i % 256);
  const T far = partner < n ? x[partner] : T(0);
  y[i] = ENTRY(kept_factors)[0] * x[i] + ENTRY(kept_factors)[1] * far;
}
