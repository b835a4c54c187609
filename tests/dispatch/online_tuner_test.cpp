// SPDX-License-Identifier: Apache-2.0
// Tests variants that are tried when a problem is first used: their ranking, which outcomes are kept, and
// when they count.
#include "dispatch/online_tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <cmath>
#include <csignal>

#include "fixture.h"
#include "kernel_file/find_op.h"
#include "runtime/trust.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

// Does nothing; the benchmark knows its time.
class TimedExecutable : public Executable {
 public:
  explicit TimedExecutable(double us) : us_(us) {}
  BinaryFacts facts() const override { return {}; }
  std::unique_ptr<Executable> with(const Work&) const override { return nullptr; }
  int launch(void* const*, void*, void*, const LaunchNumbers*) noexcept override { return 0; }
  bool makes_workspaces() const noexcept override { return true; }
  std::string describe(int) const override { return "none"; }
  double us() const { return us_; }

 private:
  double us_;
};

class FakeBenchmark : public Benchmark {
 public:
  std::int64_t spare_bytes() const override { return 1 << 20; }
  void* allocate(std::int64_t bytes, std::span<const std::byte>) override {
    allocated += bytes;
    return this;
  }
  double time_us(Executable& executable, void* const*, int launches) override {
    const double us = dynamic_cast<TimedExecutable&>(executable).us();
    ++samples[us];
    if (us < 0) throw Error("The launch failed.");
    most_launches = std::max(most_launches, launches);
    return samples[us] == 1 ? 10 * us : us;  // the first launch is always slow
  }
  std::map<double, int> samples;
  int most_launches = 0;
  std::int64_t allocated = 0;
};

std::vector<TrialCandidate> candidates_with(const std::vector<double>& times) {
  std::vector<TrialCandidate> candidates;
  candidates.reserve(times.size());
  for (const double us : times)
    candidates.push_back({"t", "A=" + std::to_string(candidates.size()), "", "",
                          us == 0 ? nullptr : std::make_unique<TimedExecutable>(us)});
  return candidates;
}

std::string order(const std::vector<TriedVariant>& tried) {
  std::string text;
  for (const TriedVariant& one : tried) text += one.config.substr(2);
  return text;
}

TEST(OnlineTunerRank, TheFastestIsFirstAndNoiseChangesNothing) {
  FakeBenchmark benchmark;
  const auto tried = rank(candidates_with({30, 20, 25}), benchmark, {}, {});
  EXPECT_EQ(order(tried), "120");
  EXPECT_EQ(tried[0].us, 20);
  EXPECT_EQ(benchmark.most_launches, 25);
  EXPECT_EQ(order(rank(candidates_with({20.2, 20}), benchmark, {}, {})), "01");
  EXPECT_EQ(order(rank(candidates_with({20.5, 20}), benchmark, {}, {})), "10");
}

TEST(OnlineTunerRank, WhatIsSlowOrFailsIsLeftOut) {
  FakeBenchmark benchmark;
  const auto tried = rank(candidates_with({100, -1, 20, 0, 21}), benchmark, {}, {});
  EXPECT_EQ(order(tried).substr(0, 3), "240");
  EXPECT_EQ(tried[3].us, 0);
  EXPECT_EQ(tried[4].us, 0);
  EXPECT_EQ(benchmark.samples[-1], 1);
  EXPECT_LT(benchmark.samples[100], 5);
  EXPECT_GT(benchmark.samples[20], 5);
  EXPECT_EQ(benchmark.samples[20], benchmark.samples[21]);
}

TEST(OnlineTunerRank, TimeIsBounded) {
  FakeBenchmark benchmark;
  std::stop_source stop;
  stop.request_stop();
  rank(candidates_with({20, 30}), benchmark, {}, stop.get_token());
  EXPECT_TRUE(benchmark.samples.empty());
}

