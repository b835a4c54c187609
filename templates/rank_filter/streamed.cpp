// SPDX-License-Identifier: Apache-2.0
// rank_filter/streamed: minima and maxima of bytes in short windows. Rows stream through the registers of a
// warp.

#include <algorithm>

#include "templates/rank_filter/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::rank_filter_op {
namespace {

#include "templates/rank_filter/streamed_layout.inl"

constexpr IntegerAxis AHEAD("AHEAD");
constexpr IntegerAxis BATCH("BATCH");
constexpr IntegerAxis RUN("RUN");

constexpr std::int64_t most_places = 17;  // the limit of a window's sides; registers hold as many rows
constexpr std::int64_t least_vector = 8;
constexpr std::int64_t longest_untuned = 9;  // rows or columns of a window; 15 are faster transposed

std::int64_t out_columns(const Problem& problem, std::int64_t vector) {
  const Dims d(problem);
  return streamed_layout(vector, d.window.x, d.before.x).out_columns;
}

std::string refuses(const Problem& problem) {
  if (std::string no = refuses_all_but_box_extremes(problem); !no.empty()) return no;
  const Dims d(problem);
  if (dtype_of(problem) != DType::u8)
    return "Words of four bytes are compared; elements that are none take another template.";
  if (d.window.z > 1 || std::max(d.window.y, d.window.x) > most_places) {
    return "A window of " + std::to_string(d.window.z) + " x " + std::to_string(d.window.y) + " x " +
           std::to_string(d.window.x) + " is no window of one plane and at most " +
           std::to_string(most_places) + " rows and columns; take another template.";
  }
  if (boundary_of(problem) == Boundary::wrap)
    return "With boundary=wrap a row's beginning needs its end, which other warps have; take another "
           "template.";
  if (d.image.x % least_vector != 0) {
    return "The width " + std::to_string(d.image.x) + " is no multiple of the " +
           std::to_string(least_vector) + " bytes that are read together; take another template.";
  }
  if (std::max({d.image.z, d.image.y, d.image.x}) >= std::int64_t{1} << 30 ||
      d.image.z * ceil_divide(d.image.y, 16) * ceil_divide(d.image.x, 128) >= std::int64_t{1} << 31) {
    return "The image has more strips than a grid; take the base template.";
  }
  return "";
}

Space space(const Problem& problem) {
  std::vector<Axis> axes = {{BLOCK, {128, 64, 256}, "threads per block, whose warps share nothing"},
                            {VECTOR, {std::int64_t{8}, std::int64_t{16}}, "bytes of a row that a lane has"},
                            {RUN, {16, 8, 32}, "rows of outputs of a warp"},
                            {BATCH, {8, 4}, "rows that are read together"},
                            {AHEAD, {1, 0}, "batches that are read ahead"},
                            resident_warps_axis({16, 20, 24, 32})};
  std::vector<Rule> must = {
      {"The image's width must be a multiple of VECTOR bytes.",
       [width = problem.integer("width")](const Config& c) { return width % c[VECTOR] == 0; }},
      resident_warps_rule(axes, [](const Config& c) { return c[BLOCK]; })};
  return Space(std::move(axes), std::move(must));
}

Work work(const Problem& problem, const Config& c) {
  const Dims d(problem);
  if (d.empty()) return {};
  const std::int64_t strips_x = ceil_divide(d.image.x, out_columns(problem, c[VECTOR])),
                     strips_y = ceil_divide(d.image.y, c[RUN]);
  Launch launch{.kernel = "rank_filter_streamed",
                .grid = {ceil_divide(strips_x * strips_y * d.image.z, c[BLOCK] / 32)},
                .block = {c[BLOCK]},
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, int32(d.image.z), int32(d.image.y),
                              int32(d.image.x), int32(strips_x), int32(strips_y)}};
  add_outside(launch, problem);
  return {.steps = {std::move(launch)}};
}

// Takes short windows, and images that give each multiprocessor many warps. For longer windows, the
// transposed template makes fewer comparisons.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const std::int64_t vector = d.image.x % 16 == 0 ? 16 : 8, run = 8;
  const std::int64_t warps =
      ceil_divide(d.image.x, out_columns(problem, vector)) * ceil_divide(d.image.y, run) * d.image.z;
  const std::int64_t longest = std::max(d.window.y, d.window.x);
  if (longest > longest_untuned || warps < std::int64_t{8} * multiprocessors_to_fill(device))
    return std::nullopt;
  return Values{{"BLOCK", std::int64_t{128}},
                {"VECTOR", vector},
                {"RUN", run},
                {"BATCH", std::int64_t{longest > 5 ? 8 : 4}},
                {"AHEAD", std::int64_t{0}},
                {"RESIDENT_WARPS", std::int64_t{longest > 5 ? 16 : 20}}};
}

}  // namespace

Template streamed() {
  return {.name = "streamed",
          .what =
              "Minima and maxima of bytes in short windows: rows pass the registers of a warp, whose lanes "
              "exchange words.",
          .kernels = {"rank_filter_streamed"},
          .compiled_in = window_parameters(),
          .constants = window_constants,
          .refuses = refuses,
          .untuned = untuned,
          .space = space,
          .work = work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::rank_filter_op
