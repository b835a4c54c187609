// SPDX-License-Identifier: Apache-2.0
// reduce/all: several blocks per output, along contiguous elements, and the ways in which the blocks meet.

#include <algorithm>

#include "templates/axes.h"
#include "templates/blocks.h"
#include "templates/reduce/op.h"

namespace tunesmith::reduce_op {
namespace {

constexpr IntegerAxis AHEAD("AHEAD");
constexpr CategoricalAxis TREE("TREE");
constexpr CategoricalAxis WALK("WALK");

std::string refuses(const Problem& problem) {
  const Dims d(problem);
  if (d.outer > grid_limit) {
    return "An outer of " + std::to_string(d.outer) + " is beyond the " + std::to_string(grid_limit) +
           " outputs of this template; take rows.";
  }
  const std::string empty = refuses_empty(d);
  return empty.empty() ? refuses_apart(d) : empty;
}

std::vector<Axis> all_axes(const Problem& problem, const DeviceFacts& device) {
  return {
      block_axis({512, 128, 256, 1024}),
      items_axis(),
      vector_axis(problem),
      {BLOCKS, blocks_to_fill(device, {2, 8, 4, 1}, {64, 32, 16, 8, 4, 2, 1}), "blocks per output, at most"},
      {WALK, categories({"strided", "chunked"}),
       "a block's tiles: strided over the grid, or one contiguous stretch"},
      {FINISH, categories({"last", "launch", "mail", "atomic", "atomic_last"}),
       "how the blocks' partials are added: by the last block to end; by a second launch; by the last to "
       "start, which waits for them; by atomic additions to the output, zeroed before; by "
       "atomic additions in the workspace, from which the last block to end writes the output"},
      {TREE, categories({"shuffle", "shared"}), "how the sums of a block's threads are added"},
      {AHEAD, {0, 1}, "tiles loaded before the one that is added"},
      load_axis(),
      start_axis(),
      trigger_axis(),
  };
}

// The most resident grids of a device of compute capability 7.5 and later (CUDA C++ Programming Guide,
// technical specifications).
constexpr std::int64_t most_resident_grids = 128;

std::vector<Rule> all_must(const Problem& problem, const DeviceFacts& device) {
  static_assert(most_atomic_additions == 2048 && most_resident_grids == 128, "the rules name them");
  const Dims d(problem);
  return {
      vector_rule(d, false),
      early_rule(),
      finish_rule(is_atomic(problem)),
      conditional(
          FINISH, "last", [](const Config& c) { return c[BLOCKS] > 1; },
          "With one block per output FINISH has no effect."),
      {"An atomic sum adds at most 2048 partial sums to an output, as its error bound says.",
       [](const Config& c) {
         return !c[FINISH].starts_with("atomic") || c[BLOCKS] <= most_atomic_additions;
       }},
      {"With FINISH=mail a block per output waits inside the kernel for others: those of 128 kernels, as "
       "many as a GPU runs at once, must leave it a multiprocessor.",
       [waiting = most_resident_grids * d.outer, there = multiprocessors_to_fill(device)](const Config& c) {
         return c[FINISH] != "mail" || waiting < there;
       }},
  };
}

std::vector<Rule> all_worth(const Problem& problem, const DeviceFacts& device) {
  const std::int64_t full = multiprocessors_to_fill(device);  // blocks
  return {
      flight_rule(problem),
      half_rule(problem),
      {"Single elements are loaded in strides, not ahead, and their sums added by shuffles.",
       [](const Config& c) {
         return c[VECTOR] > 1 || (c[WALK] == "strided" && c[TREE] == "shuffle" && c[AHEAD] == 0);
       }},
      {"One stretch per block and loading ahead are for long sums: at least one block per multiprocessor, "
       "sums added by shuffles.",
       [full](const Config& c) {
         return (c[WALK] == "strided" && c[AHEAD] == 0) || (c[BLOCKS] >= full && c[TREE] == "shuffle");
       }},
      {"A tree in shared memory is for at most 256 threads, whose barriers are cheap.",
       [](const Config& c) { return c[TREE] == "shuffle" || c[BLOCK] <= 256; }},
      {"Hints are for data that does not stay in the caches: at least one block per multiprocessor, sums "
       "added by shuffles.",
       [full](const Config& c) { return c[LOAD] == "plain" || (c[BLOCKS] >= full && c[TREE] == "shuffle"); }},
      {"LOAD=wide is for tiles in one stretch, or loaded ahead.",
       [](const Config& c) { return c[LOAD] != "wide" || c[WALK] == "chunked" || c[AHEAD] == 1; }},
      own_blocks_rule(BLOCKS, device),
      {"TRIGGER=early gains only where the next kernel has START=overlapped, as the second one of "
       "FINISH=launch has; an ordinary one waits all the same.",
       [](const Config& c) {
         return c[TRIGGER] == "none" || (c[FINISH] == "launch" && c[START] == "overlapped");
       }},
  };
}

Space all_space(const Problem& problem, const DeviceFacts& device) {
  return Space(all_axes(problem, device), with_narrow_rules(all_must(problem, device), problem),
               all_worth(problem, device));
}

Work all_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t block = config[BLOCK];
  const std::int64_t tile = block * config[ITEMS] * config[VECTOR];
  const std::int64_t tiles = ceil_divide(d.length, tile);
  const bool chunked = config[WALK] == "chunked";
  std::int64_t blocks = std::min(config[BLOCKS], tiles);
  const std::int64_t chunk = ceil_divide(tiles, blocks);
  if (chunked) blocks = ceil_divide(tiles, chunk);

