// SPDX-License-Identifier: Apache-2.0
// Tests that a faulty variant costs only its row, and that the end of a tuner or a worker, by any cause,
// costs only the work in flight.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <sstream>
#include <thread>

#include "tests/faults/fixture.h"
#include "tuner/check/worker.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

struct Fault {
  std::string verdict;
  std::string reason;  // a part of it
};

const std::map<std::string, Fault> faults = {
    {"race", {"wrong_result", "expected"}},
    {"beyond_end", {"out_of_bounds", ""}},
    {"before_start", {"out_of_bounds", "wrote 1 element before the start of y"}},
    {"wrong_value", {"wrong_result", "y[700] is"}},
    {"unwritten", {"wrong_result", "is NaN"}},
    {"writes_input", {"wrong_result", "changed its input x"}},
    {"wrong_and_outside", {"wrong_result", "expected"}},
    {"hang", {"timeout", "longer than 3 s"}},
    {"abort", {"crash", ""}},
    {"illegal_address", {"crash", ""}},
    {"no_compile", {"compile_error", "pairs/no_compile.cu:9"}},
    {"many_threads", {"resource_limit", "2048"}},
    {"much_shared", {"resource_limit", "shared memory"}},
    {"no_memory", {"resource_limit", ""}},
    {"stateful", {"wrong_result", ""}},
    {"stateful_zero", {"wrong_result", "start of its workspace zero"}},
};

// Only a GPU overlaps kernels, and only on the host do arrays end at unreadable memory.
std::map<std::string, Fault> faults_of_the_device() {
  std::map<std::string, Fault> all = faults;
  if (device_under_test() != "host")
    all["no_wait"] = {"wrong_result", "it does not wait for the kernel before it"};
  const bool host = device_under_test() == "host";
  all["beyond_end"].reason =
      host ? "accessed element 1 of y, which has 1, on count=1 " : "wrote 1 element beyond the end of y";
  if (host) {
    all["reads_beyond"] = {"out_of_bounds", "accessed element 1 of x, which has 1, on count=1 "};
    all["wide"] = {"launch_error", "give the template's alignment_bytes"};
    all["illegal_address"].reason = "memory that is not there";
  }
  return all;
}

TEST_F(FaultTest, EachFaultHasItsVerdictAndAGoodVariantWins) {
  const TuneResult result = run(options());
  const std::map<std::string, Fault> faults = faults_of_the_device();
  std::map<std::string, std::set<std::string>> verdicts;
  for (const ResultRow& row : rows()) {
    verdicts[row.template_name].insert(row.verdict);
    const auto fault = faults.find(row.template_name);
    if (fault == faults.end()) {
      EXPECT_EQ(row.verdict, "ok") << row.template_name << ": " << row.reason;
    } else {
      EXPECT_EQ(row.verdict, fault->second.verdict) << row.template_name << ": " << row.reason;
      EXPECT_THAT(row.reason, HasSubstr(fault->second.reason)) << row.template_name;
      if (row.verdict == "timeout") {
        ASSERT_TRUE(row.wall_ms.has_value()) << "the dearest verdict says what it cost";
        EXPECT_GE(*row.wall_ms, 2900);
      }
    }
  }
  for (const char* right : {"plain", "shared", "slow", "waits", "not_reentrant"})
    EXPECT_EQ(verdicts.count(right), 1u) << right;

  ASSERT_EQ(result.problems.size(), 1u);
  ASSERT_EQ(result.problems[0].winners.size(), 1u);
  EXPECT_THAT(result.problems[0].winners[0].template_name,
              testing::AnyOf("plain", "shared", "waits", "no_wait"));
  const auto winners =
      Store::open(folder_ / "tunesmith.db", Store::Mode::read_only).winners({}, Store::Load::dispatch);
  ASSERT_EQ(winners.size(), 1u);
  EXPECT_TRUE(winners[0].binary.has_value());
  EXPECT_EQ(winners[0].newest_verdict, "ok");
}

