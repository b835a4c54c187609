// SPDX-License-Identifier: Apache-2.0
// histogram/gathered: one kernel, whose last block gathers the counts of all blocks.

#include <algorithm>

#include "templates/axes.h"
#include "templates/blocks.h"
#include "templates/histogram/op.h"

namespace tunesmith::histogram_op {
namespace {

std::int64_t shared_bytes(const Problem& problem, const Config& c) {
  return 4 * c[COPIES] * counters_of(problem);
}

std::string too_large(const Problem& problem) {
  if (std::string wide = wider_than_four_bytes(problem); !wide.empty()) return wide;
  constexpr std::int64_t most = (std::int64_t{1} << 32) - 1;
  const std::int64_t length = problem.integer("length");
  const std::int64_t bins = problem.integer("bins");
  if (4 * bins > largest_shared_limit)
    return "The " + std::to_string(bins) + " bins do not fit in a block's shared memory; at most " +
           std::to_string(largest_shared_limit / 4) + " do.";
  if (length <= most) return "";
  return "The length " + std::to_string(length) + " is too large for counts of 32 bits; at most " +
         std::to_string(most) + " elements are counted.";
}

Space gathered_space(const Problem& problem, const DeviceFacts& device) {
  return Space({{COPIES, {1, 8, 32, 4}, "copies of the counters, each for some lanes of every warp"},
                merge_axis(),
                vector_axis(problem),
                {ITEMS, {1, 2, 4}, "loads of a thread before it counts"},
                load_axis(),
                block_axis({512, 256, 1024}),
                {BLOCKS, blocks_to_fill(device, {1, 2}, {8, 16, 32, 64}), "blocks at most"},
                start_axis(),
                trigger_axis()},
               {counters_fit_rule([problem](const Config& c) { return shared_bytes(problem, c); })},
               {{"MERGE=warp is for at most four copies, MERGE=run for at least eight.",
                 [](const Config& c) {
                   return c[MERGE] == "none" || (c[MERGE] == "warp" ? c[COPIES] <= 4 : c[COPIES] >= 8);
                 }},
                run_rule(),
                own_blocks_rule(BLOCKS, device),
                trigger_rule()});
}

Work gathered_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  Work work;
  if (d.length == 0) {
    work.steps.push_back(zero_counts(problem));
    return work;
  }
  work.workspace_bytes = work.zeroed_bytes = 4 * (1 + d.bins);
  Launch launch{.kernel = "histogram_gathered",
                .grid = {std::min(ceil_divide(d.length, tile(config)), config[BLOCKS])},
                .block = {config[BLOCK]},
                .dynamic_shared_bytes = shared_bytes(problem, config),
                .arguments = kernel_arguments(problem),
                .overlaps_previous = config[START] == "overlapped",
                .numbers = number_places(problem)};
  launch.arguments.emplace_back(WorkspacePointer{0});
  work.steps.push_back(std::move(launch));
  return work;
}

}  // namespace

Template gathered() {
  return {.name = "gathered",
          .what =
              "Counters in each block's shared memory, added to counts in the workspace that the last block "
              "moves to the output: no filling with zeros before it.",
          .kernels = {"histogram_gathered"},
          .compiled_in = {"function", "dtype"},
          .constants = contiguous,
          .refuses = too_large,
          .space = gathered_space,
          .work = gathered_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::histogram_op
