// SPDX-License-Identifier: Apache-2.0
// The place of a sample in shared memory, for conv1d/tiled and conv1d/chunked. Needs SMEM_LAYOUT, OUT_X and
// `lanes` (elements of a 16-byte access).

// Threads whose outputs fill an even number of 16-byte units would conflict in the same banks. `padded` skips
// one unit after each OUT_X samples, where the next thread's samples begin, so that offsets stay constant.
constexpr int pad = SMEM_LAYOUT == SmemLayout::padded ? lanes : 0;
__device__ __forceinline__ constexpr int place_of(int position) { return position + position / OUT_X * pad; }
