// scan along contiguous elements with several blocks per line, which pass on what a line has before their
// tiles: for few, long lines. The types, the function and the kind are compiled in.

#include "scan/chain.cuh"
#include "scan/scan.cuh"

using S = Scan<static_cast<int>(function), T, sum_dtype == SumDtype::f64>;
using Item = S::Item;
using WarpStretch = Stretch<S, T, 32, ITEMS, VECTOR>;

constexpr Hint load_hint = LOAD == Load::streaming ? Hint::streaming : Hint::none;
constexpr int warps = BLOCK / 32;
constexpr int resident_blocks = RESIDENT_WARPS > warps ? RESIDENT_WARPS / warps : 1;
constexpr int tile_elements = warps * WarpStretch::elements;

extern "C" __global__ void __launch_bounds__(BLOCK, resident_blocks)
    ENTRY(scan_lookback)(const T* __restrict__ x, S::Output* __restrict__ y, void* counters, void* messages,
                         int lines, int tiles, long long length, long long outer_stride) {
  using LineChain = Chain<S, 32>;
  __shared__ Item totals[warps];
  __shared__ Item passed[LineChain::levels];
  __shared__ unsigned number;
  __shared__ int left_to_clear;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  unsigned* const counts = static_cast<unsigned*>(counters);
  if (thread == 0) number = next_tile(counts, gridDim.x);
  __syncthreads();
  const unsigned tile = number / static_cast<unsigned>(lines), line = number % static_cast<unsigned>(lines);
  const long long first =
      static_cast<long long>(tile) * tile_elements + static_cast<long long>(warp) * WarpStretch::elements;
  const long long rest = length - first;
  const int left = static_cast<int>(rest < WarpStretch::elements ? rest : WarpStretch::elements);

  WarpStretch stretch;
  const T* const from = x + line * outer_stride + first;
  if (left == WarpStretch::elements) {
    stretch.load<load_hint, End::full>(from, lane, left);
  } else {
    stretch.load<load_hint, End::element>(from, lane, left);
  }
  const Item own = stretch.scan(lane);
  if (lane == 0) totals[warp] = own;
  __syncthreads();
  const Item up_to = scan_lanes<S, 32>(lane < warps ? totals[lane] : S::none(), lane);
  const Item total = __shfl_sync(0xffffffffu, up_to, warps - 1);
  Item before = __shfl_sync(0xffffffffu, up_to, warp > 0 ? warp - 1 : 0);
  if (warp == 0) before = S::none();

  LineChain chain(counts + 1, static_cast<unsigned long long*>(messages), line, static_cast<unsigned>(tiles),
                  tile, 1);
  if (warp == 0 && lane == 0 && chain.posts_tile) chain.post_tile(0, total);
  if (warp < LineChain::levels) {
    const Item found = chain.wait_as_warp(warp, 0, lane);
    if (lane == 0) {
      if (warp == 0 && chain.posts_group) chain.post_group(0, S::combine(found, total));
      passed[warp] = found;
    }
  }
  __syncthreads();
  const Item carried = S::combine(S::combine(passed[2], passed[1]), passed[0]);
  int clears = 0;
  if (thread == 0) {
    if (chain.posts_section) chain.post_section(0, S::combine(carried, total));
    if (tiles > 1) clears = chain.leave();
  }
  constexpr bool exclusive = kind == Kind::exclusive, streams = STORE == Store::streaming;
  S::Output* const to = y + line * length + first;
  before = S::combine(carried, before);
  if (left == WarpStretch::elements) {
    stretch.store<exclusive, streams, End::full>(to, lane, left, before);
  } else {
    stretch.store<exclusive, streams, End::element>(to, lane, left, before);
  }
  if (thread == 0) left_to_clear = clears;
  __syncthreads();
  chain.clear(left_to_clear, thread, BLOCK);
}
