// SPDX-License-Identifier: Apache-2.0
// Reads the text of an index expression into its structure, and writes it again.

#include "templates/tensor/notation/expression.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "generator/number_text.h"
#include "language/builder.h"
#include "language/scanner.h"

namespace tunesmith::tensor_op {
namespace {

using elementwise_op::fail;
using elementwise_op::Node;
using elementwise_op::Operation;
using elementwise_op::quoted;
using elementwise_op::Scanner;

constexpr std::int64_t largest_factor = 1 << 20;

class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text), function_(text) {}

  Expression parse() {
    output();
    const std::size_t behind = scanner_.position();
    std::fill(function_.begin(), function_.begin() + static_cast<std::ptrdiff_t>(behind), ' ');
    read_function();
    complete(e_.output);
    check_names();
    check_indices();
    number_reduced();
    if (e_.accesses.empty()) fail(behind, "The expression reads no array; one at least is needed.");
    e_.function = elementwise_op::parse_expression(function_);
    if (!reduces_ && e_.free < e_.indices.size()) {
      const Index& index = e_.indices[e_.free];
      fail(index.position, "The index " + index.name + " is none of " + e_.output_name +
                               "'s; write += to sum over it, or max= or min=.");
    }
    return std::move(e_);
  }

  /// The expression, which this has read, with a finish.
  Expression finished(Expression expression, std::string_view finish) {
    e_ = std::move(expression);
    scanner_ = Scanner(finish);
    function_ = finish;
    in_finish_ = true;
    read_function();
    check_names();
    if (!uses_reduced_)
      fail(0, "The finish does not name " + std::string(no_finish) + ", the value that it is a function of.");
    e_.finish.function = elementwise_op::parse_expression(function_);
    if (e_.finish.function.nodes.size() == 1) e_.finish = {};
    return std::move(e_);
  }

 private:
  void read_function() {
    while (!scanner_.at_end()) next();
    for (Access& access : e_.accesses) complete(access);
  }

  void output() {
    if (!scanner_.sees_word())
      fail(scanner_.position(), "The array that is computed was expected, as in out[y,x] += …");
    e_.output.array = -1;
    e_.output.position = scanner_.position();
    e_.output_name = scanner_.word();
    std::vector<std::size_t> positions;
    if (scanner_.sees("[")) e_.output.dimensions = dimensions(positions);
    for (std::size_t d = 0; d < e_.output.dimensions.size(); ++d) {
      if (!e_.output.dimensions[d].index())
        fail(positions[d],
             "Each place of " + e_.output_name + " is one index, so that no element is written twice.");
    }
    e_.free = e_.indices.size();
    static constexpr std::array<std::pair<std::string_view, Reduction>, 4> assignments = {
        {{"+=", Reduction::sum}, {"max=", Reduction::max}, {"min=", Reduction::min}, {"=", Reduction::sum}}};
    const auto found = std::find_if(assignments.begin(), assignments.end(),
                                    [&](const auto& each) { return scanner_.take(each.first); });
    if (found == assignments.end() || scanner_.sees("="))
      fail(scanner_.position(), "One of = += max= min= was expected behind the array that is computed.");
    e_.reduction = found->second;
    reduces_ = found->first != "=";
  }

  // Steps over a word, a number or a symbol of the function; an access becomes its letter.
  void next() {
    if (scanner_.sees_number()) {
      scanner_.number(false);
      return;
    }
    if (!scanner_.sees_word()) {
      scanner_.take(scanner_.here());
      return;
    }
    Access access;
    access.position = scanner_.position();
    const std::string name(scanner_.word());
    std::vector<std::size_t> positions;
    if (scanner_.sees("[")) {
      access.dimensions = dimensions(positions);
    } else if (scanner_.sees("(") || name == "pi") {
      return;  // of the function's language
    } else if (in_finish_ && (name == no_finish || name == e_.output_name)) {
      uses_reduced_ = true;
      become(access, 0);
      return;
    }
    access.array = array(name, access);
    const auto known = std::find_if(e_.accesses.begin(), e_.accesses.end(), [&](Access& other) {
      complete(other);
      complete(access);
      return other.same(access);
    });
    const auto place = known - e_.accesses.begin();
    if (known == e_.accesses.end()) {
      if (e_.accesses.size() == most_arrays)
        fail(access.position, "The expression has more than " + std::to_string(most_arrays) +
                                  " different accesses; split it up.");
      e_.accesses.push_back(access);
    }
    if (!in_finish_) return become(access, place);
    std::vector<int>& all = e_.finish.accesses;
    const auto letter = std::find(all.begin(), all.end(), static_cast<int>(place)) - all.begin();
    if (letter == std::ssize(all)) all.push_back(static_cast<int>(place));
    if (all.size() == most_arrays)
      fail(access.position, "The finish has more than " + std::to_string(most_arrays - 1) +
                                " different accesses; split it up.");
    become(access, 1 + letter);
  }

