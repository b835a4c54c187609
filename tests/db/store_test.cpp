// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <thread>

#include "db/device_row.h"
#include "fixture.h"

namespace tunesmith {
namespace {

using StoreTest = DbTest;

TEST_F(StoreTest, TheSameFactsHaveTheSameId) {
  auto store = Store::open(file(), Mode::create);
  const Ids ids(store);
  EXPECT_EQ(store.id_of(gpu()), ids.device);
  auto half = gpu();
  half.sm_count /= 2;
  EXPECT_NE(store.id_of(half), ids.device);
  const auto variant = ids.variant(store, "h");
  EXPECT_EQ(ids.variant(store, "h"), variant);
  EXPECT_NE(store.id_of(VariantRow{.template_id = ids.body,
                                   .target = "host",
                                   .source_hash = "h",
                                   .config = "",
                                   .compiled_in = "",
                                   .entry = ""}),
            variant);
  EXPECT_EQ(store.id_of(ProblemRow{.op = "conv2d", .text = "batch=1 height=1000 width=2000 dtype=f32"}),
            ids.problem);
}

TEST_F(StoreTest, VerdictsOfOtherSessionsAreHeardOnce) {
  auto store = Store::open(file(), Mode::create);
  const Ids ids(store);
  store.record(ids.ok(ids.variant(store, "before"), 1));
  const auto begun = store.newest_measurement();
  const auto other = store.begin_session({.device_id = ids.device});
  store.record(ids.ok(ids.variant(store, "mine"), 2));
  auto row = ids.ok(ids.variant(store, "theirs"), 3);
  row.session_id = other;
  store.record(row);
  row = ids.failed(ids.variant(store, "bad"), "crash");
  row.session_id = other;
  store.record(row);
  row = ids.ok(ids.variant(store, "cold"), 4);
  row.session_id = other;
  row.caches = "cold";
  const auto last = store.record(row);
  const auto heard = [&](std::int64_t after) {
    return store.verdicts_of_others(ids.session, ids.device, ids.problem, Conditions(), after);
  };
  ASSERT_EQ(heard(begun).size(), 2U);
  EXPECT_EQ(heard(begun)[0].config + heard(begun)[0].template_name, "BLOCK_X=theirsconv2d_tiled");
  EXPECT_EQ(heard(begun)[0].median_us, 3);
  EXPECT_EQ(heard(begun)[1].verdict, "crash");
  EXPECT_TRUE(heard(heard(begun)[1].id).empty());
  EXPECT_EQ(store.newest_measurement(), last);
}

// An A100 of 40 GB has 42,505,273,344 bytes with older drivers and 42,298,834,944 with newer ones.
TEST_F(StoreTest, AnotherDriversMemoryIsTheSameDevice) {
  auto store = Store::open(file(), Mode::create);
  const auto id = store.id_of(gpu());
  for (const std::int64_t change : {-206'438'400, 4096, -4096}) {
    auto other = gpu();
    other.memory_bytes += change;
    EXPECT_EQ(store.id_of(other), id);
  }
  EXPECT_EQ(store.devices().size(), 1U);
  EXPECT_EQ(store.devices().front().device.memory_bytes, gpu().memory_bytes + 4096);  // the most
  DeviceRow host{.kind = "host", .name = "CPU", .target = "host", .sm_count = 8, .memory_bytes = 100};
  const auto host_id = store.id_of(host);
  for (const std::int64_t cores : {2, 16}) {  // of a virtual machine with changed settings
    host.sm_count = cores;
    host.memory_bytes = cores;
    EXPECT_EQ(store.id_of(host), host_id);
  }
}

TEST_F(StoreTest, WhatIsKnownOfADeviceStays) {
  auto store = Store::open(file(), Mode::create);
  const auto id = store.id_of(gpu());
  auto known = gpu();
  known.l2_bytes = 60 << 20;
  known.shared_bytes_per_sm = 228 << 10;
  known.max_threads_per_sm = 2048;
  known.max_shared_bytes_per_block = 227 << 10;
  EXPECT_EQ(store.id_of(known), id);
  EXPECT_EQ(store.id_of(gpu()), id);
  const auto devices = store.devices("");
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices.front().device, known);
}

TEST_F(StoreTest, LimitsThatARowLacksAreThoseOfItsCapability) {
  DeviceRow row = gpu();
  EXPECT_EQ(facts_of(row).max_shared_bytes_per_block, 227 << 10);
  EXPECT_EQ(facts_of(row).max_threads_per_multiprocessor, 2048);
  EXPECT_EQ(facts_of(row).l2_bytes, 0);
  row.compute_capability = "9.9";
  EXPECT_EQ(facts_of(row).max_shared_bytes_per_block, 48 << 10);
  row.max_shared_bytes_per_block = 100 << 10;
  EXPECT_EQ(facts_of(row).max_shared_bytes_per_block, 100 << 10);
  EXPECT_EQ(row_of(facts_of(row)), row);
}

TEST_F(StoreTest, EveryFieldComesBack) {
  auto store = Store::open(file(), Mode::create);
  const Ids ids(store);
  auto m = ids.ok(ids.variant(store, "v"), 0.1 + 0.2);
  m.is_base = true;
  const auto id = store.record(m);
  const auto rows = store.results();
  ASSERT_EQ(rows.size(), 1U);
  const auto& r = rows[0];
  EXPECT_EQ(r.measurement_id, id);
  EXPECT_EQ(r.session_id, ids.session);
  EXPECT_EQ(r.op + '|' + r.device + '|' + r.problem,
            "conv2d|Test GPU|batch=1 height=1000 width=2000 dtype=f32");
  EXPECT_EQ(r.template_name + '|' + r.config + '|' + r.compiled_in, "conv2d_tiled|BLOCK_X=v|dtype=f32");
  EXPECT_EQ(r.target + '|' + r.source_hash, "sm_90a|v");
  EXPECT_TRUE(r.is_base);
  EXPECT_TRUE(r.is_current);
  EXPECT_EQ(r.median_us, 0.1 + 0.2);
  EXPECT_EQ(r.min_us, m.min_us);
  EXPECT_EQ(r.spread, 0.01);
  EXPECT_EQ(r.max_error, 0.25);
  EXPECT_EQ(r.compile_ms, 81.5);
  EXPECT_EQ(r.registers, 32);
  EXPECT_EQ(r.static_shared_bytes, 4096);
  EXPECT_EQ(r.dynamic_shared_bytes, 0);
  EXPECT_EQ(r.spill_bytes, 0);
  EXPECT_EQ(r.toolchain + '|' + r.driver, "nvrtc 12.9|575.1");
  EXPECT_EQ(r.measured_at.size(), std::string("2026-01-01T00:00:00.000Z").size());
  EXPECT_EQ(sql(file(), "SELECT count(*) FROM results, json_each(samples_us)"), "3");
}

TEST_F(StoreTest, KnownIsTheNewestVerdictOfEachVariant) {
  auto store = Store::open(file(), Mode::create);
  const Ids ids(store);
  const auto a = ids.variant(store, "a");
  store.record(ids.ok(a, 10));
  const auto b = ids.variant(store, "b");
  const auto newest = store.record(ids.ok(a, 12));
  auto wrong_clock = ids.ok(b, 1);
  wrong_clock.measured_at = "2999-01-01T00:00:00.000Z";
  store.record(wrong_clock);
  store.record(ids.failed(b, "timeout"));
  const auto known = store.known(ids.device, ids.problem, Conditions());
  ASSERT_EQ(known.size(), 2U);
  EXPECT_EQ(known.at({"sm_90a", "a"}).measurement_id, newest);
  EXPECT_EQ(known.at({"sm_90a", "a"}).median_us, 12);
  EXPECT_EQ(known.at({"sm_90a", "b"}).verdict, "timeout");
  EXPECT_FALSE(known.at({"sm_90a", "b"}).median_us);
  EXPECT_TRUE(store.known(ids.device, ids.problem + 1, Conditions()).empty());
  EXPECT_EQ(store.results().size(), 2U);
  EXPECT_EQ(store.results({.history = true}).size(), 4U);
}

TEST_F(StoreTest, FastestAreConfigsByTheirNewestTimesWithTheseCachesAndLaunches) {
  auto store = Store::open(file(), Mode::create);
  const Ids ids(store);
  const auto a = ids.variant(store, "a");
  const auto b = ids.variant(store, "b");
  const auto c = ids.variant(store, "c");
  const auto d = ids.variant(store, "d");
  store.record(ids.ok(a, 1));
  store.record(ids.ok(a, 12));
  store.record(ids.ok(b, 10));
  store.record(ids.ok(c, 11));
  store.record(ids.failed(c, "crash"));
  auto cold = ids.ok(d, 5);
  cold.caches = "cold";
  store.record(cold);
  auto chained = ids.ok(ids.variant(store, "e"), 2);
  chained.launches = "chained";
  store.record(chained);
  const auto configs = [&](const char* caches, const char* launches, std::int64_t limit) {
    std::string text;
    for (const auto& fast : store.fastest_of("conv2d", {caches_of(caches), launches_of(launches)}, limit)) {
      EXPECT_EQ(fast.device_id, ids.device);
      text += fast.config + ";";
    }
    return text;
  };
  EXPECT_EQ(configs("warm", "apart", 8), "BLOCK_X=b;BLOCK_X=a;");
  EXPECT_EQ(configs("warm", "apart", 1), "BLOCK_X=b;");
  EXPECT_EQ(configs("cold", "apart", 8), "BLOCK_X=d;");
  EXPECT_EQ(configs("warm", "chained", 8), "BLOCK_X=e;");
  EXPECT_TRUE(store.fastest_of("conv1d", Conditions(), 8).empty());
}

TEST_F(StoreTest, ATimeIsKnownForItsCachesAndAFailureForBoth) {
  auto store = Store::open(file(), Mode::create);
  const Ids ids(store);
  const auto cold = [](MeasurementRow row) {
    row.caches = "cold";
    return row;
  };
  const auto a = ids.variant(store, "a");
  const auto b = ids.variant(store, "b");
  const auto c = ids.variant(store, "c");
  store.record(ids.ok(a, 10));
  store.record(cold(ids.ok(a, 18)));
  store.record(ids.ok(a, 11));
  store.record(ids.failed(b, "compile_error"));
  store.record(cold(ids.ok(c, 5)));
  const auto known = [&](const char* caches) {
    std::string text;
    for (const auto& [key, k] : store.known(ids.device, ids.problem, {caches_of(caches)})) {
      text += key.source_hash + "=" + k.verdict;
      if (k.median_us) text += " " + std::to_string(std::lround(*k.median_us));
      text += ";";
    }
    return text;
  };
  EXPECT_EQ(known("warm"), "a=ok 11;b=compile_error;");
  EXPECT_EQ(known("cold"), "a=ok 18;b=compile_error;c=ok 5;");
  store.record(cold(ids.failed(a, "crash")));
  EXPECT_EQ(known("warm"), "a=crash;b=compile_error;");
  store.record(cold(ids.ok(a, 17)));  // measured again
  EXPECT_EQ(known("warm"), "a=ok 11;b=compile_error;");

  // One row per current verdict; the fastest of each kind comes first.
  std::string rows;
  for (const auto& r : store.results({.verdict = "ok"}))
    rows += r.source_hash + " " + r.caches + " " + std::to_string(std::lround(*r.median_us)) + ";";
  EXPECT_EQ(rows, "a warm 11;c cold 5;a cold 17;");
  EXPECT_EQ(store.results({.history = true}).size(), 7U);
  std::string counts;
  for (const auto& [name, count] : store.status().verdicts)
    counts += name + " " + std::to_string(count) + ";";
  EXPECT_EQ(counts, "ok, cold caches 2;compile_error 1;ok 1;");
  auto neither = ids.ok(a, 1);
  neither.caches = "tepid";
  EXPECT_THROW(store.record(neither), StoreError);
}

TEST_F(StoreTest, MeasurementsAreAppendOnlyAndRefuseWhatIsNotOne) {
  auto store = Store::open(file(), Mode::create);
  const auto ids = populate(store);
  sqlite3* other = nullptr;
  sqlite3_open(file().c_str(), &other);
  EXPECT_NE(sqlite3_exec(other, "UPDATE measurement SET median_us = 1", nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_STREQ(sqlite3_errmsg(other), "a measurement is never changed: record a new one");
  EXPECT_NE(sqlite3_exec(other, "DELETE FROM measurement", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);

  const auto variant = ids.variant(store, "v");
  auto unexplained = ids.failed(variant, "crash");
  unexplained.reason = "";
  EXPECT_THAT(error_of([&] { store.record(unexplained); }),
              testing::HasSubstr("a verdict other than ok has a reason"));
  EXPECT_THAT(error_of([&] { store.record(ids.ok(variant, std::nan(""))); }),
              testing::HasSubstr("an ok measurement has a median above 0"));
  EXPECT_THROW(store.record(ids.failed(variant, "good")), StoreError);
  auto orphan = ids.ok(9999, 1);
  EXPECT_THAT(error_of([&] { store.record(orphan); }), testing::HasSubstr("FOREIGN KEY"));
  EXPECT_EQ(store.results({.history = true}).size(), 10U);
  store.record(ids.ok(variant, 1));  // a refusal leaves the store usable
}

TEST_F(StoreTest, FiltersChooseByWordsOfTheProblem) {
  auto store = Store::open(file(), Mode::create);
  const auto ids = populate(store);
  auto m = ids.ok(ids.variant(store, "fast"), 3);
  m.problem_id = store.id_of(ProblemRow{.op = "gemm", .text = "m=100 n=10 dtype=f32"});
  store.record(m);
  EXPECT_EQ(store.results().size(), 11U);
  EXPECT_EQ(store.results({.op = "gemm"}).size(), 1U);
  EXPECT_EQ(store.results({.problem = "dtype=f32 m=100"}).size(), 1U);
  EXPECT_EQ(store.results({.problem = "m=10"}).size(), 0U);
  EXPECT_EQ(store.results({.device = "test g"}).size(), 11U);
  EXPECT_EQ(store.results({.device = "sm_90a"}).size(), 11U);
  EXPECT_EQ(store.results({.device = "sm_90"}).size(), 0U);
  EXPECT_EQ(store.results({.device = "%"}).size(), 0U);
  EXPECT_EQ(store.results({.verdict = "crash"}).size(), 1U);
  EXPECT_EQ(store.results({.op = "conv2d", .limit = 2}).size(), 2U);
  EXPECT_EQ(store.results({.op = "conv2d"}).front().median_us, 25);
}

TEST_F(StoreTest, StatusTellsWhatIsThere) {
  auto store = Store::open(file(), Mode::create);
  const auto ids = populate(store);
  store.end_session(ids.session, Store::End::finished);
  const auto status = store.status();
  EXPECT_EQ(status.path, file());
  EXPECT_GT(status.size_bytes, 4096U);
  EXPECT_EQ(status.schema_version, 1);
  EXPECT_EQ(status.journal_mode, "wal");
  EXPECT_EQ(status.check, "ok");
  const auto count = [](const auto& counts, const std::string& name) -> std::int64_t {
    for (const auto& [key, value] : counts)
      if (key == name) return value;
    return -1;
  };
  EXPECT_EQ(count(status.rows, "measurement"), 10);
  EXPECT_EQ(count(status.rows, "binary"), 1);
  EXPECT_EQ(count(status.verdicts, "ok"), 3);
  EXPECT_EQ(count(status.verdicts, "crash"), 1);
  ASSERT_TRUE(status.newest_session);
  EXPECT_EQ(status.newest_session->state, "finished");
  EXPECT_EQ(status.newest_session->measurements, 10);
  EXPECT_TRUE(status.hints.empty());
  store.put_binary(
      {.variant_id = ids.variant(store, "fast"), .toolchain = "t", .hash = "made up", .bytes = blob()});
  EXPECT_THAT(store.status().check, testing::StartsWith("1 binary is damaged"));

  store.id_of(TemplateRow{.op = "conv2d", .name = "conv2d_tiled", .body_hash = "b2"});
  store.record(ids.failed(ids.variant(store, "fast"), "wrong_result"));
  sql(file(), "DELETE FROM binary");
  EXPECT_EQ(store.status().hints.size(), 3U);
}

TEST_F(StoreTest, AReaderSeesWholeCommitsWhileAWriterWrites) {
  auto writer = Store::open(file(), Mode::create);
  const Ids ids(writer);
  const auto variant = ids.variant(writer, "v");
  constexpr int total = 60;
  std::atomic<bool> done = false;
  std::size_t last = 0;
  bool ordered = true;
  std::thread reading([&] {
    auto reader = Store::open(file(), Mode::read_only);
    while (!done) {
      const auto size = reader.results({.history = true}).size();
      ordered = ordered && size >= last;
      last = size;
    }
    last = reader.results({.history = true}).size();
  });
  for (int i = 0; i < total; ++i) writer.record(ids.ok(variant, 1 + i));
  done = true;
  reading.join();
  EXPECT_TRUE(ordered);
  EXPECT_EQ(last, static_cast<std::size_t>(total));
}

TEST_F(StoreTest, TwoWritersWithShortCommitsWaitForEachOther) {
  { auto make = Store::open(file(), Mode::create); }
  const auto write = [this](const char* hash) {
    auto store = Store::open(file(), Mode::create);
    const Ids ids(store);
    for (int i = 0; i < 20; ++i) store.record(ids.ok(ids.variant(store, hash), 1 + i));
  };
  std::thread other([&] { write("a"); });
  write("b");
  other.join();
  EXPECT_EQ(Store::open(file(), Mode::read_only).results({.history = true}).size(), 40U);
}

TEST_F(StoreTest, AKillLosesOnlyWhatIsInFlight) {
  for (const int delay_ms : {5, 20, 60}) {
    SCOPED_TRACE(delay_ms);
    int acknowledged[2];
    ASSERT_EQ(pipe(acknowledged), 0);
    const auto path = file(("kill" + std::to_string(delay_ms) + ".db").c_str());
    const pid_t child = fork();
    if (child == 0) {
      auto store = Store::open(path, Mode::create);
      const Ids ids(store);
      for (int i = 0;; ++i) {
        const auto id = store.record(ids.ok(ids.variant(store, std::to_string(i)), 1 + i));
        if (write(acknowledged[1], &id, sizeof id) != sizeof id) _exit(1);
      }
    }
    close(acknowledged[1]);
    std::int64_t last = 0;
    ASSERT_EQ(read(acknowledged[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));  // it has begun
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    kill(child, SIGKILL);
    while (read(acknowledged[0], &last, sizeof last) == static_cast<ssize_t>(sizeof last)) {
    }
    close(acknowledged[0]);
    waitpid(child, nullptr, 0);

    auto store = Store::open(path, Mode::read_write);
    EXPECT_EQ(store.status().check, "ok");
    const auto rows = static_cast<std::int64_t>(store.results({.history = true}).size());
    EXPECT_GE(rows, last);
    EXPECT_LE(rows, last + 1);
    EXPECT_EQ(store.status().hints.size(), 1U);  // the session was interrupted
    const Ids next(store);
    EXPECT_EQ(store.sessions().back().state, "interrupted");
    EXPECT_EQ(store.sessions().front().state, "running");
    EXPECT_EQ(static_cast<std::int64_t>(store.known(next.device, next.problem, Conditions()).size()), rows);
  }
}

TEST_F(StoreTest, TheNewestAnchorTableOfEachKindCounts) {
  auto store = Store::open(file(), Mode::create);
  const Ids ids(store);
  const auto put = [&](std::int64_t session, const std::string& op, const std::string& text,
                       const std::string& launches = "apart") {
    store.put_anchor_table(
        {.session_id = session, .device_id = ids.device, .op = op, .launches = launches, .text = text});
  };
  put(ids.session, "conv2d", "first");
  put(ids.session, "conv2d", "second");
  put(ids.session, "reduce", "other op");
  put(ids.session, "conv2d", "chained", "chained");
  const auto later = store.begin_session({.device_id = ids.device});
  put(later, "conv2d", "later");
  put(ids.session, "conv2d", "last");  // of an older session that is still running
  const auto tables = store.anchor_tables({.op = "conv2d", .device = "test gpu"});
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].table.text, "last");
  EXPECT_EQ(tables[0].device, gpu());
  EXPECT_EQ(tables[1].table.text, "chained");
  EXPECT_EQ(tables[1].table.factors, "") << "not computed yet";
  const std::string bytes("\0\1\xff", 3);
  store.put_anchor_table({.session_id = ids.session,
                          .device_id = ids.device,
                          .op = "conv2d",
                          .text = "solved",
                          .factors = bytes});
  EXPECT_EQ(store.anchor_tables({.op = "conv2d"}).front().table.factors, bytes);
  EXPECT_EQ(store.anchor_tables().size(), 3U);
  EXPECT_TRUE(store.anchor_tables({.device = "host"}).empty());
  EXPECT_NE(error_of([&] { put(ids.session, "conv2d", "x", "sideways"); }), "no error");
}

TEST_F(StoreTest, TrialsAreNoVerdicts) {
  auto store = Store::open(file(), Mode::create);
  const auto ids = populate(store);
  store.set_winner(store.record(ids.ok(ids.variant(store, "fast"), 25)), 4);
  const auto results = store.results({.history = true}).size();
  const auto other = store.id_of(ProblemRow{"conv2d", "height=7 width=8"});
  const auto tried = [&](std::int64_t problem, const char* driver, std::optional<double> us) {
    store.put_first_use(
        {.problem_id = problem,
         .device_id = ids.device,
         .driver = driver,
         .tunesmith_version = "1.2.3",
         .trials = {{"tiled", "A=1", "fast", us, "NVRTC 13.0"}, {"base", "", "b", {}, "built in"}}});
  };
  tried(other, "580", 12.5);
  tried(ids.problem, "580", 30);
  tried(ids.problem, "590", 31);
  tried(ids.problem, "590", 32);
  EXPECT_EQ(store.results({.history = true}).size(), results);
  EXPECT_EQ(store.trials({.history = true}).size(), 8U);
  const auto all = store.trials();
  ASSERT_EQ(all.size(), 6U) << "the third was replaced by the fourth, of the same driver";
  const auto found = store.trials({.op = "conv2d", .problem = "height=7"});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].device, gpu());
  EXPECT_EQ(found[0].problem.text, "height=7 width=8");
  EXPECT_EQ(found[0].trial.template_name, "tiled");
  EXPECT_EQ(found[0].trial.config, "A=1");
  EXPECT_EQ(found[0].trial.us, 12.5);
  EXPECT_EQ(found[0].trial.toolchain, "NVRTC 13.0");
  EXPECT_EQ(found[0].driver, "580");
  EXPECT_EQ(found[0].tunesmith_version, "1.2.3");
  EXPECT_EQ(found[0].place, 1);
  EXPECT_FALSE(found[0].is_tuned);
  EXPECT_EQ(found[0].newest_verdict, "");
  EXPECT_EQ(found[1].place, 2);
  EXPECT_FALSE(found[1].trial.us);
  EXPECT_EQ(found[1].first_use, found[0].first_use);
  EXPECT_TRUE(store.trials({.op = "nosuch"}).empty());
  for (const StoredTrial& t : all) {
    if (t.problem.text == "height=7 width=8") continue;
    EXPECT_TRUE(t.is_tuned);
    EXPECT_EQ(t.newest_verdict, t.place == 1 ? "ok" : "");
    if (t.place == 1) {
      EXPECT_EQ(t.trial.us, t.driver == "580" ? 30 : 32);
    }
  }
  store.record(ids.failed(ids.variant(store, "fast"), "wrong_result"));
  for (const StoredTrial& t : store.trials({.problem = "dtype=f32"}))
    EXPECT_EQ(t.newest_verdict, t.place == 1 ? "wrong_result" : "");
  for (const char* change : {"UPDATE trial SET us = 1", "DELETE FROM trial"}) {
    sqlite3* handle = nullptr;
    sqlite3_open(file().c_str(), &handle);
    EXPECT_EQ(sqlite3_exec(handle, change, nullptr, nullptr, nullptr), SQLITE_CONSTRAINT) << change;
    sqlite3_close(handle);
  }
}

TEST_F(StoreTest, TimesOfAnOpAreItsCurrentOnes) {
  auto store = Store::open(file(), Mode::create);
  const Ids ids(store);
  const auto variant = ids.variant(store, "a");
  store.record(ids.ok(variant, 30));
  store.record(ids.ok(variant, 20));
  auto cold = ids.ok(variant, 50);
  cold.caches = "cold";
  store.record(cold);
  store.record(ids.failed(ids.variant(store, "b"), "crash"));
  const auto times = store.times_of("conv2d", ids.device, Conditions());
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].median_us, 20);
  EXPECT_EQ(times[0].template_name, "conv2d_tiled");
  EXPECT_EQ(times[0].body_hash, "b1");
  EXPECT_EQ(times[0].config, "BLOCK_X=a");
  EXPECT_TRUE(store.times_of("reduce", ids.device, Conditions()).empty());
}

}  // namespace
}  // namespace tunesmith
