// SPDX-License-Identifier: Apache-2.0
// Tests of rows in particular: the language and what it refuses, the typed functions, NaN and infinities,
// spaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "choose/select.h"
#include "generator/error.h"
#include "generator/ops.h"
#include "generator/random.h"
#include "kernel_file/find_op.h"
#include "templates/rows/op.h"
#include "tests/refusal.h"
#include "tests/rules.h"
#include "tuner/check/check_memory.h"
#include "tuner/device/check_data.h"
#include "tunesmith/rows.h"

namespace tunesmith::rows_test {
namespace {

using testing::HasSubstr;
using testing::Not;

using rows_op::Expression;
using rows_op::parse;
using rows_op::Shape;

const Op& op() { return find_op("rows"); }
Problem problem(const std::string& text) { return complete_problem(op(), Problem::parse(text)); }

// ---- the language

TEST(RowsExpression, FindsEachReductionOnceAndItsDepth) {
  const Expression e = parse("softmax").expression;
  EXPECT_EQ(e.inputs, std::vector<std::string>({"x"}));
  ASSERT_EQ(e.reductions.size(), 2u);
  EXPECT_EQ(e.reductions[0].function, rows_op::Function::max);
  EXPECT_EQ(e.reductions[1].function, rows_op::Function::sum);
  EXPECT_EQ(e.nodes.size(), 6u);  // x, max, x - max, exp, sum, the quotient
  EXPECT_EQ(Shape(problem("expression=softmax rows=2 columns=3")).passes, 2);
  const Shape two(
      problem("expression=\"m = mean(x); v = mean(x * x) - m * m; y = (x - m) / sqrt(v)\" rows=2 columns=3"));
  EXPECT_EQ(two.passes, 1);  // neither mean needs the other
  EXPECT_EQ(two.extents(0), std::vector<std::int64_t>({2}));
  EXPECT_EQ(two.extents(2), std::vector<std::int64_t>({2, 3}));
  EXPECT_EQ(two.extents(3), std::vector<std::int64_t>({0}));
  // With two values max is elementwise's.
  EXPECT_EQ(parse("y = max(x, 0) - max(x)").expression.reductions.size(), 1u);
}

TEST(RowsExpression, CanonicalTextsHaveNamesInTheOrderOfFirstUse) {
  EXPECT_EQ(rows_op::canonical_text("out = b * a - mean( b ) ; z=out>=0 ? pi : 1e-3"),
            "y0 = x0*x1-mean(x0); y1 = y0>=0?pi:1e-3");
  EXPECT_EQ(rows_op::canonical_text("y0 = x0*x1-mean(x0); y1 = y0>=0?pi:1e-3"),
            "y0 = x0*x1-mean(x0); y1 = y0>=0?pi:1e-3");
  EXPECT_EQ(rows_op::canonical_text("x1 = x0 == x2"), "y0 = x0==x1");
  EXPECT_EQ(
      problem("expression=\"y = gamma * x - sum(x)\" rows=3 columns=4 gamma=per_column x=matrix:8").text(),
      "expression=\"y0 = x0*x1-sum(x1)\" rows=3 columns=4 dtype=f32 x0=per_column x1=matrix:8 x2=matrix "
      "x3=matrix x4=matrix x5=matrix");
  for (const rows_op::Word& word : rows_op::words()) {
    const std::string text = rows_op::canonical_text(word.name);
    EXPECT_EQ(rows_op::canonical_text(text), text);
  }
}

// A value of random depth, with blanks here and there.
std::string drawn_value(Random& random, int depth) {
  static const std::vector<std::string> atoms = {"x",  "w",    "gamma", "x0", "y1",
                                                 "b2", "1e-3", "2",     ".5", "pi"};
  static const std::vector<std::string> patterns = {
      "# + #",  "#-#",       "# * #", "#/ #",     "-#",       "(#)**2", "sum(#)",      "exp( #)",
      "max(#)", "max(#,# )", "# < #", "(#)>=(#)", "(# == #)", "(#!=#)", "(# ? # : #)", "mean(#)"};
  if (depth == 0 || random.below(4) == 0) return atoms[random.below(atoms.size())];
  std::string text = patterns[random.below(patterns.size())];
  for (std::size_t at = text.size(); at > 0 && (at = text.rfind('#', at - 1)) != std::string::npos;)
    text.replace(at, 1, drawn_value(random, depth - 1));
  return text;
}

TEST(RowsExpression, AStoredTextIsReadAsTheSameExpression) {
  Random random(1);
  int read = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text = "out = " + drawn_value(random, 3);
    if (random.below(2) == 0) text += "; z= " + drawn_value(random, 2) + " - out";
    const rows_op::ParseResult given = parse(text);
    if (!given.error.empty()) continue;
    ++read;
    const std::string stored = rows_op::canonical_text(text);
    ASSERT_EQ(rows_op::canonical_text(stored), stored) << text;
    const rows_op::Expression again = parse(stored).expression;
    ASSERT_EQ(again.nodes.size(), given.expression.nodes.size()) << text;
    for (std::size_t n = 0; n < again.nodes.size(); ++n) {
      ASSERT_EQ(again.nodes[n].operation, given.expression.nodes[n].operation) << text;
      ASSERT_EQ(again.nodes[n].operands, given.expression.nodes[n].operands) << text;
      ASSERT_EQ(again.nodes[n].input, given.expression.nodes[n].input) << text;
      ASSERT_EQ(again.nodes[n].number, given.expression.nodes[n].number) << text;
    }
  }
  EXPECT_GT(read, 500);
}

TEST(RowsProblem, RowsWithoutGapsAreOneProblem) {
  const auto stored = [](const std::string& layout, const std::string& rows) {
    return problem("expression=\"y = x - max(x)\" columns=7 x=" + layout + " rows=" + rows).string("x0");
  };
  EXPECT_EQ(stored("matrix:7", "5"), "matrix");
  EXPECT_EQ(stored("matrix:9", "1"), "matrix");
  EXPECT_EQ(stored("matrix:9", "5"), "matrix:9");
  EXPECT_EQ(stored("matrix:0", "5"), "matrix:0");
  EXPECT_EQ(problem(rows_problem("y = x - max(x)", RowsType::f32, 1, 7, {{RowsKind::matrix, 9}})),
            problem("expression=\"y = x - max(x)\" columns=7 rows=1"));
}

TEST(RowsExpression, WhatIsWrongIsASentenceWithThePlace) {
  const auto expect = [](const char* text, const char* sentence) {
    const std::string error = parse(text).error;
    EXPECT_THAT(error, HasSubstr(sentence)) << text << "\n" << error;
  };
  expect("", "There is no expression");
  expect("x / sum(x)", "At character 3: '=' was expected");
  expect("y == x", "At character 3: '=' was expected");
  expect("y = ", "At character 5: There is no expression");
  expect("y = x +", "A value was expected where the text ends");
  expect("y = x +* 2", "At character 8: A value was expected instead of '*'");
  expect("y = x)", "At character 6: This ')' closes nothing");
  expect("y = x z", "At character 7: An operator, ';' or the end was expected instead of 'z'");
  expect("y = sum(x, 2)", "At character 5: 'sum' reduces one value along the row; 2 were given");
  expect("y = median(x)", "There is no function 'median'");
  expect("y = x; y = x + 1", "At character 8: 'y' is there already");
  expect("y = y + 1", "'y' is there already");
  expect("pi = x", "'pi' is there already");
  expect("y = 2", "reads no array");
  expect("y = a+b+c+d+e+f+g", "At character 17: 'g' is the expression's array number 7; at most 6");
  expect("a = x; b = x; c = x; d = x; e = x", "At character 29: There are more than 4 results");
  expect("y = x\n", "was expected instead of");
  expect("y = x /* */", "A value was expected");
  expect("y = x\"", "was expected instead of");
  expect("y = x; #include", "A result was expected");
  EXPECT_THAT(parse("y = " + std::string(5000, '-') + "x").error, HasSubstr("characters; at most 4096"));
  EXPECT_THAT(parse("y = " + std::string(100, '(') + "x").error, HasSubstr("nested more than 64 deep"));
  EXPECT_EQ(parse("y = x;").error, "");
}

// The compiler sees only the structure of the text: fixed words, and numbers that are written anew.
TEST(RowsExpression, TheCodeIsWrittenFromTheStructureAlone) {
  const std::string code = rows_op::code(
      problem("expression=\"evil_name = 0.1 * other_name / sum(other_name)\" rows=2 columns=3"));
  EXPECT_THAT(code, Not(HasSubstr("name")));
  EXPECT_THAT(code, Not(HasSubstr("0.1")));
  EXPECT_THAT(code, HasSubstr("0x1.99999ap-4f"));
}

TEST(RowsProblem, WhatDoesNotFitIsASentence) {
  const auto expect = [](const char* text, const char* sentence) {
    const std::string error = error_of([&] { problem(text); });
    EXPECT_THAT(error, HasSubstr(sentence)) << text << "\n" << error;
  };
  expect("expression=\"y = x +\" rows=1 columns=1", "A value was expected");
  expect("expression=softmax rows=1 columns=1 x=column", "per_column, per_row and scalar");
  expect("expression=softmax rows=1 columns=1 x=matrix:-4", "Allowed are matrix");
  expect("expression=softmax rows=1 columns=1 x=matrix:4x", "Allowed are matrix");
  expect("expression=softmax rows=1 columns=1 x2=scalar", "reads 1 array, but x2 is scalar");
  expect("expression=softmax rows=1048577 columns=1048576", "2^40");
  expect("expression=softmax rows=1048577 columns=4 x=matrix:1048576", "2^40");
  expect("expression=softmax rows=4 columns=0", "nothing has no max");
  expect("expression=softmax rows=4 columns=4 dtype=i32", "i32");
  std::string sum = "y = x";
  for (int n = 2; n < 60; ++n) sum += " * x + " + std::to_string(n);
  EXPECT_THAT(error_of([&] { problem("expression=\"" + sum + "\" rows=1 columns=1"); }),
              HasSubstr("at most 96"));
  EXPECT_NO_THROW(problem("expression=\"y = sum(x)\" rows=4 columns=0"));
}

// One process makes a problem's companions and their references, another one counts the bytes that they take.
TEST(RowsProblem, HasTheSameCompanionsEachTime) {
  for (const char* text :
       {"expression=layer_norm rows=9 columns=70 gamma=per_column beta=scalar",
        "expression=\"y = (a - b) * c / s - min(d + e)\" rows=9 columns=70 a=matrix:80 s=per_row"}) {
    const Problem wanted = problem(text);
    const std::vector<Problem> companions = op().companions(wanted);
    EXPECT_EQ(companions.size(), 7u);
    for (const Problem& companion : companions) {
      const Shape own(wanted), its(companion);
      for (std::size_t k = 0; k < own.inputs.size(); ++k) EXPECT_EQ(its.inputs[k].kind, own.inputs[k].kind);
    }
    const std::size_t bytes = check_bytes(op(), wanted);
    EXPECT_EQ(check_bytes(op(), problem("expression=softmax rows=3 columns=1000")),
              check_bytes(op(), problem("expression=softmax rows=3 columns=1000")));
    EXPECT_EQ(check_bytes(op(), complete_problem(op(), Problem::parse(wanted.text()))), bytes);
  }
}

// ---- values

class RowsOnHost : public testing::Test {
 protected:
  std::vector<float> computed(const std::string& expression, const std::vector<float>& x, std::int64_t rows,
                              std::size_t results, RowsLayout layout = {}) {
    std::vector<float> y(results, 99);
    const std::int64_t columns = layout.stride < 0 ? std::ssize(x) / rows : layout.stride - 1;
    const Status status = tunesmith::rows(dispatcher_, expression, RowsType::f32, rows, columns,
                                          {{x.data(), layout}}, {y.data()});
    EXPECT_TRUE(status) << status.message();
    return y;
  }

