// SPDX-License-Identifier: Apache-2.0
#include "templates/elementwise/layout.h"

#include <algorithm>
#include <optional>

#include "templates/layout_text.h"

namespace tunesmith::elementwise_op {
namespace {

// The product, or nothing where it is more than most_elements; as in NumPy, an extent of 0 does not lift the
// limit for the others.
std::optional<std::int64_t> product(const std::vector<std::int64_t>& extents) {
  std::int64_t result = 1;
  for (const std::int64_t extent : extents) {
    if (extent > most_elements / result) return std::nullopt;
    result *= std::max<std::int64_t>(extent, 1);
  }
  return std::find(extents.begin(), extents.end(), 0) == extents.end() ? result : 0;
}

// Its strides along the output's dimensions, or nothing where NumPy does not broadcast it to them.
std::optional<std::vector<std::int64_t>> broadcast(const ArrayLayout& given,
                                                   const std::vector<std::int64_t>& shape) {
  if (given.extents.size() > shape.size()) return std::nullopt;
  const std::size_t missing = shape.size() - given.extents.size();
  std::vector<std::int64_t> strides(shape.size(), 0);
  for (std::size_t dim = 0; dim < given.extents.size(); ++dim) {
    const std::int64_t extent = given.extents[dim];
    if (extent == shape[missing + dim]) {
      strides[missing + dim] = extent == 1 ? 0 : given.strides[dim];
    } else if (extent != 1) {
      return std::nullopt;
    }
  }
  return strides;
}

}  // namespace

std::string refuses_shape(const std::string& text) {
  if (std::string why = refuses_extents(text, 1, most_dimensions); !why.empty()) return why;
  return product(extents_of(text).value()) ? "" : too_many_elements("It");
}

std::string refuses_input(const std::string& text) {
  if (std::string why = refuses_shape(text.substr(0, text.find(':'))); !why.empty()) return why;
  if (std::string why = tunesmith::refuses_layout(text, 1, most_dimensions); !why.empty()) return why;
  return memory(tunesmith::layout_of(text, {})) ? "" : too_many_elements("It");
}

std::string refuses_layout(const Problem& problem, int inputs) {
  const std::vector<std::int64_t> shape = extents_of(problem.string("shape")).value();
  for (int k = 0; k < most_inputs; ++k) {
    const std::string name(input_names[static_cast<std::size_t>(k)]);
    const std::string& text = problem.string(name);
    if (k >= inputs) {
      if (text == "dense") continue;
      return "The elementwise problem's " + name + " is " + text + ", but its function has no input " + name +
             "; leave it out.";
    }
    if (!broadcast(tunesmith::layout_of(text, shape), shape)) {
      return "The elementwise problem's " + name + " is " + text +
             ", which does not broadcast to the shape " + joined(shape) +
             "; from the last extent on, each of its extents has to be 1 or the shape's, and it may have "
             "fewer.";
    }
  }
  return "";
}

Layout layout_of(const Problem& problem, int inputs) {
  const std::vector<std::int64_t> shape = extents_of(problem.string("shape")).value();
  Layout layout;
  layout.elements = product(shape).value();
  std::array<std::vector<std::int64_t>, most_inputs> strides;
  for (std::size_t k = 0; k < static_cast<std::size_t>(inputs); ++k) {
    const ArrayLayout given = tunesmith::layout_of(problem.string(input_names[k]), shape);
    InputLayout& input = layout.inputs[k];
    input.used = true;
    input.memory = memory(given).value();
    input.distinct = product(given.extents).value();
    strides[k] = broadcast(given, shape).value();
  }

  // From the innermost dimension outwards: one joins the last if each input steps over that as a whole.
  if (layout.elements > 0) {
    for (std::size_t dim = shape.size(); dim-- > 0;) {
      if (shape[dim] == 1) continue;
      bool joins = !layout.extents.empty();
      for (std::size_t k = 0; joins && k < static_cast<std::size_t>(inputs); ++k)
        joins = strides[k][dim] == layout.inputs[k].strides.back() * layout.extents.back();
      if (joins) {
        layout.extents.back() *= shape[dim];
        continue;
      }
      layout.extents.push_back(shape[dim]);
      for (std::size_t k = 0; k < static_cast<std::size_t>(inputs); ++k)
        layout.inputs[k].strides.push_back(strides[k][dim]);
    }
  }
  if (layout.extents.empty()) {  // one element, or none
    layout.extents = {layout.elements};
    for (InputLayout& input : layout.inputs) input.strides = {input.used ? 1 : 0};
  }
  for (InputLayout& input : layout.inputs) {
    input.strides.resize(layout.extents.size(), 0);
    std::int64_t step = 1;
    input.is_output_like = input.used;
    for (std::size_t dim = 0; dim < layout.extents.size(); ++dim) {
      input.is_output_like = input.is_output_like && input.strides[dim] == step;
      step *= layout.extents[dim];
    }
  }
  return layout;
}

Problem resized(const Problem& problem, const std::array<std::int64_t, most_dimensions>& sizes) {
  const auto replaced = [&](std::string_view text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    std::vector<std::int64_t> extents = shape_of(text).value();
    for (std::size_t dim = 0; dim < extents.size(); ++dim) {
      if (extents[dim] > 1) extents[dim] = sizes[extents.size() - 1 - dim];
    }
    return joined(extents) + std::string(text.substr(colon));
  };
  Problem result = problem;
  result.set("shape", replaced(problem.string("shape")));
  for (const std::string_view name : input_names) {
    if (const std::string& text = problem.string(name); text != "dense") result.set(name, replaced(text));
  }
  return result;
}

}  // namespace tunesmith::elementwise_op
