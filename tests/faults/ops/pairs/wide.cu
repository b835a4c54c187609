// SPDX-License-Identifier: Apache-2.0
// Wrong: in an array of 255 elements that begins at any address, four elements at once are not aligned. The
// tuner's arrays on a GPU are aligned.
#include "common/vector.cuh"

extern "C" __global__ void ENTRY(wide)(const T* x, const T* factors, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int partner = i / 256 * 256 + (255 - i % 256);
  const T far = partner < n ? x[partner] : T(0);
  const T own = i / 4 * 4 + 4 <= n ? load_vector<4>(x + i / 4 * 4).element[i % 4] : x[i];
  y[i] = factors[0] * own + factors[1] * far;
}
