// SPDX-License-Identifier: Apache-2.0
// The template `bounded` (bounded.cu): its space and work.

#include <algorithm>
#include <utility>

#include "generator/device_facts.h"
#include "templates/conv2d/op.h"
#include "templates/image/rules.h"
#include "templates/shared_layout.h"

namespace tunesmith::conv2d_op {
namespace {

#include "templates/conv2d/bounded_layout.inl"

constexpr IntegerAxis CHUNK("CHUNK");
constexpr IntegerAxis OUT_X("OUT_X");
constexpr IntegerAxis OUT_Y("OUT_Y");

constexpr std::int64_t highest_image = std::int64_t{1} << 30;

std::int64_t tile_width(const Config& c) { return c[BLOCK_X] * c[OUT_X]; }
std::int64_t tile_height(const Config& c) { return c[BLOCK_Y] * c[OUT_Y]; }
std::int64_t thread_outputs(const Config& c) { return c[OUT_X] * c[OUT_Y]; }

// The number of samples from a multiple of 4 to the beginning of a tile's first window.
std::int64_t phase(const Dims& d) { return (4 - d.left % 4) % 4; }

std::int64_t shared_bytes(const Dims& d, std::int64_t element_bytes, std::int64_t width, std::int64_t height,
                          std::int64_t vector, bool padded) {
  return bounded_layout({.tile_width = width,
                         .tile_height = height,
                         .load = std::min(vector, row_vector(d.width)),
                         .lanes = 16 / element_bytes,
                         .mask_height = d.mask_height,
                         .mask_width = d.mask_width,
                         .phase = phase(d),
                         .padded = padded})
             .elements *
         element_bytes;
}
std::int64_t shared_bytes(const Dims& d, std::int64_t element_bytes, const Config& c) {
  return shared_bytes(d, element_bytes, tile_width(c), tile_height(c), c[VECTOR], c[SMEM_LAYOUT] == "padded");
}

// The number of multiply-adds in the code: for whole chunks of the mask's columns and for the rest of the
// columns, each with a loop and its rest.
std::int64_t multiply_adds(const Dims& d, const Config& c) {
  const std::int64_t rounds = d.mask_height / c[OUT_Y];
  const std::int64_t unrolled = c[UNROLL] == 0 ? rounds : std::min<std::int64_t>(c[UNROLL], rounds);
  const std::int64_t rows = unrolled * c[OUT_Y] + d.mask_height % c[OUT_Y];
  const std::int64_t columns = (d.mask_width >= c[CHUNK] ? c[CHUNK] : 0) + d.mask_width % c[CHUNK];
  return rows * columns * thread_outputs(c);
}

Space bounded_space(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const std::int64_t element_bytes = sum_bytes(problem);
  const bool small_mask = d.mask_height * d.mask_width <= 25;
  const bool odd = row_vector(d.out_width) == 1;
  std::vector<Axis> axes = {
      {SMEM_LAYOUT, categories({"flat", "padded"}),
       "the tile in shared memory: rows as they come, or spread over "
       "the banks"},
      {COPY, categories({"async", "sync"}), "the way into shared memory: past the registers or through them"},
      {CHUNK, {8, 4, 16}, "mask columns whose samples are in registers at a time"},
      {UNROLL, {1, 2, 0}, "rounds of OUT_Y mask rows that are unrolled; 0: all"},
      {VECTOR, {4, 1, 2}, "elements of a global access, where the rows allow it"},
      {OUT_X, {4, 2, 8, 1}, "outputs of a thread along a row"},
      {OUT_Y, {4, 2, 8, 1}, "outputs of a thread across rows"},
      {BLOCK_X, {16, 32, 8}, "threads of a block along a row"},
      {BLOCK_Y, {8, 4, 16, 2}, "threads of a block across rows"},
      store_axis(),
      start_axis(),
      trigger_axis(),
      resident_warps_axis({16, 24, 32}),
  };
  std::vector<Rule> must = {
      resident_warps_rule(axes, [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y]; }),
      converted_rule(problem),
      {"The code has at most 6000 multiply-adds; with more the compiler takes too long.",
       [=](const Config& c) { return multiply_adds(d, c) <= 6000; }},
  };
  std::vector<Rule> worth = {
      {"A block has 64 to 256 threads.",
       [](const Config& c) {
         const std::int64_t threads = c[BLOCK_X] * c[BLOCK_Y];
         return threads >= 64 && threads <= 256;
       }},
      {"A tile and the mask fit into 48 KiB, which a block has on every GPU.",
       [=](const Config& c) { return shared_bytes(d, element_bytes, c) <= static_shared_limit; }},
      {"There is a block for each multiprocessor, or a thread has few outputs.",
       [=, multiprocessors = multiprocessors_to_fill(device)](const Config& c) {
         return thread_outputs(c) <= 4 || ceil_divide(d.out_width, tile_width(c)) *
                                                  ceil_divide(d.out_height, tile_height(c)) * d.batch >=
                                              multiprocessors;
       }},
      vectors_of_two_rule(),
      {"A tile is at least 32 columns wide, so that rows are loaded and stored as wide as a warp.",
       [](const Config& c) { return tile_width(c) >= 32; }},
      {"Scalars that a thread stores side by side touch each part of the memory several times: for a small "
       "mask and outputs of an odd width the outputs of a thread lie below each other.",
       [=](const Config& c) {
         return small_mask && odd ? c[OUT_X] == 1 && c[OUT_Y] >= 4 : c[OUT_X] > 1 && c[OUT_Y] <= 2 * c[OUT_X];
       }},
      {"Rows are spread over the banks where threads would otherwise meet in one.",
       [=](const Config& c) { return (c[SMEM_LAYOUT] == "padded") == (c[OUT_X] * element_bytes > 16); }},
      {"The samples and sums of a thread fit in the registers that the resident warps leave it.",
       [=](const Config& c) {
         const std::int64_t columns = std::min<std::int64_t>(c[CHUNK], d.mask_width);
         const std::int64_t numbers = c[OUT_Y] * (2 * c[OUT_X] + columns - 1) * element_bytes / 4;
         return c[RESIDENT_WARPS] * (numbers + 40) <= 2048;
       }},
      {"A chunk is no wider than the mask, if a smaller one is as wide.",
       [=](const Config& c) { return c[CHUNK] == 4 || c[CHUNK] / 2 < d.mask_width; }},
      {"Streaming stores and an early start do not go together, and the latter gains only in kernels of a "
       "few microseconds, with few outputs per thread.",
       [](const Config& c) {
         return c[START] == "plain" || (c[STORE] == "plain" && thread_outputs(c) <= 8);
       }},
      trigger_rule(),
  };
  return Space(std::move(axes), std::move(must), std::move(worth));
}

Work bounded_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  Launch launch{
      .kernel = "conv2d_bounded",
      .grid = {ceil_divide(d.out_width, tile_width(config)),
               std::min(ceil_divide(d.out_height, tile_height(config)), grid_limit),
               std::min(d.batch, grid_limit)},
      .block = {config[BLOCK_X], config[BLOCK_Y], 1},
      .dynamic_shared_bytes = shared_bytes(d, sum_bytes(problem), config),
      .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, int32(d.batch),
                    int32(d.height), int32(d.width), int32(d.out_height), int32(d.out_width), int32(d.top),
                    int32(d.left), std::int32_t{d.turned}, static_cast<std::int32_t>(d.boundary)},
      .overlaps_previous = config[START] == "overlapped"};
  add_value(launch, problem, sum_dtype(problem));
  return Work{.steps = {std::move(launch)}};
}

