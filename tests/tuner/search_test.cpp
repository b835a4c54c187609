// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <map>
#include <set>

#include "generator/error.h"

namespace tunesmith {
namespace {

constexpr IntegerAxis N("N");
constexpr IntegerAxis A("A");
constexpr IntegerAxis B("B");

Space numbers(std::int64_t count) {
  Axis axis{"N", {}, "a number"};
  for (std::int64_t n = 0; n < count; ++n) axis.values.emplace_back(n);
  return Space({axis}, {});
}

Config number(std::int64_t count, std::int64_t n) { return numbers(count).complete({{"N", n}}); }

// A large and a small template; the base is in the middle of the large one.
SearchSpace two() {
  SearchSpace space{Point{0, number(1000, 500)}, {}};
  space.parts.push_back({0, numbers(1000), 1000});
  space.parts.push_back({1, numbers(4), 4});
  return space;
}

std::vector<Point> all(Search& search) {
  std::vector<Point> points;
  while (auto point = search.next()) {
    search.report(*point, Verdict::ok, 1);
    points.push_back(*point);
  }
  return points;
}

class Strategies : public testing::TestWithParam<const char*> {};
class Orders : public testing::TestWithParam<const char*> {};  // strategies that do not learn
class Learners : public testing::TestWithParam<const char*> {};

TEST_P(Strategies, ProposeEachVariantOnceAndTheBaseFirst) {
  const std::vector<Point> points = all(*make_search(GetParam(), two(), 1));
  ASSERT_EQ(points.size(), 1004u);
  EXPECT_EQ(static_cast<std::int64_t>(points.size()), two().count());
  EXPECT_EQ(points.front(), two().base);
  std::set<std::string> seen;
  for (const Point& point : points) seen.insert(std::to_string(point.template_index) + point.config.text());
  EXPECT_EQ(seen.size(), points.size());
}

TEST_P(Strategies, CountTheBaseWhenItsTemplateIsLeftOut) {
  SearchSpace space = two();
  space.parts.erase(space.parts.begin());
  EXPECT_EQ(space.count(), 5);
  EXPECT_EQ(all(*make_search(GetParam(), space, 1)).size(), 5u);
}

TEST_P(Strategies, ProposeWhatIsPromisingAfterTheBaseAndOnce) {
  SearchSpace space = two();
  space.promising = {{1, number(4, 3)}, *space.base, {0, number(1000, 70)}};
  const std::vector<Point> points = all(*make_search(GetParam(), space, 1));
  ASSERT_EQ(points.size(), 1004u);
  EXPECT_EQ(points[1], space.promising[0]);
  EXPECT_EQ(points[2], space.promising[2]);
  std::set<std::string> seen;
  for (const Point& point : points) seen.insert(std::to_string(point.template_index) + point.config.text());
  EXPECT_EQ(seen.size(), points.size());
}

// 10 x 10 points; 75 of them break at least one of two rules, 25 break both.
Space ruled() {
  Axis a{"A", {}, ""};
  Axis b{"B", {}, ""};
  for (std::int64_t n = 0; n < 10; ++n) a.values.emplace_back(n);
  b.values = a.values;
  return Space({a, b}, {},
               {{"A is below 5.", [](const Config& config) { return config[A] < 5; }},
                {"B is even.", [](const Config& config) { return config[B] % 2 == 0; }}});
}

// Two templates with such rules and one without; the base breaks both rules of the first.
SearchSpace with_rules() {
  SearchSpace space{Point{0, ruled().complete({{"A", 9}, {"B", 9}})}, {}};
  space.parts.push_back({0, ruled(), 100});
  space.parts.push_back({1, numbers(20), 20});
  space.parts.push_back({2, ruled(), 100});
  return space;
}

// The number of `worth` rules that each of these breaks.
std::vector<std::size_t> broken(const SearchSpace& space, const std::vector<Point>& points) {
  std::vector<std::size_t> counts;
  for (const Point& point : points)
    counts.push_back(space.parts[point.template_index].space.broken_worth(point.config));
  return counts;
}

std::set<std::string> names(const std::vector<Point>& points) {
  std::set<std::string> names;
  for (const Point& point : points)
    names.insert(std::to_string(point.template_index) + " " + point.config.text());
  return names;
}

TEST_P(Orders, ProposeThoseThatKeepAllRulesFirstThenThoseThatBreakOneAndSoOn) {
  const SearchSpace space = with_rules();
  const std::vector<Point> points = all(*make_search(GetParam(), space, 1, Prior::worth));
  ASSERT_EQ(points.size(), 220U);
  EXPECT_EQ(names(points).size(), 220U) << "each once";
  EXPECT_EQ(points.front(), space.base);
  const std::vector<std::size_t> tiers = broken(space, {points.begin() + 1, points.end()});
  EXPECT_TRUE(std::is_sorted(tiers.begin(), tiers.end()));
  EXPECT_EQ(std::count(tiers.begin(), tiers.end(), 0), 25 + 20 + 25);
  EXPECT_EQ(std::count(tiers.begin(), tiers.end(), 1), 50 + 50);
  EXPECT_EQ(std::count(tiers.begin(), tiers.end(), 2), 24 + 25) << "without the base";
}

TEST_P(Orders, WithoutAPriorAllLegalConfigsAreAlike) {
  const SearchSpace space = with_rules();
  const std::vector<Point> points = all(*make_search(GetParam(), space, 1, Prior::none));
  EXPECT_EQ(names(points).size(), 220U);
  ASSERT_EQ(points.size(), 220U);
  EXPECT_EQ(points.front(), space.base);
  const std::vector<std::size_t> tiers = broken(space, {points.begin() + 1, points.end()});
  EXPECT_GT(std::count_if(tiers.begin(), tiers.begin() + 70, [](std::size_t n) { return n > 0; }), 20);
}

// An earlier winner comes first, with any rules, and only once.
TEST_P(Strategies, AGuessIsProposedBeforeTheRulesAreAsked) {
  SearchSpace space = with_rules();
  space.promising = {{2, ruled().complete({{"A", 8}, {"B", 7}})},
                     {0, ruled().complete({{"A", 1}, {"B", 2}})}};
  const std::vector<Point> points = all(*make_search(GetParam(), space, 1, Prior::worth));
  ASSERT_EQ(points.size(), 220U);
  EXPECT_EQ(names(points).size(), 220U);
  EXPECT_EQ(points[1], space.promising[0]);
  EXPECT_EQ(points[2], space.promising[1]);
}

// 8^9 points, more than a search lists: those that keep all rules are listed, the rest are drawn.
TEST_P(Orders, ALargeSpaceBeginsWithAllThatKeepTheRules) {
  std::vector<Axis> axes;
  std::vector<Rule> worth;
  for (const char* name : {"A0", "A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8"}) {
    Axis axis{name, {}, ""};
    for (std::int64_t value = 0; value < 8; ++value) axis.values.emplace_back(value);
    axes.push_back(axis);
    const IntegerAxis handle(name);
    worth.push_back({"It is 0 or 1.", [handle](const Config& config) { return config[handle] < 2; }});
  }
  const Space large(axes, {}, worth);
  SearchSpace space{Point{0, large.complete({})}, {}};
  space.parts.push_back({0, large, large.size()});
  const auto search = make_search(GetParam(), space, 1);
  std::vector<Point> points;
  for (int n = 0; n < 1000; ++n) points.push_back(*search->next());
  EXPECT_EQ(names(points).size(), 1000U);
  const std::vector<std::size_t> tiers = broken(space, points);
  EXPECT_TRUE(std::is_sorted(tiers.begin(), tiers.end()));
  EXPECT_EQ(std::count(tiers.begin(), tiers.end(), 0), 512) << "2^9";
}

// 24 axes of 1000 values, 10^72 points; some are connected in pairs by rules, others by none.
const SearchSpace& endless() {
  static const SearchSpace made = [] {
    std::vector<Axis> axes;
    for (int i = 0; i < 24; ++i) {
      Axis axis{"A" + std::to_string(i), {}, ""};
      for (std::int64_t value = 0; value < 1000; ++value) axis.values.emplace_back(value);
      axes.push_back(axis);
    }
    const auto add_up = [](const char* a, const char* b) {
      return [x = IntegerAxis(a), y = IntegerAxis(b)](const Config& c) { return (c[x] + c[y]) % 10 == 7; };
    };
    const Space space(axes,
                      {{"A0 and A23 add up to a number that ends with 7.", add_up("A0", "A23")},
                       {"A1 and A22 do so.", add_up("A1", "A22")}},
                      {{"A2 and A21 do so.", add_up("A2", "A21")}});
    return SearchSpace{Point{0, space.complete({})}, {{0, space, space.size()}}};
  }();
  return made;
}

// No strategy lists them; each proposes legal points without repetitions, and shares have no points in
// common.
TEST_P(Strategies, ProposeFromASpaceThatNobodyCanList) {
  SearchSpace space = endless();
  EXPECT_EQ(space.parts.front().count.text(), "1.0e70");
  space.shares = 2;
  std::set<std::string> seen;
  for (space.share = 0; space.share < 2; ++space.share) {
    const auto search = make_search(GetParam(), space, 1);
    ASSERT_EQ(search->drawn().size(), 1U);
    EXPECT_GT(search->drawn().front().drawn, 40'000U);
    for (int n = 0; n < 40; ++n) {
      const auto point = search->next();
      ASSERT_TRUE(point) << n;
      EXPECT_TRUE(space.parts.front().space.is_legal(point->config)) << point->config.text();
      EXPECT_TRUE(seen.insert(point->config.text()).second || n == 0) << point->config.text();
      search->report(*point, Verdict::ok, 10 + static_cast<double>(point->config.index(2)));
    }
  }
}

TEST_P(Learners, NeighboursOfASpaceThatNobodyCanListComeNearer) {
  const auto search = make_search(GetParam(), endless(), 1, Prior::none);
  double best = 1e9;
  for (int n = 0; n < 60; ++n) {
    const auto point = search->next();
    ASSERT_TRUE(point);
    const double us = 10 + static_cast<double>(point->config.index(2) + point->config.index(5));
    best = std::min(best, us);
    search->report(*point, Verdict::ok, us);
  }
  EXPECT_LT(best, 400);
}

// 6,667 points, the fastest beside a corner where all fail.
constexpr IntegerAxis BLOCK_X("BLOCK_X");
constexpr IntegerAxis BLOCK_Y("BLOCK_Y");
constexpr IntegerAxis OUT_X("OUT_X");
constexpr IntegerAxis OUT_Y("OUT_Y");

Space bowl() {
  std::vector<Axis> axes;
  for (const char* name : {"BLOCK_X", "BLOCK_Y", "OUT_X", "OUT_Y"}) {
    Axis axis{name, {}, ""};
    for (std::int64_t value = 1; value <= 10; ++value) axis.values.emplace_back(value);
    axes.push_back(axis);
  }
  return Space(axes, {{"Their sum is no multiple of 3.", [](const Config& config) {
                         return (config[BLOCK_X] + config[BLOCK_Y] + config[OUT_X] + config[OUT_Y]) % 3 != 0;
                       }}});
}

double bowl_us(const Config& config) {
  constexpr std::array<std::size_t, 4> best = {8, 2, 7, 1};
  double us = 10;
  for (std::size_t axis = 0; axis < best.size(); ++axis)
    us += std::pow(static_cast<double>(config.index(axis)) - static_cast<double>(best[axis]), 2);
  return us;
}

bool bowl_fails(const Config& config) {
  return config.index(0) + config.index(2) > 15 && config.index(1) > 4;
}

// The best time after this many verdicts with `lag` proposals in flight, and all proposals.
std::pair<double, std::vector<Point>> searched(std::string_view strategy, std::uint64_t seed, int verdicts,
                                               std::size_t lag) {
  SearchSpace space;
  space.parts.push_back({0, bowl(), bowl().size()});
  const auto search = make_search(strategy, space, seed, Prior::none);
  std::vector<Point> proposed;
  double best_us = 1e9;
  for (int n = 0; n < verdicts; ++n) {
    while (proposed.size() <= static_cast<std::size_t>(n) + lag) proposed.push_back(*search->next());
    const Config& config = proposed[static_cast<std::size_t>(n)].config;
    if (bowl_fails(config)) {
      search->report(proposed[static_cast<std::size_t>(n)], Verdict::launch_error, 0);
    } else {
      best_us = std::min(best_us, bowl_us(config));
      search->report(proposed[static_cast<std::size_t>(n)], Verdict::ok, bowl_us(config));
    }
  }
  return {best_us, proposed};
}

TEST_P(Learners, FindTheFastestInAThirtiethOfTheSpace) {
  int found = 0;
  int by_chance = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    found += searched(GetParam(), seed, 200, 0).first < 11.5;
    by_chance += searched("random", seed, 200, 0).first < 11.5;
  }
  EXPECT_GE(found, 4);
  EXPECT_LE(by_chance, 2);
}

TEST_P(Learners, FindItWithProposalsInFlight) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) found += searched(GetParam(), seed, 200, 8).first < 13.5;
  EXPECT_GE(found, 2);
}

