// SPDX-License-Identifier: Apache-2.0
// rank_filter/transposed: minima and maxima of boxes in a tile, first along its columns, then along its rows,
// which are the columns of the transposed tile.

#include <algorithm>
#include <array>

#include "templates/rank_filter/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::rank_filter_op {
namespace {

#include "templates/rank_filter/transposed_layout.inl"

constexpr IntegerAxis ROUNDS("ROUNDS");
constexpr IntegerAxis RUN("RUN");
constexpr IntegerAxis STEPS("STEPS");
constexpr IntegerAxis TILE_X("TILE_X");
constexpr IntegerAxis TILE_Y("TILE_Y");

constexpr std::int64_t most_places = 255;  // the limit of a window's sides; a thread's code is as long
constexpr std::int64_t least_tile_y = 32;
constexpr std::array<std::int64_t, 4> resident_warps = {16, 20, 24, 32};
constexpr std::int64_t most_shared_bytes = std::int64_t{200} * 1024;

std::int64_t in_word(const Problem& problem) { return 4 / element_bytes(problem); }

struct Shape {  // the shape of a block
  std::int64_t tile_x, tile_y, steps, run, rounds, vector_bytes;
};
Shape shape_of(const Config& c) { return {c[TILE_X], c[TILE_Y], c[STEPS], c[RUN], c[ROUNDS], c[VECTOR]}; }

TransposedShape in_elements(const Problem& problem, const Shape& shape) {
  const std::int64_t each = in_word(problem), vector = std::max<std::int64_t>(4, shape.vector_bytes);
  return {shape.tile_x, shape.tile_y, shape.steps,       shape.run,
          shape.rounds, each,         vector / 4 * each, Dims(problem).before.x};
}
// Shared memory of a launch for windows of rows_window rows and columns_window columns.
std::int64_t shared_bytes(const Problem& problem, const Shape& shape, std::int64_t rows_window,
                          std::int64_t columns_window) {
  return transposed_layout(in_elements(problem, shape), rows_window, columns_window).bytes;
}
// The larger of the two launches' sizes.
std::int64_t shared_bytes(const Problem& problem, const Shape& shape) {
  const Dims d(problem);
  return std::max(shared_bytes(problem, shape, d.window.y, d.window.x),
                  shared_bytes(problem, shape, d.window.z, 1));
}

std::int64_t threads(const Problem& problem, const Shape& shape) {
  return transposed_threads(in_elements(problem, shape), Dims(problem).window.x);
}

std::string refuses(const Problem& problem) {
  if (std::string no = refuses_all_but_box_extremes(problem); !no.empty()) return no;
  const Dims d(problem);
  if (element_bytes(problem) == 8)
    return "Elements of 8 bytes are longer than the words that are compared; take the extreme template.";
  if (std::max({d.window.z, d.window.y, d.window.x}) > most_places ||
      shared_bytes(problem, {32 * in_word(problem), least_tile_y, 1, 8, 1, 4}) > most_shared_bytes) {
    return "A window of " + std::to_string(d.window.z) + " x " + std::to_string(d.window.y) + " x " +
           std::to_string(d.window.x) + " is longer than " + std::to_string(most_places) +
           " places, or too large for a tile in shared memory; take the base template.";
  }
  if (std::max(d.image.z, d.image.y) >= std::int64_t{1} << 30 ||
      d.image.x * (d.window.z > 1 ? d.image.y : 1) >= std::int64_t{1} << 30 ||
      d.image.z * ceil_divide(d.image.y, 16) * ceil_divide(d.image.x, 32) >= std::int64_t{1} << 31) {
    return "The image has more tiles than a grid; take the base template.";
  }
  return "";
}

Space space(const Problem& problem) {
  const Dims d(problem);
  const std::int64_t each = in_word(problem);
  std::vector<Value> tiles_x, vectors = {std::int64_t{16}, std::int64_t{4}};
  for (const std::int64_t bytes : {256, 128, 512}) tiles_x.emplace_back(bytes / 4 * each);
  if (each > 1) vectors.emplace_back(std::int64_t{1});
  std::vector<Axis> axes = {
      {TILE_X, tiles_x, "columns of outputs of a block"},
      {TILE_Y, {64, least_tile_y, 128}, "rows of outputs of a block"},
      {STEPS, {1, 4}, "such tiles of a block below each other; the next is read meanwhile"},
      {RUN, {32, 16, 8}, "outputs of a thread below each other, then beside"},
      {ROUNDS, {1, 2, 4}, "runs of a thread at most, in each direction"},
      {VECTOR, vectors, "bytes per access to the image, at most"},
      resident_warps_axis({resident_warps.begin(), resident_warps.end()})};
  std::vector<Rule> must = {
      {"The image's rows must be multiples of VECTOR bytes.",
       [bytes = d.image.x * element_bytes(problem)](const Config& c) { return bytes % c[VECTOR] == 0; }},
      {"A block has 64 to 1024 threads.",
       [problem](const Config& c) {
         return threads(problem, shape_of(c)) >= 64 && threads(problem, shape_of(c)) <= 1024;
       }},
      {"A tile's shared memory is at most 200 KiB.",
       [problem](const Config& c) { return shared_bytes(problem, shape_of(c)) <= most_shared_bytes; }},
      resident_warps_rule(axes, [problem](const Config& c) { return threads(problem, shape_of(c)); })};
  std::vector<Rule> worth = {{"Runs that are much longer than the windows share nothing.",
                              [d](const Config& c) {
                                return c[RUN] <= 8 * std::max({d.window.z, d.window.y, d.window.x});
                              }},
                             {"A tile is at most twice as high as the image.", [d](const Config& c) {
                                return c[TILE_Y] == least_tile_y || c[TILE_Y] <= 2 * d.image.y;
                              }}};
  return Space(std::move(axes), std::move(must), std::move(worth));
}

// One launch along the columns of an image, and along its rows too if the window has several columns.
Launch launch(const Problem& problem, const Config& c, const Extents3& image, std::int64_t rows_window,
              std::int64_t columns_window) {
  const std::int64_t tiles_x = ceil_divide(image.x, c[TILE_X]),
                     tiles_y = ceil_divide(image.y, c[STEPS] * c[TILE_Y]);
  return {.kernel = "rank_filter_transposed",
          .grid = {tiles_x * tiles_y * image.z},
          .block = {threads(problem, shape_of(c))},
          .dynamic_shared_bytes = shared_bytes(problem, shape_of(c), rows_window, columns_window),
          .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, int32(image.y), int32(image.x),
                        int32(tiles_x), int32(tiles_y)}};
}

