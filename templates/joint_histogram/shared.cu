// SPDX-License-Identifier: Apache-2.0
// joint_histogram with its sums in shared memory, in copies, each for some lanes of every warp. At its end, a
// block adds them to the output. With FINISH=arrivals, for counts, it adds them to words of the workspace
// that also count the blocks; the last block of a word moves it to the output, so that one launch is enough.

#include "common/overlap.inl"
#include "common/shared.cuh"
#include "joint_histogram/loads.inl"

template <bool WEIGHTED>
struct SumOf {
  using Type = unsigned;
};
template <>
struct SumOf<true> {
  using Type = double;
};
using Sum = SumOf<has_weights>::Type;

constexpr bool by_arrivals = FINISH == Finish::arrivals;
static_assert(!by_arrivals || !has_weights, "a sum has no bits for the number of blocks");
constexpr int count_bits = 48;  // of a word in the workspace, below the number of blocks

__device__ __forceinline__ void empty(Sum* sum, unsigned number) {
  for (unsigned i = threadIdx.x; i < number; i += BLOCK) sum[i] = 0;
}

// Adds a block's total of a cell. Each block calls this once for each cell.
__device__ __forceinline__ void finish(unsigned cell, Sum total, double* sums, unsigned long long* kept) {
  if (gridDim.x == 1) {
    sums[cell] = static_cast<double>(total);
  } else if constexpr (by_arrivals) {
    const unsigned long long before = atomicAdd(kept + cell, (1ull << count_bits) + total);
    if (before >> count_bits != gridDim.x - 1) return;
    sums[cell] = static_cast<double>((before & ((1ull << count_bits) - 1)) + total);
    kept[cell] = 0;
  } else {
    // This test is true for a NaN too.
    if (total != 0) atomicAdd(sums + cell, static_cast<double>(total));
  }
}

// `kept` (FINISH=arrivals) has a word for each cell, zero before and after the launch. Every block has a
// tile, and at most 2^31 elements.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(joint_histogram_shared)(InputPointer<T> x, InputPointer<T> y, InputPointer<Weight> w,
                                  InputPointer<double> edges_x, InputPointer<double> edges_y,
                                  double* __restrict__ sums, long long length, long long stride, int bins_x,
                                  int bins_y, double lo_x, double step_x, double hi_x, double inverse_x,
                                  double addend_x, int window_x, double lo_y, double step_y, double hi_y,
                                  double inverse_y, double addend_y, int window_y,
                                  InOutPointer<unsigned long long> kept) {
  DYNAMIC_SHARED(double, memory);
  const auto rows = static_cast<unsigned>(bins_x);
  const auto columns = static_cast<unsigned>(bins_y);
  const unsigned cells = rows * columns;
  double* const own_x = memory;  // the edges first, which are doubles
  double* const own_y = own_x + (own_edges ? rows + 1 : 0);
  Sum* const sum = reinterpret_cast<Sum*>(own_y + (own_edges && has_pairs ? columns + 1 : 0));
  const Grid grid = {{rows, lo_x, step_x, hi_x, inverse_x, addend_x, static_cast<unsigned>(window_x)},
                     {columns, lo_y, step_y, hi_y, inverse_y, addend_y, static_cast<unsigned>(window_y)},
                     own_x,
                     own_y};
  const Arrays arrays = {x, y, w, length, stride};
  const long long first = blockIdx.x * per_block;
  Own own;
  if constexpr (overlapped) empty(sum, cells * COPIES);
  wait_for_previous();
  load(own, arrays, first);
  if constexpr (own_edges) {
    for (unsigned i = threadIdx.x; i <= rows; i += BLOCK) own_x[i] = edges_x[i];
    if constexpr (has_pairs) {
      for (unsigned i = threadIdx.x; i <= columns; i += BLOCK) own_y[i] = edges_y[i];
    }
  }
  if constexpr (!overlapped) empty(sum, cells * COPIES);  // while the elements come
  __syncthreads();

  Sum* const mine = sum + threadIdx.x % COPIES;
  add_tiles(own, arrays, first, grid,
            [=](unsigned cell, auto weight) { atomicAdd(mine + cell * COPIES, static_cast<Sum>(weight)); });
  let_next_start();
  __syncthreads();

#pragma unroll 1
  for (unsigned cell = threadIdx.x; cell < cells; cell += BLOCK) {
    Sum total = 0;
#pragma unroll
    for (unsigned copy = 0; copy < COPIES; ++copy)  // in an order that keeps a warp's banks apart
      total += sum[cell * COPIES + (copy + cell * COPIES / 32) % COPIES];
    finish(cell, total, sums, kept);
  }
}
