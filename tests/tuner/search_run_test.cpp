// SPDX-License-Identifier: Apache-2.0
// Tests what a search proposes, measures, takes over and writes down, with scripted compilers, device and
// clock.
#include "tuner/run/search_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "generator/error.h"
#include "tests/tuner/trials.h"

namespace tunesmith {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Proposes N=0, the base, then N=1 and so on.
class Counting : public Search {
 public:
  explicit Counting(std::int64_t count) : count_(count) {}
  std::optional<Point> next() override {
    return next_ < count_ ? std::optional(point(next_++)) : std::nullopt;
  }
  void report(const Point& point, Verdict verdict, double median_us) override {
    reported.push_back(point.config.text() + " " + std::string(name(verdict)) + " " +
                       std::to_string(static_cast<int>(median_us)));
  }
  bool learns() const override { return learning; }
  std::optional<double> expected_gain() const override {
    return gains_end < 0 ? std::nullopt : std::optional(next_ > gains_end ? 0.001 : 0.1);
  }
  std::int64_t gains_end = -1;  // little is expected of proposals after this one
  std::vector<std::string> reported;
  bool learning = false;

 private:
  std::int64_t count_;
  std::int64_t next_ = 0;
};

class SearchRunTest : public testing::Test {
 protected:
  SearchRun& run() {
    if (!run_) {
      run_.emplace(SearchRun::Setup{.search = search_,
                                    .base = point(0),
                                    .device = device_,
                                    .device_id = "cuda:7",
                                    .policy = policy_,
                                    .budget = budget_,
                                    .known = known_,
                                    .retry_failed = retry_failed_,
                                    .render =
                                        [this](const Point& point) {
                                          RenderedVariant variant = variant_of(point);
                                          const auto work = works_.find(variant.source.hash);
                                          if (work != works_.end()) variant.work = work->second;
                                          return variant;
                                        },
                                    .record = written_.record(),
                                    .now_s = [this] { return now_s_; }},
                   findings_);
    }
    return *run_;
  }

  // Takes all proposals, and returns those that should be compiled.
  std::vector<TrialId> propose_all() {
    std::vector<TrialId> trial_ids;
    while (const auto proposal = run().propose()) {
      if (proposal->compile) trial_ids.push_back(proposal->trial_id);
    }
    return trial_ids;
  }
  void compile(TrialId trial_id) {
    CompileResult result;
    result.ticket = trial_id;
    result.binary = "binary";
    run().compiled(std::move(result));
  }
  void compile_all() {
    for (const TrialId trial_id : propose_all()) compile(trial_id);
  }
  // Starts the next one on the device; -1: none.
  TrialId begin() {
    const auto wanted = run().to_measure();
    return wanted ? wanted->trial_id : -1;
  }
  void answer(MeasureReply reply, bool died = false) {
    run().measured(std::move(reply), died);
    run().write_down();
  }
  TrialId measure(MeasureReply reply, bool died = false) {
    const TrialId trial_id = begin();
    answer(std::move(reply), died);
    return trial_id;
  }
  void know(const std::string& hash, Verdict verdict, double median_us = 0) {
    KnownVerdict known;
    known.verdict = name(verdict);
    if (verdict == Verdict::ok) known.median_us = median_us;
    known_[hash] = known;
  }

  Counting search_{5};
  DeviceFacts device_;
  Policy policy_;
  Budget budget_;
  std::map<std::string, KnownVerdict> known_;
  bool retry_failed_ = false;
  std::map<std::string, Work> works_;  // by hash
  double now_s_ = 1000;
  Written written_;
  Findings findings_;

