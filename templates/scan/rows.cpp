// scan/rows: a team of threads per line, along contiguous elements.

#include "templates/scan/op.h"

namespace tunesmith::scan_op {
namespace {

constexpr IntegerAxis ROWS("ROWS");
constexpr IntegerAxis TEAM("TEAM");

std::string refuses(const Problem& problem) {
  const Dims d(problem);
  std::string empty = refuses_empty(d);
  return empty.empty() ? refuses_apart(d) : empty;
}

std::int64_t tile_of(const Config& c) { return c[TEAM] * c[ITEMS] * c[VECTOR]; }

Space rows_space(const Problem& problem) {
  const Dims d(problem);
  const std::vector<Axis> axes = {{BLOCK, {256, 128, 512, 1024}, "threads per block"},
                                  {TEAM, {32, 2, 4, 8, 16, 64, 128, 256, 512, 1024}, "threads per line"},
                                  {ITEMS, {1, 2, 4, 8, 16}, "loads of a thread for a tile"},
                                  {ROWS, {1, 2, 4, 8}, "lines that a team has under way at once"},
                                  vector_axis(problem, 16),
                                  load_axis(),
                                  resident_warps_axis({32, 16, 48, 64}),
                                  store_axis()};
  return Space(
      axes,
      {resident_warps_rule(axes, [](const Config& c) { return c[BLOCK]; }),
       vector_rule(d),
       {"VECTOR must divide length.", [d](const Config& c) { return d.length % c[VECTOR] == 0; }},
       store_rule(problem),
       {"A team is at most a block.", [](const Config& c) { return c[TEAM] <= c[BLOCK]; }},
       {"A line has at most 128 tiles, or tiles of at least 1024 elements: so few roundings are behind a "
        "sum.",
        [length = d.length](const Config& c) { return refuses_small_tiles(length, tile_of(c)).empty(); }},
       {"A block's grid has a block for each of its lines.",
        [lines = d.outer](const Config& c) {
          return ceil_divide(lines, c[BLOCK] / std::max<std::int64_t>(1, c[TEAM]) * c[ROWS]) < std::int64_t{1}
                                                                                                   << 31;
        }}},
      {register_rule(problem, [](const Config& c) { return c[ITEMS] * c[VECTOR] * c[ROWS]; }),
       {"A tile is not twice as long as a line, and a line of several tiles has 512 elements of each.",
        [length = d.length](const Config& c) {
          return tile_of(c) < 2 * length + 2 * c[VECTOR] && (tile_of(c) >= length || tile_of(c) >= 512);
        }},
       {"Several lines at once are for lines of one tile.",
        [length = d.length](const Config& c) { return c[ROWS] == 1 || tile_of(c) >= length; }}});
}

Work rows_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t block = config[BLOCK];
  return {.steps = {Launch{
              .kernel = "scan_rows",
              .grid = {ceil_divide(d.outer, block / config[TEAM] * config[ROWS])},
              .block = {block},
              .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.outer, d.length, d.outer_stride}}}};
}

// Small teams where they are enough threads; else a line in one tile if a team of up to a block can have it
// so.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const std::int64_t vector = usual_vector(problem, true);
  std::int64_t team = 4, items = 1;
  const auto is_part = [&] { return team * vector * items < d.length; };
  if (d.length > 32 && d.length <= 512 &&
      8 * d.outer >= std::int64_t{1024} * multiprocessors_to_fill(device)) {
    // Of tiles that leave as few threads without elements the larger ones.
    team = 8;
    const auto rounded = [&](std::int64_t number) { return round_up(d.length, team * vector * number); };
    for (const std::int64_t number : {2, 4})
      if (rounded(number) <= rounded(items)) items = number;
  } else {
    while (team < 32 && is_part()) team *= 2;
    while (items < (vector > 1 ? 2 : 4) && is_part()) items *= 2;
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
          .compiled_in = {"dtype", "function", "kind", "sum_dtype"},
          .refuses = refuses,
          .untuned = untuned,
          .space = rows_space,
          .work = rows_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::scan_op
