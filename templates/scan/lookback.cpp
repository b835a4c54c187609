// scan/lookback: several blocks per line, along contiguous elements.

#include "templates/scan/op.h"

namespace tunesmith::scan_op {
namespace {

constexpr std::int64_t fan = 32;  // as in lookback.cu

std::string refuses(const Problem& problem) {
  const Dims d(problem);
  std::string empty = refuses_empty(d);
  if (!empty.empty()) return empty;
  // With the smallest tile, 128 elements, tiles are counted in 31 bits.
  if (d.outer * ceil_divide(d.length, 128) >= std::int64_t{1} << 31)
    return "An outer of " + std::to_string(d.outer) + " with a length of " + std::to_string(d.length) +
           " is more than the tiles that this template numbers; take rows.";
  if (d.outer > 16 && d.length < 512)
    return "An outer of " + std::to_string(d.outer) + " with a length of " + std::to_string(d.length) +
           " are many lines, of which each has hardly a tile; take rows.";
  return refuses_apart(d);
}

std::int64_t tiles_of(const Dims& d, const Config& c) {
  return ceil_divide(d.length, c[BLOCK] * c[ITEMS] * c[VECTOR]);
}

Space lookback_space(const Problem& problem) {
  const Dims d(problem);
  const auto elements = [](const Config& c) { return c[ITEMS] * c[VECTOR]; };
  const std::vector<Axis> axes = {{BLOCK, {512, 128, 256, 1024}, "threads per block"},
                                  {ITEMS, {4, 1, 2, 8, 12, 16}, "loads of a thread"},
                                  vector_axis(problem, 16),
                                  load_axis(),
                                  resident_warps_axis({32, 16, 48, 64}),
                                  store_axis()};
  return Space(axes,
               {resident_warps_rule(axes, [](const Config& c) { return c[BLOCK]; }), vector_rule(d),
                store_rule(problem)},
               {register_rule(problem, elements),
                {"A tile has at least 1024 elements, so that blocks seldom wait.",
                 [elements](const Config& c) { return c[BLOCK] * elements(c) >= 1024; }}});
}

Work lookback_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t tiles = tiles_of(d, config);
  const ChainSpace space(problem, d.outer, tiles, 1, fan);
  return {.steps = {Launch{.kernel = "scan_lookback",
                           .grid = {d.outer * tiles},
                           .block = {config[BLOCK]},
                           .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, WorkspacePointer{0},
                                         WorkspacePointer{space.messages_at}, int32(d.outer), int32(tiles),
                                         d.length, d.outer_stride}}},
          .workspace_bytes = space.bytes,
          .zeroed_bytes = space.bytes};
}

// Where rows would leave multiprocessors idle: tiles so large that each has a multiprocessor of its own, or
// as large as registers hold.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const std::int64_t multiprocessors = multiprocessors_to_fill(device);
  if (d.length < 8192 || d.outer >= 4 * multiprocessors || suits_summing(problem, device))
    return std::nullopt;
  const std::int64_t vector = usual_vector(problem);
  const std::int64_t most = std::min<std::int64_t>(16, 64 / vector);
  std::int64_t block = 512, items = most;
  for (const std::int64_t number : {4, 8, 12, 16}) {
    for (std::int64_t threads = bytes(dtype_of(problem)) == 2 ? 256 : 128; threads <= 512; threads *= 2) {
      const std::int64_t tile = threads * number * vector;
      const bool takes_turns =
          d.outer * ceil_divide(d.length, tile) > multiprocessors && d.length >= 16 * tile;
      if (number < 16 / vector || number > most || takes_turns || tile >= block * items * vector) continue;
      block = threads;
      items = number;
    }
  }
  return Values{{std::string(BLOCK.name), block},
                {std::string(ITEMS.name), items},
                {std::string(VECTOR.name), vector},
                {std::string(LOAD.name), usual_load(problem, device)},
                {std::string(RESIDENT_WARPS.name), std::int64_t{16}},
                {std::string(STORE.name), usual_store(problem, vector)}};
}

}  // namespace

Template lookback() {
  return {.name = "lookback",
          .what = "Several blocks per line, along contiguous elements, in one pass: few, long lines.",
          .kernels = {"scan_lookback"},
          .compiled_in = all_but_sizes(),
          .refuses = refuses,
          .untuned = untuned,
          .space = lookback_space,
          .work = lookback_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::scan_op
