// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/error.h"
#include "generator/listed.h"
#include "templates/layout_text.h"
#include "templates/tensor/notation/expression.h"
#include "tunesmith/products.h"
#include "tunesmith/tensor.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

// A line that computes a product.
struct Line {
  std::string text = {};
  std::vector<TensorLayout> inputs = {};
  TensorLayout out = {};
  TensorExtents extents = {};
  std::vector<std::string> zero_outside = {};
  std::string bias = {};  // the text of its access
};

// A dimension of an array: the text of its place, as 2*y+i-1, the extent, and the stride.
struct Dimension {
  std::string place = {};
  std::int64_t extent = 0;
  std::int64_t stride = 0;
};
using Dimensions = std::vector<Dimension>;

std::string access_text(const std::string& array, const Dimensions& dimensions) {
  std::string places;
  for (const Dimension& one : dimensions) places += (places.empty() ? "" : ",") + one.place;
  return dimensions.empty() ? array : array + "[" + places + "]";
}

TensorLayout layout_of(const Dimensions& dimensions) {
  TensorLayout layout;
  for (const Dimension& one : dimensions) {
    layout.extents.push_back(one.extent);
    layout.strides.push_back(one.stride);
  }
  return layout;
}

TensorLayout dense(std::vector<std::int64_t> extents) {
  std::vector<std::int64_t> strides = dense_strides(extents);
  return {std::move(extents), std::move(strides)};
}

// The finish as tensor has it: the caller's knows only out, to which the bias was added. The names of the
// line's arrays are the library's own, so a finish that names them is refused as one that names others.
std::string finish_text(const Line& line, const std::string& finish) {
  const auto is_part_of_name = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  std::string text;
  for (std::size_t begin = 0; begin < finish.size();) {
    std::size_t end = begin;
    while (end < finish.size() && is_part_of_name(finish[end])) ++end;
    end = std::max(end, begin + 1);
    const std::string word = finish.substr(begin, end - begin);
    const std::size_t next = finish.find_first_not_of(" \t\n", end);
    const bool is_called = next != std::string::npos && finish[next] == '(';
    const bool is_name = is_part_of_name(word[0]) && std::isdigit(static_cast<unsigned char>(word[0])) == 0;
    if (is_name && !is_called && word != "out" && word != "pi")
      throw UsageError("The finish is \"" + finish + "\" and names " + word +
                       "; it is a function of out, the sum with its bias, alone. The function tensor() takes "
                       "a finish that reads arrays.");
    text += word == "out" && !line.bias.empty() ? "(out + " + line.bias + ")" : word;
    begin = end;
  }
  if (finish != "out") tensor_arrays(line.text, finish);  // an error has its place in the caller's text
  return text;
}

TensorOptions options_of(const Line& line, const ProductOptions& options) {
  return {.extents = line.extents,
          .finish = finish_text(line, options.finish),
          .out_type = options.out_type,
          .zero_outside = line.zero_outside,
          .accuracy = options.accuracy};
}

