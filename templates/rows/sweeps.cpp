// rows/sweeps: a block per row, which reads it several times.

#include <algorithm>

#include "templates/rows/op.h"

namespace tunesmith::rows_op {
namespace {

std::string refuses(const Problem& problem) {
  if (std::string empty = refuses_empty(problem); !empty.empty()) return empty;
  if (shape_of(problem).rows < std::int64_t{1} << 31) return "";
  return "A grid of 2^31 blocks or more for rows=" + std::to_string(shape_of(problem).rows) +
         " is more than a GPU takes; take registers or the base template.";
}

Space sweeps_space(const Problem& problem) {
  const std::vector<Axis> axes = {{BLOCK, {512, 256, 1024}, "threads per block"},
                                  {ITEMS, {2, 1, 4, 8}, "vectors of a thread that are loaded at once"},
                                  vector_axis(problem),
                                  load_axis(),
                                  resident_axis(),
                                  store_axis()};
  const std::int64_t columns = shape_of(problem).columns;
  return Space(axes,
               {resident_warps_rule(axes, [](const Config& c) { return c[BLOCK]; }),
                vector_rule(problem),
                {"A thread's elements fit its registers.",
                 [problem](const Config& c) { return held_bytes(problem, c[ITEMS] * c[VECTOR]) <= 256; }}},
               {{"A thread loads 16 to 128 bytes at once, and no more than its part of the row.",
                 [problem, columns](const Config& c) {
                   const std::int64_t held = held_bytes(problem, c[ITEMS] * c[VECTOR]);
                   return held >= 16 && held <= 128 && c[BLOCK] * c[ITEMS] * c[VECTOR] < 2 * columns + 512;
                 }}});
}

Work sweeps_work(const Problem& problem, const Config& config) {
  return {.steps = {Launch{.kernel = "rows_sweeps",
                           .grid = {shape_of(problem).rows},
                           .block = {config[BLOCK]},
                           .arguments = kernel_arguments(problem)}}};
}

// For rows that neither a block nor a cluster holds.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const std::int64_t vector = usual_vector(problem), items = least_items(problem, 1024, vector);
  if (suits_cluster(problem, device) || (items <= 8 && held_bytes(problem, items * vector) <= 128))
    return std::nullopt;
  return Values{{std::string(BLOCK.name), std::int64_t{shape_of(problem).rows < 264 ? 1024 : 512}},
                {std::string(VECTOR.name), vector},
                {std::string(STORE.name), usual_store(problem)}};
}

}  // namespace

Template sweeps() {
  return {
      .name = "sweeps",
      .what = "A block per row, which reads it once for each pass of reductions and once for the results.",
      .kernels = {"rows_sweeps"},
      .compiled_in = {"expression", "dtype"},
      .constants = constants,
      .preamble = code,
      .refuses = refuses,
      .untuned = untuned,
      .space = sweeps_space,
      .work = sweeps_work,
      .alignment_bytes = alignment_bytes};
}

}  // namespace tunesmith::rows_op
