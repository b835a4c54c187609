// SPDX-License-Identifier: Apache-2.0
// Tests elementwise's typed functions on the host, through the dispatcher. Expected numbers are NumPy's and
// SciPy's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "generator/error.h"
#include "tests/language/test_functions.h"
#include "tunesmith/elementwise.h"

namespace tunesmith::elementwise_host_test {
namespace {

using testing::HasSubstr;

using language::functions;

Dispatcher host() { return Dispatcher({.device = "host", .database = "", .cache_folder = ""}); }

TEST(ElementwiseOnHost, NamedFunctionsAreRight) {
  Dispatcher dispatcher = host();
  const std::array<float, 3> x = {-1.5f, 0.25f, 3};
  const float mean = 0.5f;
  const float sigma = 0.75f;
  std::array<float, 3> density = {};
  ASSERT_TRUE(gaussian_pdf(dispatcher, x.data(), &mean, &sigma, density.data(), 3));
  const std::array<double, 3> expected = {0.015194648031729924, 0.50317763692399098, 0.0020563719950548072};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(density[i], expected[i], 2e-6 * expected[i]);

  const std::array<double, 4> rho1 = {0.5, 1.25, 1.5, 1}, theta1 = {-3, 0.1, 2, 0.7};
  const std::array<double, 4> rho2 = {1, 0.75, 1.5, 1}, theta2 = {3.1, -2, 2, 0.70001};
  std::array<double, 4> far = {};
  ASSERT_TRUE(
      polar_distance(dispatcher, rho1.data(), theta1.data(), rho2.data(), theta2.data(), far.data(), 4));
  const std::array<double, 4> distances = {0.51646060987980036, 1.7525942046362968, 0,
                                           1.0000000000103894e-05};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(far[i], distances[i], 1e-15);

  const std::array<double, 5> a = {3, 0, 1e-30, -1e200, 5}, b = {4, 0, 2e-30, 1e200, -12};
  std::array<double, 5> side = {};
  ASSERT_TRUE(tunesmith::hypot(dispatcher, a.data(), b.data(), side.data(), 5));
  const std::array<double, 5> sides = {5, 0, 2.23606797749979e-30, 1.414213562373095e+200, 13};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(side[i], sides[i], 4e-16 * sides[i]);

  const std::array<std::int64_t, 3> m = {1, -5, std::numeric_limits<std::int64_t>::max()}, n = {2, 3, 1};
  std::array<std::int64_t, 3> sum = {};
  ASSERT_TRUE(add(dispatcher, m.data(), n.data(), sum.data(), 3));
  EXPECT_EQ(sum, (std::array<std::int64_t, 3>{3, -2, std::numeric_limits<std::int64_t>::min()}));
}

// Computes one element with each function of the table, chosen by c: the generated code compiles and is
// right.
template <typename T>
void check_every_function(Dispatcher& dispatcher, ElementType type, double tolerance) {
  std::string text = "0";
  for (std::size_t n = functions.size(); n-- > 0;)
    text = "c == " + std::to_string(n) + " ? " + functions[n].expression + " : " + text;
  std::array<T, functions.size()> which = {};
  std::iota(which.begin(), which.end(), T(0));
  std::array<T, functions.size()> out = {};
  const T a = T(0.625);
  const T b = T(2.5);
  ASSERT_TRUE(elementwise(dispatcher, text, type, {static_cast<std::int64_t>(out.size())},
                          {{&a, {{1}}}, {&b, {{1}}}, {which.data()}}, out.data()));
  for (std::size_t n = 0; n < functions.size(); ++n)
    EXPECT_NEAR(out[n], functions[n].value, tolerance) << functions[n].expression;
}

TEST(ElementwiseOnHost, EveryFunctionCompilesAndIsRight) {
  Dispatcher dispatcher = host();
  check_every_function<float>(dispatcher, ElementType::f32, 4e-7);
  check_every_function<double>(dispatcher, ElementType::f64, 1e-15);
}

TEST(ElementwiseOnHost, HypotIsRightForEverySize) {
  Dispatcher dispatcher = host();
  std::vector<float> a, b;
  std::mt19937 generator(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int exponent = -150; exponent <= 128; ++exponent) {
    for (int n = 0; n < 64; ++n) {
      a.push_back(std::ldexp(uniform(generator), exponent));
      b.push_back(std::ldexp(uniform(generator), exponent - n / 4));
      if (n % 2 == 0) std::swap(a.back(), b.back());
    }
  }
  std::vector<float> side(a.size());
  ASSERT_TRUE(
      tunesmith::hypot(dispatcher, a.data(), b.data(), side.data(), static_cast<std::int64_t>(a.size())));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double exact = std::hypot(static_cast<double>(a[i]), static_cast<double>(b[i]));
    if (std::isinf(side[i])) {
      EXPECT_GT(exact, 0x1.fffffep127) << a[i] << " " << b[i];
    } else {
      EXPECT_NEAR(side[i], exact, 1.5 * std::max(exact * 0x1p-23, 0x1p-149)) << a[i] << " " << b[i];
    }
  }
}

TEST(ElementwiseOnHost, SineAndCosineAreRightForEveryAngle) {
  Dispatcher dispatcher = host();
  std::vector<float> angles = {0,         -0.0f,     0.785398f, -1.5707964f, 3.1415927f, 71475.99f,
                               -71476.0f, 71476.01f, 1e6f,      -3e10f,      3e38f,      1e-40f};
  for (int n = 1; n < 500; ++n) angles.push_back(static_cast<float>(n * n) * 0.2857f);
  std::vector<float> out(angles.size());
  // The factor 3 tells sin and cos apart.
  ASSERT_TRUE(elementwise(dispatcher, "sin(a) + 3 * cos(a)", ElementType::f32,
                          {static_cast<std::int64_t>(out.size())}, {{angles.data()}}, out.data()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double angle = angles[i];
    EXPECT_NEAR(out[i], std::sin(angle) + 3 * std::cos(angle), 1e-6) << angle;
  }
}

TEST(ElementwiseOnHost, BroadcastsAndWalksStrides) {
  Dispatcher dispatcher = host();
  std::vector<std::int32_t> a(2 * 3 * 4), row = {10, 20, 30, 40}, column = {100, 200, 300};
  std::iota(a.begin(), a.end(), 0);
  std::vector<std::int32_t> out(6 * 4);
  // The input is a with its last two dimensions transposed, in NumPy a.reshape(2, 4, 3).transpose(0, 2, 1).
  const ElementwiseInput turned = {a.data(), {{2, 3, 4}, {12, 1, 3}}};
  ASSERT_TRUE(elementwise(dispatcher, "a + b * c", ElementType::i32, {2, 3, 4},
                          {turned, {row.data(), {{4}}}, {column.data(), {{3, 1}}}}, out.data()));
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 4; ++k)
        EXPECT_EQ(out[(i * 3 + j) * 4 + k], a[i * 12 + k * 3 + j] + row[k] * column[j]) << i << j << k;
    }
  }
}