// To find the cause of a wrong result on the host, the variant is run again.
TEST_F(FaultTest, AWrongVariantHarmsNoLaterOne) {
  TuneOptions options = this->options();
  options.search.strategy = "random";  // exhaustive would try the bad one last
  options.seed = 2;
  options.compile.processes = 1;
  const std::map<std::string, std::string> reasons = {
      {"writes_input", "changed its input x"},
      {"wrong_and_outside", device_under_test() == "host"
                                ? "Run again in another order, it also wrote 1 element before the start of y."
                                : "expected"}};
  for (const auto& [bad, reason] : reasons) {
    options.search.templates = {bad, "plain"};
    options.database = folder_ / (bad + ".db");
    run(options);
    std::vector<ResultRow> measured = rows(options.database);
    std::ranges::sort(measured, {}, &ResultRow::measurement_id);
    int good = 0;
    bool behind_the_bad_one = false;
    for (const ResultRow& row : measured) {
      if (row.template_name == bad) {
        EXPECT_EQ(row.verdict, "wrong_result");
        EXPECT_THAT(row.reason, HasSubstr(reason));
        behind_the_bad_one = true;
      } else {
        EXPECT_EQ(row.verdict, "ok") << row.template_name << ": " << row.reason;
        good += behind_the_bad_one ? 1 : 0;
      }
    }
    EXPECT_GT(good, 0) << bad;
  }
}

TEST_F(FaultTest, WhatIsRightForUsualNumbersOnlyIsFoundByTheOtherSets) {
  TuneOptions asked = options();
  asked.op = "softmax";
  asked.problems = {Problem::parse("rows=5 columns=200")};
  const TunedProblem tuned = run(asked).problems[0];
  std::map<std::string, std::string> reasons;
  for (const ResultRow& row : rows()) reasons[row.template_name] = row.verdict + ": " + row.reason;
  EXPECT_THAT(reasons["base"], HasSubstr("ok"));
  EXPECT_THAT(reasons["unstable"], HasSubstr("where x holds numbers from -100 to 100"));
  // On a GPU the result may be right by chance.
  if (device_under_test() == "host") {
    EXPECT_THAT(reasons["no_barrier"], HasSubstr("wrong_result"));
  }
  ASSERT_EQ(tuned.winners.size(), 1u);
}

TEST_F(FaultTest, WhatFailedIsTriedAgainOnlyWhenAsked) {
  TuneOptions asked = options();
  asked.search.templates = {"hang", "abort"};
  // On a GPU that others use too the base may take longer than a second.
  if (device_under_test() == "host") asked.measure.worker.measure_s = 1;
  run(asked);
  std::string failed;
  const auto count_failed = [&] {
    std::int64_t count = 0;
    failed.clear();
    for (const ResultRow& row : rows()) {
      if (row.verdict == "ok") continue;
      ++count;
      failed += row.template_name + ": " + row.verdict + ", " + row.reason + "\n";
    }
    return count;
  };
  EXPECT_EQ(count_failed(), 2) << failed;
  EXPECT_EQ(run(asked).problems[0].known, 2);
  EXPECT_EQ(count_failed(), 2) << failed;
  asked.search.retry_failed = true;
  run(asked);
  EXPECT_EQ(count_failed(), 4) << failed;
}