  const std::string finish = blocks == 1 ? "" : config[FINISH];
  const std::int64_t one = partial_bytes(problem);
  const bool overlaps = config[START] == "overlapped";
  Work work;
  std::int64_t kept_at = 0;
  if (finish == "last" || finish == "atomic_last") {
    kept_at = round_up(4 * d.outer, 256);
    work.zeroed_bytes = finish == "last" ? 4 * d.outer : kept_at + 8 * d.outer;
    work.workspace_bytes = finish == "last" ? kept_at + d.outer * blocks * one : work.zeroed_bytes;
  } else if (finish == "launch") {
    work.workspace_bytes = d.outer * blocks * one;
  } else if (finish == "mail") {
    work.workspace_bytes = work.zeroed_bytes = d.outer * blocks * one * 2;
  } else if (finish == "atomic") {
    work.steps.push_back(Zero{ArgumentPointer{1}, d.outer * bytes(output_dtype(problem))});
  }
  Launch main{.kernel = "reduce_all",
              .grid = {blocks, d.outer},
              .block = {block},
              .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, WorkspacePointer{0},
                            WorkspacePointer{kept_at}, d.length, d.outer_stride, chunk},
              .overlaps_previous = overlaps,
              .waits_for_blocks = finish == "mail"};
  if (has_moments(function_of(problem))) add_ratios(main.arguments, problem);
  work.steps.push_back(std::move(main));
  if (finish == "launch") {
    Launch kept{
        .kernel = "reduce_all_kept",
        .grid = {d.outer},
        .block = {block},
        .arguments = {ArgumentPointer{1}, WorkspacePointer{0}, d.length, static_cast<std::int32_t>(blocks)},
        .overlaps_previous = overlaps};
    if (has_moments(function_of(problem))) {
      kept.arguments = {ArgumentPointer{0}, ArgumentPointer{1}, WorkspacePointer{0},
                        d.length,           d.outer_stride,     static_cast<std::int32_t>(blocks)};
      add_ratios(kept.arguments, problem);
    }
    work.steps.push_back(std::move(kept));
  }
  return work;
}

// A guess for problems with which `rows` would leave multiprocessors idle.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  if (d.length < 4096 || d.outer >= 2 * multiprocessors_to_fill(device)) return std::nullopt;
  return Values();
}

}  // namespace

Template all() {
  return {.name = "all",
          .what = "Several blocks per output, along contiguous elements: few, long reductions.",
          .kernels = {"reduce_all", "reduce_all_kept"},
          .compiled_in = {"dtype", "function", "order", "sum_dtype"},
          .constants = tuned_constants,
          .preamble = tuned_preamble,
          .refuses = refuses,
          .untuned = untuned,
          .space = all_space,
          .work = all_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::reduce_op