  // Replaces an access, which the scanner is behind, by the n-th letter.
  void become(const Access& access, std::ptrdiff_t n) {
    const auto from = function_.begin() + static_cast<std::ptrdiff_t>(access.position);
    const auto to = function_.begin() + static_cast<std::ptrdiff_t>(scanner_.position());
    std::fill(from, to, ' ');
    *from = static_cast<char>('a' + n);
  }

  int array(const std::string& name, const Access& access) {
    if (name == e_.output_name || (in_finish_ && name == no_finish))
      fail(access.position, "The array " + name + " is computed; it cannot be read as well" +
                                (in_finish_ ? ", but for the element itself, out." : "."));
    const auto found = std::find(e_.arrays.begin(), e_.arrays.end(), name);
    const auto place = static_cast<std::size_t>(found - e_.arrays.begin());
    if (found == e_.arrays.end()) {
      e_.arrays.push_back(name);
      e_.ranks.push_back(access.dimensions.size());
    } else if (e_.ranks[place] != access.dimensions.size()) {
      fail(access.position, "The array " + name + " has " + std::to_string(access.dimensions.size()) +
                                " indices here and " + std::to_string(e_.ranks[place]) + " before.");
    }
    return static_cast<int>(place);
  }

  std::vector<Affine> dimensions(std::vector<std::size_t>& positions) {
    std::vector<Affine> all;
    scanner_.take("[");
    if (scanner_.take("]")) return all;
    do {
      if (all.size() == most_indices)
        fail(scanner_.position(), "An array has at most " + std::to_string(most_indices) + " dimensions.");
      positions.push_back(scanner_.position());
      all.push_back(dimension());
    } while (scanner_.take(","));
    scanner_.expect("]", "behind an array's indices");
    return all;
  }

  // A sum of indices and whole numbers.
  Affine dimension() {
    Affine sum;
    std::int64_t sign = scanner_.take("-") ? -1 : 1;
    for (;;) {
      term(sum, sign);
      if (scanner_.take("+")) {
        sign = 1;
      } else if (scanner_.take("-")) {
        sign = -1;
      } else {
        return sum;
      }
    }
  }

  void term(Affine& sum, std::int64_t sign) {
    const std::size_t position = scanner_.position();
    std::int64_t factor = sign;
    bool has_index = false;
    std::size_t index = 0;
    do {
      if (scanner_.sees_number()) {
        const std::size_t at = scanner_.position();
        const Node number = scanner_.number(false);
        if (!number.whole || *number.whole > largest_factor)
          fail(at, "A number in an index is whole and at most " + std::to_string(largest_factor) + ".");
        factor *= *number.whole;
      } else if (scanner_.sees_word()) {
        if (has_index)
          fail(scanner_.position(),
               "Two indices are multiplied here; an index has a whole number as its factor.");
        has_index = true;
        const std::size_t at = scanner_.position();
        index = index_of(at, scanner_.word());
      } else {
        fail(scanner_.position(), scanner_.at_end()
                                      ? "An index was expected where the text ends."
                                      : "An index was expected instead of " + quoted(scanner_.here()) + ".");
      }
      if (std::abs(factor) > largest_factor)
        fail(position, "The factor of an index is at most " + std::to_string(largest_factor) + ".");
    } while (scanner_.take("*"));
    if (!has_index) {
      sum.offset += factor;
      return;
    }
    sum.factors.resize(std::max(sum.factors.size(), index + 1));
    sum.factors[index] += factor;
    if (std::abs(sum.factors[index]) > largest_factor)
      fail(position, "The factor of an index is at most " + std::to_string(largest_factor) + ".");
  }

  std::size_t index_of(std::size_t position, std::string_view name) {
    const std::size_t place = e_.place_of(name);
    if (in_finish_ && place >= e_.free) {
      fail(position, "The index " + std::string(name) +
                         (place < e_.indices.size() ? " is reduced" : " is none of the expression's") +
                         "; a finish has the indices of " + e_.output_name + " alone.");
    }
    if (place == e_.indices.size()) {
      if (place == most_indices)
        fail(position, "The index " + std::string(name) + " is one more than the " +
                           std::to_string(most_indices) + " that an expression may have.");
      e_.indices.push_back({std::string(name), position});
    }
    return place;
  }

