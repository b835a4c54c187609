// SPDX-License-Identifier: Apache-2.0
// A search on a recorded space: finds what a strategy would have found, without a device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/search/policy.h"
#include "tuner/search/recorded.h"
#include "tuner/search/statistics.h"

namespace tunesmith {

struct Replay {
  std::string strategy = "auto";
  Prior prior = Prior::worth;
  std::vector<Point> promising = {};  ///< proposed first
  Budget budget;                      ///< verdicts, or recorded seconds
  std::size_t lag = 0;                ///< proposals in flight when a verdict is reported
  std::uint64_t seed = 1;
  double until_gain = 0;  ///< as EndOfSearch::least_gain
  /// This many searches run at the same time, each with its own seed and the whole budget, and tell each
  /// other their verdicts.
  std::size_t ranks = 1;
};

/// The state after each verdict; with several ranks, after one verdict of each. A config that failed costs a
/// verdict too.
struct ReplayStep {
  double seconds = 0;  ///< of compiling and running, one after the other; of the slowest rank
  double quality = 0;  ///< the optimum's time / the best found; 0: none was ok
};
std::vector<ReplayStep> replay(const RecordedSpace& space, const Replay& how);

/// The quality over repeats with different seeds.
struct Quality : MeanEstimate {
  double low = 0;  ///< the 5th percentile
};
Quality quality_of(std::vector<double> qualities);

}  // namespace tunesmith
