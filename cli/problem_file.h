// SPDX-License-Identifier: Apache-2.0
// The file of --problems: problems of one op or of several, perhaps weighted, as Dispatcher::save_problems()
// writes it.
#pragma once

#include <filesystem>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

struct ProblemsOfOp {
  const Op* op = nullptr;
  std::vector<Problem> problems;
  std::vector<double> weights;  ///< of each
  double weight = 0;            ///< of all
};

/// The most valuable first, ops and the problems of each; where weights are equal, as in the file. A problem
/// that is there more than once has the sum of its weights. With `only`, problems of that op alone, also
/// those whose lines name none; without, each line must name its op. Throws UsageError naming the line.
std::vector<ProblemsOfOp> read_problem_file(const std::filesystem::path& path, const Op* only);

}  // namespace tunesmith
