// SPDX-License-Identifier: Apache-2.0
/* tunesmith
name = "run_lengths"

[problem]
n = [1, 1000000000]

[arrays]
x = { extents = ["n"], dtype = "u8", values = ["uniform(0, 3)", "few(0, 1)", "equal(2)"] }
heads = { extents = ["ceil_div(n, BLOCK * ITEMS)"], dtype = "i32", role = "workspace" }
runs = { extents = [1], dtype = "i32", role = "output" }
run_of = { extents = ["n"], dtype = "i32", role = "output" }
begin = { extents = ["n + 1"], dtype = "i32", role = "inout", values = "equal(-1)" }

[axes]
BLOCK = [128, 64, 256]
ITEMS = [4, 1, 5]

[[launch]]
kernel = "find_starts"
grid = "ceil_div(n, BLOCK * ITEMS)"
block = "BLOCK"

[[launch]]
kernel = "scan_heads"
grid = 1
block = "BLOCK"
arguments = ["heads", "runs", "begin", "n", "ceil_div(n, BLOCK * ITEMS)"]

[[launch]]
kernel = "place_runs"
grid = "ceil_div(n, BLOCK * ITEMS)"
block = "BLOCK"

[reference]
kernel = "runs_plain"
grid = 1
block = 1
*/
// Runs of equal bytes: the number of each element's run, and where runs begin.
__device__ bool head(const unsigned char* x, int i, int n) { return i < n && (i == 0 || x[i] != x[i - 1]); }

__global__ void find_starts(const unsigned char* __restrict__ x, int* heads, int n) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  int count = 0;
  for (int j = 0; j < ITEMS; ++j) count += head(x, (blockIdx.x * ITEMS + j) * BLOCK + threadIdx.x, n);
  for (int o = 16; o > 0; o >>= 1) count += __shfl_down_sync(0xffffffff, count, o);
  if ((threadIdx.x & 31) == 0) atomicAdd(&sum, count);
  __syncthreads();
  if (threadIdx.x == 0) heads[blockIdx.x] = sum;
}

__global__ void scan_heads(int* heads, int* runs, int* begin, int n, int parts) {
  __shared__ int buffer[2][BLOCK];
  __shared__ int carry;
  if (threadIdx.x == 0) carry = 0;
  for (int base = 0; base < parts; base += BLOCK) {
    const int i = base + threadIdx.x, t = threadIdx.x;
    const int mine = i < parts ? heads[i] : 0;
    int in = 0;
    buffer[0][t] = mine;
    __syncthreads();
    for (int o = 1; o < BLOCK; o <<= 1) {
      buffer[1 - in][t] = buffer[in][t] + (t >= o ? buffer[in][t - o] : 0);
      in = 1 - in;
      __syncthreads();
    }
    if (i < parts) heads[i] = carry + buffer[in][t] - mine;
    __syncthreads();
    if (t == BLOCK - 1) carry += buffer[in][t];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    *runs = carry;
    begin[carry] = n;
  }
}

__global__ void place_runs(const unsigned char* __restrict__ x, const int* heads, int* run_of, int* begin, int n) {
  __shared__ int warps[BLOCK / 32];
  int before = heads[blockIdx.x];
  const unsigned lower = (1u << (threadIdx.x & 31)) - 1;
  for (int j = 0; j < ITEMS; ++j) {
    const int i = (blockIdx.x * ITEMS + j) * BLOCK + threadIdx.x;
    const bool h = head(x, i, n);
    const unsigned votes = __ballot_sync(0xffffffffu, h);
    if ((threadIdx.x & 31) == 0) warps[threadIdx.x >> 5] = __popc(votes);
    __syncthreads();
    int mine = before + __popc(votes & lower) + h;
    for (int w = 0; w < BLOCK / 32; ++w) {
      if (w < threadIdx.x >> 5) mine += warps[w];
      before += warps[w];
    }
    if (i < n) run_of[i] = mine - 1;
    if (h) begin[mine - 1] = i;
    __syncthreads();
  }
}

__global__ void runs_plain(const unsigned char* x, int* runs, int* run_of, int* begin, int n) {
  int r = 0;
  for (int i = 0; i < n; ++i) {
    if (i == 0 || x[i] != x[i - 1]) begin[r++] = i;
    run_of[i] = r - 1;
  }
  *runs = r;
  begin[r] = n;
}
