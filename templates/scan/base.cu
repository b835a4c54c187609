// SPDX-License-Identifier: Apache-2.0
// scan/base, the plain kernels: a thread, a warp or a block per line, or per part of a line where lines are
// few and long. Such a line takes two launches: the first computes the total of each part but the last; the
// second computes the results of each part, behind the totals of the parts before it. Only the types and an
// expression are compiled in.

#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "scan/base_layout.inl"
#include "scan/scan.cuh"
constexpr int items = base_items;

// A part of a line; places are in the order of the scan, whatever the order in memory is.
template <typename S>
struct Part {
  using Item = typename S::Item;
  const T* from;           // the line's first
  typename S::Output* to;  // likewise
  long long from_step, to_step;
  long long begin, end;
  int shift;  // 1: an exclusive scan, in which an element counts from the next place on

  // The number of places from `first` on, at most the 32 * items of a warp.
  __device__ __forceinline__ int left(long long first) const {
    const long long there = end - first;
    return static_cast<int>(there < 0 ? 0 : there < 32 * items ? there : 32 * items);
  }
  // Loads a thread's places, which are `apart` from each other.
  __device__ __forceinline__ void load(long long first, int apart, Item (&item)[items]) const {
    const T* at = from + (first - shift) * from_step;
    const int there = left(first);
#pragma unroll
    for (int i = 0; i < items; ++i) {
      item[i] = i * apart < there && (i > 0 || first >= shift) ? S::item(*at) : S::none();
      at += apart * from_step;
    }
  }
  __device__ __forceinline__ void store(long long first, int apart, const Item (&item)[items],
                                        const Item& before) const {
    typename S::Output* at = to + first * to_step;
    const int there = left(first);
#pragma unroll
    for (int i = 0; i < items; ++i) {
      if (i * apart < there) *at = S::output(S::combine(before, item[i]));
      at += apart * to_step;
    }
  }
};

// Scans a part by one thread. 32 elements are combined before they are added to those before them, and 32 of
// these groups again, so that a sum has fewer roundings behind it. Returns `carried` with all elements of the
// part.
template <typename S>
__device__ __forceinline__ typename S::Item scan_alone(const Part<S>& part, typename S::Item carried,
                                                       bool has_results) {
  using Item = typename S::Item;
  Item near = S::none(), own = S::none();
  for (long long first = part.begin; first < part.end; first += items) {
    Item item[items];
    part.load(first, 1, item);
    if ((first - part.begin) % 32 == 0) {
      near = S::combine(near, own);
      own = S::none();
    }
    if ((first - part.begin) % 1024 == 0) {
      carried = S::combine(carried, near);
      near = S::none();
    }
#pragma unroll
    for (int i = 0; i < items; ++i) item[i] = own = S::combine(own, item[i]);
    if (has_results) part.store(first, 1, item, S::combine(carried, near));
  }
  return S::combine(S::combine(carried, near), own);
}

// Scans a part by a team of `team` threads, a warp or a block. `totals` has a place for each warp. All teams
// of a block go through `length` elements, so that all threads of a warp reach the same line.
template <typename S>
__device__ __forceinline__ typename S::Item scan_by_team(const Part<S>& part, long long length,
                                                         typename S::Item carried, typename S::Item* totals,
                                                         int team, bool has_results) {
  using Item = typename S::Item;
  const int thread = static_cast<int>(threadIdx.x) % team, lane = thread % 32, warp = thread / 32;
  for (long long tile = 0; tile < length; tile += team * items) {
    const long long first = part.begin + tile + warp * 32 * items + lane;
    Item item[items];
    part.load(first, 32, item);
    Item total = S::none();
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const Item up_to = scan_lanes<S, 32>(item[i], lane);
      item[i] = S::combine(total, up_to);
      total = S::combine(total, from_lane(up_to, 31, 32));
    }
    Item before = carried;
    if (team > 32) {
      if (lane == 0) totals[warp] = total;
      __syncthreads();
      const Item of_warps = scan_lanes<S, 32>(lane < team / 32 ? totals[lane] : S::none(), lane);
      __syncthreads();  // the memory is the next tile's
      total = from_lane(of_warps, team / 32 - 1, 32);
      const Item of_others = from_lane(of_warps, warp > 0 ? warp - 1 : 0, 32);
      if (warp > 0) before = S::combine(carried, of_others);
    }
    if (has_results) part.store(first, 32, item, before);
    carried = S::combine(carried, total);
  }
  return carried;
}

