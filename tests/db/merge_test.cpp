// SPDX-License-Identifier: Apache-2.0
// Tests that merging is a union: in any order it gives the same facts and the same winners. The databases are
// random.
#include <gmock/gmock.h>

#include <cstdlib>
#include <random>
#include <sstream>
#include <vector>

#include "fixture.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

class MergeTest : public DbTest {
 protected:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  std::string any(std::initializer_list<const char*> words) { return *(words.begin() + below(words.size())); }

  // Some sessions of one machine, added to an earlier file of it, if there is one.
  std::string tuned(const std::string& name, const std::string& before = "") {
    auto store = Store::open(file(name.c_str()), Mode::create);
    if (!before.empty()) store.merge_from(file(before.c_str()), Store::Blobs::include);
    for (std::size_t sessions = 1 + below(2); sessions > 0; --sessions) tune(store);
    return name;
  }

  void tune(Store& store) {
    DeviceRow model = gpu();
    if (one_in(2)) model.l2_bytes = 60 << 20;      // the others do not know it
    if (one_in(2)) model.memory_bytes -= 1 << 20;  // as with another driver
    const auto device = store.id_of(model);
    const auto session =
        store.begin_session({.device_id = device, .device_uuid = any({"", "GPU-1", "GPU-2"})});
    const std::string caches = any({"warm", "warm", "cold"});
    const std::string launches = any({"apart", "apart", "chained"});
    const std::string objective = any({"time", "time", "edp"});
    for (std::size_t n = 1 + below(5); n > 0; --n) {
      const auto body = store.id_of(TemplateRow{"op", "t", "body" + std::to_string(below(2))});
      const std::string hash = std::to_string(body) + std::to_string(below(3));
      const auto variant = store.id_of(VariantRow{body, "sm_90a", hash, "A=" + hash, "", "t"});
      MeasurementRow row{.session_id = session,
                         .variant_id = variant,
                         .problem_id = store.id_of(ProblemRow{"op", "n=" + std::to_string(below(2))}),
                         .device_id = device,
                         .verdict = any({"ok", "ok", "ok", "ok", "wrong_result", "crash"}),
                         .measured_at = any({"2016", "2026", "2036"}) + "-01-01T00:00:00.000Z",
                         .caches = caches,
                         .launches = launches};
      const bool ok = row.verdict == "ok";
      if (ok) row.median_us = 1 + static_cast<double>(below(1000)) / 16;
      if (ok && one_in(2)) row.energy_uj = 1 + static_cast<double>(below(100));
      if (!ok) row.reason = "It failed.";
      const auto id = store.record(row);
      const std::int64_t alignment = one_in(3) ? 16 : 4;
      if (one_in(8)) store.drop_winner(session, row.problem_id, alignment);
      const auto found = one_in(4) ? Store::Evidence::provisionally : Store::Evidence::by_finals;
      if (!ok || !store.set_winner(id, alignment, one_in(5), objective_of(objective), found).taken) continue;
      store.record_finalists(id, {{id, 1, 1, 1, true}});
      store.put_binary({variant, "nvrtc", "h" + std::to_string(below(9)), {std::byte(below(9))}});
    }
    if (one_in(2)) {
      store.put_anchor_table({.session_id = session,
                              .device_id = device,
                              .op = "conv2d",
                              .text = "op,conv2d " + std::to_string(random_() % 100),
                              .factors = one_in(2) ? "factors" : ""});
    }
    if (one_in(2)) {
      store.put_first_use(
          {.problem_id = store.id_of(ProblemRow{"op", "n=" + std::to_string(below(2))}),
           .device_id = device,
           .driver = any({"1", "2"}),
           .trials = {{.template_name = "t", .config = "A=1", .us = 1 + static_cast<double>(below(9))},
                      {.template_name = "t", .config = "A=2"}}});
    }
    store.end_session(session, one_in(3) ? Store::End::interrupted : Store::End::finished);
  }

