// SPDX-License-Identifier: Apache-2.0
// Each row with mean 0 and variance 1. The kernel and the sum of a block are templates with shared arrays of their own.
/* tunesmith
kernel = "standard_rows"
[problem]
rows = [1, 65535]
cols = [1, 4096]
[arrays]
x = ["rows", "cols"]
y = { extents = ["rows", "cols"], role = "output" }
[axes]
BLOCK = [128, 64, 256]
[rules]
must = "BLOCK >= 32"
[launch]
grid = "rows"
block = "BLOCK"
[reference]
kernel = "standard_rows_plain"
grid = "rows"
block = 1
*/
template <typename T, int BLOCK>
__device__ T block_sum(T v) {
  __shared__ T part[BLOCK];
  part[threadIdx.x] = v;
  __syncthreads();
#pragma unroll
  for (int step = BLOCK / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  const T all = part[0];
  __syncthreads();
  return all;
}

template <int BLOCK>
__global__ void standard_rows(const float* x, float* y, int rows, int cols) {
  __shared__ float moments[2];
  const float* const row = x + static_cast<long long>(blockIdx.x) * cols;
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += BLOCK) sum += row[i];
  const float mean = block_sum<float, BLOCK>(sum) / cols;
  float squares = 0;
  for (int i = threadIdx.x; i < cols; i += BLOCK) squares += (row[i] - mean) * (row[i] - mean);
  const float variance = block_sum<float, BLOCK>(squares) / cols;
  // Each thread stores the same numbers, so it may read them at once.
  moments[0] = mean;
  moments[1] = rsqrtf(variance + 1e-3f);
  for (int i = threadIdx.x; i < cols; i += BLOCK)
    y[static_cast<long long>(blockIdx.x) * cols + i] = (row[i] - moments[0]) * moments[1];
}

__global__ void standard_rows_plain(const float* x, float* y, int rows, int cols) {
  const long long at = static_cast<long long>(blockIdx.x) * cols;
  double mean = 0, variance = 0;
  for (int i = 0; i < cols; ++i) mean += x[at + i];
  mean /= cols;
  for (int i = 0; i < cols; ++i) variance += (x[at + i] - mean) * (x[at + i] - mean);
  for (int i = 0; i < cols; ++i) y[at + i] = (x[at + i] - mean) * rsqrt(variance / cols + 1e-3);
}
