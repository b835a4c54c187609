// SPDX-License-Identifier: Apache-2.0
// Finds the cell of a grid of bins that holds a value or a pair. Bins have equal width (histogram/bins.cuh)
// or lie between given edges.
#pragma once

#include "histogram/bins.cuh"

struct Grid {
  Bins x, y;
  const double* edges_x;
  const double* edges_y;
};

constexpr unsigned no_cell = 0xffffffffu;

// The index of the last of the ascending `edges`, without the uppermost one, that is not above the value;
// `bins` for values outside and for NaN. All elements take each step of the search together, so that their
// reads overlap.
template <typename E, int N>
__device__ __forceinline__ void bins_between(unsigned (&bin)[N], const E (&element)[N], const double* edges,
                                             unsigned bins) {
#pragma unroll
  for (int e = 0; e < N; ++e) bin[e] = 0;
#pragma unroll 1
  for (unsigned step = bins > 1 ? 1u << (31 - __clz(static_cast<int>(bins - 1))) : 0; step > 0; step /= 2) {
#pragma unroll
    for (int e = 0; e < N; ++e) {
      const unsigned next = bin[e] + step;
      if (next < bins && edges[next] <= static_cast<double>(element[e])) bin[e] = next;
    }
  }
#pragma unroll
  for (int e = 0; e < N; ++e) {
    const auto value = static_cast<double>(element[e]);
    if (!(value >= edges[0] && value <= edges[bins])) bin[e] = bins;
  }
}

// numpy.histogram compares floats with edges rounded to float, numpy.histogram2d with edges in double.
template <bool PAIRS, bool OWN_EDGES, typename E, int N>
__device__ __forceinline__ void places_of(unsigned (&bin)[N], const E (&element)[N], const Bins& bins,
                                          const double* edges) {
  if constexpr (OWN_EDGES) {
    bins_between(bin, element, edges, bins.count);
  } else if constexpr (PAIRS) {
    double value[N];
#pragma unroll
    for (int e = 0; e < N; ++e) value[e] = static_cast<double>(element[e]);
    bins_of<false>(bin, value, bins);
  } else {
    bins_of<false>(bin, element, bins);
  }
}

// The cells of N values or pairs. Without PAIRS there is no `y`, which counts as one bin.
template <bool PAIRS, bool OWN_EDGES, typename E, int N>
__device__ __forceinline__ void cells_of(unsigned (&cell)[N], const E (&x)[N], const E (&y)[N],
                                         const Grid& grid) {
  places_of<PAIRS, OWN_EDGES>(cell, x, grid.x, grid.edges_x);
  if constexpr (PAIRS) {
    unsigned column[N];
    places_of<PAIRS, OWN_EDGES>(column, y, grid.y, grid.edges_y);
#pragma unroll
    for (int e = 0; e < N; ++e)
      cell[e] =
          cell[e] < grid.x.count && column[e] < grid.y.count ? cell[e] * grid.y.count + column[e] : no_cell;
  } else {
#pragma unroll
    for (int e = 0; e < N; ++e)
      if (cell[e] >= grid.x.count) cell[e] = no_cell;
  }
}
