// SPDX-License-Identifier: Apache-2.0
// Reads and writes a problem as a line of a file, so that a tuner can read what an application writes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "generator/problem.h"

namespace tunesmith {

/// A line such as "conv2d weight=52.5 height=1000 width=2000".
struct ListedProblem {
  std::string op = {};  ///< empty: the line names none
  double weight = 1;    ///< the worth of tuning it relative to other problems; 0: it is tuned already
  Problem problem;
};

/// Parses the part of the line before a # outside of quotes; returns nothing if that is blank. Throws
/// UsageError.
std::optional<ListedProblem> parse_problem_line(std::string_view line);

/// Writes the line with the op and the weight, without a line feed.
std::string problem_line(const ListedProblem& problem);

}  // namespace tunesmith
