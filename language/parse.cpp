// SPDX-License-Identifier: Apache-2.0
// Parses an expression's text into a list of operations, or reports an error and its position.

#include <algorithm>
#include <array>

#include "language/builder.h"
#include "language/scanner.h"
#include "language/words.h"

namespace tunesmith::elementwise_op {
namespace {

std::string function_names() {
  std::string all;
  for (const NamedFunction& function : named_functions())
    all += (all.empty() ? "" : ", ") + std::string(function.name);
  for (const OperationFacts& known : operations()) {
    const auto is_named = [&](const NamedFunction& function) { return function.name == known.name; };
    if (known.called && std::none_of(named_functions().begin(), named_functions().end(), is_named))
      all += ", " + std::string(known.name);
  }
  return all;
}

// A recursive descent parser of C's grammar, from ?: down to a number, an input or a call.
class Parser {
 public:
  Parser(Scanner& scanner, Builder& builder, const Words& words)
      : scanner_(scanner), builder_(builder), words_(words) {}

  int parse() {
    if (scanner_.at_end()) fail_here("There is no expression.");
    return choice();
  }

 private:
  [[noreturn]] void fail_here(std::string sentence) const { fail(scanner_.position(), std::move(sentence)); }

  struct Infix {
    std::string_view symbol;
    Operation operation;
  };

  // Counts one level of nesting during its lifetime.
  class NestingLevel {
   public:
    explicit NestingLevel(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > deepest_nesting) {
        parser_.fail_here("The expression is nested more than " + std::to_string(deepest_nesting) + " deep.");
      }
    }
    ~NestingLevel() { --parser_.depth_; }
    NestingLevel(const NestingLevel&) = delete;
    NestingLevel& operator=(const NestingLevel&) = delete;

   private:
    Parser& parser_;
  };

  int choice() {
    const NestingLevel deeper(*this);
    const int condition = logical_or();
    const std::size_t position = scanner_.position();
    if (!scanner_.take("?")) return condition;
    const int yes = choice();
    scanner_.expect(":", "between the two values of '?'");
    const int no = choice();
    return builder_.add(Operation::choose, position, {condition, yes, no});
  }

  template <typename Next>
  int left_to_right(std::span<const Infix> operators, Next next) {
    int left = next();
    for (;;) {
      const std::size_t position = scanner_.position();
      const auto found = std::find_if(operators.begin(), operators.end(),
                                      [&](const Infix& infix) { return scanner_.take(infix.symbol); });
      if (found == operators.end()) return left;
      left = builder_.add(found->operation, position, {left, next(), -1});
    }
  }

  int logical_or() {
    static constexpr std::array<Infix, 1> operators = {{{"||", Operation::logical_or}}};
    return left_to_right(operators, [this] { return logical_and(); });
  }
  int logical_and() {
    static constexpr std::array<Infix, 1> operators = {{{"&&", Operation::logical_and}}};
    return left_to_right(operators, [this] { return comparison(); });
  }
  int comparison() {
    static constexpr std::array<Infix, 6> operators = {{{"<=", Operation::less_equal},
                                                        {">=", Operation::greater_equal},
                                                        {"==", Operation::equal},
                                                        {"!=", Operation::not_equal},
                                                        {"<", Operation::less},
                                                        {">", Operation::greater}}};
    const int left = sum();
    for (const Infix& infix : operators) {
      const std::size_t position = scanner_.position();
      if (!scanner_.take(infix.symbol)) continue;
      const int result = builder_.add(infix.operation, position, {left, sum(), -1});
      for (const Infix& next : operators) {
        if (scanner_.sees(next.symbol)) fail_here("Comparisons do not chain; write (x < y && y < z).");
      }
      return result;
    }
    return left;
  }
  int sum() {
    static constexpr std::array<Infix, 2> operators = {{{"+", Operation::add}, {"-", Operation::subtract}}};
    return left_to_right(operators, [this] { return product(); });
  }
  int product() {
    static constexpr std::array<Infix, 3> operators = {
        {{"*", Operation::multiply}, {"/", Operation::divide}, {"%", Operation::remainder}}};
    return left_to_right(operators, [this] { return unary(); });
  }

  int unary() {
    const std::size_t position = scanner_.position();
    const bool minus = scanner_.take("-");
    if (minus && scanner_.sees_number()) {
      const Node number = scanner_.number(true);
      if (scanner_.sees("**"))
        fail(position, "Write (-x) ** y or -(x ** y): which is meant is easily misread.");
      return builder_.add(number);
    }
    const bool negation = !minus && !scanner_.sees("!=") && scanner_.take("!");
    if (!minus && !negation) return power();
    const NestingLevel deeper(*this);
    return builder_.add(minus ? Operation::negate : Operation::logical_not, position, {unary(), -1, -1});
  }

  int power() {
    const int base = primary();
    const std::size_t position = scanner_.position();
    if (!scanner_.take("**")) return base;
    const NestingLevel deeper(*this);
    return builder_.add(Operation::pow, position, {base, unary(), -1});
  }

