// SPDX-License-Identifier: Apache-2.0
// How the threads of a block that lie above each other add up their totals. Needs columns_totals.inl,
// BLOCK_X, BLOCK_Y and VECTOR. The threads with threadIdx.y = 0 get the totals of their columns.
__device__ __forceinline__ void add_across(Totals& totals, Partial* shared) {
  if constexpr (BLOCK_Y > 1) {
    const int y = static_cast<int>(threadIdx.y);
    Partial* const own = shared + y * BLOCK_X + threadIdx.x;
    constexpr int layer = BLOCK_Y * BLOCK_X;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) own[v * layer] = totals.of[v];
#pragma unroll
    for (int half = BLOCK_Y / 2; half > 0; half /= 2) {
      __syncthreads();
      if (y < half) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) {
          totals.of[v] = R::combine(totals.of[v], own[v * layer + half * BLOCK_X]);
          own[v * layer] = totals.of[v];
        }
      }
    }
  }
}
