// SPDX-License-Identifier: Apache-2.0
// Writes the right result, but also changes its input.
extern "C" __global__ void ENTRY(writes_input)(T* x, const T* factors, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int partner = i / 256 * 256 + (255 - i % 256);
  const T far = partner < n ? x[partner] : T(0);
  y[i] = factors[0] * x[i] + factors[1] * far;
  if (i == n / 2) x[i] += T(1);
}
