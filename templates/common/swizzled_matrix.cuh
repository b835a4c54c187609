// SPDX-License-Identifier: Apache-2.0
// Products of matrices of Float16 or BFloat16 by a warpgroup, four warps whose first is a multiple of four,
// with both matrices in shared memory and sums in f32. They keep running while the threads go on. Needs
// compute capability 9.0, the only one that has wgmma. On the host common/host/swizzled_matrix.h stands for
// this file.
#pragma once

#include "common/float16.cuh"
#include "common/warpgroup.cuh"

// Dynamic shared memory in which matrices may begin at each multiple of 1024 bytes.
#define SWIZZLED_SHARED(type, name)                                \
  extern __shared__ __align__(1024) unsigned char name##_bytes_[]; \
  type* name = reinterpret_cast<type*>(name##_bytes_)

// The place of a matrix in shared memory (PTX ISA, "Matrix descriptor format", 128 bytes swizzled). It has
// groups of eight lines of 64 elements, 1024 bytes each; piece p of 16 bytes of line l stands in place p ^ l.
// A line has terms of one row, or, turned, rows of one term. Turned, the next 64 rows are `far` bytes
// further.
template <typename T>
__device__ __forceinline__ MatrixPlace swizzled_place(const T* at, int far) {
  return matrix_place(static_cast<unsigned>(__cvta_generic_to_shared(at)), static_cast<unsigned>(far), 1024) |
         1ull << 62;
}

template <typename T>
constexpr bool is_bfloat16 = false;
template <>
constexpr bool is_bfloat16<BFloat16> = true;

// sum (64 x 4 N) += a (64 x 16) * b (16 x 4 N); A_TURNED and B_TURNED say how these stand. Thread t of the
// warpgroup has rows t / 32 * 16 + t % 32 / 4, in `low`, and eight further, in `high`; and of each eight
// columns c those at 2 (t % 4) and one further, as 2 (c / 8) and one further.
template <typename T, bool A_TURNED, bool B_TURNED, int N>
__device__ __forceinline__ void multiply_add_swizzled(float (&low)[N], float (&high)[N], MatrixPlace a,
                                                      MatrixPlace b) {
#define SUMS_2(i) "+f"(low[i]), "+f"(low[(i) + 1]), "+f"(high[i]), "+f"(high[(i) + 1])
#define SUMS_8(i) SUMS_2(i), SUMS_2((i) + 2), SUMS_2((i) + 4), SUMS_2((i) + 6)
#define SUMS_16(i) SUMS_8(i), SUMS_8((i) + 8)
#define SUMS_32(i) SUMS_16(i), SUMS_16((i) + 16)
#define TEN(d) \
  "%" #d "0, %" #d "1, %" #d "2, %" #d "3, %" #d "4, %" #d "5, %" #d "6, %" #d "7, %" #d "8, %" #d "9, "
#define MULTIPLY(columns, type, names, its_a, its_b, a_turned, b_turned, ...)                      \
  asm volatile("{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned.m64n" columns \
               "k16.f32." type "." type " {" names "}, " its_a ", " its_b ", add, 1, 1, " a_turned \
               ", " b_turned ";}"                                                                  \
               : __VA_ARGS__                                                                       \
               : "l"(a), "l"(b), "n"(A_TURNED ? 1 : 0), "n"(B_TURNED ? 1 : 0))
#define MULTIPLY_ALL(type)                                                                                  \
  if constexpr (N == 8) {                                                                                   \
    MULTIPLY("32", type, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15", "%16",     \
             "%17", "%18", "%19", SUMS_8(0));                                                               \
  } else if constexpr (N == 16) {                                                                           \
    MULTIPLY("64", type, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " TEN(1) TEN(2) "%30, %31", "%32", "%33", \
             "%34", "%35", SUMS_16(0));                                                                     \
  } else if constexpr (N == 32) {                                                                           \
    MULTIPLY("128", type,                                                                                   \
             "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " TEN(1) TEN(2) TEN(3) TEN(4)                         \
                 TEN(5) "%60, %61, %62, %63",                                                               \
             "%64", "%65", "%66", "%67", SUMS_32(0));                                                       \
  } else {                                                                                                  \
    static_assert(N == 64, "as many columns as are written out here");                                      \
    MULTIPLY("256", type,                                                                                   \
             "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7)    \
                 TEN(8) TEN(9) TEN(10) TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127",            \
             "%128", "%129", "%130", "%131", SUMS_32(0), SUMS_32(32));                                      \
  }
  static_assert(sizeof(T) == 2, "matrices are of 16-bit elements");
  if constexpr (is_bfloat16<T>) {
    MULTIPLY_ALL("bf16")
  } else {
    MULTIPLY_ALL("f16")
  }
#undef MULTIPLY_ALL
#undef MULTIPLY
#undef TEN
#undef SUMS_32
#undef SUMS_16
#undef SUMS_8
#undef SUMS_2
}
