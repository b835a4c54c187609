// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/expression.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>

#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"

namespace tunesmith {
namespace {

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

// Parses by precedence climbing. The meaning of a quoted word is known only when the other side of == or !=
// is.
class IntegerExpression::Parser {
 public:
  Parser(std::string_view text, const std::vector<ExpressionName>& names) : text_(text), names_(names) {}

  IntegerExpression parse() {
    if (text_.size() > most_characters) {
      throw UsageError("An expression of " + std::to_string(text_.size()) +
                       " characters is too long; at most " + std::to_string(most_characters) +
                       " are allowed.");
    }
    made_.text_ = std::string(text_);
    const Operand whole = choice();
    must_not_be_categorical(whole);
    made_.root_ = whole.node;
    if (!peek().empty()) refuse("has " + shown(peek()) + " where an operator or the end is expected");
    return std::move(made_);
  }

 private:
  struct Operand {
    std::size_t node = 0;
    std::optional<std::string> word;  // the quoted word
    std::size_t at = 0;
  };
  struct Level {
    std::string_view sign;
    int binds;
    Operation operation;
  };
  static constexpr Level levels[] = {{"||", 1, Operation::logical_or}, {"&&", 2, Operation::logical_and},
                                     {"==", 3, Operation::equal},      {"!=", 3, Operation::not_equal},
                                     {"<=", 4, Operation::less_equal}, {">=", 4, Operation::greater_equal},
                                     {"<", 4, Operation::less},        {">", 4, Operation::greater},
                                     {"+", 5, Operation::add},         {"-", 5, Operation::subtract},
                                     {"*", 6, Operation::multiply},    {"/", 6, Operation::divide},
                                     {"%", 6, Operation::remainder}};
  static constexpr int comparisons = 4;  // levels 3 and 4: comparisons cannot be chained

  static std::string shown(std::string_view token) { return "\"" + std::string(token) + "\""; }

  [[noreturn]] void refuse(const std::string& what) const {
    throw UsageError("The expression \"" + std::string(text_) + "\" " + what + ", at character " +
                     std::to_string(start_ + 1) + ".");
  }

  // Returns the next token without consuming it; empty at the end.
  std::string_view peek() {
    start_ = at_;
    while (start_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[start_])) != 0) ++start_;
    const std::string_view rest = text_.substr(start_);
    if (rest.empty()) return rest;
    std::size_t size = 1;
    const char c = rest.front();
    if (begins_name(c)) {
      while (size < rest.size() && (begins_name(rest[size]) || is_digit(rest[size]))) ++size;
    } else if (is_digit(c)) {
      while (size < rest.size() && (begins_name(rest[size]) || is_digit(rest[size]) || rest[size] == '.'))
        ++size;
    } else if (c == '\'') {
      size = rest.find('\'', 1);
      if (size == std::string_view::npos) refuse("has a word without its closing quote");
      ++size;
    } else if (rest.size() > 1) {
      for (const Level& level : levels)
        if (level.sign == rest.substr(0, 2)) size = 2;
    }
    return rest.substr(0, size);
  }

  std::string_view take() {
    const std::string_view token = peek();
    at_ = start_ + token.size();
    return token;
  }

  bool take_if(std::string_view token) {
    if (peek() != token) return false;
    take();
    return true;
  }

  void expect(std::string_view token, std::string_view where) {
    if (take_if(token)) return;
    const std::string_view found = peek();
    refuse((found.empty() ? "ends" : "has " + shown(found)) + " where " + shown(token) + " is expected " +
           std::string(where));
  }

  std::size_t add(Node node) {
    made_.nodes_.push_back(node);
    return made_.nodes_.size() - 1;
  }

  void must_be_number(const Operand& operand) {
    if (!operand.word) return;
    start_ = operand.at;
    refuse("has the word '" + *operand.word +
           "' where a number is expected; a word is compared by == or != with a parameter that has words");
  }

  // Returns the index of the category `word`, which is compared with `other`.
  std::size_t place_of(const Operand& word, const Operand& other) {
    start_ = word.at;
    const Node* node = other.word ? nullptr : &made_.nodes_[other.node];
    const ExpressionName* name = node != nullptr && node->operation == Operation::name
                                     ? &names_[static_cast<std::size_t>(node->value)]
                                     : nullptr;
    if (name == nullptr || name->categories.empty())
      refuse("compares the word '" + *word.word +
             "' with something that has no words; compare it with a parameter that has them");
    const auto found = std::find(name->categories.begin(), name->categories.end(), *word.word);
    if (found == name->categories.end())
      refuse("compares " + name->name + " with '" + *word.word + "', but its words are " +
             listed(name->categories));
    return add({.operation = Operation::number, .value = found - name->categories.begin()});
  }

