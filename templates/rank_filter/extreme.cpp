// SPDX-License-Identifier: Apache-2.0
// rank_filter/extreme: minima and maxima of boxes, along rows and columns in one launch.

#include <algorithm>

#include "templates/rank_filter/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::rank_filter_op {
namespace {

#include "templates/rank_filter/extreme_layout.inl"

constexpr IntegerAxis AHEAD("AHEAD");
constexpr IntegerAxis BATCH("BATCH");
constexpr IntegerAxis BUFFERS("BUFFERS");
constexpr IntegerAxis RUN("RUN");

std::int64_t columns_of(const Problem& problem) { return extreme_columns(element_bytes(problem)); }
std::int64_t widest_tile(const Problem& problem, const Config& c, std::int64_t taps) {
  const std::int64_t shift = extreme_shift(element_bytes(problem), c[VECTOR], taps, Dims(problem).before.x);
  return (c[BLOCK] * columns_of(problem) - (taps - 1) - shift) / 16 * 16;
}

std::string refuses(const Problem& problem) {
  if (std::string no = refuses_all_but_box_extremes(problem); !no.empty()) return no;
  const Dims d(problem);
  if (std::max({d.window.z, d.window.y, d.window.x}) > most_of_extreme) {
    return "A window of " + std::to_string(d.window.z) + " x " + std::to_string(d.window.y) + " x " +
           std::to_string(d.window.x) + " is longer than the " + std::to_string(most_of_extreme) +
           " places that a thread has in registers; take the transposed template.";
  }
  if (std::max(d.image.z, d.image.y) >= std::int64_t{1} << 30 ||
      d.image.x * (d.window.z > 1 ? d.image.y : 1) >= std::int64_t{1} << 34 ||
      d.image.z * ceil_divide(d.image.y, 16) * ceil_divide(d.image.x, 16) >= std::int64_t{1} << 31) {
    return "The image has more tiles than a grid; take the base template.";
  }
  return "";
}

Space space(const Problem& problem) {
  const Dims d(problem);
  std::vector<Value> ahead = {std::int64_t{8}};  // other element types leave no registers for more
  if (element_bytes(problem) == 2 || element_bytes(problem) == 4) ahead.push_back(std::int64_t{16});
  std::vector<Axis> axes = {
      {BLOCK, {128, 256, 64, 512}, "threads, each with 4 bytes of a row"},
      {RUN, {128, 64, 32, 256}, "rows of a block, which begins with a window more"},
      {BATCH, {16, 8, 32}, "rows that go to shared memory together, in whole windows; at least one"},
      {BUFFERS, {2, 1}, "batches of rows in shared memory"},
      {AHEAD, ahead, "rows that are read before they are needed"},
      {VECTOR, {16, 1}, "bytes per access to the image, at most"}};
  std::vector<Rule> must = {
      {"The image's width must be a multiple of 16 bytes for wide accesses.",
       [bytes = problem.integer("width") * element_bytes(problem)](const Config& c) {
         return c[VECTOR] == 1 || bytes % 16 == 0;
       }},
      one_name(
          BATCH,
          [d](const Config& c) {
            const auto is_same = [&](std::int64_t window, std::int64_t most) {
              return window == 1 || extreme_batch(window, most) == extreme_batch(window, c[BATCH]);
            };
            for (const std::int64_t least : {8, 16, 32}) {
              const bool in_planes = d.window.y > 1 || d.window.x > 1;
              if (is_same(d.window.z, least) &&
                  (!in_planes || extreme_batch(d.window.y, least) == extreme_batch(d.window.y, c[BATCH])))
                return least;
            }
            return c[BATCH];
          },
          "Of the BATCH that are as many rows one stands for all."),
      {"Of a batch no more rows are read ahead than it has.",
       [d](const Config& c) {
         return c[AHEAD] == 8 ||
                std::max(extreme_batch(d.window.y, c[BATCH]), extreme_batch(d.window.z, c[BATCH])) > 8;
       }},
      {"A row of threads must be longer than the window's overhang.",
       [problem, d](const Config& c) { return widest_tile(problem, c, d.window.x) >= 16; }},
      {"Rows in shared memory are at most 200 KiB.", [problem, d](const Config& c) {
         const std::int64_t rows = extreme_batch(std::max(d.window.y, d.window.z), c[BATCH]);
         return extreme_row_bytes(element_bytes(problem), c[BLOCK], c[BUFFERS], rows) <=
                std::int64_t{200} * 1024;
       }}};
  std::vector<Rule> worth = {{"Half of a row's threads have outputs at least.",
                              [problem, d](const Config& c) {
                                return 2 * widest_tile(problem, c, d.window.x) >=
                                       c[BLOCK] * columns_of(problem);
                              }},
                             {"A run is at least as long as the window.",
                              [d](const Config& c) { return c[RUN] >= std::max(d.window.y, d.window.z); }}};
  return Space(std::move(axes), std::move(must), std::move(worth));
}

// One launch: windows of `window` rows and `taps` columns.
Launch launch(const Problem& problem, const Config& c, const Extents3& image, std::int64_t window,
              std::int64_t taps) {
  // The tiles are as few as possible, of about the same width.
  const std::int64_t widest = widest_tile(problem, c, taps), tiles_x = ceil_divide(image.x, widest);
  const std::int64_t tile_x = std::min(widest, round_up(ceil_divide(image.x, tiles_x), 16));
  const std::int64_t run = round_up(c[RUN], extreme_batch(window, c[BATCH])),
                     runs = ceil_divide(image.y, run);
  return {.kernel = "rank_filter_extreme",
          .grid = {tiles_x * runs * image.z},
          .block = {c[BLOCK]},
          .dynamic_shared_bytes = extreme_row_bytes(element_bytes(problem), c[BLOCK], c[BUFFERS],
                                                    extreme_batch(window, c[BATCH])) +
                                  8 * (run + window),
          .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, int32(image.y), image.x, int32(tiles_x),
                        int32(tile_x), int32(runs), int32(run)}};
}