TEST(OnlineTunerValues, AreThoseThatOpsAreTunedWith) {
  const auto values = [](auto type, DType dtype) {
    const std::vector<std::byte> bytes = usual_values(dtype, 1000);
    std::vector<decltype(type)> numbers(1000);
    EXPECT_EQ(bytes.size(), numbers.size() * sizeof(type));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  };
  const auto expect_range = [](const auto& numbers, double low, double high) {
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    EXPECT_GE(static_cast<double>(*least), low);
    EXPECT_LT(static_cast<double>(*least), low + 0.1 * (high - low));
    EXPECT_LE(static_cast<double>(*most), high);
    EXPECT_GT(static_cast<double>(*most), high - 0.1 * (high - low));
  };
  expect_range(values(0.0f, DType::f32), -1, 1);
  expect_range(values(0.0, DType::f64), -1, 1);
  expect_range(values(std::int32_t{}, DType::i32), -100, 100);
  expect_range(values(std::int64_t{}, DType::i64), -100, 100);
  expect_range(values(std::uint8_t{}, DType::u8), 0, 200);
  std::vector<double> halves, bfloats;
  for (const std::uint16_t bits : values(std::uint16_t{}, DType::f16)) {
    const double magnitude = std::ldexp(1.0 + (bits & 0x3ff) / 1024.0, (bits >> 10 & 31) - 15);
    halves.push_back((bits & 0x8000) != 0 ? -magnitude : magnitude);
  }
  for (const std::uint16_t bits : values(std::uint16_t{}, DType::bf16)) {
    const double magnitude = std::ldexp(1.0 + (bits & 0x7f) / 128.0, (bits >> 7 & 255) - 127);
    bfloats.push_back((bits & 0x8000) != 0 ? -magnitude : magnitude);
  }
  expect_range(halves, -1, 1);
  expect_range(bfloats, -1, 1);
  EXPECT_EQ(usual_values(DType::b128, 3).size(), 48u);
}

class OnlineTunerTest : public DispatcherTest {
 protected:
  OnlineTunerTest() {
    tune({.problem = "n=1000 taps=5", .config = fast, .median_us = 10});
    tune({.problem = "n=1004 taps=5", .config = slow, .median_us = 10});
  }
  static constexpr const char* fast = "BLOCK=32 VECTOR=1 STATE=none";
  static constexpr const char* slow = "BLOCK=64 VECTOR=1 STATE=none";

  DispatcherOptions trying(Compile compile = Compile::now) const {
    DispatcherOptions chosen = options();
    chosen.compile = compile;
    chosen.tune_on_first_use = 2;
    return chosen;
  }
  // A trial as an application on this device wrote it; its hash is that of the problem's kernel unless one is
  // given.
  struct Trial {
    std::string config;
    double us;
    std::string hash = {};
  };
  void store(const std::string& text, const std::vector<Trial>& trials, const std::string& driver = "",
             DeviceFacts device = host_facts()) const {
    Store store = Store::open(database(), Store::Mode::create);
    const Op& op = find_op("smooth");
    const Template& tmpl = find_template(op, "vector");
    const Problem problem = complete_problem(op, Problem::parse(text));
    FirstUseRow row{.problem_id = store.id_of(ProblemRow{.op = op.name, .text = problem.text()}),
                    .device_id = store.id_of(row_of(device)),
                    .driver = driver,
                    .tunesmith_version = "test"};
    for (const Trial& trial : trials) {
      const Config config = tmpl.space(problem).complete(Values::parse(trial.config));
      row.trials.push_back(
          {.template_name = tmpl.name,
           .config = trial.config,
           .source_hash = trial.hash.empty() ? render(op, tmpl, problem, config, "host").hash : trial.hash,
           .us = trial.us > 0 ? std::optional(trial.us) : std::nullopt,
           .toolchain = "test"});
    }
    store.put_first_use(row);
  }
  std::vector<StoredTrial> stored() const {
    if (!std::filesystem::exists(database())) return {};
    return Store::open(database(), Store::Mode::read_only).trials({.history = true});
  }
  static std::string last_note(const Dispatcher& dispatcher) { return dispatcher.notes().back(); }
  static bool is_tried(const Plan& plan) {
    const std::vector<std::string> say = plan.explanation();
    return std::any_of(say.begin(), say.end(), [](const std::string& one) {
      return one == "Of 2 that were tried here when the problem was first used it was the fastest.";
    });
  }
};

