// SPDX-License-Identifier: Apache-2.0
// Wrong: the last element is not written.
extern "C" __global__ void ENTRY(unwritten)(const T* x, const T* factors, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - 1) return;
  const int partner = i / 256 * 256 + (255 - i % 256);
  const T far = partner < n ? x[partner] : T(0);
  y[i] = factors[0] * x[i] + factors[1] * far;
}
