// SPDX-License-Identifier: Apache-2.0
// Counts and sums by bin: the lanes that share a bin elect one that adds for all. What is left over goes to a list, whose
// places the lanes of a warp take together.
/* tunesmith
zeroed = ["count", "sum", "left"]
[problem]
n = [1, 200000]
bins = [1, 64]
[arrays]
key = { extents = ["n"], values = ["index(2 * bins)", "few(0, bins)"], dtype = "i32" }
x = { extents = ["n"], values = [-1000, 1000] }
count = { extents = ["bins"], role = "output" }
sum = { extents = ["bins"], role = "output" }
left = { extents = [2], role = "output" }
[axes]
BLOCK = [64, 32, 128]
EACH = [1, 3]
[launch]
grid = "ceil_div(n, BLOCK * EACH)"
block = "BLOCK"
[reference]
function = "bins_host"
*/
#include <cooperative_groups.h>
#define BLOCK 64
#define EACH 1
namespace cg = cooperative_groups;
__global__ void bins_by_group(const int* key, const int* x, int* count, int* sum, int* left, int n, int bins) {
  __shared__ int own_count[64], own_sum[64];
  const cg::thread_block block = cg::this_thread_block();
  for (int i = threadIdx.x; i < bins; i += BLOCK) own_count[i] = own_sum[i] = 0;
  block.sync();
  for (int k = 0; k < EACH; ++k) {
    const int i = (blockIdx.x * EACH + k) * BLOCK + threadIdx.x;
    const bool is_inside = i < n;
    const int bin = is_inside ? key[i] : -1;
    if (is_inside && bin < bins) {
      atomicAdd(&own_count[bin], 1);
      atomicAdd(&own_sum[bin], x[i]);
    } else if (is_inside) {
      const cg::coalesced_group active = cg::coalesced_threads();
      int values = x[i];
      for (int by = 1; by < (int)active.size(); by *= 2) {
        const int other = active.shfl_down(values, by);
        if (active.thread_rank() + by < active.size()) values += other;
      }
      if (active.thread_rank() == 0) {
        atomicAdd(&left[0], (int)active.size());
        atomicAdd(&left[1], values);
      }
    }
    cg::tiled_partition<32>(block).sync();
  }
  block.sync();
  for (int i = threadIdx.x; i < bins; i += BLOCK) {
    atomicAdd(&count[i], own_count[i]);
    atomicAdd(&sum[i], own_sum[i]);
  }
}
void bins_host(const int* key, const int* x, int* count, int* sum, int* left, int n, int bins) {
  left[0] = left[1] = 0;
  for (int i = 0; i < bins; ++i) count[i] = sum[i] = 0;
  for (int i = 0; i < n; ++i) {
    const bool is_left = key[i] >= bins;
    (is_left ? left[0] : count[key[i]]) += 1;
    (is_left ? left[1] : sum[key[i]]) += x[i];
  }
}
