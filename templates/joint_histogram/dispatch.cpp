// SPDX-License-Identifier: Apache-2.0
// Makes the plan that the typed functions of tunesmith/joint_histogram.h launch.
#include "tunesmith/joint_histogram.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

// The plan has the op's initial limits and serves all limits.
Plan joint_histogram_plan(Dispatcher& dispatcher, const JointHistogramShape& shape, bool pairs,
                          ElementName type, std::string_view weights, bool own_edges) {
  const Field problem[] = {{"values", pairs ? "pairs" : "single"},
                           {"weights", weights},
                           {"edges", own_edges ? "given" : "uniform"},
                           {"length", shape.length},
                           {"bins_x", shape.bins_x},
                           {"bins_y", shape.bins_y},
                           {"stride", shape.stride},
                           {"dtype", type.text}};
  return dispatcher.plan("joint_histogram", problem);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
