// SPDX-License-Identifier: Apache-2.0
// scan/columns: threads side by side along inner, and blocks that share the length.

#include "templates/scan/op.h"

namespace tunesmith::scan_op {
namespace {

// The lines of tiles that lie beside each other across the columns of an outer position.
std::int64_t across(const Dims& d, const Config& config) {
  return ceil_divide(d.inner, config[BLOCK_X] * config[VECTOR]);
}
std::int64_t rows_of(const Config& c) { return c[BLOCK_Y] * c[ITEMS]; }

std::string refuses(const Problem& problem) {
  const Dims d(problem);
  if (d.inner == 1 && d.stride == 1) {
    return "Contiguous elements, an inner and a stride of 1, are for the templates lookback and rows; this "
           "one has a thread per column.";
  }
  std::string empty = refuses_empty(d);
  if (!empty.empty()) return empty;
  // The smallest tile is 16 rows of 4 columns.
  if (d.outer * ceil_divide(d.inner, 4) * ceil_divide(d.length, 16) >= std::int64_t{1} << 31)
    return "An array of " + std::to_string(d.outer) + " x " + std::to_string(d.length) + " x " +
           std::to_string(d.inner) + " has more than the tiles that this template numbers; take base.";
  return "";
}

Space columns_space(const Problem& problem) {
  const Dims d(problem);
  const auto threads = [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y]; };
  const std::vector<Axis> axes = {
      {BLOCK_X, {32, 16, 64, 128, 8, 4, 2, 1}, "threads of a block along the columns"},
      {BLOCK_Y, {8, 16, 32, 64, 4, 2, 1, 128, 256}, "threads of a block along the length"},
      vector_axis(problem, std::min<std::int64_t>(16, 4 * bytes(dtype_of(problem)))),
      {ITEMS, {8, 4, 16, 32}, "neighbouring rows per thread"},
      {FAN, {16, 8, 32}, "tiles whose totals are posted one by one"},
      load_axis(),
      resident_warps_axis({32, 16, 48, 64}),
      store_axis()};
  return Space(
      axes,
      {resident_warps_rule(axes, threads),
       {"A block has 32 to 1024 threads.",
        [threads](const Config& c) { return threads(c) >= 32 && threads(c) <= 1024; }},
       {"A tile has at least 16 rows of 4 columns, or all.",
        [d](const Config& c) {
          return rows_of(c) >= std::min<std::int64_t>(16, d.length) &&
                 c[BLOCK_X] * c[VECTOR] >= std::min<std::int64_t>(4, d.inner);
        }},
       {"VECTOR must divide inner.", [inner = d.inner](const Config& c) { return inner % c[VECTOR] == 0; }},
       vector_rule(d, true),
       store_rule(problem)},
      {register_rule(problem, [](const Config& c) { return c[ITEMS] * c[VECTOR]; }),
       {"A block has 128 to 1024 threads, or those that a line needs.",
        [threads, d](const Config& c) {
          return threads(c) >= 128 || (d.inner == 1 && c[BLOCK_X] == 1 && rows_of(c) >= d.length);
        }},
       {"Blocks that are not deep are for a length of one tile.",
        [d](const Config& c) { return c[BLOCK_Y] >= 4 || rows_of(c) >= d.length; }},
       {"Blocks that are deep are for single columns.",
        [d](const Config& c) { return c[BLOCK_Y] <= 64 || d.inner == 1; }},
       {"A tile is not twice as wide as the columns.",
        [inner = d.inner](const Config& c) { return c[BLOCK_X] * c[VECTOR] < 2 * inner; }},
       {"A row of a tile is 64 bytes or all columns.",
        [d, size = bytes(dtype_of(problem))](const Config& c) {
          return c[BLOCK_X] * c[VECTOR] >= d.inner || c[BLOCK_X] * c[VECTOR] * size >= 64;
        }},
       {"A length that few tiles have needs no smaller or larger groups than of 16.",
        [length = d.length](const Config& c) { return c[FAN] == 16 || length > 8 * rows_of(c); }}});
}

Work columns_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t tiles = ceil_divide(d.length, rows_of(config));
  const std::int64_t lines = d.outer * across(d, config);
  const ChainSpace space(problem, lines, tiles, config[BLOCK_X] * config[VECTOR], config[FAN]);
  return {.steps = {Launch{
              .kernel = "scan_columns",
              .grid = {lines * tiles},
              .block = {config[BLOCK_X], config[BLOCK_Y]},
              .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, WorkspacePointer{0},
                            WorkspacePointer{space.messages_at}, int32(lines), int32(across(d, config)),
                            int32(tiles), d.length, d.inner, d.outer_stride, d.stride}}},
          .workspace_bytes = space.bytes,
          .zeroed_bytes = space.bytes};
}

