// SPDX-License-Identifier: Apache-2.0
// Warp-wide matrix products of halves with sums in f32. Needs compute capability 8.0. There is no host twin
// because a whole warp acts at once.
#pragma once

// Loads four 8x8 matrices of 16-bit elements. Lane l gives the address of row l % 8 of matrix l / 8, which
// has 16 bytes and is aligned to 16.
__device__ __forceinline__ void load_matrices(unsigned (&matrix)[4], unsigned shared_address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
               : "r"(shared_address));
}

// sum (16x8) += a (16x16) * b (16x8). The quarters of a are rows 0-7 and 8-15 of columns 0-7, then of columns
// 8-15.
__device__ __forceinline__ void multiply_add_halves(float (&sum)[4], const unsigned (&a)[4], unsigned b0,
                                                    unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// sum (16x8) += a (16x8) * b (8x8).
__device__ __forceinline__ void multiply_add_halves(float (&sum)[4], unsigned a0, unsigned a1, unsigned b0) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(b0));
}
