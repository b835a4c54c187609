// Matrix products of halves by a warpgroup, four warps whose first is a multiple of four, with both matrices
// in shared memory and sums in f32. They run on while the threads go ahead. Needs compute capability 9.0 and
// exists on no other (wgmma); there is no host twin.
#pragma once

// Where a matrix lies (PTX ISA, "Matrix descriptor format", without swizzling): as 8x8 matrices of 128 bytes,
// row after row of 16 bytes, `by_columns` bytes from the first to the one of the next 8 of k, `by_rows` bytes
// from one to that of the next 8 rows of a or columns of b; all multiples of 16.
using MatrixPlace = unsigned long long;

__device__ __forceinline__ MatrixPlace matrix_place(unsigned shared_address, unsigned by_columns,
                                                    unsigned by_rows) {
  return static_cast<MatrixPlace>(shared_address >> 4) | static_cast<MatrixPlace>(by_columns >> 4) << 16 |
         static_cast<MatrixPlace>(by_rows >> 4) << 32;
}

// So many bytes on.
__device__ __forceinline__ MatrixPlace moved(MatrixPlace place, int bytes) {
  return place + static_cast<unsigned>(bytes >> 4);
}

// Makes this thread's stores to shared memory visible to products after the next barrier.
__device__ __forceinline__ void show_to_products() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Between any other access to the sums' registers and products.
__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// The products since the last call form a group.
__device__ __forceinline__ void end_group() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Until at most RUNNING groups still run.
template <int RUNNING>
__device__ __forceinline__ void wait_for_groups() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(RUNNING) : "memory");
}

// Keeps the compiler from touching the sums before this line while products run, or after it before they
// begin.
template <int N>
__device__ __forceinline__ void hold(float (&sum)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(sum[i])::"memory");
}

// sum (64 x COLUMNS) += a (64x16) * b (16 x COLUMNS), to columns FIRST on. Of thread t of the warpgroup,
// registers 4 g to 4 g + 3 are rows r, r, r + 8, r + 8 with r = t / 32 * 16 + t % 32 / 4 and columns c, c +
// 1, c, c + 1 with c = 8 g + t % 4 * 2.
template <int COLUMNS, int FIRST, int N>
__device__ __forceinline__ void multiply_add_halves(float (&sum)[N], MatrixPlace a, MatrixPlace b) {
  static_assert(COLUMNS == 16 || COLUMNS == 32 || COLUMNS == 64, "as many columns as are written out here");
  if constexpr (COLUMNS == 16) {
    asm volatile(
        "{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7 "
        "}, %8, %9, add, 1, 1, 0, 0;}"
        : "+f"(sum[FIRST / 2 + 0]), "+f"(sum[FIRST / 2 + 1]), "+f"(sum[FIRST / 2 + 2]),
          "+f"(sum[FIRST / 2 + 3]), "+f"(sum[FIRST / 2 + 4]), "+f"(sum[FIRST / 2 + 5]),
          "+f"(sum[FIRST / 2 + 6]), "+f"(sum[FIRST / 2 + 7])
        : "l"(a), "l"(b));
  } else if constexpr (COLUMNS == 32) {
    asm volatile(
        "{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 "
        "}, %16, %17, add, 1, 1, 0, 0;}"
        : "+f"(sum[FIRST / 2 + 0]), "+f"(sum[FIRST / 2 + 1]), "+f"(sum[FIRST / 2 + 2]),
          "+f"(sum[FIRST / 2 + 3]), "+f"(sum[FIRST / 2 + 4]), "+f"(sum[FIRST / 2 + 5]),
          "+f"(sum[FIRST / 2 + 6]), "+f"(sum[FIRST / 2 + 7]), "+f"(sum[FIRST / 2 + 8]),
          "+f"(sum[FIRST / 2 + 9]), "+f"(sum[FIRST / 2 + 10]), "+f"(sum[FIRST / 2 + 11]),
          "+f"(sum[FIRST / 2 + 12]), "+f"(sum[FIRST / 2 + 13]), "+f"(sum[FIRST / 2 + 14]),
          "+f"(sum[FIRST / 2 + 15])
        : "l"(a), "l"(b));
  } else {
    asm volatile(
        "{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
        "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31 "
        "}, %32, %33, add, 1, 1, 0, 0;}"
        : "+f"(sum[FIRST / 2 + 0]), "+f"(sum[FIRST / 2 + 1]), "+f"(sum[FIRST / 2 + 2]),
          "+f"(sum[FIRST / 2 + 3]), "+f"(sum[FIRST / 2 + 4]), "+f"(sum[FIRST / 2 + 5]),
          "+f"(sum[FIRST / 2 + 6]), "+f"(sum[FIRST / 2 + 7]), "+f"(sum[FIRST / 2 + 8]),
          "+f"(sum[FIRST / 2 + 9]), "+f"(sum[FIRST / 2 + 10]), "+f"(sum[FIRST / 2 + 11]),
          "+f"(sum[FIRST / 2 + 12]), "+f"(sum[FIRST / 2 + 13]), "+f"(sum[FIRST / 2 + 14]),
          "+f"(sum[FIRST / 2 + 15]), "+f"(sum[FIRST / 2 + 16]), "+f"(sum[FIRST / 2 + 17]),
          "+f"(sum[FIRST / 2 + 18]), "+f"(sum[FIRST / 2 + 19]), "+f"(sum[FIRST / 2 + 20]),
          "+f"(sum[FIRST / 2 + 21]), "+f"(sum[FIRST / 2 + 22]), "+f"(sum[FIRST / 2 + 23]),
          "+f"(sum[FIRST / 2 + 24]), "+f"(sum[FIRST / 2 + 25]), "+f"(sum[FIRST / 2 + 26]),
          "+f"(sum[FIRST / 2 + 27]), "+f"(sum[FIRST / 2 + 28]), "+f"(sum[FIRST / 2 + 29]),
          "+f"(sum[FIRST / 2 + 30]), "+f"(sum[FIRST / 2 + 31])
        : "l"(a), "l"(b));
  }
}