// Takes a short length in one tile: by one thread if there are enough columns, else by blocks so narrow that
// there are enough of them. With a long length a thread has 64 bytes.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  if (d.stride == d.inner && suits_narrow(problem)) return std::nullopt;
  const std::int64_t multiprocessors = multiprocessors_to_fill(device);
  std::int64_t vector = 1, width = 32, depth = d.length <= 16 ? 4 : 8, items = 4;
  const auto blocks = [&] { return d.outer * ceil_divide(d.inner, width * vector); };
  if (d.length <= 32) {
    const bool are_many = d.lines() >= 32768;
    // Where many threads of a block would have no column, the base is better, which has a thread for each: 28
    // us instead of 44 for 44100 x 8 x 36 floats.
    if (are_many && (d.inner < 32 || (d.length <= 16 && 3 * round_up(d.inner, 32) > 4 * d.inner)))
      return std::nullopt;
    if (are_many || (d.length <= 16 && d.inner >= 32)) {
      while (items < d.length) items *= 2;
      // Takes wide blocks of which few threads have no column; with few columns, as wide as leave enough
      // blocks.
      const auto has_few_idle = [&](std::int64_t wide) {
        return 16 * round_up(d.inner, wide) <= 17 * round_up(d.inner, 32);
      };
      while (width < 128 && (are_many ? has_few_idle(2 * width) : width * 32 <= d.inner)) width *= 2;
      depth = 1;
    }
  } else if (d.inner == 1) {
    // The base has as many threads for each of a few lines, and shares long ones.
    if (d.length >= 8192 || d.lines() < 64) return std::nullopt;
    width = 1;
    depth = 64;
    const auto is_part = [&] { return depth * items < d.length; };
    while (items < 16 && is_part()) items *= 2;
    while (depth < 256 && is_part()) depth *= 2;
    while (items < 32 && is_part()) items *= 2;
  } else {
    const bool is_short = d.length <= 512;
    if (d.inner >= 16 && (!is_short || blocks() >= multiprocessors))
      vector = std::min<std::int64_t>(usual_vector(problem), 4);
    items = vector > 1 ? 8 : 16;
    const std::int64_t most = vector > 1 ? 8 : is_short ? 16 : 64;
    width = 4;
    while (width < most && width * vector < d.inner) width *= 2;
    while (is_short && width > 4 && blocks() < 32) width /= 2;
    if (!is_short && blocks() * ceil_divide(d.length, 256 / width * items) < multiprocessors) {
      width = 4;
      items = 8;
    }
    depth = is_short ? 64 / width : 256 / width;
    while (is_short && depth * items < d.length) depth *= 2;
  }
  return Values{{std::string(BLOCK_X.name), width},
                {std::string(BLOCK_Y.name), depth},
                {std::string(VECTOR.name), vector},
                {std::string(ITEMS.name), items},
                {std::string(FAN.name), std::int64_t{8}},
                {std::string(RESIDENT_WARPS.name), std::int64_t{depth == 1 && d.lines() < 32768 ? 16 : 32}},
                {std::string(STORE.name), usual_store(problem, vector)}};
}

}  // namespace

Template columns() {
  return {
      .name = "columns",
      .what = "Threads side by side along inner, blocks that share the length: an outer axis, or strides.",
      .kernels = {"scan_columns"},
      .compiled_in = all_but_sizes(),
      .refuses = refuses,
      .untuned = untuned,
      .space = columns_space,
      .work = columns_work,
      .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::scan_op
