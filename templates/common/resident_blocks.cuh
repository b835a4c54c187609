// SPDX-License-Identifier: Apache-2.0
// The number of blocks for which a multiprocessor has room.
#pragma once

// The number of blocks of `threads` threads in a multiprocessor with room for `warps` warps; at least one. In
// __launch_bounds__ it bounds the registers of a thread.
__host__ __device__ constexpr int resident_blocks(int warps, int threads) {
  return warps * 32 > threads ? warps * 32 / threads : 1;
}