std::string problem_of(const Line& line, ElementName type, const ProductOptions& options) {
  return tensor_problem(line.text, type, line.inputs, line.out, options_of(line, options));
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

// An index of a product of matrices: its extent, and the stride of each array along it: of both operands, the
// result, and the bias.
struct Index {
  std::int64_t extent = 1;
  std::array<std::int64_t, 4> strides;
};
constexpr std::int64_t unmoved = -1;  // the stride of an array that an index does not move
constexpr std::size_t bias_place = 3;

// Neighbours along which every array moves as along one index are one; those of one element are left out.
std::vector<Index> fused(const std::vector<Index>& indices) {
  std::vector<Index> found;
  for (const Index& one : indices) {
    const auto continues = [&](std::size_t array) {
      const std::int64_t before = found.back().strides[array], now = one.strides[array];
      return before == unmoved || now == unmoved ? before == now : before == now * one.extent;
    };
    if (one.extent == 1) continue;
    if (!found.empty() && continues(0) && continues(1) && continues(2) && continues(3))
      found.back() = {found.back().extent * one.extent, one.strides};
    else
      found.push_back(one);
  }
  return found;
}

// out[...] += a[...] * b[...] over one summed index.
Line sum_of_products(const std::vector<Index>& of_result, const Index& summed, bool has_bias) {
  const std::vector<Index> indices = fused(of_result);
  if (indices.size() >= tensor_op::most_indices)
    throw UsageError(
        "A product of matrices was given arrays that need " + std::to_string(indices.size() + 1) +
        " indices, since their dimensions do not lie one behind the other in memory; at most " +
        std::to_string(tensor_op::most_indices) + " are computed. Reshape the arrays, or copy them first.");
  Line line;
  std::array<Dimensions, 4> arrays;
  const auto add = [&](char letter, const Index& index) {
    line.extents.emplace_back(std::string(1, letter), index.extent);
    for (std::size_t k = 0; k < arrays.size(); ++k)
      if (index.strides[k] != unmoved)
        arrays[k].push_back({std::string(1, letter), index.extent, index.strides[k]});
  };
  for (std::size_t k = 0; k < indices.size(); ++k) add("ijlmnopqrst"[k], indices[k]);
  const bool is_sum = summed.extent != 1;
  if (is_sum) add('k', summed);
  line.out = layout_of(arrays[2]);
  for (Dimensions& one : arrays)  // outermost first
    std::stable_sort(one.begin(), one.end(),
                     [](const Dimension& x, const Dimension& y) { return x.stride > y.stride; });
  Dimensions out;
  for (const auto& [name, extent] : line.extents)
    if (name != "k") out.push_back({name, extent});
  line.text = access_text("out", out) + (is_sum ? " += " : " = ") + access_text("a", arrays[0]) + " * " +
              access_text("b", arrays[1]);
  line.inputs = {layout_of(arrays[0]), layout_of(arrays[1])};
  if (has_bias) {
    line.bias = access_text("bias", arrays[bias_place]);
    line.inputs.push_back(layout_of(arrays[bias_place]));
  }
  return line;
}

Line gemm_line(const GemmShape& shape, bool has_bias) {
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
  struct Strides {
    std::int64_t batch, row, column;
  };
  const auto lies = [&](const char* name, const GemmMatrix& matrix, std::int64_t rows,
                        std::int64_t columns) -> Strides {
    if (matrix.is_transposed) std::swap(rows, columns);
    const std::int64_t pitch = matrix.pitch == 0 ? columns : matrix.pitch;
    if (pitch < columns || matrix.matrix_step < 0)
      throw UsageError("The matrix " + std::string(name) + " has pitch=" + std::to_string(matrix.pitch) +
                       " and matrix_step=" + std::to_string(matrix.matrix_step) +
                       "; allowed are 0, or a pitch of " + std::to_string(columns) +
                       " or more and a step above 0.");
    const std::int64_t step = matrix.is_one_for_all     ? unmoved
                              : matrix.matrix_step == 0 ? rows * pitch
                                                        : matrix.matrix_step;
    return matrix.is_transposed ? Strides{step, 1, pitch} : Strides{step, pitch, 1};
  };
  const Strides a = lies("a", shape.a, shape.rows, shape.depth),
                b = lies("b", shape.b, shape.depth, shape.columns),
                c = lies("c", shape.c, shape.rows, shape.columns);
  return sum_of_products({{shape.batch, {a.batch, b.batch, c.batch, unmoved}},
                          {shape.rows, {a.row, unmoved, c.row, unmoved}},
                          {shape.columns, {unmoved, b.column, c.column, 1}}},
                         {shape.depth, {a.column, b.row, unmoved, unmoved}}, has_bias);
}

// A convolution along one dimension: the taps of output y lie at stride * y + dilation * tap - before.
struct Window {
  std::int64_t image = 0;
  std::int64_t taps = 0;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t before = 0;
  std::int64_t behind = 0;
  std::int64_t outputs = 0;

  // The elements of the image up to the last one that is read: behind it a stride may leave some.
  std::int64_t read() const {
    const std::int64_t end = stride * (outputs - 1) + dilation * (taps - 1) + 1 - before;
    return end > 0 ? std::min(image, end) : image;
  }
};

std::vector<Window> windows_of(const ConvolutionShape& shape) {
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
  const std::vector<std::int64_t> taps = of_each("taps", shape.taps, 1, most_elements, {});
  const std::vector<std::int64_t> stride = of_each("stride", shape.stride, 1, most, ones);
  const std::vector<std::int64_t> dilation = of_each("dilation", shape.dilation, 1, most, ones);
  const std::vector<std::int64_t> before = of_each("before", shape.before, 0, most, zeros);
  const std::vector<std::int64_t> behind = of_each("behind", shape.behind, 0, most, before);
  std::vector<Window> found;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::int64_t room = before[d] + image[d] + behind[d];
    // Taps that reach beyond the largest array do so without a product that overflows.
    const std::int64_t reach =
        taps[d] > most_elements / dilation[d] ? most_elements : dilation[d] * (taps[d] - 1) + 1;
    if (room < reach)
      throw UsageError("A convolution's image has " + std::to_string(image[d]) +
                       " elements along a dimension and " + std::to_string(before[d] + behind[d]) +
                       " zeros around them, but a mask's " + std::to_string(taps[d]) + " taps reach over " +
                       std::to_string(reach) + "; the image with its zeros must be as large as they reach.");
    const std::int64_t outputs = (room - reach) / stride[d] + 1;
    found.push_back({image[d], taps[d], outputs == 1 ? 1 : stride[d], taps[d] == 1 ? 1 : dilation[d],
                     before[d], behind[d], outputs});
  }
  return found;
}