Work work(const Problem& problem, const Config& c) {
  return work_of_box(problem, "rank_filter_transposed_planes",
                     [&](const Extents3& image, std::int64_t rows_window, std::int64_t columns_window) {
                       return launch(problem, c, image, rows_window, columns_window);
                     });
}

// Tiles are small if large ones would leave multiprocessors without a block. For elements of 4 bytes and
// short windows, other templates read each element fewer times, which matters unless the image is tiny.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const std::int64_t each = in_word(problem), row_bytes = d.image.x * element_bytes(problem);
  const std::int64_t longest = std::max({d.window.z, d.window.y, d.window.x});
  const auto tiles = [&](std::int64_t bytes, std::int64_t rows) {
    return ceil_divide(row_bytes, bytes) * ceil_divide(d.image.y, rows) * d.image.z;
  };
  const std::int64_t enough = std::int64_t{2} * multiprocessors_to_fill(device);
  const bool is_tiny = tiles(128, 32) < enough, is_short = longest <= 24;
  const bool is_for_others =
      d.image.y < 8 || (each == 1 && !is_tiny && longest <= 32) || (d.window.z > 1 && row_bytes % 4 != 0);
  if (longest <= most_of_extreme && is_for_others) return std::nullopt;
  const std::int64_t vector_bytes = row_bytes % 16 == 0 && !is_tiny ? 16 : row_bytes % 4 == 0 ? 4 : 1;
  Shape shape = {.tile_x = (is_short || each < 4 ? 128 : 64) * each,
                 .tile_y = is_short ? least_tile_y : 64,
                 .steps = 1,
                 .run = is_short && each < 4 ? 16 : 32,
                 .rounds = 1,
                 .vector_bytes = vector_bytes};
  const bool is_small = tiles(256, 64) < enough || shared_bytes(problem, shape) > most_shared_bytes * 3 / 5;
  if (is_small) shape = {32 * each, least_tile_y, 1, is_tiny ? 8 : 16, 1, vector_bytes};
  // Rows that begin at any address pass through registers, so other threads' loads have to run meanwhile.
  if (!is_small && vector_bytes == 1) shape = {64 * each, least_tile_y, 1, 8, 2, vector_bytes};
  // The registers bound the blocks; the smallest number of warps that gives this many is taken.
  const auto blocks = [all = threads(problem, shape)](std::int64_t warps) {
    return std::max<std::int64_t>(1, warps * 32 / all);
  };
  std::int64_t warps = resident_warps[0];
  for (const std::int64_t more : resident_warps) {
    if (more <= (is_small ? 32 : 20) && blocks(more) > blocks(warps)) warps = more;
  }
  return Values{{"TILE_X", shape.tile_x}, {"TILE_Y", shape.tile_y}, {"STEPS", shape.steps},
                {"RUN", shape.run},       {"ROUNDS", shape.rounds}, {"VECTOR", shape.vector_bytes},
                {"RESIDENT_WARPS", warps}};
}

}  // namespace

Template transposed() {
  return {.name = "transposed",
          .what =
              "Minima and maxima of boxes: a tile's columns, then its rows as columns of the transposed "
              "tile, by words of up to four elements.",
          .kernels = {"rank_filter_transposed", "rank_filter_transposed_planes"},
          .compiled_in = window_parameters(),
          .constants = window_constants,
          .refuses = refuses,
          .untuned = untuned,
          .space = space,
          .work = work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::rank_filter_op