  std::string merged(const std::string& name, const std::vector<std::string>& others) {
    auto store = Store::open(file(name.c_str()), Mode::create);
    for (const std::string& other : others) store.merge_from(file(other.c_str()), Store::Blobs::include);
    return name;
  }

  // All contents of a file, without the ids that only it has.
  std::string state(const std::string& name) {
    return sql(file(name.c_str()), R"(
      WITH fact(text) AS (
        SELECT 'session ' || uid || generation || state || ended_at || device_uuid FROM session
        UNION ALL SELECT 'device ' || name || sm_count || ' ' || memory_bytes || ' ' || l2_bytes FROM device
        UNION ALL SELECT 'variant ' || source_hash || config || body_hash FROM variant JOIN template t ON t.id = template_id
        UNION ALL SELECT 'measurement ' || uid || ' ' || sequence || ' ' || m.generation || source_hash || text || verdict ||
          ifnull(median_us, '') || ifnull(energy_uj, '') || caches || launches || measured_at
          FROM measurement m JOIN session s ON s.id = session_id JOIN variant v ON v.id = variant_id
          JOIN problem p ON p.id = problem_id
        UNION ALL SELECT 'choice ' || uid || ' ' || c.sequence || ' ' || c.generation || text || alignment_bytes ||
          ifnull((SELECT sequence FROM measurement WHERE id = measurement_id), 'drop') || objective || chosen_at || provisional
          FROM choice c JOIN session s ON s.id = session_id JOIN problem p ON p.id = problem_id
        UNION ALL SELECT 'finalist ' || uid || ' ' || sequence || ratio
          FROM finalist f JOIN measurement m ON m.id = f.winner_id JOIN session s ON s.id = session_id
        UNION ALL SELECT 'winner ' || problem || alignment_bytes || w.source_hash || w.median_us || w.caches || w.launches ||
          objective || newest_verdict || has_binary || other_gpus || provisional || since || uid
          FROM winners w JOIN measurement m ON m.id = w.measurement_id JOIN session s ON s.id = m.session_id
        UNION ALL SELECT 'table ' || uid || ' ' || a.sequence || ' ' || a.generation || op || caches || launches || text || ifnull(factors, '') || made_at
          FROM anchor_table a JOIN session s ON s.id = session_id
        UNION ALL SELECT 'trial ' || problem || t.first_use || t.place || ' ' || generation || t.config || ifnull(t.us, '') ||
          t.driver || is_current || is_tuned || ifnull(newest_verdict, '') || t.tried_at
          FROM trials t JOIN trial r ON r.first_use = t.first_use AND r.place = t.place
        UNION ALL SELECT 'current ' || uid || sequence FROM current_measurement JOIN session s ON s.id = session_id
        UNION ALL SELECT 'binary ' || source_hash || hash || made_at || hex(bytes)
          FROM binary JOIN variant v ON v.id = variant_id)
      SELECT group_concat(text, char(10)) FROM (SELECT text FROM fact ORDER BY text))");
  }

  std::mt19937 random_{5};
};

TEST_F(MergeTest, IsCommutativeAssociativeAndIdempotent) {
  const char* wanted = std::getenv("TUNESMITH_MERGE_TRIPLES");
  const int triples = wanted != nullptr ? std::atoi(wanted) : 6;
  for (int i = 0; i < triples; ++i) {
    SCOPED_TRACE(i);
    const auto name = [&](const char* what) { return what + std::to_string(i); };
    const std::string a = tuned(name("a"));
    const std::string b = one_in(2) ? tuned(name("b")) : tuned(name("b"), a);
    const std::string c = one_in(2) ? tuned(name("c")) : tuned(name("c"), one_in(2) ? a : b);
    const std::string ab = merged(name("ab"), {a, b});
    ASSERT_THAT(state(ab), HasSubstr("measurement "));
    EXPECT_EQ(state(ab), state(merged(name("ba"), {b, a})));
    const std::string bc = merged(name("bc"), {b, c});
    const std::string ab_c = merged(name("ab_c"), {ab, c});
    EXPECT_EQ(state(ab_c), state(merged(name("a_bc"), {a, bc})));
    EXPECT_EQ(state(ab_c), state(merged(name("c_ab_c"), {ab_c, c, ab, a})));
    EXPECT_EQ(state(a), state(merged(name("aa"), {a, a})));
  }
}

