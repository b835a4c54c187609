// SPDX-License-Identifier: Apache-2.0
// Sums and differences in place.
/* tunesmith
[problem]
n = [2, 10000000]
[arrays]
x = { extents = ["n"], role = "inout" }
[axes]
BLOCK = [128, 64, 256]
[launch]
grid = "ceil_div(n / 2, BLOCK)"
block = "BLOCK"
[reference]
function = "butterfly_host"
*/
#define BLOCK 128
__global__ void smooth(float* x, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n / 2) return;
  float a = x[i], b = x[n - 1 - i];
  x[i] = a + b;
  x[n - 1 - i] = a - b;
}
void butterfly_host(float* x, int n) { for (int i = 0; i < n / 2; ++i) { float a = x[i], b = x[n - 1 - i]; x[i] = a + b; x[n - 1 - i] = a - b; } }
