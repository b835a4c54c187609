// SPDX-License-Identifier: Apache-2.0
// Computes weighted sums of each pixel's neighbourhood, as a first convolution in Numba does: (2 R + 1)^2
// weights, and no pixels beyond the border. Each thread computes a few pixels of a column.
/* tunesmith
what = "out[y][x] = sum of image[y + i - R][x + j - R] * mask[i][j], where the image has such pixels"
kernel = "stencil"
flops = "2 * height * width * (2 * R + 1) * (2 * R + 1)"
compiled_in = ["R"]
tolerance = 1e-5

[problem]
height = [16, 4096]
width = [16, 4096]
R = { what = "radius of the mask", minimum = 1, maximum = 8, default = 1 }

[arrays]
image = ["height", "width"]
mask = ["2 * R + 1", "2 * R + 1"]
out = { extents = ["height", "width"], role = "output" }

[axes]
BLOCK_X = [32, 16, 64, 128]
BLOCK_Y = [8, 1, 2, 4, 16]
PIXELS = [1, 2, 4, 8]

[rules]
worth = { rule = "BLOCK_X * BLOCK_Y >= 64 && BLOCK_X * BLOCK_Y <= 512", why = "64 to 512 threads." }

[launch]
grid = ["ceil_div(width, BLOCK_X)", "ceil_div(height, BLOCK_Y * PIXELS)"]
block = ["BLOCK_X", "BLOCK_Y"]

[reference]
kernel = "stencil_plain"
*/
#ifndef BLOCK_X
#define BLOCK_X 32
#define BLOCK_Y 8
#define PIXELS 1  // of a column, that a thread computes
#define R 1
#endif

__global__ void stencil(const float* __restrict__ image, const float* __restrict__ mask,
                        float* __restrict__ out, int height, int width) {
  const int x = blockIdx.x * BLOCK_X + threadIdx.x;
  const int top = (blockIdx.y * BLOCK_Y + threadIdx.y) * PIXELS;
  if (x >= width) return;
  float sum[PIXELS] = {};
  // A row of the image contributes to all nearby pixels.
#pragma unroll
  for (int row = -R; row < PIXELS + R; ++row) {
    const int from_y = top + row;
    if (from_y < 0 || from_y >= height) continue;
#pragma unroll
    for (int j = -R; j <= R; ++j) {
      const int from_x = x + j;
      const float pixel = from_x >= 0 && from_x < width ? image[(size_t)from_y * width + from_x] : 0.0f;
#pragma unroll
      for (int p = 0; p < PIXELS; ++p) {
        const int i = row - p;
        if (i >= -R && i <= R) sum[p] += pixel * mask[(i + R) * (2 * R + 1) + j + R];
      }
    }
  }
#pragma unroll
  for (int p = 0; p < PIXELS; ++p)
    if (top + p < height) out[(size_t)(top + p) * width + x] = sum[p];
}

__global__ void stencil_plain(const float* image, const float* mask, float* out, int height, int width) {
  const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (size_t)height * width) return;
  const int y = at / width, x = at % width;
  double sum = 0;
  for (int i = 0; i <= 2 * R; ++i) {
    for (int j = 0; j <= 2 * R; ++j) {
      const int from_y = y + i - R, from_x = x + j - R;
      if (from_y >= 0 && from_y < height && from_x >= 0 && from_x < width)
        sum += (double)image[(size_t)from_y * width + from_x] * mask[i * (2 * R + 1) + j];
    }
  }
  out[at] = (float)sum;
}
