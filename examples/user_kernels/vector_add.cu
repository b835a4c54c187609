// SPDX-License-Identifier: Apache-2.0
// c = a + b, the first kernel of every introduction. Beside Kernel Tuner's call: docs/from_kernel_tuner.md.
/* tunesmith
[problem]
n = [1, 100000000]

[arrays]
c = { extents = ["n"], role = "output" }
a = ["n"]
b = ["n"]

[axes]
block_size_x = [128, 32, 64, 256, 512, 1024]

[launch]
grid = "ceil_div(n, block_size_x)"
block = "block_size_x"
*/
#ifndef block_size_x
#define block_size_x 128
#endif

__global__ void vector_add(float* c, const float* a, const float* b, int n) {
  const int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
