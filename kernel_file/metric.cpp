// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/metric.h"

#include <algorithm>
#include <cmath>

#include "generator/c_characters.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"

namespace tunesmith {

class MetricExpression::Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& names, MetricExpression& made)
      : text_(text), names_(names), made_(made) {}

  void parse() {
    if (text_.size() > most_characters)
      refuse("is longer than " + std::to_string(most_characters) + " characters");
    sum();
    if (!at_end()) refuse("has \"" + std::string(1, text_[at_]) + "\" where + - * / or the end is expected");
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw UsageError("The metric \"" + std::string(text_.substr(0, most_characters)) + "\" " + what +
                     ", at character " + std::to_string(at_ + 1) + ".");
  }

  bool at_end() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ == text_.size();
  }

  bool take(char sign) {
    if (at_end() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }

  void add(Operation operation) { made_.steps_.push_back({.operation = operation}); }

  void sum() {
    if (++depth_ > most_depth) refuse("has too many parentheses");
    product();
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (const auto& [sign, operation] : {std::pair('+', Operation::add), {'-', Operation::subtract}}) {
        if (!take(sign)) continue;
        product();
        add(operation);
        goes_on = true;
      }
    }
    --depth_;
  }

  void product() {
    factor();
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (const auto& [sign, operation] : {std::pair('*', Operation::multiply), {'/', Operation::divide}}) {
        if (!take(sign)) continue;
        factor();
        add(operation);
        goes_on = true;
      }
    }
  }

  void factor() {
    if (take('-')) {
      if (++depth_ > most_depth) refuse("has too many signs");
      factor();
      --depth_;
      return add(Operation::negate);
    }
    if (take('(')) {
      sum();
      if (!take(')')) refuse("lacks a )");
      return;
    }
    if (at_end()) refuse("ends where a number or a name is expected");
    std::string_view rest = text_.substr(at_);
    if ((rest.front() >= '0' && rest.front() <= '9') || rest.front() == '.') {
      const auto number = take_number<double>(rest);
      if (!number || !std::isfinite(*number)) refuse("has a number that cannot be read");
      at_ = text_.size() - rest.size();
      made_.steps_.push_back({.operation = Operation::number, .number = *number});
      return;
    }
    std::size_t size = 0;
    while (size < rest.size() && is_name(rest[size])) ++size;
    if (size == 0)
      refuse("has \"" + std::string(1, rest.front()) + "\" where a number or a name is expected");
    const auto found = std::find(names_.begin(), names_.end(), rest.substr(0, size));
    if (found == names_.end()) {
      std::vector<std::string> known = names_;
      std::erase(known, "");
      refuse("names " + std::string(rest.substr(0, size)) + ", which is not known here; it may name " +
             listed(known));
    }
    at_ += size;
    made_.steps_.push_back(
        {.operation = Operation::name, .name = static_cast<std::size_t>(found - names_.begin())});
  }

  std::string_view text_;
  const std::vector<std::string>& names_;
  MetricExpression& made_;
  std::size_t at_ = 0, depth_ = 0;
};

MetricExpression MetricExpression::parse(std::string_view text, const std::vector<std::string>& names) {
  MetricExpression made;
  made.text_ = text;
  Parser(text, names, made).parse();
  return made;
}

double MetricExpression::evaluate(const std::function<double(std::size_t)>& value) const {
  std::vector<double> stack;
  for (const Step& step : steps_) {
    if (step.operation == Operation::number || step.operation == Operation::name) {
      stack.push_back(step.operation == Operation::number ? step.number : value(step.name));
      continue;
    }
    const double right = stack.back();
    if (step.operation == Operation::negate) {
      stack.back() = -right;
      continue;
    }
    stack.pop_back();
    double& left = stack.back();
    switch (step.operation) {
      case Operation::add:
        left += right;
        break;
      case Operation::subtract:
        left -= right;
        break;
      case Operation::multiply:
        left *= right;
        break;
      default:
        left /= right;
        break;
    }
  }
  return stack.back();
}

}  // namespace tunesmith
