// SPDX-License-Identifier: Apache-2.0
// The template `bounded` (bounded.cu): its space and work.

#include <algorithm>
#include <utility>

#include "generator/device_facts.h"
#include "templates/conv1d/op.h"
#include "templates/image/rules.h"
#include "templates/shared_layout.h"

namespace tunesmith::conv1d_op {
namespace {

#include "templates/conv1d/bounded_layout.inl"

constexpr IntegerAxis CHUNK("CHUNK");

std::int64_t tile(const Config& c) { return c[BLOCK_X] * c[OUT_X]; }

std::int64_t in_vector(const Dims& d) { return d.batch <= 1 ? 4 : row_vector(d.length); }
std::int64_t out_vector(const Dims& d) { return d.batch <= 1 ? 4 : row_vector(d.output_length); }

// The number of samples from a multiple of 4 to the beginning of a tile's first window.
std::int64_t phase(const Dims& d) { return (4 - d.left % 4) % 4; }

std::int64_t shared_bytes(const Dims& d, std::int64_t element_bytes, std::int64_t outputs, std::int64_t rows,
                          std::int64_t vector, bool padded) {
  return bounded_layout({.tile = outputs,
                         .block_y = rows,
                         .load = std::min(vector, in_vector(d)),
                         .lanes = 16 / element_bytes,
                         .taps = d.taps,
                         .phase = phase(d),
                         .padded = padded})
             .elements *
         element_bytes;
}
std::int64_t shared_bytes(const Dims& d, std::int64_t element_bytes, const Config& c) {
  return shared_bytes(d, element_bytes, tile(c), c[BLOCK_Y], c[VECTOR], c[SMEM_LAYOUT] == "padded");
}

Space bounded_space(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const std::int64_t element_bytes = sum_bytes(problem);
  const bool few = d.taps <= 16;
  std::vector<Axis> axes = {
      {SMEM_LAYOUT, categories({"flat", "padded"}),
       "the samples in shared memory: as they come, or spread over "
       "the banks"},
      {COPY, categories({"async", "sync"}), "the way into shared memory: past the registers or through them"},
      {CHUNK, {8, 16, 4}, "taps whose window is in registers at a time"},
      {UNROLL, {1, 2, 4, 0}, "chunks that are unrolled; 0: all"},
      {VECTOR, {4, 1, 2}, "elements of a global access, where the rows allow it"},
      {OUT_X, few ? std::vector<Value>{4, 8, 2, 1} : std::vector<Value>{8, 4, 16, 2, 1},
       "neighbouring outputs of a thread"},
      {BLOCK_X, {128, 64, 256, 32}, "threads of a block along a signal"},
      {BLOCK_Y, {1, 2, 4}, "signals of a block"},
      store_axis(),
      start_axis(),
      trigger_axis(),
      resident_warps_axis({16, 24, 32}),
  };
  std::vector<Rule> must = {
      resident_warps_rule(axes, [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y]; }),
      {"A block has at most 1024 threads.", [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y] <= 1024; }},
      converted_rule(problem),
      {"The code has at most 6000 multiply-adds; with more the compiler takes too long.",
       [=](const Config& c) {
         const std::int64_t unroll = c[UNROLL];
         const std::int64_t whole = unroll == 0 ? d.taps : std::min(d.taps, unroll * c[CHUNK]);
         return (whole + d.taps % c[CHUNK]) * c[OUT_X] <= 6000;
       }},
  };
  std::vector<Rule> worth = {
      {"A block has 64 to 256 threads.",
       [](const Config& c) {
         const std::int64_t threads = c[BLOCK_X] * c[BLOCK_Y];
         return threads >= 64 && threads <= 256;
       }},
      {"The samples and the taps fit into 48 KiB, which a block has on every GPU.",
       [=](const Config& c) { return shared_bytes(d, element_bytes, c) <= static_shared_limit; }},
      {"There is a block for each multiprocessor, or a block has few outputs.",
       [=, multiprocessors = multiprocessors_to_fill(device)](const Config& c) {
         return tile(c) <= 128 ||
                ceil_divide(d.output_length, tile(c)) * ceil_divide(d.batch, c[BLOCK_Y]) >= multiprocessors;
       }},
      {"A block has several signals where they are shorter than its row, which is then as short as it can "
       "be.",
       [=](const Config& c) {
         return d.output_length > 64 ? c[BLOCK_Y] == 1 || tile(c) <= 256
                                     : c[BLOCK_X] == 32 && c[OUT_X] <= 2 && c[BLOCK_Y] > 1;
       }},
      vectors_of_two_rule(),
      {"Samples are spread over the banks where threads would otherwise meet in one.",
       [=](const Config& c) { return (c[SMEM_LAYOUT] == "padded") == (c[OUT_X] * element_bytes > 16); }},
      {"A chunk is no longer than the taps, if a smaller one is as long, and a loop that would be unrolled "
       "to its end is UNROLL=0.",
       [=](const Config& c) {
         return (c[CHUNK] == 4 || c[CHUNK] / 2 < d.taps) && (c[UNROLL] <= 1 || c[UNROLL] < d.taps / c[CHUNK]);
       }},
      trigger_rule(),
  };
  return Space(std::move(axes), std::move(must), std::move(worth));
}

