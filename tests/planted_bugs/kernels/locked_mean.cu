// SPDX-License-Identifier: Apache-2.0
// Running means of groups: each group has a lock, and what it guards is two numbers.
/* tunesmith
zeroed = ["locks", "sums", "counts"]
[problem]
n = [1, 1000000]
groups = [1, 100]
[arrays]
x = ["n"]
group = { extents = ["n"], values = "index(groups)" }
mean = { extents = ["groups"], role = "output" }
locks = { extents = ["groups"], role = "workspace", dtype = "i32" }
sums = { extents = ["groups"], role = "workspace" }
counts = { extents = ["groups"], role = "workspace", dtype = "i32" }
[axes]
BLOCK = [64, 32, 128]
[[launch]]
kernel = "add_locked"
grid = "ceil_div(n, BLOCK)"
block = "BLOCK"
[[launch]]
kernel = "divide"
grid = "ceil_div(groups, BLOCK)"
block = "BLOCK"
[reference]
function = "mean_host"
*/
#define BLOCK 64
__global__ void add_locked(const float* x, const int* group, int* locks, float* sums, int* counts, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  int g = group[i];
  while (atomicCAS(&locks[g], 0, 1) != 0) __nanosleep(20);
  __threadfence();
  sums[g] += x[i];
  counts[g] += 1;
  __threadfence();
  atomicExch(&locks[g], 0);
}
__global__ void divide(const float* sums, const int* counts, float* mean, int groups) {
  int g = blockIdx.x * BLOCK + threadIdx.x;
  if (g < groups) mean[g] = counts[g] > 0 ? sums[g] / counts[g] : 0.0f;
}
void mean_host(const float* x, const int* group, float* mean, int n, int groups) {
  for (int g = 0; g < groups; ++g) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < n; ++i)
      if (group[i] == g) sum += x[i], ++count;
    mean[g] = count > 0 ? sum / count : 0;
  }
}