  int primary() {
    const std::size_t position = scanner_.position();
    if (scanner_.at_end()) fail_here("A value was expected where the text ends.");
    if (scanner_.take("(")) {
      const int inner = choice();
      scanner_.expect(")", "here");
      return inner;
    }
    if (scanner_.sees_number()) return builder_.add(scanner_.number(false));
    if (!scanner_.sees_word()) fail_here("A value was expected instead of " + quoted(scanner_.here()) + ".");
    const std::string_view word = scanner_.word();
    if (scanner_.sees("(")) return call(word, position);
    if (word == "pi") {
      return builder_.add(
          Node{.operation = Operation::number, .number = 3.14159265358979323846, .position = position});
    }
    if (const std::optional<int> value = words_.value(word, position)) return *value;
    fail(position, "There is no " + quoted(word) + "; " + words_.values +
                       ", pi is a number, and the functions are " + function_names() + words_.functions +
                       ".");
  }

  int call(std::string_view word, std::size_t position) {
    std::vector<int> arguments;
    scanner_.take("(");
    do {
      if (arguments.size() > 3) fail_here(quoted(word) + " has too many arguments.");
      arguments.push_back(choice());
    } while (scanner_.take(","));
    scanner_.expect(")", "after the arguments of " + quoted(word));
    if (words_.call) {
      if (const std::optional<int> value = words_.call(word, arguments, position)) return *value;
    }
    const auto check_count = [&](std::size_t wanted) {
      if (arguments.size() != wanted) {
        fail(position, quoted(word) + " has " + std::to_string(wanted) +
                           (wanted == 1 ? " argument" : " arguments") + ", not " +
                           std::to_string(arguments.size()) + ".");
      }
    };
    const std::span<const OperationFacts> known = operations();
    for (std::size_t n = 0; n < known.size(); ++n) {
      if (!known[n].called || known[n].name != word) continue;
      check_count(static_cast<std::size_t>(known[n].operands));
      arguments.resize(3, -1);
      return builder_.add(static_cast<Operation>(n), position, {arguments[0], arguments[1], arguments[2]});
    }
    for (const NamedFunction& function : named_functions()) {
      if (function.name != word) continue;
      const Expression body = parse_expression(function.expression);
      check_count(static_cast<std::size_t>(body.inputs));
      return builder_.insert(body, arguments, position);
    }
    fail(position,
         "There is no function " + quoted(word) + "; there are " + function_names() + words_.functions + ".");
  }

  Scanner& scanner_;
  Builder& builder_;
  const Words& words_;
  int depth_ = 0;
};

std::string letter(int k) { return {static_cast<char>('a' + k)}; }

// Returns the number of inputs: from a to the last that is used, including unused ones between.
int inputs(const Builder& builder) {
  const auto uses = [&](int k) {
    return std::any_of(builder.nodes().begin(), builder.nodes().end(),
                       [k](const Node& node) { return node.input == k; });
  };
  int last = most_inputs - 1;
  while (last >= 0 && !uses(last)) --last;
  if (last < 0) fail(0, "The expression uses no input; one at least, a, is needed.");
  for (int k = 0; k < last; ++k) {
    if (!uses(k)) {
      fail(0, "The expression uses the input " + letter(last) + " but not " + letter(k) +
                  "; inputs are named without a gap, from a on.");
    }
  }
  return last + 1;
}

// Returns the text around a position, and a caret below it.
std::string shown(std::string_view text, std::size_t position) {
  constexpr std::size_t reach = 50;  // characters to each side
  const std::size_t from = position > reach ? position - reach : 0;
  std::string line;
  for (const char c : text.substr(from, 2 * reach)) {
    if (!continues_character(c)) line += c < ' ' || c > '~' ? '?' : c;
  }
  return "\n  " + line + "\n  " + std::string(position - from, ' ') + "^";
}

}  // namespace

int parse_value(Scanner& scanner, Builder& builder, const Words& words) {
  return Parser(scanner, builder, words).parse();
}

void expect_end(const Scanner& scanner, std::string_view wanted) {
  if (scanner.at_end()) return;
  fail(scanner.position(),
       scanner.sees(")") ? "This ')' closes nothing."
                         : std::string(wanted) + " was expected instead of " + quoted(scanner.here()) + ".");
}

Expression parse_expression(std::string_view text) {
  Scanner scanner(text);
  Builder builder;
  const Words letters = {
      .value = [&](std::string_view word, std::size_t position) -> std::optional<int> {
        if (word.size() != 1 || word[0] < 'a' || word[0] >= 'a' + most_inputs) return std::nullopt;
        return builder.add(Node{.operation = Operation::input, .input = word[0] - 'a', .position = position});
      },
      .call = nullptr,
      .values = "inputs are a to f",
      .functions = ""};
  const int root = parse_value(scanner, builder, letters);
  expect_end(scanner, "An operator or the end");
  return builder.finish(root, inputs(builder));
}

std::string message(const SyntaxError& error, std::string_view text) {
  return "At character " + std::to_string(error.position + 1) + ": " + error.sentence +
         shown(text, error.position);
}

ParseResult parse(std::string_view function) {
  for (const NamedFunction& known : named_functions()) {
    if (known.name == function) function = known.expression;
  }
  if (function.size() > longest_text) {
    return {{},
            "It has " + std::to_string(function.size()) + " characters; at most " +
                std::to_string(longest_text) + " are allowed."};
  }
  try {
    return {parse_expression(function), ""};
  } catch (const SyntaxError& error) {
    return {{}, message(error, function)};
  }
}

}  // namespace tunesmith::elementwise_op
