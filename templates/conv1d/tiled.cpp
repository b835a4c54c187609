// SPDX-License-Identifier: Apache-2.0
// The template `tiled` (tiled.cu): its space and work.

#include <algorithm>

#include "templates/conv1d/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::conv1d_op {
namespace {

#include "templates/conv1d/tiled_layout.inl"

constexpr IntegerAxis STORE_VECTOR("STORE_VECTOR");
constexpr CategoricalAxis TAPS_IN("TAPS_IN");

// The number of a block's outputs of a signal.
std::int64_t tile(const Config& c) { return c[BLOCK_X] * c[OUT_X] * c[ITEMS]; }

// The number of samples from a multiple of 4 to the beginning of a tile's first window.
std::int64_t phase(const Dims& d) { return (4 - d.left % 4) % 4; }

TiledLayout layout_of(const Dims& d, std::int64_t element_bytes, const Config& c) {
  return tiled_layout({.tile = tile(c),
                       .out_x = c[OUT_X],
                       .block_y = c[BLOCK_Y],
                       .vector = c[VECTOR],
                       .store_vector = c[STORE_VECTOR],
                       .lanes = 16 / element_bytes,
                       .taps = d.taps,
                       .phase = phase(d),
                       .taps_staged = c[TAPS_IN] == "shared",
                       .staged = c[SMEM_LAYOUT] != "none",
                       .padded = c[SMEM_LAYOUT] == "padded"});
}

std::vector<Axis> axes_for(bool few, std::int64_t element_bytes) {
  const auto either = [few](std::vector<Value> for_few, std::vector<Value> otherwise) {
    return few ? std::move(for_few) : std::move(otherwise);
  };
  const std::vector<Value> out_x = element_bytes == 4 ? either({4, 8, 2, 1}, {16, 8, 12, 20, 28, 32, 4})
                                                      : either({2, 4, 8, 1}, {8, 4, 10, 14, 2, 6});
  return {
      {SMEM_LAYOUT, either(categories({"none", "flat", "padded"}), categories({"padded", "flat", "none"})),
       "the samples in shared memory: not there, as they come, spread over the banks"},
      {TAPS_IN,
       either(categories({"registers", "shared", "constant", "global"}),
              categories({"shared", "registers", "constant", "global"})),
       "where the taps are read from"},
      {COPY, categories({"async", "sync"}), "the way into shared memory: past the registers or through them"},
      {SEGMENT, either({16}, {16, 8, 32}), "taps whose window is in registers at a time"},
      {UNROLL, either({0}, {1, 2, 4, 0}), "segments that are unrolled; 0: all"},
      {VECTOR, {4, 2, 1}, "elements of a global load"},
      {STORE_VECTOR, {4, 2, 1}, "elements of a global store"},
      {OUT_X, out_x, "neighbouring outputs of a thread"},
      {ITEMS, either({2, 1, 4, 8}, {1, 2}), "such rows of outputs of a thread, a block apart"},
      {BLOCK_X, either({128, 256, 64, 32, 512}, {128, 64, 256, 32}), "threads of a block along a signal"},
      {BLOCK_Y, {1, 4}, "signals of a block"},
      store_axis(),
      start_axis(),
      trigger_axis(),
      resident_warps_axis(either({16, 32}, {16, 24})),
  };
}

// The rules depend on the lengths only by the vectors that divide them, so that a config that is legal for
// one length is legal for nearly all.
std::vector<Rule> must_rules(const std::vector<Axis>& axes, const Dims& d, std::int64_t element_bytes) {
  return {
      resident_warps_rule(axes, [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y]; }),
      {"A block has at most 1024 threads.", [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y] <= 1024; }},
      {"VECTOR divides OUT_X and, in a batch, the length, so that every vector of samples is aligned.",
       [=](const Config& c) { return c[OUT_X] % c[VECTOR] == 0 && rows_aligned(d, d.length, c[VECTOR]); }},
      {"STORE_VECTOR divides OUT_X and, in a batch, the output's length, and is at most VECTOR, for which "
       "the arrays are aligned.",
       [=](const Config& c) {
         const std::int64_t store = c[STORE_VECTOR];
         return store <= c[VECTOR] && c[OUT_X] % store == 0 && rows_aligned(d, d.output_length, store);
       }},
      {"An output shorter than VECTOR may begin anywhere, so STORE_VECTOR is 1 there.",
       [=](const Config& c) { return c[STORE_VECTOR] == 1 || d.batch * d.output_length >= c[VECTOR]; }},
      {"With samples spread over the banks OUT_X divides BLOCK_X, and the taps by which a loop steps.",
       [=](const Config& c) {
         if (c[SMEM_LAYOUT] != "padded") return true;
         const std::int64_t out_x = c[OUT_X];
         return c[BLOCK_X] % out_x == 0 &&
                (c[UNROLL] == 0 || d.taps <= c[SEGMENT] || c[UNROLL] * c[SEGMENT] % out_x == 0);
       }},
      {"Taps in registers or in constant memory have no index at run time: the code is unrolled completely.",
       [](const Config& c) {
         return (c[TAPS_IN] != "registers" && c[TAPS_IN] != "constant") || c[UNROLL] == 0;
       }},
      {"The 255 registers of a thread hold at most 1020 bytes of taps.",
       [=](const Config& c) { return c[TAPS_IN] != "registers" || d.taps * element_bytes <= 1020; }},
      {"Unrolled code has at most 6000 multiply-adds; with more the compiler takes too long.",
       [=](const Config& c) {
         const std::int64_t unroll = c[UNROLL];
         const std::int64_t taps = unroll == 0 ? d.taps : std::min(d.taps, unroll * c[SEGMENT]);
         return taps * c[OUT_X] <= 6000;
       }},
  };
}

