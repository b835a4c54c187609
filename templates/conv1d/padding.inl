// SPDX-License-Identifier: Apache-2.0
// Where a sample lies in shared memory. Needs SMEM_LAYOUT, OUT_X and `lanes` (elements of a 16-byte access).

// Threads whose outputs fill an even number of 16-byte units would meet in the same banks: `padded` leaves
// out one unit after each OUT_X samples, where a thread's own begin, so that an offset stays a constant.
constexpr int pad = SMEM_LAYOUT == SmemLayout::padded ? lanes : 0;
__device__ __forceinline__ constexpr int place_of(int position) { return position + position / OUT_X * pad; }
