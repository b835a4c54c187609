// SPDX-License-Identifier: Apache-2.0
// Counts and adds the positive numbers, with one atomic operation per warp.
/* tunesmith
zeroed = ["count"]
[problem]
n = [1, 10000000]
[arrays]
x = ["n"]
flags = { extents = ["n"], role = "output" }
count = { extents = [1], role = "output" }
sum = { extents = [1], role = "inout", dtype = "i64" }
[axes]
BLOCK = [128, 64, 256]
[launch]
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
[reference]
function = "count_host"
*/
#define BLOCK 128
__device__ int add_of_warp(int* counter) {
  unsigned active = __activemask();
  int leader = __ffs(active) - 1, lane = threadIdx.x % 32, before = 0;
  if (lane == leader) before = atomicAdd(counter, __popc(active));
  before = __shfl_sync(active, before, leader);
  return before + __popc(active & ((1u << lane) - 1));
}
__global__ void compact(const int* x, int* flags, int* count, long long* sum, int n) {
  __shared__ long long part[BLOCK / 32];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  long long mine = 0;
  if (i < n) {
    flags[i] = x[i] > 0;
    if (x[i] > 0) {
      add_of_warp(count);
      mine = x[i];
    }
  }
  for (int by = 16; by > 0; by /= 2) mine += __shfl_down_sync(0xffffffffu, mine, by);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < BLOCK / 32; ++w) mine += part[w];
    atomicAdd((unsigned long long*)sum, (unsigned long long)mine);
  }
}
void count_host(const int* x, int* flags, int* count, long long* sum, int n) {
  count[0] = 0;
  for (int i = 0; i < n; ++i) {
    flags[i] = x[i] > 0;
    if (x[i] > 0) ++count[0], sum[0] += x[i];
  }
}
