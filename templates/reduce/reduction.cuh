// SPDX-License-Identifier: Apache-2.0
// The pieces of a reduction: the accumulated values and their types, a thread's tile, the trees of a team and
// of a block, and how blocks pass on their partials. This file has no kernel.
//
// A floating-point sum is as accurate for any length: a thread's few elements of a tile are added in their
// own type, as a balanced tree, and the sums of tiles in a type with twice the digits.
#pragma once

#include "common/counter.cuh"
#include "common/load_once.cuh"
#include "common/number_type.cuh"
#include "common/ordered.cuh"
#include "common/vector.cuh"

// A sum, and the part that its roundings lost.
struct Compensated {
  double high;
  double low;
};

__device__ __forceinline__ int plus(int a, int b) { return a + b; }  // of a tile's narrow integers
__device__ __forceinline__ float plus(float a, float b) { return a + b; }
__device__ __forceinline__ double plus(double a, double b) { return a + b; }
__device__ __forceinline__ long long plus(long long a, long long b) {  // wraps
  return static_cast<long long>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
}
__device__ __forceinline__ Compensated plus(Compensated a, Compensated b) {
  const double sum = a.high + b.high;  // Knuth's TwoSum
  const double part = sum - a.high;
  const double lost = (a.high - (sum - part)) + (b.high - part);
  return {sum, a.low + b.low + lost};
}

// A tile's sum in the type in which sums of tiles are added.
__device__ __forceinline__ double widened(float x) { return x; }
__device__ __forceinline__ Compensated widened(double x) { return {x, 0.0}; }
__device__ __forceinline__ long long widened(int x) { return x; }
__device__ __forceinline__ long long widened(long long x) { return x; }

// The accumulated value as one number.
template <typename Number>
__device__ __forceinline__ Number settled(Number x) {
  return x;
}
__device__ __forceinline__ double settled(Compensated x) {
  // For an infinity or a NaN the losses have no meaning.
  return x.high - x.high == 0.0 ? x.high + x.low : x.high;
}

template <typename ElementType, typename ItemType, typename PartialType, typename OutputType, bool divides>
struct SumReduction {
  using Element = ElementType;
  using Item = ItemType;        // within a tile
  using Partial = PartialType;  // of tiles, threads and blocks
  using Output = OutputType;
  static __device__ __forceinline__ Item none() { return 0; }
  static __device__ __forceinline__ Item item(Element x) { return static_cast<Item>(x); }
  static __device__ __forceinline__ Item merge(Item a, Item b) { return plus(a, b); }
  static __device__ __forceinline__ Partial lift(Item x) { return widened(x); }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) { return plus(a, b); }
  template <typename Number>
  static __device__ __forceinline__ Output output(Number total, long long count) {
    if constexpr (divides) {
      return static_cast<Output>(static_cast<double>(total) / static_cast<double>(count));
    } else {
      return static_cast<Output>(total);
    }
  }
};

// NaN wins, as in NumPy.
template <bool greatest, typename Number>
__device__ __forceinline__ Number extreme(Number a, Number b) {
  return (greatest ? a > b : a < b) || a != a ? a : b;
}
template <bool greatest>
__device__ __forceinline__ float extreme(float a, float b) {
  return greatest ? maximum(a, b) : minimum(a, b);
}

// The least value of each type; minus infinity for floating-point types.
__device__ __forceinline__ void least(float& x) { x = __int_as_float(static_cast<int>(0xff800000u)); }
__device__ __forceinline__ void least(double& x) {
  x = __longlong_as_double(static_cast<long long>(0xfff0000000000000ull));
}
__device__ __forceinline__ void least(int& x) { x = -2147483647 - 1; }
__device__ __forceinline__ void least(long long& x) { x = -9223372036854775807ll - 1; }
__device__ __forceinline__ float opposite(float x) { return -x; }
__device__ __forceinline__ double opposite(double x) { return -x; }
__device__ __forceinline__ int opposite(int x) { return ~x; }
__device__ __forceinline__ long long opposite(long long x) { return ~x; }

template <typename Number, bool greatest>
struct ExtremeReduction {
  using Element = Number;
  using Item = Number;
  using Partial = Number;
  using Output = Number;
  static __device__ __forceinline__ Item none() {
    Number x;
    least(x);
    return greatest ? x : opposite(x);
  }
  static __device__ __forceinline__ Item item(Element x) { return x; }
  static __device__ __forceinline__ Item merge(Item a, Item b) { return extreme<greatest>(a, b); }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) { return extreme<greatest>(a, b); }
  static __device__ __forceinline__ Output output(Partial total, long long) { return total; }
};

