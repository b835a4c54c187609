// SPDX-License-Identifier: Apache-2.0
// Loads values, pairs and weights of a block's threads. Needs T, values, edges, weights, CONTIGUOUS, BLOCK,
// ITEMS, VECTOR and LOAD.

#include "histogram/elements.cuh"
#include "joint_histogram/cells.cuh"

constexpr bool has_pairs = values == Values::pairs;
constexpr bool has_weights = weights != Weights::none;
constexpr bool own_edges = edges == Edges::given;

template <bool SINGLE>
struct WeightOf {
  using Type = double;
};
template <>
struct WeightOf<true> {
  using Type = float;
};
using Weight = WeightOf<weights == Weights::f32>::Type;

constexpr int per_thread = ITEMS * VECTOR;  // elements of a tile
constexpr long long per_block = static_cast<long long>(BLOCK) * per_thread;

struct Arrays {
  const T* x;
  const T* y;
  const Weight* weights;
  long long length, stride;
};

// A thread's part of a tile. Vectors that reach beyond the last element are missing.
struct Own {
  T x[ITEMS][VECTOR];
  T y[ITEMS][VECTOR];
  Weight weight[ITEMS][VECTOR];
  bool is_there[ITEMS];
};

__device__ __forceinline__ void load(Own& own, const Arrays& arrays, long long first) {
  constexpr Hint hint = static_cast<Hint>(LOAD);
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const long long at = first + (static_cast<long long>(item) * BLOCK + threadIdx.x) * VECTOR;
    own.is_there[item] =
        load_elements<hint, CONTIGUOUS != 0>(own.x[item], arrays.x, at, arrays.length, arrays.stride);
    if constexpr (has_pairs)
      load_elements<hint, CONTIGUOUS != 0>(own.y[item], arrays.y, at, arrays.length, arrays.stride);
    if constexpr (has_weights)
      load_elements<hint, true>(own.weight[item], arrays.weights, at, arrays.length, 1);
  }
}

// Calls add(cell, weight) for each value or pair in the grid. The weight is 1 if there are no weights.
template <int N, typename Add>
__device__ __forceinline__ void add_each(const T (&x)[N], const T (&y)[N], const Weight (&weight)[N],
                                         const Grid& grid, const Add& add) {
  unsigned cell[N];
  cells_of<has_pairs, own_edges>(cell, x, y, grid);
#pragma unroll
  for (int e = 0; e < N; ++e) {
    if (cell[e] == no_cell) continue;
    if constexpr (has_weights) {
      add(cell[e], static_cast<double>(weight[e]));
    } else {
      add(cell[e], 1u);
    }
  }
}

// Adds this thread's parts of all its tiles. The first tile is already loaded.
template <typename Add>
__device__ __forceinline__ void add_tiles(Own& own, const Arrays& arrays, long long first, const Grid& grid,
                                          const Add& add) {
  while (true) {
#pragma unroll
    for (int item = 0; item < ITEMS; ++item)
      if (own.is_there[item]) add_each(own.x[item], own.y[item], own.weight[item], grid, add);
    first += gridDim.x * per_block;
    if (first >= arrays.length) break;
    load(own, arrays, first);
  }
  if constexpr (VECTOR > 1) {  // the last elements, less than a vector
    const auto rest = static_cast<unsigned>(arrays.length % VECTOR);
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x < rest) {
      const long long at = arrays.length - rest + threadIdx.x;
      const T x[1] = {arrays.x[at]};
      const T y[1] = {has_pairs ? arrays.y[at] : T(0)};
      const Weight weight[1] = {has_weights ? arrays.weights[at] : Weight(0)};
      add_each(x, y, weight, grid, add);
    }
  }
}
