// SPDX-License-Identifier: Apache-2.0
// What the names and values of axes suggest before anything is measured: how many threads a block has, how
// many elements a thread computes. True of most kernels on most GPUs, so it is mild and verdicts overrule it.
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
