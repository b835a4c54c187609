// SPDX-License-Identifier: Apache-2.0
// rows/sweeps: a block per row, which reads the elements that it cannot keep several times.

#include <algorithm>

#include "templates/rows/op.h"

namespace tunesmith::rows_op {
namespace {

constexpr CategoricalAxis KEEP("KEEP");

// The tiles of a row that fit into shared memory, next to those of as many other blocks as RESIDENT_WARPS
// asks for.
struct KeptTiles {
  std::int64_t tiles, bytes, of;
};
KeptTiles kept_tiles(const Problem& problem, const Config& config, const DeviceFacts& device) {
  const Shape& shape = shape_of(problem);
  const std::int64_t warps = config[BLOCK] / 32, tile = config[BLOCK] * config[ITEMS] * config[VECTOR];
  const std::int64_t taken = std::int64_t{2} * 8 * warps * shape.most_of_a_pass();  // by totals
  const std::int64_t blocks = std::max<std::int64_t>(1, config[RESIDENT_WARPS] / warps);
  std::int64_t room = device.max_shared_bytes_per_block;
  // The system takes 1 KiB for each block.
  if (device.shared_bytes_per_multiprocessor > 0)
    room = std::min(room, device.shared_bytes_per_multiprocessor / blocks - 1024);
  const std::int64_t tile_bytes = matrices_of(problem) * tile * bytes(dtype_of(problem));
  const std::int64_t tiles = ceil_divide(shape.columns + config[VECTOR] - 1, tile);
  const std::int64_t kept =
      tile_bytes == 0 ? 0 : std::clamp<std::int64_t>((room - taken) / tile_bytes, 0, tiles);
  return {kept, kept * tile_bytes, tiles};
}

std::string refuses(const Problem& problem) {
  if (std::string empty = refuses_empty(problem); !empty.empty()) return empty;
  return refuses_grid(problem, 1, "registers or the base template");
}

Space sweeps_space(const Problem& problem, const DeviceFacts& device) {
  const std::vector<Axis> axes = {block_axis({512, 256, 1024}),
                                  {ITEMS, {2, 1, 4, 8}, "vectors of a thread that are loaded at once"},
                                  {KEEP, categories({"none", "shared"}),
                                   "what stays in shared memory after the first pass: nothing, or what fits"},
                                  vector_axis(problem),
                                  load_axis(),
                                  resident_axis(),
                                  store_axis()};
  const std::int64_t columns = shape_of(problem).columns;
  return Space(axes,
               {resident_warps_rule(axes, [](const Config& c) { return c[BLOCK]; }),
                vector_rule(problem),
                {"A thread's elements fit its registers.",
                 [problem](const Config& c) { return held_bytes(problem, c[ITEMS] * c[VECTOR]) <= 256; }},
                {"KEEP=shared keeps a tile at least, for a pass behind the first.",
                 [problem, device, passes = shape_of(problem).passes](const Config& c) {
                   return c[KEEP] == "none" || (passes > 0 && kept_tiles(problem, c, device).tiles > 0);
                 }}},
               {{"A thread loads 16 to 128 bytes at once, and no more than its part of the row.",
                 [problem, columns](const Config& c) {
                   const std::int64_t held = held_bytes(problem, c[ITEMS] * c[VECTOR]);
                   return held >= 16 && held <= 128 && c[BLOCK] * c[ITEMS] * c[VECTOR] < 2 * columns + 512;
                 }}});
}

Work sweeps_work(const Problem& problem, const Config& config, const DeviceFacts& device) {
  const KeptTiles kept = config[KEEP] == "shared" ? kept_tiles(problem, config, device)
                                                  : KeptTiles{.tiles = 0, .bytes = 0, .of = 0};
  Launch launch{.kernel = "rows_sweeps",
                .grid = {shape_of(problem).rows},
                .block = {config[BLOCK]},
                .dynamic_shared_bytes = kept.bytes,
                .arguments = kernel_arguments(problem)};
  launch.arguments.emplace_back(int32(kept.tiles));
  return {.steps = {std::move(launch)}};
}

// Takes a large block for each multiprocessor: the elements of few rows are still in the second-level cache
// in the next pass. Takes two blocks if there are a few more rows than multiprocessors, or if shared memory
// keeps the rows. The template is also a guess where a device has no room for clusters of 16 blocks.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const std::int64_t vector = usual_vector(problem);
  const bool is_second = suited(problem, device) == Suited::cluster && !holds_row(problem, 8192, vector, 128);
  if (suited(problem, device) != Suited::sweeps && !is_second) return std::nullopt;
  const std::int64_t rows = shape_of(problem).rows, full = multiprocessors_to_fill(device);
  const bool keeps = two_rows_are_kept(problem, device);
  const bool is_large = !keeps && (rows <= full || rows >= 4 * full);
  const std::int64_t items = most_held(problem, vector, is_large ? 128 : 64);
  return Values{{std::string(BLOCK.name), std::int64_t{is_large ? 1024 : 512}},
                {std::string(ITEMS.name), items},
                {std::string(KEEP.name), keeps ? "shared" : "none"},
                {std::string(VECTOR.name), vector},
                {std::string(RESIDENT_WARPS.name), std::int64_t{16}},
                {std::string(STORE.name), usual_store(problem)}};
}

}  // namespace

Template sweeps() {
  return {
      .name = "sweeps",
      .what =
          "A block per row, which reads it once for each pass of reductions and once for the results, but "
          "for what it keeps in shared memory.",
      .kernels = {"rows_sweeps"},
      .compiled_in = {"expression", "dtype"},
      .constants = constants,
      .preamble = code,
      .refuses = refuses,
      .untuned = untuned,
      .space = sweeps_space,
      .work = sweeps_work,
      .alignment_bytes = alignment_bytes};
}

}  // namespace tunesmith::rows_op
