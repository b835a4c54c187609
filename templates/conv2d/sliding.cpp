// SPDX-License-Identifier: Apache-2.0
// The template `sliding` (sliding.cu): its space and work.

#include <algorithm>
#include <utility>

#include "templates/conv2d/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::conv2d_op {
namespace {

#include "templates/conv2d/sliding_layout.inl"

constexpr IntegerAxis CHUNK("CHUNK");
constexpr IntegerAxis OUT_X("OUT_X");
constexpr IntegerAxis OUT_Y("OUT_Y");
constexpr CategoricalAxis SAMPLES_IN("SAMPLES_IN");
constexpr IntegerAxis SPLIT("SPLIT");

constexpr std::int64_t highest_image = std::int64_t{1} << 30;

std::int64_t tile_width(const Config& c) { return c[BLOCK_X] * c[OUT_X]; }
std::int64_t tile_height(const Config& c) { return c[BLOCK_Y] * c[OUT_Y]; }
std::int64_t thread_outputs(const Config& c) { return c[OUT_X] * c[OUT_Y]; }
std::int64_t block_threads(const Config& c) { return c[BLOCK_X] * c[BLOCK_Y] * c[SPLIT]; }

// The size of a part if a side of the mask is divided into parts of about equal size. With larger parts,
// fewer blocks fit in shared memory.
std::int64_t part_of(std::int64_t side, std::int64_t element_bytes) {
  const std::int64_t most = 128 / element_bytes;
  return side <= most ? side : round_up(ceil_divide(side, ceil_divide(side, most)), 4);
}

std::int64_t shared_bytes(const Dims& d, std::int64_t element_bytes, const Config& c) {
  if (c[SAMPLES_IN] == "global") return 0;
  return sliding_layout({.tile_width = tile_width(c),
                         .tile_height = tile_height(c),
                         .split = c[SPLIT],
                         .part_height = part_of(d.mask_height, element_bytes),
                         .part_width = part_of(d.mask_width, element_bytes),
                         .lanes = 16 / element_bytes})
             .elements *
         element_bytes;
}

// The number of multiply-adds in the code: for each number of columns, a loop and its rest.
std::int64_t multiply_adds(const Config& c) {
  const std::int64_t columns = c[CHUNK] * (c[CHUNK] + 1) / 2;
  return columns * thread_outputs(c) * (2 * (c[OUT_Y] + c[AHEAD]) * c[UNROLL] - 1);
}

Space sliding_space(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const std::int64_t width = d.out_width;
  const std::int64_t element_bytes = sum_bytes(problem);
  const bool small_mask = problem.integer("mask_height") * problem.integer("mask_width") <= 64;
  std::vector<Axis> axes = {
      {SAMPLES_IN, categories({"shared", "global"}), "where samples and weights are read from"},
      {OUT_X, {4, 2, 1, 8}, "outputs of a thread along a row"},
      {OUT_Y, {4, 8, 2, 1}, "outputs of a thread across rows"},
      {CHUNK, {4, 8}, "mask columns whose samples are in registers at a time"},
      {UNROLL, {1, 2, 4}, "rounds of OUT_Y mask rows that are unrolled"},
      {AHEAD, {0, 1, 2, 4}, "image rows loaded before they are needed"},
      {SPLIT, {1, 2, 4, 8}, "groups of threads that share the mask's rows"},
      {VECTOR, {1, 2, 4}, "elements of a global store"},
      {BLOCK_X, {16, 32, 8}, "threads of a group along a row"},
      {BLOCK_Y, {8, 4, 2, 1}, "threads of a group across rows"},
      store_axis(),
      start_axis(),
      trigger_axis(),
      resident_warps_axis(element_bytes == 4 ? std::vector<Value>{24, 32, 16}
                                             : std::vector<Value>{16, 24, 32}),
  };
  std::vector<Rule> must = {
      resident_warps_rule(axes, block_threads),
      {"A block has at most 1024 threads.", [](const Config& c) { return block_threads(c) <= 1024; }},
      {"VECTOR divides the output's width and OUT_X, so that a vector is aligned and inside it as a whole.",
       [=](const Config& c) { return width % c[VECTOR] == 0 && c[OUT_X] % c[VECTOR] == 0; }},
      {"Only images of f32 and f64 with zeros outside are read from global memory directly.",
       [direct = d.boundary == Boundary::zero && bytes(dtype_of(problem)) == element_bytes](const Config& c) {
         return direct || c[SAMPLES_IN] == "shared";
       }},
      {"Groups meet in shared memory; rows are loaded ahead from global memory only.",
       [](const Config& c) { return c[SAMPLES_IN] == "shared" ? c[AHEAD] == 0 : c[SPLIT] == 1; }},
      {"The code has at most 6000 multiply-adds; with more the compiler takes too long.",
       [](const Config& c) { return multiply_adds(c) <= 6000; }},
  };
  std::vector<Rule> worth = {
      {"A block has 64 to 512 threads.",
       [](const Config& c) { return block_threads(c) >= 64 && block_threads(c) <= 512; }},
      {"Rows of outputs of more than 16 bytes make threads meet in the same banks.",
       [=](const Config& c) { return c[OUT_X] * element_bytes <= 16; }},
      {"With a tile in shared memory a round has 4 or 8 mask rows, else it goes once around the ring.",
       [](const Config& c) {
         if (c[SAMPLES_IN] == "global") return c[UNROLL] == 1;
         const std::int64_t rows = c[OUT_Y] * c[UNROLL];
         return rows == 4 || rows == 8;
       }},
      {"Samples are read from global memory for small masks, some rows ahead, by threads with 4 to 16 "
       "outputs.",
       [=](const Config& c) {
         return c[SAMPLES_IN] == "shared" || (small_mask && c[AHEAD] > 0 && c[RESIDENT_WARPS] < 32 &&
                                              c[OUT_Y] >= 4 && thread_outputs(c) <= 16);
       }},
      {"Stores are as wide as the width and OUT_X allow, or scalar for arrays of any alignment.",
       [=](const Config& c) {
         const std::int64_t vector = c[VECTOR];
         const bool wider = vector < 4 && c[OUT_X] % (2 * vector) == 0 && width % (2 * vector) == 0;
         return !wider || vector == 1;
       }},
      {"There is a block for each multiprocessor, or a thread has few outputs.",
       [=, multiprocessors = multiprocessors_to_fill(device)](const Config& c) {
         return thread_outputs(c) <= 4 || ceil_divide(d.out_width, tile_width(c)) *
                                                  ceil_divide(d.out_height, tile_height(c)) * d.batch >=
                                              multiprocessors;
       }},
      {"A group's row of outputs is 32 to 128 columns.",
       [](const Config& c) { return tile_width(c) >= 32 && tile_width(c) <= 128; }},
      {"The rows of the mask are shared where threads have few outputs, for small images.",
       [](const Config& c) { return c[SPLIT] == 1 || (thread_outputs(c) <= 16 && c[RESIDENT_WARPS] < 32); }},
      {"Streaming stores are for large images, an overlapped start is for small ones with few outputs per "
       "thread.",
       [](const Config& c) {
         if (c[STORE] == "streaming") return c[START] == "plain" && c[SPLIT] == 1;
         return c[START] == "plain" || c[SPLIT] > 1 || thread_outputs(c) <= 8;
       }},
      {"The more outputs a thread has, the fewer resident warps leave it enough registers.",
       [=](const Config& c) {
         return c[RESIDENT_WARPS] == 16 || c[RESIDENT_WARPS] * thread_outputs(c) * element_bytes / 4 <= 512;
       }},
      trigger_rule(),
  };
  return Space(std::move(axes), std::move(must), std::move(worth));
}

Work sliding_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t element_bytes = sum_bytes(problem);
  Launch launch{
      .kernel = "conv2d_sliding",
      .grid = {ceil_divide(d.out_width, tile_width(config)),
               std::min(ceil_divide(d.out_height, tile_height(config)), grid_limit),
               std::min(d.batch, grid_limit)},
      .block = {config[BLOCK_X], config[BLOCK_Y], config[SPLIT]},
      .dynamic_shared_bytes = shared_bytes(d, element_bytes, config),
      .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, int32(d.batch),
                    int32(d.height), int32(d.width), int32(d.out_height), int32(d.out_width), int32(d.top),
                    int32(d.left), int32(d.mask_height), int32(d.mask_width), std::int32_t{d.turned},
                    int32(part_of(d.mask_height, element_bytes)), int32(part_of(d.mask_width, element_bytes)),
                    static_cast<std::int32_t>(d.boundary)},
      .overlaps_previous = config[START] == "overlapped"};
  add_value(launch, problem, sum_dtype(problem));
  return Work{.steps = {std::move(launch)}};
}

std::string refuses(const Problem& problem) {
  const std::int64_t height = problem.integer("height");
  if (height > highest_image) {
    return "A height of " + std::to_string(height) + " is beyond the " + std::to_string(highest_image) +
           " whose places this template counts in 32 bits; take another template.";
  }
  return too_wide(problem);
}

}  // namespace

Template sliding() {
  return {
      .name = "sliding",
      .what =
          "A tile of outputs per thread in registers over a ring of image rows; one binary serves masks of "
          "every size, every boundary and both modes.",
      .kernels = {"conv2d_sliding"},
      .compiled_in = {"dtype"},
      .refuses = refuses,
      .untuned = by_default,
      .space = sliding_space,
      .work = sliding_work,
      .alignment_bytes = [](const Problem& problem, const Config& config) {
        return std::min<std::int64_t>(config[VECTOR] * sum_bytes(problem), 16);
      }};
}

}  // namespace tunesmith::conv2d_op
