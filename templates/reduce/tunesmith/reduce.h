// SPDX-License-Identifier: Apache-2.0
// Sums, extremes and their places, moments, products, norms and logical functions over all elements of an
// array, or over one of its axes, as numpy.sum, min, argmax, var, … compute them.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "tunesmith/dispatcher.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

/// An array of outer x length x inner elements whose middle axis is reduced; the output is outer x inner and
/// contiguous. All of n elements: {.length = n}; the last axis of h x w: {.outer = h, .length = w};
/// the first: {.length = h, .inner = w}. Element (o, l, i) is x[o * outer_stride + l * stride + i].
struct ReduceShape {
  std::int64_t outer = 1;
  std::int64_t length = 0;
  std::int64_t inner = 1;
  std::int64_t outer_stride = 0;  ///< elements; 0: length * stride
  std::int64_t stride = 0;        ///< elements; 0: inner
};

/// min_max and mean_var write pairs: y[2 * k] is the minimum or the mean of output k, y[2 * k + 1] the other.
enum class ReduceFunction {
  sum,
  min,
  max,
  mean,
  argmin,
  argmax,
  var,
  std,
  prod,
  any,
  all,
  count_nonzero,
  ptp,
  norm1,
  norm2,
  norminf,
  min_max,
  mean_var
};

/// What a reduction may be told beside its function.
struct ReduceOptions {
  /// Of var, std and mean_var: squares are divided by length - ddof.
  std::int64_t ddof = 0;
  /// Sums and products are computed and written as double: sum and prod of float and integers, mean, var, std
  /// and mean_var of float.
  bool sums_in_double = false;
};

/// deterministic: a plan gives the same bits for the same arguments in every run. atomic, for sums only:
/// blocks add to the output as they end.
enum class ReduceOrder { deterministic, atomic };

template <typename T>
concept ReduceElement = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t>;
template <ReduceElement T>
using ReduceSum = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;  ///< wraps beyond 64 bits
template <ReduceElement T>
using ReduceMean = std::conditional_t<std::is_integral_v<T>, double, T>;  ///< of moments and norms too

/// `x` and `y` are in memory of the dispatcher's device and do not overlap. `stream` is a cudaStream_t.
/// Without a `workspace` the library makes one for each launch that needs one. One of your own saves some
/// microseconds; give it to Plan::launch() of a reduce_plan() that you keep, since a better plan that comes
/// later may need a larger one.
///
/// A floating-point sum's error is at most 8 u sum|x|, u = 2^-24 or 2^-53, whatever the length (f32: plus
/// length 2^-53 sum|x|), as long as sum|x| does not overflow; with ReduceOrder::atomic (8 + 2048) u sum|x|. A
/// mean is such a sum, divided; for integers the bound is that of doubles. NaN propagates through all four.
/// The sum of no elements is 0, their mean NaN.
///
/// Throws where plan() throws: for a negative size, and for min or max of no elements. All else, a null,
/// overlapping or misaligned pointer included, is in the Status.
template <ReduceElement T>
Status reduce_sum(Dispatcher& dispatcher, const T* x, ReduceSum<T>* y, const ReduceShape& shape,
                  ReduceOrder order = ReduceOrder::deterministic, void* stream = nullptr,
                  void* workspace = nullptr);
template <ReduceElement T>
Status reduce_mean(Dispatcher& dispatcher, const T* x, ReduceMean<T>* y, const ReduceShape& shape,
                   void* stream = nullptr, void* workspace = nullptr);
template <ReduceElement T>
Status reduce_min(Dispatcher& dispatcher, const T* x, T* y, const ReduceShape& shape, void* stream = nullptr,
                  void* workspace = nullptr);
template <ReduceElement T>
Status reduce_max(Dispatcher& dispatcher, const T* x, T* y, const ReduceShape& shape, void* stream = nullptr,
                  void* workspace = nullptr);