  Dispatcher dispatcher_{{.device = "host", .database = "", .compile = Compile::never, .cache_folder = ""}};
};

TEST_F(RowsOnHost, AnswersWithoutACompiler) {
  const std::vector<float> x = {0, std::log(3.0f), 5, 5};
  std::vector<float> y(4);
  ASSERT_TRUE(softmax(dispatcher_, x.data(), y.data(), 2, 2));
  const std::vector<float> expected = {0.25f, 0.75f, 0.5f, 0.5f};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[i], expected[i], 1e-6);
  const std::vector<float> gamma = {2, 3}, beta = {10, 20};
  ASSERT_TRUE(layer_norm(dispatcher_, x.data(), gamma.data(), beta.data(), y.data(), 2, 2));
  EXPECT_NEAR(y[0], 8, 1e-4);
  EXPECT_NEAR(y[1], 23, 1e-4);
  EXPECT_EQ(y[2], 10);
  EXPECT_EQ(y[3], 20);
}

TEST_F(RowsOnHost, ReductionsAndStridesAreNumPys) {
  const std::vector<float> x = {1, 2, 3, -4, 5, 6};
  EXPECT_EQ(computed("y = sum(x)", x, 2, 2), std::vector<float>({6, 7}));
  EXPECT_EQ(computed("y = mean(x)", x, 3, 3), std::vector<float>({1.5, -0.5, 5.5}));
  EXPECT_EQ(computed("y = prod(x)", x, 2, 2), std::vector<float>({6, -120}));
  EXPECT_EQ(computed("y = max(x) - min(x)", x, 2, 2), std::vector<float>({2, 10}));
  EXPECT_EQ(computed("y = x - max(x)", x, 2, 6), std::vector<float>({-2, -1, 0, -10, -1, 0}));
  EXPECT_EQ(computed("y = sum(x)", x, 2, 2, {.stride = 3}), std::vector<float>({3, 1}));
  EXPECT_EQ(computed("y = sum(x - sum(x))", x, 1, 1), std::vector<float>({-65}));
}

