// SPDX-License-Identifier: Apache-2.0
// If the workspace or `count` does not start with the right contents, the result is wrong; memory after the
// part that must be zero is made dirty.
extern "C" __global__ void ENTRY(tally_base)(const T* x, T* y, T* count, int n, T* state) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= n) return;
  T sum = x[i];
  for (int s = 0; s < 4 / VECTOR; ++s) sum += state[s];
  y[i] = sum;
  atomicAdd(count, T(1));
  for (int s = 4 / VECTOR; i == 0 && s < 4; ++s) state[s] = 7;
}
