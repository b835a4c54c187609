// SPDX-License-Identifier: Apache-2.0
/* tunesmith
kernel = "arg_least"
zeroed = ["done"]

[problem]
n = [1, 2000000]

[arrays]
x = { extents = ["n"], values = ["uniform(-1, 1)", "few(-1, 1)", "equal(3)"] }
place = { extents = [1], role = "output", dtype = "i32" }
value = { extents = [1], role = "output" }
part_value = { extents = ["BLOCKS"], role = "workspace" }
part_place = { extents = ["BLOCKS"], role = "workspace", dtype = "i32" }
done = { extents = [1], role = "workspace", dtype = "u32" }

[axes]
BLOCK = [128, 64, 256]
BLOCKS = [16, 5, 64]

[launch]
grid = "BLOCKS"
block = "BLOCK"

[reference]
kernel = "least_plain"
grid = 1
block = 1
*/
// The least element and its first place; the last block that ends joins the parts.
__device__ bool better(float v, int i, float w, int j) { return v < w || (v == w && i < j); }

__device__ void block_least(float& v, int& i) {
  __shared__ float values[BLOCK];
  __shared__ int places[BLOCK];
  const int t = threadIdx.x;
  values[t] = v;
  places[t] = i;
  __syncthreads();
  for (int o = BLOCK / 2; o > 0; o /= 2) {
    if (t < o && better(values[t + o], places[t + o], values[t], places[t])) {
      values[t] = values[t + o];
      places[t] = places[t + o];
    }
    __syncthreads();
  }
  v = values[0];
  i = places[0];
}

__global__ void arg_least(const float* __restrict__ x, int* place, float* value, float* part_value, int* part_place,
                          unsigned* done, int n) {
  __shared__ bool last;
  float v = INFINITY;
  int i = 0x7fffffff;
  for (int j = blockIdx.x * BLOCK + threadIdx.x; j < n; j += BLOCKS * BLOCK)
    if (better(x[j], j, v, i)) {
      v = x[j];
      i = j;
    }
  block_least(v, i);
  if (threadIdx.x == 0) {
    part_value[blockIdx.x] = v;
    part_place[blockIdx.x] = i;
    __threadfence();
    last = atomicInc(done, BLOCKS - 1) == BLOCKS - 1;
  }
  __syncthreads();
  if (!last) return;
  v = INFINITY;
  i = 0x7fffffff;
  for (int b = threadIdx.x; b < BLOCKS; b += BLOCK) {
    const float w = ((volatile float*)part_value)[b];
    const int j = ((volatile int*)part_place)[b];
    if (better(w, j, v, i)) {
      v = w;
      i = j;
    }
  }
  block_least(v, i);
  if (threadIdx.x == 0) {
    *value = v;
    *place = i;
  }
}

__global__ void least_plain(const float* x, int* place, float* value, float* part_value, int* part_place, unsigned* done, int n) {
  int at = 0;
  for (int i = 1; i < n; ++i)
    if (x[i] < x[at]) at = i;
  *place = at;
  *value = x[at];
}
