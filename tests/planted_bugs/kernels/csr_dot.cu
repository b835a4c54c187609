// SPDX-License-Identifier: Apache-2.0
// Products of a sparse matrix in CSR form and a vector: a warp takes a row; the largest row's length too.
/* tunesmith
kernel = "csr_dot"
tolerance = 1e-5

[problem]
rows = [1, 100000]
nnz = [1, 10000000]
cols = [1, 100000]

[arrays]
begin = { extents = ["rows + 1"], values = "offsets(nnz)" }
col = { extents = ["nnz"], values = "index(cols)" }
w = { extents = ["nnz"] }
x = { extents = ["cols"] }
y = { extents = ["rows"], role = "output" }
longest = { extents = ["1"], role = "inout", values = "equal(0)" }

[axes]
WARPS = [4, 1, 2, 8]
STEP = [1, 2]

[launch]
grid = "ceil_div(rows, WARPS)"
block = "WARPS * 32"

[reference]
function = "csr_host"
*/
#define WARPS 4
#define STEP 1

__global__ void csr_dot(const int* begin, const int* col, const float* __restrict__ w, const float* __restrict__ x,
                        float* y, int* longest, int rows, int nnz, int cols) {
  __shared__ int lengths[WARPS];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int r = blockIdx.x * WARPS + warp;
  int from = 0, to = 0;
  if (r < rows) {
    from = begin[r];
    to = begin[r + 1];
  }
  float s = 0;
  for (int k = from + lane; k < to; k += 32 * STEP) {
    for (int u = 0; u < STEP; ++u)
      if (k + 32 * u < to) s += w[k + 32 * u] * x[col[k + 32 * u]];
  }
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffffu, s, d);
  if (lane == 0) {
    lengths[warp] = to - from;
    if (r < rows) y[r] = s;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    int most = 0;
    for (int n = 0; n < WARPS; ++n) most = lengths[n] > most ? lengths[n] : most;
    atomicMax(longest, most);
  }
}

#ifndef __CUDACC__
void csr_host(const int* begin, const int* col, const float* w, const float* x, float* y, int* longest, int rows, int nnz, int cols) {
  int most = 0;
  for (int r = 0; r < rows; ++r) {
    double s = 0;
    for (int k = begin[r]; k < begin[r + 1]; ++k) s += (double)w[k] * x[col[k]];
    y[r] = s;
    if (begin[r + 1] - begin[r] > most) most = begin[r + 1] - begin[r];
  }
  *longest = most;
}
#endif
