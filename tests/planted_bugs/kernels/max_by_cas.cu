// SPDX-License-Identifier: Apache-2.0
// A maximum of floats by a compare-and-swap.
/* tunesmith
[problem]
n = [1, 1000000]
[arrays]
x = ["n"]
most = { extents = [1], role = "inout", values = "equal(-1000000)" }
[axes]
BLOCK = [128, 64, 256]
[launch]
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
[reference]
function = "max_host"
*/
#define BLOCK 128
__device__ float atomicMaxFloat(float* at, float value) {
  int* as_int = (int*)at;
  int old = *as_int, assumed;
  do {
    assumed = old;
    if (__int_as_float(assumed) >= value) break;
    old = atomicCAS(as_int, assumed, __float_as_int(value));
  } while (assumed != old);
  return __int_as_float(old);
}
__global__ void cas_max(const float* x, float* most, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) atomicMaxFloat(most, x[i]);
}
void max_host(const float* x, float* most, int n) { for (int i = 0; i < n; ++i) if (x[i] > *most) *most = x[i]; }
