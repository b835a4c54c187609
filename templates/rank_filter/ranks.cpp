// SPDX-License-Identifier: Apache-2.0
// rank_filter/ranks, for large windows of any footprint: windows are sets of places among a tile's sorted
// elements.

#include <algorithm>

#include "templates/rank_filter/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::rank_filter_op {
namespace {

#include "templates/rank_filter/ranks_layout.inl"

constexpr IntegerAxis GROUP("GROUP");
constexpr IntegerAxis SORTED("SORTED");
constexpr IntegerAxis TILE_X("TILE_X");

constexpr std::int64_t least_tile_x = 16, least_tile_y = 4, most_sorted = 8192;

RanksLayout layout_of(const Problem& problem, const Config& c) {
  const Dims d(problem);
  return ranks_layout({.sorted = c[SORTED],
                       .tile_x = c[TILE_X],
                       .group = c[GROUP],
                       .key_bytes = std::max<std::int64_t>(2, bytes(dtype_of(problem))),
                       .window_depth = d.window.z,
                       .window_height = d.window.y,
                       .window_width = d.window.x});
}
std::int64_t tile_y(const Problem& problem, const Config& c) { return layout_of(problem, c).tile_y; }

std::string refuses(const Problem& problem) {
  if (std::string no = refuses_empty(problem); !no.empty()) return no;
  const Dims d(problem);
  if (counted_places(problem) < 50 && d.window.product() <= 256) {
    return "A window of " + std::to_string(counted_places(problem)) +
           " places is small; take the network template.";
  }
  if (is_box(problem) && (is_least(problem) || is_greatest(problem)))
    return "A box's minimum or maximum needs no order; take the extreme template.";
  if (std::max(d.window.y, d.window.x) > 63 ||
      (least_tile_x + d.window.x - 1) * (least_tile_y + d.window.y - 1) * d.window.z > most_sorted) {
    return "A window of " + std::to_string(d.window.z) + " x " + std::to_string(d.window.y) + " x " +
           std::to_string(d.window.x) + " is larger than the 63 rows and columns of one plane, or the " +
           std::to_string(most_sorted) + " elements with the outputs' own, that a tile has.";
  }
  if (std::max({d.image.z, d.image.y, d.image.x}) >= std::int64_t{1} << 30 ||
      d.image.z * ceil_divide(d.image.y, 4) * ceil_divide(d.image.x, 16) >= std::int64_t{1} << 31) {
    return "The image has more tiles than a grid; take the base template.";
  }
  return "";
}

Space space(const Problem& problem) {
  const bool is_wide = bytes(dtype_of(problem)) == 8;
  return Space({{SORTED, {most_sorted, 4096, 2048}, "elements of a tile, 8 for each thread"},
                {TILE_X, {64, 32, least_tile_x}, "columns of outputs of a block"},
                {GROUP, {8, 16}, "lanes that have a window together"},
                resident_warps_axis(is_wide ? std::vector<Value>{std::int64_t{32}, std::int64_t{16}}
                                            : std::vector<Value>{std::int64_t{32}, std::int64_t{64}})},
               {{"A tile must have 4 rows of outputs at least.",
                 [problem](const Config& c) { return tile_y(problem, c) >= least_tile_y; }}},
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
                .dynamic_shared_bytes = layout_of(problem, c).bytes,
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, int32(d.image.z), int32(d.image.y),
                              int32(d.image.x), int32(tiles_x), int32(tiles_y)}};
  add_outside(launch, problem);
  return {.steps = {std::move(launch)}};
}

// The lists of elements of a footprint, under the names that ranks.cu uses.
std::string generated(const Problem& problem, const Config& /*config*/) {
  if (is_box(problem)) {  // a box needs no lists
    return "constexpr bool is_box = true;\n"
           "__device__ const int counted[] = {0}, upper_ends[] = {0}, lower_ends[] = {0};\n";
  }
  const Dims d(problem);
  const std::string bits = footprint_bits(problem);
  const auto counts = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    return y >= 0 && y < d.window.y &&
           bits[static_cast<std::size_t>((z * d.window.y + y) * d.window.x + x)] == 'x';
  };
  std::string counted, upper, lower;
  for (std::int64_t z = 0; z < d.window.z; ++z) {
    for (std::int64_t y = 0; y < d.window.y; ++y) {
      for (std::int64_t x = 0; x < d.window.x; ++x) {
        if (!counts(z, y, x)) continue;
        const std::string element = "  " + std::to_string(z) + " * plane_elements + " + std::to_string(y) +
                                    " * columns + " + std::to_string(x) + ",\n";
        counted += element;
        if (!counts(z, y - 1, x)) upper += element;
        if (!counts(z, y + 1, x)) lower += element;
      }
    }
  }
  return "constexpr bool is_box = false;\n__device__ const int counted[] = {\n" + counted +
         "};\n__device__ const int upper_ends[] = {\n" + upper +
         "};\n__device__ const int lower_ends[] = {\n" + lower + "};\n";
}

std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  if (counted_places(problem) <= 81 && d.window.product() <= 256) return std::nullopt;
  // Tiles are small for small images, so that each multiprocessor gets a block, and for small windows.
  const bool is_small = d.image.product() < std::int64_t{1000} * multiprocessors_to_fill(device);
  std::int64_t tile_x = is_small ? 16 : 32, sorted = is_small || d.window.x <= 20 ? 2048 : 4096;
  const auto rows = [&](std::int64_t across) { return sorted / ((across + d.window.x - 1) * d.window.z); };
  while (sorted < most_sorted && rows(tile_x) < d.window.y + 7) sorted *= 2;
  if (rows(tile_x) < d.window.y + least_tile_y - 1) tile_x = least_tile_x;
  const auto tiles = [&] { return ceil_divide(d.image.x, tile_x) * d.image.y * d.image.z; };
  while (d.image.y <= 8 && tile_x < 64 && tiles() > multiprocessors_to_fill(device) &&
         rows(2 * tile_x) >= d.window.y + 7)
    tile_x *= 2;  // an image of few rows needs no high tile
  return Values{{"SORTED", sorted},
                {"TILE_X", tile_x},
                {"GROUP", std::int64_t{is_small ? 16 : 8}},
                {"RESIDENT_WARPS", std::int64_t{sorted == 2048 || bytes(dtype_of(problem)) == 8 ? 32 : 64}}};
}

}  // namespace

Template ranks() {
  return {.name = "ranks",
          .what =
              "Large windows: the elements of a tile are sorted, and windows are sets of places in that "
              "order, which slide.",
          .kernels = {"rank_filter_ranks"},
          .compiled_in = window_parameters(),
          .constants = window_constants,
          .generated = generated,
          .refuses = refuses,
          .untuned = untuned,
          .space = space,
          .work = work};
}

}  // namespace tunesmith::rank_filter_op