TEST_F(FaultTest, AKilledTunerLosesOnlyWhatWasInFlight) {
  // Orphans become children of this process, so that it sees their end.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  TuneOptions asked = options();
  asked.search.templates = {"plain", "shared", "wrong_value", "not_reentrant"};
  asked.measure.policy->finalists =
      0;  // however often it starts, every variant but the base is measured once
  const pid_t tuner = start(asked);
  wait_for_rows(4);
  ::kill(tuner, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(wait(tuner)));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (::waitpid(-1, nullptr, WNOHANG) >= 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a worker outlived its tuner";
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  const std::int64_t before = count_rows();
  ASSERT_GE(before, 4);

  const TuneResult result = run(asked);
  EXPECT_EQ(result.problems[0].known, before - 1);  // the base is measured in every run
  std::map<std::string, int> times;
  for (const ResultRow& row : rows()) {
    if (!row.is_base) ++times[row.source_hash];
  }
  EXPECT_EQ(static_cast<std::int64_t>(times.size()), result.problems[0].variants - 1);
  for (const auto& [hash, count] : times) EXPECT_EQ(count, 1) << hash;
  const auto sessions = Store::open(folder_ / "tunesmith.db", Store::Mode::read_only).sessions();
  ASSERT_EQ(sessions.size(), 2u);
  EXPECT_EQ(sessions[0].state, "finished");
  EXPECT_EQ(sessions[1].state, "interrupted");
}

TEST_F(FaultTest, AKilledWorkerIsReplaced) {
  TuneOptions asked = options();
  asked.search.templates = {"plain", "shared"};
  const pid_t tuner = start(asked);
  for (const std::int64_t rows_before : {1, 3}) {
    wait_for_rows(rows_before);
    const pid_t worker = worker_of(tuner, asked.device);
    if (worker > 0) ::kill(worker, SIGKILL);
    const pid_t compiler = worker_of(tuner, asked.device == "host" ? "compile:host" : "compile:sm_90a");
    if (compiler > 0 && rows_before == 3) ::kill(compiler, SIGKILL);
  }
  EXPECT_EQ(wait(tuner), 0);
  std::set<std::string> seen;
  for (const ResultRow& row : rows()) {
    seen.insert(row.source_hash);
    EXPECT_THAT(row.verdict, testing::AnyOf("ok", "crash", "compile_error")) << row.reason;
    if (row.verdict == "crash") {
      EXPECT_THAT(row.reason, HasSubstr("SIGKILL"));
    }
  }
  EXPECT_EQ(seen.size(), 10u);
}

TEST_F(FaultTest, AnInterruptEndsTheSessionCleanly) {
  TuneOptions asked = options();
  const pid_t tuner = start(asked);
  wait_for_rows(2);
  ::kill(tuner, SIGINT);
  const int status = wait(tuner);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  const auto sessions = Store::open(folder_ / "tunesmith.db", Store::Mode::read_only).sessions();
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_EQ(sessions[0].state, "interrupted");
}

TEST_F(FaultTest, AnInterruptedRunNamesTheFastestSoFarAndFinalsReplaceIt) {
  TuneOptions asked = options();
  asked.search.templates = {"plain", "shared", "hang"};
  asked.problems.push_back(Problem::parse("count=3000"));
  for (const int signal : {SIGTERM, SIGHUP}) {
    const pid_t tuner = start(asked);
    wait_for_rows(count_rows() + 3);
    ::kill(tuner, signal);
    const int status = wait(tuner);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 130);
  }
  const auto winners = [this] {
    return Store::open(folder_ / "tunesmith.db", Store::Mode::read_only).winners({}, Store::Load::dispatch);
  };
  ASSERT_FALSE(winners().empty());
  for (const WinnerRow& row : winners()) {
    EXPECT_TRUE(row.provisional);
    EXPECT_EQ(row.newest_verdict, "ok");
  }
  // A killed run has named no winners, and finals take its problem from the verdicts.
  execute("DELETE FROM winner; DROP TRIGGER choice_never_goes; DELETE FROM choice");
  TuneOptions finals = options();
  finals.problems.clear();
  finals.mode = modes::finals;
  std::ostringstream words;
  Progress progress(words, false);
  const TuneResult result = tune(finals, progress);
  ASSERT_FALSE(result.problems.empty());
  EXPECT_THAT(words.str(), HasSubstr("with verdicts, of which " + std::to_string(result.problems.size()) +
                                     " had no finals yet."));
  EXPECT_GT(result.problems[0].variants, 5) << "those of the space, not those that are stored";
  ASSERT_FALSE(winners().empty());
  for (const WinnerRow& row : winners()) EXPECT_FALSE(row.provisional);
}

TEST_F(FaultTest, AnInterruptDoesNotWaitForAVariantThatHangs) {
  TuneOptions asked = options();
  asked.search.templates = {"hang"};
  asked.measure.worker.measure_s = 100;
  const pid_t tuner = start(asked);
  wait_for_rows(1);
  std::this_thread::sleep_for(std::chrono::seconds(3));  // by then it is compiled and hangs
  const auto before = std::chrono::steady_clock::now();
  ::kill(tuner, SIGTERM);
  EXPECT_EQ(WEXITSTATUS(wait(tuner)), 130);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
  for (const ResultRow& row : rows()) EXPECT_EQ(row.verdict, "ok") << "what was interrupted has no verdict";
}

