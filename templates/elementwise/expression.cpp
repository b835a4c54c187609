#include "templates/elementwise/expression.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <tuple>

namespace tunesmith::elementwise_op {
namespace {

// The errors of functions are those that the CUDA C++ Programming Guide states (appendix on mathematical
// functions), the larger where its editions differ.
constexpr std::array<OperationFacts, 48> table = {{
    {"", 0, false, false, 0, 0},
    {"", 0, false, false, 0, 0},
    {"negate", 1, false, false, 0, 0},
    {"add", 2, false, false, 0.5, 0.5},
    {"subtract", 2, false, false, 0.5, 0.5},
    {"multiply", 2, false, false, 0.5, 0.5},
    {"divide", 2, false, false, 0.5, 0.5},
    {"remainder_of", 2, false, false, 0, 0},
    {"less", 2, false, false, 0, 0},
    {"less_equal", 2, false, false, 0, 0},
    {"greater", 2, false, false, 0, 0},
    {"greater_equal", 2, false, false, 0, 0},
    {"equal", 2, false, false, 0, 0},
    {"not_equal", 2, false, false, 0, 0},
    {"logical_not", 1, false, false, 0, 0},
    {"logical_and", 2, false, false, 0, 0},
    {"logical_or", 2, false, false, 0, 0},
    {"choose", 3, false, false, 0, 0},
    {"abs", 1, true, false, 0, 0},
    {"min", 2, true, false, 0, 0},
    {"max", 2, true, false, 0, 0},
    {"sqrt", 1, true, true, 0.5, 0.5},
    {"rsqrt", 1, true, true, 2, 1.5},
    {"cbrt", 1, true, true, 1, 1},
    {"exp", 1, true, true, 2, 1},
    {"exp2", 1, true, true, 2, 1},
    {"expm1", 1, true, true, 1, 1},
    {"log", 1, true, true, 1, 1},
    {"log2", 1, true, true, 1, 1},
    {"log10", 1, true, true, 3, 2},
    {"log1p", 1, true, true, 2, 1},
    {"sin", 1, true, true, 2, 2},
    {"cos", 1, true, true, 2, 2},
    {"tan", 1, true, true, 4, 2},
    {"asin", 1, true, true, 4, 2},
    {"acos", 1, true, true, 3, 2},
    {"atan", 1, true, true, 2, 2},
    {"sinh", 1, true, true, 3, 2},
    {"cosh", 1, true, true, 2, 2},
    {"tanh", 1, true, true, 2, 2},
    {"erf", 1, true, true, 2, 2},
    {"erfc", 1, true, true, 6, 5},
    {"floor", 1, true, true, 0, 0},
    {"ceil", 1, true, true, 0, 0},
    {"trunc", 1, true, true, 0, 0},
    {"rint", 1, true, true, 0, 0},
    {"pow", 2, true, true, 8, 2},
    {"atan2", 2, true, true, 3, 2},
}};
static_assert(table.size() == static_cast<std::size_t>(Operation::atan2) + 1);

// The seeds' formulas; a term that stands twice is computed once. hypot gives two equal sides the quotient 1,
// so that 0,0 is 0 and two infinities are infinite. gaussian_pdf multiplies by reciprocals, which are
// computed once for all elements where sigma is one number.
constexpr std::array<NamedFunction, 4> named = {{
    {"add", "a + b"},
    {"hypot",
     "max(abs(a), abs(b)) * sqrt(1 + pow(min(abs(a), abs(b)) == max(abs(a), abs(b)) ? 1"
     " : min(abs(a), abs(b)) / max(abs(a), abs(b)), 2))"},
    {"gaussian_pdf", "exp(-0.5 * pow((a - b) * (1 / c), 2)) * (1 / (c * 2.5066282746310002))"},
    {"polar_distance", "sqrt(pow(a * cos(b) - c * cos(d), 2) + pow(a * sin(b) - c * sin(d), 2))"},
}};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

struct SyntaxError {
  std::size_t position;
  std::string sentence;
};

[[noreturn]] void fail(std::size_t position, std::string sentence) {
  throw SyntaxError{position, std::move(sentence)};
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// Whether a byte of UTF-8 is not a character's first.
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::string function_names() {
  std::string all;
  for (const NamedFunction& function : named) all += (all.empty() ? "" : ", ") + std::string(function.name);
  for (const OperationFacts& known : table) {
    if (known.called) all += ", " + std::string(known.name);
  }
  return all;
}

// Adds nodes, each once.
class Builder {
 public:
  Expression expression;

  int add(Node node) {
    node.non_negative = is_non_negative(node);
    const Key key = {node.operation, node.operands, node.input, node.number, node.whole};
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    if (expression.nodes.size() >= most_operations) {
      fail(node.position, "The expression has more than " + std::to_string(most_operations) +
                              " different operations; split it up.");
    }
    const int place = static_cast<int>(expression.nodes.size());
    expression.nodes.push_back(node);
    known_.emplace(key, place);
    return place;
  }

  int add(Operation operation, std::size_t position, std::array<int, 3> operands) {
    if (operation == Operation::pow && at(operands[1]).operation == Operation::number &&
        at(operands[1]).number == 2) {
      return add(Operation::multiply, position, {operands[0], operands[0], -1});
    }
    return add(Node{.operation = operation, .operands = operands, .position = position});
  }

  // The nodes of `body` with `arguments` for its inputs; its result.
  int insert(const Expression& body, std::span<const int> arguments, std::size_t position) {
    std::vector<int> place(body.nodes.size());
    for (std::size_t i = 0; i < body.nodes.size(); ++i) {
      Node node = body.nodes[i];
      node.position = position;
      if (node.operation == Operation::input) {
        place[i] = arguments[static_cast<std::size_t>(node.input)];
        continue;
      }
      for (int& operand : node.operands) {
        if (operand >= 0) operand = place[static_cast<std::size_t>(operand)];
      }
      place[i] = add(node);
    }
    return place.back();
  }

 private:
  using Key = std::tuple<Operation, std::array<int, 3>, int, double, std::optional<std::int64_t>>;

  const Node& at(int place) const { return expression.nodes[static_cast<std::size_t>(place)]; }

  bool is_non_negative(const Node& node) const {
    const auto operand = [&](std::size_t n) { return at(node.operands[n]).non_negative; };
    switch (node.operation) {
      case Operation::number:
        return node.number >= 0;
      case Operation::abs:
      case Operation::exp:
      case Operation::exp2:
      case Operation::cosh:
      case Operation::erfc:
      case Operation::sqrt:
      case Operation::rsqrt:
        return true;
      case Operation::multiply:
        return node.operands[0] == node.operands[1] || (operand(0) && operand(1));
      case Operation::add:
      case Operation::divide:
      case Operation::min:
        return operand(0) && operand(1);
      case Operation::max:
        return operand(0) || operand(1);
      case Operation::choose:
        return operand(1) && operand(2);
      default:
        return false;
    }
  }

  std::map<Key, int> known_;
};

// Recursive descent over C's grammar, from ?: down to a number, an input or a call.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Expression parse() {
    skip_blanks();
    if (at_ == text_.size()) fail(at_, "There is no expression.");
    const int root = choice();
    if (at_ < text_.size()) {
      fail(at_, text_[at_] == ')' ? "This ')' closes nothing."
                                  : "An operator or the end was expected instead of " + quoted(here()) + ".");
    }
    Expression& expression = builder_.expression;
    for (int k = 0; k < most_inputs; ++k) {
      const auto uses = [k](const Node& node) { return node.input == k; };
      if (std::any_of(expression.nodes.begin(), expression.nodes.end(), uses)) expression.inputs = k + 1;
    }
    if (expression.inputs == 0) fail(0, "The expression uses no input; one at least, a, is needed.");
    for (int k = 0; k < expression.inputs; ++k) {
      const auto uses = [k](const Node& node) { return node.input == k; };
      if (std::none_of(expression.nodes.begin(), expression.nodes.end(), uses)) {
        fail(0, "The expression uses the input " + letter(expression.inputs - 1) + " but not " + letter(k) +
                    "; inputs are named without a gap, from a on.");
      }
    }
    // What is not part of the result (pow(x, 2) leaves its 2) is dropped; the root is last.
    return pruned(expression, root);
  }

