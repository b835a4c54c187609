// SPDX-License-Identifier: Apache-2.0
// Adds one sample step to the products of tensor.cu and tensor_any.cu. Needs COUNT, PRODUCTS, `sums`, the
// step `v` of samples `high` and `middle`, and `high_taps` and `middle_taps`.

// The samples are step v - p of product p.
#pragma unroll
for (int p = larger(0, v - COUNT + 1); p <= smaller(v, PRODUCTS - 1); ++p)
  multiply_add_halves(sums.high[p], high, high_taps[v - p][0], high_taps[v - p][1]);
#pragma unroll
for (int p = larger(0, v - COUNT + 1); p <= smaller(v, PRODUCTS - 1); ++p)
  multiply_add_halves(sums.small[p], high, middle_taps[v - p][0], middle_taps[v - p][1]);
#pragma unroll
for (int p = larger(0, v - COUNT + 1); p <= smaller(v, PRODUCTS - 1); ++p)
  multiply_add_halves(sums.small[p], middle, high_taps[v - p][0], high_taps[v - p][1]);
