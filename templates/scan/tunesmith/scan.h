// SPDX-License-Identifier: Apache-2.0
// Sums, products, maxima, minima and logical ors and ands of all elements of an axis up to each one, as
// numpy.cumsum, cumprod and accumulate() of maximum, minimum, logical_or and logical_and compute them.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "tunesmith/dispatcher.h"
#include "tunesmith/scan_functions.h"
#include "tunesmith/types.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

/// An array of outer x length x inner elements that is scanned along its middle axis; the output has its
/// shape and is contiguous. All of n elements: {.length = n}; the last axis of h x w: {.outer = h, .length =
/// w}; the first: {.length = h, .inner = w}. Element (o, l, i) is x[o * outer_stride + l * stride + i].
struct ScanShape {
  std::int64_t outer = 1;
  std::int64_t length = 0;
  std::int64_t inner = 1;
  std::int64_t outer_stride = 0;  ///< elements; 0: length * stride
  std::int64_t stride = 0;        ///< elements; 0: inner
  bool reverse = false;           ///< from the last element of the axis on
};

template <typename T>
concept ScanElement = OneOf<T, float, double, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                            std::int32_t, std::int64_t>;

template <ScanElement T>
inline constexpr std::string_view scan_dtype = ElementName(element_type<T>).text;

/// The type of a scan's results. Sums and products of integers wrap beyond 64 bits.
template <ScanFunction function, ScanElement T>
using ScanResult = std::conditional_t<
    function == ScanFunction::any || function == ScanFunction::all, bool,
    std::conditional_t<std::is_floating_point_v<T> || function == ScanFunction::max ||
                           function == ScanFunction::min,
                       T, std::conditional_t<std::is_unsigned_v<T>, std::uint64_t, std::int64_t>>>;

/// The plan that scan() uses, to launch it many times or to see how it matched. Arguments: x, y. `type` is
/// the type of x; f16 and bf16 are allowed too. sums_in_double: sums and products of f32 are computed and
/// written as double.
Plan scan_plan(Dispatcher& dispatcher, const ScanShape& shape, ScanFunction function = ScanFunction::sum,
               ScanKind kind = ScanKind::inclusive, ElementName type = ElementType::f32,
               bool sums_in_double = false);

/// The plan for a scan of a function of your own: an expression of a, the result so far, and b, the next
/// element, in C's operators and functions (elementwise has the list), such as "max(a, b) + log1p(exp(-abs(a
/// - b)))". It must be associative: an expression that is not, for a few numbers, is refused. `type` is that
/// of x and y, no integer of 8 or 16 bits. exclusive_first: the scan is exclusive, and this is its first
/// result.
Plan scan_expression_plan(Dispatcher& dispatcher, std::string_view expression, const ScanShape& shape,
                          ElementName type = ElementType::f32,
                          std::optional<double> exclusive_first = std::nullopt);

/// `x` and `y` are in memory of the dispatcher's device and do not overlap. `stream` is a cudaStream_t.
/// Without a `workspace` the library makes one for each launch that needs one. One of your own saves some
/// microseconds; give it to Plan::launch() of a scan_plan() that you keep, since a better plan that comes
/// later may need a larger one.
///
/// A plan gives the same bits for the same arguments in every run. The error of the n-th sum is at most
/// min(n, 256 + n / 1024) u sum|x|, u = 2^-24 or 2^-53, as long as sum|x| does not overflow; that of a
/// product at most n u times its size, as long as no product of neighbours leaves the type's range. NaN
/// stays; it counts as true.
///
/// Throws where plan() throws: for a negative size. The Status reports all other errors, also a null,
/// overlapping or misaligned pointer.
template <ScanFunction function, ScanElement T>
Status scan(Dispatcher& dispatcher, const T* x, ScanResult<function, T>* y, const ScanShape& shape,
            ScanKind kind = ScanKind::inclusive, void* stream = nullptr, void* workspace = nullptr) {
  void* const arguments[] = {const_cast<T*>(x), y};
  return scan_plan(dispatcher, shape, function, kind, element_type<T>).launch(arguments, stream, workspace);
}

/// Sums or products as of scan(), but computed and written as doubles: with u = 2^-53.
template <ScanFunction function>
Status scan_in_double(Dispatcher& dispatcher, const float* x, double* y, const ScanShape& shape,
                      ScanKind kind = ScanKind::inclusive, void* stream = nullptr,
                      void* workspace = nullptr) {
  static_assert(function == ScanFunction::sum || function == ScanFunction::product);
  void* const arguments[] = {const_cast<float*>(x), y};
  return scan_plan(dispatcher, shape, function, kind, ElementType::f32, true)
      .launch(arguments, stream, workspace);
}

/// scan() of an expression; see scan_expression_plan(). Elements are combined in a fixed order, but not one
/// after the other.
template <ScanElement T>
requires(!std::same_as<T, std::uint8_t>) Status
    scan_expression(Dispatcher& dispatcher, std::string_view expression, const T* x, T* y,
                    const ScanShape& shape, std::optional<double> exclusive_first = std::nullopt,
                    void* stream = nullptr, void* workspace = nullptr) {
  void* const arguments[] = {const_cast<T*>(x), y};
  return scan_expression_plan(dispatcher, expression, shape, element_type<T>, exclusive_first)
      .launch(arguments, stream, workspace);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
