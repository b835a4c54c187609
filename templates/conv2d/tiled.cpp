// SPDX-License-Identifier: Apache-2.0
// The template `tiled` (tiled.cu): its space and work.

#include <algorithm>

#include "generator/device_facts.h"
#include "templates/conv2d/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::conv2d_op {
namespace {

#include "templates/conv2d/tiled_layout.inl"

constexpr CategoricalAxis LOOP_ORDER("LOOP_ORDER");
constexpr CategoricalAxis MASK_IN("MASK_IN");
constexpr IntegerAxis OUT_X("OUT_X");
constexpr IntegerAxis OUT_Y("OUT_Y");
constexpr CategoricalAxis SMEM_ALLOC("SMEM_ALLOC");

std::int64_t mask_bytes(const Dims& d, std::int64_t element_bytes) {
  return d.mask_height * d.mask_width * element_bytes;
}

std::int64_t tile_width(const Config& c) { return c[BLOCK_X] * c[OUT_X]; }
std::int64_t tile_height(const Config& c) { return c[BLOCK_Y] * c[OUT_Y]; }
std::int64_t thread_outputs(const Config& c) { return c[OUT_X] * c[OUT_Y]; }

std::int64_t shared_bytes(const Dims& d, std::int64_t element_bytes, const Config& c) {
  return tiled_layout({.tile_width = tile_width(c),
                       .tile_height = tile_height(c),
                       .out_x = c[OUT_X],
                       .mask_height = d.mask_height,
                       .mask_width = d.mask_width,
                       .left = d.left,
                       .vector = c[VECTOR],
                       .lanes = 16 / element_bytes,
                       .mask_staged = c[MASK_IN] == "shared",
                       .staged = c[SMEM_LAYOUT] != "none",
                       .padded = c[SMEM_LAYOUT] == "padded"})
             .elements *
         element_bytes;
}

std::vector<Axis> axes_for(bool small_mask) {
  const auto either = [=](std::vector<Value> for_small_mask, std::vector<Value> otherwise) {
    return small_mask ? std::move(for_small_mask) : std::move(otherwise);
  };
  return {
      {SMEM_LAYOUT, categories({"none", "flat", "padded"}),
       "the image's tile in shared memory: not there, rows as they come, rows spread over the banks"},
      {MASK_IN, categories({"global", "shared", "constant"}), "where the weights are read from"},
      {COPY, categories({"sync", "async"}), "the way into shared memory: through registers or past them"},
      {SMEM_ALLOC, categories({"dynamic", "static"}), "the kind of shared memory"},
      {LOOP_ORDER, categories({"image", "mask"}), "whose rows the outer loop walks"},
      {UNROLL, either({0, 1}, {1, 2, 4, 0}), "steps of the outer loop that are unrolled; 0: all"},
      {VECTOR, {1, 2, 4}, "elements of a global access"},
      {OUT_X, either({4, 2, 1}, {4, 8, 12, 2}), "outputs of a thread along a row"},
      {OUT_Y, either({4, 8, 2, 1}, {4, 2, 8, 1}), "outputs of a thread across rows"},
      {BLOCK_X, either({32, 16, 64}, {16, 32, 8}), "threads of a block along a row"},
      {BLOCK_Y, either({4, 2, 8}, {8, 4, 16}), "threads of a block across rows"},
      {AHEAD, either({0, 2}, {0}), "image rows loaded before they are needed"},
      store_axis(),
      start_axis(),
      trigger_axis(),
      resident_warps_axis({16, 24, 32}),
  };
}

// The rules depend on the image's size only by the vectors that divide it, so that a config that is legal for
// one image is legal for nearly all.
std::vector<Rule> must_rules(const std::vector<Axis>& axes, const Dims& d, std::int64_t element_bytes) {
  constexpr std::int64_t constant_limit = std::int64_t{64} * 1024;  // bytes, on every device
  const bool fits_in_constant = mask_bytes(d, element_bytes) <= constant_limit;
  return {
      resident_warps_rule(axes, [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y]; }),
      {"VECTOR divides the width and OUT_X, so that a vector is aligned and inside the image as a whole.",
       [=](const Config& c) { return d.width % c[VECTOR] == 0 && c[OUT_X] % c[VECTOR] == 0; }},
      {"Static shared memory holds at most 48 KiB.",
       [=](const Config& c) {
         return c[SMEM_ALLOC] == "dynamic" || shared_bytes(d, element_bytes, c) <= static_shared_limit;
       }},
      {"Constant memory holds at most 64 KiB, which the mask must fit in.",
       [=](const Config& c) { return c[MASK_IN] != "constant" || fits_in_constant; }},
      {"Unrolled code has at most 6000 multiply-adds; with more the compiler takes too long.",
       [=](const Config& c) {
         const std::int64_t row = thread_outputs(c) * std::min<std::int64_t>(d.mask_width, 32);
         const std::int64_t unroll = c[UNROLL];
         return unroll == 1 || (unroll == 0 ? d.mask_height : unroll) * row <= 6000;
       }},
  };
}

