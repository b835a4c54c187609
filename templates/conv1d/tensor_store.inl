// SPDX-License-Identifier: Apache-2.0
// The end of tensor.cu and tensor_any.cu: stores the warp's sums in the output, except for results that are
// computed again. Needs `sums`, `range`, `taps_range`, `scale`, `taps_scale`, `tile_first`, `row`, `warp`,
// `lane` and `output`.

// Every result is below NaN in this comparison, so all are computed again if there is no scale.
const float least = !has_scale(range) || !has_scale(taps_range) ? __uint_as_float(0x7fffffffu)
                    : splits(range) && splits(taps_range)       ? 0.0f
                                                                : 128.0f;
const float back = reciprocal(scale * taps_scale);
const long long at = tile_first + warp * warp_tile + 2 * lane;
float result[2 * PRODUCTS][2];
unsigned again = 0;
#pragma unroll
for (int k = 0; k < 2 * PRODUCTS; ++k) {
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const int p = k % PRODUCTS, c = k / PRODUCTS * 2 + e;
    const float scaled = sums.high[p][c] + sums.small[p][c] * (1.0f / 2048);
    if (!(fabsf(scaled) >= least)) again |= 1u << (2 * k + e);
    result[k][e] = scaled * back;
  }
}
float* to = output + row * output_length + at;
if (tile_first + tile <= output_length && reinterpret_cast<unsigned long long>(to) % 8 == 0) {
#pragma unroll
  for (int k = 0; k < 2 * PRODUCTS; ++k)
    store_vector<2>(to + 64 * k, Vector<float, 2>{{result[k][0], result[k][1]}});
} else {
  const int count = static_cast<int>(max(0LL, min(output_length - at, static_cast<long long>(tile))));
#pragma unroll
  for (int k = 0; k < 2 * PRODUCTS; ++k) {
    if (64 * k < count) to[64 * k] = result[k][0];
    if (64 * k + 1 < count) to[64 * k + 1] = result[k][1];
  }
}