TEST_F(FaultTest, FinalsOfADatabaseThatIsMissingAreRefused) {
  TuneOptions asked = options();
  asked.problems.clear();
  asked.mode = modes::finals;
  asked.database = folder_ / "typo.db";
  EXPECT_THROW(run(asked), UsageError);
  asked.mode = modes::tuning;
  asked.stale = true;
  EXPECT_THROW(run(asked), UsageError);
  EXPECT_FALSE(std::filesystem::exists(asked.database));
}

TEST_F(FaultTest, TheSameProblemTwiceIsTunedOnce) {
  TuneOptions asked = options();
  asked.search.templates = {"plain"};
  asked.problems.push_back(asked.problems.front());
  EXPECT_EQ(run(asked).problems.size(), 1u);
}

TEST_F(FaultTest, ADeviceOfAnotherDriversMemoryKnowsItsVerdicts) {
  TuneOptions asked = options();
  asked.search.templates = {"plain"};
  const std::int64_t measured = run(asked).problems[0].measured;
  execute("UPDATE device SET memory_bytes = memory_bytes - 409600");
  const TunedProblem again = run(asked).problems[0];
  EXPECT_EQ(again.known, measured - 1);  // the base is measured in every run
  EXPECT_EQ(Store::open(folder_ / "tunesmith.db", Store::Mode::read_only).devices().size(), 1u);
}

TEST_F(FaultTest, ABudgetOfVariantsIsKept) {
  TuneOptions asked = options();
  asked.search.templates = {"plain"};
  asked.search.strategy = "random";
  asked.search.budget = "3";
  EXPECT_EQ(run(asked).problems[0].measured, 3);
  asked.search.budget = "5";  // the same order, so the first three are known
  const TunedProblem more = run(asked).problems[0];
  EXPECT_EQ(more.known, 2);
  EXPECT_EQ(more.measured, 3);
}

TEST_F(FaultTest, WhatWonForAnotherProblemIsTriedFirst) {
  TuneOptions asked = options();
  asked.search.templates = {"plain"};
  asked.search.strategy = "random";
  const TunedProblem first = run(asked).problems[0];
  const std::string winner = first.winners[0].config;
  asked.problems = {Problem::parse("count=3000")};
  asked.search.budget = "2";  // the base and one more
  EXPECT_EQ(run(asked).problems[0].measured, 2);
  std::set<std::string> tried;
  for (const ResultRow& row : rows()) {
    if (row.problem != first.problem) tried.insert(row.config);
  }
  EXPECT_EQ(tried.count(winner), 1u) << winner;
}

TEST_F(FaultTest, AWinnerThatIsBuiltInIsTriedRightAfterTheBase) {
  TuneOptions asked = options();
  asked.search.templates = {"plain"};
  asked.search.strategy = "exhaustive";  // would go on with BLOCK=64 TWIST=1
  asked.search.budget = "2";             // the base and one more
  asked.search.built_in = {
      {"another", "count=3000", "plain", "BLOCK=128 TWIST=2"},
      {"pairs", "size=1", "plain", "BLOCK=128 TWIST=2"},  // of an older version of the op
      {"pairs", "count=3000", "plain", "BLOCK=256 TWIST=1"}};
  EXPECT_EQ(run(asked).problems[0].measured, 2);
  std::set<std::string> tried;
  for (const ResultRow& row : rows()) tried.insert(row.config);
  EXPECT_EQ(tried, (std::set<std::string>{"BLOCK=64 TWIST=0", "BLOCK=256 TWIST=1"}));
}

