// SPDX-License-Identifier: Apache-2.0
// rows/cluster: a row in the registers of a cluster of blocks.

#include <algorithm>

#include "templates/rows/op.h"

namespace tunesmith::rows_op {
namespace {

constexpr IntegerAxis CLUSTER("CLUSTER");
constexpr std::int64_t most_blocks = 16;

std::string refuses(const Problem& problem) {
  if (std::string empty = refuses_empty(problem); !empty.empty()) return empty;
  if (std::string many = refuses_grid(problem, most_blocks, "sweeps"); !many.empty()) return many;
  if (least_items(problem, most_blocks * 1024, usual_vector(problem)) <= most_items) return "";
  return "A row of columns=" + std::to_string(shape_of(problem).columns) +
         " has more elements than a cluster of 16 blocks holds in registers; take sweeps.";
}

Space cluster_space(const Problem& problem) {
  const std::vector<Axis> axes = {
      block_axis({512, 128, 256, 384, 640, 768, 1024}),
      {CLUSTER, {8, 2, 4, 16}, "blocks per row; not every device has room for 16"},
      {ITEMS, {1, 2, 3, 4, 5, 6, 7, 8}, "vectors of a thread; what the row needs"},
      vector_axis(problem),
      load_axis(),
      resident_axis(),
      store_axis(),
      start_axis(),
      trigger_axis()};
  return Space(axes,
               {resident_warps_rule(axes, [](const Config& c) { return c[BLOCK]; }),
                vector_rule(problem),
                {"ITEMS vectors for each thread of a cluster are a row, and no fewer are.",
                 [problem](const Config& c) {
                   return c[ITEMS] == least_items(problem, c[BLOCK] * c[CLUSTER], c[VECTOR]);
                 }},
                {"A thread's elements fit its registers.",
                 [problem](const Config& c) { return held_bytes(problem, c[ITEMS] * c[VECTOR]) <= 256; }}},
               {{"A thread holds 32 to 160 bytes.",
                 [problem](const Config& c) {
                   const std::int64_t held = held_bytes(problem, c[ITEMS] * c[VECTOR]);
                   return held >= 32 && held <= 160;
                 }},
                start_rule(problem),
                trigger_rule()});
}

Work cluster_work(const Problem& problem, const Config& config) {
  return {.steps = {Launch{.kernel = "rows_cluster",
                           .grid = {shape_of(problem).rows * config[CLUSTER]},
                           .block = {config[BLOCK]},
                           .arguments = kernel_arguments(problem),
                           .overlaps_previous = config[START] == "overlapped"}}};
}

// Tries small blocks first: they wait for less.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  if (suited(problem, device) != Suited::cluster) return std::nullopt;
  const std::int64_t vector = usual_vector(problem);
  for (const std::int64_t blocks : {std::int64_t{8}, most_blocks})
    for (const std::int64_t block : {128, 256, 384, 512, 640, 768, 1024}) {
      if (!holds_row(problem, blocks * block, vector, 128)) continue;
      return Values{{std::string(BLOCK.name), block},
                    {std::string(CLUSTER.name), blocks},
                    {std::string(ITEMS.name), least_items(problem, blocks * block, vector)},
                    {std::string(VECTOR.name), vector},
                    {std::string(RESIDENT_WARPS.name), usual_resident_warps(problem, vector, block)},
                    {std::string(STORE.name), usual_store(problem)},
                    {std::string(START.name), usual_start(problem)}};
    }
  return std::nullopt;
}

}  // namespace

Template cluster() {
  return {.name = "cluster",
          .what = "A row in the registers of a cluster of 2 to 16 blocks: long rows are read once.",
          .kernels = {"rows_cluster"},
          .compiled_in = {"expression", "dtype"},
          .constants = constants,
          .preamble = code,
          .minimum_compute_capability = 90,
          .refuses = refuses,
          .untuned = untuned,
          .space = cluster_space,
          .work = cluster_work,
          .alignment_bytes = alignment_bytes};
}

}  // namespace tunesmith::rows_op
