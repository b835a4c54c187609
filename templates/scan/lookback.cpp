// SPDX-License-Identifier: Apache-2.0
// scan/lookback: several blocks per line, along contiguous elements.

#include "templates/scan/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::scan_op {
namespace {

#include "templates/scan/lookback_layout.inl"

constexpr std::int64_t fan = lookback_fan;
constexpr CategoricalAxis TOTAL("TOTAL");

std::string refuses(const Problem& problem) {
  const Dims d(problem);
  std::string empty = refuses_empty(d);
  if (!empty.empty()) return empty;
  // With the smallest tile, 128 elements, tiles are counted in 31 bits.
  if (d.outer * ceil_divide(d.length, 128) >= std::int64_t{1} << 31)
    return "An outer of " + std::to_string(d.outer) + " with a length of " + std::to_string(d.length) +
           " is more than the tiles that this template numbers; take rows.";
  if (d.outer > 16 && d.length < 512)
    return "An outer of " + std::to_string(d.outer) + " with a length of " + std::to_string(d.length) +
           " are many lines, of which each has hardly a tile; take rows.";
  return refuses_apart(d);
}

std::int64_t tiles_of(const Dims& d, const Config& c) {
  return ceil_divide(d.length, c[BLOCK] * c[ITEMS] * c[VECTOR]);
}

Space lookback_space(const Problem& problem) {
  const Dims d(problem);
  const auto elements = [](const Config& c) { return c[ITEMS] * c[VECTOR]; };
  const std::vector<Axis> axes = {block_axis({512, 128, 256, 1024}),
                                  {ITEMS, {4, 1, 2, 8, 12, 16}, "loads of a thread"},
                                  vector_axis(problem, 16),
                                  {TOTAL, categories({"scanned", "summed"}),
                                   "when a tile's total is known: after it is scanned; or before, which "
                                   "takes a further sum"},
                                  load_axis(),
                                  resident_warps_axis({32, 16, 48, 64}),
                                  store_axis()};
  return Space(axes,
               {resident_warps_rule(axes, [](const Config& c) { return c[BLOCK]; }),
                vector_rule(d, true),
                {"An expression's total is known after its tile is scanned.",
                 [in_order = function_of(problem) == own_expression](const Config& c) {
                   return !in_order || c[TOTAL] == "scanned";
                 }},
                {"A tile that is a whole line passes nothing on.",
                 [d](const Config& c) { return c[TOTAL] == "scanned" || tiles_of(d, c) > 1; }},
                store_rule(problem)},
               {register_rule(problem, elements)});
}

Work lookback_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t tiles = tiles_of(d, config);
  const ChainSpace space(problem, d.outer, tiles, 1, fan);
  return {.steps = {Launch{.kernel = "scan_lookback",
                           .grid = {d.outer * tiles},
                           .block = {config[BLOCK]},
                           .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, WorkspacePointer{0},
                                         WorkspacePointer{space.messages_at}, int32(d.outer), int32(tiles),
                                         d.length, d.outer_stride}}},
          .workspace_bytes = space.bytes,
          .zeroed_bytes = space.bytes};
}

struct Tile {
  std::int64_t block = 0, items = 0, vector = 0;
  std::int64_t elements() const { return block * items * vector; }
};

// The smallest tile with which a line has one group, so that no block waits for the result of another. The
// candidates are those that were the fastest of their size.
std::optional<Tile> tile_of_group(const Problem& problem, const DeviceFacts& device, std::int64_t vector) {
  const Dims d(problem);
  const bool is_large = item_bytes(problem) == 8;
  const Tile candidates[] = {{128, 8 / vector, vector},
                             vector >= 4 ? Tile{256, 8 / vector, vector} : Tile{512, 4 / vector, vector},
                             {512, 8 / vector, vector},
                             {512 / vector, 12, vector},
                             vector == 1 ? Tile{512, 16, 1} : Tile{256, 32 / vector, vector}};
  for (const Tile& tile : candidates) {
    const std::int64_t tiles = ceil_divide(d.length, tile.elements());  // of a line
    if (tile.block < 128 || (is_large && tile.elements() > 4096)) continue;
    if (tiles <= fan && d.outer * tiles <= multiprocessors_to_fill(device)) return tile;
  }
  return std::nullopt;
}

// The smallest tile with which all multiprocessors hold all tiles at once, or one as large as registers hold.
Tile tile_of_device(const Problem& problem, const DeviceFacts& device, std::int64_t vector) {
  const Dims d(problem);
  const std::int64_t multiprocessors = multiprocessors_to_fill(device);
  const bool is_large = item_bytes(problem) == 8;
  const std::int64_t most = std::min<std::int64_t>(16, 64 / vector);
  Tile best{512, most, vector};
  for (const std::int64_t items : {4, 8, 12, 16}) {
    for (std::int64_t threads = bytes(dtype_of(problem)) == 2 ? 256 : 128; threads <= 512; threads *= 2) {
      const Tile tile{threads, items, vector};
      // With 8-byte items two blocks of 256 threads have the registers of one of 512.
      const std::int64_t at_once = is_large && threads <= 256 ? 2 * multiprocessors : multiprocessors;
      const bool takes_turns =
          d.outer * ceil_divide(d.length, tile.elements()) > at_once && d.length >= 16 * tile.elements();
      if (items < 16 / vector || items > most || takes_turns || tile.elements() >= best.elements()) continue;
      best = tile;
    }
  }
  return best;
}

// A guess for problems with which `rows` would leave multiprocessors idle.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  if (d.length < 8192 || d.outer >= 4 * multiprocessors_to_fill(device) || suits_summing(problem, device))
    return std::nullopt;
  const std::int64_t vector = usual_vector(problem);
  // Integers that are summed as longer ones take whole loads of 16 bytes while tiles are small.
  const bool has_larger_sums = is_whole(dtype_of(problem)) && bytes(dtype_of(problem)) == 4 &&
                               item_bytes(problem) == 8 && (d.outer == 1 || d.length % 4 == 0) &&
                               (d.outer == 1 || d.outer_stride % 4 == 0);
  const Tile tile = tile_of_group(problem, device, has_larger_sums ? 4 : vector)
                        .value_or(tile_of_device(problem, device, vector));
  // Where blocks take turns at large tiles, a total that is known early is worth a further sum: 162 us
  // instead of 169 for 2^26 floats.
  const bool is_early =
      dtype_of(problem) == DType::f32 && function_of(problem) == Function::sum && tile.elements() == 32768 &&
      d.outer * ceil_divide(d.length, tile.elements()) > 2 * multiprocessors_to_fill(device);
  return Values{{std::string(BLOCK.name), tile.block},
                {std::string(ITEMS.name), tile.items},
                {std::string(VECTOR.name), tile.vector},
                {std::string(TOTAL.name), std::string(is_early ? "summed" : "scanned")},
                {std::string(LOAD.name), usual_load(problem, device)},
                {std::string(RESIDENT_WARPS.name), std::int64_t{16}},
                {std::string(STORE.name), usual_store(problem, tile.vector)}};
}

}  // namespace

Template lookback() {
  return {.name = "lookback",
          .what = "Several blocks per line, along contiguous elements, in one pass: few, long lines.",
          .kernels = {"scan_lookback"},
          .compiled_in = all_but_sizes(),
          .refuses = refuses,
          .untuned = untuned,
          .space = lookback_space,
          .work = lookback_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::scan_op
