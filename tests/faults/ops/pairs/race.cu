// SPDX-License-Identifier: Apache-2.0
// Wrong: the kernel does not wait until the partner has written. On a GPU the upper half is slow, so that the
// fault shows every time.
extern "C" __global__ void ENTRY(race)(const T* x, const T* factors, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ T tile[256];
#ifndef TUNESMITH_HOST
  if (threadIdx.x >= 128) __nanosleep(100000);
#endif
  tile[threadIdx.x] = i < n ? x[i] : T(0);
  if (i < n) y[i] = factors[0] * x[i] + factors[1] * static_cast<volatile T*>(tile)[255 - threadIdx.x];
}
