// SPDX-License-Identifier: Apache-2.0
#include "cli/checked_variants.h"

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

TunedProblem checked(std::int64_t right, const std::vector<Verdict>& failed) {
  TunedProblem problem;
  problem.verdicts[Verdict::ok] = right;
  for (const Verdict verdict : failed) {
    ++problem.verdicts[verdict];
    problem.failed.push_back({"tiled", "BLOCK=64", verdict, "It failed."});
  }
  return problem;
}

TEST(CheckedVariants, AreRightOrWrong) {
  const CheckedVariants right({checked(7, {Verdict::resource_limit}), checked(1, {})});
  EXPECT_EQ(right.text(), "8 variants are right on 2 problems and their companions, 0 are wrong.");
  EXPECT_TRUE(right.all_are_right());
  const CheckedVariants wrong({checked(1, {Verdict::wrong_result})});
  EXPECT_EQ(wrong.text(), "1 variant is right on 1 problem and their companions, 1 is wrong.");
  EXPECT_FALSE(wrong.all_are_right());
  EXPECT_FALSE(CheckedVariants({checked(0, {Verdict::resource_limit})}).all_are_right());
}

TEST(CheckedVariants, WhatALimitOfTimeEndedIsNeitherRightNorWrong) {
  const CheckedVariants one({checked(8, {Verdict::timeout})});
  EXPECT_EQ(
      one.text(),
      "8 variants are right on 1 problem and their companions, 0 are wrong, 1 was not decided within the "
      "limit of time.");
  EXPECT_FALSE(one.all_are_right());
  EXPECT_EQ(
      CheckedVariants({checked(3, {Verdict::timeout, Verdict::crash, Verdict::timeout})}).text(),
      "3 variants are right on 1 problem and their companions, 1 is wrong, 2 were not decided within the "
      "limit of time.");
}

}  // namespace
}  // namespace tunesmith
