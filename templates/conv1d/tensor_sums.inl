// SPDX-License-Identifier: Apache-2.0
// The sums of tensor.cu and tensor_any.cu, and a check if they can be exact enough. Needs PRODUCTS and
// common/halves.cuh.

// True if the largest number has a scale, regardless of the others.
__device__ __forceinline__ bool has_scale(const SizeRange& range) {
  return splits({range.most, 2 * range.most - 1});
}

// ---- multiplying

// Rows 0-7 of a product belong to a stretch of 64 outputs in the first half of the warp's outputs, rows 8-15
// to the same stretch of the second half.
struct Sums {
  float high[PRODUCTS][4], small[PRODUCTS][4];
};
