// SPDX-License-Identifier: Apache-2.0
// scan/rows, along contiguous elements with a team of threads per line, which carries the line's total so far
// from tile to tile; for many lines. The types, the function and the kind are compiled in.

#include "common/resident_blocks.cuh"
#include "scan/scan.cuh"

using S = Scan<has_expression ? 6 : static_cast<int>(function), T, sum_dtype == SumDtype::f64>;
using Item = S::Item;

constexpr Hint load_hint = LOAD == Load::streaming ? Hint::streaming : Hint::none;
constexpr int width = TEAM < 32 ? TEAM : 32;  // lanes of a team
constexpr int warps = TEAM / width;           // of a team
constexpr int teams = BLOCK / TEAM;
constexpr bool reverse = direction == Direction::reverse;
constexpr bool sums = BEFORE == Before::summed;
constexpr End line_end = TAIL == Tail::element ? End::element : End::vector;
using LaneStretch = Stretch<S, T, width, ITEMS, VECTOR, reverse>;
constexpr int tile_elements = warps * LaneStretch::elements;

// The sum of a thread's share of the elements from `from` to `end`, in any order.
__device__ __forceinline__ Item summed(const T* from, const T* end, int thread) {
  constexpr int at_once = VECTOR < 4 ? 16 / VECTOR : 4;
  Item sum = S::none();
  if constexpr (reverse && line_end == End::element) {
    const int rest = static_cast<int>((end - from) % VECTOR);
    if (thread < rest) sum = S::item(end[-1 - thread]);
    end -= rest;
  }
  for (const T* at = from + thread * VECTOR; at < end; at += at_once * BLOCK * VECTOR) {
    Vector<T, VECTOR> loaded[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k)
      if (k * BLOCK * VECTOR < end - at)
        loaded[k] =
            load_hinted<load_hint>(reinterpret_cast<const Vector<T, VECTOR>*>(at + k * BLOCK * VECTOR));
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (k * BLOCK * VECTOR >= end - at) break;
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) sum = S::combine(sum, S::item(loaded[k].element[v]));
    }
  }
  return sum;
}

// A line has `tiles` tiles. A team works on ROWS lines at once, which are `teams` apart; or a block has one
// tile.
extern "C" __global__ void __launch_bounds__(BLOCK, resident_blocks(RESIDENT_WARPS, BLOCK))
    ENTRY(scan_rows)(const T* __restrict__ x, S::Output* __restrict__ y, long long lines, long long length,
                     long long outer_stride, int tiles) {
  __shared__ Item totals[2][ROWS][BLOCK / 32 > 0 ? BLOCK / 32 : 1];
  __shared__ Item sums_before[sums ? BLOCK / 32 : 1];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % width;
  const int warp = thread % TEAM / width;  // in the team
  const int team = thread / TEAM;
  const long long first_line = sums ? blockIdx.x / static_cast<unsigned>(tiles)
                                    : static_cast<long long>(blockIdx.x) * ROWS * teams + team;
  const int first_tile = sums ? static_cast<int>(blockIdx.x % static_cast<unsigned>(tiles)) : 0;
  const int end_tile = sums ? first_tile + 1 : tiles;

  Item carried[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) carried[r] = S::none();
  int turn = 0;
  for (int tile = first_tile; tile < end_tile; ++tile) {
    // The places in the memory's order.
    const long long tile_first = static_cast<long long>(reverse ? tiles - 1 - tile : tile) * tile_elements;
    const long long first = tile_first + (reverse ? warps - 1 - warp : warp) * LaneStretch::elements;
    const long long rest = length - first;
    const int left = static_cast<int>(rest < LaneStretch::elements ? rest : LaneStretch::elements);
    LaneStretch stretch[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const long long line = first_line + r * teams;
      stretch[r].template load<load_hint, line_end>(x + line * outer_stride + first, lane,
                                                    line < lines ? left : 0);
    }
    if constexpr (sums) {
      const T* const from = x + first_line * outer_stride;
      const Item before = summed(reverse ? from + tile_first + tile_elements : from,
                                 reverse ? from + length : from + tile_first, thread);
      sums_before[thread / 32] = fold_lanes<S, 32>(before, lane);
    }
    Item before[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const long long line = first_line + r * teams;
      const Item own = stretch[r].template scan<line_end>(lane, line < lines ? left : 0);
      before[r] = carried[r];
      if constexpr (warps == 1) {
        carried[r] = S::combine(carried[r], own);
      } else if (lane == 0) {
        totals[turn][r][thread / 32] = own;
      }
    }
    if constexpr (warps > 1) {
      __syncthreads();
      if constexpr (sums) {
        before[0] = fold_lanes<S, 32>(lane < warps ? sums_before[lane] : S::none(), lane);
        carried[0] = before[0];
      }
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const Item of_warp = lane < warps ? totals[turn][r][team * warps + lane] : S::none();
        const Item up_to = scan_lanes<S, 32>(of_warp, lane);
        const Item earlier = from_lane(up_to, warp > 0 ? warp - 1 : 0, 32);
        if (warp > 0) before[r] = S::combine(carried[r], earlier);
        carried[r] = S::combine(carried[r], from_lane(up_to, warps - 1, 32));
      }
      turn ^= 1;  // the next tile's totals do not meet those that a slower warp still reads
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const long long line = first_line + r * teams;
      stretch[r].template store<kind == Kind::exclusive, STORE == Store::streaming, line_end>(
          y + line * length + first, lane, line < lines ? left : 0, before[r]);
    }
  }
}
