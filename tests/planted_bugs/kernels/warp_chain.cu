// SPDX-License-Identifier: Apache-2.0
// A scan of a block: each warp waits for a flag of the warp before it, in shared memory.
/* tunesmith
[problem]
rows = [1, 65536]
cols = [1, 4096]
[arrays]
x = ["rows", "cols"]
y = { extents = ["rows", "cols"], role = "output" }
[axes]
BLOCK = [128, 64, 256]
[launch]
grid = "rows"
block = "BLOCK"
[reference]
function = "scan_host"
*/
#define BLOCK 128
#define WARPS (BLOCK / 32)
__global__ void warp_chain(const float* x, float* y, int cols) {
  __shared__ float carry[WARPS + 1];
  __shared__ volatile int flag[WARPS + 1];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float before = 0;
  for (int first = 0; first < cols; first += BLOCK) {
    if (threadIdx.x <= WARPS) flag[threadIdx.x] = threadIdx.x == 0;
    if (threadIdx.x == 0) carry[0] = before;
    __syncthreads();
    const int i = first + threadIdx.x;
    float sum = i < cols ? x[(size_t)blockIdx.x * cols + i] : 0.0f;
    for (int by = 1; by < 32; by *= 2) {
      float other = __shfl_up_sync(~0u, sum, by);
      if (lane >= by) sum += other;
    }
    if (lane == 31) {
      while (flag[warp] == 0) {
      }
      __threadfence_block();
      carry[warp + 1] = carry[warp] + sum;
      __threadfence_block();
      flag[warp + 1] = 1;
    }
    __syncwarp();
    if (i < cols) y[(size_t)blockIdx.x * cols + i] = carry[warp] + sum;
    __syncthreads();
    before = carry[WARPS];
    __syncthreads();
  }
}
void scan_host(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = 0; c < cols; ++c) y[(long)r * cols + c] = sum += x[(long)r * cols + c];
  }
}
