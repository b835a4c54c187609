// SPDX-License-Identifier: Apache-2.0
// Tests tables that are extended with challengers.
#include "choose/portfolio.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

const Op& transpose() { return find_op("transpose"); }

Problem square(int side) {
  return complete_problem(transpose(), Problem::parse("height=" + std::to_string(side) +
                                                      " width=" + std::to_string(side) + " dtype=b32"));
}

TimingTable::Variant base(int block_y) {
  return {"base", Values::parse("BLOCK_X=32 BLOCK_Y=" + std::to_string(block_y)), "0"};
}

TimingTable table_of(std::vector<TimingTable::Variant> variants) {
  TimingTable table;
  table.op = "transpose";
  table.variants = std::move(variants);
  return table;
}

void add(TimingTable& table, int side, double best_us, const std::vector<double>& us) {
  TimingTable::Anchor& anchor = table.anchors.emplace_back();
  anchor.problem = square(side);
  anchor.best_us = anchor.best_any_us = best_us;
  anchor.us = us;
}

TEST(Anchors, WinnersOfSingleProblemsChallengeAPortfolio) {
  TimingTable table = table_of({base(8)});
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
  const TimingTable both = challenged(table, transpose(), {}, {}, winners, 8);
  ASSERT_EQ(both.variants.size(), 3U) << "not what gains 1 %, not what is in the portfolio";
  EXPECT_EQ(both.variants[1].config, base(4).config) << "what gains most comes first";
  EXPECT_EQ(both.variants[2].config, base(2).config);
  EXPECT_EQ(both.anchors[0].us, (std::vector<double>{1.5, 0, 0}));
  EXPECT_EQ(challenged(table, transpose(), {}, {}, winners, 1).variants.size(), 2U);
}

TEST(Anchors, AChallengerDisplacesOnlyWhatIsNotNeeded) {
  std::vector<TimingTable::Variant> variants;
  for (int y = 1; y <= 33; ++y) variants.push_back(base(y));
  TimingTable table = table_of(variants);
  const auto times = [](std::size_t fast, double challenger) {
    std::vector<double> us(33, 5.0);
    us[fast] = 1;
    us[32] = challenger;
    return us;
  };
  for (std::size_t v = 0; v < 30; ++v) add(table, 100 + static_cast<int>(v), 1, times(v, 0));
  const TimingTable unneeded = narrowed(table, transpose(), {});
  EXPECT_EQ(unneeded.variants.size(), 30U) << "neither the challenger nor what is never the best";
  for (int i = 0; i < 9; ++i) add(table, 500 + i, 1, times(32, 1));
  const TimingTable chosen = narrowed(table, transpose(), {});
  EXPECT_EQ(chosen.variants.size(), 31U);
  EXPECT_EQ(chosen.variants.front().config, base(33).config) << "what gains most";
  const auto has = [&](int y) {
    return std::any_of(chosen.variants.begin(), chosen.variants.end(),
                       [&](const auto& one) { return one.config == base(y).config; });
  };
  EXPECT_FALSE(has(32));
  EXPECT_TRUE(has(30)) << "the best of an anchor where the challenger was not measured";
  EXPECT_EQ(chosen.anchors.size(), 39U);
}

// broadcast is the fastest, and compiles in which input moves along which dimension; a variant that can start
// at once stays in the portfolio beside it.
TEST(Anchors, WhatStartsAtOnceStaysBesideWhatIsForOneLayout) {
  const Op& op = find_op("elementwise");
  TimingTable table;
  table.op = op.name;
  const auto variant = [&](const std::string& name) {
    const Problem any = complete_problem(op, Problem::parse("function=add shape=4x5 b=4x1"));
    return TimingTable::Variant{name, find_template(op, name).space(any).complete({}).values(), "0"};
  };
  table.variants = {variant("base"), variant("broadcast"), variant("broadcast_any")};
  const auto repeated = [](unsigned along) {
    std::string text;
    for (const char* extent : {"4", "x5", "x6"}) {
      text += (along & 1) != 0 ? std::string(extent) : text.empty() ? "1" : "x1";
      along /= 2;
    }
    return text;
  };
  for (unsigned layout = 0; layout < 36; ++layout) {
    TimingTable::Anchor& anchor = table.anchors.emplace_back();
    anchor.problem =
        complete_problem(op, Problem::parse("function=add shape=4x5x6 a=" + repeated(1 + layout / 6) +
                                            " b=" + repeated(1 + layout % 6)));
    anchor.us = {5, 1, 1.5};
    anchor.best_us = anchor.best_any_us = 1;
  }
  const auto has_any = [](const TimingTable& narrow) {
    return std::any_of(narrow.variants.begin(), narrow.variants.end(),
                       [](const TimingTable::Variant& one) { return one.template_name == "broadcast_any"; });
  };
  EXPECT_TRUE(has_any(narrowed(table, op, {})));
  table.anchors.resize(10);  // so few layouts can all be in the library
  EXPECT_FALSE(has_any(narrowed(table, op, {})));
}

TEST(Anchors, WhatATableLacksIsListedBehindTheFastest) {
  TimingTable table = table_of({base(8), base(4), base(16), base(1000)});  // the last is not legal
  add(table, 100, 1.0, {1.5, 1.2, 1.3, 0});
  add(table, 200, 1.0, {1.2, 0, 1.1, 0});
  add(table, 300, 1.0, {0, 1.1, 0, 0});
  add(table, 400, 1.0, {0, 0, 0, 0});  // it has nothing to compare with
  const std::vector<TableGap> all = table_gaps(table, transpose(), {}, 10);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].problem, square(300)) << "what lacks most comes first";
  const auto named = [](int y) { return NamedVariant{"base", base(y).config.text()}; };
  EXPECT_EQ(all[0].variants, (std::vector<NamedVariant>{named(4), named(8), named(16)}));
  EXPECT_EQ(all[1].variants, (std::vector<NamedVariant>{named(16), named(4)}));
  EXPECT_EQ(table_gaps(table, transpose(), {}, 1).size(), 1U);
  EXPECT_EQ(table_gaps(table, transpose(), {}, 10, {"base"}).size(), 2U);
  EXPECT_TRUE(table_gaps(table, transpose(), {}, 10, {"tiled"}).empty())
      << "only variants of other templates";
  EXPECT_TRUE(table_gaps(table, transpose(), {}, 0).empty());
}

TEST(Anchors, FilledTimesAreOfTheAnchorsOwnClock) {
  TimingTable table = table_of({base(8), base(4), base(16)});
  add(table, 100, 1.0, {2, 0, 0});
  fill(table.anchors[0], {0, 3, 3}, table, transpose(), {});
  EXPECT_EQ(table.anchors[0].us, (std::vector<double>{2, 0, 0})) << "nothing to compare by";
  fill(table.anchors[0], {4, 1, 0}, table, transpose(), {});  // half as fast as then
  EXPECT_EQ(table.anchors[0].us, (std::vector<double>{2, 0.5, 0}));
  EXPECT_EQ(table.anchors[0].best_us, 0.5);
  EXPECT_EQ(table.anchors[0].best_any_us, 0.5);
  fill(table.anchors[0], {4, 7, 6}, table, transpose(), {});
  EXPECT_EQ(table.anchors[0].us[0], 2) << "what is known stays";
  EXPECT_EQ(table.anchors[0].us[1], 0.5);
  EXPECT_NEAR(table.anchors[0].us[2], 3, 1e-12) << "the upper of two ratios, 0.5 and 0.0714";
}

}  // namespace
}  // namespace tunesmith
