// scan along contiguous elements with a team of threads per line, which carries what the line has so far from
// tile to tile: for many lines. The types, the function and the kind are compiled in.

#include "scan/scan.cuh"

using S = Scan<static_cast<int>(function), T, sum_dtype == SumDtype::f64>;
using Item = S::Item;

constexpr Hint load_hint = LOAD == Load::streaming ? Hint::streaming : Hint::none;
constexpr int width = TEAM < 32 ? TEAM : 32;  // lanes of a team
constexpr int warps = TEAM / width;           // of a team
constexpr int teams = BLOCK / TEAM;
using LaneStretch = Stretch<S, T, width, ITEMS, VECTOR>;
constexpr int threads = BLOCK;
constexpr int resident_blocks = RESIDENT_WARPS * 32 > threads ? RESIDENT_WARPS * 32 / threads : 1;
constexpr int tile_elements = warps * LaneStretch::elements;

// A team has ROWS lines, `teams` apart, under way at once.
extern "C" __global__ void __launch_bounds__(BLOCK, resident_blocks)
    ENTRY(scan_rows)(const T* __restrict__ x, S::Output* __restrict__ y, long long lines, long long length,
                     long long outer_stride) {
  __shared__ Item totals[2][ROWS][BLOCK / 32 > 0 ? BLOCK / 32 : 1];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % width;
  const int warp = thread % TEAM / width;  // in the team
  const int team = thread / TEAM;
  const long long first_line = static_cast<long long>(blockIdx.x) * ROWS * teams + team;

  Item carried[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) carried[r] = S::none();
  int turn = 0;
  for (long long tile = 0; tile < length; tile += tile_elements) {
    const long long first = tile + static_cast<long long>(warp) * LaneStretch::elements;
    const long long rest = length - first;
    const int left = static_cast<int>(rest < LaneStretch::elements ? rest : LaneStretch::elements);
    LaneStretch stretch[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const long long line = first_line + r * teams;
      stretch[r].template load<load_hint, End::vector>(x + line * outer_stride + first, lane,
                                                       line < lines ? left : 0);
    }
    Item before[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const Item own = stretch[r].scan(lane);
      before[r] = carried[r];
      if constexpr (warps == 1) {
        carried[r] = S::combine(carried[r], own);
      } else if (lane == 0) {
        totals[turn][r][thread / 32] = own;
      }
    }
    if constexpr (warps > 1) {
      __syncthreads();
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const Item of_warp = lane < warps ? totals[turn][r][team * warps + lane] : S::none();
        const Item up_to = scan_lanes<S, 32>(of_warp, lane);
        const Item earlier = __shfl_sync(0xffffffffu, up_to, warp > 0 ? warp - 1 : 0);
        if (warp > 0) before[r] = S::combine(carried[r], earlier);
        carried[r] = S::combine(carried[r], __shfl_sync(0xffffffffu, up_to, warps - 1));
      }
      turn ^= 1;  // the next tile's totals do not meet those that a slower warp still reads
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const long long line = first_line + r * teams;
      stretch[r].template store<kind == Kind::exclusive, STORE == Store::streaming, End::vector>(
          y + line * length + first, lane, line < lines ? left : 0, before[r]);
    }
  }
}
