// SPDX-License-Identifier: Apache-2.0
// A scan by look-back: a word of 64 bits has a block's state and its sum, a warp looks at 32 blocks at a time,
// and a launch before clears the words.
/* tunesmith
name = "packed_scan"
zeroed = ["ticket"]
[problem]
n = [1, 40000000]
[arrays]
x = { extents = ["n"], dtype = "i32", values = "uniform(-20, 20)" }
y = { extents = ["n"], dtype = "i32", role = "output" }
state = { extents = ["ceil_div(n, BLOCK * ITEMS)"], dtype = "u64", role = "workspace" }
ticket = { extents = [1], dtype = "u32", role = "workspace" }
[axes]
BLOCK = [64, 32, 128]
ITEMS = [1, 2, 4]
[[launch]]
kernel = "clear_states"
grid = "ceil_div(ceil_div(n, BLOCK * ITEMS), BLOCK)"
block = "BLOCK"
arguments = ["state", "ceil_div(n, BLOCK * ITEMS)"]
[[launch]]
kernel = "packed_scan"
grid = "ceil_div(n, BLOCK * ITEMS)"
block = "BLOCK"
[reference]
function = "scan_host"
*/
#define BLOCK 64
#define ITEMS 1
typedef unsigned long long u64;
#define SUM 1ull
#define PREFIX 2ull

__global__ void clear_states(u64* state, int blocks) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < blocks) state[i] = 0;
}

__device__ inline u64 packed(u64 what, int value) { return what << 32 | (unsigned)value; }

__global__ void packed_scan(const int* x, int* y, volatile u64* state, unsigned* ticket, int n) {
  __shared__ int number, before, sums[BLOCK / 32];
  if (threadIdx.x == 0) number = atomicAdd(ticket, 1u);
  __syncthreads();
  const int block = number, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int own[ITEMS], sum = 0;
  const int first = (block * BLOCK + threadIdx.x) * ITEMS;
  for (int k = 0; k < ITEMS; ++k) {
    sum += first + k < n ? x[first + k] : 0;
    own[k] = sum;
  }
  int scan = sum;
  for (int d = 1; d < 32; d *= 2) {
    const int other = __shfl_up_sync(~0u, scan, d);
    if (lane >= d) scan += other;
  }
  if (lane == 31) sums[warp] = scan;
  __syncthreads();
  int offset = 0, all = 0;
  for (int w = 0; w < BLOCK / 32; ++w) {
    if (w < warp) offset += sums[w];
    all += sums[w];
  }
  if (warp == 0) {
    if (lane == 0) state[block] = packed(block == 0 ? PREFIX : SUM, all);
    int sum_before = 0;
    if (block > 0) {
      for (int at = block - 1;; at -= 32) {
        u64 one = 0;
        do {
          one = at - lane >= 0 ? state[at - lane] : PREFIX << 32;
        } while (__any_sync(~0u, one >> 32 == 0));
        const unsigned has = __ballot_sync(~0u, one >> 32 == PREFIX);
        const int last = has ? __ffs(has) - 1 : 31;
        int part = lane <= last ? (int)(unsigned)one : 0;
        for (int d = 16; d > 0; d /= 2) part += __shfl_xor_sync(~0u, part, d);
        sum_before += part;
        if (has) break;
      }
      if (lane == 0) state[block] = packed(PREFIX, sum_before + all);
    }
    if (lane == 0) before = sum_before;
  }
  __syncthreads();
  for (int k = 0; k < ITEMS; ++k)
    if (first + k < n) y[first + k] = before + offset + scan - sum + own[k];
}

void scan_host(const int* x, int* y, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) y[i] = sum += x[i];
}
