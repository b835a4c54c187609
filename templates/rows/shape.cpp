// SPDX-License-Identifier: Apache-2.0
// Finds a problem's arrays, the values that vary along its rows, and what is not allowed in it.

#include <algorithm>

#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"
#include "templates/array_limits.h"
#include "templates/choice.h"
#include "templates/rows/op.h"

namespace tunesmith::rows_op {
namespace {

std::string input_name(std::size_t k) { return "x" + std::to_string(k); }

// The number behind "matrix:", or -1.
std::int64_t stride_in(std::string_view text) {
  const std::size_t at = dense.size() + 1;
  if (!text.starts_with(dense) || text.size() <= at || text[at - 1] != ':') return -1;
  const bool is_plain = text[at] != '-' && (text[at] != '0' || text.size() == at + 1);
  return is_plain ? parsed_number<std::int64_t>(text.substr(at)).value_or(-1) : -1;
}

InputLayout layout_of(const std::string& text, std::int64_t columns) {
  const InputKind kind = named<InputKind>(text).value_or(InputKind::matrix);
  if (kind != InputKind::matrix) return {kind, 0};
  return {kind, text == dense ? columns : stride_in(text)};
}

// True if the layout, as a person may write it, is the dense one in other words.
bool is_without_gaps(const std::string& layout, const Problem& given) {
  const auto is = [&](const char* parameter, std::int64_t number) {
    const Value* const value = given.find(parameter);
    return value != nullptr && *value == Value(number);
  };
  const std::int64_t stride = stride_in(layout);
  return stride >= 0 && (is("columns", stride) || is("rows", 1));
}

// The largest power of two up to 16 that divides the number.
std::int64_t power_in(std::int64_t number) {
  std::int64_t power = 16;
  while (number % power != 0) power /= 2;
  return power;
}

}  // namespace

std::string refuses_layout(const std::string& text) {
  if (named<InputKind>(text)) return "";
  if (const std::int64_t stride = stride_in(text); stride >= 0 && stride <= most_elements) return "";
  return "Allowed are matrix, matrix: and behind it the elements from one row to the next, as in "
         "matrix:1024, per_column, per_row and scalar.";
}

Shape::Shape(const Problem& problem)
    : rows(problem.integer("rows")),
      columns(problem.integer("columns")),
      expression(parse(problem.string("expression")).expression) {
  for (std::size_t k = 0; k < expression.inputs.size(); ++k)
    inputs.push_back(layout_of(problem.string(input_name(k)), columns));
  std::vector<InputKind> kinds;
  for (const InputLayout& input : inputs) kinds.push_back(input.kind);
  varies = variation(expression, kinds);
  passes_before.resize(expression.nodes.size(), 0);
  for (std::size_t i = 0; i < expression.nodes.size(); ++i) {
    const Node& node = expression.nodes[i];
    if (node.operation == Operation::input && !is_array(node)) {
      const Reduction& reduction = expression.reductions[static_cast<std::size_t>(node.input - most_inputs)];
      passes_before[i] = passes_before[static_cast<std::size_t>(reduction.argument)] + 1;
      passes = std::max(passes, passes_before[i]);
    }
    for (const int operand : node.operands) {
      if (operand < 0) continue;
      passes_before[i] = std::max(passes_before[i], passes_before[static_cast<std::size_t>(operand)]);
    }
  }
  std::vector<std::int64_t> strides;
  for (const InputLayout& input : inputs)
    if (input.kind == InputKind::matrix) strides.push_back(input.stride);
  for (const Output& output : expression.outputs)
    if (varies_along_row(output.value)) strides.push_back(columns);
  aligned = power_in(columns);
  for (const std::int64_t stride : strides) {
    aligned = std::min(aligned, power_in(stride));
    congruent = std::min(congruent, power_in(stride - strides.front()));
  }
  congruent = std::max(congruent, aligned);
}

std::int64_t Shape::memory(std::size_t input) const {
  if (input >= inputs.size()) return 0;
  switch (inputs[input].kind) {
    case InputKind::matrix:
      return empty() ? 0 : (rows - 1) * inputs[input].stride + columns;
    case InputKind::per_column:
      return columns;
    case InputKind::per_row:
      return rows;
    default:
      return 1;
  }
}

std::vector<std::int64_t> Shape::extents(std::size_t output) const {
  if (output >= expression.outputs.size()) return {0};
  if (varies_along_row(expression.outputs[output].value)) return {rows, columns};
  return {rows};
}

std::int64_t Shape::most_of_a_pass() const {
  std::size_t most = 1;
  for (int pass = 0; pass < passes; ++pass) most = std::max(most, reductions_of(pass).size());
  return static_cast<std::int64_t>(most);
}

std::vector<int> Shape::reductions_of(int pass) const {
  std::vector<int> found;
  for (std::size_t r = 0; r < expression.reductions.size(); ++r) {
    if (passes_before[static_cast<std::size_t>(expression.reductions[r].argument)] == pass)
      found.push_back(static_cast<int>(r));
  }
  return found;
}

std::vector<int> Shape::needed(const std::vector<int>& places) const {
  std::vector<char> is_needed(expression.nodes.size(), 0);
  for (const int place : places) is_needed[static_cast<std::size_t>(place)] = 1;
  std::vector<int> found;
  for (int i = static_cast<int>(expression.nodes.size()); i-- > 0;) {
    if (is_needed[static_cast<std::size_t>(i)] == 0) continue;
    found.push_back(i);
    for (const int operand : expression.nodes[static_cast<std::size_t>(i)].operands)
      if (operand >= 0) is_needed[static_cast<std::size_t>(operand)] = 1;
  }
  std::reverse(found.begin(), found.end());
  return found;
}

const Shape& shape_of(const Problem& problem) {
  return problem.derived(+[](const Problem& its) { return Shape(its); });
}

// Renames arrays to x0, x1, … and replaces words by the expressions that they stand for. Leaves out a
// distance of rows that equals the columns, or that no second row uses.
Problem rewritten(const Problem& given) {
  const Value* const value = given.find("expression");
  const auto* const text = value != nullptr ? std::get_if<std::string>(value) : nullptr;
  if (text == nullptr) return given;
  const ParseResult parsed = parse(*text);
  if (!parsed.error.empty()) return {{"expression", *value}};  // this is refused
  Problem result;
  const std::vector<std::string>& names = parsed.expression.inputs;
  for (const auto& [name, its] : given.entries()) {
    const auto at = std::find(names.begin(), names.end(), name);
    const bool is_own = name == "rows" || name == "columns" || name == "dtype" || name == "expression";
    if (at == names.end() || is_own) {
      result.set(name, its);
    } else {
      const bool is_dense =
          std::holds_alternative<std::string>(its) && is_without_gaps(std::get<std::string>(its), given);
      result.set(input_name(static_cast<std::size_t>(at - names.begin())),
                 is_dense ? Value(std::string(dense)) : its);
    }
  }
  result.set("expression", canonical_text(*text));
  return result;
}

std::string check(const Problem& problem) {
  const Shape& shape = shape_of(problem);
  const Expression& e = shape.expression;
  const std::string subject = "The rows problem's expression is \"" + problem.string("expression") + "\"";
  for (std::size_t k = e.inputs.size(); k < most_inputs; ++k) {
    const std::string name = input_name(k);
    if (problem.string(name) != dense)
      return subject + ", which reads " + counted(e.inputs.size(), "array") + ", but " + name + " is " +
             problem.string(name) + "; leave it out.";
  }
  if (std::size_t words = program_words(e); words > most_program_words)
    return subject + ", which has " + std::to_string(words) +
           " arrays, reductions, numbers (which count twice) and operations; at most " +
           std::to_string(most_program_words) + " are allowed, so split it up.";
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  double most = real(shape.rows) * real(shape.columns);
  for (const InputLayout& input : shape.inputs)
    if (input.kind == InputKind::matrix)
      most = std::max(most, real(shape.rows) * real(input.stride) + real(shape.columns));
  if (are_too_many(most))
    return too_many_elements("An array of rows=" + std::to_string(shape.rows) +
                             " columns=" + std::to_string(shape.columns));
  if (shape.columns > 0) return "";
  for (const Reduction& reduction : e.reductions) {
    if (reduction.function == Function::max || reduction.function == Function::min)
      return subject + ", and columns=0: nothing has no " + std::string(name_of(reduction.function)) + ".";
  }
  return "";
}

}  // namespace tunesmith::rows_op
