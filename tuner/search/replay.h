// SPDX-License-Identifier: Apache-2.0
// A search on a recorded space: what a strategy would have found, without a device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/search/policy.h"
#include "tuner/search/recorded.h"

namespace tunesmith {

struct Replay {
  std::string strategy = "auto";
  Prior prior = Prior::worth;
  std::vector<Point> promising = {};  ///< proposed first
  Budget budget;                      ///< verdicts, or recorded seconds
  std::size_t lag = 0;                ///< proposals in flight when a verdict is reported
  std::uint64_t seed = 1;
  double until_gain = 0;  ///< as EndOfSearch::least_gain
  /// So many search at the same time, each with a seed of its own and the budget for itself, and tell each
  /// other their verdicts.
  std::size_t ranks = 1;
};

/// The state after each verdict, with several ranks after one of each. A config that failed costs one too.
struct ReplayStep {
  double seconds = 0;  ///< of compiling and running, one after the other; of the rank that took longest
  double quality = 0;  ///< the optimum's time / the best found; 0: none was ok
};
std::vector<ReplayStep> replay(const RecordedSpace& space, const Replay& how);

/// Over repeats with different seeds.
struct Quality {
  double mean = 0;
  double low = 0;  ///< the 5th percentile
};
Quality quality_of(std::vector<double> qualities);

}  // namespace tunesmith