  // Refuses a categorical parameter as a number: it may only be compared with a quoted word.
  void must_not_be_categorical(const Operand& operand) {
    if (operand.word) return must_be_number(operand);
    const Node& node = made_.nodes_[operand.node];
    if (node.operation != Operation::name) return;
    const ExpressionName& name = names_[static_cast<std::size_t>(node.value)];
    if (name.categories.empty()) return;
    start_ = operand.at;
    refuse("uses " + name.name + " as a number, but it is one of the words " + listed(name.categories) +
           "; compare it by == or != with one of them, in single quotes");
  }

  Operand choice() {
    const NestingLevel deeper(*this);
    Operand condition = binary(1);
    if (!take_if("?")) return condition;
    must_not_be_categorical(condition);
    Operand yes = choice();
    must_not_be_categorical(yes);
    expect(":", "after the first value of ?");
    Operand no = choice();
    must_not_be_categorical(no);
    return {add({Operation::select, 0, condition.node, yes.node, no.node}), std::nullopt, condition.at};
  }

  Operand binary(int least) {
    Operand left = unary();
    for (;;) {
      const std::string_view sign = peek();
      const auto level = std::find_if(std::begin(levels), std::end(levels),
                                      [&](const Level& one) { return one.sign == sign; });
      if (level == std::end(levels) || level->binds < least) return left;
      take();
      Operand right = binary(level->binds + 1);
      const bool compares = level->binds == 3 || level->binds == comparisons;
      const bool equality = level->binds == 3;
      if (equality && right.word) {
        right = {place_of(right, left), std::nullopt, right.at};
      } else if (equality && left.word) {
        left = {place_of(left, right), std::nullopt, left.at};
      } else {
        must_not_be_categorical(left);
        must_not_be_categorical(right);
      }
      left.node = add({level->operation, 0, left.node, right.node, 0});
      if (compares) {
        const std::string_view next = peek();
        for (const Level& other : levels) {
          if (other.sign == next && other.binds == level->binds)
            refuse("compares the outcome of a comparison by " + shown(next) +
                   "; write both comparisons with && between them");
        }
      }
    }
  }

  Operand unary() {
    const NestingLevel deeper(*this);
    const std::string_view sign = peek();
    const std::size_t at = start_;
    if (sign == "-" || sign == "!") {
      take();
      const Operand operand = unary();
      must_not_be_categorical(operand);
      return {add({sign == "-" ? Operation::negate : Operation::logical_not, 0, operand.node, 0, 0}),
              std::nullopt, at};
    }
    return primary();
  }

  Operand primary() {
    const std::string_view token = peek();
    const std::size_t at = start_;
    if (token.empty()) refuse("ends where a value is expected");
    if (token == "(") {
      take();
      Operand inner = choice();
      expect(")", "to close a parenthesis");
      must_be_number(inner);
      return inner;
    }
    if (token.front() == '\'') {
      take();
      return {0, std::string(token.substr(1, token.size() - 2)), at};
    }
    if (is_digit(token.front())) return {number(), std::nullopt, at};
    if (!begins_name(token.front())) refuse("has " + shown(token) + " where a value is expected");
    take();
    if (peek() == "(") {
      start_ = at;
      return {call(token), std::nullopt, at};
    }
    start_ = at;
    const auto known = std::find_if(names_.begin(), names_.end(),
                                    [&](const ExpressionName& one) { return one.name == token; });
    if (known == names_.end()) {
      std::vector<std::string> all;
      for (const ExpressionName& one : names_) all.push_back(one.name);
      refuse("names " + std::string(token) + ", which is not known here; it may name " +
             (all.empty() ? "nothing" : listed(all)));
    }
    return {add({.operation = Operation::name, .value = known - names_.begin()}), std::nullopt, at};
  }

  std::size_t number() {
    const std::string_view token = peek();
    const auto value = parsed_number<std::int64_t>(token);
    if (!value) {
      refuse("has the number " + std::string(token) +
             "; whole decimal numbers up to 9223372036854775807 are allowed");
    }
    take();
    return add({.operation = Operation::number, .value = *value});
  }

  std::size_t call(std::string_view function) {
    const Operation operation = function == "min"        ? Operation::least
                                : function == "max"      ? Operation::greatest
                                : function == "ceil_div" ? Operation::divide_up
                                                         : Operation::number;
    if (operation == Operation::number)
      refuse("calls " + std::string(function) + "; the functions are min, max and ceil_div");
    expect("(", "after a function");
    std::vector<std::size_t> operands;
    do {
      const Operand operand = choice();
      must_not_be_categorical(operand);
      operands.push_back(operand.node);
    } while (take_if(","));
    expect(")", "to close the arguments of a function");
    const bool two = operation == Operation::divide_up;
    if (operands.size() < 2 || (two && operands.size() != 2)) {
      refuse("gives " + std::string(function) + " " + std::to_string(operands.size()) +
             (operands.size() == 1 ? " argument" : " arguments") + "; it takes two" +
             (two ? "" : " or more"));
    }
    std::size_t node = operands.front();
    for (std::size_t i = 1; i < operands.size(); ++i) node = add({operation, 0, node, operands[i], 0});
    return node;
  }

