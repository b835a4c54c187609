// SPDX-License-Identifier: Apache-2.0
// The plain kernel of joint_histogram: one thread per pair, which adds the pair's weight to a sum in global
// memory. It tests at run time the properties that tuned kernels compile in, so that few binaries serve every
// problem.

#include "joint_histogram/cells.cuh"

__device__ __forceinline__ unsigned cell_of(T x, T y, bool pairs, bool own_edges, const Grid& grid) {
  const T row[1] = {x};
  const T column[1] = {y};
  unsigned cell[1];
  if (pairs) {
    if (own_edges) {
      cells_of<true, true>(cell, row, column, grid);
    } else {
      cells_of<true, false>(cell, row, column, grid);
    }
  } else if (own_edges) {
    cells_of<false, true>(cell, row, column, grid);
  } else {
    cells_of<false, false>(cell, row, column, grid);
  }
  return cell[0];
}

// `weight_bytes` is 0 without weights, 4 for float, 8 for double.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(joint_histogram_base)(const T* __restrict__ x, const T* __restrict__ y,
                                const void* __restrict__ weights, const double* __restrict__ edges_x,
                                const double* __restrict__ edges_y, double* __restrict__ sums,
                                long long length, long long stride, int bins_x, int bins_y, double lo_x,
                                double step_x, double hi_x, double inverse_x, double addend_x, int window_x,
                                double lo_y, double step_y, double hi_y, double inverse_y, double addend_y,
                                int window_y, int pairs, int own_edges, int weight_bytes) {
  const Grid grid = {{static_cast<unsigned>(bins_x), lo_x, step_x, hi_x, inverse_x, addend_x,
                      static_cast<unsigned>(window_x)},
                     {static_cast<unsigned>(bins_y), lo_y, step_y, hi_y, inverse_y, addend_y,
                      static_cast<unsigned>(window_y)},
                     edges_x,
                     edges_y};
  const long long threads = static_cast<long long>(gridDim.x) * BLOCK;
  for (long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; i < length; i += threads) {
    const T second = pairs != 0 ? y[i * stride] : T(0);
    const unsigned cell = cell_of(x[i * stride], second, pairs != 0, own_edges != 0, grid);
    if (cell == no_cell) continue;
    const double weight = weight_bytes == 0   ? 1.0
                          : weight_bytes == 4 ? static_cast<double>(static_cast<const float*>(weights)[i])
                                              : static_cast<const double*>(weights)[i];
    atomicAdd(sums + cell, weight);
  }
}
