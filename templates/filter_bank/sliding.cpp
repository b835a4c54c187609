// SPDX-License-Identifier: Apache-2.0
// filter_bank/sliding: a block marches down a strip. It sums along columns in registers, and along rows by
// way of shared memory.

#include <algorithm>
#include <utility>

#include "templates/blocks.h"
#include "templates/filter_bank/op.h"
#include "templates/image/rules.h"
#include "templates/shared_layout.h"

namespace tunesmith::filter_bank_op {
namespace {

#include "templates/filter_bank/sliding_layout.inl"

constexpr IntegerAxis BUFFERS("BUFFERS");
constexpr IntegerAxis COLUMNS("COLUMNS");
constexpr IntegerAxis OUTPUTS("OUTPUTS");

constexpr std::int64_t kib = 1024;
constexpr std::int64_t most_shared = 200 * kib;               // bytes of a block
constexpr std::int64_t longest_side = std::int64_t{1} << 30;  // columns and rows are int in the kernel
constexpr std::int64_t longest_reach = 384;                   // elements of a window beyond its first
constexpr std::int64_t most_registers = 208, most_multiply_adds = 6000;

std::int64_t lanes_of(const Problem& problem) { return 16 / sum_bytes(problem); }

SlidingLayout layout_of(const Problem& problem, const Config& c) {
  const Dims d(problem);
  return sliding_layout({.block = c[BLOCK],
                         .columns = c[COLUMNS],
                         .rows = c[ROWS],
                         .outputs = c[OUTPUTS],
                         .buffers = c[BUFFERS],
                         .vector = std::min(c[VECTOR], row_vector(d.row_length())),
                         .lanes = lanes_of(problem),
                         .filters = d.filters,
                         .taps_y = d.taps_y,
                         .taps_x = d.taps_x,
                         .channels = d.channels,
                         .phase = d.before_x * d.channels % 4});
}
std::int64_t units_of(const Problem& problem, const Config& c) { return layout_of(problem, c).units; }
std::int64_t rows_at_once(const Problem& problem, const Config& c) {
  return layout_of(problem, c).rows_at_once;
}
std::int64_t shared_bytes(const Problem& problem, const Config& c) {
  return layout_of(problem, c).elements * sum_bytes(problem);
}

// The tiles of an image, with as many rows per block as give about BLOCKS blocks.
struct Cut {
  std::int64_t tiles_x, runs, run;
};
Cut cut_of(const Problem& problem, const Config& c) {
  const Dims d(problem);
  const std::int64_t tile = std::max<std::int64_t>(1, units_of(problem, c)) * c[OUTPUTS];
  const std::int64_t tiles_x = std::max<std::int64_t>(1, ceil_divide(d.row_length(), tile));
  const std::int64_t wanted =
      std::max<std::int64_t>(1, c[BLOCKS] / (tiles_x * std::max<std::int64_t>(1, d.batch)));
  const std::int64_t run = std::max(c[ROWS], round_up(ceil_divide(d.height, wanted), c[ROWS]));
  return {tiles_x, ceil_divide(d.height, run), run};
}

// The number of multiply-adds in the code: for ROWS rows of sums along the columns, and for a few units of
// outputs.
std::int64_t multiply_adds(const Dims& d, std::int64_t rows, std::int64_t columns, std::int64_t outputs) {
  return d.filters * (rows * d.taps_y * columns + d.taps_x * std::max(outputs, 24 / d.filters));
}
// Registers of a thread: the rows that it keeps, the sums that are made together, and 64 others.
std::int64_t registers(const Problem& problem, std::int64_t rows, std::int64_t columns) {
  return sum_bytes(problem) / 4 * (Dims(problem).taps_y - 1 + rows) * columns + 64;
}

std::string refuses(const Problem& problem) {
  const Dims d(problem);
  if (std::string no = refuses_empty(d.empty()); !no.empty()) return no;
  if (registers(problem, 4, 1) > most_registers ||
      multiply_adds(d, 4, 1, lanes_of(problem)) > most_multiply_adds ||
      (d.taps_x - 1) * d.channels > longest_reach) {
    return "For " + std::to_string(d.filters) + " column masks of " + std::to_string(d.taps_y) +
           " weights a thread has no registers, or the code is too long, or the row masks of " +
           std::to_string(d.taps_x) + " reach over more than " + std::to_string(longest_reach) +
           " elements; take the base template.";
  }
  if (std::max(d.height, d.row_length()) >= longest_side || d.channels >= longest_side / 8 ||
      d.batch >= longest_side ||
      d.batch * ceil_divide(d.row_length(), 16) * ceil_divide(d.height, 4) >= std::int64_t{1} << 31) {
    return "The image has more rows, columns or tiles than this template counts in 32 bits; take the base "
           "template.";
  }
  return "";
}

Space space(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const std::int64_t lanes = lanes_of(problem);
  std::vector<Axis> axes = {
      {BLOCK, {128, 256, 64, 512}, "threads, each with COLUMNS of a strip"},
      {COLUMNS, {1, 2, 4}, "neighbours that a thread sums along the column masks"},
      {ROWS, {16, 8, 12, 4}, "rows that go to shared memory together, and are read ahead"},
      {OUTPUTS, {lanes, 3 * lanes}, "neighbours that a thread sums along the row masks"},
      {BUFFERS, {2, 1}, "groups of rows in shared memory"},
      {VECTOR, {4, 1}, "elements of an access to the image and the output, where rows allow it"},
      {BLOCKS, blocks_to_fill(device, {8, 4, 2, 3, 1, 6, 12}), "blocks that images are cut into, about"},
      store_axis(),
      resident_warps_axis({16, 24, 12, 8, 20, 32}),
  };
  std::vector<Rule> must = {
      resident_warps_rule(axes, [](const Config& c) { return c[BLOCK]; }),
      {"A strip must be wider than the row masks' overhang.",
       [problem](const Config& c) { return units_of(problem, c) > 0; }},
      {"Rows in shared memory are at most 200 KiB.",
       [problem](const Config& c) { return shared_bytes(problem, c) <= most_shared; }},
      {"The code has at most 6000 multiply-adds; with more the compiler takes too long.",
       [d](const Config& c) {
         return multiply_adds(d, c[ROWS], c[COLUMNS], c[OUTPUTS]) <= most_multiply_adds;
       }},
      {"A row has no more units than the block has threads.",
       [problem](const Config& c) { return units_of(problem, c) <= c[BLOCK]; }},
      {"A thread's rows must fit in 208 registers.",
       [problem](const Config& c) { return registers(problem, c[ROWS], c[COLUMNS]) <= most_registers; }},
      conditional(
          VECTOR, 1, [d](const Config&) { return row_vector(d.row_length()) > 1; },
          "Rows of an odd number of elements have no vectors."),
  };
  std::vector<Rule> worth = {
      {"The rows of a thread fit in the registers that the resident warps leave it.",
       [problem](const Config& c) {
         return c[RESIDENT_WARPS] * registers(problem, c[ROWS], c[COLUMNS]) <= 2048;
       }},
      {"Half of a strip is outputs at least.",
       [problem](const Config& c) { return 2 * units_of(problem, c) * c[OUTPUTS] >= c[BLOCK] * c[COLUMNS]; }},
      {"A strip is at most twice as wide as the image.",
       [d](const Config& c) { return c[BLOCK] == 64 || c[BLOCK] * c[COLUMNS] <= 2 * d.row_length(); }},
      {"Three quarters of the threads have a unit of outputs.",
       [problem](const Config& c) {
         return 4 * rows_at_once(problem, c) * units_of(problem, c) >= 3 * c[BLOCK];
       }},
      {"Many outputs of a thread are for long masks, which read many samples.",
       [d, lanes](const Config& c) { return c[OUTPUTS] == lanes || d.taps_x > 7; }},
      own_blocks_rule(BLOCKS, device),
      {"Runs are at least as long as the masks, or there are two blocks per multiprocessor at most.",
       [problem, d, multiprocessors = multiprocessors_to_fill(device)](const Config& c) {
         return c[BLOCKS] / 2 <= multiprocessors || cut_of(problem, c).run >= 2 * d.taps_y;
       }},
  };
  return Space(std::move(axes), std::move(must), std::move(worth));
}

Work work(const Problem& problem, const Config& c) {
  const Dims d(problem);
  const Cut cut = cut_of(problem, c);
  Launch launch{.kernel = "filter_bank_sliding",
                .grid = {cut.tiles_x * cut.runs * d.batch},
                .block = {c[BLOCK]},
                .dynamic_shared_bytes = shared_bytes(problem, c),
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, ArgumentPointer{3},
                              int32(d.height), int32(d.width), int32(d.before_y), int32(d.before_x),
                              int32(cut.tiles_x), int32(cut.runs), int32(cut.run), d.image_elements(),
                              d.batch * d.image_elements(), static_cast<std::int32_t>(d.boundary)}};
  add_value(launch, problem, sum_dtype(problem));
  return {.steps = {std::move(launch)}};
}

// A thread gets one column, and as many rows as registers and the number of blocks permit. It gets many
// outputs if the pixels under a row mask are far apart. Strips are chosen so that few of their threads are
// without outputs or outside the image, and blocks so that there are some times as many as a device runs at a
// time.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const std::int64_t lanes = lanes_of(problem), reach = (d.taps_x - 1) * d.channels;
  const std::int64_t multiprocessors = multiprocessors_to_fill(device);
  const bool is_far = d.channels > 1 && reach > 12;
  const std::int64_t outputs = is_far ? 3 * lanes : lanes;
  std::int64_t block = 0, tiles_x = 0;
  for (const std::int64_t one : {128, 256, 64, 512}) {
    const std::int64_t tile = std::max<std::int64_t>(0, one - reach) / outputs * outputs;
    if (tile == 0) continue;
    const std::int64_t tiles = ceil_divide(d.row_length(), tile);
    const std::int64_t percent = one == 512 ? 90 : 97;  // fewer blocks hide less latency
    if (block != 0 && 100 * tiles * one > percent * tiles_x * block) continue;
    block = one;
    tiles_x = tiles;
  }
  std::int64_t rows = is_far ? 12 : 16;
  const auto buffer = [&] { return d.filters * rows * block * sum_bytes(problem); };
  const auto suits = [&] {
    return buffer() <= 100 * kib && registers(problem, rows, 1) <= 128 &&
           multiply_adds(d, rows, 1, outputs) <= most_multiply_adds &&
           d.batch * tiles_x * ceil_divide(d.height, rows) * block >= 4 * 128 * multiprocessors;
  };
  while (!suits() && rows > 4) rows -= 4;
  const std::int64_t needed = registers(problem, rows, 1);
  const std::int64_t warps = needed <= 80 ? 24 : needed <= 92 ? 20 : needed <= 128 ? 16 : 12;
  const auto blocks = [&](std::int64_t of) { return std::max<std::int64_t>(1, of * 32 / block); };
  const std::int64_t buffers = 2 * buffer() * blocks(warps) <= 200 * kib ? 2 : 1;
  const std::int64_t resident =
      std::max<std::int64_t>(1, std::min(blocks(warps), 200 * kib / (buffers * buffer())));
  std::int64_t same_blocks = warps;  // the smallest for the same number of blocks (resident_warps_rule())
  for (const std::int64_t one : {32, 24, 20, 16, 12, 8}) {
    if (blocks(one) == blocks(warps)) same_blocks = one;
  }
  std::int64_t each = 1;
  for (const std::int64_t one : {2, 3, 4, 6, 8, 12}) each = one <= 3 * resident ? one : each;
  return Values{{"COLUMNS", std::int64_t{1}},   {"ROWS", rows},
                {"OUTPUTS", outputs},           {"BLOCK", block},
                {"BUFFERS", buffers},           {"BLOCKS", each * multiprocessors},
                {"RESIDENT_WARPS", same_blocks}};
}

}  // namespace

Template sliding() {
  return {
      .name = "sliding",
      .what =
          "A block marches down a strip: a window's rows in registers, their sums along rows by way of "
          "shared memory.",
      .kernels = {"filter_bank_sliding"},
      .compiled_in = {"filters", "taps_y", "taps_x", "channels", "results", "dtype"},
      .constants =
          [](const Problem& problem) {
            const Dims d(problem);
            return Values{{"PHASE", d.before_x * d.channels % 4}, {"ROW_VECTOR", row_vector(d.row_length())}};
          },
      .refuses = refuses,
      .untuned = untuned,
      .space = space,
      .work = work,
      .alignment_bytes =
          [](const Problem& problem, const Config& c) {
            const std::int64_t store =
                std::min({c[VECTOR], row_vector(Dims(problem).row_length()), lanes_of(problem)});
            return std::max(layout_of(problem, c).load * bytes(dtype_of(problem)),
                            store * sum_bytes(problem));
          }};
}

}  // namespace tunesmith::filter_bank_op
