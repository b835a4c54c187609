// SPDX-License-Identifier: Apache-2.0
// Writes the expression as C++: functions of one element and one row, with one fixed statement per operation.
// No character of the expression's text is in them.

#include <algorithm>

#include "templates/choice.h"
#include "templates/rows/op.h"

namespace tunesmith::rows_op {
namespace {

using language::facts;
using language::OperationFacts;

class Writer {
 public:
  explicit Writer(const Problem& problem)
      : shape_(shape_of(problem)),
        e_(shape_.expression),
        compute_(language::compute_dtype(dtype_of(problem))),
        divides_(e_.nodes.size(), 0) {
    for (const Node& node : e_.nodes) {
      if (shape_.divides_by_row_value(node)) divides_[at(node.operands[1])] = 1;
    }
  }

  std::string all() {
    std::string text = "using Compute = " + std::string(cuda_type(compute_)) + ";\n" + masks() + row();
    text += "template <int PASS>\nstruct Pass;\n";
    for (int pass = 0; pass < shape_.passes; ++pass) text += pass_text(pass);
    return text + results(true) + results(false);
  }

 private:
  static std::size_t at(int place) { return static_cast<std::size_t>(place); }

  // The constants that have a bit for each array or result.
  std::string masks() const {
    int matrices = 0, per_column = 0, early = 0, per_row = 0, scalars = 0, wide = 0;
    for (std::size_t k = 0; k < shape_.inputs.size(); ++k) {
      const InputKind kind = shape_.inputs[k].kind;
      (kind == InputKind::matrix       ? matrices
       : kind == InputKind::per_column ? per_column
       : kind == InputKind::per_row    ? per_row
                                       : scalars) |= 1 << k;
    }
    for (const Reduction& reduction : e_.reductions)
      for (const int place : shape_.needed({reduction.argument}))
        if (is_array(e_.nodes[at(place)])) early |= 1 << e_.nodes[at(place)].input & per_column;
    for (std::size_t k = 0; k < e_.outputs.size(); ++k)
      if (shape_.varies_along_row(e_.outputs[k].value)) wide |= 1 << k;
    const auto constant = [](const char* name, int value, const char* what) {
      return "constexpr int " + std::string(name) + " = " + std::to_string(value) + ";  // " + what + "\n";
    };
    return constant("INPUTS", static_cast<int>(e_.inputs.size()), "arrays; of the masks a bit for each") +
           constant("MATRICES", matrices, "with a value for each element") +
           constant("PER_COLUMN", per_column, "for each column") +
           constant("EARLY", early, "of these, what reductions need") +
           constant("PER_ROW", per_row, "for each row") + constant("SCALARS", scalars, "for all") +
           constant("OUTPUTS", static_cast<int>(e_.outputs.size()), "results; of the mask a bit for each") +
           constant("WIDE", wide, "with a value for each element, not for each row") +
           constant("PASSES", shape_.passes, "over a row, before the results");
  }

  bool is_number(int place) const { return e_.nodes[at(place)].operation == Operation::number; }

  std::string value(int place) const {
    const Node& node = e_.nodes[at(place)];
    if (is_number(place)) return "Compute(" + language::literal(node, compute_) + ")";
    const std::string name = "v" + std::to_string(place);
    return shape_.varies_along_row(place) ? name : "row." + name;
  }

  std::string computed(int place) const {
    const Node& node = e_.nodes[at(place)];
    if (node.operation == Operation::input) return "x[" + std::to_string(node.input) + "]";
    const OperationFacts& known = facts(node.operation);
    if (node.operation == Operation::divide) {
      const int below = node.operands[1];
      if (is_number(node.operands[0]) && e_.nodes[at(node.operands[0])].number == 1)
        return "elementwise::reciprocal(" + value(below) + ")";
      if (shape_.divides_by_row_value(node))
        return "row.by" + std::to_string(below) + ".divides(" + value(node.operands[0]) + ")";
    }
    std::string text = "elementwise::" + std::string(known.name) + "(";
    for (std::size_t n = 0; n < static_cast<std::size_t>(known.operands); ++n)
      text += (n > 0 ? ", " : "") + value(node.operands[n]);
    return text + ")";
  }

  // The statements for values that vary along the row, among those that the nodes at `roots` depend on.
  std::string locals(const std::vector<int>& roots) const {
    std::string text;
    for (const int place : shape_.needed(roots)) {
      if (shape_.varies_along_row(place))
        text += "  const Compute v" + std::to_string(place) + " = " + computed(place) + ";\n";
    }
    return text;
  }

