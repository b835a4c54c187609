// SPDX-License-Identifier: Apache-2.0
// Right, after much work that the compiler cannot leave out.
extern "C" __global__ void ENTRY(slow)(const T* x, const T* factors, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T work = x[i];
  for (int round = 0; round < 1 << 15; ++round) work = work * T(0.5) + T(1);
  const int partner = i / 256 * 256 + (255 - i % 256);
  const T far = partner < n ? x[partner] : T(0);
  y[i] = factors[0] * x[i] + factors[1] * far + (work > T(1000) ? T(1) : T(0));
}
