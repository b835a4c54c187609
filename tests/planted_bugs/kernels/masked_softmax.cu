// SPDX-License-Identifier: Apache-2.0
/* tunesmith
kernel = "masked_softmax"
tolerance = { relative = 2e-5, absolute = 1e-6 }

[problem]
rows = [1, 50000]
cols = [1, 4000]

[arrays]
scores = ["rows", "cols"]
allowed = { extents = ["rows"], values = "index(cols)" }
out = { extents = ["rows", "cols"], role = "output" }

[axes]
WARPS = [4, 2, 8]
KEEP = [1, 4]

[launch]
grid = "ceil_div(rows, WARPS)"
block = ["32", "WARPS"]
arguments = ["scores", "allowed", "out", "rows", "cols", 0.125]

[reference]
kernel = "masked_plain"
grid = "ceil_div(rows, 64)"
block = 64
arguments = ["scores", "allowed", "out", "rows", "cols", 0.125]
*/
// A warp per row, the largest score and the sum in one pass; columns behind allowed[row] are masked and get 0.
__global__ void masked_softmax(const float* __restrict__ scores, const int* __restrict__ allowed,
                               float* __restrict__ out, int rows, int cols, float scale) {
  const int row = blockIdx.x * WARPS + threadIdx.y;
  if (row >= rows) return;
  const int last = allowed[row];
  const float* from = scores + (long long)row * cols;
  float* to = out + (long long)row * cols;
  float largest = -INFINITY, sum = 0.0f;
  for (int base = 0; base <= last; base += 32 * KEEP) {
    float v[KEEP], most = -INFINITY;
#pragma unroll
    for (int k = 0; k < KEEP; ++k) {
      const int c = base + k * 32 + threadIdx.x;
      v[k] = c <= last ? from[c] * scale : -INFINITY;
      most = fmaxf(most, v[k]);
    }
    if (most > largest) {
      sum *= __expf(largest - most);
      largest = most;
    }
    for (int k = 0; k < KEEP; ++k)
      if (v[k] > -INFINITY) sum += __expf(v[k] - largest);
  }
  for (int o = 16; o > 0; o /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, largest, o);
    const float others = __shfl_xor_sync(0xffffffffu, sum, o);
    const float both = fmaxf(largest, other);
    sum = (largest > -INFINITY ? sum * __expf(largest - both) : 0.0f) +
          (other > -INFINITY ? others * __expf(other - both) : 0.0f);
    largest = both;
  }
  const float factor = 1.0f / sum;
  for (int c = threadIdx.x; c < cols; c += 32) to[c] = c <= last ? __expf(from[c] * scale - largest) * factor : 0.0f;
}

__global__ void masked_plain(const float* scores, const int* allowed, float* out, int rows, int cols, float scale) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* from = scores + (long)row * cols;
  double most = -1e300, sum = 0;
  for (int c = 0; c <= allowed[row]; ++c) most = fmax(most, (double)from[c] * scale);
  for (int c = 0; c <= allowed[row]; ++c) sum += exp((double)from[c] * scale - most);
  for (int c = 0; c < cols; ++c) out[(long)row * cols + c] = c <= allowed[row] ? (float)(exp((double)from[c] * scale - most) / sum) : 0.0f;
}
