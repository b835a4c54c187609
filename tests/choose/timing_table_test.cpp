// SPDX-License-Identifier: Apache-2.0
// Tests the text of an anchor table, and the greedy choice of a portfolio, on the op `smooth`.
#include "choose/timing_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "generator/error.h"
#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

// `count` legal configs of the last template for a problem whose sizes allow every width.
std::vector<TimingTable::Variant> variants(const Op& op, const Problem& problem, std::size_t count) {
  std::vector<TimingTable::Variant> made;
  const Template& tmpl = op.templates.back();
  tmpl.space(problem, {}).each([&](const Config& config) {
    if (made.size() < count) made.push_back({tmpl.name, config.values(), "0123456789ab"});
    return made.size() < count;
  });
  return made;
}

TimingTable table(std::vector<std::vector<double>> us) {
  const Op& op = find_op("smooth");
  TimingTable made;
  made.op = "smooth";
  made.weights = {{"n", 0.25}, {"noise", 1e-4}};
  for (std::size_t a = 0; a < us.size(); ++a) {
    TimingTable::Anchor& anchor = made.anchors.emplace_back();
    anchor.problem =
        complete_problem(op, Problem{{"n", static_cast<std::int64_t>(1024 << a)}, {"taps", std::int64_t{3}}});
    anchor.us = us[a];
    anchor.best_us = 1;
  }
  made.variants = variants(op, made.anchors.front().problem, us.front().size());
  EXPECT_EQ(made.variants.size(), us.front().size());
  return made;
}

TEST(TimingTable, IsReadAsItWasWritten) {
  const TimingTable one = table({{1.5, 0, 1e6}, {0.0123456, 2, 3}});
  const std::string text = write_timing_table(one);
  EXPECT_EQ(write_timing_table(read_timing_table(text, "here")), text);
  const TimingTable again = read_timing_table(text, "here");
  EXPECT_EQ(again.op, "smooth");
  EXPECT_EQ(again.weights, one.weights);
  ASSERT_EQ(again.variants.size(), 3u);
  EXPECT_EQ(again.variants[1].config, one.variants[1].config);
  ASSERT_EQ(again.anchors.size(), 2u);
  EXPECT_EQ(again.anchors[0].us[1], 0);
  for (std::size_t a : {0, 1}) EXPECT_EQ(again.anchors[a].problem, one.anchors[a].problem);
  EXPECT_THAT(text, Not(HasSubstr("dtype=f32"))) << "a default: " << text;
  EXPECT_THAT(one.anchors[0].problem.text(), HasSubstr("dtype=f32"));
  EXPECT_EQ(again.anchors[1].us[0], 0.012346);
}

TEST(TimingTable, FactorsStandBesideTheText) {
  TimingTable one = table({{1.5, 0, 1e6}, {0.5, 2, 3}});
  const std::string text = write_timing_table(one);
  EXPECT_EQ(write_factors(one), "") << "it is not solved";
  one.anchors[0].factor = {-0.25f, 0, 1.5f};
  one.anchors[0].best_factor = -0.0123f;
  one.anchors[1].factor = {1, 2, 1e-9f};
  one.solved_from = 7;
  EXPECT_EQ(write_timing_table(one), text);
  TimingTable again = read_timing_table(text, "here");
  EXPECT_TRUE(again.anchors[0].factor.empty());
  const std::string bytes = write_factors(one);
  EXPECT_EQ(bytes.size(), 8 + 4 * (2 + 5u)) << "a key, and numbers where there are times";
  read_factors(bytes, again);
  EXPECT_EQ(again.solved_from, 7u);
  for (std::size_t a = 0; a < 2; ++a) {
    EXPECT_EQ(again.anchors[a].factor, one.anchors[a].factor);
    EXPECT_EQ(again.anchors[a].best_factor, one.anchors[a].best_factor);
  }
  EXPECT_EQ(write_factors(again), bytes);
  EXPECT_TRUE(with_variants(one, {1, 0}).anchors[0].factor.empty()) << "they are of the whole table";
  EXPECT_EQ(with_variants(one, {1, 0}).solved_from, 0u);
  one.weights["threads of a block"] = 0.5;  // the times of such a table have launch shapes
  one.anchors[0].launch = {{{1, 2, 3, 4}}, {}, {{255, 0, 8, 64}}};
  one.anchors[1].launch = {{}, {{5, 6, 7, 8}}, {{9, 10, 11, 12}}};
  const std::string with_shapes = write_factors(one);
  EXPECT_EQ(with_shapes.size(), bytes.size() + 4 * 5u);
  again.weights = one.weights;
  read_factors(with_shapes, again);
  for (std::size_t a = 0; a < 2; ++a) {
    EXPECT_EQ(again.anchors[a].factor, one.anchors[a].factor);
    EXPECT_EQ(again.anchors[a].launch, one.anchors[a].launch);
  }
  EXPECT_EQ(write_factors(again), with_shapes);
  read_factors(bytes, again);
  EXPECT_EQ(again.solved_from, 0u) << "factors from before it had shapes";
  EXPECT_TRUE(with_variants(one, {1, 0}).anchors[0].launch.empty());
  again.weights.clear();
  for (const std::string& other : {bytes.substr(1), bytes + "x", with_shapes, std::string()}) {
    read_factors(other, again);
    EXPECT_EQ(again.solved_from, 0u) << "of a table of another size";
    EXPECT_TRUE(again.anchors[0].factor.empty());
  }
}

