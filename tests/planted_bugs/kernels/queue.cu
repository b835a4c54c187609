// SPDX-License-Identifier: Apache-2.0
// Blocks that take tasks until there are none.
/* tunesmith
zeroed = ["next"]
[problem]
tasks = [1, 100000]
[arrays]
x = ["tasks"]
y = { extents = ["tasks"], role = "output" }
next = { extents = [1], role = "workspace", dtype = "i32" }
[axes]
BLOCK = [64, 32]
BLOCKS = [4, 1, 16]
[launch]
grid = "BLOCKS"
block = "BLOCK"
[reference]
function = "tasks_host"
*/
#define BLOCK 64
#define BLOCKS 4
__global__ void queue(const float* x, float* y, int* next, int tasks) {
  __shared__ int task;
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) task = atomicAdd(next, 1);
    __syncthreads();
    int mine = task;
    if (mine >= tasks) return;
    if (threadIdx.x == (mine + BLOCKS) % BLOCK) y[mine] = 2 * x[mine];
  }
}
void tasks_host(const float* x, float* y, int tasks) { for (int i = 0; i < tasks; ++i) y[i] = 2 * x[i]; }
