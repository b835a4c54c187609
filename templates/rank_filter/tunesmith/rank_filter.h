// SPDX-License-Identifier: Apache-2.0
// The minimum, median, maximum, or the element of any other rank, of a window around each element of an
// image, as scipy.ndimage's rank_filter, median_filter, percentile_filter, minimum_filter and maximum_filter.
#pragma once

#include <cstdint>
#include <string_view>

#include "tunesmith/boundary.h"
#include "tunesmith/dispatcher.h"
#include "tunesmith/types.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

using RankFilterBoundary = Boundary;

/// An image of depth x height x width elements, row-major and contiguous, and its window. If the window has
/// one plane, each plane is an image of its own. Output (z, y, x) has the window that begins at z -
/// window_depth / 2 - origin_z, and likewise along y and x; it must hold its output's own place.
struct RankFilterShape {
  std::int64_t depth = 1;
  std::int64_t height = 1;
  std::int64_t width = 0;
  std::int64_t window_depth = 1;
  std::int64_t window_height = 1;
  std::int64_t window_width = 1;
  Boundary boundary = Boundary::reflect;
  double value = 0;  ///< outside, for Boundary::constant; integer types truncate it, then clamp it to range
  std::int64_t origin_z = 0;
  std::int64_t origin_y = 0;
  std::int64_t origin_x = 0;
  /// The places of the window that count, marked x, row by row with a slash between two rows: ".x./xxx/.x.".
  /// At most 2048 places, not all of them x. "box": all places of a window of any size.
  std::string_view footprint = "box";
};

template <typename T>
concept RankFilterElement =
    OneOf<T, float, double, std::uint8_t, std::uint16_t, std::int16_t, std::int32_t, std::int64_t>;

template <RankFilterElement T>
inline constexpr std::string_view rank_filter_dtype = ElementName(element_type<T>).text;

/// The number of elements of a window that count.
std::int64_t rank_filter_count(const RankFilterShape& shape) noexcept;

/// The plan that rank_filter() uses, to launch it many times or to see how it matched. Arguments: image,
/// output. A launch takes the value outside as its number. `type` may also be f16 or bf16.
Plan rank_filter_plan(Dispatcher& dispatcher, const RankFilterShape& shape, std::int64_t rank,
                      ElementName type = ElementType::f32);

/// Finds the element of rank `rank` in each window: 0 is the minimum, rank_filter_count() - 1 the maximum.
/// The result is exact: the order is total, with -0 before 0 and NaN after all numbers, so that a minimum is
/// NaN only if all elements of its window are. `image` and `output` are in memory of the dispatcher's device
/// and do not overlap. `stream` is a cudaStream_t.
///
/// Throws where plan() throws: for a size, an origin, a footprint or a rank that is not allowed. The Status
/// tells all other errors.
Status rank_filter(Dispatcher& dispatcher, const void* image, void* output, const RankFilterShape& shape,
                   std::int64_t rank, ElementName type, void* stream = nullptr);

template <RankFilterElement T>
Status rank_filter(Dispatcher& dispatcher, const T* image, T* output, const RankFilterShape& shape,
                   std::int64_t rank, void* stream = nullptr) {
  return rank_filter(dispatcher, static_cast<const void*>(image), static_cast<void*>(output), shape, rank,
                     element_type<T>, stream);
}

/// The median of each window. For an even number of elements it is the upper of the middle two, as in SciPy.
template <RankFilterElement T>
Status median_filter(Dispatcher& dispatcher, const T* image, T* output, const RankFilterShape& shape,
                     void* stream = nullptr) {
  return rank_filter(dispatcher, image, output, shape, rank_filter_count(shape) / 2, stream);
}
template <RankFilterElement T>
Status minimum_filter(Dispatcher& dispatcher, const T* image, T* output, const RankFilterShape& shape,
                      void* stream = nullptr) {
  return rank_filter(dispatcher, image, output, shape, 0, stream);
}
template <RankFilterElement T>
Status maximum_filter(Dispatcher& dispatcher, const T* image, T* output, const RankFilterShape& shape,
                      void* stream = nullptr) {
  return rank_filter(dispatcher, image, output, shape, rank_filter_count(shape) - 1, stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
