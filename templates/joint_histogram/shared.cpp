// SPDX-License-Identifier: Apache-2.0
// joint_histogram/shared, with copies of the sums in each block's shared memory: its space and work.

#include <algorithm>
#include <optional>

#include "generator/device_facts.h"
#include "templates/axes.h"
#include "templates/blocks.h"
#include "templates/joint_histogram/op.h"

namespace tunesmith::joint_histogram_op {
namespace {

using namespace histogram_op;  // the axes

constexpr CategoricalAxis FINISH("FINISH");

std::int64_t shared_bytes(const Problem& problem, std::int64_t copies) {
  const Dims d(problem);
  const std::int64_t edges =
      has_own_edges(problem) ? d.bins_x + 1 + (has_pairs(problem) ? d.bins_y + 1 : 0) : 0;
  return 8 * edges + (has_weights(problem) ? 8 : 4) * copies * d.cells();
}

std::string too_large(const Problem& problem) {
  const Dims d(problem);
  if (shared_bytes(problem, 1) <= largest_shared_limit) return "";
  return "The grid of " + std::to_string(d.bins_x) + " by " + std::to_string(d.bins_y) + " bins takes " +
         std::to_string(shared_bytes(problem, 1)) +
         " bytes, more than the 227 KiB of a block's shared memory.";
}

Space shared_space(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  return Space(
      {{FINISH, categories({"arrivals", "added"}),
        "how the output is made: by the last block to add to a word of the workspace, or filled with zeros "
        "before, to which blocks add"},
       {COPIES, {8, 1, 4, 32, 2}, "copies of the sums, each for some lanes of every warp"},
       joint_histogram_op::vector_axis(problem),
       {ITEMS, {2, 1, 4}, "loads of a thread before it adds"},
       load_axis(),
       block_axis({512, 256, 1024}),
       {BLOCKS, blocks_to_fill(device, {2, 1, 4}, {1, 16, 64}), "blocks at most"},
       start_axis(),
       trigger_axis()},
      {{"FINISH=arrivals is for counts; sums of weights have no bits in which blocks are counted.",
        [weighted = has_weights(problem)](const Config& c) { return !weighted || c[FINISH] == "added"; }},
       {"The sums fit in the 227 KiB of shared memory that a block may have on the largest devices.",
        [problem](const Config& c) { return shared_bytes(problem, c[COPIES]) <= largest_shared_limit; }},
       {"A word of the workspace counts at most 65535 blocks.",
        [](const Config& c) { return c[BLOCKS] < 65536; }}},
      {{"FINISH=arrivals adds to each bin from each block, which is for at most 2^20 (1048576) additions.",
        [=](const Config& c) { return c[FINISH] == "added" || c[BLOCKS] * d.cells() <= 1 << 20; }},
       {"A single block is for at most 2^16 (65536) pairs.",
        [=](const Config& c) { return c[BLOCKS] > 1 || d.length <= 1 << 16; }},
       own_blocks_rule(BLOCKS, device),
       trigger_rule()});
}

Work shared_work(const Problem& problem, const Config& config) {
  constexpr std::int64_t most_of_a_block = std::int64_t{1} << 31;  // pairs: its counts have 32 bits
  const Dims d(problem);
  Work work;
  if (d.length == 0) {
    work.steps.push_back(zero_sums(problem));
    return work;
  }
  const std::int64_t blocks = std::max(std::min(ceil_divide(d.length, tile(config)), config[BLOCKS]),
                                       ceil_divide(d.length, most_of_a_block - tile(config)));
  const bool arrivals = config[FINISH] == "arrivals";
  if (arrivals) {
    work.workspace_bytes = work.zeroed_bytes = 8 * d.cells();
  } else if (blocks > 1) {
    work.steps.push_back(zero_sums(problem));
  }
  Launch launch{.kernel = "joint_histogram_shared",
                .grid = {blocks},
                .block = {config[BLOCK]},
                .dynamic_shared_bytes = shared_bytes(problem, config[COPIES]),
                .arguments = joint_histogram_op::kernel_arguments(problem),
                .overlaps_previous = config[START] == "overlapped",
                .numbers = joint_histogram_op::number_places(problem)};
  // This argument is not read unless the workspace has counts.
  launch.arguments.emplace_back(arrivals ? KernelArgument(WorkspacePointer{0})
                                         : KernelArgument(ArgumentPointer{sums}));
  work.steps.push_back(std::move(launch));
  return work;
}

// Takes all problems that it can: what the values are is not known, and sums in global memory take many times
// as long where all pairs lie in one bin, and little less where they are spread.
// Otherwise follows the winners of tuning on an H100: one copy of the sums, a block for each multiprocessor,
// and one word of the workspace for each bin if bins are few. Sums of doubles are loops of compare and swap.
// They take longer if more threads contend for one sum, and many warps hide this, so that such problems get
// copies and two blocks.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const bool few = d.length <= 1024;
  if (shared_bytes(problem, 1) > (few ? static_shared_limit : device.max_shared_bytes_per_block))
    return std::nullopt;
  if (!few && 4 * d.cells() >= d.length) return std::nullopt;  // most sums of a block would get nothing
  const bool are_many_weights = has_weights(problem) && d.length >= 1 << 20;
  std::int64_t copies = are_many_weights ? 32 : 1;
  while (copies > 1 && shared_bytes(problem, copies) > static_shared_limit)
    copies = copies == 32 ? 8 : copies / 2;
  const bool are_two = are_many_weights && copies < 32;  // threads of a warp that have a copy in common wait
  const std::int64_t blocks = few ? 1 : (are_two ? 2 : 1) * multiprocessors_to_fill(device);
  const bool arrivals = !has_weights(problem) && blocks * d.cells() <= 1 << 20;
  const std::int64_t vector = are_two ? 1 : first_vector(problem, device);
  const std::int64_t tiles = d.length / (1024 * vector * blocks);  // tiles of a block, with one load
  const bool are_two_loads = are_many_weights || (vector > 1 && d.length > 1 << 22);
  const std::int64_t items = are_two_loads ? 2 : vector > 1 || tiles < 2 ? 1 : tiles < 4 ? 2 : 4;
  return Values{{std::string(FINISH.name), std::string(arrivals ? "arrivals" : "added")},
                {std::string(COPIES.name), copies},
                {std::string(VECTOR.name), vector},
                {std::string(ITEMS.name), items},
                {std::string(BLOCK.name), std::int64_t{1024}},
                {std::string(BLOCKS.name), blocks},
                {std::string(START.name), std::string(!few && d.length <= 1 << 22 ? "overlapped" : "plain")}};
}

}  // namespace

Template shared() {
  return {
      .name = "shared",
      .what =
          "Copies of the sums in each block's shared memory, which blocks add to the output; counts in one "
          "launch.",
      .kernels = {"joint_histogram_shared"},
      .compiled_in = {"values", "weights", "edges", "dtype"},
      .constants = contiguous,
      .refuses = too_large,
      .untuned = untuned,
      .space = shared_space,
      .work = shared_work,
      .alignment_bytes = joint_histogram_op::vector_bytes};
}

}  // namespace tunesmith::joint_histogram_op
