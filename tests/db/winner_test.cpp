// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

class WinnerTest : public DbTest {
 protected:
  WinnerTest() : store_(Store::open(file(), Mode::create)), ids_(store_) {}

  std::int64_t ok(const std::string& hash, double median_us, std::int64_t body = 0) {
    return store_.record(ids_.ok(ids_.variant(store_, hash, body), median_us));
  }
  std::int64_t failed(const std::string& hash, const std::string& verdict) {
    return store_.record(ids_.failed(ids_.variant(store_, hash), verdict));
  }
  std::int64_t cold(const std::string& hash, double median_us, bool is_base = false) {
    auto row = ids_.ok(ids_.variant(store_, hash), median_us);
    row.caches = "cold";
    row.is_base = is_base;
    return store_.record(row);
  }
  std::string winner(std::int64_t alignment_bytes = 4) {
    for (const auto& w : store_.winners())
      if (w.alignment_bytes == alignment_bytes) return w.variant.source_hash;
    return "";
  }

  Store store_;
  Ids ids_;
};

TEST_F(WinnerTest, OnlyAFasterVariantReplaces) {
  EXPECT_TRUE(store_.set_winner(ok("a", 10), 4).taken);
  EXPECT_FALSE(store_.set_winner(ok("b", 10), 4).taken);
  EXPECT_FALSE(store_.set_winner(ok("c", 11), 4).taken);
  EXPECT_EQ(winner(), "a");
  EXPECT_TRUE(store_.set_winner(ok("d", 9), 4).taken);
  EXPECT_EQ(winner(), "d");
}

TEST_F(WinnerTest, AFailureNeverReplaces) {
  store_.set_winner(ok("a", 10), 4);
  for (const char* verdict : {"compile_error", "timeout", "crash", "wrong_result"}) {
    const auto result = store_.set_winner(failed("b", verdict), 4, true);
    EXPECT_FALSE(result.taken);
    EXPECT_THAT(result.why, HasSubstr(verdict));
  }
  EXPECT_EQ(winner(), "a");
  EXPECT_THROW(store_.set_winner(9999, 4), StoreError);
}

TEST_F(WinnerTest, AFailureOfTheWinnerLeavesItUntilASoundOneComes) {
  store_.set_winner(ok("a", 10), 4);
  failed("a", "timeout");
  EXPECT_EQ(winner(), "a");
  EXPECT_EQ(store_.winners().front().newest_verdict, "timeout");
  // A passing fault is no reason to take a slower winner.
  EXPECT_FALSE(store_.set_winner(ok("b", 20), 4).taken);
  failed("a", "wrong_result");
  EXPECT_TRUE(store_.set_winner(ok("c", 30), 4).taken);
  EXPECT_EQ(winner(), "c");
}

TEST_F(WinnerTest, MeasuredAgainItsNewTimeCounts) {
  store_.set_winner(ok("a", 10), 4);
  EXPECT_TRUE(store_.set_winner(ok("a", 14), 4).taken);
  EXPECT_EQ(store_.winners().front().median_us, 14);
  ok("a", 16);  // without set_winner
  EXPECT_TRUE(store_.set_winner(ok("b", 15), 4).taken);
}

TEST_F(WinnerTest, AnOlderMeasurementOfTheWinnerDoesNotReturn) {
  const auto first = ok("a", 10);
  EXPECT_TRUE(store_.set_winner(ok("a", 12), 4).taken);
  EXPECT_FALSE(store_.set_winner(first, 4).taken);
}

TEST_F(WinnerTest, AVariantSinceFoundWrongCannotWin) {
  store_.set_winner(ok("a", 10), 4);
  const auto fast = ok("b", 5);
  failed("b", "out_of_bounds");
  EXPECT_FALSE(store_.set_winner(fast, 4).taken);
}

