// SPDX-License-Identifier: Apache-2.0
// Tests several devices in one run, shards, and finals without a search; here all devices are the host.
#include <gmock/gmock.h>

#include <map>
#include <set>
#include <sstream>

#include "choose/portfolio.h"
#include "choose/time_model.h"
#include "fixture.h"
#include "generator/ops.h"
#include "kernel_file/find_op.h"
#include "tuner/run/table_run.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

class DeviceRunsTest : public FaultTest {
 protected:
  void SetUp() override {
    FaultTest::SetUp();
    if (device_under_test() != "host") GTEST_SKIP() << "The host is several devices, one GPU is not.";
  }
  TuneResult tuned(const TuneOptions& options) {
    std::ostringstream out;
    Progress progress(out, false);
    TuneResult result = tune(options, progress);
    said_ = out.str();
    return result;
  }
  TuneOptions sound(const char* device) {
    TuneOptions asked = options();
    asked.device = device;
    asked.search.templates = {"plain"};
    return asked;
  }
  std::vector<WinnerRow> winners(const std::filesystem::path& file) {
    return Store::open(file, Store::Mode::read_only).winners();
  }
  std::string said_;
};

TEST_F(DeviceRunsTest, ProblemsAreSpreadOverDevicesAndEachIsTunedOnce) {
  TuneOptions asked = sound("host,host");
  asked.problems = {Problem::parse("count=1000"), Problem::parse("count=2000"), Problem::parse("count=3000")};
  const TuneResult result = tuned(asked);
  ASSERT_EQ(result.problems.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_THAT(result.problems[i].problem, HasSubstr("count=" + std::to_string(i + 1) + "000"));
    EXPECT_EQ(result.problems[i].winners.size(), 1u);
  }
  EXPECT_EQ(winners(asked.database).size(), 3u);
  EXPECT_THAT(said_, HasSubstr("as a multiple of that: 1.00x on host, "));
  const auto sessions = Store::open(asked.database, Store::Mode::read_only).sessions();
  ASSERT_EQ(sessions.size(), 2u);  // one per device
  for (const auto& session : sessions) EXPECT_EQ(session.state, "finished");
  for (const auto& row : rows()) EXPECT_FALSE(!row.is_base && row.verdict != "ok") << row.reason;
}

TEST_F(DeviceRunsTest, OneProblemIsSplitByItsPointsAndHasOneFinal) {
  TuneOptions alone = options();
  const std::int64_t all = [&] {
    const auto verdicts = tuned(alone).problems.at(0).verdicts;
    std::int64_t sum = 0;
    for (const auto& entry : verdicts) sum += entry.second;
    return sum;
  }();
  TuneOptions asked = options();
  asked.device = "host,host";
  asked.database = folder_ / "split.db";
  const TuneResult result = tuned(asked);
  ASSERT_EQ(result.problems.size(), 1u);
  std::int64_t sum = 0;
  for (const auto& entry : result.problems[0].verdicts) sum += entry.second;
  EXPECT_EQ(sum, all + 1) << "the base is in both parts";
  const auto both = winners(asked.database);
  ASSERT_EQ(both.size(), winners(alone.database).size());
  for (const auto& w : both) EXPECT_EQ(w.newest_verdict, "ok");
}

// With few proposals each device has its own, and a variant that one device has measured is not measured by
// the other.
TEST_F(DeviceRunsTest, OneProblemIsSearchedWithOtherSeedsByAStrategyThatLearns) {
  TuneOptions asked = options();
  asked.device = "host,host";
  asked.search.templates = {"plain", "shared"};
  asked.search.strategy = "auto";
  asked.search.budget = "4";
  const TuneResult result = tuned(asked);
  ASSERT_EQ(result.problems.size(), 1u);
  EXPECT_FALSE(result.problems[0].winners.empty());
  std::map<std::string, std::set<std::int64_t>> sessions;  // by variant
  for (const ResultRow& row : rows())
    if (!row.is_base && row.stage == "search") sessions[row.source_hash].insert(row.session_id);
  EXPECT_GE(sessions.size(), 4u) << "of 3 and 3, some of which may be in flight on both";
  std::set<std::int64_t> all;
  for (const auto& [hash, its] : sessions) all.insert(its.begin(), its.end());
  EXPECT_EQ(all.size(), 2u);
}

