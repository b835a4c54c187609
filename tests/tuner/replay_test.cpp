// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kernel_file/find_op.h"
#include "tuner/search/ablation.h"

namespace tunesmith {
namespace {

// 4 x 3 configs of one template, two of them missing and one failed, and 2 of another template.
Recording small() {
  Recording recording;
  for (std::int64_t a = 1; a <= 4; ++a) {
    for (const char* b : {"flat", "padded", "none"}) {
      if (a == 2 && std::string(b) == "flat") continue;
      RecordedRow row;
      row.template_name = "tiled";
      row.config = {{"A", a}, {"B", std::string(b)}};
      row.median_us = 10.0 + static_cast<double>(a * a) + (std::string(b) == "none" ? 0.5 : 0);
      row.compile_ms = 100;
      row.run_ms = 400;
      if (a == 1 && std::string(b) == "padded") row.verdict = Verdict::compile_error;
      recording.rows.push_back(row);
    }
  }
  for (const std::int64_t n : {32, 64}) {
    RecordedRow row;
    row.template_name = "base";
    row.config = {{"N", n}};
    row.median_us = static_cast<double>(n);
    row.compile_ms = 1000;
    recording.rows.push_back(row);
  }
  return recording;
}

TEST(RecordedSpace, HasExactlyTheRecordedConfigs) {
  const RecordedSpace space(small());
  EXPECT_EQ(space.size(), 13U);
  EXPECT_EQ(space.space().count(), 13);
  EXPECT_EQ(space.best_us(), 11);
  EXPECT_EQ(space.templates(), (std::vector<std::string>{"tiled", "base"}));
  const Space& tiled = space.space().parts.front().space;
  EXPECT_EQ(tiled.all().size(), 11U);
  EXPECT_FALSE(tiled.find({{"A", std::int64_t{2}}, {"B", std::string("flat")}}));
  const auto failed = tiled.find({{"A", std::int64_t{1}}, {"B", std::string("padded")}});
  ASSERT_TRUE(failed);
  EXPECT_EQ(space.row({0, *failed}).verdict, Verdict::compile_error);
}

// A file may be of many versions: an axis was added later.
TEST(RecordedSpace, LeavesOutRowsWithOtherAxesThanMost) {
  Recording recording = small();
  recording.rows.front().config.set("C", std::int64_t{1});
  const RecordedSpace space(recording);
  EXPECT_EQ(space.size(), 12U);
  EXPECT_EQ(space.left_out(), 1U);
}

TEST(Replay, FindsTheOptimumAtTheEndAndCountsWhatFailed) {
  const RecordedSpace space(small());
  for (const Strategy& strategy : strategies()) {
    Replay how;
    how.strategy = strategy.name;
    how.lag = 2;
    const std::vector<ReplayStep> steps = replay(space, how);
    ASSERT_EQ(steps.size(), 13U) << strategy.name;
    EXPECT_EQ(steps.back().quality, 1) << strategy.name;
    EXPECT_NEAR(steps.back().seconds, 11 * 0.5 + 2 * 1, 1e-9) << strategy.name;
    for (std::size_t n = 1; n < steps.size(); ++n) EXPECT_GE(steps[n].quality, steps[n - 1].quality);
  }
}

TEST(Replay, EndsWithItsBudget) {
  const RecordedSpace space(small());
  Replay how;
  how.budget = Budget::parse("5");
  EXPECT_EQ(replay(space, how).size(), 5U);
  how.strategy = "exhaustive";
  how.budget = Budget::parse("1s");
  EXPECT_EQ(replay(space, how).size(), 2U);
}

// Each rank has its share of the 13 configs, so three are done long before one alone would be.
TEST(Replay, RanksShareTheirVerdicts) {
  const RecordedSpace space(small());
  Replay how;
  how.strategy = "genetic";
  how.ranks = 3;
  const std::vector<ReplayStep> steps = replay(space, how);
  EXPECT_EQ(steps.back().quality, 1);
  EXPECT_LT(steps.size(), 10U);
  EXPECT_GE(steps.size(), 5U);
}

TEST(Replay, EndsWhereLittleIsExpected) {
  Recording recording;  // a valley
  for (std::int64_t a = 1; a <= 30; ++a) {
    for (std::int64_t b = 1; b <= 30; ++b) {
      RecordedRow row;
      row.template_name = "tiled";
      row.config = {{"A", a}, {"B", b}};
      row.median_us = 100 + static_cast<double>((a - 11) * (a - 11) + (b - 17) * (b - 17));
      recording.rows.push_back(row);
    }
  }
  const RecordedSpace space(recording);
  Replay how;
  how.budget.count = 300;
  EXPECT_EQ(replay(space, how).size(), 300U);
  how.until_gain = 0.005;
  const std::vector<ReplayStep> steps = replay(space, how);
  EXPECT_LT(steps.size(), 150U);
  EXPECT_GT(steps.back().quality, 0.98);
  how.strategy = "random";  // it has no expectations
  EXPECT_EQ(replay(space, how).size(), 300U);
}

TEST(Replay, QualityIsTheMeanWithItsStandardErrorAndTheFifthPercentile) {
  std::vector<double> values;
  for (int n = 1; n <= 100; ++n) values.push_back(n / 100.0);
  EXPECT_NEAR(quality_of(values).mean, 0.505, 1e-9);
  EXPECT_NEAR(quality_of(values).error, 0.0290115, 1e-7);
  EXPECT_TRUE(std::isnan(quality_of({1.0}).error));  // one search says nothing of others
  EXPECT_NEAR(quality_of(values).low, 0.06, 1e-9);
}

// Configs that break only the first heuristic take twice as long, those that break the last half as long.
TEST(Ablation, FindsWhatAHeuristicIsWorth) {
  const Op& op = find_op("reduce");
  const Problem problem = complete_problem(op, Problem::parse("outer=64 length=64"));
  const Space space = find_template(op, "rows").space(problem);
  const std::size_t last = space.worth().size() - 1;
  Recording recording;
  recording.op = op.name;
  recording.problem = problem.text();
  for (const Config& config : space.sample(4000, 1)) {
    const std::size_t broken = space.broken_worth(config);
    if (broken > 1) continue;
    double us = 10 + static_cast<double>(recording.rows.size() % 7);
    if (!space.worth().front().holds(config)) us *= 2;
    if (!space.worth()[last].holds(config)) us /= 2;
    RecordedRow& row = recording.rows.emplace_back();
    row.template_name = "rows";
    row.config = config.values();
    row.median_us = us;
    row.compile_ms = broken == 0 ? 100 : 300;
  }
  const std::array<std::int64_t, 2> marks = {5, 20};
  const std::vector<AblatedRule> rules = ablation(std::span(&recording, 1), 3, 1, marks);
  ASSERT_EQ(rules.size(), space.worth().size());
  const AblatedRule& good = rules.front();
  const AblatedRule& bad = rules.back();
  EXPECT_EQ(bad.why, space.worth()[last].why);
  EXPECT_EQ(bad.number, last + 1);
  EXPECT_EQ(good.configs, std::ssize(recording.rows));
  EXPECT_GT(good.alone, 10);
  EXPECT_EQ(good.alone, good.breaking);
  EXPECT_NEAR(good.slower.mean, 2, 0.2);
  EXPECT_NEAR(bad.slower.mean, 0.5, 0.05);
  EXPECT_NEAR(bad.least_slower, bad.slower.mean, 1e-9);
  EXPECT_NEAR(bad.compile.mean, 3, 1e-9);
  EXPECT_EQ(bad.best_5_breaking, bad.best_5);
  EXPECT_EQ(good.best_5_breaking, 0);
  ASSERT_EQ(bad.change.size(), 2U);
  EXPECT_GE(bad.change.front().mean, 0);
}

}  // namespace
}  // namespace tunesmith
