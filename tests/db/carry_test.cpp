// SPDX-License-Identifier: Apache-2.0
// Tests the verdicts and winners of a kernel whose text has changed, but not its machine code.
#include <gmock/gmock.h>

#include <cmath>

#include "fixture.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

class CarryTest : public DbTest {
 protected:
  CarryTest() : store_(Store::open(file(), Mode::create)), ids_(store_) {}

  std::int64_t record(const std::string& hash, double median_us) {
    return store_.record(ids_.ok(ids_.variant(store_, hash), median_us));
  }
  CarriedKernel of(const std::string& hash, const std::string& now, const std::string& body = "b2") {
    for (const StoredKernel& one : store_.kernels())
      if (one.source_hash == hash)
        return {.before = one,
                .template_now = {.op = one.op, .name = one.template_name, .body_hash = body},
                .now = {.target = one.target,
                        .source_hash = now,
                        .config = one.config,
                        .compiled_in = "dtype=f32",
                        .entry = "conv2d_tiled_" + now},
                .binary = {}};
    ADD_FAILURE() << "no kernel " << hash;
    return {};
  }
  // "hash us;" of each verdict that is not stale, the fastest first.
  std::string current() const {
    std::string text;
    for (const ResultRow& row : store_.results())
      text += row.source_hash + " " +
              (row.median_us ? std::to_string(std::lround(*row.median_us)) : row.verdict) + ";";
    return text;
  }
  std::string winner() const {
    const auto winners = store_.winners();
    return winners.empty() ? "" : winners.front().variant.source_hash;
  }

  Store store_;
  Ids ids_;
};

TEST_F(CarryTest, VerdictsWinnerAndFinalistsAreThoseOfTheNewText) {
  const std::int64_t best = record("a", 10), second = record("b", 12);
  store_.record(ids_.failed(ids_.variant(store_, "c"), "wrong_result"));
  store_.set_winner(best, 4);
  store_.record_finalists(best, {{.measurement_id = best, .ratio = 1, .tied = true},
                                 {.measurement_id = second, .ratio = 1.01, .tied = true}});
  CarriedKernel kernel = of("a", "a2");
  kernel.binary = {.toolchain = "nvrtc", .hash = "h", .bytes = {std::byte{1}}};
  const CarryReport report =
      store_.carry({kernel, of("b", "b2"), of("c", "c2")}, {}, "tunesmith db carry old");
  EXPECT_EQ(report.verdicts, 3);
  EXPECT_EQ(report.winners, 1);
  EXPECT_EQ(current(), "a2 10;b2 12;c2 wrong_result;");
  const auto winners = store_.winners();
  ASSERT_EQ(winners.size(), 1U);
  EXPECT_EQ(winners[0].variant.source_hash, "a2");
  EXPECT_EQ(winners[0].template_.body_hash, "b2");
  EXPECT_EQ(winners[0].tied, 2);
  EXPECT_TRUE(store_.binary({"sm_90a", "a2"}).has_value());
  EXPECT_EQ(sql(file(), "SELECT max(command) FROM session"),
            "tunesmith db carry old  # measured by: tune conv2d")
      << "where it is from can be read";
  EXPECT_EQ(sql(file(), "SELECT count(*) FROM results WHERE is_stale"), "3") << "the older rows are history";
  EXPECT_EQ(store_.kernels().size(), 3U);
}

TEST_F(CarryTest, WhatIsNotCarriedOfATemplateIsStale) {
  store_.set_winner(record("a", 10), 4);
  record("b", 12);
  store_.carry({of("b", "b2")}, {}, "carry");
  EXPECT_EQ(current(), "b2 12;");
  EXPECT_EQ(winner(), "a") << "no other has been named";
}

