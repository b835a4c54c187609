// SPDX-License-Identifier: Apache-2.0
// The functions of `elementwise`: an expression in the inputs a to f, parsed into a list of operations, and
// the C++ text that is generated from that list. No character of a caller's text goes into the generated
// text. Private to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/op.h"

namespace tunesmith::elementwise_op {

constexpr int most_inputs = 6;
inline constexpr std::array<std::string_view, most_inputs> input_names = {"a", "b", "c", "d", "e", "f"};
constexpr std::size_t longest_text = 4096;
constexpr int deepest_nesting = 64;
constexpr std::size_t most_operations = 512;

enum class Operation {
  input,
  number,
  negate,
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
  logical_not,
  logical_and,
  logical_or,
  choose,
  abs,
  min,
  max,
  sqrt,
  rsqrt,
  cbrt,
  exp,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  erf,
  erfc,
  floor,
  ceil,
  trunc,
  rint,
  pow,
  atan2,
  hypot,
};

struct OperationFacts {
  std::string_view name;  ///< as in elementwise/functions.cuh
  int operands;
  bool called;      ///< written as name(x)
  bool real;        ///< not for i32 and i64
  double f32_ulps;  ///< the largest error, in units in the last place; 0.5: correctly rounded; 0: exact
  double f64_ulps;
};
const OperationFacts& facts(Operation operation);
std::span<const OperationFacts> operations();  ///< in the order of Operation

struct Node {
  Operation operation = Operation::number;
  std::array<int, 3> operands = {-1, -1, -1};  ///< indices of earlier nodes
  int input = -1;
  double number = 0;
  std::optional<std::int64_t> whole = std::nullopt;  ///< a number written without point and exponent
  std::size_t position = 0;                          ///< position in the text, from 0, for errors
  bool non_negative = false;                         ///< for all inputs it is non-negative or NaN
};

/// Each node occurs once and comes after its operands; the last one is the result.
struct Expression {
  std::vector<Node> nodes;
  int inputs = 0;  ///< the number of inputs, which are the letters from a on
};

struct NamedFunction {
  std::string_view name;
  std::string_view expression;
};
std::span<const NamedFunction> named_functions();

struct ParseResult {
  Expression expression;
  std::string
      error;  ///< a sentence, the text and a caret below the position; empty if there is an expression
};
ParseResult parse(std::string_view function);  ///< `function` is a name or an expression

/// An error in a text, and the position of its character, from 0 on.
struct SyntaxError {
  std::size_t position;
  std::string sentence;
};

/// Like parse(), for an expression only; throws SyntaxError.
Expression parse_expression(std::string_view text);

/// Returns the sentence with the character's number, the text around it and a caret below it.
std::string message(const SyntaxError& error, std::string_view text);

/// Returns a sentence on why the expression cannot be computed in this dtype; empty if it can.
std::string refuses(const Expression& expression, DType dtype);

/// Writes C++: `Compute`, ARITY and apply(), which computes one element.
std::string code(const Expression& expression, DType dtype);
/// Writes C++: `apply(operation, x, y, z)`, with the operations that a program of numbers may name.
std::string apply_code(DType compute);

/// Writes a number's node as C++.
std::string literal(const Node& node, DType compute);

/// The type in which a dtype is computed: f32 for f16 and bf16.
DType compute_dtype(DType dtype);

/// Evaluates the expression for `count` elements: input k's values are inputs[k][0 … count). `permitted`
/// bounds the error of evaluating it operation by operation in the dtype (fused multiply-adds allowed);
/// infinity: there is no bound. Integers are exact.
void evaluate(const Expression& expression, DType dtype, std::span<const std::vector<double>> inputs,
              std::size_t count, double* value, double* permitted);

/// Evaluates one element of i32 or i64.
std::int64_t evaluate_whole(const Expression& expression, DType dtype, std::span<const std::int64_t> inputs);

}  // namespace tunesmith::elementwise_op