// The place of a window's element, such as 2*y+3*i-1, of those indices that have more than one element.
std::string place_text(const Window& window, const std::string& place, const std::string& tap) {
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

void check_channels(const ConvolutionShape& shape) {
  if (shape.groups < 1 || shape.batch < 0 || shape.inputs < 0 || shape.outputs < 0 ||
      shape.inputs % shape.groups != 0 || shape.outputs % shape.groups != 0)
    throw UsageError("A convolution has batch=" + std::to_string(shape.batch) +
                     " inputs=" + std::to_string(shape.inputs) + " outputs=" + std::to_string(shape.outputs) +
                     " groups=" + std::to_string(shape.groups) +
                     "; allowed are 0 and more, and inputs and outputs that are multiples of groups.");
}

// Extents or strides in the order of the shape's arrays.
std::vector<std::int64_t> in_order(const ConvolutionShape& shape, std::int64_t batch, std::int64_t channels,
                                   std::vector<std::int64_t> of_image) {
  of_image.insert(shape.are_channels_last ? of_image.end() : of_image.begin(), channels);
  of_image.insert(of_image.begin(), batch);
  return of_image;
}

// The layouts of arrays without gaps: the image, the masks, and the bias.
std::vector<TensorLayout> dense_arrays(const ConvolutionShape& shape, bool has_bias) {
  check_channels(shape);
  std::vector<std::int64_t> masks = {shape.outputs, shape.inputs / shape.groups};
  masks.insert(masks.end(), shape.taps.begin(), shape.taps.end());
  std::vector<TensorLayout> arrays = {dense(in_order(shape, shape.batch, shape.inputs, shape.image)),
                                      dense(std::move(masks))};
  if (has_bias) arrays.push_back(dense({shape.outputs}));
  return arrays;
}

// out[n,g,o,y,x] += x[n,g,c,y+i,x+j] * w[g,o,c,i,j]: groups are a dimension of all three arrays. Indices of
// one element are left out. The arrays have the shape's extents, and the result has no gaps.
Line convolution_line(const ConvolutionShape& shape, const std::vector<TensorLayout>& arrays) {
  const std::vector<Window> windows = windows_of(shape);
  check_channels(shape);
  const std::int64_t inputs = shape.inputs / shape.groups, outputs = shape.outputs / shape.groups;
  const std::size_t count = windows.size();
  const std::vector<std::int64_t>&of_x = arrays[0].strides, &of_w = arrays[1].strides;
  const std::size_t first = shape.are_channels_last ? 1 : 2,
                    channel = shape.are_channels_last ? count + 1 : 1;

  Line line;
  std::vector<std::int64_t> extents_of_result;
  extents_of_result.reserve(count);
  for (const Window& one : windows) extents_of_result.push_back(one.outputs);
  const std::vector<std::int64_t> of_out =
      dense_strides(in_order(shape, shape.batch, shape.outputs, extents_of_result));
  const auto add = [](Dimensions& to, const char* letter, std::int64_t extent, std::int64_t stride) {
    if (extent != 1) to.push_back({letter, extent, stride});
  };
  Dimensions places, results, taps;  // the image's, the result's, and a mask's
  for (std::size_t d = 0; d < count; ++d) {
    const Window& window = windows[d];
    const std::string place(1, "zyx"[3 - count + d]), tap(1, "ijk"[d]);
    places.push_back({place_text(window, place, tap), window.read(), of_x[first + d]});
    add(results, place.c_str(), window.outputs, of_out[first + d]);
    add(taps, tap.c_str(), window.taps, of_w[2 + d]);
    if (window.before != 0 || window.behind != 0) line.zero_outside = {"x"};
  }
  const auto with_channels = [&](std::int64_t batch_stride, const Dimensions& of_image,
                                 const Dimensions& channels) {
    Dimensions all;
    add(all, "n", shape.batch, batch_stride);
    for (const Dimensions* part :
         shape.are_channels_last ? std::array{&of_image, &channels} : std::array{&channels, &of_image})
      all.insert(all.end(), part->begin(), part->end());
    return all;
  };
  // A group's channels lie one behind the other.
  const auto groups_of = [&](const char* letter, std::int64_t of_group, std::int64_t stride) {
    Dimensions all;
    add(all, "g", shape.groups, stride * of_group);
    add(all, letter, of_group, stride);
    return all;
  };
  const Dimensions image = with_channels(of_x[0], places, groups_of("c", inputs, of_x[channel]));
  const Dimensions result = with_channels(of_out[0], results, groups_of("o", outputs, of_out[channel]));
  Dimensions masks = groups_of("o", outputs, of_w[0]), summed = taps;
  add(masks, "c", inputs, of_w[1]);
  masks.insert(masks.end(), taps.begin(), taps.end());
  add(summed, "c", inputs, of_w[1]);

  line.inputs = {layout_of(image), layout_of(masks)};
  line.out = layout_of(result);
  for (const Dimensions* part : {&std::as_const(result), &std::as_const(summed)})
    for (const Dimension& one : *part) line.extents.emplace_back(one.place, one.extent);
  line.text = access_text("out", result) + (summed.empty() ? " = " : " += ") + access_text("x", image) +
              " * " + access_text("w", masks);
  if (arrays.size() > 2) {
    const Dimensions bias = groups_of("o", outputs, arrays[2].strides[0]);
    line.bias = access_text("bias", bias);
    line.inputs.push_back(layout_of(bias));
  }
  return line;
}

TensorComputation computation(const Line& line, std::vector<std::int64_t> shape, std::string_view dtype,
                              const ProductOptions& options) {
  return {std::move(shape),
          tensor_computation(line.text, dtype, line.inputs, options_of(line, options)).problem};
}

// Such as (3, 4), as Python has it.
std::string shape_text(std::span<const std::int64_t> extents) {
  std::string text;
  for (const std::int64_t extent : extents) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "(" + text + (extents.size() == 1 ? ",)" : ")");
}
std::string shape_text(const TensorLayout& array) { return shape_text(array.extents); }

void check_bias(const char* word, const std::vector<TensorLayout>& arrays) {
  if (arrays.size() < 3) return;
  const std::vector<std::int64_t> needed = {arrays[1].extents.front()};
  if (arrays[2].extents != needed)
    throw UsageError(std::string(word) + "() was given a bias of the shape " + shape_text(arrays[2]) +
                     "; w of " + shape_text(arrays[1]) + " needs one of " + shape_text(needed) + ".");
}

// Both operands and a bias, with strides.
std::vector<TensorLayout> read(const std::vector<TensorLayout>& arrays) {
  std::vector<TensorLayout> found = arrays;
  for (TensorLayout& one : found)
    if (one.strides.empty()) one.strides = dense_strides(one.extents);
  return found;
}

}  // namespace

