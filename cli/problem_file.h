// SPDX-License-Identifier: Apache-2.0
// Reads the file of --problems: problems of one op or of several, perhaps weighted, as
// Dispatcher::save_problems() writes it.
#pragma once

#include <filesystem>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

struct ProblemsOfOp {
  const Op* op = nullptr;
  std::vector<Problem> problems;
  std::vector<double> weights;  ///< the weight of each problem
  double weight = 0;            ///< the sum of the weights
};

/// Reads the problems. Ops, and the problems of each, come the most valuable first; with equal weights, in
/// the order of the file. A problem that occurs more than once has the sum of its weights. With `only`,
/// returns problems of that op alone, also those whose lines name none; without, each line must name its op.
/// Throws UsageError that names the line.
std::vector<ProblemsOfOp> read_problem_file(const std::filesystem::path& path, const Op* only);

}  // namespace tunesmith
