// SPDX-License-Identifier: Apache-2.0
// Never ends: the input does not change.
extern "C" __global__ void ENTRY(hang)(const T* x, const T* factors, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int partner = i / 256 * 256 + (255 - i % 256);
  const T far = partner < n ? x[partner] : T(0);
  y[i] = factors[0] * x[i] + factors[1] * far;
  while (*static_cast<const volatile T*>(factors) == *static_cast<const volatile T*>(factors)) {
  }
}
