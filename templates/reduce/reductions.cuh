// SPDX-License-Identifier: Apache-2.0
// The reduction of each function. Some combine one value for each element (folds); others need more: the
// place of an extreme, moments, products that leave no range. This file has no kernel.
//
// A reduction has Partial, Output and Shift; none(), the partial without elements; shift(), of the address of
// a line's first element, and shift_of(), of that element; add(), which adds the first `there` of N elements
// in registers to a partial; combine(), of two partials; and output(). is_fold says that item(), merge() and
// lift() make a partial of a tile alone, which a kernel then combines with its own.
#pragma once

#include "reduce/reduction.cuh"

// Two numbers that are kept of two lines at once, or written for one.
template <typename Number>
struct Pair {
  Number first, second;
};
template <typename Number>
__device__ __forceinline__ Pair<Number> shuffle_down(Pair<Number> x, int by, int width) {
  return {shuffle_down(x.first, by, width), shuffle_down(x.second, by, width)};
}

// The factors of a mean and a variance: 1 / n and 1 / (n - ddof). A thread would take longer to divide than
// to add up a short line.
struct Ratios {
  double mean, variance;
};

// ---- reductions of values, each of which is first made something else

struct NoShift {};

// A reduction of values, such as SumReduction.
template <typename R>
struct Fold : R {
  static constexpr bool is_fold = true;
  using Values = R;
  using typename R::Element;
  using typename R::Item;
  using typename R::Output;
  using typename R::Partial;
  using Shift = NoShift;
  static __device__ __forceinline__ Shift shift(const Element*, long long) { return {}; }
  static __device__ __forceinline__ Shift shift_of(Element) { return {}; }
  template <int N, bool all, typename Where>
  static __device__ __forceinline__ void add(Partial& total, const Element (&x)[N], int there, Where, Shift) {
    Item items[N];
#pragma unroll
    for (int k = 0; k < N; ++k) items[k] = all || k < there ? R::item(x[k]) : R::none();
    total = R::combine(total, R::lift(tree<R, N>(items)));
  }
  static __device__ __forceinline__ Output output(Partial total, Shift, long long length, Ratios) {
    return R::output(settled(total), length);
  }
};

// True if any element is not 0, or if all are not 0; a NaN is not 0.
template <typename T, bool all>
struct LogicalReduction {
  using Element = T;
  using Item = int;
  using Partial = int;  // whether one was found that decides
  using Output = bool;
  static __device__ __forceinline__ Item none() { return 0; }
  static __device__ __forceinline__ Item item(T x) { return all ? x == 0 : x != 0; }
  static __device__ __forceinline__ Item merge(Item a, Item b) { return a | b; }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) { return a | b; }
  static __device__ __forceinline__ Output output(Partial found, long long) { return (found != 0) != all; }
};

template <typename T>
struct CountReduction {
  using Element = T;
  using Item = int;
  using Partial = long long;
  using Output = long long;
  static __device__ __forceinline__ Item none() { return 0; }
  static __device__ __forceinline__ Item item(T x) { return x != 0; }
  static __device__ __forceinline__ Item merge(Item a, Item b) { return a + b; }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) { return a + b; }
  static __device__ __forceinline__ Output output(Partial total, long long) { return total; }
};

// A product of integers, which wraps.
template <typename T>
struct WholeProduct {
  using Element = T;
  using Item = long long;
  using Partial = long long;
  using Output = long long;
  static __device__ __forceinline__ Item none() { return 1; }
  static __device__ __forceinline__ Item item(T x) { return x; }
  static __device__ __forceinline__ Item merge(Item a, Item b) {
    return static_cast<long long>(static_cast<unsigned long long>(a) * static_cast<unsigned long long>(b));
  }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) { return merge(a, b); }
  static __device__ __forceinline__ Output output(Partial total, long long) { return total; }
};

// The types in which norms are computed and written: f64 for integers.
template <typename T>
struct NormType {
  using Type = double;
  using Partial = Compensated;
};
template <>
struct NormType<float> {
  using Type = float;
  using Partial = double;
};
template <typename T>
using Norm = typename NormType<T>::Type;

