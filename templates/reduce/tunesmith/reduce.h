// SPDX-License-Identifier: Apache-2.0
// Sums, extremes and their places, moments, products, norms and logical functions over all elements of an
// array, or over one of its axes, as numpy.sum, min, argmax, var, … compute them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tunesmith/dispatcher.h"
#include "tunesmith/reduce_functions.h"
#include "tunesmith/types.h"

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

/// The options of a reduction besides its function.
struct ReduceOptions {
  /// For var, std and mean_var: squares are divided by length - ddof.
  std::int64_t ddof = 0;
  /// Sums and products are computed and written as double: sum and prod of all types but double, mean, var,
  /// std and mean_var of float, f16 and bf16.
  bool sums_in_double = false;
};

template <typename T>
concept ReduceElement = OneOf<T, float, double, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                              std::int32_t, std::int64_t>;
template <ReduceElement T>
using ReduceSum = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;  ///< wraps beyond 64 bits
template <ReduceElement T>
using ReduceMean = std::conditional_t<std::is_integral_v<T>, double, T>;  ///< of moments and norms too

/// The plan that the functions below use, to launch it many times or to see how it matched. Arguments: x, y.
/// `type` is the type of x: f32, f64, f16, bf16, i8, u8, i16, u16, i32 or i64.
Plan reduce_plan(Dispatcher& dispatcher, ElementName type, const ReduceShape& shape,
                 ReduceFunction function = ReduceFunction::sum,
                 ReduceOrder order = ReduceOrder::deterministic, const ReduceOptions& options = {});
template <ReduceElement T>
Plan reduce_plan(Dispatcher& dispatcher, const ReduceShape& shape,
                 ReduceFunction function = ReduceFunction::sum,
                 ReduceOrder order = ReduceOrder::deterministic, const ReduceOptions& options = {}) {
  return reduce_plan(dispatcher, element_type<T>, shape, function, order, options);
}

/// Reduces by any function. `y` has the function's own type, as numpy's has: see README.md. `x` and `y` are
/// in memory of the dispatcher's device and do not overlap. `stream` is a cudaStream_t. Without a `workspace`
/// the library makes one for each launch that needs one. One of your own saves some microseconds; give it to
/// Plan::launch() of a reduce_plan() that you keep, since a better plan that comes later may need a larger
/// one.
///
/// Throws where plan() throws: for a negative size, and for an extreme, or its place, of no elements. The
/// Status reports all other errors, also a null, overlapping or misaligned pointer.
template <ReduceElement T>
Status reduce(Dispatcher& dispatcher, ReduceFunction function, const T* x, void* y, const ReduceShape& shape,
              const ReduceOptions& options = {}, void* stream = nullptr, void* workspace = nullptr) {
  void* const arguments[] = {const_cast<T*>(x), y};
  return reduce_plan<T>(dispatcher, shape, function, ReduceOrder::deterministic, options)
      .launch(arguments, stream, workspace);
}

/// A floating-point sum's error is at most 8 u sum|x|, u = 2^-24 or 2^-53, whatever the length (f32: plus
/// length 2^-53 sum|x|), as long as sum|x| does not overflow; with ReduceOrder::atomic (8 + 2048) u sum|x|. A
/// mean is such a sum, divided; for integers the bound is that of doubles. NaN propagates through all four.
/// The sum of no elements is 0, their mean NaN.
template <ReduceElement T>
Status reduce_sum(Dispatcher& dispatcher, const T* x, ReduceSum<T>* y, const ReduceShape& shape,
                  ReduceOrder order = ReduceOrder::deterministic, void* stream = nullptr,
                  void* workspace = nullptr) {
  void* const arguments[] = {const_cast<T*>(x), y};
  return reduce_plan<T>(dispatcher, shape, ReduceFunction::sum, order).launch(arguments, stream, workspace);
}
template <ReduceElement T>
Status reduce_mean(Dispatcher& dispatcher, const T* x, ReduceMean<T>* y, const ReduceShape& shape,
                   void* stream = nullptr, void* workspace = nullptr) {
  return reduce(dispatcher, ReduceFunction::mean, x, y, shape, {}, stream, workspace);
}
template <ReduceElement T>
Status reduce_min(Dispatcher& dispatcher, const T* x, T* y, const ReduceShape& shape, void* stream = nullptr,
                  void* workspace = nullptr) {
  return reduce(dispatcher, ReduceFunction::min, x, y, shape, {}, stream, workspace);
}
template <ReduceElement T>
Status reduce_max(Dispatcher& dispatcher, const T* x, T* y, const ReduceShape& shape, void* stream = nullptr,
                  void* workspace = nullptr) {
  return reduce(dispatcher, ReduceFunction::max, x, y, shape, {}, stream, workspace);
}

/// The first place of the least or greatest element of each line, by its position along the axis; a NaN is
/// before any number.
template <ReduceElement T>
Status reduce_argmin(Dispatcher& dispatcher, const T* x, std::int64_t* y, const ReduceShape& shape,
                     void* stream = nullptr, void* workspace = nullptr) {
  return reduce(dispatcher, ReduceFunction::argmin, x, y, shape, {}, stream, workspace);
}
template <ReduceElement T>
Status reduce_argmax(Dispatcher& dispatcher, const T* x, std::int64_t* y, const ReduceShape& shape,
                     void* stream = nullptr, void* workspace = nullptr) {
  return reduce(dispatcher, ReduceFunction::argmax, x, y, shape, {}, stream, workspace);
}

/// The squares of the elements' differences from their mean, added and divided by length - ddof; std: its
/// root. x is read once; the error of the squares' sum S is at most 16 u S + 256 u^2 sum x^2 (in float also n
/// 2^-52 times the squares of the differences from the first element), u = 2^-24 or 2^-53.
template <ReduceElement T>
Status reduce_var(Dispatcher& dispatcher, const T* x, ReduceMean<T>* y, const ReduceShape& shape,
                  std::int64_t ddof = 0, void* stream = nullptr, void* workspace = nullptr) {
  return reduce(dispatcher, ReduceFunction::var, x, y, shape, {.ddof = ddof}, stream, workspace);
}
template <ReduceElement T>
Status reduce_std(Dispatcher& dispatcher, const T* x, ReduceMean<T>* y, const ReduceShape& shape,
                  std::int64_t ddof = 0, void* stream = nullptr, void* workspace = nullptr) {
  return reduce(dispatcher, ReduceFunction::std, x, y, shape, {.ddof = ddof}, stream, workspace);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