  // The statements for a row's values that can be computed after `passes` passes, from values that exist
  // already.
  std::string row_values(int passes) const {
    std::string text;
    for (int i = 0; i < static_cast<int>(e_.nodes.size()); ++i) {
      const Node& node = e_.nodes[at(i)];
      if (shape_.varies_along_row(i) || shape_.passes_before[at(i)] != passes) continue;
      if (!is_number(i) && (node.operation != Operation::input || is_array(node)))
        text += "  row.v" + std::to_string(i) + " = " + computed(i) + ";\n";
      if (divides_[at(i)] != 0) text += "  row.by" + std::to_string(i) + ".set(" + value(i) + ");\n";
    }
    return text;
  }

  std::string row() const {
    std::string text = "struct Row {\n  Compute columns, inverse;\n";
    for (int i = 0; i < static_cast<int>(e_.nodes.size()); ++i) {
      if (shape_.varies_along_row(i)) continue;
      if (!is_number(i)) text += "  Compute v" + std::to_string(i) + ";\n";
      if (divides_[at(i)] != 0) text += "  rows::Divisor<Compute> by" + std::to_string(i) + ";\n";
    }
    return text + "};\n__device__ __forceinline__ void begin(Row& row, const Compute (&x)[INPUTS]) {\n" +
           row_values(0) + "}\n";
  }

  std::string pass_text(int pass) const {
    const std::vector<int> which = shape_.reductions_of(pass);
    const std::string count = "[" + std::to_string(which.size()) + "]";
    std::vector<int> arguments;
    std::string none, terms, combine, finish;
    for (std::size_t n = 0; n < which.size(); ++n) {
      const Reduction& reduction = e_.reductions[at(which[n])];
      arguments.push_back(reduction.argument);
      const std::string place = "[" + std::to_string(n) + "]";
      const std::string type =
          "rows::" + std::string(reduction.function == Function::mean ? "sum" : name_of(reduction.function));
      none += "    total" + place + " = " + type + "_of_none<Compute>();\n";
      terms += "    term" + place + " = " + value(reduction.argument) + ";\n";
      combine += "    total" + place + " = " + type + "(total" + place + ", other" + place + ");\n";
      finish +=
          "  row.v" + std::to_string(reduction.result) + " = " +
          (reduction.function == Function::mean ? "rows::mean(total" + place + ", row.columns, row.inverse)"
                                                : "total" + place) +
          ";\n";
    }
    const std::string function = "  static __device__ __forceinline__ void ";
    return "template <>\nstruct Pass<" + std::to_string(pass) +
           "> {\n  static constexpr int count = " + std::to_string(which.size()) + ";\n" + function +
           "none(Compute (&total)" + count + ") {\n" + none + "  }\n" + function +
           "terms(const Compute (&x)[INPUTS], const Row& row, Compute (&term)" + count + ") {\n" +
           locals(arguments) + terms + "  }\n" + function + "combine(Compute (&total)" + count +
           ", const Compute (&other)" + count + ") {\n" + combine + "  }\n" + function +
           "finish(Row& row, const Compute (&total)" + count + ") {\n" + finish + row_values(pass + 1) +
           "  }\n};\n";
  }

  std::string results(bool wide) const {
    std::vector<int> roots;
    std::string text;
    for (std::size_t k = 0; k < e_.outputs.size(); ++k) {
      const int place = e_.outputs[k].value;
      if (shape_.varies_along_row(place) != wide) continue;
      roots.push_back(place);
      text += "  y[" + std::to_string(k) + "] = " + value(place) + ";\n";
    }
    return wide ? "__device__ __forceinline__ void results(const Compute (&x)[INPUTS], const Row& row, "
                  "Compute (&y)[OUTPUTS]) {\n" +
                      locals(roots) + text + "}\n"
                : "__device__ __forceinline__ void row_results(const Row& row, Compute (&y)[OUTPUTS]) {\n" +
                      text + "}\n";
  }

  const Shape& shape_;
  const Expression& e_;
  DType compute_;
  std::vector<char> divides_;  // by node: whether it is the same along a row and divides what varies
};

}  // namespace

std::string code(const Problem& problem) { return Writer(problem).all(); }

Values constants(const Problem& problem) {
  const Shape& shape = shape_of(problem);
  std::int64_t kinds = 0;
  for (std::size_t k = 0; k < shape.inputs.size(); ++k)
    kinds |= static_cast<std::int64_t>(shape.inputs[k].kind) << (2 * k);
  return {{"KINDS", kinds}, {"ALIGNED", shape.aligned}};
}

}  // namespace tunesmith::rows_op