TEST_F(OnlineTunerTest, TheFastestIsUsedAndKeptForTheNextProcess) {
  const std::string problem = "n=2000 taps=5 dtype=f32";
  std::string config;
  double us = 0;
  {
    Dispatcher dispatcher(trying());
    const Plan plan = dispatcher.plan("smooth", problem);
    EXPECT_TRUE(is_tried(plan));
    EXPECT_EQ(plan.match(), Match::predicted);
    EXPECT_GT(plan.expected_us(), 0);
    EXPECT_FALSE(plan.outdated());
    check(plan, "smooth");
    check(plan, "smooth", 4);
    config = plan.variant().config;
    us = plan.expected_us();
    ASSERT_TRUE(dispatcher.wait_until_ready());
    EXPECT_EQ(stored().size(), 2U) << "before the dispatcher's end";
    EXPECT_EQ(dispatcher.notes().size(), Dispatcher(options()).notes().size());
  }
  const std::vector<StoredTrial> rows = stored();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].problem.op, "smooth");
  EXPECT_EQ(rows[0].problem.text, problem);
  EXPECT_EQ(rows[0].device, row_of(host_facts()));
  EXPECT_EQ(rows[0].trial.config, config);
  EXPECT_EQ(rows[0].trial.us, us);
  EXPECT_EQ(rows[1].trial.config, config == fast ? slow : fast);
  EXPECT_EQ(rows[0].trial.source_hash.size(), 64U);
  EXPECT_NE(rows[0].trial.toolchain, "");
  EXPECT_EQ(rows[0].driver, "");
  EXPECT_EQ(rows[0].tunesmith_version, TUNESMITH_VERSION);
  EXPECT_TRUE(rows[0].is_current);
  EXPECT_FALSE(rows[0].is_tuned);
  EXPECT_EQ(Store::open(database(), Store::Mode::read_only).results().size(), 2U) << "no verdict was added";

  {
    Dispatcher next(trying());
    const Plan again = next.plan("smooth", problem);
    EXPECT_TRUE(is_tried(again));
    EXPECT_EQ(again.variant().config, config);
    EXPECT_EQ(again.expected_us(), us);
    check(again, "smooth");
  }
  EXPECT_EQ(stored().size(), 2U) << "nothing was tried again";
}

// The stored outcome decides, whichever variant it names.
TEST_F(OnlineTunerTest, WhatIsStoredDecides) {
  for (const std::string config : {slow, fast}) {
    const std::string other = config == slow ? fast : slow;
    store("n=2000 taps=5", {{config, 7.5}, {other, 9}});
    const Plan plan = Dispatcher(trying()).plan("smooth", "n=2000 taps=5");
    EXPECT_EQ(plan.variant().config, config);
    EXPECT_EQ(plan.expected_us(), 7.5);
    check(plan, "smooth");
    DispatcherOptions off = trying();
    off.tune_on_first_use = 0;
    EXPECT_FALSE(is_tried(Dispatcher(off).plan("smooth", "n=2000 taps=5")));
  }
}

TEST_F(OnlineTunerTest, ATunedProblemIsNotTried) {
  store("n=1000 taps=5", {{slow, 7.5}, {fast, 9}});
  const Plan plan = Dispatcher(trying()).plan("smooth", "n=1000 taps=5");
  EXPECT_EQ(plan.match(), Match::exact);
  EXPECT_EQ(plan.variant().config, fast);
  EXPECT_FALSE(is_tried(plan));
  EXPECT_EQ(stored().size(), 2U);
  EXPECT_TRUE(stored()[0].is_tuned);
}

