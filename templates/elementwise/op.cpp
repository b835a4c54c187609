// SPDX-License-Identifier: Apache-2.0
// elementwise: out[i] = function(a[i], b[i], ...), with NumPy's broadcasting. The function is a named one or
// an expression.

#include "templates/elementwise/op.h"

#include <algorithm>
#include <array>

namespace tunesmith {
namespace {

using namespace elementwise_op;

std::string check(const Problem& problem) {
  const Expression& expression = expression_of(problem);
  if (const std::string why = refuses(expression, dtype_of(problem)); !why.empty())
    return "The elementwise problem's function is " + to_text(*problem.find("function")) + ". " + why;
  return refuses_layout(problem, expression.inputs);
}

// The reference walks the output's coordinates and keeps each input's offset.
void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Expression expression = expression_of(problem);
  const Layout layout = layout_of(problem, expression.inputs);
  const auto count = static_cast<std::size_t>(end - begin);
  std::vector<std::vector<double>> inputs(static_cast<std::size_t>(expression.inputs));
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const std::vector<std::int64_t>& strides = layout.inputs[k].strides;
    std::vector<std::int64_t> at(layout.extents.size());
    std::int64_t rest = begin;
    std::int64_t offset = 0;
    for (std::size_t dim = 0; dim < at.size(); ++dim) {
      at[dim] = rest % layout.extents[dim];
      rest /= layout.extents[dim];
      offset += at[dim] * strides[dim];
    }
    inputs[k].resize(count);
    for (double& element : inputs[k]) {
      element = arguments[k][static_cast<std::size_t>(offset)];
      for (std::size_t dim = 0; dim < at.size(); ++dim) {
        offset += strides[dim];
        if (++at[dim] < layout.extents[dim]) break;
        offset -= at[dim] * strides[dim];
        at[dim] = 0;
      }
    }
  }
  evaluate(expression, dtype_of(problem), inputs, count, value.data(), permitted_error.data());
}

// The companions have odd sizes, vectors that end within a row and at its end, and sizes of 1. A companion
// that differs in a compiled-in property of a variant is not run on that variant.
std::vector<Problem> companions(const Problem& problem) {
  static constexpr std::array<std::array<std::int64_t, most_dimensions>, 3> sizes = {
      {{7, 5, 3, 2, 3, 2}, {64, 33, 3, 2, 2, 2}, {4099, 2, 2, 3, 2, 2}}};
  constexpr std::int64_t largest = 1 << 20;  // elements of an input's memory, whose strides stay the caller's
  std::vector<Problem> found;
  for (const auto& each : sizes) {
    Problem other = resized(problem, each);
    const auto refused = [&](std::string_view name) {
      return other.string(name) != "dense" && !refuses_input(other.string(name)).empty();
    };
    if (std::any_of(input_names.begin(), input_names.end(), refused)) continue;
    const Layout layout = layout_of(other);
    const auto fits = [&](const InputLayout& input) { return input.memory <= largest; };
    if (std::all_of(layout.inputs.begin(), layout.inputs.end(), fits)) found.push_back(std::move(other));
  }
  Problem one = problem;
  one.set("shape", std::string("1"));
  for (const std::string_view name : input_names) one.set(name, std::string("dense"));
  found.push_back(std::move(one));
  return found;
}

Parameter input_parameter(std::size_t k) {
  return {.name = std::string(input_names[k]),
          .what = k == 0 ? "an input's extents and, behind a colon, its strides in elements, as in 1080x1 or "
                           "1080x1920:4096x1; dense: the output's"
                         : "a further input, as a",
          .categories = {"dense"},
          .initial = "dense",
          .refuses_text = refuses_input};
}

