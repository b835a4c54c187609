#include "tuner/search.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// A large template and a small one; the base is in the middle of the large one.
SearchSpace two() {
  SearchSpace space{{0, number(1000, 500)}, {}};
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
  space.promising = {{1, number(4, 3)}, space.base, {0, number(1000, 70)}};
  const std::vector<Point> points = all(*make_search(GetParam(), space, 1));
  ASSERT_EQ(points.size(), 1004u);
  EXPECT_EQ(points[1], space.promising[0]);
  EXPECT_EQ(points[2], space.promising[2]);
  std::set<std::string> seen;
  for (const Point& point : points) seen.insert(std::to_string(point.template_index) + point.config.text());
  EXPECT_EQ(seen.size(), points.size());
}

// 10 x 10 points; at least one of two rules is broken by 75 of them, both by 25.
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
  SearchSpace space{{0, ruled().complete({{"A", 9}, {"B", 9}})}, {}};
  space.parts.push_back({0, ruled(), 100});
  space.parts.push_back({1, numbers(20), 20});
  space.parts.push_back({2, ruled(), 100});
  return space;
}

// How many `worth` rules each of these breaks.
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

TEST_P(Strategies, ProposeThoseThatKeepAllRulesFirstThenThoseThatBreakOneAndSoOn) {
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

TEST_P(Strategies, WithoutAPriorAllLegalConfigsAreAlike) {
  const SearchSpace space = with_rules();
  const std::vector<Point> points = all(*make_search(GetParam(), space, 1, Prior::none));
  EXPECT_EQ(names(points).size(), 220U);
  ASSERT_EQ(points.size(), 220U);
  EXPECT_EQ(points.front(), space.base);
  const std::vector<std::size_t> tiers = broken(space, {points.begin() + 1, points.end()});
  EXPECT_GT(std::count_if(tiers.begin(), tiers.begin() + 70, [](std::size_t n) { return n > 0; }), 20);
}

// What won before comes first, whatever the rules think of it, and once.
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

// 8^9 points, more than a search lists: those that keep all rules are listed, the rest is drawn.
TEST_P(Strategies, ALargeSpaceBeginsWithAllThatKeepTheRules) {
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
  SearchSpace space{{0, large.complete({})}, {}};
  space.parts.push_back({0, large, large.count()});
  const auto search = make_search(GetParam(), space, 1);
  std::vector<Point> points;
  for (int n = 0; n < 1000; ++n) points.push_back(*search->next());
  EXPECT_EQ(names(points).size(), 1000U);
  const std::vector<std::size_t> tiers = broken(space, points);
  EXPECT_TRUE(std::is_sorted(tiers.begin(), tiers.end()));
  EXPECT_EQ(std::count(tiers.begin(), tiers.end(), 0), 512) << "2^9";
}

INSTANTIATE_TEST_SUITE_P(Search, Strategies, testing::Values("exhaustive", "random"));

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
  EXPECT_EQ(all(*make_random(two(), 7)), all(*make_random(two(), 7)));
  EXPECT_NE(all(*make_random(two(), 7)), all(*make_random(two(), 8)));
}

TEST(Random, CoversASmallTemplateEarly) {
  const std::vector<Point> points = all(*make_random(two(), 3));
  std::int64_t small = 0;
  for (std::size_t i = 0; i < 100; ++i) small += points[i].template_index == 1;
  EXPECT_GE(small, 2);  // in proportion to their numbers it would be 0.4
}

// A template that has no rules may not push out those that do.
TEST(Random, DrawsFromAllTemplatesOfATier) {
  const std::vector<Point> points = all(*make_random(with_rules(), 1));
  std::map<std::size_t, int> drawn;
  for (std::size_t i = 1; i <= 35; ++i) ++drawn[points[i].template_index];
  for (const std::size_t index : {0U, 1U, 2U}) EXPECT_GE(drawn[index], 5) << index;
}

TEST(Exhaustive, GoesInOrderWithinATier) {
  const SearchSpace space = with_rules();
  const std::vector<Point> points = all(*make_exhaustive(space));
  std::vector<std::size_t> templates;
  for (std::size_t i = 1; i <= 70; ++i) templates.push_back(points[i].template_index);
  EXPECT_TRUE(std::is_sorted(templates.begin(), templates.end()));
  EXPECT_EQ(points[1].config.text(), "A=0 B=0");
  EXPECT_EQ(points[2].config.text(), "A=0 B=2");
  EXPECT_EQ(points[71].config.text(), "A=0 B=1") << "the first of the next tier";
}

TEST(Exhaustive, GoesInOrder) {
  const std::vector<Point> points = all(*make_exhaustive(two()));
  EXPECT_EQ(points[1].config[N], 0);
  EXPECT_EQ(points.back().template_index, 1u);
}

TEST(Prior, ThatIsNotKnownIsNamed) {
  EXPECT_EQ(prior_of("worth"), Prior::worth);
  EXPECT_EQ(prior_of("none"), Prior::none);
  EXPECT_THROW(prior_of("some"), UsageError);
}

TEST(Strategy, ThatIsNotKnownIsNamed) { EXPECT_THROW(make_search("genetic", two(), 0), UsageError); }

}  // namespace
}  // namespace tunesmith
