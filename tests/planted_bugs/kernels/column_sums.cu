// SPDX-License-Identifier: Apache-2.0
// The sums of an image's columns: blocks add their rows in shared memory, and the last block to end clears
// nothing but its own notes, so that another launch may follow.
/* tunesmith
kernel = "column_sums"
zeroed = ["counted"]
[problem]
rows = [1, 4096]
cols = [1, 4096]
[arrays]
image = { extents = ["rows", "cols"], dtype = "u8" }
weights = { extents = ["rows"], dtype = "i32" }
sums = { extents = ["cols"], dtype = "i32", role = "output" }
parts = { extents = ["ceil_div(rows, ROWS)", "cols"], dtype = "i32", role = "workspace" }
most = { extents = [1], dtype = "i32", role = "output" }
[axes]
ROWS = [64, 16, 256]
BLOCK = [64, 32, 128]
[launch]
grid = ["ceil_div(cols, BLOCK)", "ceil_div(rows, ROWS)"]
block = "BLOCK"
[reference]
function = "sums_host"
*/
#define ROWS 64
#define BLOCK 64

__device__ unsigned counted;

__global__ void column_sums(const unsigned char* image, const int* weights, int* sums, int* parts, int* most, int rows,
                            int cols) {
  __shared__ bool is_last;
  __shared__ int largest;
  const int column = blockIdx.x * BLOCK + threadIdx.x, first = blockIdx.y * ROWS;
  int sum = 0;
  if (column < cols)
    for (int row = first; row < min(first + ROWS, rows); ++row) sum += weights[row] * image[(size_t)row * cols + column];
  if (column < cols) parts[(size_t)blockIdx.y * cols + column] = sum;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicAdd(&counted, 1u) == gridDim.x * gridDim.y - 1;
    largest = -2147483647;
  }
  __syncthreads();
  if (!is_last) return;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    int all = 0;
    for (int y = 0; y < gridDim.y; ++y) all += ((volatile int*)parts)[(size_t)y * cols + c];
    sums[c] = all;
    atomicMax(&largest, all);
  }
  __syncthreads();
  if (threadIdx.x == 0) *most = largest;
}

void sums_host(const unsigned char* image, const int* weights, int* sums, int* most, int rows, int cols) {
  *most = -2147483647;
  for (int c = 0; c < cols; ++c) {
    unsigned sum = 0;
    for (int row = 0; row < rows; ++row) sum += (unsigned)weights[row] * image[(size_t)row * cols + c];
    sums[c] = (int)sum;
    if (sums[c] > *most) *most = sums[c];
  }
}
