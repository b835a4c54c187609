// SPDX-License-Identifier: Apache-2.0
// The end of warpgroup.cu and warpgroup_any.cu: stores a thread's sums in the output image. Needs `sums`,
// both scales, `batch_output`, the tile's `x` and `y`, `group`, `warp`, and the image's `height` and `width`.

const float unscale = reciprocal(sample_scale * weight_scale);
const int lane = threadIdx.x % 32;
const int column = x + group * 64 + lane / 4 * 8 + lane % 4 * 2;
#pragma unroll
for (int half = 0; half < 2; ++half) {
  const int row = y + (warp % 4 * 2 + half) * ROWS;
  float* to = batch_output + static_cast<long long>(row) * width + column;
#pragma unroll
  for (int o = 0; o < ROWS; ++o) {
    const float* large = sums.large + 4 * (ROWS - 1 - o) + 2 * half;
    const float* small = sums.small + 4 * (ROWS - 1 - o) + 2 * half;
    const float low = fmaf(small[0], 0x1p-11f, large[0]) * unscale;
    const float high = fmaf(small[1], 0x1p-11f, large[1]) * unscale;
    if constexpr (VECTOR == 4) {
      if (row + o < height && column < width) store_vector<2>(to, Vector<float, 2>{{low, high}});
    } else {
      if (row + o < height && column < width) to[0] = low;
      if (row + o < height && column + 1 < width) to[1] = high;
    }
    to += width;
  }
}
