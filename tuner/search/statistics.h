// SPDX-License-Identifier: Apache-2.0
// Intervals of a binary's time from the times of a few loads, and means of searches, as pure functions of
// measurements.
#pragma once

#include <optional>
#include <span>

namespace tunesmith {

/// A mean, and its standard error, NaN of fewer than two values; both are NaN if there are none.
struct MeanEstimate {
  double mean = 0, error = 0;
};
MeanEstimate mean_of(std::span<const double> values);

struct Interval {
  double low = 0;
  double middle = 0;  ///< the estimate
  double high = 0;
  bool operator==(const Interval&) const = default;
};

/// The confidence of every interval of a time.
inline constexpr double stated_confidence = 0.95;

/// An interval of the median that the values are drawn around, one value per load. It lies between two of the
/// values, so that it covers for any distribution, however skewed (exact, by the binomial). Nothing if there
/// are too few: for 95 % six are needed, for 99 % eight.
std::optional<Interval> median_interval(std::span<const double> values, double confidence);

/// An interval of the ratio of `slower_us` to `faster_us`, both in the same rounds. An effect of a round on
/// both cancels, and the difference of two loads' logarithms is about symmetric even if a time has outliers
/// to one side. So the interval is Wilcoxon's of signed ranks, and the estimate is the median of all means of
/// two of the differences (Hodges and Lehmann); both need few rounds and tolerate outliers. Rounds in which
/// one of the times is 0 do not count. If there are too few rounds for an interval, it is from 0 to infinity;
/// without any the estimate is 1.
Interval paired_ratio(std::span<const double> slower_us, std::span<const double> faster_us,
                      double confidence);

}  // namespace tunesmith
