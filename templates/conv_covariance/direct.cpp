// SPDX-License-Identifier: Apache-2.0
// The template `direct` (direct.cu), for small problems and very large masks: one thread per pair of output
// pixels, which reads every term from global memory.

#include <algorithm>
#include <array>

#include "templates/axes.h"
#include "templates/conv_covariance/op.h"

namespace tunesmith::conv_covariance_op {
namespace {

constexpr IntegerAxis FAN("FAN");
constexpr CategoricalAxis FAN_OUT("FAN_OUT");
constexpr CategoricalAxis LOOP_ORDER("LOOP_ORDER");
constexpr CategoricalAxis MU_LAYOUT("MU_LAYOUT");

// Steps of each loop of a term, outermost first.
std::array<std::int64_t, 3> steps_of(const Dims& d, const std::string& order) {
  if (order == "channels_outside") return {d.channels_in, d.mask_height, d.mask_width};
  if (order == "channels_between") return {d.mask_height, d.channels_in, d.mask_width};
  return {d.mask_height, d.mask_width, d.channels_in};
}

// The number of terms of a sum in the unrolled loops of direct.cu, as its function `unrolled` gives them.
std::int64_t unrolled_terms(const Dims& d, const std::string& order, std::int64_t loops) {
  constexpr std::int64_t most = 128;
  const auto steps = steps_of(d, order);
  std::int64_t inside = 1;
  std::int64_t terms = 1;
  for (std::size_t loop = 3; loop-- > 0 && loops-- > 0;) {
    std::int64_t at_once = std::min(steps[loop], most / inside);
    while (at_once > 1 && steps[loop] % at_once != 0) --at_once;
    terms *= std::max<std::int64_t>(at_once, 1);
    inside *= std::max<std::int64_t>(steps[loop], 1);
  }
  return terms;
}

Space space(const Problem& problem) {
  const Dims d(problem);
  std::vector<Axis> axes = {
      {LOOP_ORDER, categories({"channels_outside", "channels_between", "channels_inside"}),
       "the loop over the input channels: outside, between or inside the loops over the mask"},
      {UNROLL, {3, 2, 1, 0}, "loops of a sum that are unrolled, counted from the innermost, up to 128 terms"},
      {FAN_OUT, categories({"inside", "outside"}),
       "the loop over the output channels: in each thread after its sum, or one thread per channel"},
      {FAN, {4, 2, 1}, "output channels loaded before the first is stored"},
      {MU_LAYOUT, categories({"none", "flat", "padded"}),
       "the image's means in shared memory: not there, rows as they are, rows padded to an odd pitch"},
      {BLOCK_X, {32, 64, 128, 16}, "threads per block along the second pixel"},
      {BLOCK_Y, {4, 2, 1, 8, 16}, "threads per block along the first pixel"},
      index_bits_axis(),
      start_axis(),
      trigger_axis(),
  };
  std::vector<Rule> must = {
      {"A block has at most 1024 threads.", [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y] <= 1024; }},
      offsets_reach(d),
      conditional(
          FAN, 1, [](const Config& c) { return c[FAN_OUT] == "inside"; },
          "With FAN_OUT=outside a thread has one output channel, so that FAN has no effect."),
      one_name(
          UNROLL,
          [=](const Config& c) {
            std::int64_t loops = c[UNROLL];
            while (loops < 3 &&
                   unrolled_terms(d, c[LOOP_ORDER], loops) == unrolled_terms(d, c[LOOP_ORDER], loops + 1))
              ++loops;
            return loops;
          },
          "Of the UNROLL that unroll the same terms the largest stands for all."),
  };
  std::vector<Rule> worth = {
      {"A block has at least 32 threads, so that no warp has idle lanes, and at most 256.",
       [](const Config& c) {
         const std::int64_t threads = c[BLOCK_X] * c[BLOCK_Y];
         return threads >= 32 && threads <= 256;
       }},
      {"With all loops unrolled their order makes no difference; the first choice stands for all.",
       [=](const Config& c) {
         return c[LOOP_ORDER] == "channels_outside" ||
                unrolled_terms(d, c[LOOP_ORDER], c[UNROLL]) < d.channels_in * d.mask_height * d.mask_width;
       }},
      {"64-bit offsets are for large problems, which gain nothing from an early start.",
       [](const Config& c) { return c[INDEX_BITS] == 32 || c[START] == "plain"; }},
      trigger_rule(),
  };
  return Space(std::move(axes), std::move(must), std::move(worth));
}

Work work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  if (d.nothing_to_add()) return {};
  const std::int64_t images = d.batch * (config[FAN_OUT] == "outside" ? d.channels_out : 1);
  const std::string& layout = config[MU_LAYOUT];
  const std::int64_t mu_pitch = layout == "padded" ? d.width | 1 : d.width;
  return {.steps = {Launch{
              .kernel = "conv_covariance_direct",
              .grid = {ceil_divide(d.pixels(), config[BLOCK_X]),
                       std::min(ceil_divide(d.pixels(), config[BLOCK_Y]), grid_limit),
                       std::min(images, grid_limit)},
              .block = {config[BLOCK_X], config[BLOCK_Y]},
              .dynamic_shared_bytes =
                  layout == "none" ? 0 : d.channels_in * d.height * mu_pitch * compute_bytes(problem),
              .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, ArgumentPointer{3},
                            int32(d.batch), int32(d.channels_out), int32(d.height), int32(d.width)},
              .overlaps_previous = config[START] == "overlapped"}}};
}

}  // namespace

Template direct() {
  return {.name = "direct",
          .what =
              "One thread per pair of output pixels; every term is read from where it lies, by way of the "
              "caches.",
          .kernels = {"conv_covariance_direct"},
          .compiled_in = constants,
          .space = space,
          .work = work};
}

}  // namespace tunesmith::conv_covariance_op
