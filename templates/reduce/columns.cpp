// SPDX-License-Identifier: Apache-2.0
// reduce/columns: threads side by side along inner, and blocks that share the length.

#include <algorithm>

#include "generator/device_facts.h"
#include "templates/axes.h"
#include "templates/reduce/op.h"

namespace tunesmith::reduce_op {
namespace {

constexpr IntegerAxis SPLIT("SPLIT");

std::string refuses(const Problem& problem) {
  const Dims d(problem);
  if (d.inner == 1 && d.stride == 1) {
    return "Contiguous elements, an inner and a stride of 1, are for the templates all and rows; this one "
           "has a thread per column.";
  }
  return refuses_empty(d);
}

// True for a few columns that are no multiple of a warp: a block may then have as many threads side by side,
// so that rows lie beside each other in warps, as they do in memory, and all lanes work.
bool may_be_width(std::int64_t columns) { return columns > 8 && columns <= 160 && columns % 16 != 0; }

std::vector<Axis> columns_axes(const Problem& problem) {
  // Eight columns and more would have too many partials.
  std::vector<Value> columns = {1, 2};
  for (std::int64_t more = 4; more <= 8 && more * bytes(dtype_of(problem)) <= 16; more *= 2)
    columns.emplace_back(more);
  const std::int64_t inner = problem.integer("inner");
  std::vector<Value> widths = {32, 64, 128, 16, 8, 4};
  if (may_be_width(inner)) widths.emplace_back(inner);
  return {
      {BLOCK_X, widths, "threads of a block along the columns"},
      {BLOCK_Y, {8, 1, 2, 4, 16, 32}, "threads of a block along the length"},
      {VECTOR, columns, "columns per thread, and elements per load"},
      {ITEMS, {8, 4, 2, 16, 1}, "rows that a thread loads before it adds"},
      {SPLIT, {1, 2, 4, 8, 16, 32, 64, 128}, "blocks that share a length, at most"},
      {FINISH, categories({"last", "launch", "atomic"}),
       "how the blocks' partials are added: by the last block to end; by a second launch; by "
       "atomic additions to the output, zeroed before"},
      load_axis(),
      start_axis(),
      trigger_axis(),
  };
}

std::vector<Rule> columns_must(const Problem& problem) {
  const Dims d(problem);
  return {
      {"A block has at most 1024 threads.", [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y] <= 1024; }},
      {"The partials of a block's threads take at most 48 KiB of static shared memory.",
       [one = partial_bytes(problem)](const Config& c) {
         return c[BLOCK_Y] == 1 || c[BLOCK_X] * c[BLOCK_Y] * c[VECTOR] * one <= static_shared_limit - 64;
       }},
      {"VECTOR must divide inner, and the strides where they are used.",
       [d](const Config& c) {
         const std::int64_t vector = c[VECTOR];
         return d.inner % vector == 0 && (d.length == 1 || d.stride % vector == 0) &&
                (d.outer == 1 || d.outer_stride % vector == 0);
       }},
      early_rule(),
      finish_rule(is_atomic(problem)),
      conditional(
          FINISH, "last", [](const Config& c) { return c[SPLIT] > 1; },
          "With one block per length FINISH has no effect."),
  };
}

std::vector<Rule> columns_worth(const Problem& problem) {
  return {
      half_rule(problem),
      trigger_rule(),
  };
}

Space columns_space(const Problem& problem) {
  return Space(columns_axes(problem), with_narrow_rules(columns_must(problem), problem),
               columns_worth(problem));
}

// The tiles across the columns of one outer position; with those of all outer positions they are the grid's
// x.
std::int64_t column_tiles(const Dims& d, const Config& config) {
  return ceil_divide(d.inner, config[BLOCK_X] * config[VECTOR]);
}

Work columns_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t depth = config[BLOCK_Y] * config[ITEMS];
  std::int64_t splits = std::min(config[SPLIT], ceil_divide(d.length, depth));
  const std::int64_t rows = round_up(ceil_divide(d.length, splits), depth);
  splits = ceil_divide(d.length, rows);

