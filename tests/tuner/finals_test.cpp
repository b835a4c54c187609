// SPDX-License-Identifier: Apache-2.0
// Tests who takes part in the finals, the questions to the device, and which winner replaces which, with
// scripted verdicts.
#include "tuner/run/finals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "generator/error.h"
#include "tests/tuner/trials.h"

namespace tunesmith {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FinalsTest : public testing::Test {
 protected:
  FinalsTest() {
    policy_.final_rounds = 3;
    policy_.final_samples = 7;
  }

  // A trial of the search; 0 us: it failed.
  TrialId add(double median_us, std::int64_t alignment_bytes = 4) {
    const auto trial_id = static_cast<TrialId>(findings_.trials.size());
    Trial& trial = findings_.trials.emplace_back();
    trial.variant = variant_of(point(trial_id));
    trial.variant.is_base = trial_id == 0;
    trial.variant.alignment_bytes = alignment_bytes;
    trial.median_us = median_us;
    trial.checked = median_us > 0;
    if (median_us > 0) trial.binary = "binary";
    return trial_id;
  }
  // A winner in the database.
  void won_before(const std::string& hash, std::int64_t alignment_bytes = 4, double median_us = 10,
                  const std::string& caches = "warm") {
    WinnerRow row;
    row.variant.source_hash = hash;
    row.variant.config = "N=" + hash;
    row.alignment_bytes = alignment_bytes;
    row.median_us = median_us;
    row.caches = caches;
    row.launches = "apart";
    row.objective = "time";
    previous_.push_back(row);
  }
  Finals finals() {
    return Finals({.policy = policy_,
                   .element_bytes = 4,
                   .previous = previous_,
                   .built_in = built_in_,
                   .conditions = {.objective = objective_},
                   .energy = energy_,
                   .now_s = [this] { return now_s_; },
                   .render = [this](const WinnerRow& row) -> std::optional<RenderedVariant> {
                     if (illegal_.contains(row.variant.source_hash)) return std::nullopt;
                     RenderedVariant variant = variant_of(point(std::stoll(row.variant.source_hash)));
                     if (changed_.contains(row.variant.source_hash)) variant.source.hash = "new";
                     return variant;
                   },
                   .record = written_.record()},
                  findings_);
  }
  // Compiles missing binaries and answers all questions; a variant without a time here keeps its own.
  void answer_all(Finals& finals) {
    for (const TrialId trial_id : finals.uncompiled()) {
      CompileResult result;
      result.ticket = trial_id;
      result.binary = "binary";
      finals.compiled(std::move(result));
    }
    while (const auto question = finals.next()) {
      questions_.push_back(*question);
      if (question->other_inputs ? wrong_later_.contains(question->trial_id)
                                 : wrong_.contains(question->trial_id)) {
        finals.answered(failed(Verdict::wrong_result, "y[3] is 1."));
        continue;
      }
      const auto now = times_us_.find(question->trial_id);
      const double us = now != times_us_.end() ? now->second : findings_.trial(question->trial_id).median_us;
      MeasureReply reply = ok(std::vector<double>(static_cast<std::size_t>(question->samples), us));
      reply.clock_mhz = clock_mhz_;
      if (std::exchange(clock_mhz_, 1980) < 1980) reply.throttled = "power cap";
      if (question->energy) reply.energy_uj = energies_uj_[question->trial_id];
      finals.answered(std::move(reply));
      now_s_ += load_s_;
    }
  }