__device__ __forceinline__ float magnitude(float x) { return fabsf(x); }
__device__ __forceinline__ double magnitude(double x) { return fabs(x); }

// The sum of magnitudes, or the root of the sum of squares.
template <typename T, bool squares>
struct NormReduction : SumReduction<T, Norm<T>, typename NormType<T>::Partial, Norm<T>, false> {
  static __device__ __forceinline__ Norm<T> item(T x) {
    const auto number = static_cast<Norm<T>>(x);
    return squares ? number * number : magnitude(number);
  }
  template <typename Number>
  static __device__ __forceinline__ Norm<T> output(Number total, long long) {
    return static_cast<Norm<T>>(squares ? sqrt(total) : total);
  }
};

template <typename T>
struct LargestMagnitude : ExtremeReduction<Norm<T>, true> {
  using Element = T;
  using Item = Norm<T>;
  static __device__ __forceinline__ Item none() { return 0; }
  static __device__ __forceinline__ Item item(T x) { return magnitude(static_cast<Norm<T>>(x)); }
};

// The smallest and the largest element.
template <typename T>
struct BothExtremes {
  using Element = T;
  using Item = Pair<T>;
  using Partial = Pair<T>;
  using Output = Pair<T>;
  using Least = ExtremeReduction<T, false>;
  using Greatest = ExtremeReduction<T, true>;
  static __device__ __forceinline__ Item none() { return {Least::none(), Greatest::none()}; }
  static __device__ __forceinline__ Item item(T x) { return {x, x}; }
  static __device__ __forceinline__ Item merge(Item a, Item b) {
    return {extreme<false>(a.first, b.first), extreme<true>(a.second, b.second)};
  }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) { return merge(a, b); }
  static __device__ __forceinline__ Output output(Partial both, long long) { return both; }
};

__device__ __forceinline__ float minus(float a, float b) { return a - b; }
__device__ __forceinline__ double minus(double a, double b) { return a - b; }
__device__ __forceinline__ int minus(int a, int b) {  // wraps
  return static_cast<int>(static_cast<unsigned>(a) - static_cast<unsigned>(b));
}
__device__ __forceinline__ long long minus(long long a, long long b) {
  return static_cast<long long>(static_cast<unsigned long long>(a) - static_cast<unsigned long long>(b));
}

template <typename T>
struct Range : BothExtremes<T> {
  using Output = T;
  static __device__ __forceinline__ T output(Pair<T> both, long long) {
    return minus(both.second, both.first);
  }
};

// ---- the place of an extreme

// The place of the first of a tile's elements that is the `best` of them. Missing elements are 0 and stand
// behind it.
template <typename T, int N>
__device__ __forceinline__ int place_in_tile(const T (&x)[N], T best) {
  int at = 0;
  if (best == best) {
#pragma unroll
    for (int k = N - 1; k > 0; --k)
      if (x[k] == best) at = k;
    if (x[0] == best) at = 0;
  } else {
#pragma unroll
    for (int k = N - 1; k >= 0; --k)
      if (x[k] != x[k]) at = k;
  }
  return at;
}

// The extreme, and its first place; `nowhere` before there is any element.
constexpr long long nowhere = 0x7fffffffffffffffll;
template <typename T>
struct alignas(16) Extremum {
  T value;
  long long place;
};
template <typename T>
__device__ __forceinline__ Extremum<T> shuffle_down(Extremum<T> x, int by, int width) {
  return {shuffle_down(x.value, by, width), shuffle_down(x.place, by, width)};
}

template <typename T, bool greatest>
struct PlaceReduction {
  static constexpr bool is_fold = false;
  using Element = T;
  using Item = Extremum<T>;
  using Partial = Extremum<T>;
  using Output = long long;
  using Shift = NoShift;
  using Value = ExtremeReduction<T, greatest>;