 private:
  static std::string letter(int k) { return {static_cast<char>('a' + k)}; }

  static Expression pruned(const Expression& expression, int root) {
    std::vector<char> needed(expression.nodes.size(), 0);
    needed[static_cast<std::size_t>(root)] = 1;
    for (std::size_t i = expression.nodes.size(); i-- > 0;) {
      if (needed[i] == 0) continue;
      for (const int operand : expression.nodes[i].operands) {
        if (operand >= 0) needed[static_cast<std::size_t>(operand)] = 1;
      }
    }
    Expression result;
    result.inputs = expression.inputs;
    std::vector<int> place(expression.nodes.size(), -1);
    for (std::size_t i = 0; i < expression.nodes.size(); ++i) {
      if (needed[i] == 0) continue;
      Node node = expression.nodes[i];
      for (int& operand : node.operands) {
        if (operand >= 0) operand = place[static_cast<std::size_t>(operand)];
      }
      place[i] = static_cast<int>(result.nodes.size());
      result.nodes.push_back(node);
    }
    return result;
  }

  struct Infix {
    std::string_view symbol;
    Operation operation;
  };

  // Counts nesting for as long as it lives.
  class Deeper {
   public:
    explicit Deeper(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > deepest_nesting) {
        fail(parser_.at_, "The expression is nested more than " + std::to_string(deepest_nesting) + " deep.");
      }
    }
    ~Deeper() { --parser_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    Parser& parser_;
  };

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  // The character, of several bytes where it is not ASCII.
  std::string_view here() const {
    std::size_t end = std::min(at_ + 1, text_.size());
    while (end < text_.size() && continues_character(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  bool take(std::string_view symbol) {
    if (text_.substr(at_, symbol.size()) != symbol) return false;
    at_ += symbol.size();
    skip_blanks();
    return true;
  }

  void expect(std::string_view symbol, std::string_view where) {
    if (take(symbol)) return;
    fail(at_, quoted(symbol) + " was expected " + std::string(where) +
                  (at_ < text_.size() ? " instead of " + quoted(here()) : ", where the text ends") + ".");
  }

  int choice() {
    const Deeper deeper(*this);
    const int condition = logical_or();
    const std::size_t position = at_;
    if (!take("?")) return condition;
    const int yes = choice();
    expect(":", "between the two values of '?'");
    const int no = choice();
    return builder_.add(Operation::choose, position, {condition, yes, no});
  }

  template <typename Next>
  int left_to_right(std::span<const Infix> operators, Next next) {
    int left = next();
    for (;;) {
      const std::size_t position = at_;
      const auto found = std::find_if(operators.begin(), operators.end(),
                                      [&](const Infix& infix) { return take(infix.symbol); });
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
      const std::size_t position = at_;
      if (!take(infix.symbol)) continue;
      const int result = builder_.add(infix.operation, position, {left, sum(), -1});
      for (const Infix& next : operators) {
        if (text_.substr(at_, next.symbol.size()) == next.symbol)
          fail(at_, "Comparisons do not chain; write (x < y && y < z).");
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
    const std::size_t position = at_;
    const bool minus = take("-");
    if (minus && starts_number()) return number(true);
    const bool negation = !minus && text_.substr(at_, 2) != "!=" && take("!");
    if (!minus && !negation) return primary();
    const Deeper deeper(*this);
    return builder_.add(minus ? Operation::negate : Operation::logical_not, position, {unary(), -1, -1});
  }

  bool starts_number() const {
    return at_ < text_.size() && (is_digit(text_[at_]) ||
                                  (text_[at_] == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])));
  }

  int number(bool negative) {
    const std::size_t position = at_;
    const auto digits = [this] {
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    };
    bool whole = true;
    digits();
    if (at_ < text_.size() && text_[at_] == '.') {
      whole = false;
      ++at_;
      digits();
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      whole = false;
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (at_ == text_.size() || !is_digit(text_[at_]))
        fail(at_, "A number's exponent has digits, as in 1e-3.");
      digits();
    }
    if (at_ < text_.size() && (is_letter(text_[at_]) || text_[at_] == '.')) {
      fail(at_, "A number ends before " + quoted(here()) + "; an operator is missing.");
    }
    const std::string written = (negative ? "-" : "") + std::string(text_.substr(position, at_ - position));
    Node node{.operation = Operation::number, .position = position};
    const auto [end, failure] = std::from_chars(written.data(), written.data() + written.size(), node.number);
    // Too small a number is zero; too large a one has no value.
    if (failure != std::errc() && std::abs(std::strtod(written.c_str(), nullptr)) > 1)
      fail(position, "The number is too large for any of the types.");
    if (failure != std::errc()) node.number = std::strtod(written.c_str(), nullptr);
    if (whole) {
      std::int64_t value = 0;
      if (std::from_chars(written.data(), written.data() + written.size(), value).ec == std::errc())
        node.whole = value;
    }
    skip_blanks();
    return builder_.add(node);
  }

  int primary() {
    const std::size_t position = at_;
    if (at_ == text_.size()) fail(at_, "A value was expected where the text ends.");
    if (take("(")) {
      const int inner = choice();
      expect(")", "here");
      return inner;
    }
    if (starts_number()) return number(false);
    if (!is_letter(text_[at_])) fail(at_, "A value was expected instead of " + quoted(here()) + ".");
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(position, at_ - position);
    skip_blanks();
    if (text_.substr(at_, 1) == "(") return call(word, position);
    if (word.size() == 1 && word[0] >= 'a' && word[0] < 'a' + most_inputs)
      return builder_.add(Node{.operation = Operation::input, .input = word[0] - 'a', .position = position});
    if (word == "pi") {
      return builder_.add(
          Node{.operation = Operation::number, .number = 3.14159265358979323846, .position = position});
    }
    fail(position, "There is no " + quoted(word) +
                       "; inputs are a to f, pi is a number, and the functions are " + function_names() +
                       ".");
  }

  int call(std::string_view word, std::size_t position) {
    std::vector<int> arguments;
    take("(");
    do {
      if (arguments.size() > 3) fail(at_, quoted(word) + " has too many arguments.");
      arguments.push_back(choice());
    } while (take(","));
    expect(")", "after the arguments of " + quoted(word));
    const auto check_count = [&](std::size_t wanted) {
      if (arguments.size() != wanted) {
        fail(position, quoted(word) + " has " + std::to_string(wanted) +
                           (wanted == 1 ? " argument" : " arguments") + ", not " +
                           std::to_string(arguments.size()) + ".");
      }
    };
    for (const NamedFunction& function : named) {
      if (function.name != word) continue;
      const Expression body = Parser(function.expression).parse();
      check_count(static_cast<std::size_t>(body.inputs));
      return builder_.insert(body, arguments, position);
    }
    for (std::size_t n = 0; n < table.size(); ++n) {
      if (!table[n].called || table[n].name != word) continue;
      check_count(static_cast<std::size_t>(table[n].operands));
      arguments.resize(3, -1);
      return builder_.add(static_cast<Operation>(n), position, {arguments[0], arguments[1], arguments[2]});
    }
    fail(position, "There is no function " + quoted(word) + "; there are " + function_names() + ".");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Builder builder_;
};

// The text around a position, and a caret under it.
std::string shown(std::string_view text, std::size_t position) {
  constexpr std::size_t reach = 50;  // characters to each side
  const std::size_t from = position > reach ? position - reach : 0;
  std::string line;
  for (const char c : text.substr(from, 2 * reach)) {
    if (!continues_character(c)) line += c < ' ' || c > '~' ? '?' : c;
  }
  return "\n  " + line + "\n  " + std::string(position - from, ' ') + "^";
}

double largest_float() { return static_cast<double>(std::numeric_limits<float>::max()); }

std::string variable(int node) { return "v" + std::to_string(node); }

std::string literal(const Node& node, DType compute) {
  std::array<char, 64> text{};
  switch (compute) {
    case DType::i32:
    case DType::i64: {
      const std::string suffix = compute == DType::i64 ? "ll" : "";
      const std::int64_t value = node.whole.value();
      const std::int64_t least = compute == DType::i64 ? std::numeric_limits<std::int64_t>::min()
                                                       : std::numeric_limits<std::int32_t>::min();
      // The least integer has no literal of its own.
      if (value == least) return std::to_string(least + 1) + suffix + " - 1";
      return std::to_string(value) + suffix;
    }
    case DType::f64:
      std::snprintf(text.data(), text.size(), "%a", node.number);
      return text.data();
    default:
      std::snprintf(text.data(), text.size(), "%af", static_cast<double>(static_cast<float>(node.number)));
      return text.data();
  }
}

}  // namespace

const OperationFacts& facts(Operation operation) { return table[static_cast<std::size_t>(operation)]; }
std::span<const OperationFacts> operations() { return table; }
std::span<const NamedFunction> named_functions() { return named; }

DType compute_dtype(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype; }

Parsed parse(std::string_view function) {
  for (const NamedFunction& known : named) {
    if (known.name == function) function = known.expression;
  }
  if (function.size() > longest_text) {
    return {{},
            "It has " + std::to_string(function.size()) + " characters; at most " +
                std::to_string(longest_text) + " are allowed."};
  }
  try {
    return {Parser(function).parse(), ""};
  } catch (const SyntaxError& error) {
    return {{},
            "At character " + std::to_string(error.position + 1) + ": " + error.sentence +
                shown(function, error.position)};
  }
}

std::string refuses(const Expression& expression, DType dtype) {
  const DType compute = compute_dtype(dtype);
  const bool whole = compute == DType::i32 || compute == DType::i64;
  for (const Node& node : expression.nodes) {
    if (whole && facts(node.operation).real) {
      return "The function " + std::string(facts(node.operation).name) +
             ", which it uses, is one of real numbers; the dtype has to be f32, f64, f16 or bf16, not " +
             std::string(name(dtype)) + ".";
    }
  }
  for (const Node& node : expression.nodes) {
    if (node.operation != Operation::number) continue;
    std::array<char, 32> number{};
    std::snprintf(number.data(), number.size(), "%.10g", node.number);
    const std::string subject = "The number " +
                                (node.whole ? std::to_string(*node.whole) : std::string(number.data())) +
                                ", which it uses, ";
    if (whole) {
      const std::int64_t least = compute == DType::i64 ? std::numeric_limits<std::int64_t>::min()
                                                       : std::numeric_limits<std::int32_t>::min();
      if (!node.whole || *node.whole < least || *node.whole > -(least + 1)) {
        return subject + "is no " + std::string(name(dtype)) +
               "; numbers have to be whole, without point or exponent, and in the type's range.";
      }
    } else if (compute == DType::f32 && std::abs(node.number) > largest_float()) {
      return subject + "is beyond the range of f32, in which the function is computed.";
    }
  }
  return "";
}

std::string code(const Expression& expression, DType dtype) {
  const DType compute = compute_dtype(dtype);
  const std::string type(cuda_type(compute));
  std::string text = "using Compute = " + type +
                     ";\nconstexpr int ARITY = " + std::to_string(expression.inputs) +
                     ";\n__device__ __forceinline__ Compute apply(const Compute (&input)[ARITY]) {\n";
  const std::vector<Node>& nodes = expression.nodes;
  std::vector<char> done(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (done[i] != 0) continue;
    const Node& node = nodes[i];
    const std::string left = "  const Compute " + variable(static_cast<int>(i)) + " = ";
    if (node.operation == Operation::input) {
      text += left + "input[" + std::to_string(node.input) + "];\n";
      continue;
    }
    if (node.operation == Operation::number) {
      text += left + literal(node, compute) + ";\n";
      continue;
    }
    if (node.operation == Operation::sin || node.operation == Operation::cos) {
      // Sine and cosine of the same angle share most of their work.
      const Operation other = node.operation == Operation::sin ? Operation::cos : Operation::sin;
      const auto partner = std::find_if(nodes.begin(), nodes.end(), [&](const Node& candidate) {
        return candidate.operation == other && candidate.operands == node.operands;
      });
      if (partner != nodes.end()) {
        const auto p = static_cast<std::size_t>(partner - nodes.begin());
        const std::string mine = variable(static_cast<int>(i));
        const std::string its = variable(static_cast<int>(p));
        const bool sine = node.operation == Operation::sin;
        text += "  Compute " + mine + ", " + its + ";\n  elementwise::sin_cos(" + variable(node.operands[0]) +
                ", " + (sine ? mine : its) + ", " + (sine ? its : mine) + ");\n";
        done[p] = 1;
        continue;
      }
    }
    const OperationFacts& known = facts(node.operation);
    text += left + "elementwise::" + std::string(known.name) + "(";
    for (int n = 0; n < known.operands; ++n)
      text += (n > 0 ? ", " : "") + variable(node.operands[static_cast<std::size_t>(n)]);
    text += ");\n";
  }
  return text + "  return " + variable(static_cast<int>(nodes.size()) - 1) + ";\n}\n";
}

}  // namespace tunesmith::elementwise_op