  void complete(Access& access) const {
    for (Affine& dimension : access.dimensions) dimension.factors.resize(e_.indices.size());
  }

  // Brackets tell arrays from indices; without them nothing does.
  void check_names() const {
    const auto check = [&](const std::string& name, const Access& access) {
      if (access.dimensions.empty() && e_.place_of(name) < e_.indices.size()) {
        fail(access.position,
             "The name " + name +
                 " is an index's; an index is no number that can be computed with. Give an array of "
                 "one element another name.");
      }
    };
    for (const Access& access : e_.accesses) check(e_.arrays[static_cast<std::size_t>(access.array)], access);
    check(e_.output_name, e_.output);
  }

  // Refuses an index whose factors cancel, as in i-i: it would multiply a sum by its extent but stand in no
  // text.
  void check_indices() const {
    for (std::size_t i = e_.free; i < e_.indices.size(); ++i) {
      if (std::none_of(e_.accesses.begin(), e_.accesses.end(),
                       [i](const Access& access) { return access.is_moved_by(i); })) {
        fail(e_.indices[i].position,
             "The index " + e_.indices[i].name + " cancels out: it moves no array. Leave it out.");
      }
    }
  }

  // Numbers reduced indices in the order in which they first move an access: a stored text leaves out terms
  // whose factors are 0 or cancel, and names the indices in this order when it is read again.
  void number_reduced() {
    std::vector<std::size_t> order(e_.free);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (const Access& access : e_.accesses) {
      for (const Affine& dimension : access.dimensions) {
        for (std::size_t i = e_.free; i < e_.indices.size(); ++i) {
          const bool is_new = std::find(order.begin(), order.end(), i) == order.end();
          if (is_new && dimension.factors[i] != 0) order.push_back(i);
        }
      }
    }
    const auto reorder = [&](auto& of_indices) {
      const auto before = of_indices;
      for (std::size_t i = 0; i < order.size(); ++i) of_indices[i] = before[order[i]];
    };
    reorder(e_.indices);
    for (Access& access : e_.accesses)
      for (Affine& dimension : access.dimensions) reorder(dimension.factors);
  }

  Scanner scanner_;
  std::string function_;  // the text; whatever is not part of the function of letters is blank
  Expression e_;
  bool reduces_ = false;
  bool in_finish_ = false;
  bool uses_reduced_ = false;
};

// An operation's symbol, and how tightly it binds in the function's language; calls and values bind most.
struct Infix {
  Operation operation;
  std::string_view symbol;
  int level;
};
constexpr int comparison_level = 3;
constexpr std::array<Infix, 13> infixes = {{{Operation::logical_or, " || ", 1},
                                            {Operation::logical_and, " && ", 2},
                                            {Operation::less, " < ", comparison_level},
                                            {Operation::less_equal, " <= ", comparison_level},
                                            {Operation::greater, " > ", comparison_level},
                                            {Operation::greater_equal, " >= ", comparison_level},
                                            {Operation::equal, " == ", comparison_level},
                                            {Operation::not_equal, " != ", comparison_level},
                                            {Operation::add, " + ", 4},
                                            {Operation::subtract, " - ", 4},
                                            {Operation::multiply, " * ", 5},
                                            {Operation::divide, " / ", 5},
                                            {Operation::remainder, " % ", 5}}};
constexpr int unary_level = 6;
constexpr int value_level = 7;

struct TooLong {};

class Writer {
 public:
  explicit Writer(const Expression& expression, std::size_t longest = longest_text, bool of_finish = false)
      : e_(expression),
        nodes_((of_finish ? expression.finish.function : expression.function).nodes),
        longest_(longest),
        of_finish_(of_finish) {}

  std::string all() const {
    static constexpr std::array<std::string_view, 3> signs = {" += ", " max= ", " min= "};
    return e_.output_name + indices(e_.output) +
           std::string(e_.free == e_.indices.size() ? " = " : signs[static_cast<std::size_t>(e_.reduction)]) +
           function();
  }

  std::string function() const { return written(static_cast<int>(nodes_.size()) - 1, 0); }

  std::string read(const Access& access) const {
    return e_.arrays[static_cast<std::size_t>(access.array)] + indices(access);
  }