TEST_F(DeviceRunsTest, AFailureOnOneDeviceEndsTheRunWithItsReason) {
  TuneOptions asked = sound("host,cuda:7777");
  EXPECT_THROW(tuned(asked), UsageError);
  asked.device = "host,,host";
  EXPECT_THROW(tuned(asked), UsageError);
}

TEST_F(DeviceRunsTest, ShardsMergeAndFinalsOnOneDeviceChoose) {
  auto file = folder_ / "tuned.db";
  std::size_t verdicts = 0;
  for (int rank = 0; rank < 2; ++rank) {
    TuneOptions asked = options();
    asked.database = file;
    asked.shard = Shard{rank, 2};
    EXPECT_EQ(tuned(asked).problems.size(), 1u);
    EXPECT_THAT(said_, HasSubstr("part " + std::to_string(rank + 1) + " of 2 of a problem"));
    const auto shard = shard_file(file, *asked.shard);
    verdicts += Store::open(shard, Store::Mode::read_only).results().size();
    Store::open(file, Store::Mode::create).merge_from(shard);
  }
  // The second shard knew the verdicts that were merged before it.
  const auto merged = Store::open(file, Store::Mode::read_only).results();
  EXPECT_GT(verdicts, merged.size());
  for (const auto& w : winners(file)) EXPECT_FALSE(w.binary);
  TuneOptions finals = options();
  finals.database = file;
  finals.problems.clear();
  finals.mode = modes::finals;
  const TuneResult result = tuned(finals);
  ASSERT_EQ(result.problems.size(), 1u);
  EXPECT_FALSE(result.problems[0].winners.empty());
  const auto store = Store::open(file, Store::Mode::read_only);
  for (const auto& w : store.winners({}, Store::Load::dispatch)) EXPECT_TRUE(w.binary) << w.variant.config;
  EXPECT_EQ(store.results().size(), merged.size()) << "no variant that was not stored";
  finals.shard = Shard{0, 2};
  EXPECT_THROW(tuned(finals), UsageError);
}

TEST_F(DeviceRunsTest, ABaseThatFailsIsSaidWithItsVerdict) {
  TuneOptions asked = sound("host");
  asked.search.budget = "1";
  asked.compile.timeout_s = 1e-6;
  const TunedProblem problem = tuned(asked).problems.front();
  EXPECT_EQ(problem.base_fault.rfind("timeout: Compiling took longer", 0), 0u) << problem.base_fault;
  EXPECT_FALSE(problem.verdicts.contains(Verdict::ok));
  asked.compile.timeout_s = 120;
  EXPECT_EQ(tuned(asked).problems.front().base_fault, "");
}

// Adds the times that a search of many variants on each of these problems would leave.
void add_times(const std::filesystem::path& file, const Op& op, const std::vector<Problem>& problems) {
  Store store = Store::open(file, Store::Mode::create);
  const std::int64_t device = store.devices().front().id;
  const std::int64_t tmpl =
      store.id_of(TemplateRow{.op = op.name, .name = "plain", .body_hash = bodies_of(op).at("plain")});
  const std::int64_t session = store.begin_session({.device_id = device, .command = "many"});
  store.in_one_commit([&] {
    for (const Problem& problem : problems) {
      const std::int64_t id =
          store.id_of(ProblemRow{.op = op.name, .text = complete_problem(op, problem).text()});
      for (int i = 0; i < 48; ++i) {
        const std::string config = "BLOCK=" + std::to_string(1000 + i);  // not legal, so in no table
        const std::int64_t variant = store.id_of(VariantRow{
            .template_id = tmpl, .target = "host", .source_hash = config, .config = config, .entry = "e"});
        store.record({.session_id = session,
                      .variant_id = variant,
                      .problem_id = id,
                      .device_id = device,
                      .verdict = "ok",
                      .median_us = 1e9,
                      .toolchain = "c++"});
      }
    }
  });
  store.end_session(session, Store::End::finished);
}

