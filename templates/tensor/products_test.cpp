// SPDX-License-Identifier: Apache-2.0
// Tests gemm() and convolution() on the host against plain loops.
#include "tunesmith/products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "generator/error.h"
#include "generator/random.h"

namespace tunesmith::tensor_products_test {
namespace {

using Extents = std::vector<std::int64_t>;

Dispatcher host() { return Dispatcher({.device = "host", .database = "", .cache_folder = ""}); }

std::vector<std::int64_t> drawn(Random& random, std::int64_t count) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (std::int64_t& value : values) value = static_cast<std::int64_t>(random.below(19)) - 9;
  return values;
}

template <typename Call>
std::string refusal(const Call& call) {
  try {
    call();
    return "no error";
  } catch (const UsageError& error) {
    return error.what();
  }
}

// The place of element (n, row, column) of a matrix.
std::size_t place(const GemmMatrix& matrix, std::int64_t rows, std::int64_t columns, std::int64_t n,
                  std::int64_t row, std::int64_t column) {
  if (matrix.is_transposed) {
    std::swap(rows, columns);
    std::swap(row, column);
  }
  const std::int64_t pitch = matrix.pitch == 0 ? columns : matrix.pitch;
  const std::int64_t step = matrix.matrix_step == 0 ? rows * pitch : matrix.matrix_step;
  return static_cast<std::size_t>((matrix.is_one_for_all ? 0 : n) * step + row * pitch + column);
}

TEST(Gemm, IsItsLoops) {
  Dispatcher dispatcher = host();
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const auto size = [&] { return static_cast<std::int64_t>(random.below(6)); };
    GemmShape shape = {.batch = 1 + size() % 3, .rows = size(), .columns = size(), .depth = size()};
    const auto lies = [&](GemmMatrix& matrix, std::int64_t rows, std::int64_t columns) {
      matrix.is_transposed = random.below(2) == 1;
      const std::int64_t inner = matrix.is_transposed ? rows : columns;
      if (inner > 0 && random.below(2) == 1) matrix.pitch = inner + size();
      if (random.below(2) == 1)
        matrix.matrix_step = (rows + columns - inner) * (matrix.pitch == 0 ? inner : matrix.pitch) + 3;
    };
    lies(shape.a, shape.rows, shape.depth);
    lies(shape.b, shape.depth, shape.columns);
    lies(shape.c, shape.rows, shape.columns);
    shape.b.is_one_for_all = random.below(2) == 1;
    const std::vector<std::int64_t> a = drawn(random, 300), b = drawn(random, 300), bias = drawn(random, 6);
    const bool has_bias = random.below(2) == 1, is_finished = random.below(2) == 1;
    std::vector<std::int64_t> c(300, 77), expected = c;
    for (std::int64_t n = 0; n < shape.batch; ++n) {
      for (std::int64_t i = 0; i < shape.rows; ++i) {
        for (std::int64_t j = 0; j < shape.columns; ++j) {
          std::int64_t sum = has_bias ? bias[static_cast<std::size_t>(j)] : 0;
          for (std::int64_t k = 0; k < shape.depth; ++k)
            sum += a[place(shape.a, shape.rows, shape.depth, n, i, k)] *
                   b[place(shape.b, shape.depth, shape.columns, n, k, j)];
          expected[place(shape.c, shape.rows, shape.columns, n, i, j)] =
              is_finished ? std::max<std::int64_t>(sum, 0) - sum : sum;
        }
      }
    }
    ProductOptions options;
    if (is_finished) options.finish = "max(out, 0) - out";
    ASSERT_TRUE(
        gemm(dispatcher, a.data(), b.data(), has_bias ? bias.data() : nullptr, c.data(), shape, options));
    EXPECT_EQ(c, expected) << gemm_problem(ElementType::i64, shape, options);
  }
}

TEST(Gemm, PlansAreLaunchedWithTheBiasOrNull) {
  Dispatcher dispatcher = host();
  const std::vector<float> a = {1, 2, 3, 4}, b = {5, 6}, bias = {0.5F};
  std::array<double, 2> c = {};
  const ProductOptions options = {.has_bias = true, .finish = "out * out", .out_type = ElementType::f64};
  const Plan plan = gemm_plan(dispatcher, ElementType::f32, {.rows = 2, .columns = 1, .depth = 2}, options);
  const auto given = [](const std::vector<float>& array) { return const_cast<float*>(array.data()); };
  void* arguments[] = {given(a), given(b), given(bias), nullptr, nullptr, nullptr, c.data()};
  ASSERT_TRUE(plan.launch(arguments, nullptr));
  EXPECT_EQ(c, (std::array<double, 2>{17.5 * 17.5, 39.5 * 39.5}));
  arguments[2] = nullptr;
  EXPECT_FALSE(plan.launch(arguments, nullptr));
}

// x at a place that may lie outside, where it is 0.
std::int64_t element(const std::vector<std::int64_t>& x, const Extents& extents, const Extents& at) {
  std::int64_t index = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (at[d] < 0 || at[d] >= extents[d]) return 0;
    index = index * extents[d] + at[d];
  }
  return x[static_cast<std::size_t>(index)];
}

