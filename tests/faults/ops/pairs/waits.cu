// SPDX-License-Identifier: Apache-2.0
// Right: starts before its predecessor has ended, and waits for it.
extern "C" __global__ void ENTRY(waits)(const T* x, const T* factors, T* y, int n) {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::: "memory");
#endif
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int partner = i / 256 * 256 + (255 - i % 256);
  const T far = partner < n ? x[partner] : T(0);
  y[i] = factors[0] * x[i] + factors[1] * far;
}
