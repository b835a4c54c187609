// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace tunesmith {
namespace {

using testing::HasSubstr;

ProgressState half() {
  ProgressState state;
  state.stage = "search";
  state.done = 250;
  state.total = 500;
  state.measured = 250;
  state.elapsed_s = 2.5;
  state.failed = 3;
  state.best_us = 12.5;
  state.base_us = 50;
  return state;
}

TEST(Progress, TellsWhereItStands) {
  EXPECT_EQ(plain_line(half()), "search 250/500 | 100/s | best 12.50 us, 4.00x base | 3 failed | 3 s left");
  EXPECT_EQ(bar_line(half(), 200).substr(0, 22), "[##########..........]");
}

TEST(Progress, NamesColdCachesAndChainedLaunches) {
  ProgressState state = half();
  state.conditions.caches = Caches::cold;
  EXPECT_THAT(plain_line(state), HasSubstr("| best 12.50 us cold, 4.00x base |"));
  state.conditions.caches = Caches::warm;
  state.conditions.launches = Launches::chained;
  EXPECT_THAT(plain_line(state), HasSubstr("| best 12.50 us chained, 4.00x base |"));
}

TEST(Progress, TellsHowWellTheFinalsKnowTheBest) {
  ProgressState state = half();
  state.stage = "finals: round";
  state.done = 12;
  state.total = 60;
  state.measured = 0;
  state.running = 5;
  state.best_within = 0.0042;
  state.failed = 0;
  EXPECT_EQ(plain_line(state), "finals: round 12/60 | 5 running | best 12.50 us within 0.4 %, 4.00x base");
}

TEST(Progress, FollowsTheTimeWhereThatEndsFirst) {
  ProgressState state = half();
  state.total = 100000;
  state.budget_s = 10;
  EXPECT_EQ(bar_line(state, 200).substr(0, 22), "[#####...............]");
  EXPECT_THAT(plain_line(state), HasSubstr("8 s left"));
}

TEST(Progress, BarIsNoWiderThanTheTerminal) {
  EXPECT_EQ(bar_line(half(), 40).size(), 39u);
  EXPECT_EQ(plain_line({}), " 0");
}

TEST(Progress, WritesPlainLinesWhereThereIsNoTerminal) {
  std::ostringstream out;
  Progress progress(out, false);
  progress.show(half());
  progress.show(half());  // too soon
  progress.done();
  EXPECT_EQ(out.str(), plain_line(half()) + "\n");
}

TEST(Progress, OfAPartTellsWhereTheWholeStands) {
  std::ostringstream out;
  Progress progress(out, false);
  EXPECT_FALSE(progress.in_parts());
  progress.begin_part({.name = "reduce (3 of 7)", .elapsed_s = 1000, .part_s = 500, .whole_s = 3600});
  progress.named("cuda:1").show(half());
  EXPECT_EQ(
      out.str().rfind("cuda:1: reduce (3 of 7) search 250 | best 12.50 us, 4.00x base | 3 failed | ", 0), 0u)
      << out.str();
  EXPECT_THAT(out.str(), HasSubstr("43 min 20 s left"));
}

TEST(Times, HaveUnits) {
  EXPECT_EQ(time_text(5.237), "5.24 us");
  EXPECT_EQ(time_text(523.7), "523.7 us");
  EXPECT_EQ(time_text(52370), "52.37 ms");
  EXPECT_EQ(time_text(5.237e6), "5.24 s");
  EXPECT_EQ(ratio_text(4.1), "4.10x");
  EXPECT_EQ(ratio_text(41), "41.0x");
}

TEST(Progress, AReasonIsOneLine) {
  EXPECT_EQ(one_line("y[3] is 4, expected 5."), "y[3] is 4, expected 5.");
  EXPECT_EQ(
      one_line("It does not compile: block.cu: In function:\nblock.cu:5:3: error: no such name\n  5 | x\n"),
      "It does not compile: block.cu:5:3: error: no such name …");
  EXPECT_EQ(one_line("It does not compile: block.cu:5: error\nmore"),
            "It does not compile: block.cu:5: error …");
  EXPECT_EQ(one_line("One.\nTwo."), "One. …");
}

TEST(Progress, TheFirstOfAKindIsSaidOnce) {
  std::ostringstream out;
  Progress progress(out, false);
  Progress other = progress.named("cuda:1");
  progress.say_once("pairs crash", "first");
  other.say_once("pairs crash", "second");
  other.say_once("pairs timeout", "third");
  EXPECT_EQ(out.str(), "first\ncuda:1: third\n");
}

}  // namespace
}  // namespace tunesmith
