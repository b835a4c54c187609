// SPDX-License-Identifier: Apache-2.0
// The plain kernel of conv2d: one thread per output, every sample read from global memory. Only the element
// type is compiled in, so it serves every problem; the other templates are compared with it.

#include "common/boundary.cuh"
#include "common/widened.cuh"

// Launched with blocks of BLOCK_X x BLOCK_Y over the columns and rows of the output; a grid whose y or z
// would exceed 65535, the limit, is walked in strides. An output's window begins `top` rows above and `left`
// columns before the sample at the output's place. `value` is the sample outside the image for a constant
// boundary.
extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    ENTRY(conv2d_base)(const T* __restrict__ image, const sum_type<T>* __restrict__ mask,
                       sum_type<T>* __restrict__ output, int batch, int height, int width, int mask_height,
                       int mask_width, int convolve, int out_height, int out_width, int top, int left,
                       int boundary, double value) {
  using Sum = sum_type<T>;
  const int x = blockIdx.x * BLOCK_X + threadIdx.x;
  if (x >= out_width) return;
  // The columns of the mask that lie on the image; the others lie on samples outside.
  const long long column = static_cast<long long>(x) - left;
  const int first_column = static_cast<int>(max(0LL, min(-column, static_cast<long long>(mask_width))));
  const int last_column = static_cast<int>(max(0LL, min(width - column, static_cast<long long>(mask_width))));
  const Sum outside = static_cast<Sum>(value);
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    for (int y = blockIdx.y * BLOCK_Y + threadIdx.y; y < out_height; y += gridDim.y * BLOCK_Y) {
      Sum sum = 0;
      for (int i = 0; i < mask_height; ++i) {
        const long long from_y = sample_at<long long>(static_cast<long long>(y) - top + i, height, boundary);
        if (boundary == boundary_zero && from_y < 0) continue;
        const T* row = image + (static_cast<long long>(b) * height + max(from_y, 0LL)) * width;
        // A convolution is a correlation with the mask rotated by 180 degrees.
        const Sum* weights = mask + static_cast<long long>(convolve ? mask_height - 1 - i : i) * mask_width;
        const auto weight = [&](int j) { return weights[convolve ? mask_width - 1 - j : j]; };
        const auto add_outside = [&](int begin, int end) {
          for (int j = begin; j < end; ++j) {
            const long long from_x = from_y < 0 ? -1 : sample_at<long long>(column + j, width, boundary);
            sum += weight(j) * (from_x < 0 ? outside : widened(row[from_x]));
          }
        };
        if (boundary != boundary_zero) add_outside(0, first_column);
        if (from_y < 0) {
          add_outside(first_column, last_column);
        } else {
          for (int j = first_column; j < last_column; ++j) sum += weight(j) * widened(row[column + j]);
        }
        if (boundary != boundary_zero) add_outside(max(first_column, last_column), mask_width);
      }
      output[(static_cast<long long>(b) * out_height + y) * out_width + x] = sum;
    }
  }
}