// Small images, which have small tiles, are bound by latency, small masks by memory, and all other problems
// by arithmetic. Each kind has the choices that measured well for it.
constexpr std::int64_t small_tile = 4;  // outputs of a thread

std::vector<Rule> worth_rules(const Dims& d, std::int64_t element_bytes, bool small_mask) {
  return {
      {"A block has 64 to 256 threads; for a small mask at most 128, since more gain nothing.",
       [=](const Config& c) {
         const std::int64_t threads = c[BLOCK_X] * c[BLOCK_Y];
         return threads >= 64 && threads <= (small_mask ? 128 : 256);
       }},
      {"Accesses are as wide as the width and OUT_X allow. Flat tiles that are copied asynchronously also "
       "try scalars, which take arrays of any alignment, and for a large mask pairs, which may fit its reach "
       "better.",
       [=](const Config& c) {
         const std::int64_t vector = c[VECTOR];
         if (vector == 4 || d.width % (2 * vector) != 0 || c[OUT_X] % (2 * vector) != 0) return true;
         return c[SMEM_LAYOUT] == "flat" && c[COPY] == "async" && (vector == 1 || !small_mask);
       }},
      {"A thread's tile much taller than wide reuses little of what it reads.",
       [](const Config& c) { return c[OUT_Y] <= 2 * c[OUT_X]; }},
      {"Tiles are copied asynchronously; only small flat ones also try the way through registers. Without a "
       "tile there is nothing to copy asynchronously.",
       [](const Config& c) {
         if (c[SMEM_LAYOUT] == "none") return c[COPY] == "sync";
         return c[COPY] == "async" || (c[SMEM_LAYOUT] == "flat" && thread_outputs(c) <= small_tile);
       }},
      {"Static shared memory is tried only for small flat tiles that are copied asynchronously.",
       [](const Config& c) {
         return c[SMEM_ALLOC] == "dynamic" ||
                (c[SMEM_LAYOUT] == "flat" && c[COPY] == "async" && thread_outputs(c) <= small_tile);
       }},
      {"Rows are spread over the banks where threads would otherwise meet in one: with OUT_X=8, or where a "
       "row of the tile is shorter than the 32 banks.",
       [](const Config& c) { return c[SMEM_LAYOUT] != "padded" || c[OUT_X] == 8 || tile_width(c) < 32; }},
      {"For a small mask the copy into constant memory costs more than it saves.",
       [=](const Config& c) { return c[MASK_IN] != "constant" || !small_mask; }},
      {"Weights are read from global memory only where the mask fits in registers, or where no tile is "
       "staged.",
       [=](const Config& c) { return c[MASK_IN] != "global" || small_mask || c[SMEM_LAYOUT] == "none"; }},
      {"Only completely unrolled code with image rows outside takes weights from constant memory as "
       "operands.",
       [](const Config& c) {
         return c[MASK_IN] != "constant" || (c[UNROLL] == 0 && c[LOOP_ORDER] == "image");
       }},
      {"With mask rows outside the loop is rolled, or the tile small and the loop unrolled completely.",
       [](const Config& c) {
         return c[LOOP_ORDER] == "image" || c[UNROLL] == 1 ||
                (c[UNROLL] == 0 && thread_outputs(c) <= small_tile);
       }},
      {"For a small mask the loop over image rows is unrolled; that over mask rows is rolled and reads "
       "weights from shared memory.",
       [=](const Config& c) {
         if (!small_mask) return true;
         return c[LOOP_ORDER] == "image" ? c[UNROLL] == 0 : c[UNROLL] == 1 && c[MASK_IN] == "shared";
       }},
      {"Without a staged tile the loop is rolled or unrolled completely.",
       [](const Config& c) { return c[SMEM_LAYOUT] != "none" || c[UNROLL] <= 1; }},
      {"Rows are loaded ahead only in completely unrolled code that reads samples from global memory.",
       [](const Config& c) {
         return c[AHEAD] == 0 || (c[SMEM_LAYOUT] == "none" && c[LOOP_ORDER] == "image" && c[UNROLL] == 0);
       }},
      {"A thread has at most 48 outputs of 4 bytes, and the more it has the fewer resident warps leave it "
       "enough registers; small tiles need no bound.",
       [=](const Config& c) {
         if (thread_outputs(c) <= small_tile) return c[RESIDENT_WARPS] == 16;
         const std::int64_t sums = thread_outputs(c) * element_bytes / 4;
         return sums <= 48 && c[RESIDENT_WARPS] * sums <= 768;
       }},
      {"Streaming stores are for a small mask with rows loaded ahead and no early start: for large images.",
       [=](const Config& c) {
         return c[STORE] == "plain" || (small_mask && c[AHEAD] == 2 && c[START] == "plain");
       }},
      {"Starting early gains only in kernels of a few microseconds: with small tiles, or with a small mask "
       "and rows loaded ahead.",
       [](const Config& c) {
         return c[START] == "plain" || thread_outputs(c) <= small_tile ||
                (thread_outputs(c) <= 16 && c[AHEAD] == 2);
       }},
      trigger_rule(),
  };
}

