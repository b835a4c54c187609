// SPDX-License-Identifier: Apache-2.0
// Implements layout.h.
#include "templates/elementwise/layout.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "generator/word.h"
#include "templates/layout_text.h"

namespace tunesmith::elementwise_op {
namespace {

// The product, or nothing if it is more than most_elements. As in NumPy, an extent of 0 does not lift the
// limit for the others.
std::optional<std::int64_t> product(const std::vector<std::int64_t>& extents) {
  std::int64_t result = 1;
  for (const std::int64_t extent : extents) {
    if (extent > most_elements / result) return std::nullopt;
    result *= std::max<std::int64_t>(extent, 1);
  }
  return std::find(extents.begin(), extents.end(), 0) == extents.end() ? result : 0;
}

// The reason why the text is no array of at most `most` dimensions, or empty.
std::string refuses_array(const std::string& text, std::size_t most) {
  const auto extents = shape_of(text);
  if (extents && extents->size() > most)
    return filled(
        "It has $ dimensions; at most $ are allowed, once those are joined that lie behind each other in "
        "every array.",
        extents->size(), most);
  if (std::string why = tunesmith::refuses_layout(text, 1, most); !why.empty()) return why;
  return product(*extents) && memory(tunesmith::layout_of(text, {})) ? "" : too_many_elements("It");
}

// The strides of an input along the output's dimensions, or nothing if NumPy does not broadcast it to them.
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

// Dimensions, the outermost first, and each input's strides along them.
struct Merged {
  std::vector<std::int64_t> extents;
  std::vector<std::vector<std::int64_t>> strides;
};

// Merges dimensions from the innermost one outwards. A dimension joins the previous one if its stride, in
// each input, is the whole of the previous one.
Merged merged(const std::vector<std::int64_t>& shape, const std::vector<std::vector<std::int64_t>>& strides) {
  Merged made{{}, std::vector<std::vector<std::int64_t>>(strides.size())};
  for (std::size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] == 1) continue;
    bool joins = !made.extents.empty();
    for (std::size_t k = 0; joins && k < strides.size(); ++k)
      joins = strides[k][dim] == made.strides[k].front() * made.extents.front();
    if (joins) {
      made.extents.front() *= shape[dim];
      continue;
    }
    made.extents.insert(made.extents.begin(), shape[dim]);
    for (std::size_t k = 0; k < strides.size(); ++k)
      made.strides[k].insert(made.strides[k].begin(), strides[k][dim]);
  }
  return made;
}

// An input's text, without strides if it has no gaps, and without leading extents of 1.
std::string input_text(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides) {
  if (strides == dense_strides(shape)) return "dense";
  ArrayLayout least;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (strides[dim] == 0 && least.extents.empty()) continue;
    least.extents.push_back(strides[dim] == 0 ? 1 : shape[dim]);
    least.strides.push_back(strides[dim]);
  }
  if (least.extents.empty()) return "1";
  const std::vector<std::int64_t> dense = dense_strides(least.extents);
  bool has_gaps = false;
  for (std::size_t dim = 0; dim < dense.size(); ++dim)
    has_gaps = has_gaps || (least.extents[dim] > 1 && least.strides[dim] != dense[dim]);
  return joined(least.extents) + (has_gaps ? ":" + joined(least.strides) : "");
}

}  // namespace

Problem with_fewest_dimensions(const Problem& given) {
  const auto text_of = [&](std::string_view name) {
    const Value* const value = given.find(name);
    return value == nullptr ? std::string() : word_of(*value);
  };
  constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();
  const auto shape = extents_of(text_of("shape"));
  if (!shape || shape->empty() || !product(*shape)) return given;  // such a problem is refused
  const bool is_empty = product(*shape) == 0;
  std::vector<std::string_view> names;  // the inputs that are not dense
  std::vector<std::vector<std::int64_t>> strides;
  for (const std::string_view name : input_names) {
    const std::string text = text_of(name);
    if (text.empty() || text == "dense") continue;
    if (!refuses_array(text, any_number).empty()) return given;
    const ArrayLayout layout = tunesmith::layout_of(text, *shape);
    const auto along = broadcast(layout, *shape);
    // If the output has no elements, an input may still have some, which have to exist.
    if (!along || (is_empty && memory(layout) > 1)) return given;
    names.push_back(name);
    strides.push_back(is_empty ? std::vector<std::int64_t>{memory(layout).value() == 0} : *along);
  }
  strides.push_back(dense_strides(*shape));
  Merged least = is_empty ? Merged{{0}, strides} : merged(*shape, strides);
  if (least.extents.empty()) least = {{1}, std::vector<std::vector<std::int64_t>>(strides.size(), {1})};
  Problem rewritten = given;
  rewritten.set("shape", joined(least.extents));
  for (std::size_t k = 0; k < names.size(); ++k)
    rewritten.set(names[k], input_text(least.extents, least.strides[k]));
  return rewritten;
}

std::string refuses_shape(const std::string& text) {
  if (text.find(':') != std::string::npos) return refuses_extents(text, 1, most_dimensions);
  return refuses_array(text, most_dimensions);
}

std::string refuses_input(const std::string& text) { return refuses_array(text, most_dimensions); }

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

  for (std::size_t dim = layout.elements > 0 ? shape.size() : 0; dim-- > 0;) {
    if (shape[dim] == 1) continue;
    layout.extents.push_back(shape[dim]);
    for (std::size_t k = 0; k < static_cast<std::size_t>(inputs); ++k)
      layout.inputs[k].strides.push_back(strides[k][dim]);
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
