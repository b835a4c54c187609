// SPDX-License-Identifier: Apache-2.0
// The languages of elementwise, rows and tensor, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind.h"
#include "generator/values.h"
#include "language/expression.h"
#include "tunesmith/rows.h"
#include "tunesmith/tensor.h"

namespace tunesmith::python {
namespace {

void bind_elementwise(nb::module_& m) {
  m.def(
      "functions",
      [] {
        std::vector<std::string> names;
        for (const auto& each : elementwise_op::operations())
          if (each.called) names.emplace_back(each.name);
        for (const auto& each : elementwise_op::named_functions()) names.emplace_back(each.name);
        return names;
      },
      "The functions that an expression of elementwise may call.");
}

void bind_rows(nb::module_& m) {
  m.def(
      "rows_arrays", &rows_arrays, nb::arg("expression"),
      "The arrays that an expression of rows reads, by name, in the order of first use. Raises ValueError.");
  m.def("rows_expression", &rows_expression, nb::arg("expression"),
        "The expression as a problem has it, its arrays x0, x1, ... Raises ValueError.");
  m.def("rows_results", &rows_results, nb::arg("expression"),
        "The results that an expression of rows has, by name. Raises ValueError.");
  m.def(
      "rows_results_vary",
      [](const std::string& expression, const std::vector<std::string>& kinds) {
        static constexpr std::array<std::string_view, 4> names = {"matrix", "per_column", "per_row",
                                                                  "scalar"};
        std::vector<RowsKind> inputs;
        for (const std::string& kind : kinds)
          inputs.push_back(
              static_cast<RowsKind>(std::find(names.begin(), names.end() - 1, kind) - names.begin()));
        return rows_results_vary(expression, inputs);
      },
      nb::arg("expression"), nb::arg("kinds"),
      "Whether each result has an element for each element of a row, for arrays that are read as matrix, "
      "per_column, per_row or scalar. Raises ValueError.");
}

void bind_tensor(nb::module_& m) {
  m.def("tensor_arrays", &tensor_arrays, nb::arg("expression"), nb::arg("finish") = "out",
        "The arrays that an index expression reads, by name, in the order of first use, those that its "
        "finish alone reads last. Raises ValueError.");
  m.def(
      "tensor_computation",
      [](const std::string& expression, const std::string& dtype,
         const std::vector<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>>& inputs,
         const TensorExtents& extents, const std::string& may, const std::string& finish,
         const std::string& out_dtype, const std::vector<std::string>& zero_outside) {
        std::vector<TensorLayout> layouts;
        for (const auto& [shape, strides] : inputs) layouts.push_back({shape, strides});
        TensorComputation found = tensor_computation(
            expression, dtype, layouts, {.extents = extents, .finish = finish, .zero_outside = zero_outside});
        if (may != "reorder") append(found.problem, "may", may);
        if (!out_dtype.empty()) append(found.problem, "out_dtype", out_dtype);
        return nb::make_tuple(nb::tuple(nb::cast(found.shape)), found.problem);
      },
      nb::arg("expression"), nb::arg("dtype"), nb::arg("inputs"), nb::arg("extents") = TensorExtents(),
      nb::arg("may") = "reorder", nb::arg("finish") = "out", nb::arg("out_dtype") = "",
      nb::arg("zero_outside") = std::vector<std::string>(),
      "The result's shape, and the problem as a text, from (shape, strides in elements) of each input. The "
      "result has no gaps; out_dtype: its type, \"\" for that of the inputs. Raises ValueError.");
  m.def(
      "tensor_shape",
      [](const std::string& expression, const std::vector<std::vector<std::int64_t>>& inputs,
         const TensorExtents& extents, const std::string& finish,
         const std::vector<std::string>& zero_outside) {
        return tensor_shape(expression, inputs,
                            {.extents = extents, .finish = finish, .zero_outside = zero_outside});
      },
      nb::arg("expression"), nb::arg("inputs"), nb::arg("extents") = TensorExtents(),
      nb::arg("finish") = "out", nb::arg("zero_outside") = std::vector<std::string>(),
      "The shape of the array that it computes, from those of its inputs and the extents (name, extent) of "
      "indices that these do not fix. Raises ValueError.");
}

}  // namespace

void bind_expressions(nb::module_& m) {
  bind_elementwise(m);
  bind_rows(m);
  bind_tensor(m);
}

}  // namespace tunesmith::python
