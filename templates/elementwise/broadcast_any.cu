// SPDX-License-Identifier: Apache-2.0
// elementwise for the problems that broadcast.cu serves, by one kernel for every layout: the dimensions along
// which an input moves, and its strides, are known only at launch. A vector of an input is one access if the
// input is as dense as the output (a bit of `dense`), or if its elements are neighbours, within a row and
// aligned. Otherwise it takes VECTOR accesses, whose coordinates carry only at the end of a row.

#include "common/functions.cuh"
#include "common/hinted_access.cuh"
#include "common/overlap.inl"
#include "common/vector.cuh"
#include "elementwise/index.inl"
#include "elementwise/shape.inl"

struct Coordinates {
  Index at[6];  // those from `rank` on are not read
};

__device__ __forceinline__ Coordinates coordinates_of(Index i, const Shape& shape, int rank) {
  Coordinates place = {};
  Index rest = i;
#pragma unroll
  for (int dim = 0; dim < 6; ++dim) {
    if (dim == 5 || dim + 1 == rank) {
      place.at[dim] = rest;
      break;
    }
    const Index outer = divide(rest, shape.extents[dim], shape.divisors[dim]);
    place.at[dim] = rest - outer * shape.extents[dim];
    rest = outer;
  }
  return place;
}

__device__ __forceinline__ void advance(Coordinates& place, const Shape& shape, int rank) {
  ++place.at[0];
#pragma unroll
  for (int dim = 0; dim < 5; ++dim) {
    if (dim + 1 == rank || place.at[dim] != shape.extents[dim]) break;
    place.at[dim] = 0;
    ++place.at[dim + 1];
  }
}

__device__ __forceinline__ Index offset_of(const Coordinates& place, const Index (&strides)[6], int rank) {
  Index offset = place.at[0] * strides[0];
#pragma unroll
  for (int dim = 1; dim < 6; ++dim) {
    if (dim == rank) break;
    offset += place.at[dim] * strides[dim];
  }
  return offset;
}

// There is no hint here because repeated elements should stay in the caches.
__device__ __forceinline__ void load(Vector<T, VECTOR>& loaded, const T* from, Coordinates place,
                                     const Index (&strides)[6], const Shape& shape, int rank) {
  const Index offset = offset_of(place, strides, rank);
  if (place.at[0] + VECTOR > shape.extents[0]) {
    loaded.element[0] = from[offset];
#pragma unroll
    for (int v = 1; v < VECTOR; ++v) {
      advance(place, shape, rank);
      loaded.element[v] = from[offset_of(place, strides, rank)];
    }
  } else if (strides[0] == 1 && offset % VECTOR == 0) {
    loaded = load_vector<VECTOR>(from + offset);
  } else {
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) loaded.element[v] = from[offset + v * strides[0]];
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_THREADS / BLOCK)
    ENTRY(elementwise_broadcast_any)(const T* a, const T* b, const T* c, const T* d, const T* e, const T* f,
                                     T* out, long long elements, int rank, int dense, SIX(extent),
                                     int multiplier0, int shift0, int multiplier1, int shift1,
                                     int multiplier2, int shift2, int multiplier3, int shift3,
                                     int multiplier4, int shift4, SIX(a), SIX(b), SIX(c), SIX(d), SIX(e),
                                     SIX(f)) {
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
  const auto is_dense = [=](int k) { return (dense >> k & 1) != 0; };
  const Index first = static_cast<Index>(blockIdx.x) * (BLOCK * ITEMS * VECTOR) + threadIdx.x * VECTOR;
  const auto at = [=](int item) { return first + item * (BLOCK * VECTOR); };
  const auto is_inside = [=](int item) { return at(item) + VECTOR <= n; };
  Vector<T, VECTOR> loaded[ITEMS][ARITY];
  // Dense inputs are loaded first: they come from DRAM, and nothing waits for them yet.
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    if (!is_inside(item)) continue;
#pragma unroll
    for (int k = 0; k < ARITY; ++k) {
      if (is_dense(k))
        loaded[item][k] =
            load_hinted<load_hint>(reinterpret_cast<const Vector<T, VECTOR>*>(inputs[k] + at(item)));
    }
  }
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    if (!is_inside(item)) continue;
    const Coordinates place = coordinates_of(at(item), shape, rank);
#pragma unroll
    for (int k = 0; k < ARITY; ++k) {
      if (!is_dense(k)) load(loaded[item][k], inputs[k], place, shape.strides[k], shape, rank);
    }
  }
  Compute values[ARITY];
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    if (!is_inside(item)) continue;
    Vector<T, VECTOR> result;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
#pragma unroll
      for (int k = 0; k < ARITY; ++k) values[k] = to_float(loaded[item][k].element[v]);
      result.element[v] = from_float<T>(apply(values));
    }
    store_hinted<store_hint>(reinterpret_cast<Vector<T, VECTOR>*>(out + at(item)), result);
  }
  // The last elements, fewer than VECTOR, fill no vector. Each of the last block's first threads takes one.
  if (VECTOR > 1 && blockIdx.x == gridDim.x - 1) {
    const Index last = n / VECTOR * VECTOR + threadIdx.x;
    if (last < n) {
      const Coordinates place = coordinates_of(last, shape, rank);
#pragma unroll
      for (int k = 0; k < ARITY; ++k)
        values[k] = to_float(inputs[k][offset_of(place, shape.strides[k], rank)]);
      out[last] = from_float<T>(apply(values));
    }
  }
}