// Problems with few taps are bound by memory, others by arithmetic; each kind has the choices that suit it.
std::vector<Rule> worth_rules(const Dims& d, std::int64_t element_bytes, bool few) {
  const std::int64_t lanes = 16 / element_bytes;
  return {
      {"Stores are as wide as loads; scalar where samples are copied asynchronously and the outputs can pass "
       "through shared memory too; or in a batch as wide as its rows of outputs allow.",
       [=](const Config& c) {
         const std::int64_t store = c[STORE_VECTOR];
         if (store == c[VECTOR]) return true;
         if (store == 1 && c[SMEM_LAYOUT] != "none") return c[COPY] == "async";
         return d.batch > 1 && (store == 1 || !rows_aligned(d, d.output_length, 2 * store));
       }},
      {"Samples are spread over the banks where threads would otherwise meet in one.",
       [=](const Config& c) { return c[SMEM_LAYOUT] != "padded" || rows_meet(c[OUT_X], lanes); }},
      {"Staged samples are copied asynchronously; few taps also try flat ones through registers. Without "
       "staging there is nothing to copy.",
       [=](const Config& c) {
         return (c[SMEM_LAYOUT] == "none") == (c[COPY] == "sync") || (few && c[SMEM_LAYOUT] == "flat");
       }},
      {"For few taps the copy into constant memory costs more than it saves.",
       [=](const Config& c) { return c[TAPS_IN] != "constant" || !few; }},
      {"A thread has at most 128 bytes of outputs, in one row if it has 12 or more there.",
       [=](const Config& c) {
         const std::int64_t out_x = c[OUT_X];
         return out_x * c[ITEMS] <= 128 / element_bytes && (out_x < 12 || c[ITEMS] == 1);
       }},
      {"Streaming stores are for few taps, and for outputs that go straight to global memory.",
       [=](const Config& c) {
         return c[STORE] == "plain" || (few && !layout_of(d, element_bytes, c).regrouped);
       }},
      {"The more outputs a thread has, the fewer resident warps leave it enough registers; with few outputs "
       "no bound is needed.",
       [=](const Config& c) {
         const std::int64_t sums = c[OUT_X] * c[ITEMS] * element_bytes / 4;
         const std::int64_t warps = c[RESIDENT_WARPS];
         if (few) return warps == (sums <= 16 ? 32 : 16);
         return warps * sums <= 512 || warps == 16;
       }},
      trigger_rule(),
  };
}

Space tiled_space(const Problem& problem) {
  const Dims d(problem);
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  const bool few = d.taps * element_bytes <= 64;
  std::vector<Axis> axes = axes_for(few, element_bytes);
  std::vector<Rule> must = must_rules(axes, d, element_bytes);
  return Space(std::move(axes), std::move(must), worth_rules(d, element_bytes, few));
}

Work tiled_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  Work work;
  if (d.batch == 0) return work;
  if (config[TAPS_IN] == "constant") {
    work.steps.push_back(ConstantCopy{.symbol = "taps_copy", .argument = 1, .bytes = d.taps * element_bytes});
  }
  work.steps.push_back(
      Launch{.kernel = "conv1d_tiled",
             .grid = {ceil_divide(d.output_length, tile(config)),
                      std::min(ceil_divide(d.batch, config[BLOCK_Y]), grid_limit)},
             .block = {config[BLOCK_X], config[BLOCK_Y]},
             .dynamic_shared_bytes = layout_of(d, element_bytes, config).elements * element_bytes,
             .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, int32(d.batch),
                           d.length, d.output_length, d.left},
             .overlaps_previous = config[START] == "overlapped"});
  return work;
}

}  // namespace

Template tiled() {
  return {.name = "tiled",
          .what =
              "A row of outputs per thread in registers, fed from global memory or from a tile in shared "
              "memory; the number of taps is compiled in.",
          .kernels = {"conv1d_tiled"},
          .compiled_in = {"dtype", "function", "taps"},
          .constants =
              [](const Problem& problem) {
                return Values{{"PHASE", phase(Dims(problem))}};
              },
          .refuses = too_many_taps,
          .space = tiled_space,
          .work = tiled_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::conv1d_op
