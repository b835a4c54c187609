// SPDX-License-Identifier: Apache-2.0
// Turns what a caller wrote into a problem of the op, and names the arrays that a problem has. Private to
// tensor.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "generator/op.h"
#include "templates/tensor/notation/expression.h"
#include "templates/tensor/notation/layout.h"

namespace tunesmith::tensor_op {

inline constexpr std::array<std::string_view, most_arrays> array_names = {"x0", "x1", "x2", "x3", "x4", "x5"};
constexpr int output_argument = static_cast<int>(most_arrays);
constexpr std::string_view argument_name(int array) {  ///< -1: the output
  return array < 0 ? "out" : array_names[static_cast<std::size_t>(array)];
}

constexpr const char* same_dtype = "same";  ///< as out_dtype: the inputs' type

/// The layout of an input or of the output, as the problem has it.
ArrayLayout array_layout(const Problem& problem, int array);  ///< -1: the output

/// The op's parameters from what a caller wrote with names of their own (Op::rewritten).
Problem rewritten(const Problem& given);

/// Marks arrays as zero outside: takes their names, joined by commas, or no_arrays. Throws UsageError.
void set_zero_outside(Expression& expression, std::string_view names);
constexpr const char* no_arrays = "none";
std::string zero_outside_text(const Expression& expression);  ///< as a problem stores it

}  // namespace tunesmith::tensor_op