// Calls function(place) for each place in an array.
template <typename Function>
void for_each_place(const Extents& extents, const Function& function) {
  const std::int64_t count =
      std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
  for (std::int64_t k = 0; k < count; ++k) {
    Extents at(extents.size());
    std::int64_t rest = k;
    for (std::size_t d = extents.size(); d-- > 0; rest /= extents[d]) at[d] = rest % extents[d];
    function(at, static_cast<std::size_t>(k));
  }
}

Extents with_channels(const ConvolutionShape& shape, std::int64_t n, std::int64_t channel, Extents image) {
  image.insert(image.begin(), n);
  image.insert(shape.are_channels_last ? image.end() : image.begin() + 1, channel);
  return image;
}

ConvolutionShape drawn_convolution(Random& random) {
  const auto from = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most - least + 1)));
  };
  ConvolutionShape shape;
  shape.batch = from(0, 2);
  shape.groups = from(1, 3);
  shape.inputs = shape.groups * from(0, 2);
  shape.outputs = shape.groups * from(0, 2);
  shape.are_channels_last = from(0, 1) == 1;
  const std::int64_t dimensions = from(1, 3);
  const auto each = [&](std::int64_t least, std::int64_t most) {
    Extents found;
    for (std::int64_t d = 0; d < dimensions; ++d) found.push_back(from(least, most));
    return found;
  };
  shape.image = each(0, 4);
  shape.taps = each(1, 3);
  if (from(0, 1) == 1) shape.stride = each(1, 3);
  if (from(0, 1) == 1) shape.dilation = each(1, 2);
  if (from(0, 2) > 0) shape.before = each(0, 2);
  if (from(0, 1) == 1) shape.behind = each(0, 2);
  return shape;
}

TEST(Convolution, IsItsLoops) {
  Dispatcher dispatcher = host();
  Random random(2);
  int computed = 0;
  for (int round = 0; round < 150; ++round) {
    const ConvolutionShape shape = drawn_convolution(random);
    Extents extents;
    try {
      extents = convolution_extents(shape);
    } catch (const UsageError&) {
      continue;
    }
    ++computed;
    const std::size_t dimensions = extents.size();
    const std::int64_t inputs = shape.inputs / shape.groups, outputs = shape.outputs / shape.groups;
    const Extents of_x = with_channels(shape, shape.batch, shape.inputs, shape.image);
    const Extents of_y = with_channels(shape, shape.batch, shape.outputs, extents);
    Extents of_w = {shape.outputs, inputs};
    of_w.insert(of_w.end(), shape.taps.begin(), shape.taps.end());
    const std::vector<std::int64_t> x = drawn(random, 2 * 6 * 64), w = drawn(random, 6 * 2 * 27),
                                    bias = drawn(random, 6);
    const bool has_bias = random.below(2) == 1;
    std::vector<std::int64_t> y(2 * 6 * 512, 77), expected = y;
    for_each_place(of_y, [&](const Extents& at, std::size_t number) {
      const std::int64_t o = shape.are_channels_last ? at.back() : at[1];
      const Extents to(at.begin() + (shape.are_channels_last ? 1 : 2),
                       at.end() - (shape.are_channels_last ? 1 : 0));
      std::int64_t sum = has_bias ? bias[static_cast<std::size_t>(o)] : 0;
      for_each_place(Extents(of_w.begin() + 1, of_w.end()), [&](const Extents& term, std::size_t) {
        Extents from(dimensions);
        for (std::size_t d = 0; d < dimensions; ++d)
          from[d] = to[d] * (shape.stride.empty() ? 1 : shape.stride[d]) +
                    term[d + 1] * (shape.dilation.empty() ? 1 : shape.dilation[d]) -
                    (shape.before.empty() ? 0 : shape.before[d]);
        const std::int64_t channel = o / outputs * inputs + term[0];
        Extents of_mask = term;
        of_mask.insert(of_mask.begin(), o);
        sum += element(x, of_x, with_channels(shape, at[0], channel, from)) * element(w, of_w, of_mask);
      });
      expected[number] = std::max<std::int64_t>(sum, -5);
    });
    const ProductOptions options = {.finish = "max(out, -5)"};
    ASSERT_TRUE(convolution(dispatcher, x.data(), w.data(), has_bias ? bias.data() : nullptr, y.data(), shape,
                            options));
    EXPECT_EQ(y, expected) << convolution_problem(ElementType::i64, shape, options);
  }
  EXPECT_GT(computed, 50);
}

