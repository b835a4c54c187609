// SPDX-License-Identifier: Apache-2.0
// Sorts each row and says where each element came from: a stable bitonic sort of pairs in shared memory.
/* tunesmith
kernel = "sort_rows"

[problem]
rows = [1, 70000]
cols = [1, 512]

[arrays]
x = { extents = ["rows", "cols"], values = ["uniform(-1, 1)", "few(-1, 1)", "sorted(0, 1)", "equal(3)", "huge"] }
y = { extents = ["rows", "cols"], role = "output" }
from = { extents = ["rows", "cols"], role = "output" }

[axes]
PLACES = [512, 64, 128, 256]
EACH = [1, 2]

[rules]
must = "PLACES >= cols"

[launch]
grid = "rows"
block = "PLACES / (2 * EACH)"

[reference]
function = "sort_host"
*/
#include <float.h>
#define PLACES 512
#define EACH 1

__device__ bool behind(float a, int i, float b, int j) { return a > b || (a == b && i > j); }

__global__ void sort_rows(const float* x, float* y, int* from, int rows, int cols) {
  __shared__ float keys[PLACES];
  __shared__ int places[PLACES];
  const size_t row = (size_t)blockIdx.x * cols;
  constexpr int threads = PLACES / (2 * EACH);
  for (int i = threadIdx.x; i < PLACES; i += threads) {
    keys[i] = i < cols ? x[row + i] : INFINITY;
    places[i] = i;
  }
  for (int size = 2; size <= PLACES; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      for (int e = 0; e < EACH; ++e) {
        const int t = threadIdx.x + e * threads;
        const int a = 2 * step * (t / step) + t % step, b = a + step;
        const bool up = (a & size) == 0;
        if (behind(keys[a], places[a], keys[b], places[b]) == up) {
          const float k = keys[a];
          keys[a] = keys[b];
          keys[b] = k;
          const int p = places[a];
          places[a] = places[b];
          places[b] = p;
        }
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < cols; i += threads) {
    y[row + i] = keys[i];
    from[row + i] = places[i];
  }
}

#ifndef __CUDACC__
#include <algorithm>
#include <vector>
void sort_host(const float* x, float* y, int* from, int rows, int cols) {
  std::vector<int> order(cols);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < cols; ++i) order[i] = i;
    const float* at = x + (size_t)r * cols;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return at[a] < at[b]; });
    for (int i = 0; i < cols; ++i) {
      y[(size_t)r * cols + i] = at[order[i]];
      from[(size_t)r * cols + i] = order[i];
    }
  }
}
#endif
