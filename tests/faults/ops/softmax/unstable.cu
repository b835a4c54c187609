// SPDX-License-Identifier: Apache-2.0
// Wrong: large numbers overflow, because nothing is subtracted.
extern "C" __global__ void ENTRY(softmax_unstable)(const T* x, T* y, int columns) {
  const T* row = x + static_cast<long long>(blockIdx.x) * columns;
  T* to = y + static_cast<long long>(blockIdx.x) * columns;
  __shared__ T part[BLOCK];
  const int t = threadIdx.x;
  T sum = 0;
  for (int i = t; i < columns; i += BLOCK) sum += expf(row[i]);
  part[t] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < BLOCK; ++i) sum += part[i];
  for (int i = t; i < columns; i += BLOCK) to[i] = expf(row[i]) / sum;
}
