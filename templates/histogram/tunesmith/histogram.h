// SPDX-License-Identifier: Apache-2.0
// Counts values in bins of equal width, as numpy.histogram does, or by the values themselves, as
// numpy.bincount does.
#pragma once

#include <cstdint>

#include "tunesmith/dispatcher.h"
#include "tunesmith/types.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

struct HistogramShape {
  std::int64_t length = 0;  ///< values
  std::int64_t bins = 0;    ///< 1 to 65536
  std::int64_t stride = 1;  ///< elements from one value to the next in memory
};

template <typename T>
concept HistogramElement =
    OneOf<T, float, double, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::int16_t>;
template <typename T>
concept CountedElement = OneOf<T, std::int32_t, std::uint8_t, std::uint16_t, std::int16_t>;

/// Plans for these limits, to launch them many times or to see how they matched. launch() takes other limits
/// as numbers: plan.launch(arguments, limits). Arguments: values, counts. `type` is the type of the values:
/// i32, u8, u16 or i16, and for histogram also f32, f64 or i64.
Plan histogram_plan(Dispatcher& dispatcher, ElementName type, const HistogramShape& shape, double lo,
                    double hi);
template <HistogramElement T>
Plan histogram_plan(Dispatcher& dispatcher, const HistogramShape& shape, double lo, double hi) {
  return histogram_plan(dispatcher, element_type<T>, shape, lo, hi);
}
Plan bincount_plan(Dispatcher& dispatcher, ElementName type, const HistogramShape& shape);
template <CountedElement T>
Plan bincount_plan(Dispatcher& dispatcher, const HistogramShape& shape) {
  return bincount_plan(dispatcher, element_type<T>, shape);
}

/// Sets counts[i] to the number of values in bin i, of `bins` bins of equal width over [lo, hi]. The result
/// is that of numpy.histogram(values, bins, range=(lo, hi))[0], with every value in the same bin as in NumPy.
/// A bin includes its lower edge, the last bin both edges; values outside, NaN and infinities are not
/// counted. `values` has (length - 1) * stride + 1 elements, `counts` has `bins`, in memory of the
/// dispatcher's device; they do not overlap. `counts` is overwritten. `stream` is a cudaStream_t. Throws
/// where plan() throws: for a size that is not allowed. The Status tells all other errors: null, overlapping
/// or misaligned pointers, lo >= hi, limits that are not finite, bins too narrow for the type's numbers. One
/// plan serves all limits.
Status histogram(Dispatcher& dispatcher, ElementName type, const void* values, std::int64_t* counts,
                 const HistogramShape& shape, double lo, double hi, void* stream = nullptr);
template <HistogramElement T>
Status histogram(Dispatcher& dispatcher, const T* values, std::int64_t* counts, const HistogramShape& shape,
                 double lo, double hi, void* stream = nullptr) {
  return histogram(dispatcher, element_type<T>, values, counts, shape, lo, hi, stream);
}

/// Sets counts[i] to the number of values equal to i, as numpy.bincount(values, minlength=bins)[:bins].
/// Values below 0, for which NumPy raises an error, and values from `bins` on are not counted. Everything
/// else is as for histogram().
Status bincount(Dispatcher& dispatcher, ElementName type, const void* values, std::int64_t* counts,
                const HistogramShape& shape, void* stream = nullptr);
template <CountedElement T>
Status bincount(Dispatcher& dispatcher, const T* values, std::int64_t* counts, const HistogramShape& shape,
                void* stream = nullptr) {
  return bincount(dispatcher, element_type<T>, values, counts, shape, stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
