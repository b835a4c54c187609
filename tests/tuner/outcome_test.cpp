// SPDX-License-Identifier: Apache-2.0
// Tests the sentences and the rows that a run makes of its findings, with scripted findings and decisions.
#include "tuner/run/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/tuner/trials.h"

namespace tunesmith {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class OutcomeTest : public testing::Test {
 protected:
  OutcomeTest() {
    space_.base = point(0);
    template_.name = "tiled";
  }

  // A trial; 0 us: it failed.
  TrialId add(double median_us, std::int64_t alignment_bytes = 4) {
    const auto trial_id = static_cast<TrialId>(findings_.trials.size());
    Trial& trial = findings_.trials.emplace_back();
    trial.variant = variant_of(point(trial_id));
    trial.variant.tmpl = &template_;
    trial.variant.is_base = trial_id == 0;
    trial.variant.alignment_bytes = alignment_bytes;
    trial.median_us = median_us;
    trial.measurement = 100 + trial_id;
    if (median_us <= 0) trial.reply = failed(Verdict::wrong_result, "It is wrong.");
    return trial_id;
  }
  std::vector<TrialId> provisional(bool in_parts = false) const {
    return provisional_winners(findings_, space_, in_parts, 4);
  }

  Template template_;
  Findings findings_;
  SearchSpace space_;
};

TEST_F(OutcomeTest, AnInterruptedRunNamesTheFastestAndTheFastestOfAnyAlignment) {
  add(10);
  add(7, 16);
  add(8);
  add(0);
  EXPECT_THAT(provisional(), ElementsAre(1, 2));
  findings_.trial(2).median_us = 6;
  EXPECT_THAT(provisional(), ElementsAre(2)) << "one that is both is named once";
}

TEST_F(OutcomeTest, NoneIsNamedBeforeTheBaseAndAllThatIsPromisingHaveVerdicts) {
  add(10);
  add(7);
  space_.promising = {point(1), point(2)};
  EXPECT_THAT(provisional(), IsEmpty());
  add(0);
  EXPECT_THAT(provisional(), ElementsAre(1)) << "a verdict that is not ok is one too";
  findings_.trial(0).measurement = 0;  // on the device when the run ended
  EXPECT_THAT(provisional(), IsEmpty());
}

TEST_F(OutcomeTest, APartNeedNotHaveTriedWhatIsPromisingElsewhere) {
  add(10);
  add(7);
  space_.promising = {point(50)};
  EXPECT_THAT(provisional(), IsEmpty());
  EXPECT_THAT(provisional(true), ElementsAre(1));
}

TEST_F(OutcomeTest, WhatIsNotWrittenOrMayNotRunTwiceAtOnceIsNotNamed) {
  add(10);
  findings_.trial(add(7)).measurement = 0;
  ConstantCopy copy;
  findings_.trial(add(6)).variant.work.steps = {copy};
  EXPECT_THAT(provisional(), ElementsAre(0));
}

TEST_F(OutcomeTest, AWinnerSaysWhomItRanAgainst) {
  add(10);
  add(7);
  add(7.1);
  Decision decision;
  decision.winners = {{1, 16, false}, {2, 4, false}};
  decision.finalists = {{1, 1, {1, 1, 1}, true},
                        {1, 2, {1.0, 1.01, 1.02}, true},
                        {1, 0, {1.3, 1.4, std::numeric_limits<double>::infinity()}, false},
                        {2, 2, {1, 1, 1}, true}};
  const TunedWinner first = tuned_winner(findings_, decision, decision.winners[0], 4);
  EXPECT_FALSE(first.any_alignment);
  EXPECT_EQ(first.finalists, 3);
  EXPECT_EQ(first.tied, 2);
  EXPECT_EQ(first.runner_up, "tiled N=2");
  EXPECT_EQ(first.runner_up_ratio.middle, 1.01);
  const TunedWinner second = tuned_winner(findings_, decision, decision.winners[1], 4);
  EXPECT_TRUE(second.any_alignment);
  EXPECT_EQ(second.finalists, 1);
  EXPECT_EQ(second.runner_up, "");
  std::vector<std::string> beside;
  for (const TunedFinalist& each : first_finalists(findings_, decision)) beside.push_back(each.config);
  EXPECT_THAT(beside, ElementsAre("N=1", "N=2", "N=0"));

  const auto rows = finalist_rows(findings_, decision);
  ASSERT_EQ(rows.at(1).size(), 3u);
  EXPECT_EQ(rows.at(1)[1].measurement_id, 102);
  EXPECT_EQ(rows.at(1)[1].ratio_high, 1.02);
  EXPECT_FALSE(rows.at(1)[2].ratio_low) << "an interval without an end is none";
  EXPECT_EQ(rows.at(2).size(), 1u);
}

TEST_F(OutcomeTest, TheBasesFaultIsSaidAndWhatFailedIsListed) {
  add(0);
  add(7);
  findings_.verdicts = {{Verdict::ok, 1}, {Verdict::wrong_result, 1}};
  TunedProblem result;
  add_counts(result, findings_);
  EXPECT_EQ(result.base_fault, "wrong_result: It is wrong.");
  EXPECT_EQ(result.verdicts, findings_.verdicts);
  const std::vector<FailedVariant> failed = failed_variants(findings_);
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].config, "N=0");
}

}  // namespace
}  // namespace tunesmith
