// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/error.h"
#include "generator/listed.h"
#include "templates/choice.h"
#include "templates/tensor/derive/forms.h"
#include "templates/tensor/op.h"
#include "tunesmith/products.h"
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
  if (options.out_type && ElementName(*options.out_type).text != dtype)
    problem.set("out_dtype", std::string(ElementName(*options.out_type).text));
  if (e.zero_outside != 0) problem.set("zero_outside", tensor_op::zero_outside_text(e));
  if (e.finish.is_there()) problem.set("finish", tensor_op::canonical_finish(e));
  return problem.text();
}

// A line that computes a product, for gemm() and convolution().
struct ProductLine {
  std::string text = {};
  std::vector<TensorLayout> inputs = {};
  TensorLayout out = {};
  TensorExtents extents = {};
  std::vector<std::string> zero_outside = {};
  std::string bias = {};  // the text of its access
};

// A dimension of an array: the text of its place, as 2*y+i-1, the extent, and the stride.
struct ProductDimension {
  std::string place = {};
  std::int64_t extent = 0;
  std::int64_t stride = 0;
};
using ProductDimensions = std::vector<ProductDimension>;

std::string access_text(const std::string& array, const ProductDimensions& dimensions) {
  std::string places;
  for (const ProductDimension& one : dimensions) places += (places.empty() ? "" : ",") + one.place;
  return dimensions.empty() ? array : array + "[" + places + "]";
}

TensorLayout layout_of(const ProductDimensions& dimensions) {
  TensorLayout layout;
  for (const ProductDimension& one : dimensions) {
    layout.extents.push_back(one.extent);
    layout.strides.push_back(one.stride);
  }
  return layout;
}

// The finish as tensor has it: the caller's knows only out, to which the bias was added.
std::string finish_text(const ProductLine& line, const std::string& finish) {
  const tensor_op::Expression own = parsed(line.text, {.finish = finish});
  if (own.arrays.size() > 2)
    throw UsageError("The finish is \"" + finish + "\" and names " + own.arrays[2] +
                     "; here it is a function of out alone. The function tensor() takes one of several "
                     "arrays.");
  if (line.bias.empty()) return finish;
  const auto is_part_of_name = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  std::string text;
  for (std::size_t begin = 0; begin < finish.size();) {
    std::size_t end = begin;
    while (end < finish.size() && is_part_of_name(finish[end])) ++end;
    end = std::max(end, begin + 1);
    const std::string word = finish.substr(begin, end - begin);
    text += word == "out" ? "(out + " + line.bias + ")" : word;
    begin = end;
  }
  return text;
}

std::string problem_of(const ProductLine& line, ElementName type, const ProductOptions& options) {
  return tensor_problem(line.text, type, line.inputs, line.out,
                        {.extents = line.extents,
                         .finish = finish_text(line, options.finish),
                         .out_type = options.out_type,
                         .zero_outside = line.zero_outside});
}

Status launch_product(Dispatcher& dispatcher, const std::string& problem, const void* first,
                      const void* second, const void* bias, void* result, void* stream) {
  // Inputs are only read, but a list of pointers to inputs and outputs must hold void*.
  void* const arguments[tensor_op::most_arrays + 1] = {const_cast<void*>(first),
                                                       const_cast<void*>(second),
                                                       const_cast<void*>(bias),
                                                       nullptr,
                                                       nullptr,
                                                       nullptr,
                                                       result};
  return dispatcher.plan("tensor", problem).launch(arguments, stream);
}

ProductLine gemm_line(const GemmShape& shape, bool has_bias) {
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"batch", shape.batch}, {"rows", shape.rows}, {"columns", shape.columns}, {"depth", shape.depth}};
  for (const auto& [name, size] : sizes) {
    if (size < 0 || size > most_elements)
      throw UsageError("A product of matrices has " + std::string(name) + "=" + std::to_string(size) +
                       "; allowed is 0 to " + most_elements_text + ".");
  }
  if (shape.c.is_one_for_all && shape.batch > 1)
    throw UsageError(
        "A batch of products has one matrix as its result; is_one_for_all is for the matrices that are "
        "read.");
  const auto lies = [&](const char* name, const GemmMatrix& matrix, ProductDimension rows,
                        ProductDimension columns) {
    if (matrix.is_transposed) std::swap(rows, columns);
    columns.stride = 1;
    rows.stride = matrix.pitch == 0 ? columns.extent : matrix.pitch;
    if (rows.stride < columns.extent || matrix.matrix_step < 0)
      throw UsageError("The matrix " + std::string(name) + " has pitch=" + std::to_string(matrix.pitch) +
                       " and matrix_step=" + std::to_string(matrix.matrix_step) +
                       "; allowed are 0, or a pitch of " + std::to_string(columns.extent) +
                       " or more and a step above 0.");
    ProductDimensions found = {rows, columns};
    if (shape.batch != 1 && !matrix.is_one_for_all)
      found.insert(found.begin(), {"n", shape.batch,
                                   matrix.matrix_step == 0 ? rows.extent * rows.stride : matrix.matrix_step});
    return found;
  };
  const ProductDimension i = {"i", shape.rows}, j = {"j", shape.columns}, k = {"k", shape.depth};
  const ProductDimensions a = lies("a", shape.a, i, k), b = lies("b", shape.b, k, j),
                          c = lies("c", shape.c, i, j);
  ProductLine line = {
      .text = access_text("out", c) + " += " + access_text("a", a) + " * " + access_text("b", b),
      .inputs = {layout_of(a), layout_of(b)},
      .out = layout_of(c),
      .extents = {{"i", shape.rows}, {"j", shape.columns}, {"k", shape.depth}}};
  if (shape.batch != 1) line.extents.emplace_back("n", shape.batch);
  if (has_bias) {
    line.bias = "bias[j]";
    line.inputs.push_back({{shape.columns}});
  }
  return line;
}

