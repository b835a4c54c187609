// SPDX-License-Identifier: Apache-2.0
// scan's functions, and how the threads of a warp scan the elements of a tile. This file has no kernel.
#pragma once

#include "common/functions.cuh"
#include "common/hinted_access.cuh"
#include "common/number_type.cuh"
#include "common/vector.cuh"

// The type in which sums and products of numbers are computed; integers wrap.
template <typename Number>
struct WideNumber {
  using Type = Number;
};
template <>
struct WideNumber<int> {
  using Type = long long;
};
template <typename T, bool wide>
struct WideType {
  using Type = double;
};
template <typename T>
struct WideType<T, false> : WideNumber<NumberOf<T>> {};
// The type in which sums and products of T are stored.
template <typename T, bool wide>
struct ResultType : WideType<T, wide> {};
template <>
struct ResultType<Float16, false> {
  using Type = Float16;
};
template <>
struct ResultType<BFloat16, false> {
  using Type = BFloat16;
};

// The functions, in the order of their words. combine() combines Items: it is associative, with none() as its
// identity. wide: sums and products are doubles.
template <int function, typename T, bool wide>
struct Scan;
template <typename T, bool wide>
struct Scan<0, T, wide> {  // sum
  using Item = typename WideType<T, wide>::Type;
  using Output = typename ResultType<T, wide>::Type;
  static __device__ __forceinline__ Item none() { return 0; }
  static __device__ __forceinline__ Item item(T x) { return static_cast<Item>(to_float(x)); }
  static __device__ __forceinline__ Item combine(Item a, Item b) { return elementwise::add(a, b); }
  static __device__ __forceinline__ Output output(Item x) { return from_float<Output>(x); }
};
template <typename T, bool wide>
struct Scan<1, T, wide> : Scan<0, T, wide> {  // product
  using Item = typename WideType<T, wide>::Type;
  static __device__ __forceinline__ Item none() { return 1; }
  static __device__ __forceinline__ Item combine(Item a, Item b) { return elementwise::multiply(a, b); }
};
template <bool greatest, typename T>
struct Extreme {
  using Item = NumberOf<T>;
  using Output = T;
  static __device__ __forceinline__ Item none() { return greatest ? least_of<T>() : greatest_of<T>(); }
  static __device__ __forceinline__ Item item(T x) { return as_number(x); }
  // NaN stays, as in NumPy.
  static __device__ __forceinline__ Item combine(Item a, Item b) {
    return (greatest ? a > b : a < b) || a != a ? a : b;
  }
  static __device__ __forceinline__ Output output(Item x) { return narrowed<T>(x); }
};
template <typename T, bool wide>
struct Scan<2, T, wide> : Extreme<true, T> {};
template <typename T, bool wide>
struct Scan<3, T, wide> : Extreme<false, T> {};
template <bool every, typename T>
struct Logical {
  using Item = int;  // 0 or 1
  using Output = bool;
  static __device__ __forceinline__ Item none() { return every; }
  static __device__ __forceinline__ Item item(T x) { return to_float(x) != 0; }  // NaN counts as true
  static __device__ __forceinline__ Item combine(Item a, Item b) { return every ? a & b : a | b; }
  static __device__ __forceinline__ Output output(Item x) { return x != 0; }
};
template <typename T, bool wide>
struct Scan<4, T, wide> : Logical<false, T> {};
template <typename T, bool wide>
struct Scan<5, T, wide> : Logical<true, T> {};

// The generated code of a problem's expression: its value for two numbers, and the first result of an
// exclusive scan.
template <typename Number>
struct Expression;
// Either a number or nothing, so that an expression needs no identity.
template <typename Number>
struct Optional {
  Number value;
  int is_there;
};
template <typename T, bool wide>
struct Scan<6, T, wide> {
  using Number = compute_type<T>;
  using Item = Optional<Number>;
  using Output = T;
  static __device__ __forceinline__ Item none() { return {0, 0}; }
  static __device__ __forceinline__ Item item(T x) { return {to_float(x), 1}; }
  static __device__ __forceinline__ Item combine(const Item& a, const Item& b) {
    if (!b.is_there) return a;
    return {a.is_there ? Expression<Number>::combine(a.value, b.value) : b.value, 1};
  }
  static __device__ __forceinline__ Output output(const Item& x) {
    return from_float<T>(x.is_there ? x.value : Expression<Number>::first());
  }
};

// Stores a vector. Streaming stores have at least 4 bytes.
template <bool streams, int N, typename Element>
__device__ __forceinline__ void store_whole(Element* to, const Vector<Element, N>& vector) {
  if constexpr (streams && sizeof(vector) >= 4) {
    store_vector_streaming(to, vector);
  } else {
    store_vector(to, vector);
  }
}

// ---- a warp

