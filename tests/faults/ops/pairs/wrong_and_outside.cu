// SPDX-License-Identifier: Apache-2.0
// Wrong in every order of threads; if the host runs the last thread first, it also writes before its array.
extern "C" __global__ void ENTRY(wrong_and_outside)(const T* x, const T* factors, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef TUNESMITH_HOST
  __shared__ int last_came;
  if (threadIdx.x == blockDim.x - 1) last_came = 12345;
  if (i == 0 && last_came == 12345) y[-1] = T(1);
#endif
  if (i >= n) return;
  y[i] = factors[0] * x[i] + T(1);
}
