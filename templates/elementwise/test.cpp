// elementwise: its expressions, what they compute and how exactly, its shapes, and the typed functions on the
// host. Expected numbers are NumPy's and SciPy's.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "generator/error.h"
#include "generator/ops.h"
#include "generator/render.h"
#include "templates/elementwise/expression.h"
#include "templates/elementwise/layout.h"
#include "tests/refusal.h"
#include "tunesmith/elementwise.h"

namespace tunesmith {
namespace {

using elementwise_op::Expression;
using elementwise_op::Layout;
using elementwise_op::parse;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Result {
  double value;
  double permitted;
};

// The function of one element of each input.
Result at(const std::string& function, const std::vector<double>& inputs, DType dtype = DType::f64) {
  const elementwise_op::Parsed parsed = parse(function);
  EXPECT_EQ(parsed.error, "") << function;
  if (!parsed.error.empty()) return {nan, 0};
  EXPECT_EQ(elementwise_op::refuses(parsed.expression, dtype), "") << function;
  std::vector<std::vector<double>> columns;
  for (const double input : inputs) columns.push_back({input});
  columns.resize(6, {0});
  Result result = {};
  evaluate(parsed.expression, dtype, columns, 1, &result.value, &result.permitted);
  return result;
}

struct Known {
  const char* expression;
  double value;
};

// At a = 0.625, b = 2.5: NumPy 2.4, SciPy 1.17.
constexpr std::array<Known, 30> functions = {{
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
    {"min(a, b)", 0.625},
    {"-b % (a + 0.125)", -0.25},
}};

TEST(ElementwiseExpression, KnowsEveryFunctionOfItsTable) {
  for (const Known& known : functions) {
    const Result result = at(known.expression, {0.625, 2.5});
    EXPECT_NEAR(result.value, known.value, 2e-16 * std::abs(known.value)) << known.expression;
    EXPECT_LE(std::abs(result.value - known.value), result.permitted) << known.expression;
    EXPECT_LE(result.permitted, 4e-15) << known.expression;
  }
  // Each that a person can call is above; max is min's twin.
  for (const elementwise_op::OperationFacts& operation : elementwise_op::operations()) {
    if (!operation.called || operation.name == "max") continue;
    const auto names = [&](const Known& known) {
      return std::string(known.expression).rfind(std::string(operation.name) + "(", 0) == 0;
    };
    EXPECT_TRUE(std::any_of(functions.begin(), functions.end(), names)) << operation.name;
  }
}

TEST(ElementwiseExpression, BindsAsInC) {
  const std::vector<double> inputs = {2, 3, 5, 7, 11, 13};  // a … f
  const std::array<Known, 21> cases = {{
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
      {"abs(-a) + a", 4},
      {"pi * a", 6.283185307179586},
      {"a - -1", 3},
  }};
  for (const Known& known : cases) {
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
  int character;  // from 1 on; 0: of the whole
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
    EXPECT_NE(error.find(wrong.says), std::string::npos) << wrong.text << " | " << error;
    // The caret stands under the character.
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
    EXPECT_NE(parse(repeated(opening, 100) + "a").error.find("nested more than 64 deep"), std::string::npos)
        << opening;
  }
  EXPECT_NE(parse("a" + repeated("+ a ", 1100)).error.find("at most 4096"), std::string::npos);
  std::string many = "a";
  for (int n = 0; n < 600; ++n) many += "+" + std::to_string(n);
  EXPECT_NE(parse(many).error.find("more than 512 different operations"), std::string::npos);
  // A named function stands for its whole formula.
  std::string nested = "a";
  for (int n = 0; n < 60; ++n) nested = "hypot(" + nested + ",b)";
  EXPECT_NE(parse(nested).error.find("more than 512 different operations"), std::string::npos);
}

// What reaches the compiler is made of fixed words and numbers, whatever the text was.
TEST(ElementwiseExpression, ItsCodeIsAListOfFixedStatements) {
  const std::regex line(
      "using Compute = (float|double|int|long long);|constexpr int ARITY = [1-6];|"
      "__device__ __forceinline__ Compute apply\\(const Compute \\(&input\\)\\[ARITY\\]\\) \\{|"
      "  const Compute v\\d+ = input\\[[0-5]\\];|"
      "  const Compute v\\d+ = -?[0-9a-fx.p+-]+(ll)?( - 1)?;|"
      "  const Compute v\\d+ = elementwise::[a-z0-9_]+\\(v\\d+(, v\\d+){0,2}\\);|"
      "  Compute v\\d+, v\\d+;|  elementwise::sin_cos\\(v\\d+, v\\d+, v\\d+\\);|  return v\\d+;|\\}");
  const auto check = [&](const std::string& text, DType dtype) {
    const std::string code = elementwise_op::code(parse(text).expression, dtype);
    for (std::size_t from = 0; from < code.size();) {
      const std::size_t end = code.find('\n', from);
      EXPECT_TRUE(std::regex_match(code.substr(from, end - from), line)) << code.substr(from, end - from);
      from = end + 1;
    }
  };
  for (const elementwise_op::NamedFunction& function : elementwise_op::named_functions())
    check(std::string(function.name), DType::f32);
  check("a ? -0.1 * b : pi + 1e-40 + 1e30 % b && !a || a != 2", DType::f32);
  check("a + 1e300", DType::f64);
  check("a - 2147483648 + -2147483648 + 7", DType::i64);
  check("a + -9223372036854775808 - 9223372036854775807", DType::i64);
  check("a + -2147483648", DType::i32);
}

TEST(ElementwiseExpression, RealFunctionsAndNumbersAreNotForIntegers) {
  const auto refusal = [](const std::string& text, DType dtype) {
    return elementwise_op::refuses(parse(text).expression, dtype);
  };
  EXPECT_NE(refusal("gaussian_pdf", DType::i32).find("exp, which it uses, is one of real numbers"),
            std::string::npos);
  EXPECT_NE(refusal("sqrt(a)", DType::i64).find("not i64"), std::string::npos);
  EXPECT_NE(refusal("a * 0.5", DType::i32).find("The number 0.5"), std::string::npos);
  EXPECT_NE(refusal("a + 2147483648", DType::i32).find("The number 2147483648, which it uses, is no i32"),
            std::string::npos);
  EXPECT_EQ(refusal("a + 2147483648", DType::i64), "");
  EXPECT_EQ(refusal("a + -2147483648", DType::i32), "");
  EXPECT_EQ(refusal("a + -9223372036854775808", DType::i64), "");
  EXPECT_NE(refusal("a + 9223372036854775808", DType::i64).find("no i64"), std::string::npos);
  EXPECT_NE(refusal("a * 1e39", DType::f16).find("range of f32"), std::string::npos);
  EXPECT_EQ(refusal("a * 1e39", DType::f64), "");
}

TEST(ElementwiseReference, IntegersWrapAndDivideAsInC) {
  const std::array<Known, 9> cases = {{{"a / b", -3},
                                       {"a % b", -1},
                                       {"a / 0", 0},
                                       {"a % 0", 0},
                                       {"c / -1", -2147483648.0},
                                       {"c % -1", 0},
                                       {"abs(c)", -2147483648.0},
                                       {"c - 1", 2147483647.0},
                                       {"c * a", 0}}};
  for (const Known& known : cases) {
    std::string text = known.expression;
    text += " + 0 * (a + b + c)";  // all inputs are used
    const Result result = at(text, {-10, 3, -2147483648.0}, DType::i32);
    EXPECT_EQ(result.value, known.value) << known.expression;
    EXPECT_EQ(result.permitted, 0);
  }
  EXPECT_EQ(at("a - 1", {-9007199254740991.0}, DType::i64).value, -9007199254740992.0);
}

TEST(ElementwiseReference, SpecialValuesAreIeees) {
  const std::array<std::tuple<const char*, std::vector<double>, double>, 17> cases = {{
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
      {"gaussian_pdf", {infinity, 0, 1}, 0},
      {"polar_distance", {infinity, 0, 1, 0}, nan},  // infinity times sin(0)
      {"a != a", {nan}, 1},
  }};
  for (const auto& [text, inputs, expected] : cases) {
    for (const DType dtype : {DType::f32, DType::f64, DType::f16}) {
      const Result result = at(text, inputs, dtype);
      EXPECT_TRUE(result.value == expected || (std::isnan(result.value) && std::isnan(expected)))
          << text << " is " << result.value << " instead of " << expected;
      EXPECT_LT(result.permitted, 1e-6) << text;  // it is certain
    }
  }
  EXPECT_EQ(at("a * b", {1e30, 1e30}, DType::f32).value, infinity);
  EXPECT_EQ(at("a * b", {300, 300}, DType::f16).value, infinity);
  // A fused multiply-add may keep the product finite, so nothing is promised.
  EXPECT_EQ(at("a * b - c", {1e30, 1e30, 1}, DType::f32).permitted, infinity);
}

// The same operations in float, without fusing.
float distance_in_float(const std::array<float, 4>& in) {
  const float x = in[0] * std::cos(in[1]) - in[2] * std::cos(in[3]);
  const float y = in[0] * std::sin(in[1]) - in[2] * std::sin(in[3]);
  return std::sqrt(x * x + y * y);
}

TEST(ElementwiseReference, ItsBoundHoldsAndIsNotWide) {
  // One rounding: half a unit of the last place.
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
  // Where rounding decides a comparison, both answers are permitted.
  const Result tie = at("a * 0.1 > b ? 2 : 1", {3, static_cast<double>(0.3f)}, DType::f32);
  EXPECT_GE(tie.permitted, 1);
  EXPECT_LT(at("a * 0.1 > b ? 2 : 1", {3, 0.25}, DType::f32).permitted, 1e-6);
}

const Op& op() { return find_op("elementwise"); }

Problem problem(const std::string& text) { return complete_problem(op(), Values::parse(text)); }

std::string refusal(const std::string& text) { return refusal(op(), text); }

TEST(ElementwiseProblem, BadInputIsNamedWithItsValue) {
  const std::array<std::array<const char*, 3>, 20> cases = {{
      {"shape=3", "has no function", "add function=VALUE"},
      {"function=\"a +\" shape=3", "function is \"a +\"", "At character 4"},
      {"function=add", "has no shape", "add shape=VALUE"},
      {"function=add shape=3x", "shape is 3x", "An extent is a whole number"},
      {"function=add shape=-3", "shape is -3", "An extent is a whole number"},
      {"function=add shape=1x1x1x1x1x1x1", "1x1x1x1x1x1x1", "7 dimensions; at most 6"},
      {"function=add shape=2000000x2000000", "shape is", "2^40"},
      {"function=add shape=99999999999999999999", "shape is", "2^40"},
      {"function=add shape=0x2000000x2000000", "shape is", "2^40"},
      {"function=hypot dtype=i32 shape=3", "function is hypot", "real numbers"},
      {"function=\"a * 1.5\" dtype=i64 shape=3", "function is \"a * 1.5\"", "1.5"},
      {"function=add shape=4x3 b=4", "b is 4", "does not broadcast to the shape 4x3"},
      {"function=add shape=3 b=1x3", "b is 1x3", "it may have fewer"},
      {"function=add shape=4x3 c=3", "c is 3", "no input c; leave it out"},
      {"function=add shape=4x3 a=4x3:3", "a is 4x3:3", "extents are 2 and its strides 1"},
      {"function=add shape=4x3 a=4x3:3x-1", "a is 4x3:3x-1", "from 0 on"},
      {"function=add shape=4x3 a=4x3:x", "a is 4x3:x", "a stride for each extent"},
      {"function=add shape=4x3 a=4x3:1099511627776x1", "a is", "2^40"},
      {"function=add shape=4x3 a=4x3:99999999999999999999x1", "a is", "2^40"},
      {"function=add dtype=u8 shape=3", "dtype is u8", "f32, f64, i32, i64, f16, bf16"},
  }};
  for (const auto& [text, names, says] : cases) {
    EXPECT_NE(refusal(text).find(names), std::string::npos) << text << " | " << refusal(text);
    EXPECT_NE(refusal(text).find(says), std::string::npos) << text << " | " << refusal(text);
  }
}

// Strides are kept where a problem is made small or odd.
TEST(ElementwiseProblem, CompanionsAreProblems) {
  for (const char* text :
       {"function=\"a + 1\" shape=2 a=2:500000000", "function=add shape=2x3 b=2x3:1000000000000x1"}) {
    const std::vector<Problem> companions = op().companions(problem(text));
    EXPECT_FALSE(companions.empty());
    for (const Problem& companion : companions)
      EXPECT_NO_THROW(complete_problem(op(), companion)) << companion.text();
  }
}

TEST(ElementwiseProblem, DimensionsAreMerged) {
  const auto layout = [](const std::string& text) {
    const Problem wanted = problem("function=add " + text);
    return elementwise_op::layout_of(wanted, 2);
  };
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(layout("shape=4x5x6").extents, Numbers{120});
  EXPECT_EQ(layout("shape=4x5x6 b=1").inputs[1].strides, Numbers{0});
  EXPECT_EQ(layout("shape=4x5x6 b=6").extents, (Numbers{6, 20}));
  EXPECT_EQ(layout("shape=4x5x6 b=6").inputs[1].strides, (Numbers{1, 0}));
  EXPECT_EQ(layout("shape=4x5x6 b=5x6").extents, (Numbers{30, 4}));
  EXPECT_EQ(layout("shape=4x5x6 b=4x1x1").extents, (Numbers{30, 4}));
  EXPECT_EQ(layout("shape=4x5x6 b=4x1x6").extents, (Numbers{6, 5, 4}));
  EXPECT_EQ(layout("shape=4x1x6 b=1x6").extents, (Numbers{6, 4}));
  EXPECT_EQ(layout("shape=4x6 a=4x6:8x1").extents, (Numbers{6, 4}));
  EXPECT_EQ(layout("shape=4x6 a=4x6:8x1").inputs[0].memory, 30);
  EXPECT_EQ(layout("shape=4x6 a=4x6:12x2").extents, Numbers{24});
  EXPECT_EQ(layout("shape=4x6 a=4x6:12x2").inputs[0].strides, Numbers{2});
  EXPECT_EQ(layout("shape=4x6 a=4x6:1x4").inputs[0].strides, (Numbers{4, 1}));
  EXPECT_EQ(layout("shape=1x1 b=1").extents, Numbers{1});
  EXPECT_EQ(layout("shape=4x0x6 b=4x0x1").elements, 0);
  EXPECT_EQ(layout("shape=4x0x6 b=4x1x1").inputs[1].memory, 4);
  EXPECT_TRUE(layout("shape=4x5x6").inputs[0].is_output_like);
  EXPECT_FALSE(layout("shape=4x5x6 b=6").inputs[1].is_output_like);
}

TEST(ElementwiseSpace, HasSomeThousandConfigsAndADefaultForEveryProblem) {
  DeviceFacts device;
  device.kind = "cuda";
  for (const char* text :
       {"function=add shape=134217728", "function=add dtype=f16 shape=2147487745",
        "function=polar_distance dtype=f64 shape=1000", "function=add shape=4096x4095 b=4096x1",
        "function=gaussian_pdf dtype=bf16 shape=1000 b=1 c=1", "function=add shape=3000000x2000 b=2000"}) {
    const Problem wanted = problem(text);
    for (const Template& tmpl : op().templates) {
      if (tmpl.refuses && !tmpl.refuses(wanted).empty()) continue;
      const Space space = tmpl.space(wanted);
      if (tmpl.name != "base") {
        EXPECT_GE(space.count(), 300) << text;
        EXPECT_LE(space.count(), 8000) << text;
      }
      EXPECT_FALSE(exceeds(tmpl.work(wanted, space.complete({})), device)) << text;
    }
  }
}

// ---- on the host, through the dispatcher

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

// One element each for every function of the table, chosen by c: what is generated for it compiles and is
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

TEST(ElementwiseOnHost, SineAndCosineAreRightForEveryAngle) {
  Dispatcher dispatcher = host();
  std::vector<float> angles = {0,         -0.0f,     0.785398f, -1.5707964f, 3.1415927f, 71475.99f,
                               -71476.0f, 71476.01f, 1e6f,      -3e10f,      3e38f,      1e-40f};
  for (int n = 1; n < 500; ++n) angles.push_back(static_cast<float>(n * n) * 0.2857f);
  std::vector<float> out(angles.size());
  // sin + 3 cos: both, told apart.
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
  // a as its transpose of the last two dimensions, numpy: a.reshape(2, 4, 3).transpose(0, 2, 1)
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
  // 1, 2^-11, 2^-23 as binary16: in steps of binary16 the sum would be 1; rounded once, it is 1 + 2^-10.
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
  // One element for all: written before it is read.
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
  EXPECT_NE(says("a + b", {{&x}}).find("has 2 inputs; elementwise was given 1"), std::string::npos);
  EXPECT_NE(says("add", {{&x}, {&x}, {&x}}).find("has 2 inputs; elementwise was given 3"), std::string::npos);
  EXPECT_NE(says("a +", {{&x}}).find("At character 4"), std::string::npos);
  EXPECT_NE(says("add", std::vector<ElementwiseInput>(7)).find("7 inputs; at most 6"), std::string::npos);
  EXPECT_NE(says("add", {{&x, {{}, {1}}}, {&x}}).find("The elementwise problem's a is"), std::string::npos);
}

}  // namespace
}  // namespace tunesmith