  static __device__ __forceinline__ Item none() { return {Value::none(), nowhere}; }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Shift shift(const T*, long long) { return {}; }
  static __device__ __forceinline__ Shift shift_of(T) { return {}; }

  // A NaN is better than any number.
  static __device__ __forceinline__ bool is_better(T a, T b) {
    return (greatest ? a > b : a < b) || (a != a && b == b);
  }
  static __device__ __forceinline__ bool is_same(T a, T b) { return a == b || (a != a && b != b); }

  // The extreme of a tile costs one operation per element. Its place in the tile is looked for only if it is
  // better than all before, which is rare in a long line. Tiles come in the order of their places.
  template <int N, bool all, typename Where>
  static __device__ __forceinline__ void add(Partial& total, const T (&x)[N], int there, Where where, Shift) {
    if (!all && there == 0) return;
    T values[N];
#pragma unroll
    for (int k = 0; k < N; ++k) values[k] = all || k < there ? x[k] : Value::none();
    const T best = tree<Value, N>(values);
    if (total.place != nowhere && !is_better(best, total.value)) return;
    total = {best, where.of(place_in_tile(x, best))};
  }

  static __device__ __forceinline__ Partial combine(Partial a, Partial b) {
    if (b.place == nowhere) return a;
    const bool takes_b =
        a.place == nowhere || is_better(b.value, a.value) || (is_same(a.value, b.value) && b.place < a.place);
    return takes_b ? b : a;
  }
  static __device__ __forceinline__ Output output(Partial total, Shift, long long, Ratios) {
    return total.place;
  }
};

// For elements of 4 bytes in a line of fewer than 2^32 - 1: one word has the element, as an integer in the
// order in which elements are better, and the distance from its place to 2^32 - 1. The greatest word counts;
// 0, which stands for no element, is below all others.
template <typename T, bool greatest>
struct ShortPlaceReduction {
  static constexpr bool is_fold = false;
  using Element = T;
  using Item = unsigned long long;
  using Partial = unsigned long long;
  using Output = long long;
  using Shift = NoShift;
  using Value = ExtremeReduction<T, greatest>;
  static_assert(sizeof(T) == 4, "half a word is left for the place");

  static __device__ __forceinline__ Item none() { return 0; }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Shift shift(const T*, long long) { return {}; }
  static __device__ __forceinline__ Shift shift_of(T) { return {}; }

  static __device__ __forceinline__ unsigned order(int x) {
    const unsigned ascending = static_cast<unsigned>(x) ^ 0x80000000u;
    return greatest ? ascending : ~ascending;
  }
  // Infinities stay below the word with all bits set, which is NaN's.
  static __device__ __forceinline__ unsigned order(float x) {
    if (x != x) return 0xffffffffu;
    const int bits = __float_as_int(x + 0.0f);  // -0 is 0
    const unsigned ascending =
        static_cast<unsigned>(bits) ^ (static_cast<unsigned>(bits >> 31) | 0x80000000u);
    return greatest ? ascending : ~ascending;
  }

  // Like PlaceReduction::add().
  template <int N, bool all, typename Where>
  static __device__ __forceinline__ void add(Partial& total, const T (&x)[N], int there, Where where, Shift) {
    if (!all && there == 0) return;
    T values[N];
#pragma unroll
    for (int k = 0; k < N; ++k) values[k] = all || k < there ? x[k] : Value::none();
    const T best = tree<Value, N>(values);
    const unsigned long long high = static_cast<unsigned long long>(order(best)) << 32;
    if ((high | 0xffffffffu) < total) return;
    const unsigned place = where.short_of(place_in_tile(x, best));
    total = combine(total, high | (0xffffffffu - place));
  }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) { return a > b ? a : b; }
  static __device__ __forceinline__ Output output(Partial total, Shift, long long, Ratios) {
    return 0xffffffffu - static_cast<unsigned>(total);
  }
};

// ---- moments

// The sum of the elements' differences from a line's first one, and the sum of the squares of these.
template <typename Sum>
struct alignas(16) Moments {
  Sum sum, squares;
};
template <typename Sum>
__device__ __forceinline__ Moments<Sum> shuffle_down(Moments<Sum> x, int by, int width) {
  return {shuffle_down(x.sum, by, width), shuffle_down(x.squares, by, width)};
}