  Policy policy_;
  Findings findings_;
  std::vector<WinnerRow> previous_;
  std::vector<std::string> built_in_;
  std::set<std::string> illegal_, changed_;  // hashes of winners whose space or template changed
  std::map<TrialId, double> times_us_;       // in the finals
  std::map<TrialId, double> energies_uj_;    // 0: the device does not measure it
  std::set<TrialId> wrong_, wrong_later_;
  Objective objective_ = Objective::time;
  bool energy_ = false;
  double now_s_ = 0, load_s_ = 0.005;
  int clock_mhz_ = 1980;  // in the next question; 1980 in those after it
  std::vector<Finals::Question> questions_;
  Written written_;
};

using Winner = Decision::Winner;
using Confirmation = Decision::Confirmation;

TEST_F(FinalsTest, TheBaseTakesPartHoweverSlowAndThenTheFastest) {
  add(100);
  add(12);
  add(11.5);
  add(20);  // not within 10 % of the best
  add(0);   // failed
  EXPECT_THAT(finals().finalists(), ElementsAre(0, 2, 1));
}

TEST_F(FinalsTest, TheLowestClockOfAllRoundsIsRecorded) {
  add(100);
  add(10);
  clock_mhz_ = 1425;
  Finals all = finals();
  answer_all(all);
  ASSERT_EQ(written_.rows.size(), 2U);
  EXPECT_EQ(written_.rows[0].reply.clock_mhz, 1425);
  EXPECT_EQ(written_.rows[0].reply.throttled, "power cap");
  EXPECT_EQ(written_.rows[1].reply.clock_mhz, 1980);
  EXPECT_EQ(written_.rows[1].reply.throttled, "");
}

TEST_F(FinalsTest, WithoutABaseTheOthersTakePart) {
  add(0);
  add(12);
  Finals all = finals();
  EXPECT_THAT(all.finalists(), ElementsAre(1));
  answer_all(all);
  EXPECT_FALSE(all.decide().base);
  EXPECT_THAT(all.decide().winners, ElementsAre(Winner{1, 4, false}));
}

TEST_F(FinalsTest, AnEarlierWinnerTakesPartHoweverSlow) {
  add(100);
  add(10);
  add(50);
  won_before("2");
  EXPECT_THAT(finals().finalists(), ElementsAre(0, 1, 2));
}

TEST_F(FinalsTest, WhatIsBuiltInTakesPartHoweverSlowButNotWhereItFailed) {
  add(100);
  add(10);
  add(20);
  add(0);
  built_in_ = {findings_.trial(2).variant.source.hash, findings_.trial(3).variant.source.hash};
  times_us_ = {{1, 10}, {2, 9}};
  Finals all = finals();
  EXPECT_THAT(all.finalists(), ElementsAre(0, 1, 2));
  answer_all(all);
  EXPECT_EQ(all.decide().winners.front().trial_id, 2) << "the search was mistaken";
}

TEST_F(FinalsTest, AnEarlierWinnerThatThisRunDidNotSearchTakesPart) {
  add(100);
  won_before("40", 4, 9);
  Finals all = finals();
  EXPECT_THAT(all.finalists(), ElementsAre(0, 1));
  EXPECT_EQ(findings_.trials.size(), 2U);
  EXPECT_EQ(findings_.trial(1).median_us, 9);
  EXPECT_THAT(all.uncompiled(), ElementsAre(1));
  answer_all(all);
  EXPECT_TRUE(questions_[1].check) << "this run has not checked it";
  EXPECT_FALSE(questions_[3].check) << "now it has";
}

TEST_F(FinalsTest, AnEarlierWinnerIsStaleWhereItsSpaceOrTemplateChangedOrItFailedNow) {
  add(100);
  add(0);
  won_before("1");
  won_before("40");
  won_before("41");
  illegal_ = {"40"};
  changed_ = {"41"};
  EXPECT_THAT(finals().finalists(), ElementsAre(0));
  EXPECT_EQ(findings_.trials.size(), 2U);
}

TEST_F(FinalsTest, RoundsTakeTurnsThenWinnersAreCheckedAgainstOtherInputs) {
  add(100);
  add(10);
  add(10.5);
  Finals all = finals();
  answer_all(all);
  EXPECT_THAT(
      questions_,
      ElementsAre(Finals::Question{0, false, 7}, Finals::Question{1, false, 7}, Finals::Question{2, false, 7},
                  Finals::Question{0, false, 7}, Finals::Question{1, false, 7}, Finals::Question{2, false, 7},
                  Finals::Question{0, false, 7}, Finals::Question{1, false, 7}, Finals::Question{2, false, 7},
                  Finals::Question{0, true, 0, true}, Finals::Question{1, true, 0, true}));
  EXPECT_THAT(written_.verdicts(), ElementsAre("0 ok", "1 ok", "2 ok"));
  for (const Written::Row& row : written_.rows) EXPECT_EQ(row.reply.samples_us.size(), 21U);
  EXPECT_EQ(findings_.trial(2).loads_us.size(), 3U);
  EXPECT_EQ(findings_.trial(2).measurement, 102);
  EXPECT_EQ(all.done(), 2);
  EXPECT_EQ(all.total(), 2);
}

// The rounds of slow kernels may take longer than the limit for all finals.
TEST_F(FinalsTest, TheTimeEndsTheRoundsButNotBeforeTheThird) {
  add(100);
  add(10);
  add(10.01);
  policy_.final_rounds = 60;
  load_s_ = policy_.final_seconds;
  Finals slow = finals();
  answer_all(slow);
  EXPECT_EQ(findings_.trial(1).loads_us.size(), 3U);
  load_s_ = policy_.final_seconds / 12;
  Finals faster = finals();
  answer_all(faster);
  EXPECT_GT(findings_.trial(1).loads_us.size(), 3U);
  EXPECT_LT(findings_.trial(1).loads_us.size(), 9U);
}

TEST_F(FinalsTest, OfThoseThatAreTiedTheStoredOneStaysAndAllAreSaid) {
  add(100);
  add(10);
  const TrialId stored = add(10.01);
  const TrialId slower = add(10.4);
  won_before("2");
  findings_.trial(stored).reply.registers = 255;  // by its needs it would lose
  policy_.final_rounds = 60;
  Finals all = finals();
  answer_all(all);
  const Decision decision = all.decide();
  EXPECT_THAT(decision.winners, ElementsAre(Winner{stored, 4, false}));
  ASSERT_EQ(decision.finalists.size(), 4U);
  EXPECT_EQ(decision.finalists[0].trial_id, 1);
  EXPECT_EQ(decision.finalists[1].trial_id, stored);
  EXPECT_NEAR(decision.finalists[0].ratio.middle, 1 / 1.001, 1e-9);
  EXPECT_EQ(decision.finalists[1].ratio, (Interval{1, 1, 1}));
  EXPECT_TRUE(decision.finalists[1].tied);
  EXPECT_EQ(decision.finalists[2].trial_id, slower);
  EXPECT_FALSE(decision.finalists[2].tied);
  for (const Decision::Finalist& each : decision.finalists) EXPECT_EQ(each.winner, stored);
}

TEST_F(FinalsTest, AStoredWinnerGoesWhenTheIntervalSaysThatItIsSlower) {
  add(100);
  add(10);
  add(10.1);
  won_before("2");
  policy_.final_rounds = 60;
  Finals all = finals();
  answer_all(all);
  EXPECT_THAT(all.decide().winners, ElementsAre(Winner{1, 4, false}));
}

TEST_F(FinalsTest, EnergyIsAskedForTheBaseAndThoseThatAreTied) {
  add(100);
  add(10);
  add(10.01);
  add(10.4);
  energy_ = true;
  energies_uj_ = {{0, 900}, {1, 100}, {2, 90}};
  policy_.final_rounds = 60;
  Finals all = finals();
  answer_all(all);
  std::vector<TrialId> asked;
  for (const auto& question : questions_) {
    if (question.energy) asked.push_back(question.trial_id);
  }
  EXPECT_THAT(asked, ElementsAre(0, 1, 2));
  for (const Written::Row& row : written_.rows) {
    EXPECT_EQ(row.reply.energy_uj, energies_uj_[std::stoll(row.hash)]);
    EXPECT_GE(row.reply.samples_us.size(), 21U) << "those of the rounds";
  }
  EXPECT_THAT(all.decide().winners, ElementsAre(Winner{1, 4, false})) << "it is the time that chooses";
}

TEST_F(FinalsTest, TheObjectiveChooses) {
  add(100);
  add(10);
  add(10.4);
  add(10.9);
  energy_ = true;
  energies_uj_ = {{0, 900}, {1, 100}, {2, 95}, {3, 93}};
  const auto chosen = [&](Objective objective) {
    objective_ = objective;
    Finals all = finals();
    answer_all(all);
    return all.decide();
  };
  EXPECT_EQ(chosen(Objective::time).winners.front().trial_id, 1);
  EXPECT_EQ(chosen(Objective::energy).winners.front().trial_id, 3);
  const Decision edp = chosen(Objective::edp);
  EXPECT_EQ(edp.winners.front().trial_id, 2);
  EXPECT_EQ(edp.finalists.front().trial_id, 2);
  EXPECT_NEAR(edp.finalists[1].ratio.middle, 10.0 * 100 / (10.4 * 95), 1e-9);
  EXPECT_FALSE(edp.finalists[1].tied);
}

TEST_F(FinalsTest, WithoutACounterOnlyAnObjectiveThatNeedsItFails) {
  add(100);
  add(10);
  energy_ = true;
  Finals by_time = finals();
  answer_all(by_time);
  EXPECT_EQ(std::count_if(questions_.begin(), questions_.end(), [](const auto& q) { return q.energy; }), 1);
  EXPECT_THAT(by_time.decide().winners, ElementsAre(Winner{1, 4, false}));
  objective_ = Objective::edp;
  Finals by_edp = finals();
  EXPECT_THROW(answer_all(by_edp), UsageError);
}

TEST_F(FinalsTest, AFinalistWithoutABinaryIsOut) {
  add(100);
  const TrialId slow = add(10);
  findings_.trial(slow).binary.clear();
  Finals all = finals();
  EXPECT_THAT(all.uncompiled(), ElementsAre(1));
  CompileResult broken;
  broken.ticket = slow;
  broken.verdict = Verdict::compile_error;
  all.compiled(std::move(broken));
  EXPECT_EQ(all.next()->trial_id, 0);
  EXPECT_THAT(all.finalists(), ElementsAre(0));
}

TEST_F(FinalsTest, OneThatFailsInARoundIsWrittenAndAskedNoMore) {
  add(100);
  add(10);
  add(10.5);
  wrong_ = {1};
  Finals all = finals();
  answer_all(all);
  EXPECT_THAT(written_.verdicts(), ElementsAre("1 wrong_result", "0 ok", "2 ok"));
  EXPECT_EQ(
      std::count_if(questions_.begin(), questions_.end(), [](const auto& q) { return q.trial_id == 1; }), 1);
  EXPECT_THAT(all.decide().winners, ElementsAre(Winner{2, 4, false}));
  EXPECT_EQ(findings_.failed, 1);
  EXPECT_EQ(findings_.trial(1).median_us, 0);
}

TEST_F(FinalsTest, AllOfThemMayFail) {
  add(100);
  add(10);
  wrong_ = {0, 1};
  won_before("50", 16);
  illegal_ = {"50"};
  Finals all = finals();
  answer_all(all);
  EXPECT_THAT(all.decide().winners, IsEmpty());
  EXPECT_THAT(all.decide().dropped, IsEmpty()) << "nothing is in its place";
  EXPECT_FALSE(all.decide().base);
}

TEST_F(FinalsTest, OneThatFailsWithOtherInputsMakesRoomForTheNext) {
  add(100);
  add(10);
  add(10.5);
  wrong_later_ = {1};
  Finals all = finals();
  answer_all(all);
  EXPECT_EQ(written_.rows.back().reply.reason, "With other inputs: y[3] is 1.");
  EXPECT_EQ(questions_.back(), (Finals::Question{2, true, 0, true}));
  EXPECT_THAT(all.decide().winners, ElementsAre(Winner{2, 4, false}));
}

TEST_F(FinalsTest, ABaseThatFailsWithOtherInputsDoesNotCount) {
  add(10);
  add(10.5);
  wrong_later_ = {0};
  Finals all = finals();
  answer_all(all);
  EXPECT_FALSE(all.decide().base);
  EXPECT_THAT(all.decide().winners, ElementsAre(Winner{1, 4, false}));
}

TEST_F(FinalsTest, TheTimesOfTheFinalsDecide) {
  add(100);
  add(10);
  add(10.5);
  times_us_ = {{1, 11}, {2, 10}};
  Finals all = finals();
  answer_all(all);
  EXPECT_THAT(all.decide().winners, ElementsAre(Winner{2, 4, false}));
  EXPECT_TRUE(all.decide().base);
}

TEST_F(FinalsTest, AWinnerThatNeedsAlignmentHasOneBesideItThatDoesNot) {
  add(100);
  add(10, 16);
  add(12, 4);
  Finals all = finals();
  answer_all(all);
  EXPECT_THAT(all.decide().winners, ElementsAre(Winner{1, 16, false}, Winner{2, 4, false}));
}

TEST_F(FinalsTest, AnEarlierWinnerIsConfirmedWithTodaysTimeBeforeItIsReplaced) {
  add(100);
  add(10);
  add(12);
  won_before("2");
  Finals all = finals();
  answer_all(all);
  EXPECT_EQ(questions_.back(), (Finals::Question{2, true, 0, true})) << "it keeps its row";
  EXPECT_THAT(all.decide().confirmed, ElementsAre(Confirmation{2, 4, false}));
  EXPECT_THAT(all.decide().winners, ElementsAre(Winner{1, 4, false}));
  EXPECT_THAT(all.decide().dropped, IsEmpty());
}

TEST_F(FinalsTest, AnEarlierWinnerOfOtherCachesSaysSo) {
  add(100);
  add(10);
  won_before("1", 4, 10, "cold");
  Finals all = finals();
  answer_all(all);
  EXPECT_THAT(all.decide().confirmed, ElementsAre(Confirmation{1, 4, true}));
}

TEST_F(FinalsTest, AStaleWinnerIsReplacedByASlowerOne) {
  add(100);
  add(10);
  won_before("40", 4, 1);
  changed_ = {"40"};
  Finals all = finals();
  answer_all(all);
  EXPECT_THAT(all.decide().winners, ElementsAre(Winner{1, 4, true}));
  EXPECT_THAT(all.decide().dropped, IsEmpty());
}

TEST_F(FinalsTest, AStaleWinnerWhoseAlignmentNobodyHasIsDropped) {
  add(100);
  add(10, 4);
  won_before("40", 16, 1);
  won_before("1", 4);
  illegal_ = {"40"};
  Finals all = finals();
  answer_all(all);
  EXPECT_THAT(all.decide().confirmed, ElementsAre(Confirmation{1, 4, false}));
  EXPECT_THAT(all.decide().winners, ElementsAre(Winner{1, 4, false}));
  EXPECT_THAT(all.decide().dropped, ElementsAre(16));
}

TEST_F(FinalsTest, WhatTwoStreamsCannotRunDoesNotWin) {
  add(100);
  const TrialId stateful = add(10);
  findings_.trial(stateful).variant.work.steps = {ConstantCopy{"table", 0, 16}};
  Finals all = finals();
  EXPECT_THAT(all.finalists(), ElementsAre(0));
  answer_all(all);
  EXPECT_THAT(all.decide().winners, ElementsAre(Winner{0, 4, false}));
}

// Only a check compares, so the largest error is that of the search.
TEST_F(FinalsTest, TheErrorOfTheSearchsCheckStays) {
  add(100);
  findings_.trial(0).reply.compared = true;
  findings_.trial(0).reply.max_error = 0.25;
  Finals all = finals();
  answer_all(all);
  EXPECT_TRUE(written_.rows[0].reply.compared);
  EXPECT_EQ(written_.rows[0].reply.max_error, 0.25);
}

}  // namespace
}  // namespace tunesmith
