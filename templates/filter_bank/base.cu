// filter_bank, the plain kernel: a thread has ROWS outputs below each other. A row of the image is summed
// along the row mask once, and added to each output whose window has it. Only the image's type is compiled
// in.

#include "common/boundary.cuh"
#include "common/widened.cuh"
#include "filter_bank/filter_bank.cuh"

using Sum = sum_type<T>;
constexpr int most_filters = 4;

struct Image {
  const T* first;
  long long height, width, channels;
  int boundary;
  Sum outside;
};

// Of the row y, the sum along a row mask whose first weight is at the pixel x. `inside`: all of its pixels
// are in the image.
__device__ __forceinline__ Sum row_sum(const Image& image, const Sum* mask, int taps, long long y,
                                       long long x, long long channel, bool inside) {
  const long long row = sample_at(y, image.height, image.boundary);
  const T* const line = image.first + (row < 0 ? 0 : row) * image.width * image.channels + channel;
  Sum sum = 0;
  for (int j = 0; j < taps; ++j) {
    const long long column = inside ? x + j : sample_at(x + j, image.width, image.boundary);
    sum += mask[j] * (row >= 0 && column >= 0 ? widened(line[column * image.channels]) : image.outside);
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(filter_bank_base)(const T* image, const Sum* column_masks, const Sum* row_masks, Sum* output,
                            long long batch, long long height, long long width, long long channels,
                            int filters, int taps_y, int taps_x, int before_y, int before_x, int results,
                            int boundary, double value) {
  const long long columns = width * channels, groups = (height + ROWS - 1) / ROWS;
  const long long step = static_cast<long long>(gridDim.x) * BLOCK;
  for (long long at = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; at < batch * groups * columns;
       at += step) {
    const long long column = at % columns, group = at / columns % groups, plane = at / columns / groups;
    const long long y = group * ROWS, x = column / channels - before_x;
    const bool inside = x >= 0 && x + taps_x <= width;
    const Image from = {image + plane * height * columns, height, width, channels, boundary,
                        static_cast<Sum>(value)};
    Sum sums[ROWS][most_filters] = {};
#pragma unroll 1
    for (int f = 0; f < filters; ++f) {
      Sum own[ROWS] = {};
      for (int r = 0; r < taps_y + ROWS - 1; ++r) {
        const Sum sum = row_sum(from, row_masks + static_cast<long long>(f) * taps_x, taps_x,
                                y + r - before_y, x, column % channels, inside);
#pragma unroll
        for (int k = 0; k < ROWS; ++k) {
          if (r >= k && r - k < taps_y)
            own[k] += column_masks[static_cast<long long>(f) * taps_y + r - k] * sum;
        }
      }
#pragma unroll
      for (int k = 0; k < ROWS; ++k) sums[k][f] = own[k];
    }
#pragma unroll 1
    for (int k = 0; k < ROWS; ++k) {
      if (y + k >= height) break;
      Sum* const to = output + (plane * height + y + k) * columns + column;
      Sum here[1][most_filters], all[1] = {0};
#pragma unroll
      for (int f = 0; f < most_filters; ++f) here[0][f] = sums[k][f];  // 0 of a filter that is not there
      if (results == results_each) {
        for (int f = 0; f < filters; ++f) to[f * batch * height * columns] = sums[k][f];
        continue;
      }
      if (results == results_norm) {
        norms<Sum, most_filters, 1>(all, here);
      } else {
        all[0] = here[0][0];
#pragma unroll
        for (int f = 1; f < most_filters; ++f) all[0] += here[0][f];
      }
      to[0] = all[0];
    }
  }
}