TEST_F(OnlineTunerTest, WhatIsStoredIsTriedAgainWhereItCannotCount) {
  const std::string problem = "n=2000 taps=5";
  DeviceFacts other = host_facts();
  other.name += " of another kind";
  const std::vector<Trial> good = {{slow, 7.5}, {fast, 9}};
  const auto tried_again = [&](const char* why) {
    const std::size_t before = stored().size();
    EXPECT_TRUE(is_tried(Dispatcher(trying()).plan("smooth", problem))) << why;
    const std::vector<StoredTrial> rows = stored();
    EXPECT_EQ(rows.size(), before + 2) << why;
    // This time counts for the next process.
    EXPECT_EQ(Dispatcher(trying()).plan("smooth", problem).expected_us(), rows[0].trial.us) << why;
    EXPECT_EQ(stored().size(), before + 2) << why;
  };
  store(problem, good, "580.1");
  tried_again("another driver");
  std::filesystem::remove(database());
  tune({.problem = "n=1000 taps=5", .config = fast, .median_us = 10});
  tune({.problem = "n=1004 taps=5", .config = slow, .median_us = 10});
  store(problem, good, "", other);
  tried_again("another device");
  store("n=2004 taps=5", good);
  store(problem, {{slow, 7.5, "0123"}, {fast, 9}});
  tried_again("the fastest is another kernel now");
  store(problem, {{slow, 7.5}, {fast, 9, "0123"}});
  tried_again("the other is another kernel now");
  store(problem, {{"BLOCK=32 VECTOR=4 STATE=none", 7.5}, {"BLOCK=64 VECTOR=2 STATE=none", 8}});
  tried_again("others promise more now");
  store(problem, {{"BLOCK=64", 7.5}, {"", 8}});
  tried_again("no config of today");
  store(problem, {{slow, 0}, {fast, 0}});
  tried_again("none could be launched");
}

// A tuner's verdict overrules a trial: the variant that failed is not used.
TEST_F(OnlineTunerTest, WhatFailedACheckSinceIsNotUsed) {
  const std::string problem = "n=2000 taps=5 dtype=f32";
  store(problem, {{slow, 7.5}, {fast, 9}});
  EXPECT_EQ(Dispatcher(trying()).plan("smooth", problem).variant().config, slow);
  {
    Store store = Store::open(database(), Store::Mode::read_write);
    const StoredTrial trial = store.trials().front();
    const auto device = store.id_of(row_of(host_facts()));
    MeasurementRow wrong;
    wrong.session_id = store.begin_session({.device_id = device});
    wrong.variant_id =
        store.id_of(VariantRow{.template_id = store.id_of(TemplateRow{"smooth", "vector", "b"}),
                               .target = "host",
                               .source_hash = trial.trial.source_hash,
                               .config = slow});
    wrong.problem_id = store.id_of(ProblemRow{"smooth", problem});
    wrong.device_id = device;
    wrong.verdict = "wrong_result";
    wrong.reason = "It is wrong.";
    store.record(wrong);
  }
  const Plan plan = Dispatcher(trying()).plan("smooth", problem);
  EXPECT_EQ(plan.variant().config, fast);
  EXPECT_EQ(plan.expected_us(), 9);
}

TEST_F(OnlineTunerTest, AMissingDatabaseIsMadeForItsUserAlone) {
  DispatcherOptions chosen = trying();
  chosen.database = (folder_ / "data" / "tunesmith" / "t.db").string();
  const mode_t before = umask(0);
  // No time is known, so nothing is tried and no file is made.
  { Dispatcher(chosen).plan("smooth", "n=2000 taps=5"); }
  EXPECT_FALSE(std::filesystem::exists(chosen.database));
  write_first_uses(chosen.database, host_facts(),
                   {{"smooth", "n=2000 taps=5 dtype=f32", {{"vector", fast, "h", 5, "test"}}}},
                   std::chrono::milliseconds(100));
  umask(before);
  EXPECT_FALSE(why_untrusted(chosen.database));
  EXPECT_EQ(Store::open(chosen.database, Store::Mode::read_only).trials().size(), 1U);
  // In a folder that others may write, the file would not be read.
  std::filesystem::create_directory(folder_ / "open");
  std::filesystem::permissions(folder_ / "open", std::filesystem::perms::all);
  for (const char* place : {"open/t.db", "open/below/t.db"}) {
    try {
      write_first_uses((folder_ / place).string(), host_facts(), {{"smooth", "n=2000 taps=5 dtype=f32", {}}},
                       std::chrono::milliseconds(100));
      ADD_FAILURE() << place;
    } catch (const Error& error) {
      EXPECT_THAT(std::string(error.what()), HasSubstr("can be written by others")) << error.what();
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "open"));
}