TEST(TimingTable, BadLinesAreNamed) {
  for (const char* bad : {"weight,n", "weight,n,-1", "weight,n,inf", "variant,a", "anchor,n=1,1,1,1",
                          "nothing", "op", "factor,1", "factor,x"}) {
    try {
      read_timing_table(std::string("op,smooth\n") + bad + "\n", "the table");
      ADD_FAILURE() << bad << " was read";
    } catch (const Error& error) {
      EXPECT_THAT(std::string(error.what()), HasSubstr("Line 2 of the table")) << error.what();
    }
  }
  EXPECT_THROW(read_timing_table("", "the table"), Error);
}

TEST(TimingTable, APortfolioTakesWhatGainsMostFirst) {
  // The second is near the best everywhere; the first is the best of one anchor, and the third of none.
  const TimingTable one = table({{1, 1.1, 3}, {9, 1.1, 3}, {9, 1.1, 3}});
  const Op& op = find_op("smooth");
  EXPECT_EQ(portfolio(op, {}, one, 1), (std::vector<std::size_t>{1}));
  EXPECT_EQ(portfolio(op, {}, one, 3), (std::vector<std::size_t>{1, 0}));
  const TimingTable narrow = with_variants(one, {1, 0});
  EXPECT_EQ(narrow.anchors[0].us, (std::vector<double>{1.1, 1}));
  EXPECT_EQ(narrow.variants[0].config, one.variants[1].config);
}

// Pointers are mostly aligned: a variant that is fast for aligned ones is chosen before a variant that serves
// all pointers badly.
TEST(TimingTable, AlignedPointersAreWorthMoreThanOthers) {
  const Op& op = find_op("smooth");
  TimingTable one = table({std::vector<double>(18, 0)});
  const auto with_vector = [&](std::int64_t vector) {
    return static_cast<std::size_t>(
        std::find_if(one.variants.begin(), one.variants.end(),
                     [&](const auto& variant) { return *variant.config.find("VECTOR") == Value(vector); }) -
        one.variants.begin());
  };
  const std::size_t any = with_vector(1);
  const std::size_t aligned = with_vector(4);
  ASSERT_LT(std::max(any, aligned), one.variants.size());
  one.anchors[0].us[any] = 2;
  one.anchors[0].us[aligned] = 1;
  one.anchors[0].best_any_us = 2;
  EXPECT_EQ(portfolio(op, {}, one, 1), (std::vector<std::size_t>{aligned}));
  EXPECT_EQ(portfolio(op, {}, one, 2), (std::vector<std::size_t>{aligned, any})) << "others count too";
}

TEST(TimingTable, OneAnchorDoesNotOutvoteAllOthers) {
  const TimingTable one = table({{1, 1000}, {1.9, 1}, {1.9, 1}, {1.9, 1}});
  EXPECT_EQ(portfolio(find_op("smooth"), {}, one, 1), (std::vector<std::size_t>{1}));
}

}  // namespace
}  // namespace tunesmith