 private:
  const std::string& name(std::size_t index) const { return e_.indices[index].name; }
  const Access& access(int input) const {
    const int place = of_finish_ ? e_.finish.accesses[static_cast<std::size_t>(input - 1)] : input;
    return e_.accesses[static_cast<std::size_t>(place)];
  }

  std::string indices(const Access& access) const {
    if (access.dimensions.empty()) return "";
    std::string text;
    for (const Affine& dimension : access.dimensions) {
      std::string sum;
      for (std::size_t i = 0; i < dimension.factors.size(); ++i) {
        const std::int64_t factor = dimension.factors[i];
        if (factor == 0) continue;
        sum += factor < 0 ? "-" : sum.empty() ? "" : "+";
        sum += (std::abs(factor) == 1 ? "" : std::to_string(std::abs(factor)) + "*") + name(i);
      }
      if (dimension.offset != 0 || sum.empty())
        sum += (dimension.offset < 0 || sum.empty() ? "" : "+") + std::to_string(dimension.offset);
      text += (text.empty() ? "" : ",") + sum;
    }
    return "[" + text + "]";
  }

  // The text of a node, in parentheses if the surroundings bind more tightly than `level`.
  std::string written(int place, int level) const {
    const Node& node = nodes_[static_cast<std::size_t>(place)];
    const auto operand = [&](std::size_t n, int of) { return written(node.operands[n], of); };
    std::string text;
    int own = value_level;
    const auto symbol = std::find_if(infixes.begin(), infixes.end(),
                                     [&](const Infix& each) { return each.operation == node.operation; });
    if (node.operation == Operation::input) {
      text = of_finish_ && node.input == 0 ? std::string(no_finish) : read(access(node.input));
    } else if (node.operation == Operation::number) {
      text = node.whole ? std::to_string(*node.whole) : printed("%.17g", node.number);
      if (!node.whole && text.find_first_of(".en") == std::string::npos) text += ".0";
      if (text.front() == '-') own = unary_level;
    } else if (node.operation == Operation::negate || node.operation == Operation::logical_not) {
      own = unary_level;
      text = (node.operation == Operation::negate ? "-" : "!") + operand(0, value_level);
    } else if (node.operation == Operation::choose) {
      own = 0;
      text = operand(0, 1) + " ? " + operand(1, 0) + " : " + operand(2, 0);
    } else if (symbol != infixes.end()) {
      own = symbol->level;
      const bool compares = own == comparison_level;
      text = operand(0, own + (compares ? 1 : 0)) + std::string(symbol->symbol) + operand(1, own + 1);
    } else {
      const elementwise_op::OperationFacts& known = elementwise_op::facts(node.operation);
      for (int n = 0; n < known.operands; ++n)
        text += (n > 0 ? ", " : "") + operand(static_cast<std::size_t>(n), 0);
      text = std::string(known.name) + "(" + text + ")";
    }
    if (text.size() > longest_) throw TooLong();
    return own < level ? "(" + text + ")" : text;
  }

  const Expression& e_;
  const std::vector<Node>& nodes_;
  std::size_t longest_;
  bool of_finish_;
};

// The expression with the names that a stored problem has.
Expression canonical(const Expression& expression) {
  Expression its = expression;
  its.output_name = "out";
  for (std::size_t i = 0; i < its.indices.size(); ++i) its.indices[i].name = static_cast<char>('a' + i);
  for (std::size_t k = 0; k < its.arrays.size(); ++k) its.arrays[k] = "x" + std::to_string(k);
  return its;
}

}  // namespace

std::optional<std::size_t> Affine::index() const {
  const auto one = std::find(factors.begin(), factors.end(), 1);
  const bool is_alone = offset == 0 && one != factors.end() &&
                        std::count(factors.begin(), factors.end(), 0) + 1 == std::ssize(factors);
  return is_alone ? std::optional(static_cast<std::size_t>(one - factors.begin())) : std::nullopt;
}

bool Access::is_moved_by(std::size_t index) const {
  return std::any_of(dimensions.begin(), dimensions.end(),
                     [&](const Affine& dimension) { return dimension.factors[index] != 0; });
}

std::size_t Expression::place_of(std::string_view index) const {
  const auto found =
      std::find_if(indices.begin(), indices.end(), [&](const Index& each) { return each.name == index; });
  return static_cast<std::size_t>(found - indices.begin());
}

