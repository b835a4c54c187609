// SPDX-License-Identifier: Apache-2.0
// The template `broadcast_any` (broadcast_any.cu), for the problems that broadcast serves. The layout is in
// arguments, so that one binary of a function and dtype serves all of them.

#include <utility>

#include "templates/axes.h"
#include "templates/elementwise/op.h"

namespace tunesmith::elementwise_op {
namespace {

Space space(const Problem& problem) {
  std::vector<Axis> axes = {index_axis(), vector_axis(problem), items_axis(),
                            block_axis(), load_axis(),          store_axis(),
                            start_axis(), trigger_axis(),       resident_threads_axis()};
  std::vector<Rule> must = thread_must(problem);
  must.push_back(index_must(problem));
  std::vector<Rule> worth = thread_worth(problem);
  worth.push_back(index_worth(problem));
  return Space(std::move(axes), std::move(must), std::move(worth));
}

Work work(const Problem& problem, const Config& config) {
  const Layout& layout = layout_of(problem);
  if (layout.elements == 0) return {};
  std::int32_t dense = 0;  // a bit for each input that is as dense as the output
  for (std::size_t k = 0; k < layout.inputs.size(); ++k)
    if (layout.inputs[k].is_output_like) dense |= std::int32_t{1} << k;
  std::vector<KernelArgument> arguments = pointers();
  arguments.emplace_back(layout.elements);
  arguments.emplace_back(static_cast<std::int32_t>(layout.extents.size()));
  arguments.emplace_back(dense);
  add_shape(arguments, layout);
  const std::int64_t tile = config[BLOCK] * config[ITEMS] * config[VECTOR];
  return {.steps = {Launch{.kernel = "elementwise_broadcast_any",
                           .grid = {ceil_divide(layout.elements, tile)},
                           .block = {config[BLOCK]},
                           .arguments = std::move(arguments),
                           .overlaps_previous = config[START] == "overlapped"}}};
}

}  // namespace

Template broadcast_any() {
  return {
      .name = "broadcast_any",
      .what =
          "As broadcast, with the inputs' layout as arguments: one binary of a function and dtype for all.",
      .kernels = {"elementwise_broadcast_any"},
      .compiled_in = {"function", "dtype"},
      .refuses = refuses_dense,
      .untuned = by_default,
      .space = space,
      .work = work,
      .alignment_bytes = alignment_bytes};
}

}  // namespace tunesmith::elementwise_op