  class NestingLevel {
   public:
    explicit NestingLevel(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > 2 * most_depth)
        parser_.refuse("is nested too deeply; at most " + std::to_string(most_depth) + " levels are allowed");
    }
    ~NestingLevel() { --parser_.depth_; }
    NestingLevel(const NestingLevel&) = delete;
    NestingLevel& operator=(const NestingLevel&) = delete;

   private:
    Parser& parser_;
  };

  std::string_view text_;
  const std::vector<ExpressionName>& names_;
  IntegerExpression made_;
  std::size_t at_ = 0, start_ = 0;
  std::size_t depth_ = 0;
};

IntegerExpression IntegerExpression::constant(std::int64_t value) {
  IntegerExpression made;
  made.text_ = std::to_string(value);
  made.nodes_.push_back({.operation = Operation::number, .value = value});
  return made;
}

IntegerExpression IntegerExpression::parse(std::string_view text, const std::vector<ExpressionName>& names) {
  return Parser(text, names).parse();
}

bool IntegerExpression::uses(std::size_t name) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& node) {
    return node.operation == Operation::name && static_cast<std::size_t>(node.value) == name;
  });
}

IntegerExpression::Result IntegerExpression::evaluate(const Lookup& lookup) const {
  Result result = evaluate(root_, lookup);
  if (!result.error.empty()) result.error = "In \"" + text_ + "\" " + result.error;
  return result;
}

IntegerExpression::Result IntegerExpression::evaluate(std::size_t at, const Lookup& lookup) const {
  const Node& node = nodes_[at];
  switch (node.operation) {
    case Operation::number:
      return {node.value, ""};
    case Operation::name:
      return {lookup(static_cast<std::size_t>(node.value)), ""};
    case Operation::negate: {
      Result result = evaluate(node.a, lookup);
      if (!result.error.empty()) return result;
      if (__builtin_sub_overflow(std::int64_t{0}, result.value, &result.value))
        result.error = "the negative of the least number does not fit into 64 bits.";
      return result;
    }
    case Operation::logical_not: {
      Result result = evaluate(node.a, lookup);
      result.value = result.value == 0 ? 1 : 0;
      return result;
    }
    case Operation::logical_and:
    case Operation::logical_or: {
      const bool decides = node.operation == Operation::logical_or;
      Result result = evaluate(node.a, lookup);
      if (result.error.empty() && (result.value != 0) != decides) result = evaluate(node.b, lookup);
      result.value = result.value != 0 ? 1 : 0;
      return result;
    }
    case Operation::select: {
      Result condition = evaluate(node.a, lookup);
      if (!condition.error.empty()) return condition;
      return evaluate(condition.value != 0 ? node.b : node.c, lookup);
    }
    default:
      return binary(node, lookup);
  }
}

IntegerExpression::Result IntegerExpression::binary(const Node& node, const Lookup& lookup) const {
  Result left = evaluate(node.a, lookup);
  if (!left.error.empty()) return left;
  Result right = evaluate(node.b, lookup);
  if (!right.error.empty()) return right;
  const std::int64_t a = left.value;
  const std::int64_t b = right.value;
  Result result;
  const auto too_large = [&](const char* sign) {
    result.error = std::to_string(a) + " " + sign + " " + std::to_string(b) + " does not fit into 64 bits.";
    return result;
  };
  const bool divides = node.operation == Operation::divide || node.operation == Operation::remainder ||
                       node.operation == Operation::divide_up;
  if (divides && b == 0) {
    result.error = std::to_string(a) + " is divided by zero.";
    return result;
  }
  if (divides && b == -1 && a == std::numeric_limits<std::int64_t>::min()) return too_large("/");
  switch (node.operation) {
    case Operation::add:
      if (__builtin_add_overflow(a, b, &result.value)) return too_large("+");
      break;
    case Operation::subtract:
      if (__builtin_sub_overflow(a, b, &result.value)) return too_large("-");
      break;
    case Operation::multiply:
      if (__builtin_mul_overflow(a, b, &result.value)) return too_large("*");
      break;
    case Operation::divide:
      result.value = a / b;
      break;
    case Operation::remainder:
      result.value = a % b;
      break;
    case Operation::divide_up:
      result.value = a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
      break;
    case Operation::less:
      result.value = a < b;
      break;
    case Operation::less_equal:
      result.value = a <= b;
      break;
    case Operation::greater:
      result.value = a > b;
      break;
    case Operation::greater_equal:
      result.value = a >= b;
      break;
    case Operation::equal:
      result.value = a == b;
      break;
    case Operation::not_equal:
      result.value = a != b;
      break;
    case Operation::least:
      result.value = std::min(a, b);
      break;
    case Operation::greatest:
      result.value = std::max(a, b);
      break;
    default:
      break;
  }
  return result;
}

}  // namespace tunesmith