TEST_F(WinnerTest, AStaleWinnerGivesWayToASlowerOne) {
  store_.set_winner(ok("a", 10), 4);
  const auto edited = store_.id_of(TemplateRow{.op = "conv2d", .name = "conv2d_tiled", .body_hash = "b2"});
  const auto other = store_.id_of(TemplateRow{.op = "conv2d", .name = "conv2d_direct", .body_hash = "x"});
  EXPECT_FALSE(store_.set_winner(ok("o", 20, other), 4).taken);
  EXPECT_TRUE(store_.set_winner(ok("e", 20, edited), 4).taken);
  EXPECT_TRUE(store_.set_winner(ok("p", 30, other), 4, true).taken);
}

TEST_F(WinnerTest, ADroppedOneTakesItsBinaryAndLeavesItsMeasurements) {
  store_.set_winner(ok("a", 10), 16);
  store_.set_winner(ok("a", 10), 8);
  store_.set_winner(ok("b", 12), 4);
  const auto a = ids_.variant(store_, "a");
  store_.put_binary({.variant_id = a, .toolchain = "nvrtc 12.9", .hash = "h", .bytes = blob()});
  store_.drop_winner(ids_.session, ids_.problem, 16);
  EXPECT_EQ(store_.winners().size(), 2U);
  EXPECT_TRUE(store_.binary({"sm_90a", "a"}));  // it still wins at 8
  store_.drop_winner(ids_.session, ids_.problem, 8);
  store_.drop_winner(ids_.session, ids_.problem, 8);  // no such winner
  EXPECT_EQ(winner(), "b");
  EXPECT_FALSE(store_.binary({"sm_90a", "a"}));
  EXPECT_EQ(store_.results({.history = true}).size(), 3U);
}

TEST_F(WinnerTest, FinalsReplaceAProvisionalOneEvenByASlowerOne) {
  const auto provisionally = [&](std::int64_t measurement, std::int64_t alignment = 4) {
    return store_.set_winner(measurement, alignment, false, Objective::time, Store::Evidence::provisionally);
  };
  EXPECT_TRUE(provisionally(ok("a", 10)).taken);
  EXPECT_TRUE(store_.winners().front().provisional);
  EXPECT_FALSE(provisionally(ok("b", 11)).taken);
  EXPECT_TRUE(provisionally(ok("c", 9), 16).taken);
  EXPECT_EQ(winner() + winner(16), "ac");
  EXPECT_THAT(store_.status().hints,
              testing::Contains(testing::HasSubstr("2 winners are provisional, because their runs were")));

  EXPECT_TRUE(store_.set_winner(ok("d", 12), 4).taken);
  EXPECT_EQ(winner() + winner(16), "d");
  EXPECT_FALSE(store_.winners().front().provisional);
  const auto late = provisionally(ok("e", 1), 16);
  EXPECT_FALSE(late.taken);
  EXPECT_EQ(late.why, "Finals have named the problem's winner.");
  failed("d", "wrong_result");
  EXPECT_TRUE(provisionally(ok("f", 2)).taken);
  EXPECT_EQ(winner(), "f");
}

TEST_F(WinnerTest, AProvisionalOneOfOtherCachesHoldsNobodyUp) {
  const auto row = cold("a", 10);
  EXPECT_TRUE(store_.set_winner(row, 4, false, Objective::time, Store::Evidence::provisionally).taken);
  EXPECT_TRUE(store_.set_winner(ok("b", 20), 4).taken);
  EXPECT_EQ(winner(), "b");
  EXPECT_FALSE(
      store_.set_winner(cold("c", 1), 4, false, Objective::time, Store::Evidence::provisionally).taken);
  EXPECT_EQ(winner(), "b");
}