TEST_F(RowsOnHost, NaNInfinityAndNothingAreNumPys) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                  infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {1, nan, 3, 1, -infinity, 2};
  const std::vector<float> greatest = computed("y = max(x)", x, 2, 2);
  EXPECT_TRUE(std::isnan(greatest[0]));
  EXPECT_EQ(greatest[1], 2);
  const std::vector<float> shares = computed("softmax", x, 2, 6);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(shares[i]));
  EXPECT_EQ(shares[4], 0);
  EXPECT_EQ(computed("y = sum(x)", {}, 3, 3), std::vector<float>({0, 0, 0}));
  EXPECT_EQ(computed("y = prod(x)", {}, 2, 2), std::vector<float>({1, 1}));
}

// The base keeps values that are needed later. With very many of them a thread takes one element at a time.
TEST_F(RowsOnHost, ManyValuesMayBeNeededAtOnce) {
  constexpr int each = 14;
  const auto cosines = [](int count, const std::string& of) {
    std::string text;
    for (int n = 0; n < count; ++n) text += "cos(";
    return text + of + std::string(static_cast<std::size_t>(count), ')');
  };
  std::string sum, end;
  for (const char* of : {"c", "b", "x"}) {
    for (int n = each; n > 0; --n) {
      sum += cosines(n, of) + " + (";
      end += ")";
    }
  }
  const std::string expression =
      "b = " + cosines(each, "x") + "; c = " + cosines(each, "b") + "; y = " + sum + "x" + end;
  constexpr std::size_t columns = 150;
  std::vector<float> x(2 * columns), b(x.size()), c(x.size()), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) / 100 - 1;
  ASSERT_TRUE(tunesmith::rows(dispatcher_, expression, RowsType::f32, 2, columns, {{x.data()}},
                              {b.data(), c.data(), y.data()}));
  for (std::size_t i = 0; i < x.size(); ++i) {
    double expected = x[i], value = x[i];
    for (int n = 0; n < 3 * each; ++n) expected += value = std::cos(value);
    ASSERT_NEAR(y[i], expected, 1e-4) << i;
  }
}

