// SPDX-License-Identifier: Apache-2.0
// The template `tiled` (tiled.cu), for rows of whole vectors: tiles pass through shared memory and are
// transposed in registers, so that both arrays are accessed by vectors.

#include "templates/axes.h"
#include "templates/shared_layout.h"
#include "templates/transpose/op.h"

namespace tunesmith::transpose_op {
namespace {

#include "templates/transpose/tiled_layout.inl"

constexpr IntegerAxis TILES("TILES");
constexpr IntegerAxis TURN("TURN");

// The loads and elements that a thread holds between loading a tile and putting it into shared memory.
std::int64_t thread_loads(const Config& c) { return c[TURN] * c[ROWS]; }
std::int64_t thread_elements(const Config& c) { return thread_loads(c) * c[VECTOR_IN]; }

std::int64_t threads(const Config& c) { return c[TILE_X] * c[TILE_Y] / thread_elements(c); }

// Elements of the tile in shared memory, with its padding.
std::int64_t shared_elements(const Config& c, std::int64_t element_bytes) {
  return tiled_layout(c[TILE_X], c[TILE_Y], c[VECTOR_IN], c[VECTOR_OUT], element_bytes,
                      c[SMEM_LAYOUT] == "padded")
      .elements;
}

std::vector<Axis> axes(std::int64_t element) {
  const std::vector<Value> vectors = halves(16 / element);
  // Cells of a whole vector come first. For small elements, cells of 4 bytes come first, because larger ones
  // take many registers.
  std::vector<Value> turns = vectors;
  if (element <= 2) std::rotate(turns.begin(), turns.begin() + 2, turns.end());
  return {
      {VECTOR_IN, vectors, "elements of a load"},
      {VECTOR_OUT, vectors, "elements of a store"},
      {TURN, turns, "input rows that a thread turns in registers"},
      tile_x_axis(),
      tile_y_axis(),
      {ROWS, {1, 2, 4, 8, 16}, "groups of TURN rows that a thread moves"},
      {TILES, {1, 2, 4}, "tiles per block, each loaded while the one before is stored"},
      {SMEM_LAYOUT, categories({"padded", "swizzled", "flat"}), "how the tile avoids bank conflicts, or not"},
      block_order_axis(categories({"row", "column", "banded", "diagonal"})),
      load_axis({"plain", "no_allocate"}),
      store_axis(),
      start_axis(),
      trigger_axis(),
      resident_warps_axis({32, 48}),
  };
}

std::vector<Rule> must(const std::vector<Axis>& axes, const Dims& d, std::int64_t element) {
  return {
      resident_warps_rule(axes, threads),
      {"VECTOR_IN must divide the width and the input's pitch.",
       [=](const Config& c) { return d.width % c[VECTOR_IN] == 0 && d.input_pitch % c[VECTOR_IN] == 0; }},
      {"VECTOR_OUT must divide the height and the output's pitch.",
       [=](const Config& c) { return d.height % c[VECTOR_OUT] == 0 && d.output_pitch % c[VECTOR_OUT] == 0; }},
      {"TURN is at most VECTOR_OUT: what is turned becomes a store's vector or a part of it.",
       [](const Config& c) { return c[TURN] <= c[VECTOR_OUT]; }},
      {"A thread loads at least as much as one store moves: VECTOR_IN * TURN * ROWS is at least VECTOR_OUT.",
       [](const Config& c) { return thread_elements(c) >= c[VECTOR_OUT]; }},
      {"A thread has at most 64 loads, which are unrolled, and holds at most 512 bytes: it has 255 registers "
       "of 4 bytes.",
       [=](const Config& c) { return thread_loads(c) <= 64 && thread_elements(c) * element <= 512; }},
      {"A block has 1 to 1024 threads, each with TURN * ROWS vectors of the tile.",
       [](const Config& c) { return threads(c) >= 1 && threads(c) <= 1024; }},
      {"The tile with its padding is at most 48 KiB, the limit of static shared memory.",
       [=](const Config& c) { return shared_elements(c, element) * element <= static_shared_limit; }},
  };
}

std::vector<Rule> worth(std::int64_t element) {
  return {
      {"What goes into shared memory together has at least 4 bytes, a bank's width, where a store's vector "
       "has them.",
       [=](const Config& c) { return c[TURN] == c[VECTOR_OUT] || c[TURN] * element >= 4; }},
      {"A thread has at most 16 loads in flight and holds 16 to 128 bytes, 16 to 64 of elements of 1 and 2 "
       "bytes: with more it spills registers, with less too little is in flight.",
       [=](const Config& c) {
         const std::int64_t held = thread_elements(c) * element;
         return thread_loads(c) <= 16 && held >= 16 && held <= (element <= 2 ? 64 : 128);
       }},
      {"A block has 64 to 512 threads.",
       [](const Config& c) { return threads(c) >= 64 && threads(c) <= 512; }},
      {"With several tiles per block a thread has at most 8 loads of 64 bytes in all, since the next tile's "
       "registers are live while this one is stored.",
       [=](const Config& c) {
         return c[TILES] == 1 || (thread_loads(c) <= 8 && thread_elements(c) * element <= 64);
       }},
      trigger_rule(),
  };
}

Space space(const Problem& problem) {
  const Dims d(problem);
  const std::int64_t element = bytes(dtype_of(problem));
  std::vector<Axis> its = axes(element);
  std::vector<Rule> rules = must(its, d, element);
  return Space(std::move(its), std::move(rules), worth(element));
}

Work work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  if (d.empty()) return {};
  const std::int64_t tiles_x = ceil_divide(d.width, config[TILE_X]);
  const std::int64_t tiles_y = ceil_divide(d.height, config[TILE_Y]);
  return {.steps = {Launch{.kernel = "transpose_tiled",
                           .grid = grid_of(d, ceil_divide(tiles_x * tiles_y, config[TILES])),
                           .block = {threads(config)},
                           .arguments = kernel_arguments(d, tiles_x, tiles_y),
                           .overlaps_previous = config[START] == "overlapped"}}};
}

std::int64_t alignment_bytes(const Problem& problem, const Config& config) {
  return std::max(config[VECTOR_IN], config[VECTOR_OUT]) * bytes(dtype_of(problem));
}

}  // namespace

Template tiled() {
  return {.name = "tiled",
          .what = "Tiles through shared memory, turned in registers so that both sides move vectors.",
          .kernels = {"transpose_tiled"},
          .untuned = [](const Problem& problem, const DeviceFacts&) -> std::optional<Values> {
            constexpr std::int64_t narrow = 16;  // a side for which narrow or narrow_pitched is better
            if (std::min(problem.integer("height"), problem.integer("width")) <= narrow) return std::nullopt;
            return Values();
          },
          .space = space,
          .work = work,
          .alignment_bytes = alignment_bytes};
}

}  // namespace tunesmith::transpose_op
