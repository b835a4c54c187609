// SPDX-License-Identifier: Apache-2.0
// rows/split: several blocks share a row, with a launch for each pass over it.

#include <algorithm>
#include <bit>

#include "templates/rows/op.h"

namespace tunesmith::rows_op {
namespace {

constexpr IntegerAxis PARTS("PARTS");
constexpr std::int64_t most_parts = 256;

std::string refuses(const Problem& problem) {
  if (std::string empty = refuses_empty(problem); !empty.empty()) return empty;
  return refuses_grid(problem, most_parts, "registers or sweeps");
}

Space split_space(const Problem& problem) {
  const std::vector<Axis> axes = {block_axis({512, 256, 1024}),
                                  {PARTS, {8, 2, 4, 16, 32, 64, 128, 256}, "blocks that share a row"},
                                  {ITEMS, {2, 1, 4, 8}, "vectors of a thread that are loaded at once"},
                                  vector_axis(problem),
                                  load_axis(),
                                  resident_axis(),
                                  store_axis(),
                                  start_axis(),
                                  trigger_axis()};
  return Space(axes,
               {resident_warps_rule(axes, [](const Config& c) { return c[BLOCK]; }),
                vector_rule(problem),
                {"A thread's elements fit its registers.",
                 [problem](const Config& c) { return held_bytes(problem, c[ITEMS] * c[VECTOR]) <= 256; }}},
               {{"A thread loads 16 to 128 bytes at once.",
                 [problem](const Config& c) {
                   const std::int64_t held = held_bytes(problem, c[ITEMS] * c[VECTOR]);
                   return held >= 16 && held <= 128;
                 }},
                {"Each block has a part of the row.",
                 [columns = shape_of(problem).columns](const Config& c) {
                   return (c[PARTS] - 1) * c[BLOCK] * c[ITEMS] * c[VECTOR] < columns;
                 }},
                start_rule(problem),
                trigger_rule()});
}

Work split_work(const Problem& problem, const Config& config) {
  const Shape& shape = shape_of(problem);
  const std::int64_t bytes_of_total = bytes(language::compute_dtype(dtype_of(problem)));
  Work work;
  work.workspace_bytes = shape.rows * shape.passes * shape.most_of_a_pass() * config[PARTS] * bytes_of_total;
  for (int pass = 0; pass <= shape.passes; ++pass) {
    Launch launch{.kernel = "rows_split",
                  .grid = {shape.rows * config[PARTS]},
                  .block = {config[BLOCK]},
                  .arguments = kernel_arguments(problem),
                  .overlaps_previous = config[START] == "overlapped"};
    launch.arguments.emplace_back(WorkspacePointer{0});
    launch.arguments.emplace_back(pass);
    work.steps.emplace_back(std::move(launch));
  }
  return work;
}

// Takes as many parts as fill the multiprocessors twice, if each still has a tile.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  if (suited(problem, device) != Suited::split) return std::nullopt;
  const std::int64_t vector = usual_vector(problem), items = held_bytes(problem, 2 * vector) <= 128 ? 2 : 1;
  const std::int64_t tiles = shape_of(problem).columns / (512 * items * vector),
                     wanted = 2 * ceil_divide(multiprocessors_to_fill(device), shape_of(problem).rows);
  const std::int64_t most = std::clamp<std::int64_t>(std::min(tiles, wanted), 2, most_parts);
  const auto parts = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(most)));
  return Values{
      {std::string(PARTS.name), parts}, {std::string(ITEMS.name), items}, {std::string(VECTOR.name), vector}};
}

}  // namespace

Template split() {
  return {.name = "split",
          .what = "Several blocks for each of few long rows, with a launch for each pass of reductions.",
          .kernels = {"rows_split"},
          .compiled_in = {"expression", "dtype"},
          .constants = constants,
          .preamble = code,
          .refuses = refuses,
          .untuned = untuned,
          .space = split_space,
          .work = split_work,
          .alignment_bytes = alignment_bytes};
}

}  // namespace tunesmith::rows_op
