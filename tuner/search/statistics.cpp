// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace tunesmith {
namespace {

double middle_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// The point that a normal variable exceeds with this probability. It is found by bisection, as it is rarely
// needed.
double normal_quantile(double above) {
  double low = 0;
  double high = 10;
  while (high - low > 1e-9) {
    const double z = (low + high) / 2;
    (std::erfc(z / std::sqrt(2.0)) / 2 > above ? low : high) = z;
  }
  return low;
}

}  // namespace

MeanEstimate mean_of(std::span<const double> values) {
  const auto size = static_cast<double>(values.size());
  if (values.empty()) return {std::nan(""), std::nan("")};
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / size;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, size > 1 ? std::sqrt(squares / (size - 1) / size) : std::nan("")};
}

std::optional<Interval> median_interval(std::span<const double> values, double confidence) {
  // The median lies outside [rank k from below, rank k from above] if fewer than k of n coins show heads, or
  // more than n - k.
  const auto n = static_cast<double>(values.size());
  const double most_outside = (1 - confidence) / 2;
  double outside = 0;
  double probability = std::pow(0.5, n);
  std::size_t rank = 0;  // 1 is the smallest
  while (outside + probability <= most_outside && 2 * rank + 2 <= values.size()) {
    outside += probability;
    probability *= (n - static_cast<double>(rank)) / (static_cast<double>(rank) + 1);
    ++rank;
  }
  if (rank == 0) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return Interval{sorted[rank - 1], middle_of(sorted), sorted[sorted.size() - rank]};
}

Interval paired_ratio(std::span<const double> slower_us, std::span<const double> faster_us,
                      double confidence) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < std::min(slower_us.size(), faster_us.size()); ++i) {
    if (slower_us[i] > 0 && faster_us[i] > 0) logs.push_back(std::log(slower_us[i] / faster_us[i]));
  }
  Interval ratio{0, 1, std::numeric_limits<double>::infinity()};
  if (logs.empty()) return ratio;
  std::vector<double> means;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) means.push_back((logs[i] + logs[j]) / 2);
  }
  ratio.middle = std::exp(middle_of(means));
  // The normal approximation of the sum of ranks with its correction for continuity, rounded to the safe
  // side.
  const auto n = static_cast<double>(logs.size());
  const double z = normal_quantile((1 - confidence) / 2);
  const double rank = std::floor(n * (n + 1) / 4 - z * std::sqrt(n * (n + 1) * (2 * n + 1) / 24) - 0.5);
  if (rank < 0) return ratio;
  const auto at = [&](std::ptrdiff_t position) {
    std::nth_element(means.begin(), means.begin() + position, means.end());
    return std::exp(means[static_cast<std::size_t>(position)]);
  };
  const auto below = static_cast<std::ptrdiff_t>(rank);
  ratio.low = at(below);
  ratio.high = at(static_cast<std::ptrdiff_t>(means.size()) - 1 - below);
  return ratio;
}

}  // namespace tunesmith
