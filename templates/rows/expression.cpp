// SPDX-License-Identifier: Apache-2.0
#include "templates/rows/expression.h"

#include <algorithm>
#include <array>

#include "generator/listed.h"
#include "language/words.h"
#include "templates/choice.h"

namespace tunesmith::rows_op {
namespace {

using language::fail;
using language::Scanner;
using language::SyntaxError;

constexpr std::array<Word, 6> frequent = {{
    {"softmax", "y = exp(x - max(x)) / sum(exp(x - max(x)))"},
    {"log_softmax", "y = x - max(x) - log(sum(exp(x - max(x))))"},
    {"logsumexp", "y = log(sum(exp(x - max(x)))) + max(x)"},
    {"layer_norm", "y = (x - mean(x)) * rsqrt(mean((x - mean(x)) ** 2) + 1e-5) * gamma + beta"},
    {"rms_norm", "y = x * rsqrt(mean(x ** 2) + 1e-5) * gamma"},
    {"normalize", "y = x / max(sqrt(sum(x ** 2)), 1e-12)"},
}};

class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text) {}

  Expression parse() {
    if (scanner_.at_end()) fail(0, "There is no expression.");
    const language::Words words = {
        .value = [this](std::string_view word,
                        std::size_t position) { return std::optional(value(word, position)); },
        .call = [this](std::string_view word, std::span<const int> arguments,
                       std::size_t position) { return reduced(word, arguments, position); },
        .values = "arrays are named by letters, digits and _",
        .functions = ", sum, mean and prod, and max and min of one value, are reductions"};
    do result(words);
    while (scanner_.take(";") && !scanner_.at_end());
    language::expect_end(scanner_, "An operator, ';' or the end");
    if (found_.inputs.empty()) fail(0, "The expression reads no array.");
    found_.nodes = builder_.nodes();
    return std::move(found_);
  }

 private:
  void result(const language::Words& words) {
    const std::size_t position = scanner_.position();
    if (!scanner_.sees_word()) fail(position, "A result was expected, as in y = x / sum(x).");
    const std::string name(scanner_.word());
    if (scanner_.sees("==") || !scanner_.take("="))
      fail(scanner_.position(), "'=' was expected behind the result's name, as in y = x / sum(x).");
    const int value = language::parse_value(scanner_, builder_, words);
    const auto same = [&](const Output& output) { return output.name == name; };
    if (name == "pi" || std::find(found_.inputs.begin(), found_.inputs.end(), name) != found_.inputs.end() ||
        std::any_of(found_.outputs.begin(), found_.outputs.end(), same)) {
      fail(position, language::quoted(name) + " is there already; give the result another name.");
    }
    if (found_.outputs.size() == most_outputs)
      fail(position, "There are more than " + std::to_string(most_outputs) + " results; split them up.");
    found_.outputs.push_back({name, value});
  }

  int value(std::string_view word, std::size_t position) {
    for (const Output& output : found_.outputs)
      if (output.name == word) return output.value;
    auto at = std::find(found_.inputs.begin(), found_.inputs.end(), word);
    if (at == found_.inputs.end()) {
      if (found_.inputs.size() == most_inputs) {
        fail(position, language::quoted(word) + " is the expression's array number " +
                           std::to_string(most_inputs + 1) + "; at most " + std::to_string(most_inputs) +
                           " are allowed: " + listed(found_.inputs) + ".");
      }
      at = found_.inputs.insert(at, std::string(word));
    }
    return builder_.add(Node{.operation = Operation::input,
                             .input = static_cast<int>(at - found_.inputs.begin()),
                             .position = position});
  }

  std::optional<int> reduced(std::string_view word, std::span<const int> arguments, std::size_t position) {
    const std::optional<Function> function = named<Function>(word);
    if (!function) return std::nullopt;
    if (arguments.size() != 1) {
      if (*function == Function::max || *function == Function::min) return std::nullopt;  // of elements
      fail(position, language::quoted(word) + " reduces one value along the row; " +
                         std::to_string(arguments.size()) + " were given.");
    }
    for (const Reduction& known : found_.reductions)
      if (known.function == *function && known.argument == arguments[0]) return known.result;
    if (found_.reductions.size() == most_reductions) {
      fail(position, "The expression has more than " + std::to_string(most_reductions) +
                         " different reductions; split it up.");
    }
    const bool non_negative = builder_.nodes()[static_cast<std::size_t>(arguments[0])].non_negative;
    const int result = builder_.add(Node{.operation = Operation::input,
                                         .input = most_inputs + static_cast<int>(found_.reductions.size()),
                                         .position = position,
                                         .non_negative = non_negative});
    found_.reductions.push_back({*function, arguments[0], result});
    return result;
  }

  Scanner scanner_;
  language::Builder builder_;
  Expression found_;
};

}  // namespace

std::vector<char> variation(const Expression& expression, std::span<const InputKind> inputs) {
  std::vector<char> varies(expression.nodes.size(), 0);
  for (std::size_t i = 0; i < varies.size(); ++i) {
    const Node& node = expression.nodes[i];
    if (is_array(node)) {
      const InputKind kind = inputs[static_cast<std::size_t>(node.input)];
      varies[i] = kind == InputKind::matrix || kind == InputKind::per_column ? 1 : 0;
    }
    for (const int operand : node.operands)
      if (operand >= 0 && varies[static_cast<std::size_t>(operand)] != 0) varies[i] = 1;
  }
  return varies;
}

std::span<const Word> words() { return frequent; }

ParseResult parse(std::string_view text) {
  for (const Word& word : frequent)
    if (word.name == text) text = word.expression;
  if (text.size() > language::longest_text) {
    return {{},
            "It has " + std::to_string(text.size()) + " characters; at most " +
                std::to_string(language::longest_text) + " are allowed."};
  }
  try {
    return {Parser(text).parse(), ""};
  } catch (const SyntaxError& error) {
    return {{}, language::message(error, text)};
  }
}

std::string canonical_text(std::string_view text) {
  for (const Word& word : frequent)
    if (word.name == text) text = word.expression;
  const Expression expression = Parser(text).parse();
  const auto place = [](const auto& names, std::string_view word, auto name_of) {
    return std::find_if(names.begin(), names.end(), [&](const auto& each) { return name_of(each) == word; }) -
           names.begin();
  };
  std::string result;
  Scanner scanner(text);
  while (!scanner.at_end()) {
    if (scanner.sees_word()) {
      const std::string_view word = scanner.word();
      const auto input = place(expression.inputs, word, [](const std::string& name) { return name; });
      const auto output = place(expression.outputs, word, [](const Output& each) { return each.name; });
      const bool is_called = scanner.sees("(");
      if (!is_called && output < std::ssize(expression.outputs)) {
        result += "y" + std::to_string(output);
      } else if (!is_called && input < std::ssize(expression.inputs)) {
        result += "x" + std::to_string(input);
      } else {
        result += word;  // a function, or pi
      }
    } else if (scanner.sees_number()) {
      const std::size_t from = scanner.position();
      scanner.number(false);
      std::string_view number = text.substr(from, scanner.position() - from);
      while (number.ends_with(' ')) number.remove_suffix(1);
      result += number;
    } else if (scanner.take(";")) {
      if (!scanner.at_end()) result += "; ";
    } else if (scanner.take("==")) {
      result += "==";
    } else if (const std::string_view here = scanner.here();
               here == "=" && !result.empty() &&
               std::string_view("<>!").find(result.back()) == std::string_view::npos) {
      scanner.take("=");
      result += " = ";
    } else {
      scanner.take(here);
      result += here;
    }
  }
  return result;
}

}  // namespace tunesmith::rows_op