TEST_F(RowsOnHost, TheTypedFunctionsPlanTheirProblem) {
  EXPECT_EQ(rows_plan(dispatcher_, "rms_norm", RowsType::bf16, 3, 8, {{.stride = 9}, {RowsKind::per_column}})
                .problem(),
            "expression=\"y0 = x0*rsqrt(mean(x0**2)+1e-5)*x1\" rows=3 columns=8 dtype=bf16 x0=matrix:9 "
            "x1=per_column x2=matrix x3=matrix x4=matrix x5=matrix");
  EXPECT_EQ(rows_arrays("layer_norm"), std::vector<std::string>({"x", "gamma", "beta"}));
  EXPECT_EQ(rows_results("m = mean(x); y = x - m"), std::vector<std::string>({"m", "y"}));
  EXPECT_THAT(error_of([&] { (void)rows_plan(dispatcher_, "layer_norm", RowsType::f32, 3, 8, {{}}); }),
              HasSubstr("reads 3 arrays, x, gamma, beta; rows was given 1"));
  float x = 1, y = 0;
  EXPECT_THAT(error_of([&] {
                (void)rows(dispatcher_, "softmax", RowsType::f32, 1, 1, {{&x}}, {&y, &y});
              }),
              HasSubstr("has 1 result, y; rows was given 2"));
  EXPECT_EQ(rows(dispatcher_, "softmax", RowsType::f32, 1, 1, {{&x}}, {&x}).code(),
            Status::overlapping_arguments);
  EXPECT_EQ(rows(dispatcher_, "softmax", RowsType::f32, 1, 1, {{nullptr}}, {&y}).code(),
            Status::null_argument);
}

