// SPDX-License-Identifier: Apache-2.0
// elementwise for inputs that are repeated along dimensions or have gaps between their elements. Neighbouring
// dimensions are merged if every input allows it; RANK dimensions are left, and dimension 0 is the innermost.
// The output is walked as one row of vectors. A vector's coordinates come from divisions, which are
// multiplications if indices have 32 bits. The bits of INPUT_A to INPUT_F mean: 0 to 5, the input moves along
// that dimension; 6, its elements are neighbours along dimension 0; 7, it is as dense as the output.

#include "common/functions.cuh"
#include "common/hinted_access.cuh"
#include "common/overlap.inl"
#include "common/vector.cuh"
#include "elementwise/index.inl"

__device__ __forceinline__ constexpr int layout(int k) {
  return k == 0   ? INPUT_A
         : k == 1 ? INPUT_B
         : k == 2 ? INPUT_C
         : k == 3 ? INPUT_D
         : k == 4 ? INPUT_E
                  : INPUT_F;
}
__device__ __forceinline__ constexpr bool moves(int k, int dim) { return (layout(k) >> dim & 1) != 0; }
__device__ __forceinline__ constexpr bool is_scalar(int k) { return (layout(k) & 63) == 0; }
__device__ __forceinline__ constexpr bool is_neighbouring(int k) { return (layout(k) >> 6 & 1) != 0; }
__device__ __forceinline__ constexpr bool is_dense(int k) { return (layout(k) >> 7 & 1) != 0; }

constexpr bool in_row = VECTOR_IN == VectorIn::row;  // a vector never crosses the end of a row

#include "elementwise/shape.inl"

struct Coordinates {
  Index at[RANK];
};

__device__ __forceinline__ Coordinates coordinates_of(Index i, const Shape& shape) {
  Coordinates place;
  Index rest = i;
#pragma unroll
  for (int dim = 0; dim < RANK; ++dim) {
    if (dim == RANK - 1) {
      place.at[dim] = rest;
    } else {
      const Index outer = divide(rest, shape.extents[dim], shape.divisors[dim]);
      place.at[dim] = rest - outer * shape.extents[dim];
      rest = outer;
    }
  }
  return place;
}

__device__ __forceinline__ void advance(Coordinates& place, const Shape& shape) {
  ++place.at[0];
#pragma unroll
  for (int dim = 0; dim + 1 < RANK; ++dim) {
    if (place.at[dim] == shape.extents[dim]) {
      place.at[dim] = 0;
      ++place.at[dim + 1];
    }
  }
}

__device__ __forceinline__ Index offset_of(int k, const Coordinates& place, const Shape& shape) {
  Index offset = 0;
#pragma unroll
  for (int dim = 0; dim < RANK; ++dim) {
    if (moves(k, dim))
      offset += dim == 0 && is_neighbouring(k) ? place.at[0] : place.at[dim] * shape.strides[k][dim];
  }
  return offset;
}

struct Loaded {
  Vector<T, VECTOR> input[ARITY];
};

__device__ __forceinline__ void load(Loaded& loaded, Index at, const T* const (&inputs)[6],
                                     const Shape& shape) {
  Coordinates place = coordinates_of(at, shape);
#pragma unroll
  for (int k = 0; k < ARITY; ++k) {
    if (is_scalar(k)) continue;
    if (is_dense(k)) {
      loaded.input[k] = load_hinted<load_hint>(reinterpret_cast<const Vector<T, VECTOR>*>(inputs[k] + at));
    } else if (in_row) {
      // There is no hint here because repeated elements should stay in the caches.
      const T* from = inputs[k] + offset_of(k, place, shape);
      if (is_neighbouring(k)) {
        loaded.input[k] = load_vector<VECTOR>(from);
      } else {
        loaded.input[k].element[0] = *from;
#pragma unroll
        for (int v = 1; v < VECTOR; ++v)
          loaded.input[k].element[v] =
              moves(k, 0) ? from[v * shape.strides[k][0]] : loaded.input[k].element[0];
      }
    }
  }
  if (in_row) return;
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) {
#pragma unroll
    for (int k = 0; k < ARITY; ++k) {
      if (!is_scalar(k) && !is_dense(k)) loaded.input[k].element[v] = inputs[k][offset_of(k, place, shape)];
    }
    if (v + 1 < VECTOR) advance(place, shape);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_THREADS / BLOCK)
    ENTRY(elementwise_broadcast)(const T* a, const T* b, const T* c, const T* d, const T* e, const T* f,
                                 T* out, long long elements, SIX(extent), int multiplier0, int shift0,
                                 int multiplier1, int shift1, int multiplier2, int shift2, int multiplier3,
                                 int shift3, int multiplier4, int shift4, SIX(a), SIX(b), SIX(c), SIX(d),
                                 SIX(e), SIX(f)) {
  start();
  const T* const inputs[6] = {a, b, c, d, e, f};
  const Shape shape = {SIX_VALUES(Index, extent),
                       {SIX_VALUES(Index, a), SIX_VALUES(Index, b), SIX_VALUES(Index, c),
                        SIX_VALUES(Index, d), SIX_VALUES(Index, e), SIX_VALUES(Index, f)},
                       {{static_cast<unsigned>(multiplier0), shift0},
                        {static_cast<unsigned>(multiplier1), shift1},
                        {static_cast<unsigned>(multiplier2), shift2},
                        {static_cast<unsigned>(multiplier3), shift3},
                        {static_cast<unsigned>(multiplier4), shift4}}};
  const Index n = static_cast<Index>(elements);
  Compute values[ARITY];
#pragma unroll
  for (int k = 0; k < ARITY; ++k) {
    if (is_scalar(k)) values[k] = to_float(*inputs[k]);
  }
  const Index first = static_cast<Index>(blockIdx.x) * (BLOCK * ITEMS * VECTOR) + threadIdx.x * VECTOR;
  Loaded loaded[ITEMS];
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const Index at = first + item * (BLOCK * VECTOR);
    if (at + VECTOR <= n) load(loaded[item], at, inputs, shape);
  }
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const Index at = first + item * (BLOCK * VECTOR);
    if (at + VECTOR <= n) {
      Vector<T, VECTOR> result;
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) {
#pragma unroll
        for (int k = 0; k < ARITY; ++k) {
          if (!is_scalar(k)) values[k] = to_float(loaded[item].input[k].element[v]);
        }
        result.element[v] = from_float<T>(apply(values));
      }
      store_hinted<store_hint>(reinterpret_cast<Vector<T, VECTOR>*>(out + at), result);
    }
  }
  // The last elements, fewer than VECTOR, fill no vector. Each of the last block's first threads takes one.
  if (VECTOR > 1 && blockIdx.x == gridDim.x - 1) {
    const Index at = n / VECTOR * VECTOR + threadIdx.x;
    if (at < n) {
      const Coordinates place = coordinates_of(at, shape);
#pragma unroll
      for (int k = 0; k < ARITY; ++k) {
        if (!is_scalar(k)) values[k] = to_float(inputs[k][offset_of(k, place, shape)]);
      }
      out[at] = from_float<T>(apply(values));
    }
  }
}
