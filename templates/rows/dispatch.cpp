// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>

#include "generator/error.h"
#include "generator/listed.h"
#include "templates/rows/expression.h"
#include "tunesmith/rows.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

std::string layout_of(const RowsLayout& layout, std::int64_t columns) {
  switch (layout.kind) {
    case RowsKind::per_column:
      return "per_column";
    case RowsKind::per_row:
      return "per_row";
    case RowsKind::scalar:
      return "scalar";
    default:
      return layout.stride < 0 || layout.stride == columns ? "matrix"
                                                           : "matrix:" + std::to_string(layout.stride);
  }
}

rows_op::Expression parsed(const std::string& expression) {
  rows_op::ParseResult result = rows_op::parse(expression);
  if (!result.error.empty()) throw UsageError("The expression is \"" + expression + "\". " + result.error);
  return std::move(result.expression);
}

std::string wrong_count(const std::string& text, const rows_op::Expression& e, std::size_t given) {
  return "The expression \"" + text + "\" reads " + counted(e.inputs.size(), "array") + ", " +
         listed(e.inputs) + "; rows was given " + std::to_string(given) + ".";
}

}  // namespace

std::vector<std::string> rows_arrays(const std::string& expression) { return parsed(expression).inputs; }

std::vector<std::string> rows_results(const std::string& expression) {
  std::vector<std::string> names;
  for (const rows_op::Output& output : parsed(expression).outputs) names.push_back(output.name);
  return names;
}

std::string rows_expression(const std::string& expression) {
  (void)parsed(expression);
  return rows_op::canonical_text(expression);
}

std::vector<bool> rows_results_vary(const std::string& expression, const std::vector<RowsKind>& inputs) {
  const rows_op::Expression e = parsed(expression);
  if (inputs.size() != e.inputs.size()) throw UsageError(wrong_count(expression, e, inputs.size()));
  std::vector<rows_op::InputKind> kinds;
  for (const RowsKind kind : inputs) kinds.push_back(static_cast<rows_op::InputKind>(kind));
  const std::vector<char> varies = rows_op::variation(e, kinds);
  std::vector<bool> found;
  for (const rows_op::Output& output : e.outputs)
    found.push_back(varies[static_cast<std::size_t>(output.value)] != 0);
  return found;
}

std::string rows_problem(const std::string& expression, ElementName type, std::int64_t rows,
                         std::int64_t columns, const std::vector<RowsLayout>& inputs) {
  if (const rows_op::Expression e = parsed(expression); inputs.size() != e.inputs.size())
    throw UsageError(wrong_count(expression, e, inputs.size()));
  Values problem = {{"expression", rows_op::canonical_text(expression)},
                    {"rows", rows},
                    {"columns", columns},
                    {"dtype", std::string(type.text)}};
  for (std::size_t k = 0; k < inputs.size(); ++k)
    problem.set("x" + std::to_string(k), layout_of(inputs[k], columns));
  return problem.text();
}

Plan rows_plan(Dispatcher& dispatcher, const std::string& expression, ElementName type, std::int64_t rows,
               std::int64_t columns, const std::vector<RowsLayout>& inputs) {
  return dispatcher.plan("rows", rows_problem(expression, type, rows, columns, inputs));
}

Status rows(Dispatcher& dispatcher, const std::string& expression, ElementName type, std::int64_t rows,
            std::int64_t columns, const std::vector<RowsInput>& inputs, const std::vector<void*>& results,
            void* stream) {
  std::vector<RowsLayout> layouts;
  std::array<void*, rows_op::most_inputs + rows_op::most_outputs> arguments = {};
  for (const RowsInput& input : inputs) {
    // Inputs are only read, but a list of pointers to inputs and results must hold void*.
    if (layouts.size() < rows_op::most_inputs) arguments[layouts.size()] = const_cast<void*>(input.data);
    layouts.push_back(input.layout);
  }
  const std::vector<std::string> names = rows_results(expression);
  if (results.size() != names.size()) {
    throw UsageError("The expression \"" + expression + "\" has " + counted(names.size(), "result") + ", " +
                     listed(names) + "; rows was given " + std::to_string(results.size()) + ".");
  }
  std::copy(results.begin(), results.end(), arguments.begin() + rows_op::most_inputs);
  return rows_plan(dispatcher, expression, type, rows, columns, layouts).launch(arguments, stream);
}

Status softmax(Dispatcher& dispatcher, const float* x, float* y, std::int64_t rows, std::int64_t columns,
               void* stream) {
  return tunesmith::rows(dispatcher, "softmax", ElementType::f32, rows, columns, {{x, {}}}, {y}, stream);
}

Status layer_norm(Dispatcher& dispatcher, const float* x, const float* gamma, const float* beta, float* y,
                  std::int64_t rows, std::int64_t columns, void* stream) {
  return tunesmith::rows(dispatcher, "layer_norm", ElementType::f32, rows, columns,
                         {{x, {}}, {gamma, {RowsKind::per_column}}, {beta, {RowsKind::per_column}}}, {y},
                         stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
