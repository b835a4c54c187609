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
#include "tunesmith/products.h"
#include "tunesmith/rows.h"
#include "tunesmith/tensor.h"

namespace tunesmith::python {
namespace {

void bind_elementwise(nb::module_& m) {
  m.def(
      "functions",
      [] {
        std::vector<std::string> names;
        for (const auto& each : language::operations())
          if (each.called) names.emplace_back(each.name);
        for (const auto& each : language::named_functions()) names.emplace_back(each.name);
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

// Each array has a shape, and strides in elements.
using Layouts = std::vector<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>>;

std::vector<TensorLayout> layouts_of(const Layouts& arrays) {
  std::vector<TensorLayout> layouts;
  for (const auto& [shape, strides] : arrays) layouts.push_back({shape, strides});
  return layouts;
}

nb::tuple given_back(TensorComputation found, const std::string& out_dtype, const std::string& accuracy) {
  if (!out_dtype.empty()) append(found.problem, "out_dtype", out_dtype);
  if (accuracy != "full") append(found.problem, "accuracy", accuracy);
  return nb::make_tuple(nb::tuple(nb::cast(found.shape)), found.problem);
}

void bind_tensor(nb::module_& m) {
  m.def("tensor_arrays", &tensor_arrays, nb::arg("expression"), nb::arg("finish") = "out",
        "The arrays that an index expression reads, by name, in the order of first use, those that its "
        "finish alone reads last. Raises ValueError.");
  m.def(
      "tensor_computation",
      [](const std::string& expression, const std::string& dtype, const Layouts& inputs,
         const TensorExtents& extents, const std::string& may, const std::string& finish,
         const std::string& out_dtype, const std::vector<std::string>& zero_outside,
         const std::string& accuracy) {
        TensorComputation found =
            tensor_computation(expression, dtype, layouts_of(inputs),
                               {.extents = extents, .finish = finish, .zero_outside = zero_outside});
        if (may != "reorder") append(found.problem, "may", may);
        return given_back(std::move(found), out_dtype, accuracy);
      },
      nb::arg("expression"), nb::arg("dtype"), nb::arg("inputs"), nb::arg("extents") = TensorExtents(),
      nb::arg("may") = "reorder", nb::arg("finish") = "out", nb::arg("out_dtype") = "",
      nb::arg("zero_outside") = std::vector<std::string>(), nb::arg("accuracy") = "full",
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

void bind_products(nb::module_& m) {
  m.def(
      "matmul_computation",
      [](const std::string& dtype, const Layouts& arrays, const std::string& finish,
         const std::string& out_dtype, const std::string& accuracy) {
        return given_back(matmul_computation(dtype, layouts_of(arrays), {.finish = finish}), out_dtype,
                          accuracy);
      },
      nb::arg("dtype"), nb::arg("arrays"), nb::arg("finish"), nb::arg("out_dtype"), nb::arg("accuracy"),
      "The result's shape and the problem of matmul(), as of tensor_computation(). Raises ValueError.");
  m.def(
      "linear_computation",
      [](const std::string& dtype, const Layouts& arrays, const std::string& finish,
         const std::string& out_dtype, const std::string& accuracy) {
        return given_back(linear_computation(dtype, layouts_of(arrays), {.finish = finish}), out_dtype,
                          accuracy);
      },
      nb::arg("dtype"), nb::arg("arrays"), nb::arg("finish"), nb::arg("out_dtype"), nb::arg("accuracy"),
      "The result's shape and the problem of linear(). Raises ValueError.");
  m.def(
      "conv_computation",
      [](const std::string& dtype, const Layouts& arrays, const std::string& finish,
         const std::string& out_dtype, const std::string& accuracy, const std::vector<std::int64_t>& stride,
         const std::vector<std::int64_t>& dilation, const std::vector<std::int64_t>& before,
         const std::vector<std::int64_t>& behind, std::int64_t groups, bool are_channels_last) {
        const ConvolutionShape settings = {.stride = stride,
                                           .dilation = dilation,
                                           .before = before,
                                           .behind = behind,
                                           .groups = groups,
                                           .are_channels_last = are_channels_last};
        return given_back(conv_computation(dtype, layouts_of(arrays), settings, {.finish = finish}),
                          out_dtype, accuracy);
      },
      nb::arg("dtype"), nb::arg("arrays"), nb::arg("finish"), nb::arg("out_dtype"), nb::arg("accuracy"),
      nb::arg("stride"), nb::arg("dilation"), nb::arg("before"), nb::arg("behind"), nb::arg("groups"),
      nb::arg("are_channels_last"), "The result's shape and the problem of conv(). Raises ValueError.");
}

}  // namespace

void bind_expressions(nb::module_& m) {
  bind_elementwise(m);
  bind_rows(m);
  bind_tensor(m);
  bind_products(m);
}

}  // namespace tunesmith::python
