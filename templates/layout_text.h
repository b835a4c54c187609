// SPDX-License-Identifier: Apache-2.0
// The shape of an array and its layout in memory, as text: "24x64", "24x64:80x1".
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/number_text.h"
#include "templates/array_limits.h"
#include "templates/filled.h"

namespace tunesmith {

/// An array's extents, outermost first, and the stride of each in elements.
struct ArrayLayout {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
};

/// The numbers of a text such as "8x100x50"; "" has none. Returns nothing if the text has another form.
inline std::optional<std::vector<std::int64_t>> extents_of(std::string_view text) {
  return parsed_numbers(text, 'x');
}
inline std::optional<std::vector<std::int64_t>> shape_of(std::string_view layout) {  // without its strides
  return extents_of(layout.substr(0, layout.find(':')));
}

inline std::string joined(std::span<const std::int64_t> extents) {
  std::string text;
  for (const std::int64_t extent : extents) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}
inline std::string text_of(const ArrayLayout& layout) {
  return joined(layout.extents) + ":" + joined(layout.strides);
}

/// The strides of an array without gaps. None is more than most_elements.
inline std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t step = 1;
  for (std::size_t d = extents.size(); d-- > 0;) {
    strides[d] = step;
    const std::int64_t extent = std::max<std::int64_t>(extents[d], 1);
    step = extent > most_elements / step ? most_elements : step * extent;
  }
  return strides;
}

/// The number of elements from the first to the last, both included; nothing if there are more than
/// most_elements.
inline std::optional<std::int64_t> memory(const ArrayLayout& layout) {
  if (std::find(layout.extents.begin(), layout.extents.end(), 0) != layout.extents.end()) return 0;
  std::int64_t last = 0;
  for (std::size_t d = 0; d < layout.extents.size(); ++d) {
    const std::int64_t steps = layout.extents[d] - 1;
    if (steps > 0 && layout.strides[d] > (most_elements - 1 - last) / steps) return std::nullopt;
    last += steps * layout.strides[d];
  }
  return last + 1;
}

/// The layout of a text; the text "dense" gives the extents `dense` without gaps.
inline ArrayLayout layout_of(std::string_view text, const std::vector<std::int64_t>& dense) {
  if (text == "dense") return {dense, dense_strides(dense)};
  const std::size_t colon = text.find(':');
  std::vector<std::int64_t> extents = shape_of(text).value();
  std::vector<std::int64_t> strides =
      colon == std::string_view::npos ? dense_strides(extents) : extents_of(text.substr(colon + 1)).value();
  return {std::move(extents), std::move(strides)};
}

/// The reason why the text is no list of `least` to `most` extents, or no layout of as many, as a sentence;
/// empty if it is one. The stride of an extent of 0 or 1 is never used, so it may be any number.
inline std::string refuses_extents(std::string_view text, std::size_t least, std::size_t most) {
  const auto extents = extents_of(text);
  const auto is_too_long = [](std::int64_t extent) { return extent > most_elements; };
  if (!extents || extents->size() < least || std::any_of(extents->begin(), extents->end(), is_too_long))
    return filled("An extent is a whole number from 0 to $; extents are joined by x, as in 8x100x50.",
                  most_elements_text);
  if (extents->size() > most)
    return filled("It has $ extents; at most $ are allowed.", extents->size(), most);
  return "";
}
inline std::string refuses_layout(std::string_view text, std::size_t least, std::size_t most) {
  const std::size_t colon = text.find(':');
  if (std::string why = refuses_extents(text.substr(0, colon), least, most); !why.empty()) return why;
  if (colon == std::string_view::npos) return "";
  const std::vector<std::int64_t> extents = shape_of(text).value();
  const auto strides = extents_of(text.substr(colon + 1));
  bool are_strides = strides && strides->size() == extents.size();
  for (std::size_t d = 0; are_strides && d < extents.size(); ++d)
    are_strides = extents[d] <= 1 || (*strides)[d] <= most_elements;
  if (!are_strides)
    return filled(
        "Behind the colon stands a stride for each extent, a whole number of elements from 0 to $, as in "
        "24x64:80x1.",
        most_elements_text);
  return "";
}

}  // namespace tunesmith