Space tiled_space(const Problem& problem) {
  const Dims d(problem);
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  const bool small_mask = mask_bytes(d, element_bytes) <= 256;  // then the body may hold it in registers
  std::vector<Axis> axes = axes_for(small_mask);
  std::vector<Rule> must = must_rules(axes, d, element_bytes);
  return Space(std::move(axes), std::move(must), worth_rules(d, element_bytes, small_mask));
}

Work tiled_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  Work work;
  if (config[MASK_IN] == "constant") {
    work.steps.push_back(
        ConstantCopy{.symbol = "mask_copy", .argument = 1, .bytes = mask_bytes(d, element_bytes)});
  }
  work.steps.push_back(Launch{
      .kernel = "conv2d_tiled",
      .grid = {ceil_divide(d.width, tile_width(config)),
               std::min(ceil_divide(d.height, tile_height(config)), grid_limit),
               std::min(d.batch, grid_limit)},
      .block = {config[BLOCK_X], config[BLOCK_Y], 1},
      .dynamic_shared_bytes = config[SMEM_ALLOC] == "dynamic" ? shared_bytes(d, element_bytes, config) : 0,
      .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, int32(d.batch),
                    int32(d.height), int32(d.width)},
      .overlaps_previous = config[START] == "overlapped"});
  return work;
}

}  // namespace

Template tiled() {
  return {.name = "tiled",
          .what =
              "A tile of outputs per thread in registers, fed from global memory or from a tile in shared "
              "memory.",
          .kernels = {"conv2d_tiled"},
          .compiled_in = {"dtype", "mode", "mask_height", "mask_width"},
          .refuses = too_wide,
          .space = tiled_space,
          .work = tiled_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::conv2d_op
