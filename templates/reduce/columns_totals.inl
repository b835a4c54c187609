// SPDX-License-Identifier: Apache-2.0
// The totals that a thread holds of its columns. Needs R, a reduction, Partial, BLOCK_X and VECTOR.
constexpr int columns = BLOCK_X * VECTOR;  // of a block

struct Totals {
  Partial of[VECTOR];
};

__device__ __forceinline__ Totals no_totals() {
  Totals totals;
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) totals.of[v] = nothing<R>();
  return totals;
}