TEST_F(WinnerTest, WhatWasTriedIsKnownWithoutAWinner) {
  ok("a", 10);
  EXPECT_EQ(store_.tried("conv2d", ids_.device, Conditions()).size(), 1U);
  EXPECT_FALSE(store_.tried("conv2d", ids_.device, Conditions()).front().has_winner);
  EXPECT_TRUE(store_.tried("conv2d", ids_.device, Conditions{Caches::cold}).empty());
  EXPECT_TRUE(store_.tried("reduce", ids_.device, Conditions()).empty());
  store_.set_winner(ok("b", 9), 4);
  auto table = ids_.ok(ids_.variant(store_, "c"), 3);
  table.stage = "table";
  store_.record(table);
  const auto tried = store_.tried("conv2d", ids_.device, Conditions());
  EXPECT_TRUE(tried.front().has_winner);
  EXPECT_TRUE(tried.front().is_anchor);
}

TEST_F(WinnerTest, OfOtherCachesIsStale) {
  const auto before = ok("late", 1);
  store_.set_winner(ok("a", 10), 4);
  const auto tuned = store_.set_winner(cold("b", 20), 4);
  EXPECT_TRUE(tuned.taken);
  EXPECT_THAT(tuned.why, testing::HasSubstr("measured with warm caches, and this one with cold caches"));
  EXPECT_EQ(winner(), "b");
  EXPECT_EQ(store_.winners().front().caches, "cold");
  const auto earlier = store_.set_winner(before, 4);  // as when files are merged
  EXPECT_FALSE(earlier.taken);
  EXPECT_THAT(earlier.why, testing::HasSubstr("measured later and with cold caches"));
  EXPECT_FALSE(store_.set_winner(before, 16).taken);  // nor is it kept beside it
  EXPECT_TRUE(store_.set_winner(before, 4, true).taken);
  EXPECT_EQ(store_.winners().front().caches, "warm");
  // The same variant, measured in the present way.
  EXPECT_THAT(store_.set_winner(cold("late", 30), 4).why, testing::HasSubstr("again, with cold caches"));
  EXPECT_EQ(store_.winners().front().median_us, 30);
  // A faster variant does not have to beat its warm time, which is shorter.
  EXPECT_FALSE(store_.set_winner(cold("c", 31), 4).taken);
  EXPECT_TRUE(store_.set_winner(cold("d", 29), 4).taken);
}

TEST_F(WinnerTest, AllOfAProblemHaveTheSameCaches) {
  for (const char* hash : {"a", "b"})
    store_.put_binary(
        {.variant_id = ids_.variant(store_, hash), .toolchain = "t", .hash = "h", .bytes = blob()});
  store_.set_winner(ok("a", 10), 4);
  store_.set_winner(ok("b", 8), 16);
  EXPECT_TRUE(store_.set_winner(cold("a", 20), 4).taken);
  ASSERT_EQ(store_.winners().size(), 1U);
  EXPECT_TRUE(store_.binary({"sm_90a", "a"}));
  EXPECT_FALSE(store_.binary({"sm_90a", "b"}));
  EXPECT_TRUE(store_.set_winner(cold("b", 18), 16).taken);
  EXPECT_EQ(store_.winners().size(), 2U);
}

TEST_F(WinnerTest, IsComparedWithWhatWasMeasuredWithItsCaches) {
  auto base = ids_.ok(ids_.variant(store_, "base"), 40);
  base.is_base = true;
  store_.record(base);
  cold("base", 60, true);
  ok("slow", 400);
  cold("slow", 90);
  ok("a", 10);
  store_.set_winner(cold("a", 20), 4);
  base.median_us = 44;
  store_.record(base);
  ok("a", 12);
  const auto w = store_.winners().front();
  EXPECT_EQ(w.caches, "cold");
  EXPECT_EQ(w.median_us, 20);
  EXPECT_EQ(w.base_us, 60);
  EXPECT_EQ(w.worst_us, 90);
  EXPECT_EQ(sql(file(), "SELECT caches || ' ' || speedup_over_base FROM winners"), "cold 3.0");

  // A failure counts under all caches; a time counts only under its own.
  failed("a", "wrong_result");
  EXPECT_EQ(store_.winners().front().newest_verdict, "wrong_result");
  EXPECT_FALSE(store_.set_winner(cold("b", 30), 16, true).why.empty());
  EXPECT_TRUE(store_.set_winner(cold("b", 30), 4).taken);
  ok("a", 12);
  EXPECT_TRUE(store_.set_winner(cold("a", 25), 4).taken);
  EXPECT_EQ(store_.winners().front().newest_verdict, "ok");
}

