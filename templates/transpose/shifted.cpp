// SPDX-License-Identifier: Apache-2.0
// The template `shifted` (shifted.cu), for rows that begin at any address: tiles pass through shared memory,
// and whole sectors are written nevertheless.

#include "templates/axes.h"
#include "templates/shared_layout.h"
#include "templates/transpose/op.h"

namespace tunesmith::transpose_op {
namespace {

#include "templates/transpose/shifted_layout.inl"

constexpr IntegerAxis WINDOW("WINDOW");

// The sizes that follow from an element's size.
struct Words {
  explicit Words(const Problem& problem) : element(bytes(dtype_of(problem))) {}

  std::int64_t element;                                         // bytes
  std::int64_t word = std::max<std::int64_t>(element, 4);       // bytes; smaller elements are moved as these
  std::int64_t lanes = std::max<std::int64_t>(4 / element, 1);  // elements of a word

  // Elements of a tile that a thread loads, and threads of a block.
  std::int64_t thread_elements(const Config& c) const { return c[ROWS] * lanes * lanes; }
  std::int64_t threads(const Config& c) const { return c[TILE_X] * c[TILE_Y] / thread_elements(c); }

  std::int64_t shared_bytes(const Config& c) const {
    return shifted_layout(c[TILE_X], c[TILE_Y], c[WINDOW] / element, lanes).words * word;
  }
};

std::vector<Axis> axes(const Words& w) {
  return {
      {VECTOR_OUT, halves(16 / w.element, w.lanes), "elements of a store"},
      {WINDOW, {32, 64, 16}, "bytes; each stretch of an output row that a block writes begins at a multiple"},
      tile_x_axis(),
      tile_y_axis(),
      {ROWS, {16, 8, 4, 2, 1}, "words that a thread loads, or squares of elements where a word holds some"},
      block_order_axis(categories({"row", "column", "banded"})),
      load_axis({"plain", "no_allocate"}),
      store_axis(),
      start_axis(),
      trigger_axis(),
      resident_warps_axis({32, 48}),
  };
}

std::vector<Rule> must(const std::vector<Axis>& axes, const Words& w) {
  return {
      resident_warps_rule(axes, [=](const Config& c) { return w.threads(c); }),
      conditional(
          LOAD, "plain", [=](const Config&) { return w.lanes == 1; },
          "LOAD has no effect on elements of 1 and 2 bytes, whose words are read without a hint."),
      {"WINDOW is at most the bytes of a tile's TILE_Y rows, so that the stretches of neighbouring blocks "
       "meet.",
       [=](const Config& c) { return c[WINDOW] <= c[TILE_Y] * w.element; }},
      {"A thread loads at least as many elements as one store moves, VECTOR_OUT.",
       [=](const Config& c) { return w.thread_elements(c) >= c[VECTOR_OUT]; }},
      {"A block has at most 1024 threads, and at least one for each word of a tile's row.",
       [=](const Config& c) {
         const std::int64_t threads = w.threads(c);
         return threads <= 1024 && threads * w.lanes >= c[TILE_X];
       }},
      {"The tile with the rows before it is at most 48 KiB, the limit of static shared memory.",
       [=](const Config& c) { return w.shared_bytes(c) <= static_shared_limit; }},
  };
}

std::vector<Rule> worth(const Words& w) {
  return {
      {"A tile is at least four windows high: the rows before it are read twice.",
       [=](const Config& c) { return 4 * c[WINDOW] <= c[TILE_Y] * w.element; }},
      {"A thread holds 16 to 64 bytes, up to 128 of elements of 8: with more it spills registers, with less "
       "too little is in flight.",
       [=](const Config& c) {
         const std::int64_t held = w.thread_elements(c) * w.element;
         return held >= 16 && held <= (w.element == 8 ? 128 : 64);
       }},
      {"A block has 64 to 512 threads.",
       [=](const Config& c) { return w.threads(c) >= 64 && w.threads(c) <= 512; }},
      trigger_rule(),
  };
}

std::string refuses(const Problem& problem) {
  return bytes(dtype_of(problem)) < 16 ? "" : "Elements of 16 bytes need no shifting; take another template.";
}

Space space(const Problem& problem) {
  const Words w(problem);
  std::vector<Axis> its = axes(w);
  std::vector<Rule> rules = must(its, w);
  return Space(std::move(its), std::move(rules), worth(w));
}

Work work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const Words w(problem);
  if (d.empty()) return {};
  // A stretch may end up to a window before its tile's end.
  const std::int64_t before = config[WINDOW] / w.element - 1;
  const std::int64_t tiles_x = ceil_divide(d.width, config[TILE_X]);
  const std::int64_t tiles_y = ceil_divide(d.height + before, config[TILE_Y]);
  return {.steps = {Launch{.kernel = "transpose_shifted",
                           .grid = grid_of(d, tiles_x * tiles_y),
                           .block = {w.threads(config)},
                           .arguments = kernel_arguments(d, tiles_x, tiles_y),
                           .overlaps_previous = config[START] == "overlapped"}}};
}

}  // namespace

Template shifted() {
  return {.name = "shifted",
          .what =
              "Tiles through shared memory for rows that begin anywhere: whole sectors are written "
              "nevertheless.",
          .kernels = {"transpose_shifted"},
          .refuses = refuses,
          .space = space,
          .work = work};
}

}  // namespace tunesmith::transpose_op