 private:
  std::optional<SearchRun> run_;
};

// Variants that wait for the device were proposed before the verdicts in between.
TEST_F(SearchRunTest, FewWaitForTheDeviceWhereTheSearchLearns) {
  const auto ready = [&](bool learning) {
    Counting search(100);
    search.learning = learning;
    Findings findings;
    SearchRun run({.search = search,
                   .base = point(0),
                   .device = device_,
                   .device_id = "cuda:7",
                   .policy = policy_,
                   .budget = budget_,
                   .known = {},
                   .render = [](const Point& point) { return variant_of(point); },
                   .record = written_.record(),
                   .now_s = [] { return 0.0; }},
                  findings);
    int count = 0;
    while (const auto proposal = run.propose()) {
      CompileResult result;
      result.ticket = proposal->trial_id;
      run.compiled(std::move(result));
      ++count;
    }
    return count;
  };
  EXPECT_EQ(ready(false), 32);
  EXPECT_EQ(ready(true), 4);
}

TEST_F(SearchRunTest, MeasuresEveryVariantOnceAndThenIsIdle) {
  EXPECT_THAT(propose_all(), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_TRUE(run().exhausted());
  for (const TrialId trial_id : {0, 1, 2, 3, 4}) compile(trial_id);
  for (const TrialId trial_id : {0, 1, 2, 3, 4}) {
    EXPECT_FALSE(run().idle());
    EXPECT_EQ(measure(ok({10.0 + static_cast<double>(trial_id)})), trial_id);
  }
  EXPECT_TRUE(run().idle());
  EXPECT_EQ(begin(), -1);
  EXPECT_THAT(written_.verdicts(), ElementsAre("0 ok", "1 ok", "2 ok", "3 ok", "4 ok"));
  EXPECT_THAT(search_.reported, ElementsAre("N=0 ok 10", "N=1 ok 11", "N=2 ok 12", "N=3 ok 13", "N=4 ok 14"));
  EXPECT_EQ(findings_.measured, 5);
  EXPECT_EQ(findings_.known, 0);
  EXPECT_EQ(findings_.best_us, 10);
  EXPECT_EQ(findings_.worst_us, 14);
  EXPECT_EQ(findings_.base_us(), 10);
  EXPECT_TRUE(findings_.trial(4).checked);
}

TEST_F(SearchRunTest, TheBaseIsMeasuredFirstWhateverIsCompiledFirst) {
  propose_all();
  compile(2);
  EXPECT_EQ(begin(), -1);
  compile(1);
  compile(0);
  EXPECT_EQ(measure(ok({10})), 0);
  EXPECT_EQ(begin(), 2);
  EXPECT_EQ(begin(), -1) << "the device is busy";
}

// A base that does not even compile must not keep the others from the device.
TEST_F(SearchRunTest, ABaseThatFailsIsSettledToo) {
  propose_all();
  compile(1);
  CompileResult broken;
  broken.ticket = 0;
  broken.verdict = Verdict::compile_error;
  broken.reason = "It does not compile.";
  run().compiled(std::move(broken));
  EXPECT_THAT(written_.verdicts(), ElementsAre("0 compile_error"));
  EXPECT_EQ(begin(), 1);
}

TEST_F(SearchRunTest, AtMost32VariantsWaitForTheDevice) {
  search_ = Counting(50);
  for (int n = 0; n < 50; ++n) {
    const auto proposal = run().propose();
    if (proposal) compile(proposal->trial_id);
  }
  EXPECT_EQ(findings_.trials.size(), 32U);
  EXPECT_FALSE(run().exhausted());
  measure(ok({10}));
  EXPECT_TRUE(run().propose());
}

TEST_F(SearchRunTest, ABudgetOfVariantsCountsTheBaseAndWhatIsKnown) {
  budget_.count = 3;
  know("1", Verdict::ok, 12);
  EXPECT_THAT(propose_all(), ElementsAre(0, 2));
  EXPECT_TRUE(run().exhausted());
  EXPECT_EQ(run().counted(), 3);
  EXPECT_FALSE(run().out_of_time());
}

TEST_F(SearchRunTest, ABudgetDoesNotCountWhatExceedsTheDevice) {
  budget_.count = 2;
  device_.max_threads_per_block = 64;
  works_["1"] = Work{.steps = {Launch{.kernel = "k", .block = {128, 1, 1}}}};
  EXPECT_THAT(propose_all(), ElementsAre(0, 2));
  EXPECT_THAT(written_.verdicts(), ElementsAre("1 resource_limit"));
  EXPECT_FALSE(written_.rows[0].reply.reason.empty());
  EXPECT_EQ(findings_.failed, 1);
}

TEST_F(SearchRunTest, ABudgetOfTimeBeginsAfterTheBase) {
  budget_.seconds = 60;
  compile_all();
  now_s_ += 1000;  // a large problem's reference takes this time
  EXPECT_FALSE(run().out_of_time());
  EXPECT_EQ(run().elapsed_s(), 0);
  measure(ok({10}));
  now_s_ += 59;
  EXPECT_FALSE(run().out_of_time());
  EXPECT_EQ(run().elapsed_s(), 59);
  now_s_ += 1;
  EXPECT_TRUE(run().out_of_time());
  EXPECT_FALSE(run().idle());
  run().drop_waiting();
  EXPECT_TRUE(run().idle());
}

TEST_F(SearchRunTest, TheDeviceGoesOnBeforeAVerdictIsWritten) {
  compile_all();
  measure(ok({10}));
  EXPECT_EQ(begin(), 1);
  run().measured(ok({11}), false);
  EXPECT_EQ(begin(), 2);
  EXPECT_THAT(written_.verdicts(), ElementsAre("0 ok"));
  run().write_down();
  EXPECT_THAT(written_.verdicts(), ElementsAre("0 ok", "1 ok"));
  run().write_down();
  EXPECT_EQ(written_.rows.size(), 2U) << "once";
}

TEST_F(SearchRunTest, SlowVariantsAreGivenUpAndLoseTheirBinary) {
  policy_.give_up_factor = 1.5;
  compile_all();
  auto wanted = run().to_measure();
  EXPECT_EQ(wanted->give_up_above_us, 0) << "the base";
  answer(ok({30}));
  wanted = run().to_measure();
  EXPECT_EQ(wanted->give_up_above_us, 45);
  answer(ok({20}));
  EXPECT_FALSE(findings_.trial(1).binary.empty());
  wanted = run().to_measure();
  EXPECT_EQ(wanted->give_up_above_us, 30);
  answer(ok({10}));
  EXPECT_TRUE(findings_.trial(1).binary.empty()) << "20 us is above 15 us";
  EXPECT_FALSE(findings_.trial(0).binary.empty()) << "the base keeps its own";
  EXPECT_FALSE(findings_.trial(2).binary.empty());
  measure(failed(Verdict::wrong_result));
  EXPECT_TRUE(findings_.trial(3).binary.empty());
  EXPECT_EQ(findings_.trial(3).median_us, 0);
  EXPECT_EQ(findings_.failed, 1);
}

TEST_F(SearchRunTest, VerdictsOfEarlierRunsAreTakenOverButNotTheBases) {
  know("0", Verdict::ok, 10);
  know("1", Verdict::ok, 5);
  know("2", Verdict::crash);
  know("3", Verdict::wrong_result);
  EXPECT_THAT(propose_all(), ElementsAre(0, 4));
  EXPECT_THAT(written_.verdicts(), IsEmpty()) << "they are in the database";
  EXPECT_EQ(findings_.known, 3);
  EXPECT_EQ(findings_.measured, 0);
  EXPECT_EQ(findings_.best_us, 5);
  EXPECT_FALSE(findings_.trial(1).checked);
  EXPECT_THAT(search_.reported, ElementsAre("N=1 ok 5", "N=2 crash 0", "N=3 wrong_result 0"));
}

TEST_F(SearchRunTest, TimeOutsAndCrashesAreTriedAgainWhenAsked) {
  retry_failed_ = true;
  know("1", Verdict::timeout);
  know("2", Verdict::crash);
  know("3", Verdict::wrong_result);
  EXPECT_THAT(propose_all(), ElementsAre(0, 1, 2, 4));
}

class Deaths : public SearchRunTest {
 protected:
  void SetUp() override {
    search_ = Counting(30);
    compile_all();
  }
  void die(int times) {
    for (int n = 0; n < times; ++n) measure(failed(Verdict::crash, "The worker ended."), true);
  }
};

TEST_F(Deaths, FiveInARowMakeTheBaseProveItself) {
  measure(ok({10}));
  die(4);
  measure(ok({11}));  // the count begins again
  die(5);
  const std::size_t rows = written_.rows.size();
  const auto probe = run().to_measure();
  ASSERT_TRUE(probe);
  EXPECT_EQ(probe->trial_id, 0);
  EXPECT_EQ(probe->give_up_above_us, 0);
  answer(ok({10}));
  EXPECT_EQ(written_.rows.size(), rows) << "a probe is no measurement";
  EXPECT_EQ(begin(), 11) << "the search goes on";
  answer(failed(Verdict::crash), true);
  EXPECT_EQ(begin(), 12);
}

TEST_F(Deaths, ABaseThatFailsNowEndsTheRun) {
  measure(ok({10}));
  die(5);
  begin();
  try {
    answer(failed(Verdict::timeout, "It hangs."), true);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cuda:7 ended 5 times in a row"));
    EXPECT_THAT(error.what(), HasSubstr("now gives timeout (It hangs.)"));
  }
}

TEST_F(Deaths, WithoutABaseThatEverWorkedEndTheRun) {
  die(4);
  try {
    die(1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cuda:7 ended 5 times in a row"));
  }
  EXPECT_EQ(written_.rows.size(), 5U) << "the last one is written first";
}

// Each time-out takes as long as a launch may.
TEST_F(Deaths, ABaseThatHangsTwiceEndsTheRun) {
  measure(failed(Verdict::timeout, "It hangs."), true);
  try {
    measure(failed(Verdict::timeout, "It hangs."), true);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cuda:7 ended 2 times in a row"));
    EXPECT_THAT(error.what(),
                HasSubstr("It hangs. Either it never ends, or it needs more time for this problem."));
  }
}

// A failure that the worker survives is not counted, and does not reset the count.
TEST_F(Deaths, OtherFailuresDoNotCount) {
  measure(ok({10}));
  die(2);
  for (int n = 0; n < 5; ++n) measure(failed(Verdict::wrong_result));
  die(2);
  EXPECT_NE(begin(), 0);
  answer(failed(Verdict::crash), true);
  EXPECT_EQ(begin(), 0);
}

TEST_F(SearchRunTest, CutsOffCompilationsThatTakeFarLongerThanTheOthers) {
  search_ = Counting(40);
  budget_ = Budget::parse("20s");
  const auto compile_all_in = [&](double milliseconds) {
    for (const TrialId trial_id : propose_all()) {
      CompileResult result;
      result.ticket = trial_id;
      result.binary = "binary";
      result.milliseconds = milliseconds;
      run().compiled(std::move(result));
    }
  };
  EXPECT_EQ(run().compile_limit_s(), 0);  // nothing is known yet
  compile_all_in(300);
  EXPECT_DOUBLE_EQ(run().compile_limit_s(), 3);
}

TEST_F(SearchRunTest, EndsWhereLittleIsExpectedTenTimesInARow) {
  search_ = Counting(60);
  search_.gains_end = 5;
  budget_.least_gain = 0.005;
  EXPECT_EQ(propose_all().size(), 14U);
  EXPECT_TRUE(run().exhausted());
  EXPECT_TRUE(run().little_expected());
}

TEST_F(SearchRunTest, ACutOffCompilationStaysCutOffInARunOfTheSameLength) {
  know("1", Verdict::timeout);
  known_["1"].compile_ms = 3000;
  budget_ = Budget::parse("100s");
  EXPECT_THAT(propose_all(), ElementsAre(0, 2, 3, 4));
}

TEST_F(SearchRunTest, ACutOffCompilationIsTriedAgainInAMuchLongerRun) {
  know("1", Verdict::timeout);
  know("2", Verdict::timeout);
  known_["1"].compile_ms = 3000;
  known_["2"].compile_ms = 20;  // the device took too long
  budget_ = Budget::parse("200s");
  EXPECT_THAT(propose_all(), ElementsAre(0, 1, 3, 4));
}

}  // namespace
}  // namespace tunesmith
