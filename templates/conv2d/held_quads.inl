// SPDX-License-Identifier: Apache-2.0
// The number of quads of a tile that a thread may hold, for the kernels on tensor cores. Needs
// common/integer.cuh.

// The registers of a thread if `resident_threads` threads are resident, in quads, without those that are
// `taken` while samples wait and about 28 for the walk over a tile (72 if `taken` is 0).
__host__ __device__ constexpr int held_quads(int resident_threads, int taken) {
  return larger(1, (smaller(255, 65536 / resident_threads) - (taken > 0 ? taken + 28 : 72)) / 4);
}
