// SPDX-License-Identifier: Apache-2.0
// rank_filter/base: the plain kernels, which serve every problem.

#include <algorithm>
#include <utility>

#include "templates/rank_filter/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::rank_filter_op {
namespace {

#include "templates/rank_filter/base_layout.inl"

Space base_space(const Problem& /*problem*/) { return Space({{BLOCK, {256, 64}, "threads per block"}}); }

Launch launch_of(const char* kernel, std::int64_t threads, std::int64_t block) {
  return {.kernel = kernel,
          .grid = {std::min(ceil_divide(threads, block), std::int64_t{1} << 20)},
          .block = {block}};
}

Launch any_rank(const Problem& problem, std::int64_t block) {
  constexpr std::int64_t most_counted = 65535;  // the kernel rank_filter_base_bytes counts up to this many
  constexpr std::int64_t least_counted = 36;    // a histogram costs the same for fewer places
  Dims d(problem);
  if (d.image.y == 1 && d.window.y == 1) {  // a thread computes neighbouring outputs of the signal
    std::swap(d.image.y, d.image.x);
    std::swap(d.window.y, d.window.x);
    std::swap(d.before.y, d.before.x);
  }
  const std::int64_t rank = problem.integer("rank"), places = counted_places(problem);
  const bool by_histogram = dtype_of(problem) == DType::u8 && is_box(problem) && places <= most_counted &&
                            places >= least_counted && std::min(rank, places - 1 - rank) >= 5;
  const std::int64_t run = std::clamp<std::int64_t>(2 * d.window.y, 16, 128);
  Launch launch = by_histogram
                      ? launch_of("rank_filter_base_bytes",
                                  d.image.z * ceil_divide(d.image.y, run) * d.image.x, base_byte_threads)
                      : launch_of("rank_filter_base",
                                  d.image.z * ceil_divide(d.image.y, base_together) * d.image.x, block);
  launch.arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.image.z, d.image.y, d.image.x};
  for (const std::int64_t number : {d.window.z, d.window.y, d.window.x, d.before.z, d.before.y, d.before.x,
                                    rank, by_histogram ? run : places})
    launch.arguments.emplace_back(int32(number));
  add_outside(launch, problem);
  if (by_histogram) return launch;
  const std::string bits = footprint_bits(problem);
  launch.arguments.emplace_back(std::int32_t{!bits.empty()});
  for (std::int64_t word = 0; word < footprint_words; ++word) {
    std::uint64_t packed = 0;
    for (std::size_t n = 0; n < 64; ++n) {
      const std::size_t place = static_cast<std::size_t>(word) * 64 + n;
      if (place < bits.size() && bits[place] == 'x') packed |= std::uint64_t{1} << n;
    }
    launch.arguments.emplace_back(static_cast<std::int64_t>(packed));
  }
  return launch;
}

// The extremes of a box: one launch along each axis. Intermediate results are in the output or in the
// workspace.
Work extremes(const Problem& problem, std::int64_t block) {
  const Dims d(problem);
  struct AlongAxis {
    std::int64_t lines, length, beside, window, before;
  };
  std::vector<AlongAxis> axes = {
      {1, d.image.z, d.image.y * d.image.x, d.window.z, d.before.z},
      {d.image.z, d.image.y, d.image.x, d.window.y, d.before.y},
      {d.image.z * d.image.y, d.image.x, 1, d.window.x, d.before.x},
  };
  std::erase_if(axes, [](const AlongAxis& axis) { return axis.window == 1; });
  Work work;
  if (axes.size() > 1) work.workspace_bytes = d.image.product() * bytes(dtype_of(problem));
  for (std::size_t n = 0; n < axes.size(); ++n) {
    const AlongAxis& axis = axes[n];
    Launch launch = launch_of("rank_filter_base_extreme",
                              axis.lines * ceil_divide(axis.length, base_in_run) * axis.beside, block);
    const bool ends_in_output = (axes.size() - n) % 2 == 1;
    if (n == 0) {
      launch.arguments.emplace_back(ArgumentPointer{0});
    } else if (ends_in_output) {
      launch.arguments.emplace_back(WorkspacePointer{});
    } else {
      launch.arguments.emplace_back(ArgumentPointer{1});
    }
    if (ends_in_output) {
      launch.arguments.emplace_back(ArgumentPointer{1});
    } else {
      launch.arguments.emplace_back(WorkspacePointer{});
    }
    for (const std::int64_t extent : {axis.lines, axis.length, axis.beside})
      launch.arguments.emplace_back(extent);
    for (const std::int64_t number : {axis.window, axis.before, std::int64_t{is_greatest(problem)}})
      launch.arguments.emplace_back(int32(number));
    add_outside(launch, problem);
    work.steps.emplace_back(std::move(launch));
  }
  return work;
}

Work base_work(const Problem& problem, const Config& config) {
  if (Dims(problem).empty()) return {};
  if (is_box(problem) && (is_least(problem) || is_greatest(problem)) && counted_places(problem) > 1)
    return extremes(problem, config[BLOCK]);
  return {.steps = {any_rank(problem, config[BLOCK])}};
}

}  // namespace

Template base() {
  return {.name = "base",
          .what =
              "Several outputs per thread; extremes of boxes along an axis after the other. Serves every "
              "problem.",
          .kernels = {"rank_filter_base", "rank_filter_base_bytes", "rank_filter_base_extreme"},
          .space = base_space,
          .work = base_work};
}

}  // namespace tunesmith::rank_filter_op
