// SPDX-License-Identifier: Apache-2.0
// Right at its first launch after the workspace was filled with ones, wrong later.
extern "C" __global__ void ENTRY(stateful)(const T* x, const T* factors, T* y, int n, int* launches) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int partner = i / 256 * 256 + (255 - i % 256);
  const T far = partner < n ? x[partner] : T(0);
  y[i] = factors[0] * x[i] + factors[1] * far + (*launches == -1 ? T(0) : T(1));
  if (i == n - 1) *launches = 0;
}