// Adds `count` elements with the mean `mean + correction`; `squares` is the sum of the squares of their
// differences from it.
__device__ __forceinline__ void add_group(Moments<double>& total, int count, double shift, float mean,
                                          float correction, float squares) {
  const double above = static_cast<double>(mean) - shift + static_cast<double>(correction);
  const double weighted = count * above;
  total.sum += weighted;
  total.squares += static_cast<double>(squares) + weighted * above;
}
// Adds them in twice the digits.
__device__ __forceinline__ void add_group(Moments<Compensated>& total, int count, double shift, double mean,
                                          double correction, double squares) {
  const Compensated above = plus(Compensated{mean, 0.0}, Compensated{-shift, correction});
  const double n = count;
  const double sum = __dmul_rn(n, above.high);
  total.sum = plus(total.sum, Compensated{sum, fma(n, above.high, -sum) + n * above.low});
  const double square = __dmul_rn(above.high, above.high);
  const double lost = fma(above.high, above.high, -square) + 2 * above.high * above.low;
  const double weighted = __dmul_rn(n, square);
  total.squares = plus(total.squares, Compensated{weighted, fma(n, square, -weighted) + n * lost});
  total.squares = plus(total.squares, Compensated{squares, 0.0});
}

__device__ __forceinline__ float fused(float x, float y, float z) { return fmaf(x, y, z); }
__device__ __forceinline__ double fused(double x, double y, double z) { return fma(x, y, z); }
// A product that is not fused with the operation behind it.
__device__ __forceinline__ float rounded_product(float x, float y) { return __fmul_rn(x, y); }
__device__ __forceinline__ double rounded_product(double x, double y) { return __dmul_rn(x, y); }
__device__ __forceinline__ float reciprocal(float x) { return __fdividef(1.0f, x); }
__device__ __forceinline__ double reciprocal(double x) { return 1.0 / x; }

// The moments of a line that are written.
enum class Moment { variance, deviation, both };

// Makes two passes over a tile that is in registers, in Number: for its mean, then for its elements'
// differences from it. Tiles are added up in a type with twice the digits, as differences from the line's
// first element, so that little cancels: the square of the first one's distance from the mean is at most all
// squares together.
template <typename T, typename Number, typename Sum, Moment moment, typename Result>
struct MomentReduction {
  static constexpr bool is_fold = false;
  using Element = T;
  using Item = Moments<Sum>;
  using Partial = Moments<Sum>;
  // The line's first element, as it was loaded. Values computed from it wait for its load, and may stand
  // behind the loads of the first tile.
  struct Shift {
    T first;
  };
  static constexpr bool has_both = moment == Moment::both;
  template <bool two, typename R>
  struct Written {
    using Type = R;
  };
  template <typename R>
  struct Written<true, R> {
    using Type = Pair<R>;
  };
  using Output = typename Written<has_both, Result>::Type;

  // Trees of numbers.
  struct Plain {
    using Item = Number;
    static __device__ __forceinline__ Number merge(Number a, Number b) { return a + b; }
  };

  static __device__ __forceinline__ Item none() { return {}; }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Shift shift(const T* first, long long length) {
    return {length > 0 ? load_once<0, 1>(first).element[0] : T(0)};
  }
  static __device__ __forceinline__ Shift shift_of(T first) { return {first}; }
  static __device__ __forceinline__ double number_of(Shift shift) {
    const auto x = static_cast<Number>(shift.first);
    return x - x == 0 ? static_cast<double>(x) : 0.0;  // not where it is no number
  }

