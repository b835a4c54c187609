// SPDX-License-Identifier: Apache-2.0
/* tunesmith
kernel = "chained_scan"
zeroed = ["states", "ticket"]

[problem]
n = [1, 1000000]

[arrays]
in = { extents = ["n"], values = ["uniform(-50, 50)", "few(-1, 1)"] }
out = { extents = ["n"], role = "output" }
states = { extents = ["ceil_div(n, BLOCK * ITEMS)"], role = "workspace", dtype = "u64" }
ticket = { extents = [1], role = "workspace", dtype = "u32" }

[axes]
BLOCK = [128, 64, 256]
ITEMS = [4, 2, 7]

[launch]
grid = "ceil_div(n, BLOCK * ITEMS)"
block = "BLOCK"

[reference]
kernel = "scan_plain"
grid = 1
block = 1
*/
// An exclusive maximum of all elements before: blocks chain their maxima through words of a flag and a value.
#define NONE (-2147483647 - 1)

__device__ int warp_max(int v, int lane) {
  for (int o = 1; o < 32; o <<= 1) {
    int w = __shfl_up_sync(0xffffffffu, v, o);
    if (lane >= o) v = max(v, w);
  }
  return v;
}

__global__ void chained_scan(const int* __restrict__ in, int* __restrict__ out, unsigned long long* states,
                             unsigned* ticket, int n) {
  __shared__ int part[BLOCK / 32];
  __shared__ int before;
  __shared__ unsigned tile;
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1u);
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int first = (tile * BLOCK + threadIdx.x) * ITEMS;
  int v[ITEMS], mine = NONE;
  for (int j = 0; j < ITEMS; ++j) {
    v[j] = first + j < n ? in[first + j] : NONE;
    mine = max(mine, v[j]);
  }
  int sum = warp_max(mine, lane);
  if (lane == 31) part[warp] = sum;
  __syncthreads();
  int all = NONE, left = NONE;
  for (int w = 0; w < BLOCK / 32; ++w) {
    if (w < warp) left = max(left, part[w]);
    all = max(all, part[w]);
  }
  if (threadIdx.x == 0) {
    int prefix = NONE;
    if (tile == 0) {
      __threadfence();
      atomicExch(&states[0], (2ull << 32) | (unsigned)all);
    } else {
      atomicExch(&states[tile], (1ull << 32) | (unsigned)all);
      for (int t = (int)tile - 1; t >= 0; --t) {
        unsigned long long s;
        do {
          s = atomicAdd(&states[t], 0ull);
        } while (s >> 32 == 0);
        prefix = max(prefix, (int)(unsigned)s);
        if (s >> 32 == 2) break;
      }
      atomicExch(&states[tile], (2ull << 32) | (unsigned)max(prefix, all));
    }
    before = prefix;
  }
  __syncthreads();
  int up = __shfl_up_sync(0xffffffffu, sum, 1);
  int run = max(before, left);
  if (lane > 0) run = max(run, up);
  for (int j = 0; j < ITEMS; ++j) {
    if (first + j < n) out[first + j] = run;
    run = max(run, v[j]);
  }
}

__global__ void scan_plain(const int* in, int* out, unsigned long long* states, unsigned* ticket, int n) {
  int run = NONE;
  for (int i = 0; i < n; ++i) {
    out[i] = run;
    run = in[i] > run ? in[i] : run;
  }
}
