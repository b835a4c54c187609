// SPDX-License-Identifier: Apache-2.0
// Tests elementwise's reference: integers, special values, and bounds of the error that hold and are not
// wide.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/language/test_functions.h"

namespace tunesmith::language::language_evaluate_test {
namespace {

TEST(ElementwiseReference, IntegersWrapAndDivideAsInC) {
  const std::array<KnownFunction, 9> cases = {{{"a / b", -3},
                                               {"a % b", -1},
                                               {"a / 0", 0},
                                               {"a % 0", 0},
                                               {"c / -1", -2147483648.0},
                                               {"c % -1", 0},
                                               {"abs(c)", -2147483648.0},
                                               {"c - 1", 2147483647.0},
                                               {"c * a", 0}}};
  for (const KnownFunction& known : cases) {
    std::string text = known.expression;
    text += " + 0 * (a + b + c)";  // all inputs are used
    const Result result = at(text, {-10, 3, -2147483648.0}, DType::i32);
    EXPECT_EQ(result.value, known.value) << known.expression;
    EXPECT_EQ(result.permitted, 0);
  }
  EXPECT_EQ(at("a - 1", {-9007199254740991.0}, DType::i64).value, -9007199254740992.0);
}

TEST(ElementwiseReference, SpecialValuesAreIeees) {
  const std::array<std::tuple<const char*, std::vector<double>, double>, 18> cases = {{
      {"a / b", {1, 0}, infinity},
      {"a / b", {-1, 0}, -infinity},
      {"a / b", {0, 0}, nan},
      {"a - b", {infinity, infinity}, nan},
      {"a + b", {infinity, 1}, infinity},
      {"min(a, b)", {nan, 1}, nan},
      {"max(a, b)", {1, nan}, nan},
      {"exp(a)", {1000}, infinity},
      {"exp(a)", {-1000}, 0},
      {"sqrt(a)", {-1}, nan},
      {"hypot", {0, 0}, 0},
      {"hypot", {infinity, -infinity}, infinity},
      {"hypot", {infinity, 3}, infinity},
      {"hypot", {nan, 0}, nan},
      {"hypot", {infinity, nan}, nan},
      {"gaussian_pdf", {infinity, 0, 1}, 0},
      {"polar_distance", {infinity, 0, 1, 0}, nan},  // infinity times sin(0)
      {"a != a", {nan}, 1},
  }};
  for (const auto& [text, inputs, expected] : cases) {
    for (const DType dtype : {DType::f32, DType::f64, DType::f16}) {
      const Result result = at(text, inputs, dtype);
      EXPECT_TRUE(result.value == expected || (std::isnan(result.value) && std::isnan(expected)))
          << text << " is " << result.value << " instead of " << expected;
      EXPECT_LT(result.permitted, 1e-6) << text;  // the result is certain
    }
  }
  EXPECT_EQ(at("a * b", {1e30, 1e30}, DType::f32).value, infinity);
  EXPECT_EQ(at("a * b", {300, 300}, DType::f16).value, infinity);
  // A fused multiply-add may keep the product finite, so nothing is promised.
  EXPECT_EQ(at("a * b - c", {1e30, 1e30, 1}, DType::f32).permitted, infinity);
}

// The same operations in float, without fused multiply-adds.
float distance_in_float(const std::array<float, 4>& in) {
  const float x = in[0] * std::cos(in[1]) - in[2] * std::cos(in[3]);
  const float y = in[0] * std::sin(in[1]) - in[2] * std::sin(in[3]);
  return std::sqrt(x * x + y * y);
}

TEST(ElementwiseReference, ItsBoundHoldsAndIsNotWide) {
  // One rounding gives half a unit of the last place.
  EXPECT_NEAR(at("a + b", {1, 0.5}, DType::f32).permitted, 1.5 * 0x1p-24, 0x1p-40);
  EXPECT_NEAR(at("a + b", {1, 0.5}, DType::bf16).permitted, 1.5 * (0x1p-24 + 0x1p-8), 0x1p-30);
  std::mt19937 generator(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  double widest = 0;
  for (int n = 0; n < 2000; ++n) {
    std::array<float, 4> in = {uniform(generator), uniform(generator), uniform(generator),
                               uniform(generator)};
    if (n % 2 == 0) {  // points that nearly agree
      in[2] = in[0] + 1e-6f * in[2];
      in[3] = in[1] + 1e-6f * in[3];
    }
    const Result result = at("polar_distance", {in[0], in[1], in[2], in[3]}, DType::f32);
    const double error = std::abs(static_cast<double>(distance_in_float(in)) - result.value);
    EXPECT_LE(error, result.permitted);
    widest = std::max(widest, error / result.permitted);
    EXPECT_LT(result.permitted, 4e-6);  // some units of the last place of coordinates up to 1
  }
  EXPECT_GT(widest, 0.1);
  // If rounding decides a comparison, both answers are permitted.
  const Result tie = at("a * 0.1 > b ? 2 : 1", {3, static_cast<double>(0.3f)}, DType::f32);
  EXPECT_GE(tie.permitted, 1);
  EXPECT_LT(at("a * 0.1 > b ? 2 : 1", {3, 0.25}, DType::f32).permitted, 1e-6);
}

}  // namespace
}  // namespace tunesmith::language::language_evaluate_test
