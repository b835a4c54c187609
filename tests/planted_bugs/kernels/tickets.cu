// SPDX-License-Identifier: Apache-2.0
// Threads that write what they keep one behind the other, in the order of the tickets that they draw.
/* tunesmith
zeroed = ["turn"]
[problem]
n = [1, 100000]
[arrays]
x = ["n"]
count = { extents = [1], role = "output", dtype = "i32" }
total = { extents = [1], role = "output" }
turn = { extents = [4], role = "workspace", dtype = "i32" }
[axes]
BLOCK = [64, 32, 128]
[launch]
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
[reference]
function = "kept_host"
*/
#define BLOCK 64
__global__ void kept(const float* x, int* count, float* total, int* turn, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  volatile int* serving = &turn[1];
  int mine = atomicAdd(&turn[0], 1);
  while (*serving != mine) {
  }
  __threadfence();
  int kept = mine == 0 ? 0 : turn[2];
  float sum = mine == 0 ? 0.0f : __int_as_float(turn[3]);
  if (x[i] > 0) kept += 1, sum += x[i];
  turn[2] = kept;
  turn[3] = __float_as_int(sum);
  if (mine == n - 1) {
    count[0] = kept;
    total[0] = sum;
  }
  __threadfence();
  *serving = mine + 1;
}
void kept_host(const float* x, int* count, float* total, int n) {
  double sum = 0;
  count[0] = 0;
  for (int i = 0; i < n; ++i)
    if (x[i] > 0) sum += x[i], ++count[0];
  total[0] = sum;
}
