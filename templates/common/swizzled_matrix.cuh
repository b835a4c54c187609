// SPDX-License-Identifier: Apache-2.0
// Products of matrices of Float16 or BFloat16 with sums in f32, or of bytes with sums in i32, by a warpgroup,
// four warps whose first is a multiple of four, with both matrices in shared memory. They keep running while
// the threads go on. Needs compute capability 9.0, the only one that has wgmma. On the host
// common/host/swizzled_matrix.h stands for this file.
#pragma once

#include "common/float16.cuh"
#include "common/warpgroup.cuh"

// Dynamic shared memory in which matrices may begin at each multiple of 1024 bytes.
#define SWIZZLED_SHARED(type, name)                                \
  extern __shared__ __align__(1024) unsigned char name##_bytes_[]; \
  type* name = reinterpret_cast<type*>(name##_bytes_)

// The place of a matrix in shared memory (PTX ISA, "Matrix descriptor format", 128 bytes swizzled). It has
// groups of eight lines of 128 bytes, 1024 bytes each; piece p of 16 bytes of line l stands in place p ^ l. A
// line has terms of one row, or, turned, rows of one term. Turned, the next 64 rows are `far` bytes
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

// Keeps the compiler from touching the sums, as hold() of floats does.
template <int N>
__device__ __forceinline__ void hold(int (&sum)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+r"(sum[i])::"memory");
}

// sum (64 x 4 N) += a (64 x 16) * b (16 x 4 N), of bytes 32 terms; A_TURNED and B_TURNED say how these stand,
// bytes not turned. Thread t of the warpgroup has rows t / 32 * 16 + t % 32 / 4, in `low`, and eight further,
// in `high`; and of each eight columns c those at 2 (t % 4) and one further, as 2 (c / 8) and one further.
template <typename T, bool A_TURNED, bool B_TURNED, typename Sum, int N>
__device__ __forceinline__ void multiply_add_swizzled(Sum (&low)[N], Sum (&high)[N], MatrixPlace a,
                                                      MatrixPlace b) {
#define SUMS_2(in, i) in(low[i]), in(low[(i) + 1]), in(high[i]), in(high[(i) + 1])
#define SUMS_8(in, i) SUMS_2(in, i), SUMS_2(in, (i) + 2), SUMS_2(in, (i) + 4), SUMS_2(in, (i) + 6)
#define SUMS_16(in, i) SUMS_8(in, i), SUMS_8(in, (i) + 8)
#define SUMS_32(in, i) SUMS_16(in, i), SUMS_16(in, (i) + 16)
#define TEN(d) \
  "%" #d "0, %" #d "1, %" #d "2, %" #d "3, %" #d "4, %" #d "5, %" #d "6, %" #d "7, %" #d "8, %" #d "9, "
#define MULTIPLY_16_BITS(columns, type, names, its_a, its_b, a_turned, b_turned, ...)              \
  asm volatile("{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned.m64n" columns \
               "k16.f32." type "." type " {" names "}, " its_a ", " its_b ", add, 1, 1, " a_turned \
               ", " b_turned ";}"                                                                  \
               : __VA_ARGS__                                                                       \
               : "l"(a), "l"(b), "n"(A_TURNED ? 1 : 0), "n"(B_TURNED ? 1 : 0))
#define MULTIPLY_8_BITS(columns, type, names, its_a, its_b, a_turned, b_turned, ...)               \
  asm volatile("{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned.m64n" columns \
               "k32.s32." type "." type " {" names "}, " its_a ", " its_b ", add;}"                \
               : __VA_ARGS__                                                                       \
               : "l"(a), "l"(b))
#define MULTIPLY_ALL(multiply, in, type)                                                                    \
  if constexpr (N == 8) {                                                                                   \
    multiply("32", type, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15", "%16",     \
             "%17", "%18", "%19", SUMS_8(in, 0));                                                           \
  } else if constexpr (N == 16) {                                                                           \
    multiply("64", type, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " TEN(1) TEN(2) "%30, %31", "%32", "%33", \
             "%34", "%35", SUMS_16(in, 0));                                                                 \
  } else if constexpr (N == 32) {                                                                           \
    multiply("128", type,                                                                                   \
             "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " TEN(1) TEN(2) TEN(3) TEN(4)                         \
                 TEN(5) "%60, %61, %62, %63",                                                               \
             "%64", "%65", "%66", "%67", SUMS_32(in, 0));                                                   \
  } else {                                                                                                  \
    static_assert(N == 64, "as many columns as are written out here");                                      \
    multiply("256", type,                                                                                   \
             "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7)    \
                 TEN(8) TEN(9) TEN(10) TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127",            \
             "%128", "%129", "%130", "%131", SUMS_32(in, 0), SUMS_32(in, 32));                              \
  }
  static_assert(sizeof(T) == 2 || (sizeof(T) == 1 && !A_TURNED && !B_TURNED), "as wgmma takes elements");
  if constexpr (sizeof(T) == 1) {
    if constexpr (static_cast<T>(-1) < 0) {
      MULTIPLY_ALL(MULTIPLY_8_BITS, "+r", "s8")
    } else {
      MULTIPLY_ALL(MULTIPLY_8_BITS, "+r", "u8")
    }
  } else if constexpr (is_bfloat16<T>) {
    MULTIPLY_ALL(MULTIPLY_16_BITS, "+f", "bf16")
  } else {
    MULTIPLY_ALL(MULTIPLY_16_BITS, "+f", "f16")
  }
#undef MULTIPLY_ALL
#undef MULTIPLY_8_BITS
#undef MULTIPLY_16_BITS
#undef TEN
#undef SUMS_32
#undef SUMS_16
#undef SUMS_8
#undef SUMS_2
}