// This gives a note and no exception; the outcome is used anyway, and written when that is possible.
TEST_F(OnlineTunerTest, ADatabaseThatCannotBeWrittenIsANote) {
  const auto expect_note = [&](const std::string& why, const std::string& problem) {
    Dispatcher dispatcher(trying());
    const std::vector<std::string>& before = dispatcher.notes();
    const std::size_t count = before.size();
    EXPECT_TRUE(is_tried(dispatcher.plan("smooth", problem)));
    ASSERT_TRUE(dispatcher.wait_until_ready());
    EXPECT_EQ(before.size(), count);
    ASSERT_EQ(dispatcher.notes().size(), count + 1);
    EXPECT_THAT(last_note(dispatcher),
                HasSubstr("What was tried at first uses is not kept in the database " + database()));
    EXPECT_THAT(last_note(dispatcher), HasSubstr(why));
    check(dispatcher.plan("smooth", problem), "smooth");
    dispatcher.plan("smooth", problem + " dtype=f64");
    ASSERT_TRUE(dispatcher.wait_until_ready());
    EXPECT_EQ(dispatcher.notes().size(), count + 1) << "once";
  };
  // The database is locked by another writer.
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(database().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  expect_note("another writer", "n=2000 taps=5");
  EXPECT_TRUE(stored().empty());
  {
    Dispatcher dispatcher(trying());
    dispatcher.plan("smooth", "n=2004 taps=5");
    ASSERT_TRUE(dispatcher.wait_until_ready());
    EXPECT_EQ(sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr), SQLITE_OK);
  }
  EXPECT_EQ(stored().size(), 2U) << "the end of the dispatcher";
  // The disk is full, as SQLite reports it; the file stays as it was.
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &usual), 0);
  const rlimit full{4096, usual.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  sqlite3_close(other);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  EXPECT_THROW(write_first_uses(database(), host_facts(),
                                {{"smooth", "n=9 taps=5", {{"vector", fast, "h", 5, "test"}}}},
                                std::chrono::milliseconds(100)),
               StoreError);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &usual), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(stored().size(), 2U);
  EXPECT_EQ(Store::open(database(), Store::Mode::read_only).status().check, "ok");
}