  template <int N, bool all, typename Where>
  static __device__ __forceinline__ void add(Partial& total, const T (&x)[N], int there, Where, Shift shift) {
    const int count = all ? N : there;
    if (count == 0) return;
    if constexpr (N == 1) {
      add_group(total, 1, number_of(shift), static_cast<Number>(x[0]), Number(0), Number(0));
    } else {
      // The first mean need not be exact: the second pass finds its error, of the number that is added below.
      // Missing elements are 0.
      const Number inverse = all ? Number(1) / Number(N) : reciprocal(static_cast<Number>(count));
      Number values[N];
#pragma unroll
      for (int k = 0; k < N; ++k) values[k] = static_cast<Number>(x[k]);
      const Number mean = rounded_product(tree<Plain, N>(values), inverse);
#pragma unroll
      for (int k = 0; k < N; ++k) values[k] = all || k < there ? static_cast<Number>(x[k]) - mean : Number(0);
      const Number rest = tree<Plain, N>(values);
      // There are as many sums beside each other as an addition takes cycles; a fused multiplication costs no
      // addition.
      constexpr int beside = N < 4 ? N : N > 32 ? 8 : 4;
      Number part[beside] = {};
#pragma unroll
      for (int k = 0; k < N; ++k) part[k % beside] = fused(values[k], values[k], part[k % beside]);
      const Number squares = tree<Plain, beside>(part);
      const Number correction = rest - rest == 0 ? rest * inverse : Number(0);  // an infinity has none
      add_group(total, count, number_of(shift), mean, correction, squares - rest * correction);
    }
  }

  static __device__ __forceinline__ Partial combine(Partial a, Partial b) {
    return {sum_of(a.sum, b.sum), sum_of(a.squares, b.squares)};
  }
  static __device__ __forceinline__ double sum_of(double a, double b) { return a + b; }
  static __device__ __forceinline__ Compensated sum_of(Compensated a, Compensated b) { return plus(a, b); }

  static __device__ __forceinline__ Output output(Partial total, Shift shift, long long length,
                                                  Ratios ratios) {
    double above, squares;  // of the mean; the sum of what is off it
    if constexpr (sizeof(Sum) == sizeof(double)) {
      above = total.sum * ratios.mean;
      squares = fma(-total.sum, above, total.squares);
    } else {
      const double sum = settled(total.sum);
      above = sum * ratios.mean;
      // The part that the sum in one number and the product lose.
      const double lost = (total.sum.high - sum) + total.sum.low;
      const double rest = (fma(-above, static_cast<double>(length), sum) + lost) * ratios.mean;
      squares = fma(-sum, above, total.squares.high);
      if (rest - rest == 0.0) {  // they are numbers
        squares += total.squares.low - (sum * rest + lost * above);
        above += rest;
      }
    }
    if (squares < 0) squares = 0;
    const auto variance = static_cast<Result>(squares * ratios.variance);
    if constexpr (moment == Moment::both) {
      return {static_cast<Result>(number_of(shift) + above), variance};
    } else {
      return moment == Moment::deviation ? sqrt(variance) : variance;
    }
  }
};

// ---- products

// A number as fraction * 2^exponent, 1 <= |fraction| < 2, so that no product leaves the range before the last
// one; 0, infinities and NaN have the exponent 0.
struct alignas(16) Scaled {
  double fraction;
  long long exponent;
};
__device__ __forceinline__ Scaled shuffle_down(Scaled x, int by, int width) {
  return {shuffle_down(x.fraction, by, width), shuffle_down(x.exponent, by, width)};
}
__device__ __forceinline__ Scaled scaled(double x, long long exponent) {
  long long bits = __double_as_longlong(x);
  int own = static_cast<int>(bits >> 52) & 0x7ff;
  if (own == 0) {  // 0, or less than the least normal number
    if (x == 0.0) return {x, 0};
    bits = __double_as_longlong(x * 0x1p64);
    own = (static_cast<int>(bits >> 52) & 0x7ff) - 64;
  }
  if (own == 0x7ff) return {x, 0};
  const auto kept = static_cast<unsigned long long>(bits) & 0x800fffffffffffffull;
  return {__longlong_as_double(static_cast<long long>(kept | 0x3ff0000000000000ull)), exponent + own - 1023};
}

