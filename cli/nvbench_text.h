// SPDX-License-Identifier: Apache-2.0
// Writes measurements as nvbench writes its results (--json), for the programs that compare, draw and
// summarise such files.
#pragma once

#include <string>
#include <vector>

#include "tuner/search/recorded.h"

namespace tunesmith {

/// A benchmark per op and template, with the parameters of the problem and the axes of the config as its axes
/// and a state per variant and problem; docs/database.md says what becomes what.
std::string nvbench_text(const std::vector<Recording>& recordings);

}  // namespace tunesmith
