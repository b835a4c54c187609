// One thread per pair of output pixels, every term read from where it lies: for small problems and very large
// masks.

#include "templates/axes.h"
#include "templates/conv_covariance/op.h"

namespace tunesmith::conv_covariance_op {
namespace {

constexpr IntegerAxis BLOCK_X("BLOCK_X");
constexpr IntegerAxis BLOCK_Y("BLOCK_Y");
constexpr IntegerAxis FAN("FAN");
constexpr WordAxis FAN_OUT("FAN_OUT");
constexpr WordAxis LOOP_ORDER("LOOP_ORDER");
constexpr WordAxis MU_LAYOUT("MU_LAYOUT");
constexpr IntegerAxis UNROLL("UNROLL");

// Terms of a sum that the text's unrolled loops become.
std::int64_t unrolled_terms(const Dims& d, const Config& c) {
  const std::string& order = c[LOOP_ORDER];
  const std::int64_t inner = order == "channels_inside" ? d.channels_in : d.mask_width;
  const std::int64_t middle = order == "channels_outside"   ? d.mask_height
                              : order == "channels_between" ? d.channels_in
                                                            : d.mask_width;
  switch (c[UNROLL]) {
    case 0:
      return 1;
    case 1:
      return inner;
    case 2:
      return inner * middle;
    default:
      return d.channels_in * d.mask_height * d.mask_width;
  }
}

Space space(const Problem& problem) {
  const Dims d(problem);
  std::vector<Axis> axes = {
      {LOOP_ORDER, words({"channels_outside", "channels_between", "channels_inside"}),
       "the loop over the input channels: outside, between or inside the loops over the mask"},
      {UNROLL, {3, 2, 1, 0}, "loops of a sum that are unrolled, counted from the innermost"},
      {FAN_OUT, words({"inside", "outside"}),
       "the loop over the output channels: in each thread after its sum, or one thread per channel"},
      {FAN, {4, 2, 1}, "output channels loaded before the first is stored"},
      {MU_LAYOUT, words({"none", "flat", "padded"}),
       "the image's means in shared memory: not there, rows as they are, rows padded to an odd pitch"},
      {BLOCK_X, {32, 64, 128, 16}, "threads per block along the second pixel"},
      {BLOCK_Y, {4, 2, 1, 8, 16}, "threads per block along the first pixel"},
      index_bits_axis(),
      start_axis(),
      trigger_axis(),
  };
  std::vector<Rule> must = {
      {"A block has at most 1024 threads.", [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y] <= 1024; }},
      {"At most 512 terms of a sum are unrolled: they take the compiler about 15 s, and 1024 about 50 s.",
       [=](const Config& c) { return unrolled_terms(d, c) <= 512; }},
      offsets_reach(d),
  };
  std::vector<Rule> worth = {
      {"A block has at least 32 threads, so that no warp has idle lanes, and at most 256.",
       [](const Config& c) {
         const std::int64_t threads = c[BLOCK_X] * c[BLOCK_Y];
         return threads >= 32 && threads <= 256;
       }},
      {"At most 128 terms of a sum are unrolled; more code gains nothing.",
       [=](const Config& c) { return unrolled_terms(d, c) <= 128; }},
      {"With all loops unrolled their order makes no difference; the first choice stands for all.",
       [](const Config& c) { return c[UNROLL] < 3 || c[LOOP_ORDER] == "channels_outside"; }},
      {"With FAN_OUT=outside a thread has one output channel, so that FAN is 1.",
       [](const Config& c) { return c[FAN_OUT] == "inside" || c[FAN] == 1; }},
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
