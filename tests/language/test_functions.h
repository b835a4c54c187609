// SPDX-License-Identifier: Apache-2.0
// The parts that the tests of elementwise share: functions with their known values, and the reference of one
// element.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "language/expression.h"

namespace tunesmith::elementwise_op {

struct KnownFunction {
  const char* expression;
  double value;
};

// The values at a = 0.625, b = 2.5, from NumPy 2.4 and SciPy 1.17.
inline constexpr std::array<KnownFunction, 31> functions = {{
    {"abs(a)", 0.625},
    {"sqrt(a)", 0.79056941504209488},
    {"rsqrt(a)", 1.2649110640673518},
    {"cbrt(a)", 0.85498797333834853},
    {"exp(a)", 1.8682459574322223},
    {"exp2(a)", 1.5422108254079407},
    {"expm1(a)", 0.86824595743222244},
    {"log(a)", -0.47000362924573558},
    {"log2(a)", -0.67807190511263771},
    {"log10(a)", -0.20411998265592479},
    {"log1p(a)", 0.48550781578170082},
    {"sin(a)", 0.58509727294046221},
    {"cos(a)", 0.81096311950521793},
    {"tan(a)", 0.72148444099090447},
    {"asin(a)", 0.67513153293703165},
    {"acos(a)", 0.8956647938578649},
    {"atan(a)", 0.55859931534356244},
    {"sinh(a)", 0.66649226445661613},
    {"cosh(a)", 1.2017536929756063},
    {"tanh(a)", 0.55459972234938226},
    {"erf(a)", 0.623240882188418},
    {"erfc(a)", 0.376759117811582},
    {"floor(a)", 0},
    {"ceil(a)", 1},
    {"trunc(a)", 0},
    {"rint(a)", 1},
    {"pow(a, b)", 0.30881617775081832},
    {"atan2(a, b)", 0.24497866312686414},
    {"hypot(a, b)", 2.576941016011038},
    {"min(a, b)", 0.625},
    {"-b % (a + 0.125)", -0.25},
}};

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

struct Result {
  double value;
  double permitted;
};

// The function of one element of each input.
inline Result at(const std::string& function, const std::vector<double>& inputs, DType dtype = DType::f64) {
  const ParseResult parsed = parse(function);
  EXPECT_EQ(parsed.error, "") << function;
  if (!parsed.error.empty()) return {nan, 0};
  EXPECT_EQ(refuses(parsed.expression, dtype), "") << function;
  std::vector<std::vector<double>> columns;
  for (const double input : inputs) columns.push_back({input});
  columns.resize(6, {0});
  Result result = {};
  evaluate(parsed.expression, dtype, columns, 1, &result.value, &result.permitted);
  return result;
}

}  // namespace tunesmith::elementwise_op
