// SPDX-License-Identifier: Apache-2.0
// A sum in two launches.
/* tunesmith
[problem]
n = [1, 100000000]
[arrays]
x = ["n"]
part = { extents = ["ceil_div(n, BLOCK * ITEMS)"], role = "workspace" }
sum = { extents = [1], role = "output" }
[axes]
BLOCK = [128, 64, 256]
ITEMS = [4, 1, 8]
[[launch]]
kernel = "sum_parts"
grid = "ceil_div(n, BLOCK * ITEMS)"
block = "BLOCK"
[[launch]]
kernel = "sum_all"
arguments = ["part", "sum", "ceil_div(n, BLOCK * ITEMS)"]
grid = 1
block = "BLOCK"
[reference]
function = "sum_host"
*/
#define BLOCK 128
#define ITEMS 4
__device__ float block_sum(float v) {
  __shared__ float s[BLOCK];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int h = BLOCK / 2; h > 0; h /= 2) {
    if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
    __syncthreads();
  }
  return s[0];
}
__global__ void sum_parts(const float* x, float* part, int n) {
  float v = 0;
  for (int k = 0; k < ITEMS; ++k) {
    int i = (blockIdx.x * ITEMS + k) * BLOCK + threadIdx.x;
    if (i < n) v += x[i];
  }
  v = block_sum(v);
  if (threadIdx.x == 0) part[blockIdx.x] = v;
}
__global__ void sum_all(const float* part, float* sum, int parts) {
  float v = 0;
  for (int i = threadIdx.x; i < parts; i += BLOCK) v += part[i];
  v = block_sum(v);
  if (threadIdx.x == 0) sum[0] = v;
}
void sum_host(const float* x, float* sum, int n) { double s = 0; for (int i = 0; i < n; ++i) s += x[i]; *sum = s; }
