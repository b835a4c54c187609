// SPDX-License-Identifier: Apache-2.0
// scan/rows: a team of threads per line, along contiguous elements.

#include "templates/scan/op.h"

namespace tunesmith::scan_op {
namespace {

constexpr CategoricalAxis BEFORE("BEFORE");
constexpr IntegerAxis ROWS("ROWS");
constexpr CategoricalAxis TAIL("TAIL");
constexpr IntegerAxis TEAM("TEAM");

std::string refuses(const Problem& problem) {
  const Dims d(problem);
  std::string empty = refuses_empty(d);
  return empty.empty() ? refuses_apart(d) : empty;
}

std::int64_t tile_of(const Config& c) { return c[TEAM] * c[ITEMS] * c[VECTOR]; }
std::int64_t tiles_of(const Dims& d, const Config& c) { return ceil_divide(d.length, tile_of(c)); }

// The most elements before a tile that a thread adds up, one after the other.
constexpr std::int64_t most_summed = 128;

std::int64_t blocks_of(const Dims& d, const Config& c) {
  if (c[BEFORE] == "summed") return d.outer * tiles_of(d, c);
  return ceil_divide(d.outer, c[BLOCK] / std::max<std::int64_t>(1, c[TEAM]) * c[ROWS]);
}

Space rows_space(const Problem& problem) {
  const Dims d(problem);
  const std::vector<Axis> axes = {
      block_axis(),
      {TEAM, {32, 2, 4, 8, 16, 64, 128, 256, 512, 1024}, "threads per line"},
      {ITEMS, {1, 2, 4, 8, 16}, "loads of a thread for a tile"},
      {ROWS, {1, 2, 4, 8}, "lines that a team has under way at once"},
      {BEFORE, categories({"carried", "summed"}),
       "what is before a tile: carried by its team, or summed anew by a block "
       "that has this tile alone"},
      vector_axis(problem, 16),
      {TAIL, categories({"vector", "element"}), "how a line ends: after a whole load, or anywhere"},
      load_axis(),
      resident_warps_axis({32, 16, 48, 64}),
      store_axis()};
  return Space(
      axes,
      {resident_warps_rule(axes, [](const Config& c) { return c[BLOCK]; }),
       vector_rule(d, true),
       {"VECTOR must divide length, but of a line that may end anywhere.",
        [d](const Config& c) { return d.length % c[VECTOR] == 0 || c[TAIL] == "element"; }},
       {"A line of whole loads ends after one.",
        [d](const Config& c) { return c[TAIL] == "vector" || d.length % c[VECTOR] != 0; }},
       store_rule(problem),
       {"A team is at most a block.", [](const Config& c) { return c[TEAM] <= c[BLOCK]; }},
       {"A line has at most 128 tiles, or tiles of at least 1024 elements: so few roundings are behind a "
        "sum.",
        [length = d.length](const Config& c) { return refuses_small_tiles(length, tile_of(c)).empty(); }},
       {"A block that sums what is before its tile is one team, of one line of several tiles, and no thread "
        "has more than 128 elements of that, in any order.",
        [d, in_order = function_of(problem) == own_expression](const Config& c) {
          return c[BEFORE] == "carried" || (!in_order && c[TEAM] == c[BLOCK] && c[ROWS] == 1 &&
                                            d.length > tile_of(c) && d.length <= most_summed * c[BLOCK]);
        }},
       {"A block's grid has a block for each of its lines.",
        [d](const Config& c) { return blocks_of(d, c) < std::int64_t{1} << 31; }}},
      {register_rule(problem, [](const Config& c) { return c[ITEMS] * c[VECTOR] * c[ROWS]; }),
       {"A tile is not twice as long as a line, and a line of several tiles has 512 elements of each.",
        [length = d.length](const Config& c) {
          return tile_of(c) < 2 * length + 2 * c[VECTOR] && (tile_of(c) >= length || tile_of(c) >= 512);
        }}});
}

Work rows_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  return {.steps = {Launch{.kernel = "scan_rows",
                           .grid = {blocks_of(d, config)},
                           .block = {config[BLOCK]},
                           .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.outer, d.length,
                                         d.outer_stride, int32(tiles_of(d, config))}}}};
}

// Takes small teams if these are enough threads; else a line in one tile if a team of up to a block can hold
// it.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const bool sums = suits_summing(problem, device);
  const std::int64_t vector = usual_vector(problem, !sums);
  std::int64_t team = 4, items = 1;
  if (sums) {
    const std::int64_t block = d.length <= 6144 ? 256 : d.length <= 36864 ? 512 : 1024;
    return Values{{std::string(BLOCK.name), block},
                  {std::string(TEAM.name), block},
                  {std::string(ITEMS.name), std::int64_t{1}},
                  {std::string(VECTOR.name), vector},
                  {std::string(BEFORE.name), std::string("summed")},
                  {std::string(LOAD.name), std::string(block <= 512 ? "streaming" : "plain")},
                  {std::string(RESIDENT_WARPS.name), std::int64_t{16}},
                  {std::string(STORE.name), usual_store(problem, vector)}};
  }
  const auto is_part = [&] { return team * vector * items < d.length; };
  if (d.length > 32 && d.length <= 512 &&
      8 * d.outer >= std::int64_t{1024} * multiprocessors_to_fill(device)) {
    // Takes the larger of the tiles that leave equally few threads without elements.
    team = 8;
    const auto rounded = [&](std::int64_t number) { return round_up(d.length, team * vector * number); };
    for (const std::int64_t number : {2, 4})
      if (rounded(number) <= rounded(items)) items = number;
  } else {
    while (team < 32 && is_part()) team *= 2;
    while (items < (vector > 1 ? 2 : 4) && is_part()) items *= 2;
    // One line's loads are under way at once; with fewer threads, fewer wait for each other.
    while (team < 128 && is_part()) team *= 2;
    while (items < 4 && d.outer < multiprocessors_to_fill(device) && is_part()) items *= 2;
    while (team < 256 && is_part()) team *= 2;
    while (items < 4 && vector < 4 && is_part()) items *= 2;
  }
  return Values{{std::string(BLOCK.name), std::max<std::int64_t>(128, team)},
                {std::string(TEAM.name), team},
                {std::string(ITEMS.name), items},
                {std::string(VECTOR.name), vector},
                {std::string(ROWS.name),
                 std::int64_t{team * items <= 32 && !is_part() &&
                                      d.outer >= std::int64_t{8} * multiprocessors_to_fill(device)
                                  ? 2
                                  : 1}},
                {std::string(RESIDENT_WARPS.name), std::int64_t{16}},
                {std::string(STORE.name), usual_store(problem, vector)}};
}

}  // namespace

Template rows() {
  return {.name = "rows",
          .what = "A team of threads per line, along contiguous elements: many lines; needs no workspace.",
          .kernels = {"scan_rows"},
          .compiled_in = all_but_sizes(),
          .refuses = refuses,
          .untuned = untuned,
          .space = rows_space,
          .work = rows_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::scan_op
