// SPDX-License-Identifier: Apache-2.0
// elementwise for inputs that are as dense as the output or have one element: it needs no coordinates, reads
// vectors directly from memory, and makes all of a thread's loads before it uses the first. SCALARS has a bit
// for each input of one element.

#include "common/functions.cuh"
#include "common/hinted_access.cuh"
#include "common/overlap.inl"
#include "common/vector.cuh"

// The names of LOAD and STORE are in the order of Hint.
constexpr Hint load_hint = static_cast<Hint>(LOAD);
constexpr Hint store_hint = static_cast<Hint>(STORE);
constexpr int tile = BLOCK * ITEMS * VECTOR;  // elements that a block handles at once

// The type of offsets, of 32 or 64 bits. Pointers have 64 bits in any case.
template <int BITS>
struct IndexOf {
  using type = long long;
};
template <>
struct IndexOf<32> {
  using type = unsigned;
};
using Index = typename IndexOf<INDEX>::type;

__device__ __forceinline__ constexpr bool is_scalar(int k) { return (SCALARS >> k & 1) != 0; }

// Computes a thread's elements of a tile, from `first` on.
__device__ __forceinline__ void move(Index first, Index n, const T* const (&inputs)[6],
                                     Compute (&values)[ARITY], T* out) {
  Vector<T, VECTOR> loaded[ARITY][ITEMS];
  const auto at = [=](int item) { return first + item * (BLOCK * VECTOR); };
  const auto is_inside = [=](int item) { return at(item) + VECTOR <= n; };
  const auto load = [&](int item) {
#pragma unroll
    for (int k = 0; k < ARITY; ++k) {
      if (!is_scalar(k))
        loaded[k][item] =
            load_hinted<load_hint>(reinterpret_cast<const Vector<T, VECTOR>*>(inputs[k] + at(item)));
    }
  };
  const auto compute = [&](int item) {
    Vector<T, VECTOR> result;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
#pragma unroll
      for (int k = 0; k < ARITY; ++k) {
        if (!is_scalar(k)) values[k] = to_float(loaded[k][item].element[v]);
      }
      result.element[v] = from_float<T>(apply(values));
    }
    store_hinted<store_hint>(reinterpret_cast<Vector<T, VECTOR>*>(out + at(item)), result);
  };
  if constexpr (ITEMS == 1) {  // one branch
    if (!is_inside(0)) return;
    load(0);
    compute(0);
  } else {
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      if (is_inside(item)) load(item);
    }
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      if (is_inside(item)) compute(item);
    }
  }
}

// Arguments that every problem needs come first: the first 48 bytes of arguments are in a cache line of
// constants that a kernel reads in any case. Another line costs a small problem about 5 % of its time.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_THREADS / BLOCK)
    ENTRY(elementwise_contiguous)(T* out, long long elements, const T* a, const T* b, const T* c, const T* d,
                                  const T* e, const T* f) {
  start();
  const T* const inputs[6] = {a, b, c, d, e, f};
  const Index n = static_cast<Index>(elements);
  Compute values[ARITY];
  // The number that is added is 0, which the compiler does not know. It adds it in the uniform registers, so
  // that ULDC loads the pointer: on an H200, this saves 5 % of a kernel of 1 us, compared with LDC.
#pragma unroll
  for (int k = 0; k < ARITY; ++k) {
    if (is_scalar(k)) {
      const char* const bytes = reinterpret_cast<const char*>(inputs[k]) + (elements >> 63);
      values[k] = to_float(load_now(reinterpret_cast<const T*>(bytes)));
    }
  }
  const auto first_of = [](Index t) { return t * tile + threadIdx.x * VECTOR; };
  if constexpr (TILES == 1) {
    move(first_of(blockIdx.x), n, inputs, values, out);
  } else {
    for (long long t = blockIdx.x; t * tile < elements; t += gridDim.x)
      move(first_of(static_cast<Index>(t)), n, inputs, values, out);
  }
  // The last elements, fewer than VECTOR, fill no vector. Each of the last block's first threads takes one.
  if (VECTOR > 1 && blockIdx.x == gridDim.x - 1) {
    const Index at = n / VECTOR * VECTOR + threadIdx.x;
    if (at < n) {
#pragma unroll
      for (int k = 0; k < ARITY; ++k) {
        if (!is_scalar(k)) values[k] = to_float(inputs[k][at]);
      }
      out[at] = from_float<T>(apply(values));
    }
  }
}
