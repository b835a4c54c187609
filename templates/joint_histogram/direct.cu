// SPDX-License-Identifier: Apache-2.0
// joint_histogram with its sums in global memory, for more cells than shared memory holds.

#include "joint_histogram/loads.inl"

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(joint_histogram_direct)(const T* __restrict__ x, const T* __restrict__ y,
                                  const Weight* __restrict__ w, const double* __restrict__ edges_x,
                                  const double* __restrict__ edges_y, double* __restrict__ sums,
                                  long long length, long long stride, int bins_x, int bins_y, double lo_x,
                                  double step_x, double hi_x, double inverse_x, double addend_x, int window_x,
                                  double lo_y, double step_y, double hi_y, double inverse_y, double addend_y,
                                  int window_y) {
  const Grid grid = {{static_cast<unsigned>(bins_x), lo_x, step_x, hi_x, inverse_x, addend_x,
                      static_cast<unsigned>(window_x)},
                     {static_cast<unsigned>(bins_y), lo_y, step_y, hi_y, inverse_y, addend_y,
                      static_cast<unsigned>(window_y)},
                     edges_x,
                     edges_y};
  const Arrays arrays = {x, y, w, length, stride};
  const long long first = blockIdx.x * per_block;
  Own own;
  load(own, arrays, first);
  add_tiles(own, arrays, first, grid,
            [=](unsigned cell, auto weight) { atomicAdd(sums + cell, static_cast<double>(weight)); });
}
