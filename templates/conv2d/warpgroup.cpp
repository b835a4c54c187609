// SPDX-License-Identifier: Apache-2.0
// The template `warpgroup` (warpgroup.cu): its space and work.

#include <algorithm>

#include "templates/conv2d/split.h"
#include "templates/shared_layout.h"

namespace tunesmith::conv2d_op {
namespace {

#include "templates/conv2d/split_layout.inl"

constexpr IntegerAxis GROUPS("GROUPS");
constexpr IntegerAxis TEAMS("TEAMS");
constexpr IntegerAxis TILES("TILES");

std::int64_t block_warps(const Config& c) { return 4 * c[GROUPS] * c[TEAMS]; }

// The warps of the whole blocks that RESIDENT_WARPS asks for. They bound a thread's registers.
std::int64_t resident_warps(const Config& c) {
  return std::max<std::int64_t>(1, c[RESIDENT_WARPS] / block_warps(c)) * block_warps(c);
}

Space warpgroup_space(const Problem& problem) {
  const std::int64_t width = problem.integer("width");
  std::vector<Axis> axes = {
      {VECTOR, {1, 4}, "elements of a global load"},
      {GROUPS, {1, 2}, "warpgroups of a team, 64 columns of outputs each"},
      {TEAMS, {1, 2, 3, 4}, "teams of a block, which take turns at products"},
      {ROWS, {8, 4}, "an eighth of a tile's rows; a thread's outputs are in two of them"},
      {TILES, {1, 4, 8, 12, 16}, "tiles of a team"},
      {AHEAD, {0, 1}, "tiles loaded while the one before is multiplied"},
      resident_warps_axis({12, 8, 16, 20, 24}),
  };
  std::vector<Rule> must = {
      vector_divides_width(width),
      one_name(RESIDENT_WARPS, resident_warps,
               "RESIDENT_WARPS that are not whole blocks are rounded to them, at least one."),
      {"The registers that the resident warps leave a thread, in blocks of at most 24 warps, hold its 8 * "
       "ROWS sums and what it needs beside them; with fewer the compiler makes each product wait for the "
       "last.",
       [](const Config& c) { return block_warps(c) <= 24 && c[ROWS] * resident_warps(c) <= 160; }},
  };
  std::vector<Rule> worth = {
      {"Where vectors divide the width, scalars serve only arrays at odd addresses: one choice, one tile per "
       "team, is enough.",
       [width](const Config& c) { return width % 4 != 0 || c[VECTOR] == 4 || c[TILES] == 1; }},
      {"Several teams, and loads ahead, gain only where a team has several tiles.",
       [](const Config& c) { return c[TILES] > 1 || (c[TEAMS] == 1 && c[AHEAD] == 0); }},
  };
  return Space(std::move(axes), std::move(must), std::move(worth));
}

Work warpgroup_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t teams = config[TEAMS];
  const SplitMask mask = {d.mask_height, d.mask_width, d.left};
  return split_work(d,
                    {.kernel = "conv2d_warpgroup",
                     .threads = 32 * block_warps(config),
                     .tile_width = 64 * config[GROUPS],
                     .tile_height = 8 * config[ROWS],
                     .tiles = teams * config[TILES]},
                    warpgroup_layout(config[GROUPS], teams, config[ROWS], mask, config[VECTOR]).words);
}

}  // namespace

Template warpgroup() {
  return {
      .name = "warpgroup",
      .what =
          "The products of `tensor` by whole warpgroups, which read both matrices from shared memory while "
          "others stage samples; Hopper only.",
      .kernels = {"conv2d_warpgroup"},
      .compiled_in = {"dtype", "mode", "mask_height", "mask_width"},
      .minimum_compute_capability = 90,
      .later_too = false,
      .refuses = split_refuses,
      .space = warpgroup_space,
      .work = warpgroup_work,
      .alignment_bytes = vector_bytes};
}

Template warpgroup_any() {
  return for_any_mask(warpgroup(), "`warpgroup` for masks of any size: one binary serves them all.");
}

}  // namespace tunesmith::conv2d_op
