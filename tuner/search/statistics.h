// SPDX-License-Identifier: Apache-2.0
// What a few loads of a binary say about its time: intervals, as pure functions of what was measured.
#pragma once

#include <optional>
#include <span>

namespace tunesmith {

struct Interval {
  double low = 0;
  double middle = 0;  ///< the estimate
  double high = 0;
  bool operator==(const Interval&) const = default;
};

/// Of every interval of a time.
inline constexpr double stated_confidence = 0.95;

/// Of the median that the values are drawn around, one value per load: between two of the values, so that it
/// covers for any distribution, however skewed (exact, by the binomial). Nothing where there are too few: for
/// 95 % six are needed, for 99 % eight.
std::optional<Interval> median_interval(std::span<const double> values, double confidence);

/// Of how many times as long `slower_us` takes as `faster_us`, both in the same rounds: what a round does to
/// both cancels, and the difference of two loads' logarithms is about symmetric even where a time has
/// outliers to one side. So the interval is Wilcoxon's of signed ranks, and the estimate the median of all
/// means of two of the differences (Hodges and Lehmann); both need few rounds and bear outliers. Rounds in
/// which one of the times is 0 do not count. Where there are too few for an interval, it is from 0 to
/// infinity; without any the estimate is 1.
Interval paired_ratio(std::span<const double> slower_us, std::span<const double> faster_us,
                      double confidence);

}  // namespace tunesmith
