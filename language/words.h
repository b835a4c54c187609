// SPDX-License-Identifier: Apache-2.0
// The grammar of expressions for ops whose expressions have words of their own, such as names of arrays and
// reductions. Private to the ops.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "language/builder.h"
#include "language/scanner.h"

namespace tunesmith::elementwise_op {

/// What words stand for beside pi and the functions of elements: the place of a node, or nothing.
struct Words {
  std::function<std::optional<int>(std::string_view word, std::size_t position)> value;
  /// Of a word with arguments; asked before the functions of elements. Null: there are no others.
  std::function<std::optional<int>(std::string_view word, std::span<const int> arguments,
                                   std::size_t position)>
      call;
  std::string values;     ///< for errors: "inputs are a to f"
  std::string functions;  ///< for errors: ", sum, mean"
};

/// The place of the value of the expression that begins where the scanner stands, which then stands behind
/// it. Throws SyntaxError.
int parse_value(Scanner& scanner, Builder& builder, const Words& words);

/// Throws SyntaxError unless the text ends here.
void expect_end(const Scanner& scanner, std::string_view wanted);

}  // namespace tunesmith::elementwise_op
