// SPDX-License-Identifier: Apache-2.0
// Whole-number expressions of a description: parsed once into data and evaluated with checks, never run as
// code of the host.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// A name in an expression: an integer, or, with `categories`, a category that is compared with quoted words.
struct ExpressionName {
  std::string name;
  std::vector<std::string> categories = {};
};

/// Evaluates in 64 bits: + - * / % (rounded to zero), < <= > >= == != ! && || ?:, min and max of two or more,
/// ceil_div(a, b), numbers, names and 'words'. Comparisons give 1 or 0. Operands that && || ?: do not need
/// are not evaluated.
class IntegerExpression {
 public:
  static constexpr std::size_t most_characters = 1000, most_depth = 50;

  /// Throws UsageError with a sentence that names the text, the place and what is allowed there.
  static IntegerExpression parse(std::string_view text, const std::vector<ExpressionName>& names);

  /// Makes an expression that is a number.
  static IntegerExpression constant(std::int64_t value);

  /// Returns the value of a name, given by its index among the names.
  using Lookup = std::function<std::int64_t(std::size_t name)>;
  struct Result {
    std::int64_t value = 0;
    std::string
        error;  ///< a sentence on why there is no value (overflow, a divisor of zero); empty: there is one
  };
  Result evaluate(const Lookup& lookup) const;

  const std::string& text() const { return text_; }
  bool uses(std::size_t name) const;

 private:
  enum class Operation : std::uint8_t {
    number,
    name,
    negate,
    logical_not,
    add,
    subtract,
    multiply,
    divide,
    remainder,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    logical_and,
    logical_or,
    select,
    least,
    greatest,
    divide_up
  };
  struct Node {
    Operation operation = Operation::number;
    std::int64_t value = 0;           // a number's value; a name's index
    std::size_t a = 0, b = 0, c = 0;  // operands
  };
  class Parser;
  Result evaluate(std::size_t node, const Lookup& lookup) const;
  Result binary(const Node& node, const Lookup& lookup) const;

  std::string text_;
  std::vector<Node> nodes_;
  std::size_t root_ = 0;
};

}  // namespace tunesmith
