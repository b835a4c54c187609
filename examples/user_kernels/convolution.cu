// SPDX-License-Identifier: Apache-2.0
// A convolution of the places where the whole filter lies on the image. The filter is in constant memory, and
// each thread computes a few pixels of a row. Beside Kernel Tuner's call: docs/from_kernel_tuner.md.
/* tunesmith
kernel = "convolution"
compiled_in = ["filter_size"]
flops = "2 * height * width * filter_size * filter_size"

[problem]
height = [1, 4096]
width = [1, 4096]
filter_size = { minimum = 1, maximum = 17, usual = [1, 17], default = 5 }

[arrays]
out = { extents = ["height", "width"], role = "output" }
image = ["height + filter_size - 1", "width + filter_size - 1"]
d_filter = { extents = ["filter_size", "filter_size"], role = "constant" }

[axes]
block_size_x = [32, 16, 64, 128]
block_size_y = [4, 1, 2, 8, 16]
tile_size_x = [1, 2, 4, 8]

[rules]
must = "block_size_x * block_size_y <= 1024"

[launch]
grid = ["ceil_div(width, block_size_x * tile_size_x)", "ceil_div(height, block_size_y)"]
block = ["block_size_x", "block_size_y"]

[reference]
kernel = "convolution_plain"
*/
#ifndef block_size_x
#define block_size_x 32
#define block_size_y 4
#define tile_size_x 1
#define filter_size 5
#endif

__constant__ float d_filter[17 * 17];

__global__ void convolution(float* out, const float* image, int height, int width) {
  const int left = blockIdx.x * block_size_x * tile_size_x + threadIdx.x;
  const int y = blockIdx.y * block_size_y + threadIdx.y;
  const size_t pitch = width + filter_size - 1;
  if (y >= height) return;
  float sum[tile_size_x] = {};
  for (int i = 0; i < filter_size; ++i) {
    for (int j = 0; j < filter_size; ++j) {
      const float weight = d_filter[i * filter_size + j];
#pragma unroll
      for (int p = 0; p < tile_size_x; ++p) {
        const int x = left + p * block_size_x;
        if (x < width) sum[p] += weight * image[(y + i) * pitch + x + j];
      }
    }
  }
#pragma unroll
  for (int p = 0; p < tile_size_x; ++p) {
    const int x = left + p * block_size_x;
    if (x < width) out[(size_t)y * width + x] = sum[p];
  }
}

__global__ void convolution_plain(float* out, const float* image, int height, int width) {
  const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (size_t)height * width) return;
  const size_t y = at / width, x = at % width;
  double sum = 0;
  for (int i = 0; i < filter_size; ++i)
    for (int j = 0; j < filter_size; ++j)
      sum += (double)d_filter[i * filter_size + j] * image[(y + i) * (width + filter_size - 1) + x + j];
  out[at] = (float)sum;
}