// Each machine's first session begins with an empty file.
class TwoMachines : public MergeTest {
 protected:
  struct Machine {
    explicit Machine(Store opened) : store(std::move(opened)), ids(store) {}
    std::int64_t measure(const std::string& hash, double median_us, const std::string& at = "") {
      auto row = median_us > 0 ? ids.ok(ids.variant(store, hash), median_us)
                               : ids.failed(ids.variant(store, hash), "wrong_result");
      row.session_id = session == 0 ? ids.session : session;
      row.measured_at = at;
      return store.record(row);
    }
    void wins(const std::string& hash, double median_us, const std::string& at = "") {
      EXPECT_TRUE(store.set_winner(measure(hash, median_us, at), 4).taken);
    }
    void next_session(const std::string& gpu = "") {
      session = store.begin_session({.device_id = ids.device, .device_uuid = gpu});
    }
    std::string winner() const {
      std::string text;
      for (const auto& w : store.winners()) text += w.variant.source_hash + " " + w.newest_verdict + ";";
      return text;
    }
    Store store;
    Ids ids;
    std::int64_t session = 0;
  };
  Machine machine(const char* name) { return Machine(Store::open(file(name), Mode::create)); }
  static constexpr const char* ahead = "2036-01-01T00:00:00.000Z";
};

TEST_F(TwoMachines, AClockTenYearsAheadHidesNothing) {
  auto a = machine("a");
  a.wins("fast", 10, ahead);
  auto b = machine("b");
  b.store.merge_from(file("a"));
  b.next_session();
  b.measure("fast", 0);
  EXPECT_EQ(b.winner(), "fast wrong_result;");
  b.wins("slow", 20);
  EXPECT_EQ(b.winner(), "slow ok;");
  a.store.merge_from(file("b"));
  EXPECT_EQ(a.winner(), "slow ok;");
  EXPECT_EQ(a.store.known(a.ids.device, a.ids.problem, Conditions()).at({"sm_90a", "fast"}).verdict,
            "wrong_result");
}

TEST_F(TwoMachines, AnInterruptedShardDisplacesNoWinnerOfFinals) {
  auto a = machine("a");
  a.wins("finals", 10);
  auto b = machine("b");
  for (int session = 0; session < 3; ++session) b.next_session();  // so it is newer than all of `a`
  EXPECT_TRUE(
      b.store.set_winner(b.measure("found", 5), 4, false, Objective::time, Store::Evidence::provisionally)
          .taken);
  EXPECT_TRUE(
      b.store.set_winner(b.measure("found", 5), 16, false, Objective::time, Store::Evidence::provisionally)
          .taken);
  a.store.merge_from(file("b"));
  b.store.merge_from(file("a"));
  EXPECT_EQ(a.winner(), "finals ok;");
  EXPECT_EQ(b.winner(), "finals ok;");
  a.measure("finals", 0);  // but it is better than none
  EXPECT_EQ(a.winner(), "found ok;found ok;");
}

