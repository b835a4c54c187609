// SPDX-License-Identifier: Apache-2.0
// Wrong in only one element, and only of large problems.
extern "C" __global__ void ENTRY(wrong_value)(const T* x, const T* factors, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int partner = i / 256 * 256 + (255 - i % 256);
  const T far = partner < n ? x[partner] : T(0);
  y[i] = factors[0] * x[i] + factors[1] * far;
  if (i == 700) y[i] += T(1);
}
