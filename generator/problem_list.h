// SPDX-License-Identifier: Apache-2.0
// A problem as a line of a file has it, so that what an application writes is what a tuner reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "generator/problem.h"

namespace tunesmith {

/// Written as "conv2d weight=52.5 height=1000 width=2000".
struct ListedProblem {
  std::string op = {};  ///< empty: the line names none
  double weight = 1;    ///< how much it is worth to tune it, as a multiple of others; 0: it is tuned
  Problem problem;
};

/// What stands before a # outside of quotes; nothing if that is blank. Throws UsageError.
std::optional<ListedProblem> parse_problem_line(std::string_view line);

/// With an op and a weight; without a line feed.
std::string problem_line(const ListedProblem& problem);

}  // namespace tunesmith
