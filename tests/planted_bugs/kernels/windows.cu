// SPDX-License-Identifier: Apache-2.0
// The least, the largest and the mean number of a window along each row of a cube, in registers.
/* tunesmith
kernel = "windows"
[problem]
planes = [1, 16]
rows = [1, 64]
cols = [1, 65]
[arrays]
x = ["planes", "rows", "cols"]
mean = { extents = ["planes", "rows", "cols"], role = "output" }
span = { extents = ["planes", "rows", "cols"], role = "output" }
[axes]
R = [3, 2]
BLOCK = [64, 32, 128]
EACH = [1, 2, 4]
[launch]
grid = ["ceil_div(cols, BLOCK * EACH)", "rows", "planes"]
block = "BLOCK"
[reference]
kernel = "windows_plain"
*/
#define TAPS 7
#define BLOCK 64
#define EACH 1
#define R 3  // taps at a time

struct Range {
  float least, most;
};

__global__ void windows(const float* x, float* mean, float* span, int planes, int rows, int cols) {
  const int row = (blockIdx.z * rows + blockIdx.y) * cols;
  const int first = blockIdx.x * BLOCK * EACH + threadIdx.x;
  float sum[EACH];
  Range range[EACH];
  for (int e = 0; e < EACH; ++e) {
    sum[e] = 0;
    range[e].least = INFINITY;
    range[e].most = -INFINITY;
  }
  for (int t = 0; t < TAPS; t += R)
    for (int r = 0; r < R && t + r < TAPS; ++r)
      for (int e = 0; e < EACH; ++e) {
        const int at = first + e * BLOCK + t + r - TAPS / 2;
        if (at < 0 || at >= cols) continue;
        const float v = x[row + at];
        sum[e] += v;
        range[e].least = fminf(range[e].least, v);
        range[e].most = fmaxf(range[e].most, v);
      }
  for (int e = 0; e < EACH; ++e) {
    const int at = first + e * BLOCK;
    if (at >= cols) continue;
    mean[row + at] = sum[e] / TAPS;
    span[row + at] = range[e].most - range[e].least;
  }
}

__global__ void windows_plain(const float* x, float* mean, float* span, int planes, int rows, int cols) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= (long long)planes * rows * cols) return;
  const long long row = at / cols * cols;
  double sum = 0;
  float least = INFINITY, most = -INFINITY;
  for (long long c = at - row - TAPS / 2; c <= at - row + TAPS / 2; ++c) {
    if (c < 0 || c >= cols) continue;
    const float v = x[row + c];
    sum += v;
    least = fminf(least, v);
    most = fmaxf(most, v);
  }
  mean[at] = (float)(sum / TAPS);
  span[at] = most - least;
}
