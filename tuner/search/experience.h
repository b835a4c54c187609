// SPDX-License-Identifier: Apache-2.0
// Guesses from the names and values of axes, before anything is measured: how many threads a block has, how
// many elements a thread computes. The guesses hold for most kernels on most GPUs, but not for all, so their
// weight is small and verdicts overrule them.
#pragma once

#include <vector>

#include "tuner/search/points.h"

namespace tunesmith {

class Experience {
 public:
  Experience(const Points& points, Prior prior);

  /// The logarithm of how many times slower than usual the point is expected to be.
  double slower(PointId id) const;

 private:
  enum class Role { none, threads, work };
  const Points& points_;
  Prior prior_;
  std::vector<std::vector<Role>> roles_;  // by part and axis
};

}  // namespace tunesmith
