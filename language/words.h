// SPDX-License-Identifier: Apache-2.0
// Parses expressions for ops that have their own words, such as names of arrays and reductions. Private to
// the ops.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "language/builder.h"
#include "language/scanner.h"

namespace tunesmith::elementwise_op {

/// The meaning of words in addition to pi and the functions of elements: the index of a node, or nothing.
struct Words {
  std::function<std::optional<int>(std::string_view word, std::size_t position)> value;
  /// The meaning of a word with arguments; asked before the functions of elements. Null: there are no such
  /// words.
  std::function<std::optional<int>(std::string_view word, std::span<const int> arguments,
                                   std::size_t position)>
      call;
  std::string values;     ///< for errors: "inputs are a to f"
  std::string functions;  ///< for errors: ", sum, mean"
};

/// Parses the expression at the scanner's position and moves behind it; returns the index of its value.
/// Throws SyntaxError.
int parse_value(Scanner& scanner, Builder& builder, const Words& words);

/// Throws SyntaxError unless the text ends here.
void expect_end(const Scanner& scanner, std::string_view wanted);

}  // namespace tunesmith::elementwise_op
