// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "generator/error.h"
#include "generator/random.h"
#include "tests/rounds.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

const std::vector<ExpressionName> names = {{"n", {}}, {"mode", {"same", "valid"}}, {"BLOCK", {}}};

IntegerExpression::Result result(std::string_view text, std::int64_t n = 10, std::int64_t mode = 1,
                                 std::int64_t block = 32) {
  const std::int64_t values[] = {n, mode, block};
  return IntegerExpression::parse(text, names).evaluate([&](std::size_t name) { return values[name]; });
}

std::string complaint(std::string_view text) {
  try {
    IntegerExpression::parse(text, names);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(IntegerExpression, ComputesAsInC) {
  const std::pair<const char*, std::int64_t> all[] = {
      {"1 + 2 * 3", 7},
      {"(1 + 2) * 3", 9},
      {"-7 / 2", -3},
      {"-7 % 2", -1},
      {"10 - 3 - 2", 5},
      {"100 / 5 / 2", 10},
      {"n * BLOCK", 320},
      {"ceil_div(n, 3)", 4},
      {"ceil_div(-7, 2)", -3},
      {"min(4, n, 7)", 4},
      {"max(n, BLOCK)", 32},
      {"n < BLOCK", 1},
      {"n >= BLOCK", 0},
      {"n == 10 && BLOCK != 32", 0},
      {"n == 11 || BLOCK == 32", 1},
      {"!n", 0},
      {"!!n", 1},
      {"--3", 3},
      {"n > 5 ? 1 : 2", 1},
      {"n > 50 ? 1 : n > 5 ? 3 : 2", 3},
      {"mode == 'valid'", 1},
      {"'same' == mode", 0},
      {"mode != 'same'", 1},
      {"(mode) == 'valid' ? n : 0", 10},
      {"1 + 2 < 4 == 1", 1},
      {"n<=10", 1},
      {"9223372036854775807", std::numeric_limits<std::int64_t>::max()}};
  for (const auto& [text, value] : all) {
    EXPECT_EQ(result(text).error, "") << text;
    EXPECT_EQ(result(text).value, value) << text;
  }
}

TEST(IntegerExpression, OverflowAndDivisionByZeroAreErrors) {
  for (const char* text : {"n / 0", "n % (n - 10)", "ceil_div(1, n - 10)", "9223372036854775807 + 1",
                           "-9223372036854775807 - 2", "9223372036854775807 * 2",
                           "(-9223372036854775807 - 1) / -1", "-(-9223372036854775807 - 1)", "min(1, n / 0)"})
    EXPECT_NE(result(text).error, "") << text;
  EXPECT_EQ(result("n / 0").error, "In \"n / 0\" 10 is divided by zero.");
  EXPECT_EQ(result("9223372036854775807 + n").error,
            "In \"9223372036854775807 + n\" 9223372036854775807 + 10 does not fit into 64 bits.");
}

TEST(IntegerExpression, WhatIsNotNeededIsNotEvaluated) {
  EXPECT_EQ(result("n == 0 || 10 / n == 1").value, 1);
  EXPECT_EQ(result("n == 0 || 10 / n == 1", 0).error, "");
  EXPECT_EQ(result("n != 0 && 10 / n == 1", 0).error, "");
  EXPECT_EQ(result("n == 0 ? 5 : 10 / n", 0).value, 5);
}

TEST(IntegerExpression, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> all[] = {
      {"", "The expression \"\" ends where a value is expected, at character 1."},
      {"n +", "The expression \"n +\" ends where a value is expected, at character 4."},
      {"(n", "The expression \"(n\" ends where \")\" is expected to close a parenthesis, at character 3."},
      {"n n", "The expression \"n n\" has \"n\" where an operator or the end is expected, at character 3."},
      {"m",
       "The expression \"m\" names m, which is not known here; it may name n, mode, BLOCK, at character 1."},
      {"n = 3",
       "The expression \"n = 3\" has \"=\" where an operator or the end is expected, at character 3."},
      {"1.5",
       "The expression \"1.5\" has the number 1.5; whole decimal numbers up to 9223372036854775807 are "
       "allowed, at character 1."},
      {"0x10",
       "The expression \"0x10\" has the number 0x10; whole decimal numbers up to 9223372036854775807 are "
       "allowed, at character 1."},
      {"9223372036854775808",
       "The expression \"9223372036854775808\" has the number 9223372036854775808; whole decimal numbers up "
       "to 9223372036854775807 are allowed, at character 1."},
      {"mode",
       "The expression \"mode\" uses mode as a number, but it is one of the words same, valid; compare it by "
       "== or != with one of them, in single quotes, at character 1."},
      {"mode == 'full'",
       "The expression \"mode == 'full'\" compares mode with 'full', but its words are same, valid, at "
       "character 9."},
      {"n == 'same'",
       "The expression \"n == 'same'\" compares the word 'same' with something that has no words; compare "
       "it with a parameter that has them, at character 6."},
      {"'same'",
       "The expression \"'same'\" has the word 'same' where a number is expected; a word is compared by == "
       "or != with a parameter that has words, at character 1."},
      {"1 < n < 3",
       "The expression \"1 < n < 3\" compares the outcome of a comparison by \"<\"; write both comparisons "
       "with && between them, at character 7."},
      {"mode == 'same",
       "The expression \"mode == 'same\" has a word without its closing quote, at character 9."},
      {"system(n)",
       "The expression \"system(n)\" calls system; the functions are min, max and ceil_div, at character 1."},
      {"min(n)", "The expression \"min(n)\" gives min 1 argument; it takes two or more, at character 6."},
      {"ceil_div(n, 2, 3)",
       "The expression \"ceil_div(n, 2, 3)\" gives ceil_div 3 arguments; it takes two, at character 17."},
      {"min(n, 2",
       "The expression \"min(n, 2\" ends where \")\" is expected to close the arguments of a function, at "
       "character 9."},
      {"n ? 1",
       "The expression \"n ? 1\" ends where \":\" is expected after the first value of ?, at character 6."},
      {"n & 1",
       "The expression \"n & 1\" has \"&\" where an operator or the end is expected, at character 3."},
      {"n; n",
       "The expression \"n; n\" has \";\" where an operator or the end is expected, at character 2."}};
  for (const auto& [text, sentence] : all) EXPECT_EQ(complaint(text), sentence);
}

TEST(IntegerExpression, DepthAndLengthAreBounded) {
  const auto repeated = [](const std::string& part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
  };
  EXPECT_EQ(complaint(repeated("(", 40) + "1" + repeated(")", 40)), "");
  EXPECT_THAT(complaint(repeated("(", 400) + "1" + repeated(")", 400)), HasSubstr("nested too deeply"));
  EXPECT_THAT(complaint(repeated("-", 400) + "1"), HasSubstr("nested too deeply"));
  EXPECT_THAT(complaint(repeated("n ? 1 : ", 120) + "1"), HasSubstr("nested too deeply"));
  EXPECT_EQ(complaint("1" + repeated("+1", 499)), "");
  EXPECT_EQ(complaint("1" + repeated("+1", 500)),
            "An expression of 1001 characters is too long; at most 1000 are allowed.");
}

// Random tokens: each text is refused with a sentence, or has a value or a sentence; nothing else happens.
TEST(IntegerExpression, AnyTextIsAnswered) {
  const char* const tokens[] = {"n",  "mode", "BLOCK", "'same'",   "'x'", "1", "0",  "9223372036854775807",
                                "+",  "-",    "*",     "/",        "%",   "<", "<=", "==",
                                "!=", "&&",   "||",    "!",        "?",   ":", "(",  ")",
                                ",",  "min",  "max",   "ceil_div", " ",   "$", "\"", "1e9",
                                "_"};
  const std::uint64_t rounds = fuzz_rounds(20000);
  Random random(3);
  std::uint64_t parsed = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::string text;
    for (std::uint64_t left = random.below(12); left > 0; --left)
      text += tokens[random.below(std::size(tokens))];
    try {
      const IntegerExpression expression = IntegerExpression::parse(text, names);
      static_cast<void>(
          expression.evaluate([](std::size_t name) { return static_cast<std::int64_t>(name); }));
      ++parsed;
    } catch (const UsageError&) {
    }
  }
  EXPECT_GT(parsed, rounds / 100) << "some texts are expressions";
}

}  // namespace
}  // namespace tunesmith
