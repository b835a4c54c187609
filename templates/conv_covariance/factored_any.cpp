// SPDX-License-Identifier: Apache-2.0
// The template `factored_any` (factored_any.cu): factored.cu's box filter for a mask of any size and any
// number of input channels, which needs no compiler.

#include <algorithm>

#include "generator/device_facts.h"
#include "templates/axes.h"
#include "templates/conv_covariance/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::conv_covariance_op {
namespace {

#include "templates/conv_covariance/factored_any_layout.inl"

constexpr IntegerAxis BLOCK_D("BLOCK_D");
constexpr IntegerAxis BLOCK_J("BLOCK_J");
constexpr IntegerAxis CHUNK("CHUNK");
constexpr IntegerAxis FAN("FAN");
constexpr IntegerAxis FILL("FILL");
constexpr IntegerAxis GAMMA_VECTOR("GAMMA_VECTOR");
constexpr CategoricalAxis INPUT("INPUT");
constexpr IntegerAxis MARCH("MARCH");
constexpr CategoricalAxis MU_IN("MU_IN");
constexpr IntegerAxis OUT_J("OUT_J");
constexpr CategoricalAxis STAGING("STAGING");

constexpr std::int64_t most_slots = factored_any_most_slots;

std::int64_t threads(const Config& c) { return c[BLOCK_X] * c[BLOCK_D] * c[BLOCK_J]; }
std::int64_t thread_tile(const Config& c) { return c[OUT_J] * c[VECTOR]; }  // outputs in one row
std::int64_t slots(const Config& c) { return std::min(c[MARCH], most_slots); }

// Registers for values that are loaded together and for incomplete outputs.
std::int64_t registers(const Config& c, std::int64_t real_bytes) {
  const std::int64_t more = c[CHUNK] - 1;
  const std::int64_t asked = c[STAGING] == "none"
                                 ? c[UNROLL] * (c[OUT_J] + c[VECTOR] + 2 * more + c[CHUNK] * thread_tile(c))
                                 : c[UNROLL] * c[FILL] * (1 + 2 * c[GAMMA_VECTOR]);
  return (asked + slots(c) * thread_tile(c)) * real_bytes / 4;
}

// The pitch of a staged tile.
std::int64_t pitch(const Dims& d, std::int64_t real_bytes, const Config& c) {
  const std::int64_t columns = c[BLOCK_X] * c[VECTOR];
  const std::int64_t staged =
      factored_any_row_vectors(columns, d.mask_width, c[GAMMA_VECTOR]) * c[GAMMA_VECTOR];
  const std::int64_t banks = 128 / real_bytes;
  return c[STAGING] == "padded" ? staged + (columns % banks - staged % banks + banks) % banks : staged;
}
std::int64_t shared_bytes(const Dims& d, std::int64_t real_bytes, const Config& c) {
  const std::int64_t rows = factored_any_rows(c[BLOCK_J] * c[OUT_J], d.mask_width, c[BLOCK_D]);
  const std::int64_t tiles = c[STAGING] == "none" ? 0 : 2 * rows * pitch(d, real_bytes, c);
  return (tiles + (c[MU_IN] == "shared" ? d.gamma_pitch() : 0)) * real_bytes;
}

std::vector<Axis> axes() {
  return {
      {MARCH, {1, 8, 4, 2, 16}, "output rows that a thread goes down"},
      {STAGING, categories({"none", "flat", "padded"}),
       "the sums over the input channels in shared memory: not there, rows as they are, rows padded so that "
       "they lie in different banks"},
      {BLOCK_X, {16, 8, 32}, "threads per block along the second pixel's column"},
      {VECTOR, {1, 2, 4}, "outputs of a thread along the second pixel's column, and of an access"},
      {BLOCK_D, {4, 2, 1}, "diagonals per block, one thread each"},
      {BLOCK_J, {2, 4, 8, 1}, "threads per block along the first pixel's column"},
      {OUT_J, {1, 2, 4}, "outputs of a thread along the first pixel's column"},
      {CHUNK, {4, 8}, "columns of the box at a time"},
      {GAMMA_VECTOR, {1, 2, 4}, "covariances per access on their way into shared memory"},
      {FILL, {2, 4, 1}, "such accesses of a thread at a time"},
      start_axis(),
      trigger_axis(),
      {MU_IN, categories({"global", "shared"}), "where the means are read from"},
      {UNROLL, {4, 2, 1}, "input channels asked for at once"},
      {FAN, {4, 2}, "output channels loaded before the first is stored"},
      {INPUT, categories({"late", "early"}), "whether those are loaded after the sum is computed, or before"},
      store_axis(),
      index_bits_axis(),
      resident_warps_axis({16, 8, 24, 32}),
  };
}

// The rules depend on the image's size only by the vectors that divide it and by the reach of 32 bits, and on
// the mask only by a limit for its rows.
std::vector<Rule> must(const std::vector<Axis>& axes, const Problem& problem) {
  const Dims d(problem);
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  const std::int64_t real_bytes = compute_bytes(problem);
  return {
      resident_warps_rule(axes, threads, true),
      conditional(
          GAMMA_VECTOR, 1, [](const Config& c) { return c[STAGING] != "none"; },
          "Without shared memory GAMMA_VECTOR has no effect."),
      {"A block has at most 1024 threads.", [](const Config& c) { return threads(c) <= 1024; }},
      {"VECTOR divides the output's columns, and a vector takes at most 16 bytes.",
       [=](const Config& c) { return d.columns % c[VECTOR] == 0 && c[VECTOR] * element_bytes <= 16; }},
      {"GAMMA_VECTOR divides the width, and such a vector takes at most 16 bytes.",
       [=](const Config& c) {
         return d.width % c[GAMMA_VECTOR] == 0 && c[GAMMA_VECTOR] * element_bytes <= 16;
       }},
      {"A march of more than 8 rows is for masks of at most 8 rows: that many outputs are begun at a time.",
       [=](const Config& c) { return c[MARCH] <= most_slots || d.mask_height <= most_slots; }},
      {"Outputs that are begun take at most 64 of the 255 registers that a thread can have.",
       [=](const Config& c) { return slots(c) * thread_tile(c) * real_bytes / 4 <= 64; }},
      {"The code has at most 180 terms, so that the compiler takes a few seconds at most.",
       [](const Config& c) {
         return c[CHUNK] * (c[CHUNK] + 1) / 2 * thread_tile(c) * (c[STAGING] == "none" ? c[UNROLL] : 1) <=
                180;
       }},
      {"A streaming store takes at least 4 bytes.",
       [=](const Config& c) { return c[VECTOR] * element_bytes >= 4 || c[STORE] == "plain"; }},
      offsets_reach(d),
  };
}

// As in factored, short marches are for small images, which are bound by latency.
std::vector<Rule> worth(const Problem& problem) {
  const Dims d(problem);
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  const std::int64_t real_bytes = compute_bytes(problem);
  const auto small = [](const Config& c) { return c[MARCH] <= 2; };
  return {
      {"A block has 64 or 128 threads for a short march, 128 or 256 for a longer one.",
       [=](const Config& c) {
         return small(c) ? threads(c) == 64 || threads(c) == 128 : threads(c) == 128 || threads(c) == 256;
       }},
      {"Tiles and means fit into 48 KiB, which a block has on every GPU.",
       [=](const Config& c) { return shared_bytes(d, real_bytes, c) <= static_shared_limit; }},
      {"A block has at most 32 outputs along a row for a short march, and at most 64.",
       [=](const Config& c) { return c[BLOCK_X] * c[VECTOR] <= (small(c) ? 32 : 64); }},
      {"A thread has at most 2 outputs in one row on a short march, and at most 4.",
       [=](const Config& c) { return thread_tile(c) <= (small(c) ? 2 : 4); }},
      {"A march is no longer than the output has rows, if a shorter one is as long.",
       [=](const Config& c) { return c[MARCH] == 1 || c[MARCH] / 2 < d.rows; }},
      {"Sums in shared memory are read once for a mask of one column: nothing is gained.",
       [=](const Config& c) { return c[STAGING] == "none" || d.mask_width > 1; }},
      {"Rows are padded where they are shorter than a warp; longer ones have no bank conflicts.",
       [](const Config& c) { return c[STAGING] != "padded" || c[BLOCK_X] < 32; }},
      {"Without shared memory FILL has no effect and is 2.",
       [](const Config& c) { return c[STAGING] != "none" || c[FILL] == 2; }},
      {"GAMMA_VECTOR is the widest possible, or, with VECTOR=1, 1, which suits arrays of any alignment.",
       [=](const Config& c) {
         const std::int64_t vector = c[GAMMA_VECTOR];
         return c[STAGING] == "none" || vector == 4 || d.width % (2 * vector) != 0 ||
                2 * vector * element_bytes > 16 || (vector == 1 && c[VECTOR] == 1);
       }},
      {"Chunks of 8 are for masks of more than 4 columns.",
       [=](const Config& c) { return c[CHUNK] == 4 || d.mask_width > 4; }},
      {"Starting early gains something for kernels of a few microseconds: with a short march.",
       [=](const Config& c) { return c[START] == "plain" || small(c); }},
      {"No more input channels are asked for at once than there are, but for a part of two or four.",
       [=](const Config& c) { return c[UNROLL] == 1 || c[UNROLL] / 2 < d.channels_in; }},
      {"What is asked for at once and the outputs that are begun leave enough of the registers that the "
       "warps have.",
       [=](const Config& c) { return registers(c, real_bytes) <= 1536 / c[RESIDENT_WARPS]; }},
      {"Of CHUNK, FILL, MU_IN, UNROLL, FAN, INPUT, STORE, START, INDEX_BITS and RESIDENT_WARPS at most one "
       "differs from its first value that is worth something: they matter less, and hardly influence each "
       "other.",
       [=](const Config& c) {
         const std::int64_t channels = d.channels_in > 2 ? 4 : std::max<std::int64_t>(d.channels_in, 1);
         const int differ = (c[CHUNK] != 4 ? 1 : 0) + (c[FILL] != 2 ? 1 : 0) +
                            (c[MU_IN] == "shared" ? 1 : 0) + (c[UNROLL] != channels ? 1 : 0) +
                            (c[FAN] == 2 ? 1 : 0) + (c[INPUT] == "early" ? 1 : 0) +
                            (c[STORE] == "streaming" ? 1 : 0) + (c[START] == "overlapped" ? 1 : 0) +
                            (c[INDEX_BITS] == 64 && reach_32(d) ? 1 : 0) + (c[RESIDENT_WARPS] != 16 ? 1 : 0);
         return differ <= 1;
       }},
      {"Tiles in shared memory are worth their barriers with 128 threads or more, two diagonals or 8 threads "
       "along the first pixel's column.",
       [](const Config& c) {
         return c[STAGING] == "none" || (threads(c) >= 128 && (c[BLOCK_D] == 2 || c[BLOCK_J] == 8));
       }},
      trigger_rule(),
  };
}

Work work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  if (d.nothing_to_add()) return {};
  const std::int64_t real_bytes = compute_bytes(problem);
  const std::int64_t march = config[MARCH];
  const std::int64_t strips = ceil_divide(d.rows, march);
  return {.steps = {Launch{
              .kernel = "conv_covariance_factored_any",
              .grid = {ceil_divide(d.columns, config[BLOCK_X] * config[VECTOR]) *
                           ceil_divide(d.columns, config[BLOCK_J] * config[OUT_J]) * strips * d.batch,
                       ceil_divide(d.rows + march - 1, config[BLOCK_D])},
              .block = {config[BLOCK_X], config[BLOCK_D], config[BLOCK_J]},
              .dynamic_shared_bytes = shared_bytes(d, real_bytes, config),
              .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, ArgumentPointer{3},
                            int32(d.channels_out), int32(d.channels_in), int32(d.height), int32(d.width),
                            int32(d.mask_height), int32(d.mask_width), int32(strips),
                            int32(config[STAGING] == "none" ? 0 : pitch(d, real_bytes, config))},
              .overlaps_previous = config[START] == "overlapped"}}};
}