Work bounded_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  if (d.batch == 0) return Work{};
  Launch launch{
      .kernel = "conv1d_bounded",
      .grid = {ceil_divide(d.output_length, tile(config)),
               std::min(ceil_divide(d.batch, config[BLOCK_Y]), grid_limit)},
      .block = {config[BLOCK_X], config[BLOCK_Y]},
      .dynamic_shared_bytes = shared_bytes(d, sum_bytes(problem), config),
      .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, int32(d.batch), d.length,
                    d.output_length, d.left, std::int32_t{d.turned}, static_cast<std::int32_t>(d.boundary)},
      .overlaps_previous = config[START] == "overlapped"};
  add_value(launch, problem, sum_dtype(problem));
  return Work{.steps = {std::move(launch)}};
}

std::string refuses(const Problem& problem) {
  if (not_plain(problem).empty()) {
    return "With boundary=zero and signals of f32 or f64 the other templates serve; take one of them.";
  }
  if (std::string why = too_many_taps(problem); !why.empty()) return why;
  const Dims d(problem);
  const std::int64_t least = shared_bytes(d, sum_bytes(problem), 64, 1, 4, false);
  if (least <= static_shared_limit) return "";
  return "A kernel of " + std::to_string(d.taps) + " taps and the samples under it need " +
         std::to_string(least) + " bytes of shared memory, more than the " +
         std::to_string(static_shared_limit) + " that every GPU has; take another template.";
}

}  // namespace

Template bounded() {
  return {
      .name = "bounded",
      .what =
          "Every boundary and type of signal: samples in shared memory, filled by way of the boundary only "
          "where they leave the signal; the number of taps is compiled in.",
      .kernels = {"conv1d_bounded"},
      .compiled_in = {"dtype", "taps"},
      .constants =
          [](const Problem& problem) {
            const Dims d(problem);
            return Values{{"PHASE", phase(d)}, {"IN_VECTOR", in_vector(d)}, {"OUT_VECTOR", out_vector(d)}};
          },
      .refuses = refuses,
      .space = bounded_space,
      .work = bounded_work,
      .alignment_bytes =
          [](const Problem& problem, const Config& config) {
            const Dims d(problem);
            const std::int64_t load = std::min<std::int64_t>(config[VECTOR], in_vector(d));
            const std::int64_t store = std::min<std::int64_t>(
                {config[VECTOR], out_vector(d), config[OUT_X] % 4 == 0 ? 4 : row_vector(config[OUT_X])});
            return std::min<std::int64_t>(
                std::max(load * bytes(dtype_of(problem)), store * sum_bytes(problem)), 16);
          }};
}

}  // namespace tunesmith::conv1d_op
