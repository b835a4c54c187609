// SPDX-License-Identifier: Apache-2.0
// The template `factored` (factored.cu), for problems that are not small: it computes each sum once, as a box
// filter that goes down the shared diagonal, and adds it to all output channels.

#include "templates/axes.h"
#include "templates/conv_covariance/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::conv_covariance_op {
namespace {

#include "templates/conv_covariance/factored_layout.inl"

constexpr IntegerAxis AHEAD("AHEAD");
constexpr IntegerAxis BLOCK_D("BLOCK_D");
constexpr IntegerAxis BLOCK_J("BLOCK_J");
constexpr CategoricalAxis BOX("BOX");
constexpr IntegerAxis FAN("FAN");
constexpr IntegerAxis GAMMA_VECTOR("GAMMA_VECTOR");
constexpr CategoricalAxis INPUT("INPUT");
constexpr IntegerAxis MARCH("MARCH");
constexpr CategoricalAxis MU_IN("MU_IN");
constexpr IntegerAxis OUT_J("OUT_J");
constexpr CategoricalAxis STAGING("STAGING");

constexpr std::int64_t pending_words = 64;  // registers for incomplete outputs

// The sizes that a config gives.
struct Sizes {
  Sizes(const Problem& problem, const Config& c)
      : d(problem),
        element_bytes(bytes(dtype_of(problem))),
        real_bytes(compute_bytes(problem)),
        vector(c[VECTOR]),
        gamma_vector(c[GAMMA_VECTOR]),
        block_d(c[BLOCK_D]),
        tile_columns(c[BLOCK_X] * vector),
        tile_rows(c[BLOCK_J] * c[OUT_J]),
        threads(c[BLOCK_X] * block_d * c[BLOCK_J]),
        staged(factored_layout({.tile_rows = tile_rows,
                                .tile_columns = tile_columns,
                                .block_d = block_d,
                                .mask_width = d.mask_width,
                                .vector = vector,
                                .gamma_vector = gamma_vector,
                                .real_bytes = real_bytes,
                                .staged = c[STAGING] != "none",
                                .padded = c[STAGING] == "padded"})) {}

  std::int64_t thread_vectors() const {
    return ceil_divide(staged.rows * block_d * (staged.columns / gamma_vector), threads);
  }
  // Registers of the covariances that a thread loads ahead.
  std::int64_t ahead_words() const {
    return thread_vectors() * d.channels_in * ceil_divide(gamma_vector * element_bytes, 4);
  }
  Dims d;
  std::int64_t element_bytes, real_bytes, vector, gamma_vector, block_d, tile_columns, tile_rows, threads;
  FactoredLayout staged;
};

std::vector<Axis> axes() {
  return {
      {MARCH, {8, 16, 32, 4, 2, 1}, "output rows that a thread goes down"},
      {STAGING, categories({"none", "flat", "padded"}),
       "the sums over the input channels in shared memory: not there, rows as they are, rows padded so that "
       "they lie in different banks"},
      {BLOCK_X, {32, 16, 8, 64}, "threads per block along the second pixel's column"},
      {VECTOR, {1, 2, 4, 8}, "outputs of a thread along the second pixel's column, and of an access"},
      {BLOCK_D, {1, 2, 4}, "diagonals per block, one thread each"},
      {BLOCK_J, {8, 4, 2, 1}, "threads per block along the first pixel's column"},
      {OUT_J, {2, 4, 1, 8}, "outputs of a thread along the first pixel's column"},
      {BOX, categories({"window", "taps"}), "a row of the box from a window in registers, or tap by tap"},
      {GAMMA_VECTOR, {1, 2, 4}, "covariances per access on their way into shared memory"},
      {AHEAD, {0, 1}, "rows loaded before they are needed"},
      start_axis(),
      trigger_axis(),
      {MU_IN, categories({"global", "shared"}), "where the means are read from"},
      {UNROLL, {4, 1}, "input channels unrolled, at most"},
      {FAN, {4, 2}, "output channels loaded before the first is stored"},
      {INPUT, categories({"early", "late"}), "whether those are loaded before the sum is computed, or after"},
      store_axis(),
      index_bits_axis(),
      resident_warps_axis({16, 24, 8, 32}),
  };
}

// Outputs of a thread in one row.
std::int64_t thread_tile(const Config& c) { return c[OUT_J] * c[VECTOR]; }

// Registers of 32 bits.
struct Registers {
  explicit Registers(const Problem& problem)
      : d(problem), element_bytes(bytes(dtype_of(problem))), real_bytes(compute_bytes(problem)) {}

  std::int64_t tile(const Config& c) const { return thread_tile(c) * real_bytes / 4; }
  std::int64_t pending(const Config& c) const { return (d.mask_height - 1) * tile(c); }
  std::int64_t window(const Config& c) const {
    return (c[OUT_J] + d.mask_width - 1) * (c[VECTOR] + d.mask_width - 1) * real_bytes / 4;
  }
  std::int64_t fan(const Config& c, std::int64_t channels) const {
    return channels * c[OUT_J] * ceil_divide(c[VECTOR] * element_bytes, 4);
  }

