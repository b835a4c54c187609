// SPDX-License-Identifier: Apache-2.0
// A sparse matrix in ELL, several threads for each row; sums of an unrolled loop in registers.
/* tunesmith
kernel = "spmv_ell"
[problem]
rows = [1, 200000]
width = [1, 64]
cols = [1, 200000]
[arrays]
col = { extents = ["width", "rows"], dtype = "i32", values = "index(cols)" }
val = ["width", "rows"]
x = ["cols"]
y = { extents = ["rows"], role = "output" }
[axes]
THREADS = [1, 2, 8, 32]
BLOCK = [128, 64, 256]
UNROLL = [1, 2, 4]
[launch]
grid = "ceil_div(rows * THREADS, BLOCK)"
block = "BLOCK"
*/
#define THREADS 1
#define BLOCK 128
#define UNROLL 1

__global__ void spmv_ell(const int* __restrict__ col, const float* __restrict__ val, const float* __restrict__ x,
                         float* y, int rows, int width, int cols) {
  const int t = blockIdx.x * BLOCK + threadIdx.x;
  const int row = t / THREADS, lane = t % THREADS;
  float part[UNROLL] = {};
  if (row < rows) {
    const int end = width;
    for (int k = lane; k < end; k += THREADS * UNROLL) {
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        const int at = k + u * THREADS;
        if (at < end) {
          const int place = at * rows + row;
          part[u] += val[place] * x[col[place]];
        }
      }
    }
  }
  float sum = 0;
  for (int u = 0; u < UNROLL; ++u) sum += part[u];
  for (int d = THREADS / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d, THREADS);
  if (lane == 0 && row < rows) y[row] = sum;
}
