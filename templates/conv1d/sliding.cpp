// SPDX-License-Identifier: Apache-2.0
// The template `sliding` (sliding.cu): its space and work.

#include <algorithm>
#include <utility>

#include "templates/conv1d/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::conv1d_op {
namespace {

#include "templates/conv1d/sliding_layout.inl"

constexpr IntegerAxis CHUNK("CHUNK");
constexpr CategoricalAxis SAMPLES_IN("SAMPLES_IN");
constexpr IntegerAxis SPLIT("SPLIT");
constexpr IntegerAxis STORE_VECTOR("STORE_VECTOR");

constexpr std::int64_t few = 16;  // up to this many taps, global memory is the bound

std::int64_t block_threads(const Config& c) { return c[BLOCK_X] * c[BLOCK_Y] * c[SPLIT]; }
std::int64_t thread_outputs(const Config& c) { return c[OUT_X] * c[ITEMS]; }
std::int64_t tile(const Config& c) { return c[BLOCK_X] * thread_outputs(c); }

// The number of taps that are in shared memory at a time: all, or parts of about equal size.
std::int64_t part_of(const Problem& problem) {
  const std::int64_t lanes = 16 / sum_bytes(problem);
  const std::int64_t most = 4096 / sum_bytes(problem);
  const std::int64_t taps = problem.integer("taps");
  return round_up(ceil_divide(taps, ceil_divide(taps, most)), lanes);
}

std::int64_t shared_bytes(const Problem& problem, const Config& c) {
  const std::int64_t lanes = 16 / sum_bytes(problem);
  return sliding_layout(tile(c), c[BLOCK_Y], c[SPLIT], std::min(c[VECTOR], lanes), part_of(problem), lanes)
             .elements *
         sum_bytes(problem);
}

// The number of multiply-adds in the code: for the first slots, for a loop and for each number of taps behind
// it; with samples in global memory, for each number once more.
std::int64_t multiply_adds(const Config& c) {
  const std::int64_t chunk = c[CHUNK];
  const std::int64_t rests = chunk * (chunk - 1) / 2;
  const std::int64_t staged = 6 + (c[UNROLL] + 1) * chunk + rests;
  return thread_outputs(c) * (staged + (c[SAMPLES_IN] == "global" ? rests + chunk : 0));
}

Space sliding_space(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const std::int64_t element_bytes = sum_bytes(problem);
  const std::int64_t lanes = 16 / element_bytes;
  const bool is_few = d.taps <= few;
  const double outputs = static_cast<double>(d.batch) * static_cast<double>(d.output_length);
  const double multiprocessors = multiprocessors_to_fill(device);
  // A multiprocessor has room for 2048 threads and needs most of them to use memory at full speed.
  const bool is_large = outputs >= multiprocessors * 2048 * 4;
  const std::vector<Value> out_x = is_few               ? std::vector<Value>{4, 2, 1, 12, 20, 6, 14}
                                   : element_bytes == 4 ? std::vector<Value>{12, 4, 20, 2, 1, 6, 14}
                                                        : std::vector<Value>{6, 2, 14, 1, 4, 12, 20};
  std::vector<Axis> axes = {
      {SAMPLES_IN, is_few ? categories({"global", "shared"}) : categories({"shared", "global"}),
       "where windows are read from; with global, those that leave the signal or are over more than CHUNK "
       "taps from shared memory all the same"},
      {CHUNK, {8, 16, 4}, "taps whose window is in registers at a time"},
      {UNROLL, {2, 1, 4}, "chunks that are unrolled"},
      {VECTOR, {4, 1}, "elements of a global load of at most 16 bytes, wherever the samples lie"},
      {STORE_VECTOR, is_few ? std::vector<Value>{4, 1} : std::vector<Value>{1, 4},
       "elements of a global store, where outputs are aligned to it; 1: regrouped in shared memory"},
      {OUT_X, out_x, "neighbouring outputs of a thread"},
      {ITEMS, is_few && is_large ? std::vector<Value>{2, 1} : std::vector<Value>{1, 2},
       "such rows of outputs of a thread, a block apart"},
      {BLOCK_X, is_large ? std::vector<Value>{128, 64, 256, 32} : std::vector<Value>{64, 128, 32, 256},
       "threads of a block along a signal"},
      {BLOCK_Y, {1, 4, 2}, "signals of a block"},
      {SPLIT, {1, 2, 4, 8}, "groups of threads that share the taps"},
      store_axis(),
      start_axis(),
      trigger_axis(),
      resident_warps_axis(is_few ? std::vector<Value>{24, 32, 16} : std::vector<Value>{16, 24, 32}),
  };
  std::vector<Rule> must = {
      resident_warps_rule(axes, block_threads),
      conditional(
          STORE_VECTOR, 1, [](const Config& c) { return c[OUT_X] > 1 && c[SPLIT] == 1; },
          "STORE_VECTOR has no effect on rows of one output, nor where groups of threads meet, which are "
          "regrouped in shared memory."),
      {"A block has at most 1024 threads.", [](const Config& c) { return block_threads(c) <= 1024; }},
      {"Windows come from global memory as vectors, of which OUT_X is a multiple, and then no groups of "
       "threads meet.",
       [=](const Config& c) {
         return c[SAMPLES_IN] == "shared" ||
                (c[VECTOR] > 1 && c[OUT_X] % std::min(c[VECTOR], lanes) == 0 && c[SPLIT] == 1);
       }},
      {"The code has at most 3000 multiply-adds, so that the compiler takes a few seconds at most.",
       [](const Config& c) { return multiply_adds(c) <= 3000; }},
  };
  std::vector<Rule> worth = {
      {"A block has 64 to 512 threads.",
       [](const Config& c) { return block_threads(c) >= 64 && block_threads(c) <= 512; }},
      {"Samples come from global memory for at most CHUNK taps, where most tiles lie inside their signal, "
       "for threads with 16 bytes in a row, which are stored as they are.",
       [=](const Config& c) {
         return c[SAMPLES_IN] == "shared" ||
                (d.taps <= c[CHUNK] && d.output_length >= 4 * tile(c) && c[OUT_X] * element_bytes == 16 &&
                 c[STORE_VECTOR] > 1 && c[UNROLL] == 1);
       }},
      {"A thread's row of outputs is at most 16 bytes or an odd number of them, so that threads do not meet "
       "in the same banks.",
       [=](const Config& c) {
         const std::int64_t out_x = c[OUT_X];
         return out_x <= lanes || (out_x % lanes == 0 && out_x / lanes % 2 == 1);
       }},
      {"There is a block for each multiprocessor, or a block has few outputs.",
       [=](const Config& c) {
         return tile(c) <= 512 || static_cast<double>(ceil_divide(d.output_length, tile(c))) *
                                          static_cast<double>(ceil_divide(d.batch, c[BLOCK_Y])) >=
                                      multiprocessors;
       }},
      {"Few outputs per thread are for few taps or small problems, many for more taps.",
       [=](const Config& c) {
         const std::int64_t row = c[OUT_X] * element_bytes;
         return is_few ? row <= 48 : row >= 16 || !is_large;
       }},
      {"A block has several signals where they are shorter than its row, which is then as short as it can "
       "be.",
       [=](const Config& c) {
         if (d.output_length > 128 || d.batch <= 1) return c[BLOCK_Y] == 1;
         return c[BLOCK_X] == 32 && c[BLOCK_Y] > 1 && (tile(c) <= 64 || tile(c) < 2 * d.output_length);
       }},
      {"The taps are shared out where outputs are few and there are 16 taps or more for each group.",
       [=](const Config& c) {
         return c[SPLIT] == 1 || (!is_large && c[SPLIT] * 16 <= d.taps && c[BLOCK_X] <= 64);
       }},
      {"Chunks of 16 are for more than 8 taps, and are unrolled only where there "
       "are twice as many taps.",
       [=](const Config& c) {
         return (c[CHUNK] < 16 || d.taps > 8) && (c[UNROLL] == 1 || 2 * c[UNROLL] * c[CHUNK] <= d.taps);
       }},
      trigger_rule(),
  };
  return Space(std::move(axes), std::move(must), std::move(worth));
}

Work sliding_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  if (d.batch == 0) return Work{};
  Launch launch{.kernel = "conv1d_sliding",
                .grid = {ceil_divide(d.output_length, tile(config)),
                         std::min(ceil_divide(d.batch, config[BLOCK_Y]), grid_limit)},
                .block = {config[BLOCK_X], config[BLOCK_Y], config[SPLIT]},
                .dynamic_shared_bytes = shared_bytes(problem, config),
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, int32(d.batch),
                              d.length, d.taps, d.output_length, d.left, std::int32_t{d.turned},
                              static_cast<std::int32_t>(d.boundary), int32(part_of(problem))},
                .overlaps_previous = config[START] == "overlapped"};
  add_value(launch, problem, sum_dtype(problem));
  return Work{.steps = {std::move(launch)}};
}