TEST_P(Learners, FollowTheirSeed) {
  EXPECT_EQ(searched(GetParam(), 3, 60, 2).second, searched(GetParam(), 3, 60, 2).second);
  EXPECT_NE(searched(GetParam(), 3, 60, 2).second, searched(GetParam(), 4, 60, 2).second);
}

TEST_P(Learners, ComeToTheEndWhereEverythingFails) {
  const auto search = make_search(GetParam(), two(), 1);
  std::set<std::string> seen;
  while (const auto point = search->next()) {
    seen.insert(std::to_string(point->template_index) + point->config.text());
    search->report(*point, Verdict::wrong_result, 0);
  }
  EXPECT_EQ(seen.size(), 1004U);
}

TEST_P(Learners, ComeToTheEndWithoutAnyVerdict) {
  const auto search = make_search(GetParam(), two(), 1);
  std::set<std::string> seen;
  while (const auto point = search->next())
    seen.insert(std::to_string(point->template_index) + point->config.text());
  EXPECT_EQ(seen.size(), 1004U);
}

TEST_P(Learners, ProposeNothingThatAnotherHasMeasured) {
  const SearchSpace space = two();
  const auto search = make_search(GetParam(), space, 1);
  std::set<std::string> learnt;
  for (std::int64_t n = 0; n < 1000; n += 3) {
    const Point point{0, space.parts[0].space.config(static_cast<std::uint64_t>(n))};
    search->learn(point, Verdict::ok, 1000.0 + static_cast<double>(n));
    learnt.insert("0" + point.config.text());
  }
  std::set<std::string> seen;
  while (const auto point = search->next()) {
    seen.insert(std::to_string(point->template_index) + point->config.text());
    search->report(*point, Verdict::ok, 2000);
  }
  std::size_t twice = 0;
  for (const std::string& point : learnt) twice += seen.count(point);
  EXPECT_LE(twice, 1U);  // the base is measured in any case
  EXPECT_EQ(seen.size() + learnt.size() - twice, 1004U);
}