TEST_F(WinnerTest, AlignmentsDevicesAndProblemsHaveTheirOwn) {
  store_.set_winner(ok("a", 10), 4);
  store_.set_winner(ok("b", 20), 16);
  EXPECT_EQ(winner(4), "a");
  EXPECT_EQ(winner(16), "b");
  EXPECT_THROW(store_.set_winner(ok("c", 1), 0), StoreError);
}

TEST_F(WinnerTest, ABinaryLeavesWithItsWinner) {
  const auto a = ids_.variant(store_, "a");
  const auto m = ok("a", 10);
  store_.set_winner(m, 4);
  store_.set_winner(m, 16);
  store_.put_binary({.variant_id = a, .toolchain = "t", .hash = "h", .bytes = blob()});
  store_.set_winner(ok("b", 9), 4);
  ASSERT_TRUE(store_.binary({"sm_90a", "a"}));  // still the winner for 16 bytes
  EXPECT_EQ(store_.binary({"sm_90a", "a"})->bytes, blob());
  store_.set_winner(ok("b", 9), 16);
  EXPECT_FALSE(store_.binary({"sm_90a", "a"}));
}

TEST_F(WinnerTest, DispatchReadsEverythingAtOnce) {
  auto base = ids_.ok(ids_.variant(store_, "base"), 100);
  base.is_base = true;
  store_.record(base);
  ok("slow", 300);
  const auto a = ids_.variant(store_, "a");
  store_.set_winner(ok("a", 50), 16);
  store_.put_binary({.variant_id = a, .toolchain = "nvrtc 12.9", .hash = "h", .bytes = blob()});
  const auto reader = Store::open(file(), Mode::read_only);
  const auto rows = reader.winners({}, Store::Load::dispatch);
  ASSERT_EQ(rows.size(), 1U);
  const auto& w = rows[0];
  EXPECT_EQ(w.device, gpu());
  EXPECT_EQ(w.problem.op, "conv2d");
  EXPECT_EQ(w.problem.text, "batch=1 height=1000 width=2000 dtype=f32");
  EXPECT_EQ(w.template_, (TemplateRow{.op = "conv2d", .name = "conv2d_tiled", .body_hash = "b1"}));
  EXPECT_EQ(w.variant.entry, "conv2d_tiled_a");
  EXPECT_EQ(w.variant.compiled_in, "dtype=f32");
  EXPECT_EQ(w.variant_id, a);
  EXPECT_EQ(w.alignment_bytes, 16);
  EXPECT_EQ(w.median_us, 50);
  EXPECT_EQ(w.newest_verdict, "ok");
  ASSERT_TRUE(w.binary);
  EXPECT_EQ(w.binary->bytes, blob());
  EXPECT_EQ(w.binary->hash, "h");
  EXPECT_FALSE(w.base_us);

  const auto report = reader.winners({.op = "conv2d"});
  ASSERT_EQ(report.size(), 1U);
  EXPECT_EQ(report[0].base_us, 100);
  EXPECT_EQ(report[0].worst_us, 300);
  EXPECT_FALSE(report[0].binary);

  const auto bare = reader.winners({}, Store::Load::tuning);
  ASSERT_EQ(bare.size(), 1U);
  EXPECT_EQ(bare[0].median_us, 50);
  EXPECT_FALSE(bare[0].base_us || bare[0].worst_us || bare[0].binary);
  EXPECT_EQ(sql(file(), "SELECT speedup_over_base || ' ' || speedup_over_worst FROM winners"), "2.0 6.0");
  EXPECT_TRUE(reader.winners({.op = "gemm"}).empty());
}

}  // namespace
}  // namespace tunesmith