// Two GPUs of a model named winners at the same time: the better one still wins, and is marked.
TEST_F(CarryTest, SessionsStayAsConcurrentAsTheyWere) {
  const auto session = [&](const std::string& uuid) {
    return store_.begin_session(
        {.device_id = ids_.device, .command = uuid, .strategy = "random", .device_uuid = uuid});
  };
  const std::int64_t one = session("one"), two = session("two");
  sql(file(), "UPDATE session SET generation = 5 WHERE id IN (" + std::to_string(one) + "," +
                  std::to_string(two) + ")");
  const auto measured = [&](std::int64_t in, const std::string& hash, double us) {
    MeasurementRow row = ids_.ok(ids_.variant(store_, hash), us);
    row.session_id = in;
    return store_.record(row);
  };
  const std::int64_t a = measured(one, "a", 10), b = measured(two, "b", 9);
  sql(file(),
      "INSERT INTO choice (session_id, sequence, generation, problem_id, device_id, alignment_bytes, "
      "measurement_id, "
      "objective, chosen_at) SELECT session_id, 1, 5, problem_id, device_id, 4, id, 'time', '2026' FROM "
      "measurement "
      "WHERE id IN (" +
          std::to_string(a) + "," + std::to_string(b) + ")");
  store_.carry({of("a", "a2"), of("b", "b2")}, {}, "carry");
  const auto winners = store_.winners();
  ASSERT_EQ(winners.size(), 1U);
  EXPECT_EQ(winners[0].variant.source_hash, "b2");
  EXPECT_EQ(winners[0].other_gpus, 1);
}

TEST_F(CarryTest, DoneAgainItAddsNothing) {
  store_.set_winner(record("a", 10), 4);
  const CarriedKernel kernel = of("a", "a2");
  store_.carry({kernel}, {}, "carry");
  const std::string before =
      sql(file(), "SELECT count(*) || ' ' || (SELECT count(*) FROM session) FROM measurement");
  EXPECT_EQ(store_.carry({kernel}, {}, "carry").verdicts, 0);
  EXPECT_EQ(sql(file(), "SELECT count(*) || ' ' || (SELECT count(*) FROM session) FROM measurement"), before);
}

TEST_F(CarryTest, ATimeThatWasMeasuredSinceStays) {
  record("a", 10);
  const CarriedKernel kernel = of("a", "a2", "b1");
  record("a2", 8);
  EXPECT_EQ(store_.carry({kernel}, {}, "carry").verdicts, 0);
  EXPECT_THAT(current(), HasSubstr("a2 8;"));
}

TEST_F(CarryTest, TablesAreReplacedByLaterOnes) {
  record("a", 10);
  store_.put_anchor_table(
      {.session_id = ids_.session, .device_id = ids_.device, .op = "conv2d", .text = "old"});
  const std::int64_t table = store_.anchor_tables().front().id;
  EXPECT_EQ(store_.carry({}, {{table, "new"}}, "carry").tables, 1);
  ASSERT_EQ(store_.anchor_tables().size(), 1U);
  EXPECT_EQ(store_.anchor_tables().front().table.text, "new");
}

TEST_F(CarryTest, AFailureLeavesTheFileAsItWas) {
  store_.set_winner(record("a", 10), 4);
  const CarriedKernel kernel = of("a", "a2");
  sql(file(), "CREATE TRIGGER no_choice BEFORE INSERT ON choice BEGIN SELECT raise(ABORT, 'no'); END");
  const std::string before = sql(file(),
                                 "SELECT count(*) || ' ' || (SELECT count(*) FROM session) || ' ' || (SELECT "
                                 "count(*) FROM variant) FROM measurement");
  EXPECT_NE(error_of([&] { store_.carry({kernel}, {}, "carry"); }), "no error");
  EXPECT_EQ(sql(file(),
                "SELECT count(*) || ' ' || (SELECT count(*) FROM session) || ' ' || (SELECT count(*) FROM "
                "variant) FROM measurement"),
            before);
  EXPECT_EQ(winner(), "a");
  sql(file(), "DROP TRIGGER no_choice");
  EXPECT_EQ(store_.carry({kernel}, {}, "carry").verdicts, 1)
      << "nothing is left behind that stands in the way";
}

// A carried file merges with the file that it was carried from, in either order, like any other file.
TEST_F(CarryTest, MergingKnowsBoth) {
  store_.set_winner(record("a", 10), 4);
  std::filesystem::copy_file(file(), file("before.db"));
  store_.carry({of("a", "a2")}, {}, "carry");
  Store other = Store::open(file("before.db"), Mode::read_write);
  other.merge_from(file());
  store_.merge_from(file("before.db"));
  EXPECT_EQ(other.winners().front().variant.source_hash, "a2");
  EXPECT_EQ(winner(), "a2");
}

}  // namespace
}  // namespace tunesmith