template <typename T, typename Result>
struct ProductReduction {
  static constexpr bool is_fold = false;
  using Element = T;
  using Item = Scaled;
  using Partial = Scaled;
  using Output = Result;
  using Shift = NoShift;
  static __device__ __forceinline__ Item none() { return {1.0, 0}; }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Shift shift(const T*, long long) { return {}; }
  static __device__ __forceinline__ Shift shift_of(T) { return {}; }

  template <int N, bool all, typename Where>
  static __device__ __forceinline__ void add(Partial& total, const T (&x)[N], int there, Where, Shift) {
    // The number of f32 whose product with a fraction is within the range of f64.
    constexpr int group = sizeof(T) == 8 ? 1 : 4;
#pragma unroll
    for (int first = 0; first < N; first += group) {
      if constexpr (sizeof(T) == 8) {
        if (all || first < there) total = combine(total, scaled(static_cast<double>(x[first]), 0));
      } else {
        double product = total.fraction;
#pragma unroll
        for (int k = first; k < first + group && k < N; ++k)
          product *= all || k < there ? static_cast<double>(x[k]) : 1.0;
        total = scaled(product, total.exponent);
      }
    }
  }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) {
    return scaled(a.fraction * b.fraction, a.exponent + b.exponent);
  }
  static __device__ __forceinline__ Output output(Partial total, Shift, long long, Ratios) {
    const long long most = 4096;  // beyond any type's range
    const long long exponent = total.exponent > most ? most : total.exponent < -most ? -most : total.exponent;
    return static_cast<Output>(ldexp(total.fraction, static_cast<int>(exponent)));
  }
};

// ---- by the position of the function's word (op.h)

// `wide`: sums and products of other types are computed and written as f64. `short_places`: lines have fewer
// than 2^32 - 1 elements, of 4 bytes.
template <int function, typename T, bool wide, bool short_places = false>
struct ReductionOf;

template <typename T>
struct ReductionOf<0, T, false> : Fold<Reduction<0, T>> {};
template <typename T>
struct ReductionOf<1, T, false> : Fold<Reduction<1, T>> {};
template <typename T>
struct ReductionOf<2, T, false> : Fold<Reduction<2, T>> {};
template <typename T>
struct ReductionOf<3, T, false> : Fold<Reduction<3, T>> {};
template <typename T>
struct ReductionOf<0, T, true> : Fold<SumReduction<T, double, Compensated, double, false>> {};
template <typename T>
struct ReductionOf<3, T, true> : Fold<SumReduction<T, double, Compensated, double, true>> {};
template <typename T>
struct ReductionOf<4, T, false> : PlaceReduction<T, false> {};
template <typename T>
struct ReductionOf<5, T, false> : PlaceReduction<T, true> {};
template <typename T>
struct ReductionOf<4, T, false, true> : ShortPlaceReduction<T, false> {};
template <typename T>
struct ReductionOf<5, T, false, true> : ShortPlaceReduction<T, true> {};
template <typename T, bool wide>
struct ReductionOf<6, T, wide> : MomentReduction<T, double, Compensated, Moment::variance, double> {};
template <>
struct ReductionOf<6, float, false> : MomentReduction<float, float, double, Moment::variance, float> {};
template <typename T, bool wide>
struct ReductionOf<7, T, wide> : MomentReduction<T, double, Compensated, Moment::deviation, double> {};
template <>
struct ReductionOf<7, float, false> : MomentReduction<float, float, double, Moment::deviation, float> {};
template <typename T>
struct ReductionOf<8, T, false> : Fold<WholeProduct<T>> {};
template <>
struct ReductionOf<8, float, false> : ProductReduction<float, float> {};
template <>
struct ReductionOf<8, double, false> : ProductReduction<double, double> {};
template <typename T>
struct ReductionOf<8, T, true> : ProductReduction<T, double> {};
template <typename T>
struct ReductionOf<9, T, false> : Fold<LogicalReduction<T, false>> {};
template <typename T>
struct ReductionOf<10, T, false> : Fold<LogicalReduction<T, true>> {};
template <typename T>
struct ReductionOf<11, T, false> : Fold<CountReduction<T>> {};
template <typename T>
struct ReductionOf<12, T, false> : Fold<Range<T>> {};
template <typename T>
struct ReductionOf<13, T, false> : Fold<NormReduction<T, false>> {};
template <typename T>
struct ReductionOf<14, T, false> : Fold<NormReduction<T, true>> {};
template <typename T>
struct ReductionOf<15, T, false> : Fold<LargestMagnitude<T>> {};
template <typename T>
struct ReductionOf<16, T, false> : Fold<BothExtremes<T>> {};
template <typename T, bool wide>
struct ReductionOf<17, T, wide> : MomentReduction<T, double, Compensated, Moment::both, double> {};
template <>
struct ReductionOf<17, float, false> : MomentReduction<float, float, double, Moment::both, float> {};