// A convolution along one dimension: the taps of output y lie at stride * y + dilation * tap - before.
struct ConvolutionWindow {
  std::int64_t image = 0;
  std::int64_t taps = 0;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t before = 0;
  std::int64_t behind = 0;
  std::int64_t outputs = 0;
};

std::vector<ConvolutionWindow> windows_of(const ConvolutionShape& shape) {
  constexpr std::int64_t most = std::int64_t{1} << 20;  // of a factor and a number between brackets
  const std::size_t dimensions = shape.image.size();
  if (dimensions < 1 || dimensions > 3)
    throw UsageError("A convolution's image has " + std::to_string(dimensions) +
                     " dimensions; allowed are 1 to 3.");
  const auto of_each = [&](const char* name, const std::vector<std::int64_t>& given, std::int64_t least,
                           std::int64_t largest, const std::vector<std::int64_t>& otherwise) {
    const std::vector<std::int64_t>& found = given.empty() ? otherwise : given;
    const bool is_wrong = std::any_of(found.begin(), found.end(),
                                      [&](std::int64_t one) { return one < least || one > largest; });
    if (found.size() != dimensions || is_wrong)
      throw UsageError("A convolution of " + std::to_string(dimensions) + " dimensions has " + name + "=" +
                       joined(found) + "; each dimension needs a number from " + std::to_string(least) +
                       " to " + std::to_string(largest) + ".");
    return found;
  };
  const std::vector<std::int64_t> ones(dimensions, 1), zeros(dimensions, 0);
  const std::vector<std::int64_t> image = of_each("image", shape.image, 0, most_elements, {});
  const std::vector<std::int64_t> taps = of_each("taps", shape.taps, 1, most, {});
  const std::vector<std::int64_t> stride = of_each("stride", shape.stride, 1, most, ones);
  const std::vector<std::int64_t> dilation = of_each("dilation", shape.dilation, 1, most, ones);
  const std::vector<std::int64_t> before = of_each("before", shape.before, 0, most, zeros);
  const std::vector<std::int64_t> behind = of_each("behind", shape.behind, 0, most, before);
  std::vector<ConvolutionWindow> found;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::int64_t reach = dilation[d] * (taps[d] - 1) + 1, room = before[d] + image[d] + behind[d];
    if (room < reach)
      throw UsageError("A convolution's image has " + std::to_string(image[d]) +
                       " elements along a dimension and " + std::to_string(before[d] + behind[d]) +
                       " zeros around them, but a mask's " + std::to_string(taps[d]) + " taps reach over " +
                       std::to_string(reach) + "; allowed are at most as many.");
    const std::int64_t outputs = (room - reach) / stride[d] + 1;
    found.push_back({image[d], taps[d], outputs == 1 ? 1 : stride[d], taps[d] == 1 ? 1 : dilation[d],
                     before[d], behind[d], outputs});
  }
  return found;
}

// The place of a window's element, such as 2*y+3*i-1, of those indices that have more than one element.
std::string place_text(const ConvolutionWindow& window, const std::string& place, const std::string& tap) {
  std::string text;
  const auto add = [&](std::int64_t factor, const std::string& index, std::int64_t extent) {
    if (extent == 1) return;
    text += (text.empty() ? "" : "+") + (factor == 1 ? index : std::to_string(factor) + "*" + index);
  };
  add(window.stride, place, window.outputs);
  add(window.dilation, tap, window.taps);
  if (window.before != 0) return text + "-" + std::to_string(window.before);
  return text.empty() ? "0" : text;
}

