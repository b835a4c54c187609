// SPDX-License-Identifier: Apache-2.0
// Sums under a lock per bin.
/* tunesmith
zeroed = ["lock"]
[problem]
n = [1, 100000]
bins = [1, 64]
[arrays]
which = { extents = ["n"], values = "index(bins)" }
x = { extents = ["n"], dtype = "i32" }
total = { extents = ["bins"], role = "inout", values = "equal(0)" }
lock = { extents = ["bins"], role = "workspace" }
[axes]
BLOCK = [64, 32, 128]
[launch]
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
[reference]
function = "totals_host"
*/
#define BLOCK 64
__global__ void locked(const int* which, const int* x, int* total, int* lock, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  int bin = which[i];
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock[bin], 0, 1) == 0) {
      __threadfence();
      volatile int* at = &total[bin];
      *at = *at + x[i];
      __threadfence();
      atomicExch(&lock[bin], 0);
      done = true;
    }
  }
}
void totals_host(const int* which, const int* x, int* total, int n) { for (int i = 0; i < n; ++i) total[which[i]] += x[i]; }