  Dims d;
  std::int64_t element_bytes, real_bytes;
};

// The rules depend on the image's size only by the vectors that divide it and by the reach of 32 bits, so
// that a config that is legal for one image is legal for nearly all.
std::vector<Rule> must(const std::vector<Axis>& axes, const Problem& problem) {
  const Dims d(problem);
  const Registers registers(problem);
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  return {
      resident_warps_rule(
          axes, [](const Config& c) { return c[BLOCK_X] * c[BLOCK_D] * c[BLOCK_J]; }, true),
      conditional(
          GAMMA_VECTOR, 1, [](const Config& c) { return c[STAGING] != "none"; },
          "Without shared memory GAMMA_VECTOR has no effect."),
      conditional(
          UNROLL, 4,
          [=](const Config& c) { return d.channels_in > 1 && (c[AHEAD] == 0 || c[STAGING] == "none"); },
          "UNROLL has no effect with a single input channel, nor on rows loaded ahead."),
      {"A block has at most 1024 threads.",
       [](const Config& c) { return c[BLOCK_X] * c[BLOCK_D] * c[BLOCK_J] <= 1024; }},
      {"VECTOR divides the output's columns, and a vector takes at most 16 bytes.",
       [=](const Config& c) { return d.columns % c[VECTOR] == 0 && c[VECTOR] * element_bytes <= 16; }},
      {"GAMMA_VECTOR divides the width, and such a vector takes at most 16 bytes.",
       [=](const Config& c) {
         return d.width % c[GAMMA_VECTOR] == 0 && c[GAMMA_VECTOR] * element_bytes <= 16;
       }},
      {"Outputs that are begun take at most 128 of the 255 registers that a thread can have.",
       [=](const Config& c) { return registers.pending(c) <= 128; }},
      {"A window takes at most 256 registers, about as many as a thread can have; a larger one needs "
       "BOX=taps.",
       [=](const Config& c) { return registers.window(c) <= 256 || c[BOX] == "taps"; }},
      {"Rows loaded ahead take at most 128 of the 255 registers that a thread can have.",
       [=](const Config& c) { return c[AHEAD] == 0 || Sizes(problem, c).ahead_words() <= 128; }},
      {"A streaming store takes at least 4 bytes.",
       [=](const Config& c) { return c[VECTOR] * element_bytes >= 4 || c[STORE] == "plain"; }},
      offsets_reach(d),
  };
}

// Marches of one or two rows are for small images, which are bound by latency; longer ones are for large
// images, which are bound by memory. These rules give each kind the choices that can matter to it.
std::vector<Rule> worth(const Problem& problem) {
  const Dims d(problem);
  const Registers registers(problem);
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  const auto small = [](const Config& c) { return c[MARCH] <= 2; };
  const auto small_window = [=](const Config& c) { return registers.window(c) <= 80; };
  const auto small_fan = [=](const Config& c, std::int64_t channels) {
    return registers.fan(c, channels) <= 32;
  };
  return {
      {"A block has 64 or 128 threads for a short march, 128 or 256 for a longer one, 256 where they share "
       "tiles.",
       [=](const Config& c) {
         const std::int64_t threads = c[BLOCK_X] * c[BLOCK_D] * c[BLOCK_J];
         if (small(c)) return threads == 64 || threads == 128;
         return threads == 256 || (threads == 128 && c[STAGING] == "none");
       }},
      {"A block has 16 to 64 outputs along a row, at most 32 for a short march.",
       [=](const Config& c) {
         const std::int64_t columns = c[BLOCK_X] * c[VECTOR];
         return small(c) ? columns <= 32 : columns >= 16 && columns <= 64;
       }},
      {"On a short march shared memory gains nothing, nor do more than 2 x 2 outputs per thread.",
       [=](const Config& c) {
         return !small(c) || (c[STAGING] == "none" && c[OUT_J] <= 2 && c[VECTOR] <= 2);
       }},
      {"Tiles in shared memory are worth their barriers with at least 4 outputs per thread on a march of at "
       "least 8 rows, or with a vector of 4 on one of 4 rows that are loaded ahead.",
       [](const Config& c) {
         return c[STAGING] == "none" || (c[MARCH] >= 8 && thread_tile(c) >= 4) ||
                (c[MARCH] == 4 && c[OUT_J] == 1 && c[VECTOR] == 4 && c[AHEAD] == 1);
       }},
      {"Rows are padded where they are shorter than a warp; longer ones have no bank conflicts.",
       [](const Config& c) { return c[STAGING] != "padded" || c[BLOCK_X] < 32; }},
      {"Without shared memory the threads of a warp read neighbouring covariances, so vectors of 4 or more "
       "are for rows of 8 threads.",
       [](const Config& c) { return c[STAGING] != "none" || c[VECTOR] <= 2 || c[BLOCK_X] == 8; }},
      {"A thread's outputs in one row take at most 16 registers; more leave too few for the rest.",
       [=](const Config& c) { return registers.tile(c) <= 16; }},
      {"Outputs that are begun take at most 64 registers; more leave too few for the rest.",
       [=](const Config& c) { return registers.pending(c) <= pending_words; }},
      {"A window takes at most 80 registers; tap by tap is for masks of at least 5 columns.",
       [=](const Config& c) { return c[BOX] == "taps" ? d.mask_width >= 5 : small_window(c); }},
      {"GAMMA_VECTOR is the widest possible, or, with VECTOR=1, 1, which suits arrays of any alignment.",
       [=](const Config& c) {
         const std::int64_t vector = c[GAMMA_VECTOR];
         return c[STAGING] == "none" || vector == 4 || d.width % (2 * vector) != 0 ||
                2 * vector * element_bytes > 16 || (vector == 1 && c[VECTOR] == 1);
       }},
      {"Rows are loaded ahead on their way into shared memory, into at most 48 registers.",
       [=](const Config& c) {
         return c[AHEAD] == 0 || (c[STAGING] != "none" && Sizes(problem, c).ahead_words() <= 48);
       }},
      {"Starting early gains something for kernels of a few microseconds: with a short march.",
       [=](const Config& c) { return c[START] == "plain" || small(c); }},
      {"The output channels loaded at once take at most 32 registers.",
       [=](const Config& c) { return small_fan(c, c[FAN]); }},
      {"Streaming stores are for long marches, whose outputs are too many for the caches.",
       [=](const Config& c) { return c[STORE] == "plain" || !small(c); }},
      {"Room for more than 16 warps is for threads with few outputs; for 8, whose threads have more "
       "registers, for threads with many outputs on a long march.",
       [=](const Config& c) {
         const std::int64_t warps = c[RESIDENT_WARPS];
         if (warps == 16) return true;
         return warps > 16 ? registers.tile(c) <= 4 : registers.tile(c) >= 4 && !small(c);
       }},
      {"Of BOX, MU_IN, UNROLL, FAN, INPUT, STORE, INDEX_BITS and RESIDENT_WARPS at most one differs from its "
       "first possible value: they matter less, and hardly influence each other.",
       [=](const Config& c) {
         const int differ = (c[BOX] == "taps" && small_window(c) ? 1 : 0) + (c[MU_IN] == "shared" ? 1 : 0) +
                            (c[UNROLL] == 1 ? 1 : 0) + (c[FAN] == 2 && small_fan(c, 4) ? 1 : 0) +
                            (c[INPUT] == "late" ? 1 : 0) + (c[STORE] == "streaming" ? 1 : 0) +
                            (c[INDEX_BITS] == 64 && reach_32(d) ? 1 : 0) + (c[RESIDENT_WARPS] != 16 ? 1 : 0);
         return differ <= 1;
       }},
      trigger_rule(),
  };
}

Work work(const Problem& problem, const Config& config) {
  const Sizes sizes(problem, config);
  const Dims& d = sizes.d;
  if (d.nothing_to_add()) return {};
  const std::int64_t march = config[MARCH];
  const std::int64_t strips = ceil_divide(d.rows, march);
  const std::int64_t mu_bytes = config[MU_IN] == "shared" ? d.gamma_pitch() * sizes.real_bytes : 0;
  return {.steps = {Launch{
              .kernel = "conv_covariance_factored",
              .grid = {ceil_divide(d.columns, sizes.tile_columns) * ceil_divide(d.columns, sizes.tile_rows) *
                           strips * d.batch,
                       ceil_divide(d.rows + march - 1, sizes.block_d)},
              .block = {config[BLOCK_X], sizes.block_d, config[BLOCK_J]},
              .dynamic_shared_bytes = 2 * sizes.staged.tile * sizes.real_bytes + mu_bytes,
              .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, ArgumentPointer{3},
                            int32(d.channels_out), int32(d.height), int32(d.width), int32(strips)},
              .overlaps_previous = config[START] == "overlapped"}}};
}

std::string refuses(const Problem& problem) {
  const std::int64_t most = pending_words * 4 / compute_bytes(problem) + 1;
  const std::int64_t rows = problem.integer("mask_height");
  if (rows <= most) return "";
  return "A mask_height of " + std::to_string(rows) + " is beyond the " + std::to_string(most) +
         " rows that the factored template holds in registers; take another template.";
}

}  // namespace

Template factored() {
  return {.name = "factored",
          .what =
              "Each sum once, as a box filter that goes down the shared diagonal, given to all output "
              "channels.",
          .kernels = {"conv_covariance_factored"},
          .compiled_in = constants,
          .refuses = refuses,
          .space =
              [](const Problem& problem) {
                std::vector<Axis> its = axes();
                std::vector<Rule> rules = must(its, problem);
                return Space(std::move(its), std::move(rules), worth(problem));
              },
          .work = work,
          .alignment_bytes =
              [](const Problem& problem, const Config& config) {
                return std::max(config[VECTOR], config[GAMMA_VECTOR]) * bytes(dtype_of(problem));
              }};
}

}  // namespace tunesmith::conv_covariance_op
