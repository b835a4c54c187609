// SPDX-License-Identifier: Apache-2.0
// joint_histogram/base: the template of the plain kernel, which serves every problem.

#include <algorithm>

#include "templates/joint_histogram/op.h"

namespace tunesmith::joint_histogram_op {
namespace {

constexpr std::int64_t most_blocks = 1 << 20;

Space base_space(const Problem& /*problem*/) { return Space({block_axis()}); }

Work base_work(const Problem& problem, const Config& config) {
  const std::int64_t length = problem.integer("length");
  Work work{.steps = {zero_sums(problem)}};
  if (length == 0) return work;
  Launch launch{.kernel = "joint_histogram_base",
                .grid = {std::min(ceil_divide(length, config[BLOCK]), most_blocks)},
                .block = {config[BLOCK]},
                .arguments = kernel_arguments(problem),
                .numbers = number_places(problem)};
  launch.arguments.emplace_back(std::int32_t{has_pairs(problem)});
  launch.arguments.emplace_back(std::int32_t{has_own_edges(problem)});
  launch.arguments.emplace_back(int32(weight_bytes(problem)));
  work.steps.push_back(std::move(launch));
  return work;
}

}  // namespace

Template base() {
  return {.name = "base",
          .what = "One thread per pair, added to a sum in global memory; serves every problem.",
          .kernels = {"joint_histogram_base"},
          .space = base_space,
          .work = base_work};
}

}  // namespace tunesmith::joint_histogram_op