// ---- of narrow elements

// The type that is written where a reduction of numbers has `Output`: results that are numbers, or pairs of
// them, are narrow again.
template <typename T, typename Output>
struct NarrowOutput {
  using Type = Output;
  static __device__ __forceinline__ Type of(Output x) { return x; }
};
template <typename T>
struct NarrowOutput<T, NumberOf<T>> {
  using Type = T;
  static __device__ __forceinline__ Type of(NumberOf<T> x) { return narrowed<T>(x); }
};
template <typename T>
struct NarrowOutput<T, Pair<NumberOf<T>>> {
  using Type = Pair<T>;
  static __device__ __forceinline__ Type of(Pair<NumberOf<T>> x) {
    return {narrowed<T>(x.first), narrowed<T>(x.second)};
  }
};

// R, a reduction of numbers, for elements of the type T that are converted to these.
template <typename T, typename R>
struct NarrowReduction : R {
  using Element = T;
  using typename R::Partial;
  using typename R::Shift;
  using Written = NarrowOutput<T, typename R::Output>;
  using Output = typename Written::Type;
  static __device__ __forceinline__ auto item(T x) { return R::item(as_number(x)); }
  static __device__ __forceinline__ Shift shift(const T* first, long long length) {
    return R::shift_of(length > 0 ? as_number(load_once<0, 1>(first).element[0]) : NumberOf<T>(0));
  }
  static __device__ __forceinline__ Shift shift_of(T first) { return R::shift_of(as_number(first)); }
  template <int N, bool all, typename Where>
  static __device__ __forceinline__ void add(Partial& total, const T (&x)[N], int there, Where where,
                                             Shift shift) {
    NumberOf<T> numbers[N];
#pragma unroll
    for (int k = 0; k < N; ++k) numbers[k] = as_number(x[k]);
    R::template add<N, all>(total, numbers, there, where, shift);
  }
  static __device__ __forceinline__ Output output(Partial total, Shift shift, long long length,
                                                  Ratios ratios) {
    return Written::of(R::output(total, shift, length, ratios));
  }
};

// The reduction of the numbers. A tile's sum of narrow integers needs no more than 32 bits.
template <int function, typename Number, bool wide, bool short_places>
struct ReductionOfNumbers : ReductionOf<function, Number, wide, short_places> {};
template <>
struct ReductionOfNumbers<0, int, false, false> : Fold<SumReduction<int, int, long long, long long, false>> {
};
template <>
struct ReductionOfNumbers<3, int, false, false> : Fold<SumReduction<int, int, long long, double, true>> {};

template <int function, typename T, bool wide, bool short_places, bool is_narrow = NumberType<T>::is_narrow>
struct ReductionFor {
  using Type = ReductionOf<function, T, wide, short_places>;
};
template <int function, typename T, bool wide, bool short_places>
struct ReductionFor<function, T, wide, short_places, true> {
  using Type = NarrowReduction<T, ReductionOfNumbers<function, NumberOf<T>, wide, short_places>>;
};
// The reduction of elements of any type.
template <int function, typename T, bool wide, bool short_places = false>
using ReductionOfElements = typename ReductionFor<function, T, wide, short_places>::Type;
