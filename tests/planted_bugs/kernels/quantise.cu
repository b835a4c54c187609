// SPDX-License-Identifier: Apache-2.0
/* tunesmith
kernel = "quantise"
tolerance = { relative = 1e-5, absolute = 1 }

[problem]
rows = [1, 2000000]
cols = [1, 5000]

[arrays]
x = ["rows", "cols"]
q = { extents = ["rows", "cols"], dtype = "i8", role = "output" }
total = { extents = ["rows"], dtype = "i32", role = "output" }

[axes]
BLOCK = [128, 64, 256]
VECTOR = [1, 4]

[rules]
must = "VECTOR == 1 || cols % 4 == 0"

[launch]
grid = "rows"
block = "BLOCK"

[reference]
kernel = "quantise_plain"
grid = "rows"
block = 1
*/
// Bytes of a row by its largest magnitude, and the row's sum of bytes.
__global__ void quantise(const float* __restrict__ x, signed char* __restrict__ q, int* total, int cols) {
  __shared__ float largest[BLOCK];
  __shared__ int sums[BLOCK / 32];
  const int t = threadIdx.x;
  x += (size_t)blockIdx.x * cols;
  q += (size_t)blockIdx.x * cols;
  float m = 0.0f;
  for (int c = t; c < cols; c += BLOCK) m = fmaxf(m, fabsf(x[c]));
  largest[t] = m;
  __syncthreads();
  for (int o = BLOCK / 2; o >= 1; o >>= 1) {
    if (t < o) largest[t] = fmaxf(largest[t], largest[t + o]);
    __syncthreads();
  }
  const float scale = largest[0] > 0 ? 127.0f / largest[0] : 0.0f;
  int sum = 0;
  if (VECTOR == 4) {
    for (int c = t; c < cols / 4; c += BLOCK) {
      char4 v;
      v.x = (signed char)rintf(x[4 * c] * scale);
      v.y = (signed char)rintf(x[4 * c + 1] * scale);
      v.z = (signed char)rintf(x[4 * c + 2] * scale);
      v.w = (signed char)rintf(x[4 * c + 3] * scale);
      reinterpret_cast<char4*>(q)[c] = v;
      sum += v.x + v.y + v.z + v.w;
    }
  } else {
    for (int c = t; c < cols; c += BLOCK) {
      signed char v = (signed char)rintf(x[c] * scale);
      q[c] = v;
      sum += v;
    }
  }
  sum = __reduce_add_sync(0xffffffffu, sum);
  if (t % 32 == 0) sums[t / 32] = sum;
  __syncthreads();
  if (t == 0) {
    int s = 0;
    for (int w = 0; w < BLOCK / 32; ++w) s += sums[w];
    total[blockIdx.x] = s;
  }
}

__global__ void quantise_plain(const float* x, signed char* q, int* total, int cols) {
  x += (size_t)blockIdx.x * cols;
  float m = 0;
  for (int c = 0; c < cols; ++c) m = fmaxf(m, fabsf(x[c]));
  int s = 0;
  for (int c = 0; c < cols; ++c) {
    signed char v = (signed char)rintf(x[c] * (m > 0 ? 127.0f / m : 0.0f));
    q[(size_t)blockIdx.x * cols + c] = v;
    s += v;
  }
  total[blockIdx.x] = s;
}
