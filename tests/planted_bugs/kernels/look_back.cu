// SPDX-License-Identifier: Apache-2.0
// A scan in one launch: a block adds what the blocks before it have announced.
/* tunesmith
kernel = "look_back"
zeroed = ["flags", "ticket"]
[problem]
n = [1, 10000000]
[arrays]
x = { extents = ["n"], dtype = "i32" }
y = { extents = ["n"], dtype = "i32", role = "output" }
sums = { extents = ["ceil_div(n, BLOCK)"], role = "workspace" }
prefixes = { extents = ["ceil_div(n, BLOCK)"], role = "workspace" }
flags = { extents = ["ceil_div(n, BLOCK)"], role = "workspace" }
ticket = { extents = [2], role = "workspace" }
[axes]
BLOCK = [64, 32, 128]
[launch]
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
[reference]
function = "scan_host"
*/
#define BLOCK 64
#define SUM 1
#define PREFIX 2

__global__ void look_back(const int* x, int* y, volatile int* sums, volatile int* prefixes, volatile int* flags,
                          unsigned* ticket, int n) {
  __shared__ int tile[BLOCK];
  __shared__ int number, before;
  if (threadIdx.x == 0) number = atomicAdd(&ticket[0], 1u);
  __syncthreads();
  const int block = number, i = block * BLOCK + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0;
  for (int step = 1; step < BLOCK; step *= 2) {
    __syncthreads();
    const int other = threadIdx.x >= step ? tile[threadIdx.x - step] : 0;
    __syncthreads();
    tile[threadIdx.x] += other;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const int own = tile[BLOCK - 1];
    sums[block] = own;
    __threadfence();
    flags[block] = SUM;
    int sum = 0;
    for (int at = block - 1; at >= 0; --at) {
      int flag = 0;
      while (flag == 0) flag = flags[at];
      if (flag == PREFIX) {
        sum += prefixes[at];
        break;
      }
      sum += sums[at];
    }
    prefixes[block] = sum + own;
    __threadfence();
    flags[block] = PREFIX;
    before = sum;
  }
  __syncthreads();
  if (i < n) y[i] = before + tile[threadIdx.x];
}

void scan_host(const int* x, int* y, int n) {
  long long sum = 0;
  for (int i = 0; i < n; ++i) y[i] = (int)(sum += x[i]);
}
