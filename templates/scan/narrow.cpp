// SPDX-License-Identifier: Apache-2.0
// scan/narrow: rows of a few elements, one behind the other, and blocks that share the length.

#include "templates/scan/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::scan_op {
namespace {

#include "templates/scan/narrow_layout.inl"

constexpr std::int64_t fan = narrow_fan, most_inner = narrow_most_inner;
constexpr CategoricalAxis HELD("HELD");

// The number of threads along the length; a tile's first element is aligned to a load.
std::int64_t segments_of(const Dims& d, const Config& c) {
  const std::int64_t segments = c[BLOCK] / d.inner;
  return segments - segments % c[VECTOR];
}

// The bytes of shared memory: the data that threads exchange, and a tile.
std::int64_t shared_bytes(const Problem& problem, const Dims& d, const Config& c) {
  const std::int64_t item = item_bytes(problem) * (function_of(problem) == own_expression ? 2 : 1);
  const std::int64_t elements = segments_of(d, c) * c[ITEMS] * d.inner;  // of a tile
  return narrow_bytes(c[BLOCK], item, elements, bytes(dtype_of(problem)), bytes(output_dtype(problem)),
                      c[HELD] == "shared");
}

std::string refuses(const Problem& problem) {
  const Dims d(problem);
  if (d.inner < 2 || d.inner > most_inner || (d.stride != d.inner && d.length > 1)) {
    return "This template is for rows of 2 to 64 elements without gaps; an inner of " +
           std::to_string(d.inner) + " with a stride of " + std::to_string(d.stride) + " is for another one.";
  }
  std::string empty = refuses_empty(d);
  if (!empty.empty()) return empty;
  if (d.outer * d.length >= std::int64_t{1} << 31)
    return "An outer of " + std::to_string(d.outer) + " with a length of " + std::to_string(d.length) +
           " is more than the tiles that this template numbers; take columns.";
  return "";
}

std::int64_t tiles_of(const Dims& d, const Config& c) {
  return ceil_divide(d.length, std::max<std::int64_t>(1, segments_of(d, c)) * c[ITEMS]);
}

Space narrow_space(const Problem& problem) {
  const Dims d(problem);
  const std::vector<Axis> axes = {block_axis(),
                                  {ITEMS, {17, 9, 33, 16, 8, 56}, "neighbouring rows per thread"},
                                  {HELD, categories({"registers", "shared"}),
                                   "where a thread's elements are meanwhile: in its registers, or in shared "
                                   "memory, to be read again"},
                                  vector_axis(problem, 16),
                                  load_axis(),
                                  resident_warps_axis({32, 16, 48, 64}),
                                  store_axis()};
  return Space(
      axes,
      {resident_warps_rule(axes, [](const Config& c) { return c[BLOCK]; }),
       {"A block has a thread for each column of VECTOR rows at least.",
        [d](const Config& c) { return segments_of(d, c) > 0; }},
       {"VECTOR must divide what lies from one outer position to the next.",
        [d](const Config& c) {
          return d.outer == 1 || (d.outer_stride % c[VECTOR] == 0 && d.length * d.inner % c[VECTOR] == 0);
        }},
       {"A tile and what threads exchange have at most the 227 KiB of shared memory that large GPUs have.",
        [problem, d](const Config& c) { return shared_bytes(problem, d, c) <= largest_shared_limit; }},
       {"Copies to shared memory are of 4 bytes at least.",
        [size = bytes(dtype_of(problem))](const Config& c) {
          return c[HELD] == "registers" || c[VECTOR] * size >= 4;
        }},
       conditional(
           LOAD, "plain", [](const Config& c) { return c[HELD] == "registers"; },
           "Copies to shared memory have no hint."),
       {"More than 33 rows of a thread are held in shared memory.",
        [](const Config& c) { return c[ITEMS] <= 33 || c[HELD] == "shared"; }},
       store_rule(problem)},
      {register_rule(problem, [](const Config& c) { return c[HELD] == "shared" ? 8 : c[ITEMS]; })});
}

Work narrow_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t segments = segments_of(d, config);
  const std::int64_t tiles = tiles_of(d, config);
  const ChainSpace space(problem, d.outer, tiles, d.inner, fan);
  return {.steps = {Launch{.kernel = "scan_narrow",
                           .grid = {d.outer * tiles},
                           .block = {config[BLOCK]},
                           .dynamic_shared_bytes = shared_bytes(problem, d, config),
                           .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, WorkspacePointer{0},
                                         WorkspacePointer{space.messages_at}, int32(d.outer), int32(tiles),
                                         d.length, int32(d.inner), d.outer_stride, int32(segments)}}},
          .workspace_bytes = space.bytes,
          .zeroed_bytes = space.bytes};
}

// A guess for problems with which loads along a row would be short.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  if (!suits_narrow(problem)) return std::nullopt;
  // Tiles are so large that each has a multiprocessor of its own; if even the largest have not, they take
  // turns.
  const bool is_large = std::max(bytes(dtype_of(problem)), item_bytes(problem)) == 8;
  std::int64_t block = 256, items = 9;
  const auto takes_turns = [&] {
    return d.outer * d.length * d.inner > block * items * multiprocessors_to_fill(device);
  };
  if (takes_turns()) block = 512;
  while (items < 33 && takes_turns()) items = items == 9 ? 17 : 33;
  if (takes_turns() && !is_large) block = 1024;
  if (takes_turns()) block = 512;
  const bool is_alone = is_large || block == 1024;  // then a block has all registers
  std::int64_t vector = 4;
  while (vector > 1 && (vector * bytes(dtype_of(problem)) > 16 || vector * d.inner > 256 ||
                        (d.outer > 1 && (d.outer_stride % vector != 0 || d.length * d.inner % vector != 0))))
    vector /= 2;
  if (takes_turns() && bytes(dtype_of(problem)) == 4 && item_bytes(problem) == 4) {
    // Takes one wave of the largest tiles if possible: 2^20 rows of 7 floats take 26.0 us, and 28.7 where
    // tiles take turns.
    const std::optional<Config> largest =
        narrow_space(problem).first({{std::string(BLOCK.name), std::int64_t{1024}},
                                     {std::string(ITEMS.name), std::int64_t{56}},
                                     {std::string(HELD.name), std::string("shared")},
                                     {std::string(VECTOR.name), vector},
                                     {std::string(RESIDENT_WARPS.name), std::int64_t{16}},
                                     {std::string(STORE.name), usual_store(problem, vector)}});
    if (largest && d.outer * tiles_of(d, *largest) <= multiprocessors_to_fill(device) &&
        shared_bytes(problem, d, *largest) <= device.max_shared_bytes_per_block)
      return largest->values();
  }
  return Values{{std::string(BLOCK.name), block},
                {std::string(ITEMS.name), items},
                {std::string(VECTOR.name), vector},
                {std::string(LOAD.name), std::string(takes_turns() && !is_large ? "streaming" : "plain")},
                {std::string(RESIDENT_WARPS.name), std::int64_t{is_alone ? 16 : 32}},
                {std::string(STORE.name), usual_store(problem, vector)}};
}

}  // namespace

Template narrow() {
  return {.name = "narrow",
          .what = "Rows of a few elements, moved by way of shared memory, and blocks that share the length.",
          .kernels = {"scan_narrow"},
          .compiled_in = all_but_sizes(),
          .refuses = refuses,
          .untuned = untuned,
          .space = narrow_space,
          .work = narrow_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::scan_op