// The session of a killed tuner ends in any order of merging.
TEST_F(TwoMachines, AKilledSessionIsInterruptedInEveryOrder) {
  auto a = machine("a");
  auto b = machine("b");
  a.measure("a", 1);
  b.measure("b", 1);
  a.store.end_session(a.ids.session, Store::End::finished);
  b.store.end_session(b.ids.session, Store::End::finished);
  a.next_session();
  a.measure("c", 2);
  sql(file("a"), "UPDATE session SET process = process || '0' WHERE state = 'running'");
  std::filesystem::copy_file(file("a"), file("copy"));
  if (std::filesystem::exists(file("a-wal"))) std::filesystem::copy_file(file("a-wal"), file("copy-wal"));
  Store::open(file("copy"), Mode::read_write).merge_from(file("b"));
  b.store.merge_from(file("a"));
  EXPECT_EQ(state("copy"), state("b"));
  EXPECT_EQ(sql(file("copy"), "SELECT count(*) FROM session WHERE state = 'running'"), "0");
}

TEST_F(TwoMachines, AnOldShardDisplacesNoValidWinner) {
  auto old = machine("old");
  old.wins("old", 1, ahead);
  auto a = machine("a");
  a.next_session();
  a.wins("sound", 10);
  a.store.merge_from(file("old"));
  EXPECT_EQ(a.winner(), "sound ok;");
  a.measure("sound", 0);  // but it is better than none
  EXPECT_EQ(a.winner(), "old ok;");
}

TEST_F(TwoMachines, ShardsCompeteByTimeAndAWrongResultOfOneCountsForAll) {
  auto a = machine("a");
  auto b = machine("b");
  a.wins("a", 10);
  b.wins("b", 12);
  EXPECT_EQ(a.store.merge_from(file("b")).winners_kept, 1);
  EXPECT_EQ(b.store.merge_from(file("a")).winners_taken, 1);
  EXPECT_EQ(b.winner(), "a ok;");
  b.next_session();
  b.measure("a", 0);
  EXPECT_EQ(b.winner(), "b ok;");
  a.store.merge_from(file("b"));
  EXPECT_EQ(a.winner(), "b ok;");
}

TEST_F(TwoMachines, WinnersOfSeveralGpusAreMarkedUntilFinalsOnOne) {
  auto a = machine("a");
  auto b = machine("b");
  a.next_session("GPU-1");
  b.next_session("GPU-2");
  a.wins("a", 10);
  b.wins("b", 12);
  EXPECT_EQ(a.store.winners().front().other_gpus, 0);
  a.store.merge_from(file("b"));
  EXPECT_EQ(a.store.winners().front().other_gpus, 1);
  EXPECT_THAT(a.store.status().hints, testing::Contains(testing::HasSubstr("times of several GPUs")));
  a.next_session("GPU-1");
  EXPECT_TRUE(a.store.set_winner(a.measure("a", 13), 4).taken);
  EXPECT_TRUE(a.store.set_winner(a.measure("b", 11), 4).taken);
  EXPECT_EQ(a.winner(), "b ok;");
  EXPECT_EQ(a.store.winners().front().other_gpus, 0);
}

// Each session's rows follow the other's earlier rows, even if its own session began earlier.
TEST_F(TwoMachines, TwoTunersOnOneFileFollowEachOther) {
  auto first = machine("one");
  auto second = machine("one");
  second.wins("v", 10);
  EXPECT_EQ(first.winner(), "v ok;");
  first.measure("v", 0);
  EXPECT_EQ(second.winner(), "v wrong_result;");
  first.wins("w", 20);
  EXPECT_EQ(second.winner(), "w ok;");
  second.wins("w", 21);
  EXPECT_EQ(first.store.winners().front().median_us, 21);
}

TEST_F(TwoMachines, ADropHoldsAgainstWhatCameBefore) {
  auto a = machine("a");
  a.wins("gone", 5);
  auto b = machine("b");
  b.store.merge_from(file("a"));
  b.next_session();
  b.store.drop_winner(b.session, b.ids.problem, 4);
  EXPECT_EQ(b.winner(), "");
  a.store.merge_from(file("b"));
  EXPECT_EQ(a.winner(), "");
  a.next_session();
  a.wins("new", 9);
  EXPECT_EQ(a.winner(), "new ok;");
}

}  // namespace
}  // namespace tunesmith