template <typename Number>
__device__ __forceinline__ Number from_lane_below(const Number& item, int by, int width) {
  return __shfl_up_sync(0xffffffffu, item, by, width);
}
template <typename Number>
__device__ __forceinline__ Optional<Number> from_lane_below(const Optional<Number>& item, int by, int width) {
  return {from_lane_below(item.value, by, width), from_lane_below(item.is_there, by, width)};
}
template <typename Number>
__device__ __forceinline__ Number from_lane(const Number& item, int lane, int width) {
  return __shfl_sync(0xffffffffu, item, lane, width);
}
template <typename Number>
__device__ __forceinline__ Optional<Number> from_lane(const Optional<Number>& item, int lane, int width) {
  return {from_lane(item.value, lane, width), from_lane(item.is_there, lane, width)};
}

// Combines the items of the lanes up to each one, in groups of WIDTH lanes.
template <typename S, int WIDTH>
__device__ __forceinline__ typename S::Item scan_lanes(typename S::Item item, int lane) {
#pragma unroll
  for (int by = 1; by < WIDTH; by *= 2) {
    const typename S::Item before = from_lane_below(item, by, WIDTH);
    if (lane >= by) item = S::combine(before, item);
  }
  return item;
}

// Combines all items of WIDTH lanes; each lane gets the result.
template <typename S, int WIDTH>
__device__ __forceinline__ typename S::Item fold_lanes(typename S::Item item, int lane) {
  return from_lane(scan_lanes<S, WIDTH>(item, lane), WIDTH - 1, WIDTH);
}

// How a stretch may end before it is full: not at all; after a whole vector; anywhere.
enum class End { full, vector, element };

// A stretch of neighbouring elements of a line: ITEMS rounds of a vector for each of WIDTH lanes. REVERSE:
// the last element comes first; all places but `left` and `from` are in the order of the scan.
template <typename S, typename T, int WIDTH, int ITEMS, int VECTOR, bool REVERSE>
struct Stretch {
  using Item = typename S::Item;
  using Output = typename S::Output;
  static constexpr int elements = WIDTH * ITEMS * VECTOR;

  Vector<T, VECTOR> loaded[ITEMS];
  Item item[ITEMS][VECTOR];  // after scan() what the lane's own vector has up to each element
  Item before[ITEMS];        // after scan() what the stretch has before the lane's vector

  // The place where the memory of round i begins; and which of its elements is number v.
  static __device__ __forceinline__ int place(int i, int lane) {
    const int at = (i * WIDTH + lane) * VECTOR;
    return REVERSE ? elements - VECTOR - at : at;
  }
  static constexpr __device__ __forceinline__ int element(int v) { return REVERSE ? VECTOR - 1 - v : v; }

  // Loads the stretch; `left` elements of the line are at `from` and behind it.
  template <Hint HINT, End END>
  __device__ __forceinline__ void load(const T* from, int lane, int left) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int at = place(i, lane);
      if (END == End::full || at + VECTOR <= left) {
        loaded[i] = load_hinted<HINT>(reinterpret_cast<const Vector<T, VECTOR>*>(from + at));
      } else if (END == End::element && VECTOR > 1) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v)
          if (at + v < left) loaded[i].element[v] = from[at + v];
      }
    }
  }

  // Returns the same as scan(), combined in another order, before scan() takes its time.
  template <End END>
  __device__ __forceinline__ Item total(int lane, int left) const {
    Item all = S::none();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
      for (int v = 0; v < VECTOR; ++v)
        if (END == End::full || place(i, lane) + v < left)
          all = S::combine(all, S::item(loaded[i].element[v]));
    }
    return fold_lanes<S, WIDTH>(all, lane);
  }

  // Scans the stretch, of which `left` elements were loaded, and returns its total. Every lane of the warp
  // takes part.
  template <End END>
  __device__ __forceinline__ Item scan(int lane, int left) {
    Item up_to[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) {
        const bool is_there = END == End::full || place(i, lane) + element(v) < left;
        item[i][v] = is_there ? S::item(loaded[i].element[element(v)]) : S::none();
        if (v > 0) item[i][v] = S::combine(item[i][v > 0 ? v - 1 : 0], item[i][v]);
      }
      up_to[i] = scan_lanes<S, WIDTH>(item[i][VECTOR - 1], lane);
    }
    Item all = S::none();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      Item of_others = from_lane_below(up_to[i], 1, WIDTH);
      if (lane == 0) of_others = S::none();
      before[i] = S::combine(all, of_others);
      all = S::combine(all, from_lane(up_to[i], WIDTH - 1, WIDTH));
    }
    return all;
  }

  // Stores the results. `carried` is the line's total before the stretch.
  template <bool exclusive, bool streams, End END>
  __device__ __forceinline__ void store(Output* to, int lane, int left, Item carried) const {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int at = place(i, lane);
      const Item earlier = S::combine(carried, before[i]);
      Vector<Output, VECTOR> vector;
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) {
        Output& result = vector.element[element(v)];
        if constexpr (exclusive) {
          result = S::output(v == 0 ? earlier : S::combine(earlier, item[i][v == 0 ? 0 : v - 1]));
        } else {
          result = S::output(S::combine(earlier, item[i][v]));
        }
      }
      if (END == End::full || at + VECTOR <= left) {
        store_whole<streams>(to + at, vector);
      } else if (END == End::element && VECTOR > 1) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v)
          if (at + v < left) to[at + v] = vector.element[v];
      }
    }
  }
};
