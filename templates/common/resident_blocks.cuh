// SPDX-License-Identifier: Apache-2.0
// How many blocks a multiprocessor has room for.
#pragma once

// Of so many threads, where there is room for so many warps: at least one. In __launch_bounds__ it bounds the
// registers of a thread.
__host__ __device__ constexpr int resident_blocks(int warps, int threads) {
  return warps * 32 > threads ? warps * 32 / threads : 1;
}
