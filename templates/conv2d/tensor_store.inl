// SPDX-License-Identifier: Apache-2.0
// The end of tensor.cu and tensor_any.cu: stores a warp's sums in the output image. Needs `sums`, both
// scales, `batch_output`, the tile's `x` and `y`, `lane`, `warp_y`, and the image's `height` and `width`.

const float unscale = reciprocal(sample_scale * weight_scale);
const int row = y + warp_y * ROWS;
const int column = x + lane / 4 * 8 + lane % 4 * 2;
#pragma unroll
for (int o = 0; o < ROWS; ++o) {
  if (row + o >= height) break;
  float* to = batch_output + static_cast<long long>(row + o) * width + column;
#pragma unroll
  for (int e = 0; e < 4; ++e) {  // two outputs each: rows 0-7, 8-15, 16-23, 24-31 of the product
    const float* large = sums[o].large[e / 2] + e % 2 * 2;
    const float* small = sums[o].small[e / 2] + e % 2 * 2;
    const float low = fmaf(small[0], 0x1p-11f, large[0]) * unscale;
    const float high = fmaf(small[1], 0x1p-11f, large[1]) * unscale;
    if constexpr (VECTOR == 4) {
      if (column + 64 * e < width) store_vector<2>(to + 64 * e, Vector<float, 2>{{low, high}});
    } else {
      if (column + 64 * e < width) to[64 * e] = low;
      if (column + 64 * e + 1 < width) to[64 * e + 1] = high;
    }
  }
}
