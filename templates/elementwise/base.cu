// SPDX-License-Identifier: Apache-2.0
// The plain kernel of elementwise, with the loop of the original Numba kernel: threads walk the output in
// strides of the grid, one element at a time. The dimensions are arguments, so it serves every problem of its
// function and dtype.

#include "common/functions.cuh"

// A value for each dimension: its extent, or an input's stride. Dimension 0 is the innermost. Values from
// `rank` on are not read.
#define SIX(name)                                                                                \
  long long name##0, long long name##1, long long name##2, long long name##3, long long name##4, \
      long long name##5
#define SIX_VALUES(name) \
  { name##0, name##1, name##2, name##3, name##4, name##5 }

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(elementwise_base)(const T* a, const T* b, const T* c, const T* d, const T* e, const T* f, T* out,
                            long long elements, int rank, SIX(extent), SIX(a), SIX(b), SIX(c), SIX(d), SIX(e),
                            SIX(f)) {
  const T* const inputs[6] = {a, b, c, d, e, f};
  const long long extents[6] = SIX_VALUES(extent);
  const long long strides[6][6] = {SIX_VALUES(a), SIX_VALUES(b), SIX_VALUES(c),
                                   SIX_VALUES(d), SIX_VALUES(e), SIX_VALUES(f)};
  const long long step = static_cast<long long>(gridDim.x) * BLOCK;
  for (long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; i < elements; i += step) {
    long long offsets[ARITY] = {};
    long long rest = i;
#pragma unroll
    for (int dim = 0; dim < 6; ++dim) {
      if (dim >= rank) break;
      const bool last = dim == 5 || dim + 1 == rank;
      const long long outer = last ? 0 : rest / extents[dim];
      const long long at = rest - outer * extents[dim];
#pragma unroll
      for (int k = 0; k < ARITY; ++k) offsets[k] += at * strides[k][dim];
      rest = outer;
    }
    Compute values[ARITY];
#pragma unroll
    for (int k = 0; k < ARITY; ++k) values[k] = to_float(inputs[k][offsets[k]]);
    out[i] = from_float<T>(apply(values));
  }
}