/// Where the least or greatest element of each line is first, by its position along the axis; a NaN is before
/// any number. Throws for no elements.
template <ReduceElement T>
Status reduce_argmin(Dispatcher& dispatcher, const T* x, std::int64_t* y, const ReduceShape& shape,
                     void* stream = nullptr, void* workspace = nullptr);
template <ReduceElement T>
Status reduce_argmax(Dispatcher& dispatcher, const T* x, std::int64_t* y, const ReduceShape& shape,
                     void* stream = nullptr, void* workspace = nullptr);

/// The squares of what the elements are off their mean, added and divided by length - ddof; std: its root. x
/// is read once; the error of the squares' sum S is at most 16 u S + 256 u^2 sum x^2 (in float also n 2^-52
/// times the squares of what the elements are off the first one), u = 2^-24 or 2^-53.
template <ReduceElement T>
Status reduce_var(Dispatcher& dispatcher, const T* x, ReduceMean<T>* y, const ReduceShape& shape,
                  std::int64_t ddof = 0, void* stream = nullptr, void* workspace = nullptr);
template <ReduceElement T>
Status reduce_std(Dispatcher& dispatcher, const T* x, ReduceMean<T>* y, const ReduceShape& shape,
                  std::int64_t ddof = 0, void* stream = nullptr, void* workspace = nullptr);

/// Any other function, or one with options. `y` has the function's own type, as numpy's has: see README.md.
template <ReduceElement T>
Status reduce(Dispatcher& dispatcher, ReduceFunction function, const T* x, void* y, const ReduceShape& shape,
              const ReduceOptions& options = {}, void* stream = nullptr, void* workspace = nullptr);

/// The plan that these functions use, to launch it many times or to see how it matched. Arguments: x, y.
template <ReduceElement T>
Plan reduce_plan(Dispatcher& dispatcher, const ReduceShape& shape,
                 ReduceFunction function = ReduceFunction::sum,
                 ReduceOrder order = ReduceOrder::deterministic, const ReduceOptions& options = {});

#define TUNESMITH_REDUCE(T)                                                                                  \
  extern template Status reduce_sum(Dispatcher&, const T*, ReduceSum<T>*, const ReduceShape&, ReduceOrder,   \
                                    void*, void*);                                                           \
  extern template Status reduce_mean(Dispatcher&, const T*, ReduceMean<T>*, const ReduceShape&, void*,       \
                                     void*);                                                                 \
  extern template Status reduce_min(Dispatcher&, const T*, std::type_identity_t<T>*, const ReduceShape&,     \
                                    void*, void*);                                                           \
  extern template Status reduce_max(Dispatcher&, const T*, std::type_identity_t<T>*, const ReduceShape&,     \
                                    void*, void*);                                                           \
  extern template Status reduce_argmin(Dispatcher&, const T*, std::int64_t*, const ReduceShape&, void*,      \
                                       void*);                                                               \
  extern template Status reduce_argmax(Dispatcher&, const T*, std::int64_t*, const ReduceShape&, void*,      \
                                       void*);                                                               \
  extern template Status reduce_var(Dispatcher&, const T*, ReduceMean<T>*, const ReduceShape&, std::int64_t, \
                                    void*, void*);                                                           \
  extern template Status reduce_std(Dispatcher&, const T*, ReduceMean<T>*, const ReduceShape&, std::int64_t, \
                                    void*, void*);                                                           \
  extern template Status reduce(Dispatcher&, ReduceFunction, const T*, void*, const ReduceShape&,            \
                                const ReduceOptions&, void*, void*);                                         \
  extern template Plan reduce_plan<T>(Dispatcher&, const ReduceShape&, ReduceFunction, ReduceOrder,          \
                                      const ReduceOptions&);
TUNESMITH_REDUCE(float)
TUNESMITH_REDUCE(double)
TUNESMITH_REDUCE(std::int32_t)
TUNESMITH_REDUCE(std::int64_t)
#undef TUNESMITH_REDUCE

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
