// SPDX-License-Identifier: Apache-2.0
// The language of `rows`: results computed from arrays' elements and from reductions over each row, parsed
// into one list of operations in which each occurs once. The grammar of values is elementwise's.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "language/expression.h"

namespace tunesmith::rows_op {

using elementwise_op::Node;
using elementwise_op::Operation;

constexpr int most_inputs = 6;
constexpr int most_outputs = 4;
constexpr std::size_t most_reductions = 16;

// The functions of reductions, numbered as in the base's program (base.cu).
enum class Function { sum, mean, prod, max, min };
constexpr auto names_of(Function) {
  return std::to_array<std::string_view>({"sum", "mean", "prod", "max", "min"});
}

struct Reduction {
  Function function = Function::sum;
  int argument = -1;  ///< place of the node that is reduced
  int result = -1;    ///< place of the node, an input, that stands for the reduced value
};

struct Output {
  std::string name;
  int value = -1;  ///< place of a node
};

/// A parsed text. Nodes stand behind their operands, and a reduction's result behind its argument. An input's
/// number from most_inputs on is the number of a reduction.
struct Expression {
  std::vector<Node> nodes;
  std::vector<Reduction> reductions;
  std::vector<Output> outputs;
  std::vector<std::string> inputs;  ///< the arrays' names in the order of first use
};

inline bool is_array(const Node& node) {
  return node.operation == Operation::input && node.input < most_inputs;
}

/// How an array is read: one element for each element of a row, one for each column, one for each row, or one
/// for all.
enum class InputKind { matrix, per_column, per_row, scalar };
constexpr auto names_of(InputKind) {
  return std::to_array<std::string_view>({"matrix", "per_column", "per_row", "scalar"});
}

/// For each node, with inputs of these kinds: 1 if its value differs along a row, else 0.
std::vector<char> variation(const Expression& expression, std::span<const InputKind> inputs);

/// A name for a frequent expression.
struct Word {
  std::string_view name, expression;
};
std::span<const Word> words();

struct ParseResult {
  Expression expression;
  std::string error;  ///< a sentence, the text and a caret under the place; empty if there is an expression
};
ParseResult parse(std::string_view text);  ///< a word or an expression

/// The text of an expression that parse() takes, with x0, x1, … and y0, y1, … for its names and no blanks but
/// those around '=' and behind ';'.
std::string canonical_text(std::string_view text);

}  // namespace tunesmith::rows_op