TensorComputation matmul_computation(std::string_view dtype, const std::vector<TensorLayout>& arrays,
                                     const ProductOptions& options) {
  const std::vector<TensorLayout> given = read(arrays);
  const TensorLayout &a = given.at(0), &b = given.at(1);
  const std::size_t of_a = a.extents.size(), of_b = b.extents.size();
  const std::string subject =
      "matmul() was given arrays of the shapes " + shape_text(a) + " and " + shape_text(b) + "; ";
  if (of_a == 0 || of_b == 0)
    throw UsageError(subject + "each needs a dimension at least. For products with a number use *.");
  const std::size_t has_rows = of_a > 1 ? 1 : 0, has_columns = of_b > 1 ? 1 : 0;
  const std::size_t stack_of_a = of_a - 1 - has_rows, stack_of_b = of_b - 1 - has_columns;
  const std::int64_t depth = a.extents.back(), other = b.extents[stack_of_b];
  if (depth != other)
    throw UsageError(subject + "the last extent of the first, " + std::to_string(depth) + ", and the " +
                     (has_columns == 0 ? "only" : "second last") + " one of the second, " +
                     std::to_string(other) + ", must agree.");

  // The stacks of both, aligned at their ends, have an extent that is the same or 1.
  const std::size_t count = std::max(stack_of_a, stack_of_b);
  std::vector<std::int64_t> shape;
  std::vector<Index> indices;
  for (std::size_t d = 0; d < count; ++d) {
    struct Part {
      std::int64_t extent = 1, stride = unmoved;
    };
    const auto part = [&](const TensorLayout& array, std::size_t stack) -> Part {
      const std::size_t missing = count - stack;
      return d < missing ? Part() : Part{array.extents[d - missing], array.strides[d - missing]};
    };
    const Part x = part(a, stack_of_a), y = part(b, stack_of_b);
    if (x.extent != y.extent && x.extent != 1 && y.extent != 1)
      throw UsageError(
          subject + "their stacks of matrices, " + shape_text(std::span(a.extents).first(stack_of_a)) +
          " and " + shape_text(std::span(b.extents).first(stack_of_b)) + ", cannot be broadcast together.");
    const std::int64_t extent = x.extent == 1 ? y.extent : x.extent;
    shape.push_back(extent);
    indices.push_back(
        {extent, {x.extent == 1 ? unmoved : x.stride, y.extent == 1 ? unmoved : y.stride, unmoved, unmoved}});
  }
  if (has_rows != 0) {
    shape.push_back(a.extents[stack_of_a]);
    indices.push_back({shape.back(), {a.strides[stack_of_a], unmoved, unmoved, unmoved}});
  }
  if (has_columns != 0) {
    shape.push_back(b.extents.back());
    indices.push_back({shape.back(), {unmoved, b.strides.back(), unmoved, unmoved}});
  }
  const std::vector<std::int64_t> of_result = dense_strides(shape);
  for (std::size_t k = 0; k < indices.size(); ++k) indices[k].strides[2] = of_result[k];
  const Index summed = {depth, {a.strides.back(), b.strides[stack_of_b], unmoved, unmoved}};
  return computation(sum_of_products(indices, summed, false), std::move(shape), dtype, options);
}

