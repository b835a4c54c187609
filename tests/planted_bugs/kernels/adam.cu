// SPDX-License-Identifier: Apache-2.0
// A step of Adam, by a grid with a limit.
/* tunesmith
tolerance = { relative = 1e-3, absolute = 1e-5 }
[problem]
n = [1, 100000000]
step = [1, 1000]
[arrays]
param = { extents = ["n"], role = "inout" }
grad = ["n"]
m = { extents = ["n"], role = "inout" }
v = { extents = ["n"], role = "inout", values = [0, 1] }
[axes]
BLOCK = [256, 128, 512]
[launch]
grid = "min(ceil_div(n, BLOCK), 1024)"
block = "BLOCK"
arguments = ["param", "grad", "m", "v", "n", "step", 0.001, 0.9, 0.999, 1e-8, 0.01]
[reference]
kernel = "adam_plain"
arguments = ["param", "grad", "m", "v", "n", "step", 0.001, 0.9, 0.999, 1e-8, 0.01]
grid = "ceil_div(n, 64)"
block = 64
*/
#define BLOCK 256
__global__ void adam(float* param, const float* grad, float* m, float* v, int n, int step, float lr, float b1, float b2, float eps, float decay) {
  const float c1 = 1.0f - powf(b1, step), c2 = 1.0f - powf(b2, step);
  for (size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += (size_t)gridDim.x * BLOCK) {
    float g = grad[i];
    float mi = b1 * m[i] + (1 - b1) * g;
    float vi = b2 * v[i] + (1 - b2) * g * g;
    m[i] = mi;
    v[i] = vi;
    param[i] -= lr * ((mi / c1) / (sqrtf(vi / c2) + eps) + decay * param[i]);
  }
}
__global__ void adam_plain(float* param, const float* grad, float* m, float* v, int n, int step, float lr, float b1, float b2, float eps, float decay) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double g = grad[i], mi = (double)b1 * m[i] + (1 - (double)b1) * g, vi = (double)b2 * v[i] + (1 - (double)b2) * g * g;
  m[i] = mi;
  v[i] = vi;
  param[i] -= lr * ((mi / (1 - pow((double)b1, step))) / (sqrt(vi / (1 - pow((double)b2, step))) + eps) + decay * param[i]);
}