// The reductions by the position of the function's word: sum, min, max, mean.
template <int function, typename T>
struct Reduction;
template <>
struct Reduction<0, float> : SumReduction<float, float, double, float, false> {};
template <>
struct Reduction<0, double> : SumReduction<double, double, Compensated, double, false> {};
template <>
struct Reduction<0, int> : SumReduction<int, long long, long long, long long, false> {};
template <>
struct Reduction<0, long long> : SumReduction<long long, long long, long long, long long, false> {};
template <typename T>
struct Reduction<1, T> : ExtremeReduction<T, false> {};
template <typename T>
struct Reduction<2, T> : ExtremeReduction<T, true> {};
template <>
struct Reduction<3, float> : SumReduction<float, float, double, float, true> {};
template <>
struct Reduction<3, double> : SumReduction<double, double, Compensated, double, true> {};
template <>
struct Reduction<3, int> : SumReduction<int, long long, long long, double, true> {};
template <>
struct Reduction<3, long long> : SumReduction<long long, double, Compensated, double, true> {};

template <typename R>
__device__ __forceinline__ typename R::Partial nothing() {
  return R::lift(R::none());
}

// ---- a tile

template <typename R, int N>
__device__ __forceinline__ typename R::Item tree(const typename R::Item* items) {
  if constexpr (N == 1) {
    return items[0];
  } else {
    return R::merge(tree<R, N / 2>(items), tree<R, N / 2>(items + N / 2));
  }
}

// The places of a thread's elements in the line: runs of RUN neighbours, STEP from one run to the next.
template <int RUN, int STEP>
struct Places {
  long long first;
  __device__ __forceinline__ long long of(int k) const { return first + k / RUN * STEP + k % RUN; }
  // The place in a line of fewer than 2^32 elements.
  __device__ __forceinline__ unsigned short_of(int k) const {
    return static_cast<unsigned>(first) + static_cast<unsigned>(k / RUN * STEP + k % RUN);
  }
};

// A tile: ITEMS vectors for each of THREADS threads; a thread's vectors are THREADS vectors apart.
template <typename R, int THREADS, int ITEMS, int VECTOR, int HINT>
struct Tile {
  using Element = typename R::Element;
  using Item = typename R::Item;
  static constexpr int elements = THREADS * ITEMS * VECTOR;
  static constexpr int own = ITEMS * VECTOR;  // elements of a thread

  Vector<Element, VECTOR> vector[ITEMS];

  __device__ __forceinline__ void load(const Element* from, int thread) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
      vector[i] = load_once<HINT, VECTOR>(from + (i * THREADS + thread) * VECTOR);
  }

  __device__ __forceinline__ typename R::Partial total() const {
    Item items[ITEMS * VECTOR];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) items[i * VECTOR + v] = R::item(vector[i].element[v]);
    }
    return R::lift(tree<R, ITEMS * VECTOR>(items));
  }

  // The total of an incomplete tile of `count` elements, fewer than `elements`.
  static __device__ __forceinline__ typename R::Partial total_of(const Element* from, int thread, int count) {
    Item items[ITEMS * VECTOR];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int at = (i * THREADS + thread) * VECTOR;
      const bool inside = at + VECTOR <= count;
      Vector<Element, VECTOR> one = {};
      if (inside) one = load_once<HINT, VECTOR>(from + at);
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) items[i * VECTOR + v] = inside ? R::item(one.element[v]) : R::none();
    }
    typename R::Partial total = R::lift(tree<R, ITEMS * VECTOR>(items));
    if constexpr (VECTOR > 1) {  // the rest, less than a vector
      for (int at = count / VECTOR * VECTOR + thread; at < count; at += THREADS)
        total = R::combine(total, R::lift(R::item(from[at])));
    }
    return total;
  }

  // For any reduction:

  template <bool all>
  static __device__ __forceinline__ void add_vectors(typename R::Partial& total,
                                                     const Vector<Element, VECTOR> (&vector)[ITEMS],
                                                     int there, long long first, int thread,
                                                     typename R::Shift shift) {
    Element x[own];
#pragma unroll
    for (int k = 0; k < own; ++k) x[k] = vector[k / VECTOR].element[k % VECTOR];
    using Where = Places<VECTOR, THREADS * VECTOR>;
    R::template add<own, all>(total, x, there, Where{first + thread * VECTOR}, shift);
  }

  // Adds the tile to a total; its elements begin at place `first` of the line.
  __device__ __forceinline__ void add_to(typename R::Partial& total, long long first, int thread,
                                         typename R::Shift shift) const {
    add_vectors<true>(total, vector, own, first, thread, shift);
  }

  // Adds an incomplete tile of `count` elements, fewer than `elements`.
  static __device__ __forceinline__ void add_part(typename R::Partial& total, const Element* from,
                                                  long long first, int thread, int count,
                                                  typename R::Shift shift) {
    Vector<Element, VECTOR> vector[ITEMS];
    int there = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int at = (i * THREADS + thread) * VECTOR;
      vector[i] = {};
      if (at + VECTOR <= count) {
        vector[i] = load_once<HINT, VECTOR>(from + at);
        there = (i + 1) * VECTOR;
      }
    }
    add_vectors<false>(total, vector, there, first, thread, shift);
    if constexpr (VECTOR > 1) {  // the rest, less than a vector
      for (int at = count / VECTOR * VECTOR + thread; at < count; at += THREADS) {
        const Element one[1] = {from[at]};
        R::template add<1, true>(total, one, 1, Places<1, 1>{first + at}, shift);
      }
    }
  }
};