Work work(const Problem& problem, const Config& c) {
  return work_of_box(problem, "rank_filter_extreme_planes",
                     [&](const Extents3& image, std::int64_t rows_window, std::int64_t columns_window) {
                       return launch(problem, c, image, rows_window, columns_window);
                     });
}

std::optional<Values> untuned(const Problem& problem, const DeviceFacts& /*device*/) {
  const Dims d(problem);
  const std::int64_t each = element_bytes(problem), longest = std::max(d.window.y, d.window.z);
  const bool is_plain = each == 2 || each == 4, is_more = is_plain && d.window.z > 1 && longest <= 8;
  const bool is_long = is_more || (extreme_batch(longest, 8) > 8 && is_plain);
  const std::int64_t block = d.image.x <= 256 && d.window.x <= 32 ? 64
                             : d.window.x <= 48 || each < 4       ? 128
                                                                  : 256;
  return Values{{"VECTOR", std::int64_t{problem.integer("width") * each % 16 == 0 ? 16 : 1}},
                {"BLOCK", block},
                {"RUN", std::int64_t{longest <= 32 ? 32 : 64}},
                {"BATCH", std::int64_t{is_more ? 16 : 8}},
                {"AHEAD", std::int64_t{is_long ? 16 : 8}},
                {"BUFFERS", std::int64_t{2}}};
}

}  // namespace

Template extreme() {
  return {.name = "extreme",
          .what =
              "Minima and maxima of boxes: running extremes of columns in registers, then those of rows "
              "within a warp.",
          .kernels = {"rank_filter_extreme", "rank_filter_extreme_planes"},
          .compiled_in = window_parameters(),
          .constants = window_constants,
          .refuses = refuses,
          .untuned = untuned,
          .space = space,
          .work = work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::rank_filter_op
