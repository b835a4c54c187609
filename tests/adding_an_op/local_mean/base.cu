// SPDX-License-Identifier: Apache-2.0
// local_mean, the plain kernel: each thread has an output, and adds the samples of its window row by row.
#include "common/boundary.cuh"
#include "common/widened.cuh"

extern "C" __global__ void ENTRY(local_mean_base)(const T* image, sum_type<T>* mean, int height, int width,
                                                  int window_height, int window_width, int above, int before,
                                                  int boundary, double value) {
  const int x = static_cast<int>(blockIdx.x) * BLOCK_X + threadIdx.x;
  const int y = static_cast<int>(blockIdx.y) * BLOCK_Y + threadIdx.y;
  if (x >= width || y >= height) return;
  sum_type<T> sum = 0;
  for (int i = 0; i < window_height; ++i) {
    const int row = sample_at(y - above + i, height, boundary);
    for (int j = 0; j < window_width; ++j) {
      const int column = sample_at(x - before + j, width, boundary);
      const bool is_outside = row < 0 || column < 0;
      sum += is_outside ? static_cast<sum_type<T>>(value)
                        : widened(image[static_cast<long long>(row) * width + column]);
    }
  }
  mean[static_cast<long long>(y) * width + x] = sum / (window_height * window_width);
}
