// SPDX-License-Identifier: Apache-2.0
// Splits a float into two halves, for matrix products that keep the accuracy of f32: x * scale = high +
// middle / 2^11 + rest. The scale is a power of two for all numbers of a tile, which brings the largest size
// into [2^14, 2^15). If no size except 0 is more than 2^28 times smaller, every high is a normal half. Then
// |middle| <= |x * scale| for the stored middle, whose value is 2^-11 of this, and |rest| <= 2^-22 |x *
// scale|.
//
// A product of two such numbers is computed as high * high + (high * middle + middle * high) / 2^11. It
// leaves out middle * middle and the rests, so that its error is at most 12 * 2^-24 of its size. The small
// products are summed separately, because their sums are 2^11 times too large.
#pragma once

#include "common/size_range.cuh"
#include "common/two_halves.cuh"

__device__ __forceinline__ Halves split(float first, float second, float scale) {
  first *= scale;
  second *= scale;
  const unsigned high = pack_halves(first, second);
  return {high, pack_halves((first - low_half(high)) * 2048.0f, (second - high_half(high)) * 2048.0f)};
}
