// SPDX-License-Identifier: Apache-2.0
// histogram/base: the template of the plain kernel, which serves every problem.

#include <algorithm>

#include "templates/histogram/op.h"

namespace tunesmith::histogram_op {
namespace {

constexpr std::int64_t most_blocks = 1 << 20;

Space base_space(const Problem& /*problem*/) { return Space({block_axis()}); }

Work base_work(const Problem& problem, const Config& config) {
  const std::int64_t length = problem.integer("length");
  Work work{.steps = {zero_counts(problem)}};
  if (length == 0) return work;
  work.steps.push_back(Launch{.kernel = "histogram_base",
                              .grid = {std::min(ceil_divide(length, config[BLOCK]), most_blocks)},
                              .block = {config[BLOCK]},
                              .arguments = kernel_arguments(problem),
                              .numbers = number_places(problem)});
  return work;
}

}  // namespace

Template base() {
  return {.name = "base",
          .what = "One thread per element, added to a counter in global memory; serves every problem.",
          .kernels = {"histogram_base"},
          .compiled_in = {"function", "dtype"},
          .space = base_space,
          .work = base_work};
}

}  // namespace tunesmith::histogram_op
