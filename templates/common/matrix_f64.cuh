// SPDX-License-Identifier: Apache-2.0
// Warp-wide matrix products of doubles.
#pragma once

// Adds the products of 16 rows of four terms and 8 columns of four terms. Each q has a row a and a row b.
// Lane 4 q + t gives term t of these two rows and of column q; it gets the sums of these rows and the columns
// 2 t and 2 t + 1. From compute capability 9.0 on, only the instruction for both rows reaches the tensor
// cores' rate; earlier devices do not have it. X is double, or a type that is never multiplied.
template <typename X>
__device__ __forceinline__ void multiply_in_tensor_cores(X& a0, X& a1, X& b0, X& b1, X row_a, X row_b,
                                                         X column) {
  double sums[4] = {a0, a1, b0, b1};
  const double rows[2] = {row_a, row_b}, columns = column;
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
      : "d"(rows[0]), "d"(rows[1]), "d"(columns));
#else
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(sums[2 * r]), "+d"(sums[2 * r + 1])
        : "d"(rows[r]), "d"(columns));
  }
#endif
  a0 = static_cast<X>(sums[0]);
  a1 = static_cast<X>(sums[1]);
  b0 = static_cast<X>(sums[2]);
  b1 = static_cast<X>(sums[3]);
}
