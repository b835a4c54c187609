// SPDX-License-Identifier: Apache-2.0
// histogram/direct, with counters in global memory: its space and work.

#include <algorithm>

#include "templates/axes.h"
#include "templates/blocks.h"
#include "templates/histogram/op.h"

namespace tunesmith::histogram_op {
namespace {

Space direct_space(const Problem& problem, const DeviceFacts& device) {
  return Space({merge_axis(),
                vector_axis(problem),
                {ITEMS, {1, 2, 4}, "loads of a thread before it counts"},
                load_axis(),
                block_axis(),
                {BLOCKS, blocks_to_fill(device, {8, 1, 2, 32}), "blocks at most"}},
               {}, {run_rule(), own_blocks_rule(BLOCKS, device)});
}

Work direct_work(const Problem& problem, const Config& config) {
  const std::int64_t length = problem.integer("length");
  Work work{.steps = {zero_counts(problem)}};
  if (length == 0) return work;
  work.steps.push_back(Launch{.kernel = "histogram_direct",
                              .grid = {std::min(ceil_divide(length, tile(config)), config[BLOCKS])},
                              .block = {config[BLOCK]},
                              .arguments = kernel_arguments(problem),
                              .numbers = number_places(problem)});
  return work;
}

}  // namespace

Template direct() {
  return {.name = "direct",
          .what =
              "Counters in global memory, elements by vectors, equal ones counted together first: for few "
              "elements and for many bins.",
          .kernels = {"histogram_direct"},
          .compiled_in = {"function", "dtype"},
          .constants = contiguous,
          .refuses = wider_than_four_bytes,
          .untuned = by_default,
          .space = direct_space,
          .work = direct_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::histogram_op