TensorComputation linear_computation(std::string_view dtype, const std::vector<TensorLayout>& arrays,
                                     const ProductOptions& options) {
  const std::vector<TensorLayout> given = read(arrays);
  const TensorLayout &x = given.at(0), &w = given.at(1);
  if (w.extents.size() != 2 || x.extents.empty() || x.extents.back() != w.extents[1])
    throw UsageError("linear() was given x of the shape " + shape_text(x) + " and w of " + shape_text(w) +
                     "; w needs two dimensions, outputs and inputs, and x's last extent is the inputs.");
  check_bias("linear", given);
  const bool has_bias = given.size() > 2;
  std::vector<std::int64_t> shape = x.extents;
  shape.back() = w.extents[0];
  const std::vector<std::int64_t> of_result = dense_strides(shape);
  std::vector<Index> indices;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d)
    indices.push_back({shape[d], {x.strides[d], unmoved, of_result[d], unmoved}});
  indices.push_back(
      {shape.back(), {unmoved, w.strides[0], of_result.back(), has_bias ? given[2].strides[0] : unmoved}});
  const Index summed = {w.extents[1], {x.strides.back(), w.strides[1], unmoved, unmoved}};
  return computation(sum_of_products(indices, summed, has_bias), std::move(shape), dtype, options);
}

