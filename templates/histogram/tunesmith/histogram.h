// SPDX-License-Identifier: Apache-2.0
// Counts values in bins of equal width, as numpy.histogram does, or by the values themselves, as
// numpy.bincount does.
#pragma once

#include <cstdint>

#include "tunesmith/dispatcher.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

struct HistogramShape {
  std::int64_t length = 0;  ///< values
  std::int64_t bins = 0;    ///< 1 to 65536
  std::int64_t stride = 1;  ///< elements from one value to the next in memory
};

/// Sets counts[i] to the number of values in bin i, of `bins` bins of equal width over [lo, hi]. The result
/// is that of numpy.histogram(values, bins, range=(lo, hi))[0], with every value in the same bin as in NumPy.
/// A bin includes its lower edge, the last bin both edges; values outside, NaN and infinities are not
/// counted. `values` has (length - 1) * stride + 1 elements, `counts` has `bins`, in memory of the
/// dispatcher's device; they do not overlap. `counts` is overwritten. `stream` is a cudaStream_t. Throws
/// where plan() throws: for a size that is not allowed. The Status tells all other errors: null, overlapping
/// or misaligned pointers, lo >= hi, limits that are not finite, bins too narrow for the type's numbers. One
/// plan serves all limits.
Status histogram(Dispatcher& dispatcher, const float* values, std::int64_t* counts,
                 const HistogramShape& shape, double lo, double hi, void* stream = nullptr);
Status histogram(Dispatcher& dispatcher, const std::int32_t* values, std::int64_t* counts,
                 const HistogramShape& shape, double lo, double hi, void* stream = nullptr);
Status histogram(Dispatcher& dispatcher, const double* values, std::int64_t* counts,
                 const HistogramShape& shape, double lo, double hi, void* stream = nullptr);
Status histogram(Dispatcher& dispatcher, const std::int64_t* values, std::int64_t* counts,
                 const HistogramShape& shape, double lo, double hi, void* stream = nullptr);
Status histogram(Dispatcher& dispatcher, const std::uint8_t* values, std::int64_t* counts,
                 const HistogramShape& shape, double lo, double hi, void* stream = nullptr);

/// Sets counts[i] to the number of values equal to i, as numpy.bincount(values, minlength=bins)[:bins].
/// Values below 0, for which NumPy raises an error, and values from `bins` on are not counted. Everything
/// else is as for histogram().
Status bincount(Dispatcher& dispatcher, const std::int32_t* values, std::int64_t* counts,
                const HistogramShape& shape, void* stream = nullptr);
Status bincount(Dispatcher& dispatcher, const std::uint8_t* values, std::int64_t* counts,
                const HistogramShape& shape, void* stream = nullptr);

/// Plans for these limits, to launch them many times or to see how they matched. launch() takes other limits
/// as numbers: plan.launch(arguments, limits). Arguments: values, counts. T is std::int32_t or std::uint8_t,
/// and for histogram also float, double or std::int64_t.
template <typename T>
Plan histogram_plan(Dispatcher& dispatcher, const HistogramShape& shape, double lo, double hi);
extern template Plan histogram_plan<float>(Dispatcher&, const HistogramShape&, double, double);
extern template Plan histogram_plan<double>(Dispatcher&, const HistogramShape&, double, double);
extern template Plan histogram_plan<std::int64_t>(Dispatcher&, const HistogramShape&, double, double);
extern template Plan histogram_plan<std::int32_t>(Dispatcher&, const HistogramShape&, double, double);
extern template Plan histogram_plan<std::uint8_t>(Dispatcher&, const HistogramShape&, double, double);
template <typename T>
Plan bincount_plan(Dispatcher& dispatcher, const HistogramShape& shape);
extern template Plan bincount_plan<std::int32_t>(Dispatcher&, const HistogramShape&);
extern template Plan bincount_plan<std::uint8_t>(Dispatcher&, const HistogramShape&);

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
