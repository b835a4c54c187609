// SPDX-License-Identifier: Apache-2.0
// What tensor.cu and tensor_any.cu sum in, and whether that can be exact enough. Needs PRODUCTS and
// common/halves.cuh.

// Whether the largest has a scale, whatever the others are.
__device__ __forceinline__ bool has_scale(const SizeRange& range) {
  return splits({range.most, 2 * range.most - 1});
}

// ---- multiplying

// Of a product rows 0-7 belong to a stretch of 64 outputs in the first half of the warp's, rows 8-15 to the
// same in the second half.
struct Sums {
  float high[PRODUCTS][4], small[PRODUCTS][4];
};
