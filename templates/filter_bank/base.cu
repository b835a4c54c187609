// SPDX-License-Identifier: Apache-2.0
// The plain kernel of filter_bank: a thread has ROWS outputs below each other. It sums a row of the image
// along the row mask once, and adds the sum to each output whose window holds the row. Only the image's type
// is compiled in. The two halves of a mask are summed separately, from its middle outwards. If all samples
// are equal and the mask's halves differ only in sign, the two sums are opposite regardless of rounding, and
// the output is exactly 0.

#include "common/boundary.cuh"
#include "common/widened.cuh"
#include "filter_bank/filter_bank.cuh"

using Sum = sum_type<T>;
constexpr int most_filters = 4;

// The windows of outputs that lie below each other. Their first row is y, their first pixel x.
struct Windows {
  const T* first;  // of the image, of the outputs' channel
  long long height, width, channels, y, x;
  int boundary;
  Sum outside;
};

template <bool inside>
__device__ __forceinline__ Sum sample(const Windows& from, const T* line, long long x) {
  const long long column = inside ? x : sample_at(x, from.width, from.boundary);
  return inside || (line != nullptr && column >= 0) ? widened(line[column * from.channels]) : from.outside;
}

// The sum of a row along a mask. `inside` tells that all of its pixels are in the image; `line` is nullptr if
// none is.
template <bool inside>
__device__ __forceinline__ Sum line_sum(const Windows& from, const T* line, const Sum* mask, int taps) {
  Sum low = 0, high = 0;
  for (int j = taps / 2 - 1; j >= 0; --j) {
    low += mask[j] * sample<inside>(from, line, from.x + j);
    high += mask[taps - 1 - j] * sample<inside>(from, line, from.x + taps - 1 - j);
  }
  Sum sum = low + high;
  if (taps % 2 != 0) sum += mask[taps / 2] * sample<inside>(from, line, from.x + taps / 2);
  return sum;
}

// The sum of the r-th row of the first window, which the windows below share.
__device__ __forceinline__ Sum row_sum(const Windows& from, int r, const Sum* mask, int taps) {
  const long long row = sample_at(from.y + r, from.height, from.boundary);
  const T* const line = row < 0 ? nullptr : from.first + row * from.width * from.channels;
  const bool inside = row >= 0 && from.x >= 0 && from.x + taps <= from.width;
  return inside ? line_sum<true>(from, line, mask, taps) : line_sum<false>(from, line, mask, taps);
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
    const long long y = group * ROWS, channel = column % channels;
    const int rows = height - y < ROWS ? static_cast<int>(height - y) : ROWS;
    const Windows from = {image + plane * height * columns + channel,
                          height,
                          width,
                          channels,
                          y - before_y,
                          column / channels - before_x,
                          boundary,
                          static_cast<Sum>(value)};
    const int half = taps_y / 2, even = taps_y % 2 == 0 ? 1 : 0;
    Sum sums[ROWS][most_filters] = {};
#pragma unroll 1
    for (int f = 0; f < filters; ++f) {
      const Sum* const mask = column_masks + static_cast<long long>(f) * taps_y;
      const Sum* const row_mask = row_masks + static_cast<long long>(f) * taps_x;
      Sum middle[ROWS] = {}, low[ROWS] = {}, high[ROWS] = {};  // `middle`: at the windows' middles
#pragma unroll 1
      for (int r = 0; r < ROWS && half + r < taps_y + rows - 1; ++r) {
        const Sum sum = row_sum(from, half + r, row_mask, taps_x);
#pragma unroll
        for (int k = 0; k < ROWS; ++k) middle[k] = k == r ? sum : middle[k];
      }
#pragma unroll
      for (int n = 1; n <= ROWS; ++n) {  // places from the middle
        if (n > half) break;
        const Sum before = mask[half - n], behind = mask[half + n - even];
#pragma unroll
        for (int k = 0; k < ROWS; ++k) {
          if (k >= n) low[k] += before * middle[k - n];
          const int other = k + n - even;
          if (other < ROWS) high[k] += behind * middle[other];
        }
      }
      for (int r = half - 1; r >= 0; --r) {
        const Sum sum = row_sum(from, r, row_mask, taps_x);
#pragma unroll
        for (int k = 0; k < ROWS; ++k) {
          if (r >= k) low[k] += mask[r - k] * sum;
        }
      }
      for (int r = half + ROWS; r < taps_y + rows - 1; ++r) {
        const Sum sum = row_sum(from, r, row_mask, taps_x);
#pragma unroll
        for (int k = 0; k < ROWS; ++k) {
          if (r - k < taps_y) high[k] += mask[r - k] * sum;
        }
      }
#pragma unroll
      for (int k = 0; k < ROWS; ++k) {
        sums[k][f] = low[k] + high[k];
        if (!even) sums[k][f] += mask[half] * middle[k];
      }
    }
#pragma unroll 1
    for (int k = 0; k < rows; ++k) {
      Sum* const to = output + (plane * height + y + k) * columns + column;
      Sum here[1][most_filters], all[1] = {0};
#pragma unroll
      for (int f = 0; f < most_filters; ++f) here[0][f] = sums[k][f];  // 0 of a filter that is not there
      if (results == EACH) {
        for (int f = 0; f < filters; ++f) to[f * batch * height * columns] = sums[k][f];
        continue;
      }
      if (results == NORM) {
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