// out[n,g,o,y,x] += x[n,g,c,y+i,x+j] * w[g,o,c,i,j]: groups are a dimension of all three arrays. Indices of
// one element are left out.
ProductLine convolution_line(const ConvolutionShape& shape, bool has_bias) {
  const std::vector<ConvolutionWindow> windows = windows_of(shape);
  if (shape.groups < 1 || shape.batch < 0 || shape.inputs < 0 || shape.outputs < 0 ||
      shape.inputs % shape.groups != 0 || shape.outputs % shape.groups != 0)
    throw UsageError("A convolution has batch=" + std::to_string(shape.batch) +
                     " inputs=" + std::to_string(shape.inputs) + " outputs=" + std::to_string(shape.outputs) +
                     " groups=" + std::to_string(shape.groups) +
                     "; allowed are 0 and more, and inputs and outputs that are multiples of groups.");
  const std::int64_t inputs = shape.inputs / shape.groups, outputs = shape.outputs / shape.groups;
  const std::size_t count = windows.size();
  const ProductDimension n = {"n", shape.batch}, g = {"g", shape.groups}, o = {"o", outputs},
                         c = {"c", inputs};
  ProductDimensions places, results, taps;  // the image's, the result's, and a mask's
  for (std::size_t d = 0; d < count; ++d) {
    const ConvolutionWindow& window = windows[d];
    const std::string place(1, "zyx"[3 - count + d]), tap(1, "ijk"[d]);
    places.push_back({place_text(window, place, tap), window.image});
    results.push_back({place, window.outputs});
    taps.push_back({tap, window.taps});
  }
  // The dimensions of an array without gaps. `moving`: those that stay though they have one element.
  const auto dense = [&](ProductDimensions all, const ProductDimensions& moving) {
    std::int64_t stride = 1;
    for (std::size_t d = all.size(); d-- > 0; stride *= all[d].extent) all[d].stride = stride;
    std::erase_if(all, [&](const ProductDimension& one) {
      return one.extent == 1 && std::none_of(moving.begin(), moving.end(), [&](const ProductDimension& kept) {
               return kept.place == one.place;
             });
    });
    return all;
  };
  const auto with_channels = [&](const ProductDimension& first, const ProductDimensions& of_image,
                                 const ProductDimensions& channels) {
    ProductDimensions all = {first};
    for (const ProductDimensions* part :
         shape.are_channels_last ? std::array{&of_image, &channels} : std::array{&channels, &of_image})
      all.insert(all.end(), part->begin(), part->end());
    return all;
  };
  ProductDimensions image = dense(with_channels(n, places, {g, c}), places);
  // Behind the last element that is read a stride may leave some.
  for (std::size_t d = 0; d < count; ++d) {
    const ConvolutionWindow& window = windows[d];
    const std::int64_t end =
        window.stride * (window.outputs - 1) + window.dilation * (window.taps - 1) + 1 - window.before;
    for (ProductDimension& one : image) {
      if (one.place == places[d].place && end > 0) one.extent = std::min(one.extent, end);
    }
  }
  ProductDimensions masks = {g, o, c};
  masks.insert(masks.end(), taps.begin(), taps.end());
  masks = dense(masks, {});
  const ProductDimensions result = dense(with_channels(n, results, {g, o}), {});
  const ProductDimensions bias = dense({g, o}, {});

  ProductLine line = {.inputs = {layout_of(image), layout_of(masks)}, .out = layout_of(result)};
  for (const ProductDimension& one : result) line.extents.emplace_back(one.place, one.extent);
  bool is_sum = false;
  taps.push_back(c);
  for (const ProductDimension& one : taps) {
    if (one.extent == 1) continue;
    line.extents.emplace_back(one.place, one.extent);
    is_sum = true;
  }
  line.text = access_text("out", result) + (is_sum ? " += " : " = ") + access_text("x", image) + " * " +
              access_text("w", masks);
  for (const ConvolutionWindow& window : windows) {
    if (window.before != 0 || window.behind != 0) line.zero_outside = {"x"};
  }
  if (has_bias) {
    line.bias = access_text("bias", bias);
    line.inputs.push_back(layout_of(bias));
  }
  return line;
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

std::string gemm_problem(ElementName type, const GemmShape& shape, const ProductOptions& options) {
  return problem_of(gemm_line(shape, options.has_bias), type, options);
}

Plan gemm_plan(Dispatcher& dispatcher, ElementName type, const GemmShape& shape,
               const ProductOptions& options) {
  return dispatcher.plan("tensor", gemm_problem(type, shape, options));
}

Status gemm(Dispatcher& dispatcher, ElementName type, const void* a, const void* b, const void* bias, void* c,
            const GemmShape& shape, const ProductOptions& options, void* stream) {
  return launch_product(dispatcher, problem_of(gemm_line(shape, bias != nullptr), type, options), a, b, bias,
                        c, stream);
}

std::vector<std::int64_t> convolution_extents(const ConvolutionShape& shape) {
  std::vector<std::int64_t> extents;
  for (const ConvolutionWindow& window : windows_of(shape)) extents.push_back(window.outputs);
  return extents;
}

std::string convolution_problem(ElementName type, const ConvolutionShape& shape,
                                const ProductOptions& options) {
  return problem_of(convolution_line(shape, options.has_bias), type, options);
}

Plan convolution_plan(Dispatcher& dispatcher, ElementName type, const ConvolutionShape& shape,
                      const ProductOptions& options) {
  return dispatcher.plan("tensor", convolution_problem(type, shape, options));
}

Status convolution(Dispatcher& dispatcher, ElementName type, const void* image, const void* masks,
                   const void* bias, void* result, const ConvolutionShape& shape,
                   const ProductOptions& options, void* stream) {
  return launch_product(dispatcher, problem_of(convolution_line(shape, bias != nullptr), type, options),
                        image, masks, bias, result, stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
