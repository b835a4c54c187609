// Tables that are extended with challengers.
#include "cli/anchors.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "generator/ops.h"

namespace tunesmith {
namespace {

const Op& transpose() { return find_op("transpose"); }

Problem square(int side) {
  return complete_problem(transpose(), Values::parse("height=" + std::to_string(side) +
                                                     " width=" + std::to_string(side) + " dtype=b32"));
}

AnchorTable::Variant base(int block_y) {
  return {"base", Values::parse("BLOCK_X=32 BLOCK_Y=" + std::to_string(block_y)), "0"};
}

AnchorTable table_of(std::vector<AnchorTable::Variant> variants) {
  AnchorTable table;
  table.op = "transpose";
  table.variants = std::move(variants);
  return table;
}

void add(AnchorTable& table, int side, double best_us, const std::vector<double>& us) {
  AnchorTable::Anchor& anchor = table.anchors.emplace_back();
  anchor.problem = square(side);
  anchor.best_us = anchor.best_any_us = best_us;
  anchor.us = us;
}

TEST(Anchors, WinnersOfSingleProblemsChallengeAPortfolio) {
  AnchorTable table = table_of({base(8)});
  add(table, 100, 1.0, {1.5});
  add(table, 200, 1.0, {1.2});
  add(table, 300, 1.0, {1.01});
  const auto winner = [](int side, int block_y) {
    return BuiltIn{"transpose", square(side).text(), "base", base(block_y).config.text()};
  };
  const std::vector<BuiltIn> winners = {winner(200, 2),
                                        winner(100, 4),
                                        winner(300, 16),
                                        winner(100, 8),
                                        {"reduce", "length=9", "base", "BLOCK=256"}};
  const AnchorTable both = challenged(table, transpose(), {}, "", winners, 8);
  ASSERT_EQ(both.variants.size(), 3U) << "not what gains 1 %, not what is in the portfolio";
  EXPECT_EQ(both.variants[1].config, base(4).config) << "what gains most comes first";
  EXPECT_EQ(both.variants[2].config, base(2).config);
  EXPECT_EQ(both.anchors[0].us, (std::vector<double>{1.5, 0, 0}));
  EXPECT_EQ(challenged(table, transpose(), {}, "", winners, 1).variants.size(), 2U);
}

TEST(Anchors, APortfolioIsChosenAnewWhereChallengersWereMeasured) {
  AnchorTable table = table_of({base(8), base(16), base(4), base(32)});
  add(table, 100, 1, {1, 2, 0, 0});
  add(table, 200, 1, {2, 1, 0, 0});
  for (int i = 0; i < 63; ++i) add(table, 300 + i, 1, {2, 3, 1, 1.5});
  AnchorTable few = narrowed(table, transpose(), {}, 2);
  ASSERT_EQ(few.variants.size(), 2U) << "63 anchors say nothing of challengers";
  EXPECT_EQ(few.variants[1].config, base(16).config);
  EXPECT_EQ(few.anchors.size(), 65U);
  add(table, 400, 1, {2, 3, 1, 1.5});
  add(table, 500, 1, {2, 1, 0, 0});  // no challenger was measured there
  const AnchorTable chosen = narrowed(table, transpose(), {}, 2);
  ASSERT_EQ(chosen.variants.size(), 2U) << "the others gain nothing behind the first";
  EXPECT_EQ(chosen.variants[0].config, base(4).config);
  EXPECT_EQ(chosen.variants[1].config, base(8).config) << "a base is always among them";
  EXPECT_EQ(chosen.anchors.size(), 64U) << "an anchor with one time says nothing";
}

}  // namespace
}  // namespace tunesmith
