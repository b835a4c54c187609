// SPDX-License-Identifier: Apache-2.0
// Computes times for the tuner and for first-use tuning: samples of several launches, and their median.
#pragma once

#include <vector>

namespace tunesmith {

struct Summary {
  double median_us = 0;
  double min_us = 0;
  double spread = 0;  ///< interquartile range / median
};

/// Needs at least one sample.
Summary summarize(std::vector<double> samples_us);

/// Returns the number of launches of `launch_us` that make a sample of `sample_target_us`.
int repeats_for(double launch_us, double sample_target_us, int most = 50);

}  // namespace tunesmith
