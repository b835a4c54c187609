// SPDX-License-Identifier: Apache-2.0
// histogram/arrivals: one kernel, in which the block that adds to a count last moves it to the output.

#include <algorithm>
#include <optional>

#include "templates/axes.h"
#include "templates/blocks.h"
#include "templates/histogram/op.h"

namespace tunesmith::histogram_op {
namespace {

constexpr IntegerAxis WORD_BITS("WORD_BITS");

std::int64_t shared_bytes(const Problem& problem, std::int64_t copies) {
  const bool regrouped = is_of_bytes(problem) && problem.string("function") == "histogram";
  return 4 * (copies * counters_of(problem) + (regrouped ? problem.integer("bins") : 0));
}

std::int64_t blocks_of(const Problem& problem, const Config& c) {
  return std::min(ceil_divide(problem.integer("length"), tile(c)), c[BLOCKS]);
}

std::string too_large(const Problem& problem) {
  constexpr std::int64_t most = (std::int64_t{1} << 32) - 1;
  const std::int64_t length = problem.integer("length");
  if (shared_bytes(problem, 1) > largest_shared_limit)
    return "The " + std::to_string(problem.integer("bins")) +
           " bins do not fit in a block's shared memory; some " + std::to_string(largest_shared_limit / 4) +
           " do.";
  if (length <= most) return "";
  return "The length " + std::to_string(length) + " is too large for counts of 32 bits; at most " +
         std::to_string(most) + " elements are counted.";
}

Space arrivals_space(const Problem& problem, const DeviceFacts& device) {
  return Space(
      {{COPIES, {8, 1, 32, 4, 2}, "copies of the counters, each for some lanes of every warp"},
       vector_axis(problem),
       {ITEMS, {1, 2, 4}, "loads of a thread before it counts"},
       load_axis(),
       {WORD_BITS,
        {64, 32},
        "bits of a word in the workspace: a count, and in the upper quarter the number of blocks"},
       block_axis({512, 256, 1024}),
       {BLOCKS, blocks_to_fill(device, {1, 2}, {1, 8, 16, 32, 64}), "blocks at most"},
       start_axis(),
       trigger_axis()},
      {counters_fit_rule([problem](const Config& c) { return shared_bytes(problem, c[COPIES]); }),
       {"A word of 32 bits has 24 for a count, of fewer than 2^24 (16777216) elements, and 8 for the blocks, "
        "at most 255.",
        [length = problem.integer("length")](const Config& c) {
          return c[WORD_BITS] == 64 || (length < 1 << 24 && c[BLOCKS] <= 255);
        }}},
      {{"A single block is for at most 2^16 (65536) elements.",
        [length = problem.integer("length")](const Config& c) { return c[BLOCKS] > 1 || length <= 1 << 16; }},
       own_blocks_rule(BLOCKS, device),
       trigger_rule()});
}

Work arrivals_work(const Problem& problem, const Config& config) {
  Work work;
  if (problem.integer("length") == 0) {
    work.steps.push_back(zero_counts(problem));
    return work;
  }
  work.workspace_bytes = work.zeroed_bytes = config[WORD_BITS] / 8 * problem.integer("bins");
  Launch launch{.kernel = "histogram_arrivals",
                .grid = {blocks_of(problem, config)},
                .block = {config[BLOCK]},
                .dynamic_shared_bytes = shared_bytes(problem, config[COPIES]),
                .arguments = kernel_arguments(problem),
                .overlaps_previous = config[START] == "overlapped",
                .numbers = number_places(problem)};
  launch.arguments.emplace_back(WorkspacePointer{0});
  work.steps.push_back(std::move(launch));
  return work;
}

// Follows the winners of tuning on an H100: one copy of the counters, a block for each multiprocessor, and a
// number of threads that gives each two tiles. With few elements, vectors are single elements and blocks are
// few.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 24, most_bins = 4096;
  const std::int64_t length = problem.integer("length");
  if (length > most_elements || problem.integer("bins") > most_bins) return std::nullopt;
  const std::int64_t blocks = multiprocessors_to_fill(device);
  const bool bytes_alone = is_of_bytes(problem);
  const bool short_words = length < most_elements && blocks <= 255;
  Values values = {{std::string(COPIES.name), std::int64_t{1}},
                   {std::string(WORD_BITS.name), std::int64_t{short_words ? 32 : 64}},
                   {std::string(START.name), std::string("overlapped")}};
  if (length <= 1 << 16) {
    values.set(std::string(VECTOR.name), std::int64_t{1});
    values.set(std::string(ITEMS.name), std::int64_t{length <= 1024 ? 1 : 2});
    values.set(std::string(BLOCK.name), std::int64_t{length <= 1024 ? 1024 : 512});
  } else {
    values.set(std::string(BLOCK.name), std::int64_t{!bytes_alone ? 1024 : length <= 1 << 21 ? 256 : 512});
  }
  values.set(std::string(BLOCKS.name), std::int64_t{length <= 1024 ? 1 : blocks});
  return values;
}

}  // namespace

Template arrivals() {
  return {.name = "arrivals",
          .what =
              "One kernel: blocks count in shared memory and add to words in the workspace that hold a count "
              "and the number of blocks that have added; the last of them moves it to the output.",
          .kernels = {"histogram_arrivals"},
          .compiled_in = {"function", "dtype"},
          .constants = contiguous,
          .refuses = too_large,
          .untuned = untuned,
          .space = arrivals_space,
          .work = arrivals_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::histogram_op
