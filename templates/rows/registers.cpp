// rows/registers: a row in the registers of a team of threads.

#include <algorithm>
#include <array>

#include "templates/rows/op.h"

namespace tunesmith::rows_op {
namespace {

constexpr IntegerAxis ROWS("ROWS");
constexpr IntegerAxis TEAM("TEAM");
constexpr IntegerAxis TEAMS("TEAMS");

constexpr std::int64_t most_items = 8;

std::string refuses(const Problem& problem) {
  if (std::string empty = refuses_empty(problem); !empty.empty()) return empty;
  const Shape& shape = shape_of(problem);
  const std::int64_t vector = usual_vector(problem), most = 1024 * most_items * vector;
  if (least_items(problem, 1024, vector) <= most_items) return "";
  return "A row of columns=" + std::to_string(shape.columns) + " has more than the " + std::to_string(most) +
         " elements that a block holds in registers; take cluster or sweeps.";
}

Space registers_space(const Problem& problem) {
  const std::vector<Axis> axes = {
      {TEAM, {32, 1, 2, 4, 8, 16, 64, 96, 128, 192, 256, 384, 512, 768, 1024}, "threads per row"},
      {TEAMS, {4, 1, 2, 8, 16, 32, 64, 128, 256}, "rows side by side in a block"},
      {ITEMS, {1, 2, 3, 4, 5, 6, 7, 8}, "vectors of a thread; what the row needs"},
      {ROWS, {1, 2, 4}, "rows that a team has under way at once"},
      vector_axis(problem),
      load_axis(),
      resident_axis(),
      store_axis()};
  const std::int64_t rows = shape_of(problem).rows, columns = shape_of(problem).columns;
  return Space(
      axes,
      {resident_warps_rule(axes, [](const Config& c) { return c[TEAM] * c[TEAMS]; }),
       vector_rule(problem),
       {"A block has 32 to 1024 threads.",
        [](const Config& c) { return c[TEAM] * c[TEAMS] >= 32 && c[TEAM] * c[TEAMS] <= 1024; }},
       {"ITEMS vectors for each thread of a team are a row, and no fewer are.",
        [problem](const Config& c) { return c[ITEMS] == least_items(problem, c[TEAM], c[VECTOR]); }},
       {"A thread's elements fit its registers.",
        [problem](const Config& c) { return held_bytes(problem, c[ITEMS] * c[VECTOR] * c[ROWS]) <= 256; }},
       {"A grid has a block for each of its rows.",
        [rows](const Config& c) { return ceil_divide(rows, c[TEAMS] * c[ROWS]) < std::int64_t{1} << 31; }}},
      {{"A thread holds 16 to 160 bytes.",
        [problem](const Config& c) {
          const std::int64_t held = held_bytes(problem, c[ITEMS] * c[VECTOR] * c[ROWS]);
          return held >= 16 && held <= 160;
        }},
       {"A team is no larger than a row.",
        [columns](const Config& c) { return c[TEAM] * c[VECTOR] < 2 * columns + 2 * c[VECTOR]; }},
       {"Of rows of several warps a block has 1024 threads at most and few rows.",
        [](const Config& c) { return c[TEAM] <= 32 || c[TEAM] * c[TEAMS] <= 512 || c[TEAMS] == 1; }},
       {"Several rows at once are for what a warp or less has.",
        [](const Config& c) { return c[ROWS] == 1 || c[TEAM] <= 64; }}});
}

Work registers_work(const Problem& problem, const Config& config) {
  return {.steps = {Launch{.kernel = "rows_registers",
                           .grid = {ceil_divide(shape_of(problem).rows, config[TEAMS] * config[ROWS])},
                           .block = {config[TEAM] * config[TEAMS]},
                           .arguments = kernel_arguments(problem)}}};
}

// A thread has at most 4 vectors of 16 bytes, up to 8 where a block would not hold the row else; short rows
// are read two at a time.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  if (suits_cluster(problem, device)) return std::nullopt;
  const std::int64_t vector = usual_vector(problem);
  const auto held = [&](std::int64_t team) {
    return held_bytes(problem, least_items(problem, team, vector) * vector);
  };
  static constexpr std::array<std::int64_t, 15> teams = {1,   2,   4,   8,   16,  32,  64,  96,
                                                         128, 192, 256, 384, 512, 768, 1024};
  const auto suits = [&](std::int64_t team, std::int64_t most) {
    return held(team) <= most && least_items(problem, team, vector) <= most_items;
  };
  // Rows that begin within vectors take more registers, and arithmetic in double.
  const bool is_plain = vector <= shape_of(problem).aligned && bytes(dtype_of(problem)) < 8;
  auto team = std::find_if(teams.begin(), teams.end(), [&](std::int64_t each) {
    return suits(each, each < 32 ? 16 : each == 32 && is_plain ? 96 : 64);
  });
  if (team == teams.end())
    team = std::find_if(teams.begin(), teams.end(), [&](std::int64_t each) { return suits(each, 128); });
  if (team == teams.end()) return std::nullopt;
  const std::int64_t items = least_items(problem, *team, vector);
  const bool is_short = *team <= 32 && held(*team) <= 32 && shape_of(problem).rows >= 1 << 14;
  std::int64_t side_by_side = std::max<std::int64_t>(1, 128 / *team);
  Values values = {
      {std::string(TEAM.name), *team},    {std::string(TEAMS.name), side_by_side},
      {std::string(ITEMS.name), items},   {std::string(ROWS.name), std::int64_t{is_short ? 2 : 1}},
      {std::string(VECTOR.name), vector}, {std::string(STORE.name), usual_store(problem)}};
  // Of one array in blocks of few elements per thread more fit a multiprocessor without spilling.
  const bool are_small = *team >= 64 && held(*team) <= 64 && shape_of(problem).inputs.size() == 1;
  values.set(RESIDENT_WARPS.name, resident_warps(!is_plain ? 16 : are_small ? 48 : 32, *team * side_by_side));
  return values;
}

}  // namespace

Template registers() {
  return {.name = "registers",
          .what =
              "A row in the registers of a team of threads, of some lanes up to a block: reads each element "
              "once.",
          .kernels = {"rows_registers"},
          .compiled_in = {"expression", "dtype"},
          .constants = constants,
          .preamble = code,
          .refuses = refuses,
          .untuned = untuned,
          .space = registers_space,
          .work = registers_work,
          .alignment_bytes = alignment_bytes};
}

}  // namespace tunesmith::rows_op
