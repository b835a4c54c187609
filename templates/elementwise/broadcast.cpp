// SPDX-License-Identifier: Apache-2.0
// The template `broadcast` (broadcast.cu), for inputs that are repeated along dimensions or have gaps. It
// merges dimensions as far as possible.

#include <utility>

#include "templates/axes.h"
#include "templates/elementwise/op.h"

namespace tunesmith::elementwise_op {
namespace {

constexpr CategoricalAxis VECTOR_IN("VECTOR_IN");

// True if vectors of `vector` elements can be read by one access within the rows of every input.
bool rows_take(const Layout& layout, std::int64_t vector) {
  if (layout.extents.front() % vector != 0) return false;
  return std::all_of(layout.inputs.begin(), layout.inputs.end(), [=](const InputLayout& input) {
    return !input.used || input.strides.front() != 1 ||
           std::all_of(input.strides.begin() + 1, input.strides.end(),
                       [=](std::int64_t stride) { return stride % vector == 0; });
  });
}

// RANK is the number of merged dimensions. broadcast.cu explains INPUT_A and so on.
Values constants(const Problem& problem) {
  const Layout& layout = layout_of(problem);
  Values constants = {{"RANK", static_cast<std::int64_t>(layout.extents.size())}};
  for (std::size_t k = 0; k < layout.inputs.size(); ++k) {
    const InputLayout& input = layout.inputs[k];
    std::int64_t bits = 0;
    for (std::size_t dim = 0; dim < input.strides.size(); ++dim) {
      if (input.used && input.strides[dim] != 0) bits |= std::int64_t{1} << dim;
    }
    if (input.used && input.strides.front() == 1) bits |= 64;
    if (input.is_output_like) bits |= 128;
    constants.set(std::string("INPUT_") + static_cast<char>('A' + k), bits);
  }
  return constants;
}

Space space(const Problem& problem) {
  const Layout& layout = layout_of(problem);
  std::vector<Axis> axes = {
      index_axis(),
      {VECTOR_IN, categories({"row", "any"}), "whether a vector stays within a row of the output"},
      vector_axis(problem),
      items_axis(),
      block_axis(),
      load_axis(),
      store_axis(),
      start_axis(),
      trigger_axis(),
      resident_threads_axis()};
  std::vector<Rule> must = thread_must(problem);
  must.push_back(index_must(problem));
  must.push_back(conditional(
      VECTOR_IN, "row", [](const Config& c) { return c[VECTOR] > 1; },
      "A single element lies within a row: VECTOR_IN has no effect."));
  must.push_back({"VECTOR_IN=row needs rows and strides that VECTOR divides.",
                  [=](const Config& c) { return c[VECTOR_IN] == "any" || rows_take(layout, c[VECTOR]); }});
  std::vector<Rule> worth = thread_worth(problem);
  worth.push_back(index_worth(problem));
  return Space(std::move(axes), std::move(must), std::move(worth));
}

Work work(const Problem& problem, const Config& config) {
  const Layout& layout = layout_of(problem);
  if (layout.elements == 0) return {};
  std::vector<KernelArgument> arguments = pointers();
  arguments.emplace_back(layout.elements);
  add_shape(arguments, layout);
  const std::int64_t tile = config[BLOCK] * config[ITEMS] * config[VECTOR];
  return {.steps = {Launch{.kernel = "elementwise_broadcast",
                           .grid = {ceil_divide(layout.elements, tile)},
                           .block = {config[BLOCK]},
                           .arguments = std::move(arguments),
                           .overlaps_previous = config[START] == "overlapped"}}};
}

}  // namespace

Template broadcast() {
  return {
      .name = "broadcast",
      .what =
          "For inputs that are repeated along dimensions or have gaps, which are merged as far as possible.",
      .kernels = {"elementwise_broadcast"},
      .compiled_in = {"function", "dtype"},
      .constants = constants,
      .refuses = refuses_dense,
      .untuned = by_default,
      .space = space,
      .work = work,
      .alignment_bytes = alignment_bytes};
}

}  // namespace tunesmith::elementwise_op