ParseResult parse(std::string_view text, std::string_view finish) {
  Expression expression;
  const auto refusal = [](std::string_view of, const auto& reads, const auto& written) -> std::string {
    if (of.size() > longest_text) {
      return "It has " + std::to_string(of.size()) + " characters; at most " + std::to_string(longest_text) +
             " are allowed.";
    }
    try {
      reads();
    } catch (const elementwise_op::SyntaxError& error) {
      return elementwise_op::message(error, of);
    }
    if (written().size() <= longest_text) return "";
    return "Written out, without names for parts that occur several times, it has more than " +
           std::to_string(longest_text) + " characters; split it up.";
  };
  std::string error = refusal(
      text, [&] { expression = Parser(text).parse(); }, [&] { return canonical_text(expression); });
  if (error.empty() && finish != no_finish) {
    error = refusal(
        finish, [&] { expression = Parser(text).finished(std::move(expression), finish); },
        [&] { return canonical_finish(expression); });
    if (!error.empty()) error = "Its finish is \"" + std::string(finish.substr(0, 200)) + "\". " + error;
  }
  if (!error.empty()) return {{}, std::move(error)};
  return {std::move(expression), ""};
}

std::string canonical_text(const Expression& expression) {
  try {
    return Writer(canonical(expression)).all();
  } catch (const TooLong&) {
    return std::string(longest_text + 1, '?');
  }
}

std::string canonical_finish(const Expression& expression) {
  if (!expression.finish.is_there()) return std::string(no_finish);
  try {
    return Writer(canonical(expression), longest_text, true).function();
  } catch (const TooLong&) {
    return std::string(longest_text + 1, '?');
  }
}

std::string place_of(const Expression& expression, const Access& access) {
  const auto place = static_cast<int>(&access - expression.accesses.data());
  return "at character " + std::to_string(access.position + 1) +
         (place < expression.function.inputs || access.array < 0 ? "" : " of the finish");
}

elementwise_op::Expression composed(const Expression& expression) {
  if (!expression.finish.is_there()) return expression.function;
  elementwise_op::Builder builder;
  std::vector<int> inputs;
  inputs.reserve(expression.accesses.size());
  for (int k = 0; k < std::ssize(expression.accesses); ++k)
    inputs.push_back(builder.add(Node{.operation = Operation::input, .input = k}));
  std::vector<int> letters = {builder.insert(expression.function, inputs, 0)};
  for (const int place : expression.finish.accesses)
    letters.push_back(inputs[static_cast<std::size_t>(place)]);
  const int root = builder.insert(expression.finish.function, letters, 0);
  return builder.finish(root, static_cast<int>(inputs.size()));
}

std::string text(const Expression& expression) {
  try {
    return Writer(expression, 16 * longest_text).all();
  } catch (const TooLong&) {
    return expression.output_name + " of a function that is too long to print";
  }
}

std::string text(const Expression& expression, const Access& access) {
  return Writer(expression).read(access);
}

bool is_window(const Expression& expression, std::size_t index) {
  const auto moves_with_others = [=](const Affine& dimension) {
    return dimension.factors[index] != 0 &&
           std::count(dimension.factors.begin(), dimension.factors.end(), 0) + 1 <
               std::ssize(dimension.factors);
  };
  return expression.is_reduced(index) &&
         std::any_of(expression.accesses.begin(), expression.accesses.end(), [&](const Access& access) {
           return std::any_of(access.dimensions.begin(), access.dimensions.end(), moves_with_others);
         });
}

bool has_windows(const Expression& expression) {
  for (std::size_t i = expression.free; i < expression.indices.size(); ++i)
    if (is_window(expression, i)) return true;
  return false;
}

std::int64_t operations_of(const elementwise_op::Expression& function) {
  return std::count_if(function.nodes.begin(), function.nodes.end(),
                       [](const Node& node) { return elementwise_op::facts(node.operation).operands > 0; });
}

std::vector<int> product_of(const elementwise_op::Expression& function) {
  std::vector<int> factors;
  std::vector<int> open = {static_cast<int>(function.nodes.size()) - 1};
  while (!open.empty()) {
    const Node& node = function.nodes[static_cast<std::size_t>(open.back())];
    open.pop_back();
    if (node.operation == Operation::input) {
      factors.push_back(node.input);
    } else if (node.operation == Operation::multiply && factors.size() + open.size() < 64) {
      open.push_back(node.operands[1]);
      open.push_back(node.operands[0]);
    } else {
      return {};
    }
  }
  return factors;
}

}  // namespace tunesmith::tensor_op
