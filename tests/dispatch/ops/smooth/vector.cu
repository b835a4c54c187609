// SPDX-License-Identifier: Apache-2.0
__device__ bool aligned(const void* pointer) {
  return reinterpret_cast<unsigned long long>(pointer) % (sizeof(T) * VECTOR) == 0;
}

extern "C" __global__ void ENTRY(smooth_vector)(const T* samples, const T* weights, T* output, int n, int) {
  const int first = (blockIdx.x * BLOCK + threadIdx.x) * VECTOR;
  const bool right = aligned(samples) && aligned(weights) && aligned(output);
  for (int i = first; i < first + VECTOR && i < n; ++i) {
    T sum = right ? T(0) : T(0) / T(0);
    for (int t = 0; t < taps && i + t < n; ++t) sum += weights[t] * samples[i + t];
    output[i] = sum;
  }
}