TEST(Model, PredictsTimesThatItHasLearnt) {
  SearchSpace space;
  space.parts.push_back({0, bowl(), bowl().size()});
  const auto search = make_search("model", space, 1, Prior::none);
  EXPECT_FALSE(search->predicted_us({0, bowl().config(0)}));
  for (int n = 0; n < 150; ++n) {
    const Point point = *search->next();
    search->report(point, Verdict::ok, bowl_us(point.config));
  }
  const Config far = bowl().find(Values::parse("BLOCK_X=1 BLOCK_Y=10 OUT_X=1 OUT_Y=10")).value();
  const Config near = bowl().find(Values::parse("BLOCK_X=8 BLOCK_Y=3 OUT_X=8 OUT_Y=3")).value();
  EXPECT_NEAR(*search->predicted_us({0, near}) / bowl_us(near), 1, 0.25);
  EXPECT_GT(*search->predicted_us({0, far}), 2 * *search->predicted_us({0, near}));
}

// The compilers wait for a proposal.
TEST(Model, ProposesInMillisecondsAfterAThousandVerdicts) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "A sanitizer's own work would be measured.";
#endif
  SearchSpace space;
  space.parts.push_back({0, bowl(), bowl().size()});
  const auto search = make_search("auto", space, 1, Prior::none);
  const std::clock_t begin = std::clock();  // other processes do not count
  for (int n = 0; n < 1000; ++n) {
    const Point point = *search->next();
    search->report(point, Verdict::ok, bowl_us(point.config));
  }
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / 1000, 0.02)
      << "2 ms with optimisation";
}

