// SPDX-License-Identifier: Apache-2.0
// Adds the elements of an array in two launches: blocks add parts, and one more block adds their sums. How
// many sums there are is tuned, so they lie in a workspace.
/* tunesmith
what = "total = sum of x"
name = "total"

[problem]
n = [1000, 100000000]

[arrays]
x = ["n"]
sums = { extents = ["BLOCKS"], role = "workspace" }
total = { extents = [1], role = "output" }

[axes]
BLOCK = [128, 64, 256]
BLOCKS = [16, 32, 64, 128]

[[launch]]
kernel = "add_parts"
grid = "BLOCKS"
block = "BLOCK"

[[launch]]
kernel = "add_sums"
grid = 1
block = "BLOCK"

[reference]
function = "total_plain"
*/
#ifndef BLOCK
#define BLOCK 128
#define BLOCKS 16
#endif

// Returns the sum of all threads' values.
__device__ float sum_of_block(float own) {
  __shared__ float values[BLOCK];
  values[threadIdx.x] = own;
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
  }
  __syncthreads();
  return values[0];
}

__global__ void add_parts(const float* __restrict__ x, float* __restrict__ sums, int n) {
  float own = 0;
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCK * BLOCKS) own += x[i];
  const float sum = sum_of_block(own);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void add_sums(const float* __restrict__ sums, float* __restrict__ total) {
  float own = 0;
  for (int i = threadIdx.x; i < BLOCKS; i += BLOCK) own += sums[i];
  const float sum = sum_of_block(own);
  if (threadIdx.x == 0) *total = sum;
}

void total_plain(const float* x, float* total, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  *total = (float)sum;
}
