// SPDX-License-Identifier: Apache-2.0
// The template `chunked` (chunked.cu): its space and work.

#include <algorithm>

#include "templates/conv1d/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::conv1d_op {
namespace {

#include "templates/conv1d/chunked_layout.inl"

constexpr IntegerAxis SHARE("SHARE");
constexpr IntegerAxis SPLIT("SPLIT");

std::int64_t block_threads(const Config& c) { return c[BLOCK_X] * c[SPLIT]; }
std::int64_t tile(const Config& c) { return c[BLOCK_X] * c[OUT_X]; }  // outputs of a block

std::int64_t shared_bytes(std::int64_t element_bytes, const Config& c) {
  return chunked_layout({.tile = tile(c),
                         .out_x = c[OUT_X],
                         .split = c[SPLIT],
                         .share = c[SHARE],
                         .vector = c[VECTOR],
                         .lanes = 16 / element_bytes,
                         .padded = c[SMEM_LAYOUT] == "padded"})
             .elements *
         element_bytes;
}

std::vector<Axis> axes_for(std::int64_t element_bytes) {
  return {
      {SMEM_LAYOUT, categories({"padded", "flat"}),
       "the samples in shared memory: spread over the banks, as they come"},
      {COPY, categories({"async", "sync"}), "the way into shared memory: past the registers or through them"},
      {SEGMENT, {16, 8}, "taps whose window is in registers at a time"},
      {UNROLL, {2, 1, 4}, "segments that are unrolled"},
      {VECTOR, {4, 2, 1}, "elements of a global load"},
      {OUT_X, element_bytes == 4 ? std::vector<Value>{8, 16, 4} : std::vector<Value>{4, 8, 2},
       "neighbouring outputs of a thread"},
      {BLOCK_X, {64, 128, 32, 16, 8}, "threads of a block along a signal"},
      {SPLIT, {2, 1, 4, 8, 16, 32}, "groups of threads that share a chunk's taps"},
      {SHARE, {128, 16, 32, 64, 256, 512}, "taps of a group in a chunk"},
      start_axis(),
      trigger_axis(),
      resident_warps_axis({16, 32}),
  };
}

std::vector<Rule> must_rules(const std::vector<Axis>& axes, const Dims& d) {
  return {
      resident_warps_rule(axes, block_threads),
      {"A block has at most 1024 threads.", [](const Config& c) { return block_threads(c) <= 1024; }},
      {"VECTOR divides OUT_X and, in a batch, the length, so that every vector of samples is aligned.",
       [=](const Config& c) { return c[OUT_X] % c[VECTOR] == 0 && rows_aligned(d, d.length, c[VECTOR]); }},
      {"With samples spread over the banks OUT_X divides a segment, by which a loop steps, and the samples "
       "that the block's threads stage at a time.",
       [](const Config& c) {
         return c[SMEM_LAYOUT] == "flat" ||
                (c[SEGMENT] % c[OUT_X] == 0 && block_threads(c) * c[VECTOR] % c[OUT_X] == 0);
       }},
  };
}

std::vector<Rule> worth_rules(const Dims& d, std::int64_t element_bytes) {
  return {
      {"A block has 64 to 512 threads.",
       [](const Config& c) { return block_threads(c) >= 64 && block_threads(c) <= 512; }},
      {"A chunk has 128 to 4096 taps, but no more than twice those that there are.",
       [=](const Config& c) {
         const std::int64_t chunk = c[SPLIT] * c[SHARE];
         const std::int64_t most = std::max<std::int64_t>(128, std::min<std::int64_t>(4096, 2 * d.taps));
         return chunk >= 128 && chunk <= most;
       }},
      {"A loop over a share is unrolled to a quarter of it at most.",
       [](const Config& c) { return c[UNROLL] == 1 || 4 * c[UNROLL] * c[SEGMENT] <= c[SHARE]; }},
      {"The more outputs a thread has, the fewer resident warps leave it enough registers.",
       [=](const Config& c) { return c[RESIDENT_WARPS] * c[OUT_X] * element_bytes / 4 <= 256; }},
      trigger_rule(),
  };
}

Space chunked_space(const Problem& problem) {
  const Dims d(problem);
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  std::vector<Axis> axes = axes_for(element_bytes);
  std::vector<Rule> must = must_rules(axes, d);
  return Space(std::move(axes), std::move(must), worth_rules(d, element_bytes));
}

Work chunked_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  if (d.batch == 0) return Work{};
  return Work{
      .steps = {Launch{.kernel = "conv1d_chunked",
                       .grid = {ceil_divide(d.output_length, tile(config)), std::min(d.batch, grid_limit)},
                       .block = {config[BLOCK_X], config[SPLIT]},
                       .dynamic_shared_bytes = shared_bytes(bytes(dtype_of(problem)), config),
                       .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2},
                                     int32(d.batch), d.length, d.taps, d.output_length, d.left},
                       .overlaps_previous = config[START] == "overlapped"}}};
}

}  // namespace

Template chunked() {
  return {.name = "chunked",
          .what =
              "Any number of taps in chunks through shared memory, shared out among groups of threads whose "
              "sums are added at the end.",
          .kernels = {"conv1d_chunked"},
          .compiled_in = {"dtype", "function"},
          .space = chunked_space,
          .work = chunked_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::conv1d_op