// Proposes for each template in turns configs that keep all rules, and configs that break only one, each rule
// in turn.
TEST(Ablation, ProposesWhatBreaksNoRuleOrOneAlone) {
  const SearchSpace space = with_rules();
  const auto search = make_search("ablation", space, 1);
  const std::vector<Point> points = all(*search);
  ASSERT_EQ(points.size(), 220U);
  EXPECT_FALSE(search->learns());
  const std::vector<std::size_t> counts = broken(space, {points.begin() + 1, points.begin() + 171});
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 0), 70);
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 1), 100);
  const std::vector<std::size_t> first(counts.begin(), counts.begin() + 30);
  EXPECT_GE(std::count(first.begin(), first.end(), 1), 8);
  EXPECT_GE(std::count(first.begin(), first.end(), 0), 8);
}

INSTANTIATE_TEST_SUITE_P(Search, Strategies,
                         testing::Values("exhaustive", "random", "genetic", "neighbours", "model", "auto",
                                         "ablation"));
INSTANTIATE_TEST_SUITE_P(Search, Orders, testing::Values("exhaustive", "random"));
INSTANTIATE_TEST_SUITE_P(Search, Learners, testing::Values("genetic", "neighbours", "model", "auto"));

TEST(LegalPoint, IsOfATemplateThatServesTheProblemAndInItsSpace) {
  Op op;
  op.templates.resize(2);
  op.templates[0].name = "base";
  op.templates[1].name = "tiled";
  op.templates[1].space = [](const Problem&) { return numbers(4); };
  op.templates[1].minimum_compute_capability = 80;
  const Problem problem;
  DeviceFacts device;
  device.compute_capability = 90;
  EXPECT_EQ(legal_point(op, problem, device, "tiled", "N=3"), (Point{1, number(4, 3)}));
  EXPECT_FALSE(legal_point(op, problem, device, "tiled", "N=4"));
  EXPECT_FALSE(legal_point(op, problem, device, "tiled", "M=3"));
  EXPECT_FALSE(legal_point(op, problem, device, "gone", "N=3"));
  device.compute_capability = 75;
  EXPECT_FALSE(legal_point(op, problem, device, "tiled", "N=3"));
}

