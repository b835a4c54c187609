// SPDX-License-Identifier: Apache-2.0
// The op `rows`: results computed from the elements of matrices and from reductions over each row, such as y
// = exp(x - max(x)) / sum(exp(x - max(x))).

#include "templates/rows/op.h"

#include <algorithm>

#include "templates/array_limits.h"

namespace tunesmith {
namespace {

using namespace rows_op;

double moved(const Problem& problem) {
  const Shape& shape = shape_of(problem);
  double elements = 0;
  for (const InputLayout& input : shape.inputs) {
    const auto rows = static_cast<double>(shape.rows), columns = static_cast<double>(shape.columns);
    elements += input.kind == InputKind::matrix       ? rows * columns
                : input.kind == InputKind::per_column ? columns
                : input.kind == InputKind::per_row    ? rows
                                                      : 1;
  }
  for (std::size_t k = 0; k < shape.expression.outputs.size(); ++k) {
    double all = 1;
    for (const std::int64_t extent : shape.extents(k)) all *= static_cast<double>(extent);
    elements += all;
  }
  return elements * static_cast<double>(bytes(dtype_of(problem)));
}

double operations(const Problem& problem) {
  const Shape& shape = shape_of(problem);
  const Expression& e = shape.expression;
  double each = static_cast<double>(e.reductions.size());
  for (std::size_t i = 0; i < e.nodes.size(); ++i)
    if (e.nodes[i].operands[0] >= 0 && shape.varies[i] != 0) each += 1;
  return each * static_cast<double>(shape.rows) * static_cast<double>(shape.columns);
}

// Numbers on which times depend whatever the expression: the passes over a row, what they compute, and the
// arrays that are read and written along it.
Values sizes(const Problem& problem) {
  const Shape& shape = shape_of(problem);
  const Expression& e = shape.expression;
  const auto at_least_one = [](std::int64_t number) { return std::max<std::int64_t>(number, 1); };
  std::int64_t written = 0;
  for (const Output& output : e.outputs) written += shape.varies_along_row(output.value) ? 1 : 0;
  return {{"rows", at_least_one(shape.rows)},
          {"columns", at_least_one(shape.columns)},
          {"passes", std::int64_t{1} + shape.passes},
          {"reductions", 1 + std::ssize(e.reductions)},
          {"operations", at_least_one(std::ssize(e.nodes))},
          {"read", at_least_one(matrices_of(problem))},
          {"written", 1 + written},
          {"aligned", shape.aligned}};
}

std::string kind(const Problem& problem) { return problem.string("dtype"); }

// Problems with odd sizes, sizes of 1, rows with a gap, and no rows. The arrays' kinds stay.
std::vector<Problem> companions(const Problem& problem) {
  const Shape own = shape_of(problem);  // a copy, since check() asks for other problems' shapes
  std::vector<Problem> found;
  const auto add = [&](std::int64_t rows, std::int64_t columns, std::int64_t gap) {
    Problem other = problem;
    other.set("rows", rows);
    other.set("columns", columns);
    for (std::size_t k = 0; k < own.inputs.size(); ++k) {
      if (own.inputs[k].kind != InputKind::matrix) continue;
      const std::string stride = std::to_string(columns + gap);
      other.set("x" + std::to_string(k), gap == 0 ? std::string(dense) : std::string(dense) + ":" + stride);
    }
    if (check(other).empty()) found.push_back(std::move(other));
  };
  add(1, 1, 0);
  add(37, 129, 0);
  add(5, 1028, 4);
  add(70, 48, 1);
  add(133, 7, 0);
  add(3, 4099, 0);
  add(0, 5, 0);
  return found;
}

Parameter input_parameter(std::size_t k) {
  return {.name = "x" + std::to_string(k),
          .what = k == 0 ? "how the first array is read: matrix, or with the elements from one row to the "
                           "next matrix:1024; per_column, per_row or scalar: a value for each"
                         : "a further array, as x0",
          .categories = {std::string(dense)},
          .initial = std::string(dense),
          .refuses_text = refuses_layout};
}

}  // namespace

Op ops_rows() {
  Op op = {
      .name = "rows",
      .what = "Results of the elements of matrices and of reductions over each row: y = x / sum(x).",
      .parameters =
          {{.name = "expression",
            .what =
                "what is computed: a word (softmax, log_softmax, logsumexp, layer_norm, rms_norm, normalize) "
                "or results such as \"y = x / sum(x)\", joined by ';'",
            .categories = {"y0 = exp(x0-max(x0))/sum(exp(x0-max(x0)))"},
            .refuses_text = [](const std::string& text) { return parse(text).error; },
            .is_computation = true},
           {.name = "rows",
            .what = "rows of the matrices",
            .minimum = 0,
            .maximum = most_elements,
            .usual = UsualSizes{1, 1'000'000}},
           {.name = "columns",
            .what = "elements of a row",
            .minimum = 0,
            .maximum = most_elements,
            .usual = UsualSizes{16, 4'000'000}},
           {.name = "dtype",
            .what = "element type of all arrays; f16 and bf16 are computed in f32",
            .categories = {"f32", "f64", "f16", "bf16"},
            .initial = "f32"}},
      .rewritten = rewritten,
      .check = check,
      .arguments = {},  // below
      .templates = {base(), registers(), cluster(), sweeps(), split()},
      .reference = reference,
      .reference_unit =
          [](const Problem& problem) { return std::max<std::int64_t>(1, problem.integer("columns")); },
      .flops = operations,
      .bytes_moved = moved,
      .companions = companions,
      .sizes = sizes,
      .kind = kind,
      .examples =
          {"expression=softmax rows=37 columns=260", "expression=softmax rows=9 columns=1003 dtype=f16",
           "expression=log_softmax rows=300 columns=5 dtype=bf16",
           "expression=logsumexp rows=65 columns=70 x=matrix:72",
           "expression=layer_norm rows=21 columns=384 gamma=per_column beta=per_column",
           "expression=layer_norm rows=5 columns=77 gamma=per_column beta=scalar dtype=f64",
           "expression=rms_norm rows=40 columns=64 gamma=per_column dtype=bf16",
           "expression=normalize rows=2 columns=27001", "expression=logsumexp rows=33 columns=71",
           "expression=softmax rows=41 columns=53 x=matrix:5",
           "expression=logsumexp rows=9 columns=71 x=matrix:0",
           "expression=\"y = w * s - max(w)\" rows=19 columns=35 w=per_column s=per_row",
           "expression=\"m = mean(x); y = (x - m) * rsqrt(mean((x - m) ** 2) + 1e-5)\" rows=11 columns=520",
           ("expression=\"y = (a * b - min(c)) / s * 1.0000000000003410605; p = prod(1 + a * 0.001) + s; "
            "q = sum(w * a)\" rows=13 columns=90 s=per_row w=per_column b=matrix:94"),
           "expression=\"y = (x > 0.25 ? sqrt(abs(x)) : 3 * x) + bias\" rows=6 columns=33 bias=per_row",
           "expression=softmax rows=0 columns=3"},
      .large_examples = {"expression=softmax rows=65537 columns=32769 dtype=f16"},
      .sample = usual_rows,
  };
  for (std::size_t k = 0; k < most_inputs; ++k) {
    op.parameters.push_back(input_parameter(k));
    op.arguments.push_back(
        {.name = "x" + std::to_string(k),
         .role = Role::input,
         .extents = [k](const Problem& problem) { return std::vector{shape_of(problem).memory(k)}; },
         .contents = {
             {Contents::uniform, -100, 100}, {Contents::few, -1, 1}, {Contents::magnitudes, 1e-3, 1e3}}});
  }
  for (std::size_t k = 0; k < most_outputs; ++k)
    op.arguments.push_back({.name = "y" + std::to_string(k),
                            .role = Role::output,
                            .extents = [k](const Problem& problem) { return shape_of(problem).extents(k); }});
  return op;
}

}  // namespace tunesmith