TensorComputation conv_computation(std::string_view dtype, const std::vector<TensorLayout>& arrays,
                                   const ConvolutionShape& settings, const ProductOptions& options) {
  std::vector<TensorLayout> given = read(arrays);
  TensorLayout &x = given.at(0), &w = given.at(1);
  if (w.extents.size() < 3 || w.extents.size() > 5)
    throw UsageError("conv() was given w of the shape " + shape_text(w) +
                     "; it needs outputs, the inputs of a group, and one to three dimensions of taps.");
  const std::size_t count = w.extents.size() - 2;
  const std::string layout = settings.are_channels_last ? "(batch, …, channels)" : "(batch, channels, …)";
  const bool has_batch = x.extents.size() == count + 2;
  if (!has_batch && x.extents.size() != count + 1)
    throw UsageError("conv() was given x of the shape " + shape_text(x) + "; w of " + shape_text(w) +
                     " has " + std::to_string(count) + " dimensions of taps, so x needs " +
                     std::to_string(count + 2) + ", " + layout + ", or " + std::to_string(count + 1) +
                     " without a batch.");
  const std::string shape_of_x = shape_text(x);
  if (!has_batch) {
    x.extents.insert(x.extents.begin(), 1);
    x.strides.insert(x.strides.begin(), 0);
  }
  ConvolutionShape shape = settings;
  const auto image = x.extents.begin() + (shape.are_channels_last ? 1 : 2);
  shape.batch = x.extents[0];
  shape.inputs = shape.are_channels_last ? x.extents.back() : x.extents[1];
  shape.outputs = w.extents[0];
  shape.image.assign(image, image + static_cast<std::ptrdiff_t>(count));
  shape.taps.assign(w.extents.begin() + 2, w.extents.end());
  if (shape.groups < 1 || shape.inputs % shape.groups != 0 || shape.inputs / shape.groups != w.extents[1] ||
      shape.outputs % shape.groups != 0)
    throw UsageError("conv() was given x of the shape " + shape_of_x + ", " + layout + ", w of " +
                     shape_text(w) + " and groups=" + std::to_string(shape.groups) +
                     "; x needs groups times w's second extent as its channels, and w's outputs, " +
                     std::to_string(shape.outputs) + ", must be a multiple of groups.");
  check_bias("conv", given);
  const Line line = convolution_line(shape, given);
  std::vector<std::int64_t> result = in_order(shape, shape.batch, shape.outputs, convolution_extents(shape));
  if (!has_batch) result.erase(result.begin());
  return computation(line, std::move(result), dtype, options);
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
  for (const Window& window : windows_of(shape)) extents.push_back(window.outputs);
  return extents;
}

std::string convolution_problem(ElementName type, const ConvolutionShape& shape,
                                const ProductOptions& options) {
  return problem_of(convolution_line(shape, dense_arrays(shape, options.has_bias)), type, options);
}

Plan convolution_plan(Dispatcher& dispatcher, ElementName type, const ConvolutionShape& shape,
                      const ProductOptions& options) {
  return dispatcher.plan("tensor", convolution_problem(type, shape, options));
}

Status convolution(Dispatcher& dispatcher, ElementName type, const void* image, const void* masks,
                   const void* bias, void* result, const ConvolutionShape& shape,
                   const ProductOptions& options, void* stream) {
  ProductOptions all = options;
  all.has_bias = bias != nullptr;
  return launch_product(dispatcher, convolution_problem(type, shape, all), image, masks, bias, result,
                        stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
