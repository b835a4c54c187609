// SPDX-License-Identifier: Apache-2.0
// The tiled matrix product of every introduction to CUDA: a block computes a square tile of C, and iterates
// over tiles of A and B that it loads into shared memory.
/* tunesmith
name = "tiled_matmul"
kernel = "matmul"
what = "C = A B, row-major"
flops = "2 * m * n * k"

[problem]
m = [1, 4096]
n = [1, 4096]
k = [1, 4096]

[arrays]
A = ["m", "k"]
B = ["k", "n"]
C = { extents = ["m", "n"], role = "output" }

[axes]
TILE = [16, 8, 32]
PER_THREAD = [1, 2, 4, 8]

[rules]
must = { rule = "TILE % PER_THREAD == 0", why = "A thread's part of a column divides it." }

[launch]
grid = ["ceil_div(n, TILE)", "ceil_div(m, TILE)"]
block = ["TILE", "TILE / PER_THREAD"]

[reference]
kernel = "matmul_plain"
*/
#define TILE 16       // rows and columns of a tile
#define PER_THREAD 1  // rows of the tile that a thread computes

__global__ void matmul(const float* A, const float* B, float* C, int m, int n, int k) {
  __shared__ float a[TILE][TILE], b[TILE][TILE];
  constexpr int step = TILE / PER_THREAD;
  const int column = blockIdx.x * TILE + threadIdx.x;
  const int top = blockIdx.y * TILE;
  float sum[PER_THREAD] = {};
  for (int first = 0; first < k; first += TILE) {
    for (int row = threadIdx.y; row < TILE; row += step) {
      const int a_column = first + threadIdx.x;
      const int b_row = first + row;
      a[row][threadIdx.x] = top + row < m && a_column < k ? A[(size_t)(top + row) * k + a_column] : 0.0f;
      b[row][threadIdx.x] = b_row < k && column < n ? B[(size_t)b_row * n + column] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < TILE; ++i) {
      const float right = b[i][threadIdx.x];
#pragma unroll
      for (int p = 0; p < PER_THREAD; ++p) sum[p] += a[threadIdx.y + p * step][i] * right;
    }
    __syncthreads();
  }
#pragma unroll
  for (int p = 0; p < PER_THREAD; ++p) {
    const int row = top + threadIdx.y + p * step;
    if (row < m && column < n) C[(size_t)row * n + column] = sum[p];
  }
}

__global__ void matmul_plain(const float* A, const float* B, float* C, int m, int n, int k) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)m * n) return;
  double sum = 0;
  for (int j = 0; j < k; ++j) sum += (double)A[i / n * k + j] * B[(size_t)j * n + i % n];
  C[i] = (float)sum;
}
