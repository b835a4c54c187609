// SPDX-License-Identifier: Apache-2.0
// Tests elementwise's expressions: their meaning, the mistakes in others and their places, and the code that
// they give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "tests/language/test_functions.h"

namespace tunesmith::language::language_expression_test {
namespace {

using testing::HasSubstr;

TEST(ElementwiseExpression, KnowsEveryFunctionOfItsTable) {
  for (const KnownFunction& known : functions) {
    const Result result = at(known.expression, {0.625, 2.5});
    EXPECT_NEAR(result.value, known.value, 2e-16 * std::abs(known.value)) << known.expression;
    EXPECT_LE(std::abs(result.value - known.value), result.permitted) << known.expression;
    EXPECT_LE(result.permitted, 4e-15) << known.expression;
  }
  // Every operation that a person can call is above, except max, which is min's twin.
  for (const OperationFacts& operation : operations()) {
    if (!operation.called || operation.name == "max") continue;
    const auto names = [&](const KnownFunction& known) {
      return std::string(known.expression).rfind(std::string(operation.name) + "(", 0) == 0;
    };
    EXPECT_TRUE(std::any_of(functions.begin(), functions.end(), names)) << operation.name;
  }
}

TEST(ElementwiseExpression, BindsAsInC) {
  const std::vector<double> inputs = {2, 3, 5, 7, 11, 13};  // a … f
  const std::array<KnownFunction, 24> cases = {{
      {"a + b * c - d / a", 2 + 3 * 5 - 7 / 2.0},
      {"a - b - c", -6},
      {"b / a / a", 0.75},
      {"b / a % a", 1.5},
      {"-a * b + - -c", -1},
      {"(a + b) * c", 25},
      {"a < b", 1},
      {"a >= b", 0},
      {"a + 1 == b && c != d", 1},
      {"a > b || b > a && a > b", 0},
      {"!a + !!b", 1},
      {"a < b ? c : d ? e : f", 5},
      {"a > b ? c : d > e ? e : f", 13},
      {"a > b ? c > d ? 1 : 2 : 3 + a", 5},
      {" 1.5e1*a+.5 -2.E-1", 30.3},
      {"max(a, min(c, b)) * 2", 6},
      {"add(a, hypot(b, b + 1))", 7},
      {"pow(a, 2) + pow(a, 3)", 12},
      {"a ** 2 + a ** b", 12},
      {"-a ** 2 * b ** 2", -36},
      {"a ** b ** a", 512},
      {"abs(-a) + a", 4},
      {"pi * a", 6.283185307179586},
      {"a - -1", 3},
  }};
  for (const KnownFunction& known : cases) {
    const Result result = at(known.expression, inputs);
    EXPECT_NEAR(result.value, known.value, 1e-14) << known.expression;
    EXPECT_TRUE(std::isfinite(result.permitted)) << known.expression;
  }
}

TEST(ElementwiseExpression, ComputesWhatStandsTwiceOnce) {
  EXPECT_EQ(parse("sin(a + b) * sin(a + b)").expression.nodes.size(), 5u);  // a, b, +, sin, *
  EXPECT_EQ(parse("pow(a * b, 2)").expression.nodes.size(), 4u);            // a, b, *, *
}

struct Wrong {
  const char* text;
  int character;  // from 1 on; 0: the whole text
  const char* says;
};

TEST(ElementwiseExpression, SaysWhatIsWrongAndWhere) {
  const std::array<Wrong, 30> cases = {{
      {"", 1, "There is no expression"},
      {"a +", 4, "A value was expected where the text ends"},
      {"a + * b", 5, "A value was expected instead of '*'"},
      {"a b", 3, "An operator or the end was expected instead of 'b'"},
      {"(a + b", 7, "')' was expected"},
      {"a + b)", 6, "closes nothing"},
      {"a ? b", 6, "':' was expected"},
      {"g + a", 1, "There is no 'g'; inputs are a to f"},
      {"sub", 1, "the functions are add, hypot, "},
      {"sine(a)", 1, "There is no function 'sine'; there are add, hypot"},
      {"atan2(a)", 1, "'atan2' has 2 arguments, not 1"},
      {"sqrt(a, b)", 1, "'sqrt' has 1 argument, not 2"},
      {"hypot(a)", 1, "'hypot' has 2 arguments, not 1"},
      {"a + c", 1, "uses the input c but not b"},
      {"1 + 2", 1, "uses no input"},
      {"a < b < c", 7, "Comparisons do not chain"},
      {"2a", 2, "an operator is missing"},
      {"a + 1e", 7, "exponent has digits"},
      {"a + 1e999", 5, "too large"},
      {"a & b", 3, "instead of '&'"},
      {"a = b", 3, "instead of '='"},
      {"a; b", 2, "instead of ';'"},
      {"a // b", 4, "A value was expected instead of '/'"},
      {"a /* b", 4, "A value was expected instead of '*'"},
      {"a } b", 3, "instead of '}'"},
      {"#include <a>", 1, "A value was expected instead of '#'"},
      {"a\n+ b", 2, "An operator or the end was expected"},
      {"\"a\"", 1, "A value was expected"},
      {"a ?\?/ b", 4, "A value was expected instead of '?'"},
      {"a + \xc3\xa4", 5, "A value was expected instead of '\xc3\xa4'"},
  }};
  for (const Wrong& wrong : cases) {
    const std::string error = parse(wrong.text).error;
    EXPECT_EQ(error.rfind("At character " + std::to_string(wrong.character) + ": ", 0), 0u)
        << wrong.text << " | " << error;
    EXPECT_THAT(error, HasSubstr(wrong.says)) << wrong.text << " | " << error;
    // The caret points to the character.
    const std::size_t caret = error.rfind('\n');
    EXPECT_EQ(error.substr(caret),
              "\n  " + std::string(static_cast<std::size_t>(wrong.character - 1), ' ') + "^");
  }
}

TEST(ElementwiseExpression, HasALimitedLengthDepthAndSize) {
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    for (int n = 0; n < times; ++n) all += text;
    return all;
  };
  EXPECT_EQ(parse(repeated("(", 60) + "a" + repeated(")", 60)).error, "");
  for (const char* opening : {"(", "-", "!", "sin(", "a ? a : ", "a ? "}) {
    EXPECT_THAT(parse(repeated(opening, 100) + "a").error, HasSubstr("nested more than 64 deep")) << opening;
  }
  EXPECT_THAT(parse("a" + repeated("+ a ", 1100)).error, HasSubstr("at most 4096"));
  std::string many = "a";
  for (int n = 0; n < 600; ++n) many += "+" + std::to_string(n);
  EXPECT_THAT(parse(many).error, HasSubstr("more than 512 different operations"));
  // A named function is replaced by its whole formula.
  std::string nested = "a";
  for (int n = 0; n < 60; ++n) nested = "polar_distance(" + nested + ",b,a," + std::to_string(n) + ")";
  EXPECT_THAT(parse(nested).error, HasSubstr("more than 512 different operations"));
}

// The compiler sees only fixed words and numbers, for any text.
TEST(ElementwiseExpression, ItsCodeIsAListOfFixedStatements) {
  const std::regex line(
      "using Compute = (float|double|int|long long);|constexpr int ARITY = [1-6];|"
      "__device__ __forceinline__ Compute apply\\(const Compute \\(&input\\)\\[ARITY\\]\\) \\{|"
      "  const Compute v\\d+ = input\\[[0-5]\\];|"
      "  const Compute v\\d+ = -?[0-9a-fx.p+-]+(ll)?( - 1)?;|"
      "  const Compute v\\d+ = elementwise::[a-z0-9_]+\\(v\\d+(, v\\d+){0,2}\\);|"
      "  Compute v\\d+, v\\d+;|  elementwise::sin_cos\\(v\\d+, v\\d+, v\\d+\\);|  return v\\d+;|\\}");
  const auto check = [&](const std::string& text, DType dtype) {
    const std::string code = language::code(parse(text).expression, dtype);
    for (std::size_t from = 0; from < code.size();) {
      const std::size_t end = code.find('\n', from);
      EXPECT_TRUE(std::regex_match(code.substr(from, end - from), line)) << code.substr(from, end - from);
      from = end + 1;
    }
  };
  for (const NamedFunction& function : named_functions()) check(std::string(function.name), DType::f32);
  check("a ? -0.1 * b : pi + 1e-40 + 1e30 % b && !a || a != 2", DType::f32);
  check("a + 1e300", DType::f64);
  check("a - 2147483648 + -2147483648 + 7", DType::i64);
  check("a + -9223372036854775808 - 9223372036854775807", DType::i64);
  check("a + -2147483648", DType::i32);
}

TEST(ElementwiseExpression, RealFunctionsAndNumbersAreNotForIntegers) {
  const auto refusal = [](const std::string& text, DType dtype) {
    return refuses(parse(text).expression, dtype);
  };
  EXPECT_THAT(refusal("gaussian_pdf", DType::i32), HasSubstr("exp2, which it uses, is one of real numbers"));
  EXPECT_THAT(refusal("sqrt(a)", DType::i64), HasSubstr("not i64"));
  EXPECT_THAT(refusal("a * 0.5", DType::i32), HasSubstr("The number 0.5"));
  EXPECT_THAT(refusal("a + 2147483648", DType::i32),
              HasSubstr("The number 2147483648, which it uses, is no i32"));
  EXPECT_EQ(refusal("a + 2147483648", DType::i64), "");
  EXPECT_EQ(refusal("a + -2147483648", DType::i32), "");
  EXPECT_EQ(refusal("a + -9223372036854775808", DType::i64), "");
  EXPECT_THAT(refusal("a + 9223372036854775808", DType::i64), HasSubstr("no i64"));
  EXPECT_THAT(refusal("a * 1e39", DType::f16), HasSubstr("range of f32"));
  EXPECT_EQ(refusal("a * 1e39", DType::f64), "");
}

}  // namespace
}  // namespace tunesmith::language::language_expression_test
