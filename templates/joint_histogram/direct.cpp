// SPDX-License-Identifier: Apache-2.0
// joint_histogram/direct, with sums in global memory: its space and work.

#include <algorithm>
#include <optional>

#include "templates/axes.h"
#include "templates/blocks.h"
#include "templates/joint_histogram/op.h"

namespace tunesmith::joint_histogram_op {
namespace {

using namespace histogram_op;  // the axes

Space direct_space(const Problem& problem, const DeviceFacts& device) {
  return Space({joint_histogram_op::vector_axis(problem),
                {ITEMS, {1, 2, 4}, "loads of a thread before it adds"},
                load_axis(),
                block_axis(),
                {BLOCKS, blocks_to_fill(device, {8, 1, 2, 32}), "blocks at most"}},
               {}, {own_blocks_rule(BLOCKS, device)});
}

Work direct_work(const Problem& problem, const Config& config) {
  const std::int64_t length = problem.integer("length");
  Work work{.steps = {zero_sums(problem)}};
  if (length == 0) return work;
  work.steps.push_back(Launch{.kernel = "joint_histogram_direct",
                              .grid = {std::min(ceil_divide(length, tile(config)), config[BLOCKS])},
                              .block = {config[BLOCK]},
                              .arguments = joint_histogram_op::kernel_arguments(problem),
                              .numbers = joint_histogram_op::number_places(problem)});
  return work;
}

// Given edges are searched. For this, more threads are better than vectors.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const bool searches = has_own_edges(problem);
  const bool are_many = problem.integer("length") > multiprocessors_to_fill(device) * std::int64_t{2048};
  return Values{{std::string(VECTOR.name), searches ? std::int64_t{1} : first_vector(problem, device)},
                {std::string(ITEMS.name), std::int64_t{searches && are_many ? 2 : 1}}};
}

}  // namespace

Template direct() {
  return {.name = "direct",
          .what = "Sums in global memory, values by vectors: for more bins than shared memory holds.",
          .kernels = {"joint_histogram_direct"},
          .compiled_in = {"values", "weights", "edges", "dtype"},
          .constants = contiguous,
          .untuned = untuned,
          .space = direct_space,
          .work = direct_work,
          .alignment_bytes = joint_histogram_op::vector_bytes};
}

}  // namespace tunesmith::joint_histogram_op
