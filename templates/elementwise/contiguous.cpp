// SPDX-License-Identifier: Apache-2.0
// The template `contiguous` (contiguous.cu), for inputs that are as dense as the output or have one element:
// threads move vectors and make all loads before the first use.

#include "templates/axes.h"
#include "templates/elementwise/op.h"

namespace tunesmith::elementwise_op {
namespace {

constexpr IntegerAxis TILES("TILES");

// SCALARS has a bit for each input of one element.
Values constants(const Problem& problem) {
  const Layout& layout = layout_of(problem);
  std::int64_t scalars = 0;
  for (std::size_t k = 0; k < layout.inputs.size(); ++k) {
    if (is_scalar(layout.inputs[k])) scalars |= std::int64_t{1} << k;
  }
  return {{"SCALARS", scalars}};
}

Space space(const Problem& problem) {
  const bool small = layout_of(problem).elements < index_limit;
  std::vector<Axis> axes = {
      index_axis(),         {TILES, {1, 4, 16}, "tiles that a block walks; 1: the grid is exact"},
      vector_axis(problem), items_axis(),
      block_axis(),         load_axis(),
      store_axis(),         start_axis(),
      trigger_axis(),       resident_threads_axis()};
  std::vector<Rule> must = thread_must(problem);
  must.push_back({"INDEX=32 reaches fewer than 2^31 elements.",
                  [=](const Config& c) { return small || c[INDEX] == 64; }});
  return Space(std::move(axes), std::move(must), thread_worth(problem));
}

Work work(const Problem& problem, const Config& config) {
  const Layout& layout = layout_of(problem);
  if (layout.elements == 0) return {};
  std::vector<KernelArgument> arguments = {ArgumentPointer{most_inputs}, layout.elements};
  for (int k = 0; k < most_inputs; ++k) arguments.emplace_back(ArgumentPointer{k});
  const std::int64_t tile = config[BLOCK] * config[ITEMS] * config[VECTOR];
  return {.steps = {Launch{.kernel = "elementwise_contiguous",
                           .grid = {ceil_divide(layout.elements, tile * config[TILES])},
                           .block = {config[BLOCK]},
                           .arguments = std::move(arguments),
                           .overlaps_previous = config[START] == "overlapped"}}};
}

}  // namespace

Template contiguous() {
  return {
      .name = "contiguous",
      .what =
          "For inputs as dense as the output or of one element: vectors, all loads before their first use.",
      .kernels = {"elementwise_contiguous"},
      .compiled_in = {"function", "dtype"},
      .constants = constants,
      .refuses = refuses_gaps,
      .untuned = by_default,
      .space = space,
      .work = work,
      .alignment_bytes = alignment_bytes};
}

}  // namespace tunesmith::elementwise_op
