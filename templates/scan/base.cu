// scan, the plain kernels: one thread per line; where lines are few and long, a warp or a block per line,
// whose threads have 8 neighbouring elements each of a tile. Only the types and an expression are compiled
// in.

#include "common/shared.cuh"
#include "scan/scan.cuh"

constexpr int items = 8;  // of a thread, loaded before the first is used

// One thread per line. 32 elements are combined before they are added to what is before them, and again 32 of
// those, so that a sum has fewer roundings behind it.
template <typename S>
__device__ __forceinline__ void scan_alone(const T* from, typename S::Output* to, long long length,
                                           long long stride, long long to_stride, int exclusive) {
  using Item = typename S::Item;
  Item far = S::none(), near = S::none(), own = S::none();
  for (long long l = 0; l < length; l += items) {
    T loaded[items];
#pragma unroll
    for (int i = 0; i < items; ++i)
      if (l + i < length) loaded[i] = from[(l + i) * stride];
    if (l % 32 == 0) {
      near = S::combine(near, own);
      own = S::none();
    }
    if (l % 1024 == 0) {
      far = S::combine(far, near);
      near = S::none();
    }
    const Item carried = S::combine(far, near);
#pragma unroll
    for (int i = 0; i < items; ++i) {
      if (l + i >= length) break;
      const Item before = own;
      own = S::combine(own, S::item(loaded[i]));
      to[(l + i) * to_stride] = S::output(S::combine(carried, exclusive ? before : own));
    }
  }
}

// A team of `team` threads, a warp or a block, per line. `totals` has a place for each warp.
template <typename S>
__device__ __forceinline__ void scan_by_team(const T* from, typename S::Output* to, typename S::Item* totals,
                                             int team, long long length, long long stride,
                                             long long to_stride, int exclusive) {
  using Item = typename S::Item;
  const int thread = static_cast<int>(threadIdx.x) % team, lane = thread % 32, warp = thread / 32;
  Item carried = S::none();
  for (long long tile = 0; tile < length; tile += team * items) {
    const long long first = tile + thread * items;
    Item item[items];
#pragma unroll
    for (int i = 0; i < items; ++i)
      item[i] = first + i < length ? S::item(from[(first + i) * stride]) : S::none();
#pragma unroll
    for (int i = 1; i < items; ++i) item[i] = S::combine(item[i - 1], item[i]);
    const Item of_lanes = scan_lanes<S, 32>(item[items - 1], lane);
    Item before = from_lane_below(of_lanes, 1, 32), total = from_lane(of_lanes, 31, 32);
    if (lane == 0) before = S::none();
    if (team > 32) {
      if (lane == 31) totals[warp] = of_lanes;
      __syncthreads();
      const Item of_warps = scan_lanes<S, 32>(lane < team / 32 ? totals[lane] : S::none(), lane);
      __syncthreads();  // the memory is the next tile's
      total = from_lane(of_warps, team / 32 - 1, 32);
      const Item of_others = from_lane(of_warps, warp > 0 ? warp - 1 : 0, 32);
      if (warp > 0) before = S::combine(of_others, before);
    }
    before = S::combine(carried, before);
    carried = S::combine(carried, total);
#pragma unroll
    for (int i = 0; i < items; ++i) {
      if (first + i >= length) break;
      const Item earlier = i > 0 ? S::combine(before, item[i > 0 ? i - 1 : 0]) : before;
      to[(first + i) * to_stride] = S::output(exclusive ? earlier : S::combine(before, item[i]));
    }
  }
}

template <int which, bool alone>
__device__ __forceinline__ void scan_lines(const T* x, void* y, unsigned long long* memory, long long lines,
                                           long long length, long long inner, long long outer_stride,
                                           long long stride, int exclusive, int reverse, int team) {
  using S = Scan<which, T, sum_dtype == SumDtype::f64>;
  const int teams = BLOCK / team;  // of a block
  const long long start =
      static_cast<long long>(blockIdx.x) * teams + threadIdx.x / static_cast<unsigned>(team);
  const long long step = static_cast<long long>(gridDim.x) * teams;
  const long long first = reverse ? length - 1 : 0;  // the element that comes first
  for (long long line = start; line < lines; line += step) {
    const long long outer = line < inner ? 0 : line / inner, column = line - outer * inner;
    const T* const from = x + outer * outer_stride + first * stride + column;
    typename S::Output* const to =
        static_cast<typename S::Output*>(y) + (outer * length + first) * inner + column;
    const long long from_step = reverse ? -stride : stride, to_step = reverse ? -inner : inner;
    if constexpr (alone) {
      scan_alone<S>(from, to, length, from_step, to_step, exclusive);
    } else {
      scan_by_team<S>(from, to, reinterpret_cast<typename S::Item*>(memory), team, length, from_step, to_step,
                      exclusive);
    }
  }
}

// `function` is the position of its word; sums of another type are of sums and products alone.
template <bool alone>
__device__ __forceinline__ void scan_function(const T* x, void* y, unsigned long long* memory,
                                              long long lines, long long length, long long inner,
                                              long long outer_stride, long long stride, int function,
                                              int exclusive, int reverse, int team) {
#define TUNESMITH_SCAN(which)                                                                              \
  if (function == which)                                                                                   \
    scan_lines<which, alone>(x, y, memory, lines, length, inner, outer_stride, stride, exclusive, reverse, \
                             team);
  if constexpr (has_expression) {
    TUNESMITH_SCAN(6)
  } else {
    TUNESMITH_SCAN(0)
    TUNESMITH_SCAN(1)
    if constexpr (sum_dtype == SumDtype::same) {
      TUNESMITH_SCAN(2)
      TUNESMITH_SCAN(3)
      TUNESMITH_SCAN(4)
      TUNESMITH_SCAN(5)
    }
  }
}

// `team`: threads of a line.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(scan_base)(const T* x, void* y, long long lines, long long length, long long inner,
                     long long outer_stride, long long stride, int function, int exclusive, int reverse,
                     int team) {
  __shared__ unsigned long long memory[2 * BLOCK / 32];
  scan_function<false>(x, y, memory, lines, length, inner, outer_stride, stride, function, exclusive, reverse,
                       team);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(scan_base_each)(const T* x, void* y, long long lines, long long length, long long inner,
                          long long outer_stride, long long stride, int function, int exclusive,
                          int reverse) {
  scan_function<true>(x, y, nullptr, lines, length, inner, outer_stride, stride, function, exclusive, reverse,
                      1);
}