TEST(Convolution, ADepthwiseOneHasNoIndexOfChannelsOfAGroup) {
  const ConvolutionShape shape = {.batch = 2,
                                  .inputs = 5,
                                  .outputs = 5,
                                  .image = {20},
                                  .taps = {4},
                                  .before = {3},
                                  .behind = {0},
                                  .groups = 5};
  const std::string problem =
      convolution_problem(ElementType::f32, shape, {.has_bias = true, .finish = "max(out, 0)"});
  EXPECT_NE(problem.find("\"out[a,b,c] += x0[a,b,c+d-3] * x1[b,d]\""), std::string::npos) << problem;
  EXPECT_NE(problem.find("\"max(out + x2[b], 0)\""), std::string::npos) << problem;
  EXPECT_NE(problem.find("extents=2x5x20x4"), std::string::npos) << problem;
  EXPECT_NE(problem.find("zero_outside=x0"), std::string::npos) << problem;
  EXPECT_NE(problem.find("x0=dense x1=dense x2=dense out=dense"), std::string::npos) << problem;
}

TEST(Products, WhatIsWrongIsASentence) {
  const auto gemm_refusal = [](const GemmShape& shape, const ProductOptions& options = {}) {
    return refusal([&] { gemm_problem(ElementType::f32, shape, options); });
  };
  const auto convolution_refusal = [](const ConvolutionShape& shape) {
    return refusal([&] { convolution_problem(ElementType::f32, shape); });
  };
  const GemmShape square = {.rows = 4, .columns = 4, .depth = 4};
  ConvolutionShape layer = {.inputs = 4, .outputs = 6, .image = {8, 9}, .taps = {3, 3}};
  const std::vector<std::pair<std::string, std::string>> cases = {
      {gemm_refusal({.rows = -1}), "A product of matrices has rows=-1; allowed is 0 to 2^40."},
      {gemm_refusal({.rows = 2, .columns = 3, .depth = 4, .b = {.pitch = 2}}),
       "The matrix b has pitch=2 and matrix_step=0; allowed are 0, or a pitch of 3 or more"},
      {gemm_refusal({.batch = 2, .rows = 2, .columns = 3, .depth = 4, .c = {.is_one_for_all = true}}),
       "is_one_for_all is for the matrices that are read."},
      {gemm_refusal(square, {.finish = "out + scale"}),
       "The finish is \"out + scale\" and names scale; it is a function of out, the sum with its bias, "
       "alone."},
      {gemm_refusal(square, {.finish = "out + a[i,k]"}), "names a; it is a function of out"},
      {gemm_refusal(square, {.has_bias = true, .finish = "out +"}), "Its finish is \"out +\""},
      {convolution_refusal({.inputs = 4, .outputs = 6, .image = {8, 9, 7, 6}, .taps = {1, 1, 1, 1}}),
       "image has 4 dimensions; allowed are 1 to 3."},
      {convolution_refusal({.inputs = 4, .outputs = 6, .image = {8, 9}, .taps = {3}}),
       "A convolution of 2 dimensions has taps=3; each dimension needs a number from 1 to 1099511627776."},
      {convolution_refusal({.inputs = 4, .outputs = 6, .image = {8, 9}, .taps = {3, 3}, .stride = {1, 0}}),
       "has stride=1x0; each dimension needs"},
      {convolution_refusal({.inputs = 4, .outputs = 6, .image = {8, 9}, .taps = {3, 10}}),
       "has 9 elements along a dimension and 0 zeros around them, but a mask's 10 taps reach over 10"},
      {convolution_refusal({.inputs = 4, .outputs = 6, .image = {8}, .taps = {3}, .groups = 4}),
       "outputs=6 groups=4; allowed are 0 and more, and inputs and outputs that are multiples of groups."},
  };
  for (const auto& [found, expected] : cases)
    EXPECT_NE(found.find(expected), std::string::npos) << found << "\n" << expected;
  layer.stride = {2, 2};
  EXPECT_EQ(convolution_extents(layer), (Extents{3, 4}));
}

// The example of docs/library.md, of a few elements.
TEST(Products, TheExampleOfThePage) {
  Dispatcher dispatcher = host();
  const std::vector<float> a(10 * 30, 1), b(30 * 20, -1), bias(20, 31);
  std::vector<float> c(10 * 20);
  ASSERT_TRUE(gemm(dispatcher, a.data(), b.data(), bias.data(), c.data(),
                   {.rows = 10, .columns = 20, .depth = 30}, {.finish = "max(out, 0)"}));
  EXPECT_EQ(c, std::vector<float>(10 * 20, 1));
  const ConvolutionShape layer{.batch = 2,
                               .inputs = 6,
                               .outputs = 6,
                               .image = {10},
                               .taps = {4},
                               .before = {3},
                               .behind = {0},
                               .groups = 6};
  const std::vector<float> x(2 * 6 * 10, 1), w(6 * 4, 2);
  std::vector<float> y(2 * 6 * 10);
  ASSERT_TRUE(convolution(dispatcher, x.data(), w.data(), nullptr, y.data(), layer,
                          {.finish = "out / (1 + exp(-out))"}));
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double sum = 2.0 * static_cast<double>(std::min<std::size_t>(k % 10 + 1, 4));
    EXPECT_NEAR(y[k], sum / (1 + std::exp(-sum)), 1e-5);
  }
}

}  // namespace
}  // namespace tunesmith::tensor_products_test