// Chooses among few configs, each for many problems, so that the library has their binaries.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const bool is_double = sum_dtype(problem) == DType::f64;
  const std::string short_row = is_double ? " OUT_X=2" : " OUT_X=4";
  const std::string long_row = is_double ? " OUT_X=6" : " OUT_X=12";
  const double outputs = static_cast<double>(d.batch) * static_cast<double>(d.output_length);
  std::string axes = "VECTOR=4 CHUNK=8";
  if (d.output_length <= 128 && d.batch > 1) {
    axes +=
        " SAMPLES_IN=shared UNROLL=1 STORE_VECTOR=4 OUT_X=2 ITEMS=1 BLOCK_X=32 BLOCK_Y=4 SPLIT=1 "
        "RESIDENT_WARPS=24";
  } else if (d.taps <= 8) {
    axes +=
        " SAMPLES_IN=global UNROLL=1 STORE_VECTOR=4 ITEMS=2 BLOCK_X=128 BLOCK_Y=1 SPLIT=1 "
        "RESIDENT_WARPS=24" +
        short_row;
  } else if (outputs < multiprocessors_to_fill(device) * 512.0) {
    axes += std::string(
                " SAMPLES_IN=shared UNROLL=2 STORE_VECTOR=1 ITEMS=1 BLOCK_X=32 BLOCK_Y=1 "
                "RESIDENT_WARPS=16") +
            (d.taps < 64 ? " SPLIT=2" : " SPLIT=8") + short_row;
  } else {
    axes +=
        " SAMPLES_IN=shared UNROLL=2 STORE_VECTOR=1 ITEMS=1 BLOCK_X=64 BLOCK_Y=1 SPLIT=1 "
        "RESIDENT_WARPS=16" +
        long_row;
  }
  return Values::parse(axes);
}

}  // namespace

Template sliding() {
  return {
      .name = "sliding",
      .what =
          "Rows of outputs per thread in registers over windows that slide over the taps; one binary serves "
          "every number of taps, function, boundary and alignment.",
      .kernels = {"conv1d_sliding"},
      .compiled_in = {"dtype"},
      .untuned = untuned,
      .space = sliding_space,
      .work = sliding_work};
}

}  // namespace tunesmith::conv1d_op
