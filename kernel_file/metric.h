// SPDX-License-Identifier: Apache-2.0
// A number that a description computes from a measured time: "2 * m * n * k / time / 1e9".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// An expression of real numbers: + - * / ( ), numbers and names. It is parsed into data and never run as
/// code.
class MetricExpression {
 public:
  static constexpr std::size_t most_characters = 500, most_depth = 50;

  /// Throws UsageError with a sentence that names the text, the place and what is allowed there.
  static MetricExpression parse(std::string_view text, const std::vector<std::string>& names);

  /// `value` gives that of a name by its index. A division by zero gives infinity or NaN.
  double evaluate(const std::function<double(std::size_t name)>& value) const;

  const std::string& text() const { return text_; }

 private:
  enum class Operation { number, name, negate, add, subtract, multiply, divide };
  struct Step {  // of a machine with a stack
    Operation operation = Operation::number;
    double number = 0;
    std::size_t name = 0;
  };
  class Parser;

  std::string text_;
  std::vector<Step> steps_;
};

}  // namespace tunesmith
