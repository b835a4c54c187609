// SPDX-License-Identifier: Apache-2.0
// The template `base` (base.cu), which serves every problem: threads walk the output in strides of the grid,
// one element at a time.

#include "templates/elementwise/op.h"

namespace tunesmith::elementwise_op {
namespace {

Space space(const Problem& /*problem*/) {
  return Space({block_axis(), {BLOCKS, {4096, 1024, 65536}, "blocks of the grid, at most"}});
}

Work work(const Problem& problem, const Config& config) {
  const Layout& layout = layout_of(problem);
  if (layout.elements == 0) return {};
  std::vector<KernelArgument> arguments = pointers();
  arguments.emplace_back(layout.elements);
  arguments.emplace_back(static_cast<std::int32_t>(layout.extents.size()));
  for (std::size_t dim = 0; dim < most_dimensions; ++dim)
    arguments.emplace_back(dim < layout.extents.size() ? layout.extents[dim] : std::int64_t{1});
  add_strides(arguments, layout);
  return {.steps = {Launch{.kernel = "elementwise_base",
                           .grid = {std::min(ceil_divide(layout.elements, config[BLOCK]), config[BLOCKS])},
                           .block = {config[BLOCK]},
                           .arguments = std::move(arguments)}}};
}

}  // namespace

Template base() {
  return {
      .name = "base",
      .what = "Threads walk the output in strides of the grid, one element at a time; serves every problem.",
      .kernels = {"elementwise_base"},
      .compiled_in = {"function", "dtype"},
      .space = space,
      .work = work};
}

}  // namespace tunesmith::elementwise_op
