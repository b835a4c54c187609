// SPDX-License-Identifier: Apache-2.0
// Least and largest of the window around each element, and those of a row with the first place of the least. A number
// that is none goes into both.
/* tunesmith
alignment_bytes = "8"
[problem]
rows = [1, 2000]
cols = [1, 3000]
R = { minimum = 0, maximum = 64, usual = [0, 4] }
[arrays]
x = { extents = ["rows", "cols"], values = ["nan(-50, -1)", "few(-3, 3)", "uniform(-1e30, -1e20)"] }
width = { extents = ["rows", "cols"], role = "output" }
ends = { extents = ["rows", 2], role = "output" }
place = { extents = ["rows"], role = "output", dtype = "i32" }
[axes]
BLOCK = [64, 128, 256]
PAIRS = [0, 1]
[rules]
must = "PAIRS == 0 || cols % 2 == 0"
[launch]
grid = "rows"
block = "BLOCK"
shared_bytes = "(cols + 2 * R) * 4"
[reference]
function = "range_host"
*/
#define BLOCK 64
#define PAIRS 0
__device__ float least(float a, float b) { return a != a || b != b ? NAN : a < b ? a : b; }
__device__ float largest(float a, float b) { return a != a || b != b ? NAN : a > b ? a : b; }
__global__ void range_of_rows(const float* x, float* width, float* ends, int* place, int rows, int cols, int R) {
  extern __shared__ float line[];
  __shared__ float low[BLOCK], high[BLOCK];
  __shared__ int at[BLOCK];
  const int row = blockIdx.x, t = threadIdx.x;
  const float* from = x + (size_t)row * cols;
#if PAIRS
  for (int i = t; i < cols / 2; i += BLOCK) {
    const float2 two = reinterpret_cast<const float2*>(from)[i];
    line[R + 2 * i] = two.x;
    line[R + 2 * i + 1] = two.y;
  }
#else
  for (int i = t; i < cols; i += BLOCK) line[R + i] = from[i];
#endif
  for (int i = t; i < R; i += BLOCK) {
    line[i] = from[0];
    line[R + cols + i] = from[cols - 1];
  }
  __syncthreads();
  float mine_low = INFINITY, mine_high = -INFINITY;
  int mine_at = cols;
  for (unsigned i = t; i < (unsigned)cols; i += BLOCK) {
    float a = line[R + i], b = a;
    for (int k = -R; k <= R; ++k) {
      a = least(a, line[R + i + k]);
      b = largest(b, line[R + i + k]);
    }
    width[(size_t)row * cols + i] = b - a;
    const float v = line[R + i];
    if (v < mine_low) mine_at = i;
    mine_low = least(mine_low, v);
    mine_high = largest(mine_high, v);
    if (mine_low != mine_low) mine_at = cols;
  }
  low[t] = mine_low;
  high[t] = mine_high;
  at[t] = mine_at;
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) {
      const float other = low[t + half];
      if (other < low[t] || (other == low[t] && at[t + half] < at[t])) at[t] = at[t + half];
      low[t] = least(low[t], other);
      high[t] = largest(high[t], high[t + half]);
      if (low[t] != low[t]) at[t] = cols;
    }
  }
  if (t == 0) {
    ends[2 * row] = low[0];
    ends[2 * row + 1] = high[0];
    place[row] = at[0];
  }
}
void range_host(const float* x, float* width, float* ends, int* place, int rows, int cols, int R) {
  for (int row = 0; row < rows; ++row) {
    const float* from = x + (size_t)row * cols;
    bool has_nan = false;
    float low = from[0], high = from[0];
    int at = 0;
    for (int i = 0; i < cols; ++i) {
      float a = from[i], b = from[i];
      bool is_nan = false;
      for (int k = -R; k <= R; ++k) {
        const int j = i + k < 0 ? 0 : i + k >= cols ? cols - 1 : i + k;
        is_nan = is_nan || from[j] != from[j];
        if (from[j] < a) a = from[j];
        if (from[j] > b) b = from[j];
      }
      width[(size_t)row * cols + i] = is_nan ? NAN : b - a;
      has_nan = has_nan || from[i] != from[i];
      if (from[i] < low) at = i;
      if (from[i] < low) low = from[i];
      if (from[i] > high) high = from[i];
    }
    ends[2 * row] = has_nan ? NAN : low;
    ends[2 * row + 1] = has_nan ? NAN : high;
    place[row] = has_nan ? cols : at;
  }
}
