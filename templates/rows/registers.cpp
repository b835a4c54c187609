// SPDX-License-Identifier: Apache-2.0
// rows/registers: a row in the registers of a team of threads.

#include <algorithm>
#include <array>

#include "templates/rows/op.h"

namespace tunesmith::rows_op {
namespace {

constexpr IntegerAxis ROWS("ROWS");
constexpr IntegerAxis TEAM("TEAM");
constexpr IntegerAxis TEAMS("TEAMS");

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
      store_axis(),
      start_axis(),
      trigger_axis()};
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
       start_rule(problem),
       trigger_rule()});
}

Work registers_work(const Problem& problem, const Config& config) {
  return {.steps = {Launch{.kernel = "rows_registers",
                           .grid = {ceil_divide(shape_of(problem).rows, config[TEAMS] * config[ROWS])},
                           .block = {config[TEAM] * config[TEAMS]},
                           .arguments = kernel_arguments(problem),
                           .overlaps_previous = config[START] == "overlapped"}}};
}

// The teams that a guess tries, the smallest first.
constexpr std::array<std::int64_t, 15> teams = {1,   2,   4,   8,   16,  32,  64,  96,
                                                128, 192, 256, 384, 512, 768, 1024};

// A few neighbouring threads share a short row, with 4 to 14 elements each; threads of long rows have up to 8
// vectors. Short rows that begin within vectors get narrower ones, since each warp would write some vectors
// in parts. Vectors of 8 elements make chains of conversions, which take longer than more accesses.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  if (suited(problem, device) != Suited::registers) return std::nullopt;
  const Shape& shape = shape_of(problem);
  const std::int64_t element = bytes(dtype_of(problem));
  const bool is_small = usual_start(problem) == "overlapped";
  const std::int64_t widest = usual_vector(problem), aligned = std::min(widest, shape.aligned);
  const bool is_narrow = least_items(problem, is_small || element > 2 ? 128 : 32, aligned) <= most_items;
  const bool is_shifted = !is_narrow && aligned < widest;
  std::int64_t most_vector = is_shifted ? 4 : 8;
  if (is_small && shape.columns <= 2048) most_vector = shape.columns <= 128 ? 4 : 2;
  if (element > 2) most_vector = 4;
  const std::int64_t vector = std::min(is_narrow ? aligned : widest, most_vector);
  const std::int64_t most_elements = element == 8 ? 4 : is_small ? 6 : element == 4 ? 8 : 14;
  const std::int64_t usual_bytes = element == 4 || is_small ? 32 : is_shifted ? 112 : 64;
  const auto suits = [&](std::int64_t team) {
    const std::int64_t items = least_items(problem, team, vector);
    if (team < 32)
      return items == 1 ||
             (items <= most_items && items * vector <= most_elements && team * vector * element >= 8);
    const std::int64_t least_bytes = team == 32 || team >= 128 ? 64 : 0;
    return team <= 512 && holds_row(problem, team, vector, std::max(usual_bytes, least_bytes));
  };
  const auto holds = [&](std::int64_t team) { return team >= 256 && holds_row(problem, team, vector, 128); };
  auto team = std::find_if(teams.begin(), teams.end(), suits);
  if (team == teams.end()) team = std::find_if(teams.begin(), teams.end(), holds);
  if (team == teams.end()) return std::nullopt;
  const std::int64_t items = least_items(problem, *team, vector);
  const std::int64_t side_by_side =
      vector == 8 && items == 1 && *team <= 8 ? 256 / *team : std::max(128 / *team, std::int64_t{1});
  return Values{
      {std::string(TEAM.name), *team},
      {std::string(TEAMS.name), side_by_side},
      {std::string(ITEMS.name), items},
      {std::string(VECTOR.name), vector},
      {std::string(RESIDENT_WARPS.name), usual_resident_warps(problem, vector, *team * side_by_side)},
      {std::string(STORE.name), usual_store(problem)},
      {std::string(START.name), usual_start(problem)}};
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