std::string refuses(const Problem& problem) {
  if (not_plain(problem).empty()) {
    return "With boundary=zero, size=same, origins of 0 and images of f32 or f64 the other templates serve; "
           "take one of them.";
  }
  const Dims d(problem);
  if (d.height > highest_image) {
    return "A height of " + std::to_string(d.height) + " is beyond the " + std::to_string(highest_image) +
           " whose places this template counts in 32 bits; take another template.";
  }
  constexpr std::int64_t columns = 32, rows = 4;  // the smallest tile that is worth it
  const std::int64_t least = shared_bytes(d, sum_bytes(problem), columns, rows, 4, false);
  if (least > static_shared_limit) {
    return "A mask of " + std::to_string(d.mask_height) + " x " + std::to_string(d.mask_width) +
           " and the tile under it need " + std::to_string(least) +
           " bytes of shared memory, more than the " + std::to_string(static_shared_limit) +
           " that every GPU has; take another template.";
  }
  return too_wide(problem);
}

}  // namespace

Template bounded() {
  return {.name = "bounded",
          .what =
              "Every boundary, size, origin and type of image: a tile in shared memory, filled by way of the "
              "boundary only where it leaves the image; the mask's size is compiled in.",
          .kernels = {"conv2d_bounded"},
          .compiled_in = {"dtype", "mask_height", "mask_width"},
          .constants =
              [](const Problem& problem) {
                const Dims d(problem);
                return Values{{"PHASE", phase(d)},
                              {"IN_VECTOR", row_vector(d.width)},
                              {"OUT_VECTOR", row_vector(d.out_width)}};
              },
          .refuses = refuses,
          .space = bounded_space,
          .work = bounded_work,
          .alignment_bytes =
              [](const Problem& problem, const Config& config) {
                const Dims d(problem);
                const std::int64_t load = std::min<std::int64_t>(config[VECTOR], row_vector(d.width));
                const std::int64_t store =
                    std::min<std::int64_t>({config[VECTOR], row_vector(d.out_width),
                                            config[OUT_X] % 4 == 0 ? 4 : row_vector(config[OUT_X])});
                return std::min<std::int64_t>(
                    std::max(load * bytes(dtype_of(problem)), store * sum_bytes(problem)), 16);
              }};
}

}  // namespace tunesmith::conv2d_op
