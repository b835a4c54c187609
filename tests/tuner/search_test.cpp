#include "tuner/search.h"

#include <gtest/gtest.h>

#include <set>

#include "generator/error.h"

namespace tunesmith {
namespace {

constexpr IntegerAxis N("N");

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

TEST(Exhaustive, GoesInOrder) {
  const std::vector<Point> points = all(*make_exhaustive(two()));
  EXPECT_EQ(points[1].config[N], 0);
  EXPECT_EQ(points.back().template_index, 1u);
}

TEST(Strategy, ThatIsNotKnownIsNamed) { EXPECT_THROW(make_search("genetic", two(), 0), UsageError); }

}  // namespace
}  // namespace tunesmith
