// SPDX-License-Identifier: Apache-2.0
// A product of a vector and a matrix, a thread per column.
/* tunesmith
[problem]
rows = [1, 4096]
cols = [1, 200000]
[arrays]
a = ["rows", "cols"]
x = ["rows"]
y = { extents = ["cols"], role = "output" }
[axes]
BLOCK = [128, 64, 256]
[launch]
grid = "ceil_div(cols, BLOCK)"
block = "BLOCK"
[reference]
function = "tgemv_host"
*/
#define BLOCK 128
__global__ void tgemv(const float* a, const float* x, float* y, int rows, int cols) {
  int col = blockIdx.x * BLOCK + threadIdx.x;
  if (col >= cols) return;
  float sum = 0;
  for (int row = 0; row < rows; ++row) sum += a[(size_t)row * cols + col] * x[row];
  y[col] = sum;
}
void tgemv_host(const float* a, const float* x, float* y, int rows, int cols) {
  for (int c = 0; c < cols; ++c) { double s = 0; for (int r = 0; r < rows; ++r) s += (double)a[(size_t)r * cols + c] * x[r]; y[c] = s; }
}
