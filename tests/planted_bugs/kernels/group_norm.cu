// SPDX-License-Identifier: Apache-2.0
// Normalises rows by groups of threads: tiles add, a block's barrier and copies bring the row.
/* tunesmith
kernel = "group_norm"
tolerance = { relative = 1e-4, absolute = 1e-4 }
[problem]
rows = [1, 4096]
cols = { usual = [1, 1024], maximum = 1024 }
[arrays]
x = ["rows", "cols"]
y = { extents = ["rows", "cols"], role = "output" }
[axes]
BLOCK = [128, 64, 256]
TILE = [32, 16, 8]
[launch]
grid = "rows"
block = "BLOCK"
[reference]
kernel = "plain"
grid = "rows"
block = 1
*/
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#define BLOCK 128
#define TILE 32
namespace cg = cooperative_groups;

__device__ float all_of(cg::thread_block block, float mine, float* of_tile) {
  auto tile = cg::tiled_partition<TILE>(block);
  mine = cg::reduce(tile, mine, cg::plus<float>());
  if (tile.thread_rank() == 0) of_tile[tile.meta_group_rank()] = mine;
  block.sync();
  float all = 0;
  for (int n = 0; n < BLOCK / TILE; ++n) all += of_tile[n];
  block.sync();
  return all;
}

__global__ void __launch_bounds__(BLOCK) group_norm(const float* x, float* y, int rows, int cols) {
  __shared__ float row[1024];
  __shared__ float of_tile[BLOCK / TILE];
  __shared__ cuda::barrier<cuda::thread_scope_block> here;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&here, block.size());
  block.sync();
  cuda::memcpy_async(block, row, x + (long long)blockIdx.x * cols, sizeof(float) * cols, here);
  here.arrive_and_wait();
  float sum = 0;
  for (int n = block.thread_rank(); n < cols; n += block.size()) sum += row[n];
  const float mean = all_of(block, sum, of_tile) / cols;
  sum = 0;
  for (int n = block.thread_rank(); n < cols; n += block.size()) sum += (row[n] - mean) * (row[n] - mean);
  const float scale = rsqrtf(all_of(block, sum, of_tile) / cols + 1e-3f);
  for (int n = block.thread_rank(); n < cols; n += block.size())
    y[(long long)blockIdx.x * cols + n] = (row[cols - 1 - n] - mean) * scale;
}

__global__ void plain(const float* x, float* y, int rows, int cols) {
  x += (long long)blockIdx.x * cols;
  double mean = 0, square = 0;
  for (int n = 0; n < cols; ++n) mean += x[n];
  mean /= cols;
  for (int n = 0; n < cols; ++n) square += (x[n] - mean) * (x[n] - mean);
  for (int n = 0; n < cols; ++n)
    y[(long long)blockIdx.x * cols + n] = (float)((x[cols - 1 - n] - mean) / sqrt(square / cols + 1e-3));
}