// Combines the totals from `first` to `end`, which are `apart` from each other.
template <typename S>
__device__ __forceinline__ typename S::Item fold(const typename S::Item* totals, long long apart, int first,
                                                 int end) {
  typename S::Item all = S::none();
#pragma unroll 4
  for (int n = first; n < end; ++n) all = S::combine(all, totals[n * apart]);
  return all;
}
// These combine `number` totals, 1024 at most, by one thread or by a warp, in groups of up to 32.
template <typename S>
__device__ __forceinline__ typename S::Item fold_alone(const typename S::Item* totals, long long apart,
                                                       int number) {
  typename S::Item all = S::none();
  for (int first = 0; first < number; first += 32)
    all = S::combine(all, fold<S>(totals, apart, first, first + 32 < number ? first + 32 : number));
  return all;
}
template <typename S>
__device__ __forceinline__ typename S::Item fold_by_warp(const typename S::Item* totals, long long apart,
                                                         int number) {
  const int lane = static_cast<int>(threadIdx.x) % 32, each = (number + 31) / 32;
  const int first = lane * each, end = first + each < number ? first + each : number;
  return fold_lanes<S, 32>(fold<S>(totals, apart, first, end), lane);
}

// Parts are numbered so that neighbouring parts belong to neighbouring lines. `team`: threads of a part.
template <int which, bool alone>
__device__ __forceinline__ void scan_parts(const T* x, void* y, void* workspace, unsigned long long* memory,
                                           long long parts, long long lines, long long length,
                                           long long part_length, long long inner, long long outer_stride,
                                           long long stride, int exclusive, int reverse, int has_results,
                                           int team) {
  using S = Scan<which, T, sum_dtype == SumDtype::f64>;
  using Item = typename S::Item;
  const int teams = BLOCK / team;                    // of a block
  const long long front = reverse ? length - 1 : 0;  // the element that comes first
  Item* const totals = static_cast<Item*>(workspace);
  for (long long of_block = static_cast<long long>(blockIdx.x) * teams; of_block < parts;
       of_block += static_cast<long long>(gridDim.x) * teams) {
    const long long number = of_block + threadIdx.x / static_cast<unsigned>(team);
    const bool is_there = number < parts;
    const long long of_line = number < lines || !is_there ? 0 : number / lines;
    const long long line = is_there ? number - of_line * lines : 0;
    const long long outer = line < inner ? 0 : line / inner, column = line - outer * inner;
    const long long begin = of_line * part_length;
    const long long end = begin + part_length < length ? begin + part_length : length;
    const Part<S> part = {x + outer * outer_stride + front * stride + column,
                          static_cast<typename S::Output*>(y) + (outer * length + front) * inner + column,
                          reverse ? -stride : stride,
                          reverse ? -inner : inner,
                          begin,
                          is_there ? end : begin,
                          exclusive};
    Item total = S::none();
    if constexpr (alone) {
      if (has_results) total = fold_alone<S>(totals + line, lines, static_cast<int>(of_line));
      total = scan_alone(part, total, has_results != 0);
    } else {
      if (has_results) total = fold_by_warp<S>(totals + line, lines, static_cast<int>(of_line));
      total = scan_by_team(part, part_length, total, reinterpret_cast<Item*>(memory), team, has_results != 0);
    }
    if (!has_results && is_there && threadIdx.x % static_cast<unsigned>(team) == 0) totals[number] = total;
  }
}

// `function` is the position of its word. Only sums and products have sums of another type.
template <bool alone>
__device__ __forceinline__ void scan_function(const T* x, void* y, void* workspace,
                                              unsigned long long* memory, long long parts, long long lines,
                                              long long length, long long part_length, long long inner,
                                              long long outer_stride, long long stride, int function,
                                              int exclusive, int reverse, int has_results, int team) {
#define TUNESMITH_SCAN(which)                                                                   \
  if (function == which)                                                                        \
    scan_parts<which, alone>(x, y, workspace, memory, parts, lines, length, part_length, inner, \
                             outer_stride, stride, exclusive, reverse, has_results, team);
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

// `parts`: the parts of all lines together. The workspace has their totals, which a launch without results
// writes.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(scan_base)(const T* x, void* y, void* workspace, long long parts, long long lines, long long length,
                     long long part_length, long long inner, long long outer_stride, long long stride,
                     int function, int exclusive, int reverse, int has_results, int team) {
  __shared__ unsigned long long memory[2 * BLOCK / 32];
  scan_function<false>(x, y, workspace, memory, parts, lines, length, part_length, inner, outer_stride,
                       stride, function, exclusive, reverse, has_results, team);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(scan_base_each)(const T* x, void* y, void* workspace, long long parts, long long lines,
                          long long length, long long part_length, long long inner, long long outer_stride,
                          long long stride, int function, int exclusive, int reverse, int has_results) {
  scan_function<true>(x, y, workspace, nullptr, parts, lines, length, part_length, inner, outer_stride,
                      stride, function, exclusive, reverse, has_results, 1);
}