// Two devices search two problems each for one variant; then all problems have times of the portfolio.
TEST_F(DeviceRunsTest, AnchorsKnowThePortfolioAndAreNotMeasuredAgain) {
  TuneOptions asked = sound("host,host");
  asked.problems.clear();
  for (const char* count : {"1000", "2000", "3000", "4000"})
    asked.problems.push_back(Problem::parse(std::string("count=") + count));
  asked.search.budget = "1";
  asked.table = TableOptions{.portfolio = {{"plain", "BLOCK=128 TWIST=1"},
                                           {"plain", "BLOCK=128 TWIST=7"},
                                           {"wrong_value", "BLOCK=256"}}};
  const TuneResult result = tuned(asked);
  EXPECT_EQ(result.problems.size(), 4u);
  EXPECT_EQ(result.device.kind, DeviceKind::host);
  const auto store = Store::open(asked.database, Store::Mode::read_only);
  const std::int64_t device = store.devices().front().id;
  // The base and the variant that is legal and right have times; the wrong one has a verdict, but no time.
  const auto times = store.times_of("pairs", device, Conditions());
  EXPECT_EQ(times.size(), 8u);
  EXPECT_EQ(store.results({.verdict = "wrong_result"}).size(), 4u);
  EXPECT_TRUE(store.winners().empty()) << "no finals";
  ASSERT_EQ(store.anchor_tables().size(), 1u);
  ASSERT_TRUE(result.table);
  const AnchorTableRow stored = store.anchor_tables().front().table;
  EXPECT_EQ(stored.text, row_of(result.device, *result.table).text);
  TimingTable table = read_timing_table(stored.text, "the stored table");
  read_factors(stored.factors, table);
  EXPECT_EQ(table.anchors.size(), 4u);
  EXPECT_EQ(table.solved_from, solution_key(find_op("pairs"), table));

  TuneOptions finals = asked;
  finals.table.reset();
  finals.problems.clear();
  finals.mode = modes::finals;
  EXPECT_TRUE(tuned(finals).problems.empty());
  EXPECT_THAT(said_, HasSubstr("those of a timing table, on 4 anchors, of which no winners are chosen"));

  const std::size_t bases = 4;  // one per search; a base is known when a list is measured
  const std::size_t before = store.results({.history = true}).size();
  tuned(asked);
  EXPECT_EQ(store.results({.history = true}).size(), before + bases);
  EXPECT_EQ(store.results().size(), 12u);

  // Problems with times of many variants are not searched again; the portfolio follows from the times, if
  // none is given.
  add_times(asked.database, find_op("pairs"), asked.problems);
  const std::size_t with_times = store.results({.history = true}).size();
  asked.table->portfolio.clear();
  const TuneResult again = tuned(asked);
  EXPECT_TRUE(again.problems.empty()) << "none is searched again";
  EXPECT_EQ(store.results({.history = true}).size(), with_times);
  ASSERT_TRUE(again.table);
  EXPECT_EQ(variants_of(*again.table), variants_of(*result.table));
  EXPECT_EQ(again.table->anchors.size(), 4u);

  asked.table->seconds = 1e-9;  // over before it begins
  asked.problems = {Problem::parse("count=5000")};
  tuned(asked);
  EXPECT_EQ(times_for_table(store, find_op("pairs"), device).size(), 8u + 4 * 48);
  asked.mode = modes::finals;
  EXPECT_THROW(tuned(asked), UsageError);
}

}  // namespace
}  // namespace tunesmith
