// rank_filter/ranks: large windows, as sets of places among a tile's sorted elements.

#include <algorithm>

#include "templates/rank_filter/op.h"

namespace tunesmith::rank_filter_op {
namespace {

constexpr IntegerAxis GROUP("GROUP");
constexpr IntegerAxis SORTED("SORTED");
constexpr IntegerAxis TILE_X("TILE_X");

std::int64_t columns(const Problem& problem, const Config& c) {
  return c[TILE_X] + Dims(problem).window.x - 1;
}
std::int64_t tile_y(const Problem& problem, const Config& c) {
  return c[SORTED] / columns(problem, c) - Dims(problem).window.y + 1;
}

std::int64_t shared_bytes(const Problem& problem, const Config& c) {
  const std::int64_t key = bytes(dtype_of(problem)) <= 2 ? 2 : 4, groups = c[SORTED] / 8 / c[GROUP];
  return std::max(2 * key * c[SORTED], key * c[SORTED] + groups * c[SORTED] / 8 + 2 * c[SORTED] +
                                           2 * tile_y(problem, c) * c[TILE_X]);
}

std::string refuses(const Problem& problem) {
  if (std::string no = refuses_empty(problem); !no.empty()) return no;
  const Dims d(problem);
  if (!is_box(problem)) return "A footprint in which not all places count is no box; take another template.";
  if (bytes(dtype_of(problem)) == 8)
    return "Elements of 8 bytes are not sorted here; take the network or the base template.";
  if (counted_places(problem) < 50) {
    return "A window of " + std::to_string(counted_places(problem)) +
           " places is small; take the network template.";
  }
  if (is_least(problem) || is_greatest(problem))
    return "A minimum or a maximum needs no order; take the extreme template.";
  if (d.window.z > 1) {
    return "A window of " + std::to_string(d.window.z) +
           " planes is not that of one plane; take the network or the base template.";
  }
  if (std::max(d.window.y, d.window.x) > 63) {
    return "A window of " + std::to_string(d.window.y) + " x " + std::to_string(d.window.x) +
           " is longer than the 63 places that a tile has beside its outputs.";
  }
  if (std::max({d.image.z, d.image.y, d.image.x}) >= std::int64_t{1} << 30 ||
      d.image.z * ceil_divide(d.image.y, 4) * ceil_divide(d.image.x, 16) >= std::int64_t{1} << 31) {
    return "The image has more tiles than a grid; take the base template.";
  }
  return "";
}

Space space(const Problem& problem) {
  return Space({{SORTED, {8192, 4096, 2048}, "elements of a tile, 8 for each thread"},
                {TILE_X, {64, 32, 16}, "columns of outputs of a block"},
                {GROUP, {16, 8}, "lanes that have a window together"},
                resident_warps_axis({32, 64})},
               {{"A tile must have 4 rows of outputs at least.",
                 [problem](const Config& c) { return tile_y(problem, c) >= 4; }}},
               {{"A tile of which windows' overhang is the most is sorted for little.",
                 [problem](const Config& c) { return 8 * tile_y(problem, c) * c[TILE_X] >= c[SORTED]; }}});
}

Work work(const Problem& problem, const Config& c) {
  const Dims d(problem);
  if (d.empty()) return {};
  const std::int64_t tiles_x = ceil_divide(d.image.x, c[TILE_X]),
                     tiles_y = ceil_divide(d.image.y, tile_y(problem, c));
  Launch launch{.kernel = "rank_filter_ranks",
                .grid = {tiles_x * tiles_y * d.image.z},
                .block = {c[SORTED] / 8},
                .dynamic_shared_bytes = shared_bytes(problem, c),
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, int32(d.image.y), int32(d.image.x),
                              int32(tiles_x), int32(tiles_y)}};
  add_outside(launch, problem);
  return {.steps = {std::move(launch)}};
}

std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  if (d.window.product() <= 81) return std::nullopt;
  // Small tiles for small images, small windows and bytes, where sorting is not most of the time; but as
  // large ones as have rows of outputs.
  const bool is_small =
      d.image.product() < 1000 * multiprocessors_to_fill(device) || bytes(dtype_of(problem)) == 1;
  std::int64_t tile_x = is_small ? 16 : 32;
  std::int64_t sorted = is_small || d.window.x <= 12 ? 2048 : 4096;
  while (sorted < 8192 && sorted / (tile_x + d.window.x - 1) < d.window.y + 7) sorted *= 2;
  const auto tiles = [&] { return ceil_divide(d.image.x, tile_x) * d.image.y * d.image.z; };
  while (d.image.y <= 8 && tile_x < 64 && tiles() > multiprocessors_to_fill(device) &&
         sorted / (2 * tile_x + d.window.x - 1) >= d.window.y + 7)
    tile_x *= 2;  // of few rows a tile need not be high
  return Values{{"SORTED", sorted},
                {"TILE_X", tile_x},
                {"GROUP", std::int64_t{16}},
                {"RESIDENT_WARPS", std::int64_t{sorted == 2048 ? 32 : 64}}};
}

}  // namespace

Template ranks() {
  return {.name = "ranks",
          .what =
              "Large windows: the elements of a tile are sorted, and windows are sets of places in that "
              "order, which slide.",
          .kernels = {"rank_filter_ranks"},
          .compiled_in = {"window_depth", "window_height", "window_width", "footprint", "rank", "origin_z",
                          "origin_y", "origin_x", "dtype"},
          .constants = window_constants,
          .refuses = refuses,
          .untuned = untuned,
          .space = space,
          .work = work};
}

}  // namespace tunesmith::rank_filter_op
