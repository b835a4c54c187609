// SPDX-License-Identifier: Apache-2.0
// Warp-wide matrix products of Float16 and BFloat16 with sums in f32, and of bytes with sums in i32, from
// pointers into shared memory. Needs compute capability 8.0. On the host common/host/warp_matrix.h stands for
// this file.
#pragma once

#include "common/float16.cuh"
#include "common/matrix.cuh"

// Four 8x8 matrices of 16-bit elements, which two neighbouring bytes also are, from shared memory. Lane l
// gives the address of row l % 8 of matrix l / 8, 16 bytes aligned to 16, and gets elements 2 (l % 4) and 2
// (l % 4) + 1 of row l / 4 of each matrix; TURNED: of column l / 4.
template <bool TURNED, typename T>
__device__ __forceinline__ void load_matrices(unsigned (&matrix)[4], const T* row) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  if constexpr (TURNED) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
                 : "r"(address));
  } else {
    load_matrices(matrix, address);
  }
}

// sum (16x8) += a (16x16) * b (16x8) of Float16 or BFloat16. Of eight lanes q and four lanes t, a lane has
// the rows q and q + 8 of a in columns 2 t and 2 t + 1, then in columns 2 t + 8 and 2 t + 9; of b the same
// places along column q; and the sums of its two rows in columns 2 t and 2 t + 1.
template <typename T>
__device__ __forceinline__ void multiply_add_matrices(float (&sum)[4], const unsigned (&a)[4], unsigned b0,
                                                      unsigned b1) {
  multiply_add_halves(sum, a, b0, b1);
}
template <>
__device__ __forceinline__ void multiply_add_matrices<BFloat16>(float (&sum)[4], const unsigned (&a)[4],
                                                                unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// sum (16x8) += a (16x32) * b (32x8) of signed or unsigned bytes; sums wrap. A lane has the same places as of
// 16-bit elements, with two neighbouring terms in place of one.
template <typename T>
__device__ __forceinline__ void multiply_add_matrices(int (&sum)[4], const unsigned (&a)[4], unsigned b0,
                                                      unsigned b1) {
  static_assert(sizeof(T) == 1, "sums of bytes are of i32");
#define MULTIPLY(type)                                         \
  asm("mma.sync.aligned.m16n8k32.row.col.s32." type "." type   \
      ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "              \
      "{%8, %9}, {%0, %1, %2, %3};"                            \
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3]) \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
  if constexpr (static_cast<T>(-1) < 0) {
    MULTIPLY("s8");
  } else {
    MULTIPLY("u8");
  }
#undef MULTIPLY
}