TEST_F(FaultTest, WhatWasFastBeforeItsTextChangedIsTriedFirst) {
  TuneOptions asked = options();
  asked.search.templates = {"plain"};
  run(asked);
  const auto fastest_first = Store::open(folder_ / "tunesmith.db", Store::Mode::read_only).results();
  const auto is_no_base = [](const ResultRow& row) { return !row.is_base; };
  const auto fastest = std::ranges::find_if(fastest_first, is_no_base);
  ASSERT_NE(fastest, fastest_first.end());
  std::set<std::string> fastest_configs;  // several where the clock tells no difference
  for (const ResultRow& row : fastest_first)
    if (is_no_base(row) && row.median_us == fastest->median_us) fastest_configs.insert(row.config);
  execute("DELETE FROM winner; UPDATE variant SET source_hash = 'old ' || source_hash");

  const auto before = static_cast<std::ptrdiff_t>(rows().size());
  asked.search.strategy = "random";
  asked.search.budget = "2";  // the base and one more
  EXPECT_EQ(run(asked).problems[0].measured, 2);
  std::vector<ResultRow> all = rows();
  std::ranges::sort(all, {}, &ResultRow::measurement_id);
  EXPECT_TRUE(std::any_of(all.begin() + before, all.end(),
                          [&](const ResultRow& row) { return fastest_configs.contains(row.config); }))
      << testing::PrintToString(fastest_configs) << ", not " << all.back().config << ": "
      << all.back().verdict << ", " << all.back().reason;
}

TEST_F(FaultTest, ProblemsWhoseWinnersAreStaleAreFoundInTheDatabase) {
  TuneOptions asked = options();
  asked.search.templates = {"plain"};
  asked.problems = {Problem::parse("count=1000"), Problem::parse("count=3000")};
  run(asked);
  asked.problems.clear();
  EXPECT_THROW(run(asked), UsageError);
  asked.stale = true;
  EXPECT_TRUE(run(asked).problems.empty());
  // The winner of one problem, which may be the other's too, has a text of its own.
  execute(
      "INSERT INTO variant (template_id, target, source_hash, config, compiled_in, entry) "
      "SELECT v.template_id, v.target, 'old', v.config, v.compiled_in, v.entry FROM winner w "
      "JOIN measurement m ON m.id = w.measurement_id JOIN variant v ON v.id = m.variant_id "
      "JOIN problem p ON p.id = w.problem_id WHERE p.text LIKE 'count=3000%';"
      "CREATE TEMP TABLE old AS SELECT m.* FROM winner w JOIN measurement m ON m.id = w.measurement_id "
      "JOIN problem p ON p.id = w.problem_id WHERE p.text LIKE 'count=3000%';"
      "UPDATE old SET id = (SELECT max(id) + 1 FROM measurement), sequence = sequence + 1000, "
      "variant_id = (SELECT id FROM variant WHERE source_hash = 'old');"
      "INSERT INTO measurement SELECT * FROM old;"
      "UPDATE winner SET measurement_id = (SELECT id FROM old) "
      "WHERE problem_id = (SELECT problem_id FROM old);"
      "UPDATE winner SET alignment_bytes = 16");  // no variant here asks for it
  const TuneResult again = run(asked);
  ASSERT_EQ(again.problems.size(), 1U);
  EXPECT_EQ(again.problems[0].problem.substr(0, 10), "count=3000");
  EXPECT_FALSE(again.problems[0].winners.empty());
  EXPECT_TRUE(run(asked).problems.empty());
}

TEST_F(FaultTest, WarmAndColdCachesAreTunedApart) {
  TuneOptions asked = options();
  asked.search.templates = {"plain", "shared", "wrong_value"};
  asked.measure.conditions.caches = Caches::cold;
  if (asked.device == "host") {
    EXPECT_THROW(run(asked), UsageError);
    EXPECT_EQ(count_rows(), 0);
    return;
  }
  const auto is = [](const std::string& caches) {
    return [caches](const auto& row) { return row.caches == caches; };
  };
  const auto winners = [this] {
    return Store::open(folder_ / "tunesmith.db", Store::Mode::read_only).winners();
  };
  asked.measure.conditions.caches = Caches::warm;
  const TunedProblem warm = run(asked).problems[0];
  EXPECT_EQ(warm.known, 0);
  const auto failed = warm.verdicts.at(Verdict::wrong_result);
  EXPECT_GT(failed, 0);
  EXPECT_TRUE(std::ranges::all_of(rows(), is("warm")));

  asked.measure.conditions.caches = Caches::cold;
  const TunedProblem cold = run(asked).problems[0];
  EXPECT_EQ(cold.known, failed);  // a wrong variant is wrong with either
  EXPECT_EQ(cold.measured, warm.measured - failed);
  EXPECT_TRUE(std::ranges::all_of(winners(), is("cold")));
  for (const WinnerRow& row : winners()) {
    ASSERT_TRUE(row.base_us && row.worst_us);
    EXPECT_GE(*row.worst_us, row.median_us);
    EXPECT_EQ(row.newest_verdict, "ok");
  }
  EXPECT_EQ(run(asked).problems[0].measured, 1);  // the base

  asked.measure.conditions.caches = Caches::warm;
  EXPECT_EQ(run(asked).problems[0].measured, 1);
  EXPECT_TRUE(std::ranges::all_of(winners(), is("warm")));
}

