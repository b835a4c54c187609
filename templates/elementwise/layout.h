// SPDX-License-Identifier: Apache-2.0
// The shapes of `elementwise`: a problem's texts for its output and inputs, their layout after NumPy's
// broadcasting, and the same layout with as few dimensions as the inputs allow.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "generator/problem.h"
#include "language/expression.h"

namespace tunesmith::elementwise_op {

constexpr std::size_t most_dimensions = 6;

struct InputLayout {
  bool used = false;
  std::int64_t memory = 0;                 ///< elements from its first to its last, both included
  std::int64_t distinct = 0;               ///< elements that it has
  std::vector<std::int64_t> strides = {};  ///< in elements, for each dimension; 0: repeated
  bool is_output_like = false;             ///< dense, of the output's shape
};

/// The problem's dimensions, the innermost first.
struct Layout {
  std::int64_t elements = 0;
  std::vector<std::int64_t> extents = {};  ///< at least one; {0} for an output without elements
  std::array<InputLayout, most_inputs> inputs = {};
};

/// For Op::rewritten: the problem with as few dimensions as the inputs allow, and with the shortest texts of
/// inputs. The same arrays then give the same problem, however their dimensions are written.
Problem with_fewest_dimensions(const Problem& given);

/// The reason why the text is no shape, or no input's layout, as a sentence; empty if it is one.
std::string refuses_shape(const std::string& text);
std::string refuses_input(const std::string& text);

/// The reason why the inputs do not fit the shape, or their number `inputs` does not fit the function; empty
/// if they do.
std::string refuses_layout(const Problem& problem, int inputs);

Layout layout_of(const Problem& problem, int inputs);  ///< the problem must not be refused

/// The problem with all extents replaced except 0 and 1. Those of the innermost dimension are replaced by the
/// first of `sizes`. Given strides stay.
Problem resized(const Problem& problem, const std::array<std::int64_t, most_dimensions>& sizes);

}  // namespace tunesmith::elementwise_op
