// SPDX-License-Identifier: Apache-2.0
#include "generator/problem_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/error.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

TEST(ProblemList, ALineIsAProblemPerhapsWithAnOpAndAWeight) {
  const auto plain = parse_problem_line("  height=3 width=5  # small");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->op, "");
  EXPECT_EQ(plain->weight, 1);
  EXPECT_EQ(plain->problem.text(), "height=3 width=5");
  const auto full = parse_problem_line("conv2d weight=52.5 height=3 width=5\r");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->op, "conv2d");
  EXPECT_EQ(full->weight, 52.5);
  EXPECT_EQ(full->problem.text(), "height=3 width=5");
  for (const char* nothing : {"", "   ", "# height=3", "\t# conv2d"})
    EXPECT_FALSE(parse_problem_line(nothing));
}

TEST(ProblemList, WhatIsWrittenIsRead) {
  for (const double weight : {0.0, 0.25, 12.0, 1234567.0}) {
    const ListedProblem written{.op = "elementwise",
                                .weight = weight,
                                .problem = {{"function", "a # \"b\""}, {"shape", std::int64_t{5}}}};
    const auto read = parse_problem_line(problem_line(written) + " # end");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->op, written.op);
    EXPECT_EQ(read->weight, weight);
    EXPECT_EQ(read->problem, written.problem);
  }
  EXPECT_GT(parse_problem_line(problem_line({.op = "conv2d", .weight = 1e-9, .problem = {}}))->weight, 0);
}

TEST(ProblemList, AWeightIsNotNegative) {
  for (const char* weight : {"-0.5", "-3", "much", "1e999", "nan", "3us"}) {
    try {
      parse_problem_line("conv2d height=3 weight=" + std::string(weight));
      ADD_FAILURE() << weight;
    } catch (const UsageError& error) {
      EXPECT_THAT(std::string(error.what()), HasSubstr("The weight is " + std::string(weight) +
                                                       "; give 0 for a problem that is tuned already"))
          << error.what();
    }
  }
  EXPECT_THROW(parse_problem_line("conv2d transpose height=3"), UsageError);
}

}  // namespace
}  // namespace tunesmith
