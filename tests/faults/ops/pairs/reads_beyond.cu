// SPDX-License-Identifier: Apache-2.0
// Wrong: the last thread reads behind its array, and does not use the value. A GPU has memory there.
extern "C" __global__ void ENTRY(reads_beyond)(const T* x, const T* factors, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int partner = i / 256 * 256 + (255 - i % 256);
  const T far = partner < n ? x[partner] : T(0);
  static_cast<void>(*static_cast<const volatile T*>(x + i + 1));
  y[i] = factors[0] * x[i] + factors[1] * far;
}
