// SPDX-License-Identifier: Apache-2.0
// How a warpgroup multiplies elements of 16 bits, with sums in f32, or bytes with sums in i32: it has 32
// THREAD_M rows, 64 for each product, and all columns of the tile. Operands stay in shared memory as they are
// in the array, of bytes row by row, and a tile's products run on while the next tile's begin. Needs
// common/swizzled_matrix.cuh, TILE_K with 128 bytes, THREAD_M, THREAD_N.

// Waits until at most RUNNING tiles' products still run.
template <int RUNNING, typename Number>
__device__ __forceinline__ void end_products(Number (&sum)[THREAD_M][THREAD_N]) {
  wait_for_groups<RUNNING>();
#pragma unroll
  for (int i = 0; i < THREAD_M; ++i) hold(sum[i]);
}

// Leaves RUNNING tiles' products running.
template <typename First, typename Second, int RUNNING, typename Element, typename Number>
__device__ __forceinline__ void multiply_by_warpgroups(Number (&sum)[THREAD_M][THREAD_N],
                                                       const Element* first, const Element* second) {
  constexpr int far = TILE_K * 64 * static_cast<int>(sizeof(Element));                      // 64 rows
  constexpr int step_a = First::by_rows ? 32 : 2048, step_b = Second::by_rows ? 32 : 2048;  // of a product
  const int group = static_cast<int>(threadIdx.x) / 128;
  const MatrixPlace a = moved(swizzled_place(first, far), group * (THREAD_M / 2) * far);
  const MatrixPlace b = swizzled_place(second, far);
  begin_products();
#pragma unroll
  for (int k = 0; k < TILE_K / matrix_terms; ++k) {
#pragma unroll
    for (int i = 0; i < THREAD_M; i += 2) {
      multiply_add_swizzled<Element, !First::by_rows, !Second::by_rows>(
          sum[i], sum[i + 1], moved(a, i / 2 * far + k * step_a), moved(b, k * step_b));
    }
  }
  end_group();
  end_products<RUNNING>(sum);
}
