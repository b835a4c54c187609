// SPDX-License-Identifier: Apache-2.0
// Totals up to the end of each block, which a block gets from the one before by a flag.
/* tunesmith
blocks_in_order = true
zeroed = ["flag"]
[problem]
n = [1, 1000000]
[arrays]
x = ["n"]
total = { extents = ["ceil_div(n, BLOCK)"], role = "workspace" }
flag = { extents = ["ceil_div(n, BLOCK)"], role = "workspace" }
y = { extents = ["n"], role = "output" }
[axes]
BLOCK = [128, 64, 256]
[launch]
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
[reference]
function = "running_host"
*/
#define BLOCK 128
__device__ __forceinline__ int acquired(const int* at) {
  int value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
__device__ __forceinline__ void release(int* at, int value) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}
__device__ __forceinline__ int from_below(int value, int lanes, bool& has) {
  int got, is_inside;
  asm volatile(
      "{\n"
      "  .reg .pred p;\n"
      "  shfl.sync.up.b32 %0|p, %2, %3, 0x0, 0xffffffff;\n"
      "  selp.s32 %1, 1, 0, p;\n"
      "}\n"
      : "=r"(got), "=r"(is_inside)
      : "r"(value), "r"(lanes));
  has = is_inside != 0;
  return got;
}
__global__ void running_total(const int* x, int* total, int* flag, int* y, int n) {
  __shared__ int sums[BLOCK / 32], before;
  const int i = blockIdx.x * BLOCK + threadIdx.x, warp = threadIdx.x / 32;
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  int v = 0;
  if (i < n) asm volatile("ld.global.nc.L1::no_allocate.s32 %0, [%1];" : "=r"(v) : "l"(x + i));
  for (int by = 1; by < 32; by *= 2) {
    bool has;
    const int got = from_below(v, by, has);
    if (has) v += got;
  }
  if (lane == 31) sums[warp] = v;
  asm volatile("bar.sync 0;" ::: "memory");
  for (int w = 0; w < warp; ++w) v += sums[w];
  if (threadIdx.x == BLOCK - 1) {
    int sum = 0;
    if (blockIdx.x > 0) {
      while (acquired(&flag[blockIdx.x - 1]) == 0) asm volatile("nanosleep.u32 20;");
      sum = total[blockIdx.x - 1];
    }
    before = sum;
    total[blockIdx.x] = sum + v;
    release(&flag[blockIdx.x], 1);
  }
  asm volatile("bar.sync 0;" ::: "memory");
  if (i < n) y[i] = v + before;
}
void running_host(const int* x, int* y, int n) {
  int s = 0;
  for (int i = 0; i < n; ++i) y[i] = s += x[i];
}
