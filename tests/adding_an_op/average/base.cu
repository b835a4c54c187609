// SPDX-License-Identifier: Apache-2.0
// average, the plain kernel: each thread takes ITEMS elements, a block apart.
extern "C" __global__ void ENTRY(average_base)(const T* left, const T* right, T* mean, long long n) {
  const long long first = static_cast<long long>(blockIdx.x) * BLOCK * ITEMS + threadIdx.x;
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const long long i = first + item * BLOCK;
    if (i < n) mean[i] = (left[i] + right[i]) / 2;
  }
}
