// SPDX-License-Identifier: Apache-2.0
// Sorts and counts tiles with CUB's collectives, which share one storage.
/* tunesmith
kernel = "block_ranks"
[problem]
n = [1, 1000000]
[arrays]
x = { extents = ["n"], dtype = "i32", values = [-1000, 1000] }
y = { extents = ["ceil_div(n, 256) * 256"], dtype = "i32", role = "output" }
[axes]
THREADS = [128, 64, 32]
[launch]
grid = "ceil_div(n, 256)"
block = "THREADS"
[reference]
kernel = "plain"
grid = "ceil_div(n, 256)"
block = 256
*/
#include <cub/cub.cuh>
#define THREADS 128

// y: the sorted numbers of each 256, each plus how many of these are negative before it in their first order.
__global__ void __launch_bounds__(THREADS) block_ranks(const int* x, int* y, int n) {
  constexpr int items = 256 / THREADS;
  using Load = cub::BlockLoad<int, THREADS, items, cub::BLOCK_LOAD_TRANSPOSE>;
  using Scan = cub::BlockScan<int, THREADS>;
  using Sort = cub::BlockRadixSort<int, THREADS, items>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Sort::TempStorage sort;
  } storage;
  int keys[items], before[items];
  const int first = blockIdx.x * 256;
  Load(storage.load).Load(x + first, keys, min(256, n - first), 2147483647);
  __syncthreads();
  for (int k = 0; k < items; ++k) before[k] = keys[k] < 0 ? 1 : 0;
  Scan(storage.scan).ExclusiveSum(before, before);
  __syncthreads();
  Sort(storage.sort).Sort(keys);
  for (int k = 0; k < items; ++k) y[first + items * threadIdx.x + k] = keys[k] ^ before[k];
}

__global__ void plain(const int* x, int* y, int n) {
  const int first = blockIdx.x * 256, at = first + threadIdx.x;
  const int own = at < n ? x[at] : 2147483647;
  int rank = 0, before = 0;
  for (int k = first; k < first + 256; ++k) {
    const int other = k < n ? x[k] : 2147483647;
    if (other < own || (other == own && k < at)) ++rank;
  }
  for (int k = first; k < first + rank && k < n; ++k) before += x[k] < 0 ? 1 : 0;
  y[first + rank] = own ^ before;
}
