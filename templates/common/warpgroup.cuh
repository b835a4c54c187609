// SPDX-License-Identifier: Apache-2.0
// Matrix products of halves by a warpgroup, four warps whose first is a multiple of four, with both matrices
// in shared memory and sums in f32. They keep running while the threads go on. Needs compute capability 9.0,
// the only one that has wgmma; there is no host twin.
#pragma once

// The descriptor of a matrix in shared memory (PTX ISA, "Matrix descriptor format", without swizzling). The
// matrix consists of 8x8 matrices of 128 bytes, row after row of 16 bytes. The next 8x8 matrix along k is
// `by_columns` bytes further; that of the next 8 rows of a or columns of b is `by_rows` bytes further. All
// are multiples of 16.
using MatrixPlace = unsigned long long;

__device__ __forceinline__ MatrixPlace matrix_place(unsigned shared_address, unsigned by_columns,
                                                    unsigned by_rows) {
  return static_cast<MatrixPlace>(shared_address >> 4) | static_cast<MatrixPlace>(by_columns >> 4) << 16 |
         static_cast<MatrixPlace>(by_rows >> 4) << 32;
}

// The descriptor moved on by `bytes` bytes.
__device__ __forceinline__ MatrixPlace moved(MatrixPlace place, int bytes) {
  return place + static_cast<unsigned>(bytes >> 4);
}

// Makes this thread's stores to shared memory visible to products after the next barrier.
__device__ __forceinline__ void show_to_products() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Must be called between any other access to the sums' registers and products.
__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// Ends a group: it consists of the products since the last call.
__device__ __forceinline__ void end_group() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Waits until at most RUNNING groups still run.
template <int RUNNING>
__device__ __forceinline__ void wait_for_groups() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(RUNNING) : "memory");
}

// Barriers 1 to 15 of a block, for THREADS threads in whole warps. sync() waits until THREADS threads have
// called sync() or arrive(); arrive() does not wait.
template <int THREADS>
__device__ __forceinline__ void sync(int barrier) {
  __barrier_sync_count(barrier, THREADS);
}
template <int THREADS>
__device__ __forceinline__ void arrive(int barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(THREADS) : "memory");
}

// Keeps the compiler from touching the sums before this line while products run, or after it before they
// begin.
template <int N>
__device__ __forceinline__ void hold(float (&sum)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(sum[i])::"memory");
}

// sum (64 x COLUMNS) += a (64x16) * b (16 x COLUMNS), for the first of `sum`'s columns: with other columns,
// the compiler would wait for each product. In thread t of the warpgroup, registers 4 g to 4 g + 3 hold rows
// r, r, r + 8, r + 8 with r = t / 32 * 16 + t % 32 / 4, and columns c, c + 1, c, c + 1 with c = 8 g + 2 (t %
// 4).
template <int COLUMNS, int N>
__device__ __forceinline__ void multiply_add_halves(float (&sum)[N], MatrixPlace a, MatrixPlace b) {
  static_assert(COLUMNS == 16 || COLUMNS == 32 || COLUMNS == 64, "as many columns as are written out here");
  if constexpr (COLUMNS == 16) {
    asm volatile(
        "{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7 "
        "}, %8, %9, add, 1, 1, 0, 0;}"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]),
          "+f"(sum[7])
        : "l"(a), "l"(b));
  } else if constexpr (COLUMNS == 32) {
    asm volatile(
        "{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 "
        "}, %16, %17, add, 1, 1, 0, 0;}"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]),
          "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]),
          "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15])
        : "l"(a), "l"(b));
  } else {
    asm volatile(
        "{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
        "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31 "
        "}, %32, %33, add, 1, 1, 0, 0;}"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]),
          "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]),
          "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]),
          "+f"(sum[19]), "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]),
          "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]),
          "+f"(sum[31])
        : "l"(a), "l"(b));
  }
}