// Permissions restrict only an ordinary user. Here the user is `nobody`, as whom nothing is compiled.
TEST_F(OnlineTunerTest, AReadOnlyFileOrFolderIsASentence) {
  const auto error_of = [&] {
    const pid_t child = fork();
    if (child == 0) {
      if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(3);
      try {
        write_first_uses(database(), host_facts(), {{"smooth", "n=9 taps=5", {}}},
                         std::chrono::milliseconds(100));
      } catch (const std::exception& error) {
        _exit(std::string(error.what()).find("read-only") != std::string::npos ? 1 : 2);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  ASSERT_EQ(chmod(database().c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder_.c_str(), 0555), 0);
  EXPECT_EQ(error_of(), 1);
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  EXPECT_EQ(error_of(), 1);
}

TEST_F(OnlineTunerTest, ItIsKeptOnlyWhereThatIsAllowed) {
  DispatcherOptions chosen = trying();
  chosen.keep_first_use = false;
  {
    Dispatcher dispatcher(chosen);
    EXPECT_TRUE(is_tried(dispatcher.plan("smooth", "n=2000 taps=5")));
    ASSERT_TRUE(dispatcher.wait_until_ready());
    EXPECT_EQ(dispatcher.notes().size(), Dispatcher(options()).notes().size());
  }
  EXPECT_TRUE(stored().empty());
}

TEST_F(OnlineTunerTest, TwoProcessesMayDoItAtOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const auto hash = std::to_string(i);
      for (int n = 0; n < 20; ++n)
        write_first_uses(
            database(), host_facts(),
            {{"smooth", "n=" + std::to_string(n) + " taps=5", {{"vector", fast, hash, 5, "test"}}}},
            std::chrono::milliseconds(5000));
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(stored().size(), 40U);
  EXPECT_EQ(Store::open(database(), Store::Mode::read_only).trials().size(), 20U);
}

TEST_F(OnlineTunerTest, ItIsDoneBehindThePlan) {
  for (const Compile compile : {Compile::background, Compile::never}) {
    std::filesystem::remove_all(options().cache_folder);
    std::filesystem::remove(database());
    tune({.problem = "n=1000 taps=5", .config = fast, .median_us = 10});
    tune({.problem = "n=1004 taps=5", .config = slow, .median_us = 10});
    { Dispatcher(options()).plan("smooth", "n=10 taps=10"); }  // stores the base in the cache
    Dispatcher dispatcher(trying(compile));
    const Plan first = dispatcher.plan("smooth", "n=2000 taps=5");
    check(first, "smooth");
    ASSERT_TRUE(dispatcher.wait_until_ready());
    EXPECT_TRUE(first.outdated());
    EXPECT_FALSE(is_tried(first));
    const Plan plan = dispatcher.plan("smooth", "n=2000 taps=5");
    EXPECT_TRUE(is_tried(plan));
    EXPECT_FALSE(plan.outdated());
    check(plan, "smooth");
    const std::vector<Usage> uses = dispatcher.summary();
    ASSERT_EQ(uses.size(), 1u);
    EXPECT_EQ(uses[0].launches, 2u) << "what was tried does not count";
    EXPECT_EQ(uses[0].expected_us, plan.expected_us());
    EXPECT_EQ(stored().size(), 2U);
  }
}

TEST_F(OnlineTunerTest, ADispatcherMayGoMeanwhile) {
  for (int i = 0; i < 5; ++i) {
    Dispatcher dispatcher(trying(Compile::background));
    check(dispatcher.plan("smooth", "n=" + std::to_string(100000 + i) + " taps=5"), "smooth");
  }
}

TEST_F(OnlineTunerTest, NothingIsTriedWithoutMemoryOrADevice) {
  const Op& op = find_op("smooth");
  auto* benchmark = new FakeBenchmark;
  OnlineTuner tuner([&] { return std::unique_ptr<Benchmark>(benchmark); }, {});
  // It needs 1.6 MB; 1 MiB is free.
  tuner.try_out(op, "n=200000 taps=5 dtype=f32", candidates_with({30, 20}), {});
  EXPECT_TRUE(tuner.find(op, "n=200000 taps=5 dtype=f32").empty());
  benchmark = new FakeBenchmark;
  tuner.try_out(op, "n=20000 taps=5 dtype=f32", candidates_with({30, 20}), {});
  EXPECT_EQ(order(tuner.find(op, "n=20000 taps=5 dtype=f32")), "10");
  int given = 0;
  const auto outcomes = [&](const std::vector<FirstUseOutcome>& all) {
    given += static_cast<int>(all.size());
    if (given == 1) throw Error("The disk is full.");
  };
  EXPECT_THROW(tuner.write_new(outcomes), Error);
  tuner.write_new(outcomes);
  tuner.write_new(outcomes);
  EXPECT_EQ(given, 2) << "again after an error, and once";
  benchmark = new FakeBenchmark;
  tuner.try_out(op, "n=3000 taps=5 dtype=f32", candidates_with({-2, -3}), {});
  EXPECT_TRUE(tuner.find(op, "n=3000 taps=5 dtype=f32").empty());
  OnlineTuner refused([]() -> std::unique_ptr<Benchmark> { throw LoadError("No device."); }, {});
  refused.try_out(op, "n=20000 taps=5 dtype=f32", candidates_with({30, 20}), {});
  EXPECT_TRUE(refused.find(op, "n=20000 taps=5 dtype=f32").empty());
}

TEST(HostBenchmark, MemoryHoldsThePattern) {
  const auto benchmark = make_host_benchmark();
  EXPECT_GT(benchmark->spare_bytes(), 0);
  const std::byte pattern[] = {std::byte{1}, std::byte{2}, std::byte{3}};
  const auto* memory = static_cast<const std::byte*>(benchmark->allocate(10, pattern));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(memory[i], pattern[i % 3]);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u);
  const auto* zeros = static_cast<const std::byte*>(benchmark->allocate(10, {}));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(zeros[i], std::byte{0});
  EXPECT_NE(benchmark->allocate(0, {}), nullptr);
}

}  // namespace
}  // namespace tunesmith
