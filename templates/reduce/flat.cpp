// SPDX-License-Identifier: Apache-2.0
// reduce/flat: the columns of a matrix without gaps, walked as they lie in memory.

#include <algorithm>
#include <numeric>
#include <optional>

#include "generator/device_facts.h"
#include "templates/axes.h"
#include "templates/blocks.h"
#include "templates/reduce/op.h"

namespace tunesmith::reduce_op {
namespace {

constexpr std::int64_t most_columns = 1024;

std::string refuses(const Problem& problem) {
  const Dims d(problem);
  if (std::string empty = refuses_empty(d); !empty.empty()) return empty;
  if (d.outer == 1 && d.inner > 1 && d.inner <= most_columns && (d.stride == d.inner || d.length == 1))
    return "";
  return "This template is for one matrix of 2 to " + std::to_string(most_columns) +
         " columns without gaps; here outer is " + std::to_string(d.outer) + ", inner " +
         std::to_string(d.inner) + " and stride " + std::to_string(d.stride) + ".";
}

// The number of threads after which the columns repeat.
std::int64_t period(const Dims& d, const Config& c) {
  return std::max<std::int64_t>(1, d.inner / std::gcd(d.inner, c[VECTOR]));
}
std::int64_t threads(const Dims& d, const Config& c) { return c[BLOCK] / period(d, c) * period(d, c); }

Space flat_space(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  return Space({{BLOCK, {1024, 512, 256}, "threads per block, rounded down to whole rows"},
                {BLOCKS, blocks_to_fill(device, {1, 2, 4}, {1, 16, 64}), "blocks at most"},
                items_axis(),
                vector_axis(problem),
                {FINISH, categories({"last", "launch"}),
                 "how the blocks' partials are added: by the last block to end; by a second launch"},
                load_axis(),
                start_axis(),
                trigger_axis()},
               with_narrow_rules(
                   {{"A block has a thread for each column, and for each vector until the columns repeat.",
                     [d](const Config& c) { return d.inner <= c[BLOCK] && threads(d, c) >= d.inner; }},
                    {"The partials of a block's threads take at most 48 KiB of shared memory.",
                     [one = partial_bytes(problem)](const Config& c) {
                       return c[BLOCK] * c[VECTOR] * one <= static_shared_limit - 64;
                     }},
                    early_rule(),
                    conditional(
                        FINISH, "last", [](const Config& c) { return c[BLOCKS] > 1; },
                        "With one block FINISH has no effect.")},
                   problem),
               {flight_rule(problem), half_rule(problem), own_blocks_rule(BLOCKS, device), trigger_rule()});
}

Work flat_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t block = threads(d, config);
  const std::int64_t per_tile = block * config[VECTOR] * config[ITEMS];
  const std::int64_t tiles = d.length * d.inner / per_tile;
  const std::int64_t blocks = std::min(config[BLOCKS], ceil_divide(d.length * d.inner, per_tile));
  const std::string finish = blocks == 1 ? "" : config[FINISH];
  const bool overlaps = config[START] == "overlapped";
  const std::int64_t shared = block * config[VECTOR] * partial_bytes(problem);
  Work work;
  std::int64_t kept_at = 0;
  if (!finish.empty()) {
    work.zeroed_bytes = finish == "last" ? 4 : 0;
    kept_at = round_up(work.zeroed_bytes, 256);
    work.workspace_bytes = kept_at + blocks * d.inner * partial_bytes(problem);
  }
  Launch main{.kernel = "reduce_flat",
              .grid = {blocks},
              .block = {block},
              .dynamic_shared_bytes = shared,
              .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, WorkspacePointer{0},
                            WorkspacePointer{kept_at}, d.length, int32(d.inner), tiles},
              .overlaps_previous = overlaps};
  add_ratios(main.arguments, problem);
  work.steps.push_back(std::move(main));
  if (finish == "launch") {
    Launch kept{.kernel = "reduce_flat_kept",
                .grid = {1},
                .block = {block},
                .dynamic_shared_bytes = shared,
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, WorkspacePointer{kept_at}, d.length,
                              int32(d.inner), int32(blocks)},
                .overlaps_previous = overlaps};
    add_ratios(kept.arguments, problem);
    work.steps.push_back(std::move(kept));
  }
  return work;
}

// A guess for problems with which blocks of `columns` would leave lanes or vectors unused, and each
// multiprocessor has several tiles.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  // With 5 columns and more, `columns` was as fast or faster on an H100.
  if (d.inner > 3 || d.length * d.inner < 1 << 18) return std::nullopt;
  const std::int64_t each = partial_bytes(problem) > 8 ? 2 : 1;  // with half as many threads in a block
  return Values{{std::string(BLOCKS.name), each * multiprocessors_to_fill(device)},
                {std::string(START.name), std::string("overlapped")}};
}

}  // namespace

Template flat() {
  return {.name = "flat",
          .what = "The columns of a matrix without gaps, walked as they lie in memory: few or odd columns.",
          .kernels = {"reduce_flat", "reduce_flat_kept"},
          .compiled_in = {"dtype", "function", "sum_dtype"},
          .constants = tuned_constants,
          .preamble = tuned_preamble,
          .refuses = refuses,
          .untuned = untuned,
          .space = flat_space,
          .work = flat_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::reduce_op
