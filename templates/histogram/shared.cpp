// SPDX-License-Identifier: Apache-2.0
// histogram/shared, with copies of the counters in each block's shared memory: its space and work.

#include <algorithm>

#include "generator/device_facts.h"
#include "templates/axes.h"
#include "templates/blocks.h"
#include "templates/histogram/op.h"

namespace tunesmith::histogram_op {
namespace {

constexpr IntegerAxis AHEAD("AHEAD");
constexpr IntegerAxis COUNTER_BITS("COUNTER_BITS");
constexpr CategoricalAxis INCREMENT("INCREMENT");
constexpr CategoricalAxis OWNER("OWNER");

std::int64_t shared_bytes(std::int64_t counters, const Config& c) {
  return 4 * c[COPIES] * (c[COUNTER_BITS] == 16 ? ceil_divide(counters, 2) : counters);
}

std::vector<Axis> shared_axes(const Problem& problem, const DeviceFacts& device) {
  return {
      {COUNTER_BITS, {32, 16}, "bits of a counter in shared memory"},
      {OWNER, categories({"lane", "warp"}),
       "who shares a copy of the counters: some lanes of each warp, or some warps"},
      {COPIES, {8, 32, 16, 4, 2, 1}, "copies of the counters"},
      merge_axis(),
      vector_axis(problem),
      {INCREMENT, categories({"constant", "value"}),
       "whether an element adds the constant 1, which the hardware counts over equal lanes, or a number"},
      {ITEMS, {4, 2, 1, 8}, "loads of a thread before it counts"},
      {AHEAD, {0, 1}, "tiles loaded before they are needed"},
      load_axis(),
      block_axis({256, 512, 1024}),
      {BLOCKS, blocks_to_fill(device, {4, 2, 1, 8}, {1}), "blocks at most"},
      start_axis(),
      trigger_axis(),
  };
}

std::vector<Rule> shared_must(const Problem& problem) {
  return {
      conditional(
          OWNER, "lane", [bytes = is_of_bytes(problem)](const Config& c) { return bytes || c[COPIES] > 1; },
          "With one copy of the counters of anything but bytes OWNER has no effect."),
      conditional(
          INCREMENT, "constant", [](const Config& c) { return c[MERGE] == "none"; },
          "INCREMENT has no effect on elements that are counted together."),
      counters_fit_rule(
          [counters = counters_of(problem)](const Config& c) { return shared_bytes(counters, c); }),
      {"Counters of 16 bits are emptied into the bins of the output, so bytes, which are counted by value, "
       "take 32.",
       [bytes = is_of_bytes(problem)](const Config& c) { return c[COUNTER_BITS] == 32 || !bytes; }},
      {"A counter of 16 bits, emptied from 2^15 on, must have room for a block's whole tile above that.",
       [](const Config& c) { return c[COUNTER_BITS] == 32 || tile(c) < 32768; }},
  };
}

std::vector<Rule> shared_worth(const Problem& problem, const DeviceFacts& device) {
  const std::int64_t bins = problem.integer("bins");
  const std::int64_t length = problem.integer("length");
  const bool bytes = is_of_bytes(problem);
  return {
      {"Counters of 16 bits are for copies that take more than 32 KiB by 32 bits.",
       [=](const Config& c) { return c[COUNTER_BITS] == 32 || bins > 8192; }},
      {"OWNER=warp is for 2 copies to as many as the block has warps.",
       [](const Config& c) { return c[OWNER] == "lane" || (c[COPIES] > 1 && c[COPIES] <= c[BLOCK] / 32); }},
      run_rule(),
      {"MERGE=warp is for lanes that share counters: OWNER=warp, or at most four copies.",
       [](const Config& c) { return c[MERGE] != "warp" || c[OWNER] == "warp" || c[COPIES] <= 4; }},
      {"MERGE=run adds numbers, which lanes that share a counter do one after the other: OWNER=lane, with at "
       "least eight copies of 32-bit counters.",
       [](const Config& c) {
         return c[MERGE] != "run" || (c[OWNER] == "lane" && (c[COPIES] >= 8 || c[COUNTER_BITS] == 16));
       }},
      {"INCREMENT=value is for OWNER=lane with 32 copies, where no two lanes share a counter.",
       [](const Config& c) { return c[INCREMENT] == "constant" || (c[OWNER] == "lane" && c[COPIES] == 32); }},
      {"Tiles are loaded ahead by vectors, with at most four loads per thread unless they are of bytes.",
       [=](const Config& c) { return c[AHEAD] == 0 || (c[VECTOR] > 1 && (bytes || c[ITEMS] <= 4)); }},
      {"START=overlapped is for a single block, which sets the output to zero itself; several never start "
       "early.",
       [](const Config& c) { return c[START] == "plain" || c[BLOCKS] == 1; }},
      {"A single block is for at most 2^18 (262144) elements.",
       [=](const Config& c) { return c[BLOCKS] > 1 || length <= 1 << 18; }},
      own_blocks_rule(BLOCKS, device),
      trigger_rule(),
  };
}

Space shared_space(const Problem& problem, const DeviceFacts& device) {
  return Space(shared_axes(problem, device), shared_must(problem), shared_worth(problem, device));
}

Work shared_work(const Problem& problem, const Config& config) {
  constexpr std::int64_t most_of_a_block = std::int64_t{1} << 31;  // elements: its counters have 32 bits
  const std::int64_t length = problem.integer("length");
  Work work;
  if (length == 0) {
    work.steps.push_back(zero_counts(problem));
    return work;
  }
  const std::int64_t blocks = std::max(std::min(ceil_divide(length, tile(config)), config[BLOCKS]),
                                       ceil_divide(length, most_of_a_block - tile(config)));
  const bool alone = blocks == 1;
  if (!alone) work.steps.push_back(zero_counts(problem));
  Launch launch{.kernel = "histogram_shared",
                .grid = {blocks},
                .block = {config[BLOCK]},
                .dynamic_shared_bytes = shared_bytes(counters_of(problem), config),
                .arguments = kernel_arguments(problem),
                .overlaps_previous = alone && config[START] == "overlapped",
                .numbers = number_places(problem)};
  launch.arguments.emplace_back(std::int32_t{alone});
  launch.arguments.emplace_back(std::int32_t{1});
  work.steps.push_back(std::move(launch));
  return work;
}

}  // namespace

std::optional<Values> copies_that_fit(std::int64_t counters) {
  for (std::int64_t copies = 8; copies > 0; copies /= 2)
    if (4 * copies * counters <= static_shared_limit) return Values{{std::string(COPIES.name), copies}};
  return std::nullopt;
}

Template shared() {
  return {.name = "shared",
          .what =
              "Copies of the counters in each block's shared memory; bytes are counted by value and put into "
              "bins at the end.",
          .kernels = {"histogram_shared"},
          .compiled_in = {"function", "dtype"},
          .constants = contiguous,
          .refuses = wider_than_four_bytes,
          .untuned = [](const Problem& problem,
                        const DeviceFacts&) { return copies_that_fit(counters_of(problem)); },
          .space = shared_space,
          .work = shared_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::histogram_op
