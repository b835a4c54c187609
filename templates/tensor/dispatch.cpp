// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/error.h"
#include "generator/listed.h"
#include "templates/tensor/derive/forms.h"
#include "templates/tensor/op.h"
#include "tunesmith/tensor.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

tensor_op::Expression parsed(const std::string& text, const TensorOptions& options) {
  tensor_op::ParseResult result = tensor_op::parse(text, options.finish);
  if (!result.error.empty()) throw UsageError("The expression is \"" + text + "\". " + result.error);
  std::string names;
  for (const std::string& name : options.zero_outside) names += (names.empty() ? "" : ",") + name;
  tensor_op::set_zero_outside(result.expression, names);
  return std::move(result.expression);
}

// The extent of each index; those in `extents` are given.
std::vector<std::int64_t> extents_of(const std::string& text, const tensor_op::Expression& e,
                                     const std::vector<std::vector<std::int64_t>>& shapes,
                                     const TensorExtents& extents) {
  const std::string subject = "The expression is \"" + text + "\". ";
  if (shapes.size() != e.arrays.size()) {
    throw UsageError(subject + "It reads " + std::to_string(e.arrays.size()) + " arrays (" +
                     listed(e.arrays) + "), but " + std::to_string(shapes.size()) + " were given.");
  }
  std::vector<std::int64_t> given(e.indices.size(), -1);
  for (const auto& [name, extent] : extents) {
    const std::size_t index = e.place_of(name);
    if (index == e.indices.size())
      throw UsageError(subject + "It has no index " + name + "; leave its extent out.");
    if (extent < 0 || extent > most_elements)
      throw UsageError(subject + "The extent of " + name + " is " + std::to_string(extent) +
                       "; allowed is 0 to " + most_elements_text + ".");
    given[index] = extent;
  }
  std::vector<const std::vector<std::int64_t>*> known;
  known.reserve(shapes.size());
  for (const std::vector<std::int64_t>& shape : shapes) known.push_back(&shape);
  tensor_op::Extents result = tensor_op::infer_extents(e, std::move(given), known);
  if (!result.error.empty()) throw UsageError(subject + result.error);
  return std::move(result.values);
}

std::vector<std::int64_t> extents_of(const std::string& text, const tensor_op::Expression& e,
                                     const std::vector<TensorLayout>& inputs, const TensorExtents& extents) {
  std::vector<std::vector<std::int64_t>> shapes;
  shapes.reserve(inputs.size());
  for (const TensorLayout& input : inputs) shapes.push_back(input.extents);
  return extents_of(text, e, shapes, extents);
}

std::string text_of(const TensorLayout& layout) {
  return layout.strides.empty() ? joined(layout.extents)
                                : tunesmith::text_of(ArrayLayout{layout.extents, layout.strides});
}

// `values`: each index's extent.
std::string problem_text(const tensor_op::Expression& e, const std::vector<std::int64_t>& values,
                         std::string_view dtype, const std::vector<TensorLayout>& inputs,
                         const TensorLayout& out, const TensorOptions& options) {
  Values problem = {{"expression", tensor_op::canonical_text(e)},
                    {"dtype", std::string(dtype)},
                    {"extents", joined(values)}};
  const auto set = [&](std::string_view name, int array, const TensorLayout& layout) {
    problem.set(name, tensor_op::stored_layout(text_of(layout), tensor_op::least_extents(e, array, values)));
  };
  for (std::size_t k = 0; k < inputs.size(); ++k)
    set(tensor_op::array_names[k], static_cast<int>(k), inputs[k]);
  set("out", -1, out);
  if (options.may == TensorMay::distribute) problem.set("may", std::string("distribute"));
  if (options.accuracy != TensorAccuracy::full)
    problem.set("accuracy", std::string(options.accuracy == TensorAccuracy::tf32 ? "tf32" : "bf16"));
  if (options.out_type && ElementName(*options.out_type).text != dtype)
    problem.set("out_dtype", std::string(ElementName(*options.out_type).text));
  if (e.zero_outside != 0) problem.set("zero_outside", tensor_op::zero_outside_text(e));
  if (e.finish.is_there()) problem.set("finish", tensor_op::canonical_finish(e));
  return problem.text();
}

}  // namespace

std::vector<std::string> tensor_arrays(const std::string& expression, const std::string& finish) {
  return parsed(expression, {.finish = finish}).arrays;
}

std::vector<std::int64_t> tensor_shape(const std::string& expression,
                                       const std::vector<std::vector<std::int64_t>>& inputs,
                                       const TensorOptions& options) {
  const tensor_op::Expression e = parsed(expression, options);
  return tensor_op::least_extents(e, -1, extents_of(expression, e, inputs, options.extents));
}

std::string tensor_problem(const std::string& expression, ElementName type,
                           const std::vector<TensorLayout>& inputs, const TensorLayout& out,
                           const TensorOptions& options) {
  const tensor_op::Expression e = parsed(expression, options);
  return problem_text(e, extents_of(expression, e, inputs, options.extents), type.text, inputs, out, options);
}

TensorComputation tensor_computation(const std::string& expression, std::string_view dtype,
                                     const std::vector<TensorLayout>& inputs, const TensorOptions& options) {
  const tensor_op::Expression e = parsed(expression, options);
  const std::vector<std::int64_t> values = extents_of(expression, e, inputs, options.extents);
  std::vector<std::int64_t> shape = tensor_op::least_extents(e, -1, values);
  std::string problem = problem_text(e, values, dtype, inputs, {.extents = shape}, options);
  return {std::move(shape), std::move(problem)};
}

Plan tensor_plan(Dispatcher& dispatcher, const std::string& expression, ElementName type,
                 const std::vector<TensorLayout>& inputs, const TensorLayout& out,
                 const TensorOptions& options) {
  return dispatcher.plan("tensor", tensor_problem(expression, type, inputs, out, options));
}

Status tensor(Dispatcher& dispatcher, const std::string& expression, ElementName type,
              const std::vector<TensorInput>& inputs, void* out, const TensorLayout& out_layout, void* stream,
              const TensorOptions& options) {
  std::vector<TensorLayout> layouts;
  std::array<void*, tensor_op::most_arrays + 1> arguments = {};
  for (const TensorInput& input : inputs) {
    layouts.push_back(input.layout);
    // Inputs are only read, but a list of pointers to inputs and outputs must hold void*.
    if (layouts.size() <= tensor_op::most_arrays)
      arguments[layouts.size() - 1] = const_cast<void*>(input.data);
  }
  arguments.back() = out;
  return tensor_plan(dispatcher, expression, type, layouts, out_layout, options).launch(arguments, stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
