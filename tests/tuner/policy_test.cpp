// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/error.h"

namespace tunesmith {
namespace {

using testing::ElementsAre;

Contender contender(std::size_t index, double median_us, std::int64_t alignment = 4) {
  Contender made;
  made.index = index;
  made.median_us = median_us;
  made.alignment_bytes = alignment;
  return made;
}

TEST(Summary, IsMedianMinimumAndQuartiles) {
  const Summary summary = summarize({5, 1, 2, 4, 3});
  EXPECT_DOUBLE_EQ(summary.median_us, 3);
  EXPECT_DOUBLE_EQ(summary.min_us, 1);
  EXPECT_DOUBLE_EQ(summary.spread, 2.0 / 3);
  EXPECT_DOUBLE_EQ(summarize({1, 2}).median_us, 1.5);
  EXPECT_DOUBLE_EQ(summarize({7}).spread, 0);
}

TEST(SearchShare, GoesByWeightAndIsNeverNothing) {
  EXPECT_DOUBLE_EQ(search_share_s(100, 3, 4), 45);
  EXPECT_DOUBLE_EQ(search_share_s(55, 1, 1), 33);
  EXPECT_DOUBLE_EQ(search_share_s(100, 1, 1e6), 0.5);
  EXPECT_DOUBLE_EQ(search_share_s(-3, 1, 1), 0.5);
}

TEST(Repeats, FillASample) {
  EXPECT_EQ(repeats_for(30, 300), 10);
  EXPECT_EQ(repeats_for(2, 300), 50);
  EXPECT_EQ(repeats_for(2, 300, 1000), 150);
  EXPECT_EQ(repeats_for(2000, 300), 1);
  EXPECT_EQ(repeats_for(-1, 300), 50);  // a launch shorter than its events
}

TEST(Finalists, AreTheFastestOfEachAlignment) {
  const std::vector<Contender> all = {contender(0, 20),       contender(1, 10, 16), contender(2, 10.9, 16),
                                      contender(3, 11.2, 16), contender(4, 15),     contender(5, 16)};
  EXPECT_THAT(choose_finalists(all, 4, Policy{}), ElementsAre(1, 2, 4, 5));
  Policy few;
  few.finalists = 1;
  EXPECT_THAT(choose_finalists(all, 4, few), ElementsAre(1, 4));
}

TEST(Finalists, LeaveOutWhatTwoStreamsCannotRun) {
  std::vector<Contender> all = {contender(0, 20), contender(1, 10)};
  all[1].may_win = false;
  EXPECT_THAT(choose_finalists(all, 4, Policy{}), ElementsAre(0));
}

TEST(ObjectiveOf, KnowsThreeWords) {
  for (const Objective each : {Objective::time, Objective::energy, Objective::edp})
    EXPECT_EQ(objective_of(to_text(each)), each);
  EXPECT_THROW(objective_of("power"), UsageError);
}

TEST(Budget, IsATimeOrANumber) {
  EXPECT_EQ(Budget::parse("60s").seconds, 60);
  EXPECT_EQ(Budget::parse("1.5min").seconds, 90);
  EXPECT_EQ(Budget::parse("1h").seconds, 3600);
  EXPECT_EQ(Budget::parse("500").count, 500);
  EXPECT_FALSE(Budget::parse("500").seconds);
  const Budget all = Budget::parse("all");
  EXPECT_FALSE(all.seconds || all.count);
  EXPECT_EQ(
      budget_text("6") + ", " + budget_text("1") + ", " + budget_text("60s") + ", " + budget_text("all"),
      "6 variants, 1 variant, 60s, all variants");
  const Budget both = Budget::parse("500,1min");
  EXPECT_EQ(both.count, 500);
  EXPECT_EQ(both.seconds, 60);
  EXPECT_EQ(budget_text("500,1min") + ", " + budget_text("1min,1"),
            "1min or 500 variants, 1min or 1 variant");
  for (const char* bad : {"60s,", ",500", "60s,5m", "5,6", "all,5", "60s,500,1", "", "0", "-5", "1.5", "s",
                          "10 parsecs", "1e99", "nan"}) {
    EXPECT_THROW(Budget::parse(bad), UsageError) << bad;
  }
}

TEST(Until, IsAPartOfTheBestTime) {
  EXPECT_DOUBLE_EQ(least_gain_of("0.5%"), 0.005);
  EXPECT_DOUBLE_EQ(least_gain_of("100%"), 1);
  for (const char* bad : {"", "0.5", "0%", "-1%", "101%", "nan%", "x%", "0.5 %"})
    EXPECT_THROW(least_gain_of(bad), UsageError) << bad;
}

TEST(MeasureLimit, FollowsFromTheBaseAndIsGenerousBeforeThatIsKnown) {
  const MeasureLimits limits = limits_for(DeviceKind::cuda);
  EXPECT_EQ(measure_limit_s(limits, 0.02, 1e9), 2);   // a hang costs no more
  EXPECT_EQ(measure_limit_s(limits, 30, 1e9), 300);   // launches of seconds do not time themselves out
  EXPECT_EQ(measure_limit_s(limits, 0, 1e6), 60.05);  // the base itself
  EXPECT_EQ(measure_limit_s(limits, 0, 4e10), 2060);  // 4096 x 4096 with a mask of 31 x 31
  EXPECT_EQ(measure_limit_s(limits_for(DeviceKind::host), 0.02, 1e9), 20);
  EXPECT_EQ(measure_limit_s(limits_for(DeviceKind::host), 0, 1e30), 86400);
}

}  // namespace
}  // namespace tunesmith