TEST(Random, FollowsItsSeed) {
  EXPECT_EQ(all(*make_search("random", two(), 7)), all(*make_search("random", two(), 7)));
  EXPECT_NE(all(*make_search("random", two(), 7)), all(*make_search("random", two(), 8)));
}

TEST(Random, CoversASmallTemplateEarly) {
  const std::vector<Point> points = all(*make_search("random", two(), 3));
  std::int64_t small = 0;
  for (std::size_t i = 0; i < 100; ++i) small += points[i].template_index == 1;
  EXPECT_GE(small, 2);  // in proportion to their numbers it would be 0.4
}

// A template without rules must not crowd out those with rules.
TEST(Random, DrawsFromAllTemplatesOfATier) {
  const std::vector<Point> points = all(*make_search("random", with_rules(), 1));
  std::map<std::size_t, int> drawn;
  for (std::size_t i = 1; i <= 35; ++i) ++drawn[points[i].template_index];
  for (const std::size_t index : {0U, 1U, 2U}) EXPECT_GE(drawn[index], 5) << index;
}

TEST(Exhaustive, GoesInOrderWithinATier) {
  const SearchSpace space = with_rules();
  const std::vector<Point> points = all(*make_search("exhaustive", space, 1));
  std::vector<std::size_t> templates;
  for (std::size_t i = 1; i <= 70; ++i) templates.push_back(points[i].template_index);
  EXPECT_TRUE(std::is_sorted(templates.begin(), templates.end()));
  EXPECT_EQ(points[1].config.text(), "A=0 B=0");
  EXPECT_EQ(points[2].config.text(), "A=0 B=2");
  EXPECT_EQ(points[71].config.text(), "A=0 B=1") << "the first of the next tier";
}

TEST(Exhaustive, GoesInOrder) {
  const std::vector<Point> points = all(*make_search("exhaustive", two(), 1));
  EXPECT_EQ(points[1].config[N], 0);
  EXPECT_EQ(points.back().template_index, 1u);
}

TEST(Prior, ThatIsNotKnownIsNamed) {
  EXPECT_EQ(prior_of("worth"), Prior::worth);
  EXPECT_EQ(prior_of("none"), Prior::none);
  EXPECT_THROW(prior_of("some"), UsageError);
}

TEST(Strategy, ThatIsNotKnownIsNamed) { EXPECT_THROW(make_search("gentic", two(), 0), UsageError); }

}  // namespace
}  // namespace tunesmith
