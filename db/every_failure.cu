// SPDX-License-Identifier: Apache-2.0
// Computes y = 2 x with a fault for each verdict that a variant can get: every_failure.sql is the history of
// tuning it.
/* tunesmith
what = "y[i] = 2 x[i], with a fault"
kernel = "twice"

[problem]
n = [1, 1000000]

[arrays]
x = ["n"]
y = { extents = ["n"], role = "output" }

[axes]
FAULT = { values = [0, 1, 2, 3, 4, 5, 6], what = "0: none" }
BLOCK = [128, 64]

[launch]
grid = "ceil_div(n, BLOCK)"
block = ["BLOCK", "FAULT == 2 ? 32 : 1"]

[reference]
kernel = "doubled"
*/
__global__ void twice(const float* x, float* y, int n) {
#if FAULT == 1
#error "compile_error"
#endif
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  y[i] = 2 * x[i];
#if FAULT == 3  // wrong_result
  if (i == n / 2) y[i] = 0;
#elif FAULT == 4  // out_of_bounds
  if (i == n - 1) y[n] = 1;
#elif FAULT == 5  // timeout
  if (i == 0)
    for (volatile int forever = 1; forever == 1;)
      ;
#elif FAULT == 6  // crash
  if (i == 0) *static_cast<volatile float*>(nullptr) = 1;
#endif
}

__global__ void doubled(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] + x[i];
}
