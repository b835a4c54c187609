// SPDX-License-Identifier: Apache-2.0
#include "templates/elementwise/layout.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

namespace tunesmith::elementwise_op {
namespace {

// "2x3" as {2, 3}, or nothing. A number of too many digits is the largest that there is.
std::optional<std::vector<std::int64_t>> numbers(std::string_view text) {
  std::vector<std::int64_t> found;
  for (;;) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [next, failure] = std::from_chars(text.data(), end, number);
    if (failure == std::errc::result_out_of_range && text.front() != '-') {
      number = std::numeric_limits<std::int64_t>::max();
    } else if (failure != std::errc() || number < 0) {
      return std::nullopt;
    }
    found.push_back(number);
    if (next == end) return found;
    if (*next != 'x') return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(next - text.data()) + 1);
  }
}

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

std::string refuses_extents(std::string_view text) {
  const auto extents = numbers(text);
  if (!extents) return "An extent is a whole number from 0 on; extents are joined by x, as in 1080x1920x3.";
  if (extents->size() > most_dimensions) {
    return "It has " + std::to_string(extents->size()) + " dimensions; at most " +
           std::to_string(most_dimensions) + " are allowed.";
  }
  if (!product(*extents)) return "It has more than the 2^40 elements that are allowed.";
  return "";
}

struct ArrayLayout {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;  // in elements
};

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t step = 1;
  for (std::size_t dim = extents.size(); dim-- > 0;) {
    strides[dim] = step;
    step *= std::max<std::int64_t>(extents[dim], 1);
  }
  return strides;
}

// Elements from the first to the last, or nothing where they are more than most_elements.
std::optional<std::int64_t> memory(const ArrayLayout& given) {
  if (product(given.extents) == 0) return 0;
  std::int64_t last = 0;
  for (std::size_t dim = 0; dim < given.extents.size(); ++dim) {
    const std::int64_t steps = given.extents[dim] - 1;
    if (steps > 0 && given.strides[dim] > (most_elements - 1 - last) / steps) return std::nullopt;
    last += steps * given.strides[dim];
  }
  return last + 1;
}

ArrayLayout read(const std::string& text, const std::vector<std::int64_t>& shape) {
  if (text == "dense") return {shape, dense_strides(shape)};
  const std::size_t colon = text.find(':');
  ArrayLayout given{numbers(std::string_view(text).substr(0, colon)).value(), {}};
  given.strides = colon == std::string::npos ? dense_strides(given.extents)
                                             : numbers(std::string_view(text).substr(colon + 1)).value();
  return given;
}

std::string joined(const std::vector<std::int64_t>& extents) {
  std::string text;
  for (const std::int64_t extent : extents) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
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

std::string refuses_shape(const std::string& text) { return refuses_extents(text); }

std::string refuses_input(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (std::string why = refuses_extents(std::string_view(text).substr(0, colon)); !why.empty()) return why;
  if (colon == std::string::npos) return "";
  const auto strides = numbers(std::string_view(text).substr(colon + 1));
  if (!strides) {
    return "Behind the colon stands a stride for each extent, a whole number of elements from 0 on, as in "
           "1080x1920:4096x1.";
  }
  const auto extents = numbers(std::string_view(text).substr(0, colon)).value();
  if (strides->size() != extents.size()) {
    return "Its extents are " + std::to_string(extents.size()) + " and its strides " +
           std::to_string(strides->size()) + "; there has to be a stride for each extent.";
  }
  if (!memory({extents, *strides}))
    return "Its last element lies more than 2^40 elements behind its first; allowed are smaller strides.";
  return "";
}

std::string refuses_layout(const Problem& problem, int inputs) {
  const std::vector<std::int64_t> shape = numbers(problem.string("shape")).value();
  for (int k = 0; k < most_inputs; ++k) {
    const std::string name(input_names[static_cast<std::size_t>(k)]);
    const std::string& text = problem.string(name);
    if (k >= inputs) {
      if (text == "dense") continue;
      return "The elementwise problem's " + name + " is " + text + ", but its function has no input " + name +
             "; leave it out.";
    }
    if (!broadcast(read(text, shape), shape)) {
      return "The elementwise problem's " + name + " is " + text +
             ", which does not broadcast to the shape " + joined(shape) +
             "; from the last extent on, each of its extents has to be 1 or the shape's, and it may have "
             "fewer.";
    }
  }
  return "";
}

Layout layout_of(const Problem& problem, int inputs) {
  const std::vector<std::int64_t> shape = numbers(problem.string("shape")).value();
  Layout layout;
  layout.elements = product(shape).value();
  std::array<std::vector<std::int64_t>, most_inputs> strides;
  for (std::size_t k = 0; k < static_cast<std::size_t>(inputs); ++k) {
    const ArrayLayout given = read(problem.string(input_names[k]), shape);
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
    std::vector<std::int64_t> extents = numbers(text.substr(0, colon)).value();
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