// ---- the reference

TEST(RowsReference, ComputesAnyPartOfTheResults) {
  const Problem wanted =
      problem("expression=\"m = max(x); y = exp(x - m) / sum(exp(x - m))\" rows=3 columns=300");
  const std::vector<std::vector<double>> inputs = make_inputs(op(), wanted, 1);
  const ExpectedOutput whole = reference_of(op(), wanted, inputs, 7);
  std::vector<double> value(400), permitted(400);
  op().reference(wanted, inputs, 7, 290, 690, value, permitted);
  EXPECT_EQ(value, std::vector<double>(whole.value.begin() + 290, whole.value.begin() + 690));
  double sum = 0, greatest = -2;
  for (std::size_t c = 300; c < 600; ++c) {
    sum += whole.value[c];
    greatest = std::max(greatest, inputs[0][c]);
    EXPECT_LT(whole.permitted_error[c], 1e-5 * whole.value[c]);
    EXPECT_GT(whole.permitted_error[c], 0x1p-24 * whole.value[c]);
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_EQ(reference_of(op(), wanted, inputs, 6).value[1], greatest);
}

TEST(RowsReference, PermitsAnythingWhereATotalMayLeaveTheRange) {
  const auto permitted = [](const char* expression, std::vector<double> x) {
    const Problem wanted =
        problem(std::string("expression=\"") + expression + "\" rows=1 columns=" + std::to_string(x.size()));
    std::vector<std::vector<double>> inputs(10);
    inputs[0] = std::move(x);
    return reference_of(op(), wanted, inputs, 6).permitted_error[0];
  };
  EXPECT_TRUE(std::isinf(permitted("y = sum(x)", {0x1p127, 0x1p127, -0x1p127})));
  EXPECT_EQ(permitted("y = sum(x)", {std::numeric_limits<double>::infinity(), 1}), 0);
  EXPECT_TRUE(std::isinf(permitted("y = prod(x)", {0x1p-100, 0x1p-100, 0x1p120})));
  EXPECT_LT(permitted("y = prod(x)", {3, 5, 7}), 1e-4);
  EXPECT_EQ(permitted("y = max(x)", {3, 5, 7}), 0);
}

// ---- spaces

TEST(RowsSpace, HasConfigsForEveryProblem) {
  for (const auto& [template_name, text] :
       std::vector<std::pair<std::string, std::string>>{{"registers", "rows=4096 columns=4096"},
                                                        {"registers", "rows=65536 columns=768"},
                                                        {"registers", "rows=1000000 columns=64"},
                                                        {"registers", "rows=100 columns=7 dtype=f64"},
                                                        {"registers", "rows=100 columns=10007 dtype=f16"},
                                                        {"cluster", "rows=128 columns=100003"},
                                                        {"sweeps", "rows=128 columns=100003"},
                                                        {"sweeps", "rows=10 columns=10000000 dtype=f64"}}) {
    SCOPED_TRACE(template_name + " " + text);
    const Problem wanted = problem("expression=softmax " + text);
    const Template& tmpl = find_template(op(), template_name);
    EXPECT_EQ(tmpl.refuses(wanted), "");
    const Space space = tmpl.space(wanted);
    EXPECT_GE(space.count(Space::Subset::promising), 20);
    EXPECT_LE(space.count(Space::Subset::promising), 12000);
    for (const Config& config : space.sample(100, 1)) EXPECT_LE(tmpl.alignment_bytes(wanted, config), 16);
  }
}

TEST(RowsSpace, RulesAreSaid) {
  const RuleCase cases[] = {
      {"registers", "expression=softmax rows=3 columns=1024 x=matrix:1025", "VECTOR=2",
       "Rows of all matrices begin"},
      {"registers", "expression=softmax rows=3 columns=1024", "TEAM=32 ITEMS=7 VECTOR=4", "no fewer are"},
      {"registers", "expression=softmax rows=3 columns=1024", "TEAM=32 ITEMS=8 VECTOR=4 ROWS=4",
       "fit its registers"},
      {"registers", "expression=softmax rows=3 columns=16", "TEAM=4 TEAMS=4 ITEMS=1 VECTOR=4",
       "32 to 1024 threads"},
      {"registers", "expression=softmax rows=3 columns=1024",
       "TEAM=32 TEAMS=8 ITEMS=8 VECTOR=4 ROWS=2 RESIDENT_WARPS=16", ""},
      {"registers", "expression=softmax rows=3 columns=1023 dtype=f16",
       "TEAM=64 TEAMS=4 ITEMS=3 VECTOR=8 ROWS=2 RESIDENT_WARPS=16", ""},
      {"sweeps", "expression=softmax rows=3 columns=9 dtype=f64", "ITEMS=8 VECTOR=2", ""},
      {"sweeps", "expression=\"y = x * 2\" rows=3 columns=90000", "KEEP=shared",
       "for a pass behind the first"},
      {"sweeps", "expression=\"y = w - sum(w)\" rows=3 columns=90000 w=per_column", "KEEP=shared",
       "keeps a tile at least"},
  };
  expect_rules(op(), cases);
}

TEST(RowsSpace, EveryProblemHasAFirstGuess) {
  for (const char* expression :
       {"softmax", "logsumexp", "\"y = (a - b) * c / s - min(d + e)\"", "\"y = x * 2\""})
    for (const char* dtype : {"f32", "f64", "f16", "bf16"})
      for (const char* columns : {"1", "3", "8", "31", "100", "257", "1000", "1001", "2050", "5001", "9000",
                                  "16001", "33000", "65537", "100003", "500000", "3000000"})
        for (const char* rows : {"1", "200", "5000"})
          for (const int compute_capability : {75, 86, 90}) {
            const std::string text = std::string("expression=") + expression + " rows=" + rows +
                                     " columns=" + columns + " dtype=" + dtype;
            EXPECT_FALSE(untuned(op(), problem(text), facts_of_capability(compute_capability)).empty())
                << text;
          }
}

// A row that fits one block is held by one. Few rows, and longer ones, are for clusters if the device has
// these.
TEST(RowsSpace, OneTemplateIsTheFirstGuess) {
  const auto first = [](const char* text, int compute_capability) {
    const std::vector<UntunedVariant> guesses =
        untuned(op(), problem(std::string("expression=") + text), facts_of_capability(compute_capability));
    EXPECT_FALSE(guesses.empty()) << text;
    return guesses.empty() ? "" : guesses.front().tmpl->name;
  };
  EXPECT_EQ(first("softmax rows=262144 columns=32 dtype=f16", 90), "registers");
  EXPECT_EQ(first("softmax rows=1 columns=1", 90), "registers");
  EXPECT_EQ(first("softmax rows=5000 columns=32768", 90), "registers");
  EXPECT_EQ(first("softmax rows=140 columns=32768", 90), "sweeps");
  EXPECT_EQ(first("softmax rows=16 columns=24000", 90), "cluster");
  EXPECT_EQ(first("softmax rows=16 columns=24000", 80), "registers");
  EXPECT_EQ(first("softmax rows=128 columns=100003", 90), "cluster");
  EXPECT_EQ(first("softmax rows=128 columns=100003", 80), "sweeps");
  EXPECT_EQ(first("logsumexp rows=128 columns=100003", 90), "sweeps");
  EXPECT_EQ(first("softmax rows=128 columns=1000003 dtype=f64", 90), "sweeps");
  // Not every device has room for clusters of 16 blocks.
  const std::vector<UntunedVariant> both =
      untuned(op(), problem("expression=softmax rows=300 columns=400000"), facts_of_capability(90));
  ASSERT_EQ(both.size(), 2u);
  EXPECT_THAT(both[0].config.text(), HasSubstr("CLUSTER=16"));
  EXPECT_EQ(both[1].tmpl->name, "sweeps");
}

TEST(RowsSpace, TemplatesSayWhatTheyAreNotFor) {
  const auto refusal = [](const char* name, const char* text) {
    return find_template(op(), name).refuses(problem(std::string("expression=softmax ") + text));
  };
  EXPECT_THAT(refusal("registers", "rows=2 columns=40000"), HasSubstr("take cluster or sweeps"));
  EXPECT_THAT(refusal("cluster", "rows=2 columns=600000"), HasSubstr("take sweeps"));
  EXPECT_THAT(refusal("sweeps", "rows=2 columns=1073741824"), HasSubstr("take the base"));
  EXPECT_THAT(refusal("sweeps", "rows=2147483648 columns=5"), HasSubstr("take registers"));
  EXPECT_THAT(refusal("registers", "rows=0 columns=5"), HasSubstr("take the base"));
}

// ---- variants

// A row that begins within a vector has its first and last elements in vectors that it shares with others.
TEST(RowsVariants, RowsThatBeginAnywhereAreReadAndWrittenInVectors) {
  const Shape shape(problem("expression=softmax rows=5 columns=1003"));
  EXPECT_EQ(shape.aligned, 1);
  EXPECT_EQ(shape.congruent, 16);
  EXPECT_EQ(rows_op::shape_of(problem("expression=softmax rows=5 columns=1004")).aligned, 4);
  EXPECT_EQ(rows_op::shape_of(problem("expression=softmax rows=5 columns=1004 x=matrix:1006")).congruent, 2);
  EXPECT_EQ(rows_op::shape_of(problem("expression=logsumexp rows=5 columns=1003 x=matrix:1008")).congruent,
            16);
}

}  // namespace
}  // namespace tunesmith::rows_test
