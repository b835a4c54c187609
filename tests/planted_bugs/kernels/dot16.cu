// SPDX-License-Identifier: Apache-2.0
// Products of 16 bits with sums of 64.
/* tunesmith
[problem]
rows = [1, 4096]
n = [1, 100000]
[arrays]
a = ["rows", "n"]
b = ["n"]
dot = { extents = ["rows"], role = "output" }
[axes]
BLOCK = [128, 64, 256]
[launch]
grid = "rows"
block = "BLOCK"
[reference]
function = "dot_host"
*/
#define BLOCK 128
__global__ void dot16(const short* a, const short* b, long long* dot, int n) {
  __shared__ long long s[BLOCK];
  long long sum = 0;
  for (int i = threadIdx.x; i < n; i += BLOCK) sum += (long long)a[(size_t)blockIdx.x * n + i] * b[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int h = BLOCK / 2; h > 0; h /= 2) {
    if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
    __syncthreads();
  }
  if (threadIdx.x == 0) dot[blockIdx.x] = s[0];
}
void dot_host(const short* a, const short* b, long long* dot, int rows, int n) {
  for (int r = 0; r < rows; ++r) { long long s = 0; for (int i = 0; i < n; ++i) s += (long long)a[(size_t)r * n + i] * b[i]; dot[r] = s; }
}
