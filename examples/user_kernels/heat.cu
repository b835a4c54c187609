// SPDX-License-Identifier: Apache-2.0
// Computes how heat spreads along a rod whose surroundings are cold, in `steps` steps of time. A launch
// computes STEPS of them: its blocks overlap by as many elements on each side, so that none needs another
// one's results.
/* tunesmith
what = "`steps` times: t[i] += (t[i - 1] - 2 t[i] + t[i + 1]) / 4, with 0 beyond the ends"
kernel = "heat"
flops = "4 * n * steps"
tolerance = 1e-5

[problem]
n = [1000, 4000000]
steps = [1, 1000]

[arrays]
start = ["n"]
end = { extents = ["n"], role = "output" }
between = { extents = ["n"], role = "workspace" }

[axes]
BLOCK = [128, 64, 256, 512]
STEPS = [1, 2, 4, 8, 16]

[rules]
must = "BLOCK > 2 * STEPS"

[launch]
repeat = "ceil_div(steps, STEPS)"
swap = { from = "start", to = "end", spare = "between" }
grid = "ceil_div(n, BLOCK - 2 * STEPS)"
block = "BLOCK"
arguments = ["start", "end", "n", "min(STEPS, steps - step * STEPS)"]

[reference]
function = "heat_plain"
*/
#include <vector>

#ifndef BLOCK
#define BLOCK 128
#define STEPS 1
#endif

__global__ void heat(const float* __restrict__ before, float* __restrict__ after, int n, int steps) {
  __shared__ float rod[2][BLOCK];
  const int thread = threadIdx.x;
  const int i = blockIdx.x * (BLOCK - 2 * STEPS) + thread - STEPS;
  const bool is_inside = i >= 0 && i < n;
  float own = is_inside ? before[i] : 0;
  for (int s = 0; s < steps; ++s) {
    rod[s % 2][thread] = own;
    __syncthreads();
    // The ends of the block go wrong, one element more in each step.
    const float left = rod[s % 2][max(thread - 1, 0)], right = rod[s % 2][min(thread + 1, BLOCK - 1)];
    if (is_inside) own += 0.25f * (left - 2 * own + right);
  }
  if (is_inside && thread >= STEPS && thread < BLOCK - STEPS) after[i] = own;
}

void heat_plain(const float* start, float* end, int n, int steps) {
  std::vector<double> now(start, start + n);
  for (int s = 0; s < steps; ++s) {
    double left = 0;
    for (int i = 0; i < n; ++i) {
      const double own = now[i], right = i + 1 < n ? now[i + 1] : 0;
      now[i] += 0.25 * (left - 2 * own + right);
      left = own;
    }
  }
  for (int i = 0; i < n; ++i) end[i] = (float)now[i];
}
