// SPDX-License-Identifier: Apache-2.0
// scan/lookback, along contiguous elements with several blocks per line, which pass on the line's total
// before their tiles; for few, long lines. The types, the function and the kind are compiled in.

#include "common/resident_blocks.cuh"
#include "common/shared_layout.cuh"
#include "scan/chain.cuh"
#include "scan/scan.cuh"

using S = Scan<has_expression ? 6 : static_cast<int>(function), T, sum_dtype == SumDtype::f64>;
using Item = S::Item;
using WarpStretch = Stretch<S, T, 32, ITEMS, VECTOR, direction == Direction::reverse>;

constexpr Hint load_hint = LOAD == Load::streaming ? Hint::streaming : Hint::none;
constexpr int warps = BLOCK / 32;
#include "scan/lookback_layout.inl"
constexpr int tile_elements = warps * WarpStretch::elements;
constexpr bool posts_early = TOTAL == Total::summed;

extern "C" __global__ void __launch_bounds__(BLOCK, resident_blocks(RESIDENT_WARPS, BLOCK))
    ENTRY(scan_lookback)(const T* __restrict__ x, S::Output* __restrict__ y, void* counters, void* messages,
                         int lines, int tiles, long long length, long long outer_stride) {
  using LineChain = Chain<S, lookback_fan>;
  constexpr bool reverse = direction == Direction::reverse;
  __shared__ Item totals[warps];
  __shared__ Item passed[LineChain::levels];
  __shared__ unsigned shared_number;
  __shared__ int left_to_clear;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  unsigned* const counts = static_cast<unsigned*>(counters);
  if (thread == 0) shared_number = tiles > 1 ? next_tile(counts, gridDim.x) : blockIdx.x;
  __syncthreads();
  const unsigned number = shared_number;
  const unsigned tile = number / static_cast<unsigned>(lines), line = number % static_cast<unsigned>(lines);
  // The places in the memory's order.
  const long long place = reverse ? tiles - 1 - static_cast<long long>(tile) : tile;
  const int warp_place = reverse ? warps - 1 - warp : warp;
  const long long first = place * tile_elements + warp_place * WarpStretch::elements;
  const long long rest = length - first;
  const int left = static_cast<int>(rest < WarpStretch::elements ? rest : WarpStretch::elements);

  WarpStretch stretch;
  const T* const from = x + line * outer_stride + first;
  const bool is_full = left == WarpStretch::elements;
  if (is_full) {
    stretch.load<load_hint, End::full>(from, lane, left);
  } else {
    stretch.load<load_hint, End::element>(from, lane, left);
  }
  Item own;
  if constexpr (posts_early) {
    own = is_full ? stretch.total<End::full>(lane, left) : stretch.total<End::element>(lane, left);
  } else {
    own = is_full ? stretch.scan<End::full>(lane, left) : stretch.scan<End::element>(lane, left);
  }
  if (lane == 0) totals[warp] = own;
  __syncthreads();
  const Item up_to = scan_lanes<S, 32>(lane < warps ? totals[lane] : S::none(), lane);
  const Item total = from_lane(up_to, warps - 1, 32);
  Item before = from_lane(up_to, warp > 0 ? warp - 1 : 0, 32);
  if (warp == 0) before = S::none();

  Item carried = S::none();
  int clears = 0;
  LineChain chain(counts, static_cast<unsigned long long*>(messages), line, static_cast<unsigned>(tiles),
                  tile, 1);
  if (thread == 0 && chain.posts_tile) chain.post_tile(0, total);
  Item found[LineChain::levels];
  const auto wait_in_group = [&] {
    chain.wait_as_warp<0, 0>(0, lane, found);
    if (lane == 0) {
      if (chain.posts_group) chain.post_group(0, S::combine(found[0], total));
      passed[0] = found[0];
    }
  };
  // The stretch is scanned meanwhile, unless other blocks wait for the total that this warp finds.
  const bool waits_first = posts_early && warp == 0 && chain.posts_group;
  if constexpr (posts_early) {
    if (waits_first) wait_in_group();
    if (is_full) {
      stretch.scan<End::full>(lane, left);
    } else {
      stretch.scan<End::element>(lane, left);
    }
  }
  if (tiles > 1) {
    if (warp == 0) {
      if (!waits_first) wait_in_group();
    } else if (warp == 1) {
      chain.wait_as_warp<1, 2>(0, lane, found);
      if (lane == 0) {
        passed[1] = found[1];
        passed[2] = found[2];
      }
    }
    __syncthreads();
    carried = S::combine(S::combine(passed[2], passed[1]), passed[0]);
    if (thread == 0) {
      if (chain.posts_section) chain.post_section(0, S::combine(carried, total));
      clears = chain.leave();
    }
  }
  constexpr bool exclusive = kind == Kind::exclusive, streams = STORE == Store::streaming;
  S::Output* const to = y + line * length + first;
  before = S::combine(carried, before);
  if (is_full) {
    stretch.store<exclusive, streams, End::full>(to, lane, left, before);
  } else {
    stretch.store<exclusive, streams, End::element>(to, lane, left, before);
  }
  if (tiles == 1) return;
  if (thread == 0) left_to_clear = clears;
  __syncthreads();
  chain.clear(left_to_clear, thread, BLOCK);
}