  const std::int64_t tiles = column_tiles(d, config);
  const auto tiles32 = static_cast<std::int32_t>(tiles);
  const Extent block = {config[BLOCK_X], config[BLOCK_Y]};
  const std::string finish = splits == 1 ? "" : config[FINISH];
  const bool overlaps = config[START] == "overlapped";
  Work work;
  std::int64_t kept_at = 0;
  if (finish == "atomic") {
    work.steps.push_back(Zero{ArgumentPointer{1}, d.lines() * bytes(output_dtype(problem))});
  } else if (!finish.empty()) {
    work.zeroed_bytes = finish == "last" ? 4 * d.outer * tiles : 0;
    kept_at = round_up(work.zeroed_bytes, 256);
    work.workspace_bytes = kept_at + d.lines() * splits * partial_bytes(problem);
  }
  Launch main{
      .kernel = "reduce_columns",
      .grid = {d.outer * tiles, splits},
      .block = block,
      .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, WorkspacePointer{0}, WorkspacePointer{kept_at},
                    tiles32, d.length, d.inner, d.outer_stride, d.stride, rows},
      .overlaps_previous = overlaps};
  if (has_moments(function_of(problem))) add_ratios(main.arguments, problem);
  work.steps.push_back(std::move(main));
  if (finish == "launch") {
    const auto splits32 = static_cast<std::int32_t>(splits);
    Launch kept{
        .kernel = "reduce_columns_kept",
        .grid = {d.outer * tiles},
        .block = block,
        .arguments = {ArgumentPointer{1}, WorkspacePointer{kept_at}, tiles32, d.length, d.inner, splits32},
        .overlaps_previous = overlaps};
    if (has_moments(function_of(problem))) {
      kept.arguments = {ArgumentPointer{0},
                        ArgumentPointer{1},
                        WorkspacePointer{kept_at},
                        tiles32,
                        d.length,
                        d.inner,
                        d.outer_stride,
                        splits32};
      add_ratios(kept.arguments, problem);
    }
    work.steps.push_back(std::move(kept));
  }
  return work;
}

// Takes blocks as wide as a warp, or 4 wide for few columns, and so many that each multiprocessor has two, if
// each gets 64 rows; in steps of 4, so that few kernels serve all problems.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const std::int64_t width = d.inner <= 8 ? 4 : 32;
  const std::int64_t height = std::min<std::int64_t>(256 / width, 32);
  // A thread has as many narrow columns as fill 4 bytes, where they and the rows allow it; else more rows of
  // single ones are under way.
  const std::int64_t element = bytes(dtype_of(problem));
  const auto allows = [&](std::int64_t vector) {
    return d.inner % vector == 0 && d.inner >= width * vector && d.stride % vector == 0 &&
           (d.outer == 1 || d.outer_stride % vector == 0);
  };
  std::int64_t vector = 1;
  while (vector * element < 4 && allows(2 * vector)) vector *= 2;
  const std::int64_t tiles = d.outer * ceil_divide(d.inner, width * vector);
  std::int64_t split = 1;
  while (split < 64 && split * tiles < 2 * multiprocessors_to_fill(device) &&
         4 * split * std::max<std::int64_t>(64, height) <= d.length)
    split *= 4;
  Values found = {{std::string(BLOCK_X.name), width},
                  {std::string(BLOCK_Y.name), height},
                  {std::string(SPLIT.name), split}};
  if (vector > 1) found.set(VECTOR.name, vector);
  if (vector * element < 4) found.set(ITEMS.name, std::int64_t{16});
  return found;
}

}  // namespace

Template columns() {
  return {
      .name = "columns",
      .what = "Threads side by side along inner, blocks that share the length: an outer axis, or strides.",
      .kernels = {"reduce_columns", "reduce_columns_kept"},
      .compiled_in = {"dtype", "function", "order", "sum_dtype"},
      .constants = tuned_constants,
      .preamble = tuned_preamble,
      .refuses = refuses,
      .untuned = untuned,
      .space = columns_space,
      .work = columns_work,
      .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::reduce_op