Argument input_argument(std::size_t k) {
  return {.name = std::string(input_names[k]),
          .role = Role::input,
          .extents = [k](const Problem& problem) { return std::vector{layout_of(problem).inputs[k].memory}; },
          .in_place = [k](const Problem& problem) { return layout_of(problem).inputs[k].is_output_like; },
          .contents = {{Contents::uniform, -100, 100},
                       {Contents::few, -1, 1},
                       {Contents::magnitudes, 1e-3, 1e3}}};
}

}  // namespace

Op ops_elementwise() {
  std::vector<std::string> functions;
  for (const NamedFunction& function : named_functions()) functions.emplace_back(function.name);
  Op op = {
      .name = "elementwise",
      .what = "out = function(a, b, …), element by element, with NumPy's broadcasting of the inputs",
      .parameters = {{.name = "function",
                      .what =
                          "what is computed: a name, or an expression in a to f such as \"max(a, 0) * b\"",
                      .categories = functions,
                      .refuses_text = [](const std::string& text) { return parse(text).error; }},
                     {.name = "dtype",
                      .what = "element type of all arrays",
                      .categories = {"f32", "f64", "i32", "i64", "f16", "bf16"},
                      .initial = "f32"},
                     {.name = "shape",
                      .what = "the output's extents, outermost first, as in 1000 or 1080x1920x3",
                      .categories = {"1000"},
                      .refuses_text = refuses_shape}},
      .rewritten = with_fewest_dimensions,
      .check = check,
      .arguments = {},  // set below
      .templates = {base(), contiguous(), broadcast(), broadcast_any()},
      .preamble = [](const Problem& problem) { return code(expression_of(problem), dtype_of(problem)); },
      .reference = reference,
      .flops =
          [](const Problem& problem) {
            const Expression& expression = expression_of(problem);
            const auto works = [](const Node& node) { return facts(node.operation).operands > 0; };
            return static_cast<double>(
                       std::count_if(expression.nodes.begin(), expression.nodes.end(), works)) *
                   static_cast<double>(layout_of(problem).elements);
          },
      .bytes_moved =
          [](const Problem& problem) {
            const Layout& layout = layout_of(problem);
            std::int64_t elements = layout.elements;
            for (const InputLayout& input : layout.inputs) elements += input.distinct;
            return static_cast<double>(elements * bytes(dtype_of(problem)));
          },
      .companions = companions,
      .sizes =
          [](const Problem& problem) {
            const Layout& layout = layout_of(problem);
            return Values{{"elements", std::max<std::int64_t>(layout.elements, 1)},
                          {"row", std::max<std::int64_t>(layout.extents.front(), 1)}};
          },
      .examples =
          {"function=add shape=1013", "function=\"a * b + c\" shape=37x53 b=53 c=37x1",
           "function=gaussian_pdf shape=1013 b=1 c=1", "function=\"a - b * c\" shape=37x53 b=53 c=1",
           "function=a*b-c shape=3x2x2x3x2x8 a=2x1x3x1x8 b=3x1x2x1x2x1 c=3x2x2x3x2x8:900x320x150x44x20x2",
           "function=\"a - b\" dtype=f64 shape=24x64 a=24x64:80x1 b=24x64:1x24",
           "function=\"(a + b) / c % 7 < d ? -e * 3 : max(f, !a && b || c != 2)\" dtype=i32 shape=515",
           "function=\"a * b - c\" shape=61x263 b=263 c=1", "function=\"a + 2\" shape=300007",
           "function=add dtype=i64 shape=0x3"},
      .large_examples = {"function=\"a + 1\" dtype=f16 shape=2147487745",
                         "function=add dtype=f16 shape=65537x32769 b=65537x1"},
      .sample = usual_arrays,
  };
  for (std::size_t k = 0; k < input_names.size(); ++k) {
    op.parameters.push_back(input_parameter(k));
    op.arguments.push_back(input_argument(k));
  }
  op.arguments.push_back({.name = "out", .role = Role::output, .extents = [](const Problem& problem) {
                            return std::vector{layout_of(problem).elements};
                          }});
  return op;
}

}  // namespace tunesmith
