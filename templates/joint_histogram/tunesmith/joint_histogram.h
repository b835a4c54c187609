// SPDX-License-Identifier: Apache-2.0
// Counts pairs of values in a grid of bins, as numpy.histogram2d does, or sums weights by bins. Bins have
// equal width or lie between given edges.
#pragma once

#include <cstdint>
#include <string_view>

#include "tunesmith/dispatcher.h"
#include "tunesmith/types.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

/// Pairs (x[i * stride], y[i * stride]), i < length, in bins_x x bins_y bins. bins_x and bins_y are 1 to
/// 65536, and their product is at most 2^28.
struct JointHistogramShape {
  std::int64_t length = 0;
  std::int64_t bins_x = 0;
  std::int64_t bins_y = 1;
  std::int64_t stride = 1;
};

/// The limits of bins of equal width along an axis.
struct BinLimits {
  double lo = 0;
  double hi = 1;
};

/// Edges in memory of the dispatcher's device, ascending and without NaN: bins_x + 1 for x, and bins_y + 1
/// for y.
struct BinEdges {
  const double* x = nullptr;
  const double* y = nullptr;
};

template <typename T>
concept BinnedElement = OneOf<T, float, double, std::int32_t, std::int64_t, std::uint8_t>;

template <typename W>
concept BinWeight = OneOf<W, float, double>;

template <typename T>
inline constexpr std::string_view binned_dtype = ElementName(element_type<T>).text;

/// The plan of the functions below, to launch it many times or to see how it matched. Arguments: x, y,
/// weights, edges.x, edges.y, sums; arguments that the problem does not have are null. Without edges, the
/// numbers of a launch are lo and hi of x, then of y. `pairs` tells if there is a y; `type` is the type of x
/// and y; `weights` is "none", "f32" or "f64".
Plan joint_histogram_plan(Dispatcher& dispatcher, const JointHistogramShape& shape, bool pairs,
                          ElementName type, std::string_view weights = "none", bool own_edges = false);

/// Sets counts[i * bins_y + j] to the number of pairs in bin i of x and bin j of y. The result is that of
/// numpy.histogram2d(x, y, (bins_x, bins_y), ((x_limits.lo, x_limits.hi), (y_limits.lo, y_limits.hi)))[0],
/// with every pair in the same bin as in NumPy. A bin includes its lower edges, the last one both edges;
/// pairs outside, and pairs with NaN, are not counted. `counts` is overwritten and exact up to 2^53. All
/// arrays are in memory of the dispatcher's device; `counts` overlaps no other. `stream` is a cudaStream_t.
/// Throws where plan() throws: for a size that is not allowed. The Status tells all other errors.
template <BinnedElement T>
Status histogram2d(Dispatcher& dispatcher, const T* x, const T* y, double* counts,
                   const JointHistogramShape& shape, BinLimits x_limits, BinLimits y_limits,
                   void* stream = nullptr) {
  void* const arguments[] = {const_cast<T*>(x), const_cast<T*>(y), nullptr, nullptr, nullptr, counts};
  const double limits[] = {x_limits.lo, x_limits.hi, y_limits.lo, y_limits.hi};
  return joint_histogram_plan(dispatcher, shape, true, binned_dtype<T>).launch(arguments, limits, stream);
}

/// Computes the sums of the pairs' weights in double; weights[i] is the weight of pair i. The order of
/// additions differs from run to run: a sum of n weights is off by at most (n - 1) 2^-53 of the sum of their
/// magnitudes, like NumPy's. Sums of whole numbers below 2^53 are exact.
template <BinnedElement T, BinWeight W>
Status histogram2d(Dispatcher& dispatcher, const T* x, const T* y, const W* weights, double* sums,
                   const JointHistogramShape& shape, BinLimits x_limits, BinLimits y_limits,
                   void* stream = nullptr) {
  void* const arguments[] = {const_cast<T*>(x), const_cast<T*>(y), const_cast<W*>(weights),
                             nullptr,           nullptr,           sums};
  const double limits[] = {x_limits.lo, x_limits.hi, y_limits.lo, y_limits.hi};
  return joint_histogram_plan(dispatcher, shape, true, binned_dtype<T>, binned_dtype<W>)
      .launch(arguments, limits, stream);
}

/// Counts the pairs in bins between edges of any distance, as numpy.histogram2d(x, y, (edges.x, edges.y))[0].
template <BinnedElement T>
Status histogram2d(Dispatcher& dispatcher, const T* x, const T* y, double* counts,
                   const JointHistogramShape& shape, const BinEdges& edges, void* stream = nullptr) {
  void* const arguments[] = {const_cast<T*>(x),
                             const_cast<T*>(y),
                             nullptr,
                             const_cast<double*>(edges.x),
                             const_cast<double*>(edges.y),
                             counts};
  return joint_histogram_plan(dispatcher, shape, true, binned_dtype<T>, "none", true)
      .launch(arguments, stream);
}

/// The same with weights.
template <BinnedElement T, BinWeight W>
Status histogram2d(Dispatcher& dispatcher, const T* x, const T* y, const W* weights, double* sums,
                   const JointHistogramShape& shape, const BinEdges& edges, void* stream = nullptr) {
  void* const arguments[] = {const_cast<T*>(x),
                             const_cast<T*>(y),
                             const_cast<W*>(weights),
                             const_cast<double*>(edges.x),
                             const_cast<double*>(edges.y),
                             sums};
  return joint_histogram_plan(dispatcher, shape, true, binned_dtype<T>, binned_dtype<W>, true)
      .launch(arguments, stream);
}

/// Sets sums[i] to the sum of the weights of the values in bin i, as numpy.histogram(x, bins_x, (limits.lo,
/// limits.hi), weights=weights)[0] in double; errors are as for histogram2d(). bins_y is 1.
template <BinnedElement T, BinWeight W>
Status weighted_histogram(Dispatcher& dispatcher, const T* x, const W* weights, double* sums,
                          const JointHistogramShape& shape, BinLimits limits, void* stream = nullptr) {
  void* const arguments[] = {const_cast<T*>(x), nullptr, const_cast<W*>(weights), nullptr, nullptr, sums};
  const double given[] = {limits.lo, limits.hi, 0, 1};
  return joint_histogram_plan(dispatcher, shape, false, binned_dtype<T>, binned_dtype<W>)
      .launch(arguments, given, stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