TEST(ElementwiseOnHost, HalvesAreComputedInFloatAndRoundedOnce) {
  Dispatcher dispatcher = host();
  // The inputs are 1, 2^-11, 2^-23 in binary16. If each step were rounded to binary16, the sum would be 1;
  // rounded once, it is 1 + 2^-10.
  const std::array<std::uint16_t, 3> in = {0x3c00, 0x1000, 0x0002};
  std::uint16_t out = 0;
  ASSERT_TRUE(
      elementwise(dispatcher, "a + b + c", ElementType::f16, {}, {{&in[0]}, {&in[1]}, {&in[2]}}, &out));
  EXPECT_EQ(out, 0x3c01);
}

TEST(ElementwiseOnHost, NoElementsAndOne) {
  Dispatcher dispatcher = host();
  EXPECT_TRUE(add<float>(dispatcher, nullptr, nullptr, nullptr, 0));
  EXPECT_TRUE(elementwise(dispatcher, "add", ElementType::f32, {3, 0},
                          {{nullptr, {{0}}}, {nullptr, {{3, 1}}}}, nullptr)
                  .code() != 0)
      << "b has elements and no memory";
  const float a = 1.5f;
  const float b = 2.25f;
  float out = 0;
  ASSERT_TRUE(elementwise(dispatcher, "add", ElementType::f32, {}, {{&a}, {&b}}, &out));
  EXPECT_EQ(out, 3.75f);
}

TEST(ElementwiseOnHost, WorksInPlaceAndRefusesOtherOverlap) {
  Dispatcher dispatcher = host();
  std::vector<float> memory(20);
  std::iota(memory.begin(), memory.end(), 0.0f);
  std::vector<float> b(10, 1);
  ASSERT_TRUE(add(dispatcher, memory.data(), b.data(), memory.data(), 10));
  EXPECT_EQ(memory[9], 10);
  EXPECT_EQ(add(dispatcher, memory.data() + 1, b.data(), memory.data(), 10).code(),
            Status::overlapping_arguments);
  // The input is one element for all outputs, so it would be written before it is read.
  EXPECT_EQ(elementwise(dispatcher, "add", ElementType::f32, {10}, {{b.data()}, {memory.data(), {{1}}}},
                        memory.data())
                .code(),
            Status::overlapping_arguments);
}

TEST(ElementwiseOnHost, MisuseIsASentence) {
  Dispatcher dispatcher = host();
  float x = 0;
  const auto says = [&](const std::string& function, const std::vector<ElementwiseInput>& inputs) {
    try {
      static_cast<void>(elementwise(dispatcher, function, ElementType::f32, {1}, inputs, &x));
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(says("a + b", {{&x}}), HasSubstr("has 2 inputs; elementwise was given 1"));
  EXPECT_THAT(says("add", {{&x}, {&x}, {&x}}), HasSubstr("has 2 inputs; elementwise was given 3"));
  EXPECT_THAT(says("a +", {{&x}}), HasSubstr("At character 4"));
  EXPECT_THAT(says("add", std::vector<ElementwiseInput>(7)), HasSubstr("7 inputs; at most 6"));
  EXPECT_THAT(says("add", {{&x, {{}, {1}}}, {&x}}), HasSubstr("The elementwise problem's a is"));
}

}  // namespace
}  // namespace tunesmith::elementwise_host_test
