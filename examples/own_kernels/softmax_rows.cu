// SPDX-License-Identifier: Apache-2.0
// Computes the softmax of each row: a block takes a row, finds its maximum, sums exponentials and divides.
/* tunesmith
what = "y[r][c] = exp(x[r][c]) / sum of exp(x[r][:])"
kernel = "softmax_rows"
flops = "4 * rows * cols"
tolerance = { relative = 2e-5, absolute = 1e-7 }

[problem]
rows = [1, 65536]
cols = [1, 16384]

[arrays]
x = { extents = ["rows", "cols"], values = [-20, 20] }
y = { extents = ["rows", "cols"], role = "output" }

[axes]
BLOCK = [128, 32, 64, 256, 512, 1024]
ROWS = [1, 2, 4, 8]
UNROLL = [1, 2, 4, 8]

[rules]
must = { rule = "BLOCK * ROWS <= 1024", why = "A block has at most 1024 threads." }
worth = { rule = "BLOCK * UNROLL <= max(64, 2 * cols)", why = "A row has work for each thread." }

[launch]
grid = "ceil_div(rows, ROWS)"
block = ["BLOCK", "ROWS"]

[reference]
kernel = "softmax_plain"
*/
#include <cuda_runtime.h>
#include <math.h>

#ifndef BLOCK
#define BLOCK 128  // threads per row
#endif
#ifndef ROWS
#define ROWS 1  // rows per block
#endif
constexpr int UNROLL = 1;

// Joins the values of all threads of a row; `scratch` has room for each thread of the block.
template <typename Join>
__device__ float joined(float mine, float* scratch, Join join) {
  float* row = scratch + threadIdx.y * BLOCK;
  row[threadIdx.x] = mine;
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) row[threadIdx.x] = join(row[threadIdx.x], row[threadIdx.x + half]);
  }
  __syncthreads();
  const float all = row[0];
  __syncthreads();
  return all;
}

__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  __shared__ float scratch[BLOCK * ROWS];
  const int row = blockIdx.x * ROWS + threadIdx.y;
  const bool inside = row < rows;
  const float* from = x + static_cast<size_t>(inside ? row : 0) * cols;
  float* to = y + static_cast<size_t>(inside ? row : 0) * cols;

  float largest = -INFINITY;
#pragma unroll UNROLL
  for (int c = threadIdx.x; c < cols; c += BLOCK) largest = fmaxf(largest, from[c]);
  largest = joined(largest, scratch, [](float a, float b) { return fmaxf(a, b); });

  float sum = 0;
#pragma unroll UNROLL
  for (int c = threadIdx.x; c < cols; c += BLOCK) sum += expf(from[c] - largest);
  sum = joined(sum, scratch, [](float a, float b) { return a + b; });

  if (!inside) return;
#pragma unroll UNROLL
  for (int c = threadIdx.x; c < cols; c += BLOCK) to[c] = expf(from[c] - largest) / sum;
}

// The reference: one thread per element, in double.
__global__ void softmax_plain(const float* x, float* y, int rows, int cols) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<size_t>(rows) * cols) return;
  const float* row = x + i / cols * cols;
  double largest = row[0];
  for (int c = 1; c < cols; ++c) largest = fmax(largest, static_cast<double>(row[c]));
  double sum = 0;
  for (int c = 0; c < cols; ++c) sum += exp(row[c] - largest);
  y[i] = static_cast<float>(exp(row[i % cols] - largest) / sum);
}
