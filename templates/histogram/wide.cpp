// SPDX-License-Identifier: Apache-2.0
// histogram/wide, for elements of 8 bytes: its space and work.

#include <algorithm>

#include "templates/axes.h"
#include "templates/blocks.h"
#include "templates/histogram/op.h"

namespace tunesmith::histogram_op {
namespace {

std::int64_t shared_bytes(const Problem& problem, const Config& c) {
  return 4 * c[COPIES] * problem.integer("bins");
}

std::string refuses(const Problem& problem) {
  const std::int64_t bins = problem.integer("bins");
  if (bytes(dtype_of(problem)) != 8)
    return "Elements of " + problem.string("dtype") +
           " have templates of their own; this one is for f64 and i64.";
  if (4 * bins <= largest_shared_limit) return "";
  return "The " + std::to_string(bins) + " bins do not fit in a block's shared memory; at most " +
         std::to_string(largest_shared_limit / 4) + " do.";
}

Space wide_space(const Problem& problem, const DeviceFacts& device) {
  return Space({{COPIES, {8, 1, 32, 4, 2}, "copies of the counters, each for some lanes of every warp"},
                vector_axis(problem),
                {ITEMS, {4, 2, 1, 8}, "loads of a thread before it counts"},
                load_axis(),
                block_axis({512, 256, 1024}),
                {BLOCKS, blocks_to_fill(device, {2, 1, 4, 8}, {1}), "blocks at most"}},
               {counters_fit_rule([problem](const Config& c) { return shared_bytes(problem, c); })},
               {own_blocks_rule(BLOCKS, device)});
}

Work wide_work(const Problem& problem, const Config& config) {
  constexpr std::int64_t most_of_a_block = std::int64_t{1} << 31;  // elements: its counters have 32 bits
  const std::int64_t length = problem.integer("length");
  Work work{.steps = {zero_counts(problem)}};
  if (length == 0) return work;
  const std::int64_t blocks = std::max(std::min(ceil_divide(length, tile(config)), config[BLOCKS]),
                                       ceil_divide(length, most_of_a_block - tile(config)));
  work.steps.push_back(Launch{.kernel = "histogram_wide",
                              .grid = {blocks},
                              .block = {config[BLOCK]},
                              .dynamic_shared_bytes = shared_bytes(problem, config),
                              .arguments = kernel_arguments(problem),
                              .numbers = number_places(problem)});
  return work;
}

}  // namespace

std::string wider_than_four_bytes(const Problem& problem) {
  if (bytes(dtype_of(problem)) <= 4) return "";
  return "Elements of " + problem.string("dtype") + " have 8 bytes; the template wide is for those.";
}

Template wide() {
  return {.name = "wide",
          .what = "Elements of 8 bytes; copies of the counters in each block's shared memory.",
          .kernels = {"histogram_wide"},
          .compiled_in = {"function", "dtype"},
          .constants = contiguous,
          .refuses = refuses,
          .untuned = [](const Problem& problem,
                        const DeviceFacts&) { return copies_that_fit(problem.integer("bins")); },
          .space = wide_space,
          .work = wide_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::histogram_op
