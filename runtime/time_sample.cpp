// SPDX-License-Identifier: Apache-2.0
#include "runtime/time_sample.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tunesmith {
namespace {

// Interpolates between order statistics, as numpy.quantile does.
double quantile(const std::vector<double>& sorted, double at) {
  const double position = at * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

}  // namespace

Summary summarize(std::vector<double> samples_us) {
  std::sort(samples_us.begin(), samples_us.end());
  Summary summary;
  summary.min_us = samples_us.front();
  summary.median_us = quantile(samples_us, 0.5);
  if (summary.median_us > 0) {
    summary.spread = (quantile(samples_us, 0.75) - quantile(samples_us, 0.25)) / summary.median_us;
  }
  return summary;
}

int repeats_for(double launch_us, double sample_target_us, int most) {
  return static_cast<int>(
      std::clamp(sample_target_us / std::max(launch_us, 0.5), 1.0, static_cast<double>(most)));
}

}  // namespace tunesmith