// ---- threads of a block

template <typename Number>
__device__ __forceinline__ Number shuffle_down(Number x, int by, int width) {
  return __shfl_down_sync(0xffffffffu, x, by, width);
}
__device__ __forceinline__ Compensated shuffle_down(Compensated x, int by, int width) {
  return {shuffle_down(x.high, by, width), shuffle_down(x.low, by, width)};
}

// Returns to the first of each WIDTH lanes their total; WIDTH is a power of two, up to a warp.
template <typename R, int WIDTH>
__device__ __forceinline__ typename R::Partial lanes_total(typename R::Partial partial) {
#pragma unroll
  for (int by = WIDTH / 2; by > 0; by /= 2) partial = R::combine(partial, shuffle_down(partial, by, WIDTH));
  return partial;
}

// Returns to the first of each TEAM threads their total; TEAM is a power of two, and so is the block. Needs
// shared memory for one partial per warp, which is free again after the block's next barrier.
template <typename R, int TEAM>
__device__ __forceinline__ typename R::Partial team_total(typename R::Partial partial,
                                                          typename R::Partial* shared) {
  if constexpr (TEAM <= 32) {
    return lanes_total<R, TEAM>(partial);
  } else {
    const int thread = static_cast<int>(threadIdx.x);
    partial = lanes_total<R, 32>(partial);
    if (thread % 32 == 0) shared[thread / 32] = partial;
    __syncthreads();
    if (thread % TEAM < 32) {
      constexpr int warps = TEAM / 32;
      partial = shared[thread / TEAM * warps + thread % warps];
      partial = lanes_total<R, warps>(partial);
    }
    return partial;
  }
}

// Returns the total to the first of a block's BLOCK threads, all through shared memory: one partial per
// thread.
template <typename R, int BLOCK>
__device__ __forceinline__ typename R::Partial shared_total(typename R::Partial partial,
                                                            typename R::Partial* shared) {
  const int thread = static_cast<int>(threadIdx.x);
  shared[thread] = partial;
  __syncthreads();
#pragma unroll
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (thread < half) shared[thread] = R::combine(shared[thread], shared[thread + half]);
    __syncthreads();
  }
  return shared[0];
}

// ---- blocks

__device__ __forceinline__ void add_atomically(int* to, int x) { atomicAdd(to, x); }
__device__ __forceinline__ void add_atomically(float* to, float x) { atomicAdd(to, x); }
__device__ __forceinline__ void add_atomically(double* to, double x) { atomicAdd(to, x); }
__device__ __forceinline__ void add_atomically(long long* to, long long x) {
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(x));
}

template <typename Other>
__device__ __forceinline__ void add_atomically(Other*, Other) {}  // never called: it is of no sum

// A partial sent from one block to another without a fence: each 64-bit word holds 32 bits of it and a 1
// above them, so that a word is zero until it has arrived. The words of one partial are `stride` words apart.
template <typename Partial>
struct Mail {
  static constexpr int words = sizeof(Partial) / 4;

  static __device__ __forceinline__ void post(unsigned long long* slot, unsigned stride,
                                              const Partial& partial) {
    unsigned halves[words];
    memcpy(halves, &partial, sizeof(Partial));
    volatile unsigned long long* const to = slot;
#pragma unroll
    for (int w = 0; w < words; ++w) to[w * stride] = 1ull << 32 | halves[w];
  }

  // Waits for the partial, and leaves the words zero.
  static __device__ __forceinline__ Partial fetch(unsigned long long* slot, unsigned stride) {
    unsigned halves[words];
    volatile unsigned long long* const from = slot;
    bool arrived;
    do {
      arrived = true;
#pragma unroll
      for (int w = 0; w < words; ++w) {
        const unsigned long long word = from[w * stride];
        halves[w] = static_cast<unsigned>(word);
        arrived = arrived && word != 0;
      }
    } while (!arrived);
#pragma unroll
    for (int w = 0; w < words; ++w) from[w * stride] = 0;
    Partial partial;
    memcpy(&partial, halves, sizeof(Partial));
    return partial;
  }
};
