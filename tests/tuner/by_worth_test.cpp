// Which points are tried first, when compiling them takes more or less time.
#include "tuner/by_worth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tuner/additive_model.h"

namespace tunesmith {
namespace {

constexpr IntegerAxis UNROLL("UNROLL");
constexpr IntegerAxis BLOCK("BLOCK");
constexpr IntegerAxis SHAPE("SHAPE");

Space space() {
  std::vector<Value> shapes;
  for (std::int64_t shape = 0; shape < 100; ++shape) shapes.emplace_back(shape);
  return Space({{UNROLL, {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{4}}, "unrolling"},
                {BLOCK, {std::int64_t{32}, std::int64_t{64}, std::int64_t{128}}, "threads per block"},
                {SHAPE, shapes, "has no effect"}},
               {});
}

SearchSpace search_space_of(const Space& space) {
  SearchSpace all{Point{0, space.config(0)}, {}};
  all.parts.push_back({0, space, space.count()});
  return all;
}

double compile_ms(const Config& config) {
  return (config[UNROLL] == 0 ? 900.0 : 100.0) * (config[BLOCK] == 128 ? 2 : 1);
}

TEST(AdditiveModel, LearnsTheFactorOfEachValue) {
  const Space all = space();
  AdditiveModel model;
  for (std::uint64_t number = 0; number < 11; ++number)
    model.learn(all.config(101 * number), std::log(compile_ms(all.config(101 * number))));
  EXPECT_FALSE(model.predict(all.config(5)));
  for (std::uint64_t number = 11; number < 60; ++number)
    model.learn(all.config(101 * number % 1200), std::log(compile_ms(all.config(101 * number % 1200))));
  for (std::uint64_t number = 0; number < 1200; number += 7) {
    const Config config = all.config(number);
    EXPECT_NEAR(*model.predict(config), std::log(compile_ms(config)), 0.3) << config.text();
  }
}

// Tries `count` points and answers with how many of them were not unrolled by 0, 1, …
std::map<std::int64_t, int> tried(Search& search, int count, double (*time_us)(const Config&)) {
  std::map<std::int64_t, int> unrolled;
  for (int i = 0; i < count; ++i) {
    const Point point = *search.next();
    ++unrolled[point.config[UNROLL]];
    search.compiled(point, compile_ms(point.config));
    search.report(point, Verdict::ok, time_us(point.config));
  }
  return unrolled;
}

TEST(ByWorth, PutsOffWhatTakesLongToCompileAndIsSlow) {
  const SearchSpace all = search_space_of(space());
  const auto slow = [](const Config& config) { return config[UNROLL] == 0 ? 12.3 : 10.0; };
  const int blind = tried(*make_search("random", all, 1), 240, slow)[0];
  EXPECT_GT(blind, 40);  // of a quarter of the points
  EXPECT_LT(tried(*by_worth(make_search("random", all, 1)), 240, slow)[0], blind / 4);
}

TEST(ByWorth, TriesWhatTakesLongToCompileWhereItIsFast) {
  const SearchSpace all = search_space_of(space());
  const auto fast = [](const Config& config) { return config[UNROLL] == 0 ? 2.0 : 10.0; };
  const int blind = tried(*make_search("random", all, 1), 240, fast)[0];
  EXPECT_GT(tried(*by_worth(make_search("random", all, 1)), 240, fast)[0], blind);
}

TEST(ByWorth, LeavesNothingOutAndDoesNotLikeWhatFails) {
  const SearchSpace all = search_space_of(space());
  const auto search = by_worth(make_search("random", all, 1));
  std::set<std::string> seen;
  int failed_early = 0;
  while (const auto point = search->next()) {
    EXPECT_TRUE(seen.insert(point->config.text()).second);
    const bool fails = point->config[UNROLL] == 4;
    if (fails && seen.size() <= 300) ++failed_early;
    search->compiled(*point, compile_ms(point->config));
    search->report(*point, fails ? Verdict::wrong_result : Verdict::ok, fails ? 0 : 10);
  }
  EXPECT_EQ(seen.size(), 1200u);
  EXPECT_LT(failed_early, 40);
}

}  // namespace
}  // namespace tunesmith
