// SPDX-License-Identifier: Apache-2.0
// How many quads of a tile a thread may hold. Needs common/integer.cuh.

// The registers that a thread has where so many are resident, less those that are `taken` while samples wait
// and about 28 for the walk over a tile (72 where nothing is taken); in quads.
__host__ __device__ constexpr int held_quads(int resident_threads, int taken) {
  return larger(1, (smaller(255, 65536 / resident_threads) - (taken > 0 ? taken + 28 : 72)) / 4);
}
