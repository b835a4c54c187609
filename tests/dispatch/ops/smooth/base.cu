// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void ENTRY(smooth_base)(const T* samples, const T* weights, T* output, int n,
                                              int taps) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  T sum = 0;
  for (int t = 0; t < taps && i + t < n; ++t) sum += weights[t] * samples[i + t];
  output[i] = sum;
}
