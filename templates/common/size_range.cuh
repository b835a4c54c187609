// SPDX-License-Identifier: Apache-2.0
// The range of the sizes of a tile's numbers, and the scale with which they are split (halves.cuh).
#pragma once

#include "common/ordered.cuh"
#include "common/vector.cuh"

// The range of the sizes (absolute values) of a tile's numbers.
struct SizeRange {
  unsigned most = 0;             // bits of the largest size
  unsigned least = 0xffffffffu;  // twice the bits of the smallest but 0, less one
};

__device__ __forceinline__ void include(SizeRange& range, float x) {
  range.most = __float_as_uint(maximum(__uint_as_float(range.most), fabsf(x)));  // NaN stays
  range.least = min(range.least, 2 * __float_as_uint(x) - 1);  // 0 becomes the largest number
}

// The joint range of all lanes of a warp.
__device__ __forceinline__ SizeRange warp_range(SizeRange range) {
  range.most = __reduce_max_sync(0xffffffffu, range.most);
  range.least = __reduce_min_sync(0xffffffffu, range.least);
  return range;
}

__device__ __forceinline__ SizeRange joined(const SizeRange& a, const SizeRange& b) {
  return {max(a.most, b.most), min(a.least, b.least)};
}

// A warp's range in shared memory. Each warp writes its range before a barrier; all threads read the ranges
// after it.
using WarpRange = Vector<unsigned, 2>;

__device__ __forceinline__ void publish(WarpRange* of_warp, const SizeRange& of_thread) {
  const SizeRange range = warp_range(of_thread);
  if (threadIdx.x % 32 == 0) *of_warp = {{range.most, range.least}};
}

template <int WARPS>
__device__ __forceinline__ SizeRange collect(const WarpRange* of_warps) {
  SizeRange range;
#pragma unroll
  for (int w = 0; w < WARPS; ++w) {
    const WarpRange of_warp = of_warps[w];
    range = joined(range, {of_warp.element[0], of_warp.element[1]});
  }
  return range;
}

// True if numbers of this range can be split: they are finite, and the largest is from 2^-40 to 2^40, so that
// no scale and no product of two scales leaves the range of float.
__device__ __forceinline__ bool splits(const SizeRange& range) {
  constexpr unsigned binade = 1u << 23;
  if (range.most == 0) return true;
  return range.most >= (127 - 40) * binade && range.most < (127 + 40) * binade &&
         range.least / 2 + 1 + 28 * binade >= (range.most & ~(binade - 1));
}

// The scale, a power of two, of a range that splits.
__device__ __forceinline__ float scale_of(const SizeRange& range) {
  return range.most == 0 ? 1.0f : __uint_as_float((127 + 14 + 127) * (1u << 23) - (range.most & 0x7f800000u));
}

// The reciprocal of a power of two from 2^-126 to 2^126.
__device__ __forceinline__ float reciprocal(float power) {
  return __uint_as_float(2 * 0x3f800000u - __float_as_uint(power));
}