// Chooses among few configs, each for many problems, so that the library has their binaries.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const double pairs =
      static_cast<double>(d.batch) * static_cast<double>(d.pixels()) * static_cast<double>(d.pixels());
  std::string axes = "STAGING=none VECTOR=1 CHUNK=4 MU_IN=global RESIDENT_WARPS=";
  // In large images, outputs that share rows of the box gain more than the lost threads cost.
  axes += pairs < multiprocessors_to_fill(device) * 8192.0 || d.mask_height == 1
              ? "16 MARCH=1 BLOCK_X=16 BLOCK_D=4 BLOCK_J=2 OUT_J=1"
              : "8 MARCH=8 BLOCK_X=16 BLOCK_D=2 BLOCK_J=4 OUT_J=2";
  axes += d.channels_in > 2 && dtype_of(problem) != DType::f64 ? " UNROLL=4" : " UNROLL=2";
  return Values::parse(axes);
}

}  // namespace

Template factored_any() {
  return {
      .name = "factored_any",
      .what =
          "The box filter of factored for a mask of any size and any number of input channels; one binary "
          "serves them all.",
      .kernels = {"conv_covariance_factored_any"},
      .untuned = untuned,
      .space =
          [](const Problem& problem) {
            std::vector<Axis> its = axes();
            std::vector<Rule> rules = must(its, problem);
            return Space(std::move(its), std::move(rules), worth(problem));
          },
      .work = work,
      .alignment_bytes =
          [](const Problem& problem, const Config& config) {
            const std::int64_t staged = config[STAGING] == "none" ? 1 : config[GAMMA_VECTOR];
            return std::max(config[VECTOR], staged) * bytes(dtype_of(problem));
          }};
}

}  // namespace tunesmith::conv_covariance_op