// On the host a chained run uses the times of launches apart; times that were chained on a device where that
// matters are not used.
TEST_F(FaultTest, LaunchesApartAndChainedAreTunedApart) {
  TuneOptions asked = options();
  asked.search.templates = {"plain", "wrong_value"};
  const TunedProblem apart = run(asked).problems[0];
  const auto failed = apart.verdicts.at(Verdict::wrong_result);
  const auto times = apart.measured - failed;
  asked.measure.conditions.launches = Launches::chained;
  const TunedProblem chained = run(asked).problems[0];
  EXPECT_EQ(chained.known, asked.device == "host" ? apart.measured - 1 : failed);
  const std::string kind = asked.device == "host" ? "apart" : "chained";
  for (const WinnerRow& row : Store::open(folder_ / "tunesmith.db", Store::Mode::read_only).winners())
    EXPECT_EQ(row.launches, kind);

  execute(
      "DROP TRIGGER measurement_never_changes;"
      "UPDATE measurement SET launches = iif(launches = 'apart', 'chained', 'apart')");
  asked.measure.conditions.launches = Launches::apart;
  const TunedProblem again = run(asked).problems[0];
  EXPECT_EQ(again.known, asked.device == "host" ? failed : apart.measured - 1);
  EXPECT_EQ(again.measured, asked.device == "host" ? times : 1);
}

TEST_F(FaultTest, AWinnerOfATemplateThatIsNotSearchedIsMeasuredAgain) {
  TuneOptions asked = options();
  asked.search.templates = {"plain"};
  const std::string winner = run(asked).problems[0].winners[0].config;
  const auto times = [&] {
    const std::vector<ResultRow> all = rows();
    return std::count_if(all.begin(), all.end(), [&](const ResultRow& row) {
      return row.template_name == "plain" && row.config == winner;
    });
  };
  const auto before = times();
  asked.search.templates = {"wrong_value"};
  run(asked);
  EXPECT_GT(times(), before) << winner;
}

TEST_F(FaultTest, AVariantThatIsFarTooSlowIsNotTimed) {
  TuneOptions asked = options();
  asked.search.templates = {"slow"};
  asked.measure.policy->give_up_factor = 1.5;
  run(asked);
  for (const ResultRow& row : rows()) {
    EXPECT_EQ(row.verdict, "ok") << row.reason;
    if (row.template_name == "slow") {
      EXPECT_EQ(row.min_us, row.median_us);  // of one sample
    }
  }
  EXPECT_GE(rows().size(), 2u);
}

TEST_F(FaultTest, BinariesAreCompiledOnceForAllDatabases) {
  TuneOptions asked = options();
  asked.search.templates = {"plain"};
  const auto compiled = [&] {
    std::int64_t count = 0;
    execute("DELETE FROM winner");
    for (const ResultRow& row : rows()) count += row.compile_ms.has_value();
    return count;
  };
  run(asked);
  EXPECT_GT(compiled(), 0);
  std::filesystem::remove(folder_ / "tunesmith.db");
  EXPECT_GT(run(asked).problems[0].measured, 1);
  EXPECT_EQ(compiled(), 0);
}

TEST_F(FaultTest, ADeviceThatDoesNotExistIsNamed) {
  TuneOptions asked = options();
  asked.device = "cuda:99";
  EXPECT_THROW(run(asked), UsageError);
  asked.device = "moon";
  EXPECT_THROW(run(asked), UsageError);
}

}  // namespace
}  // namespace tunesmith

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "worker") return tunesmith::worker_main(argv[2]);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
