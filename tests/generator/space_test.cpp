// SPDX-License-Identifier: Apache-2.0
#include "generator/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <iostream>
#include <iterator>
#include <limits>
#include <set>

#include "generator/error.h"
#include "generator/random.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

constexpr IntegerAxis AXIS_0("AXIS_0");
constexpr IntegerAxis AXIS_1("AXIS_1");
constexpr IntegerAxis AXIS_2("AXIS_2");
constexpr IntegerAxis AXIS_3("AXIS_3");
constexpr IntegerAxis AXIS_6("AXIS_6");
constexpr IntegerAxis BLOCK("BLOCK");
constexpr IntegerAxis FIRST("FIRST");
constexpr IntegerAxis ITEMS("ITEMS");
constexpr IntegerAxis LAST("LAST");
constexpr CategoricalAxis LAYOUT("LAYOUT");

// 3 x 2 x 2 points; a rule on the first two axes leaves 4 x 2 of them.
Space small() {
  return Space(
      {{BLOCK, {16, 32, 64}, "threads per block"},
       {ITEMS, {1, 4}, "elements per thread"},
       {LAYOUT, {"flat", "padded"}, ""}},
      {{"A block handles at most 64 elements.", [](const Config& c) { return c[BLOCK] * c[ITEMS] <= 64; }}});
}

std::string complaint(const Space& space, std::string_view config) {
  return space.why_not(Values::parse(config)).value_or("");
}

TEST(Space, WalksInTheOrderOfTheAxesTheLastFastest) {
  std::vector<std::string> texts;
  for (const Config& config : small().all()) texts.push_back(config.text());
  const std::vector<std::string> expected = {
      "BLOCK=16 ITEMS=1 LAYOUT=flat",   "BLOCK=16 ITEMS=1 LAYOUT=padded", "BLOCK=16 ITEMS=4 LAYOUT=flat",
      "BLOCK=16 ITEMS=4 LAYOUT=padded", "BLOCK=32 ITEMS=1 LAYOUT=flat",   "BLOCK=32 ITEMS=1 LAYOUT=padded",
      "BLOCK=64 ITEMS=1 LAYOUT=flat",   "BLOCK=64 ITEMS=1 LAYOUT=padded"};
  EXPECT_EQ(texts, expected);
  EXPECT_EQ(small().count(), 8);
  EXPECT_EQ(small().raw_count(), 12);
}

TEST(Space, AWalkEndsWhenTheVisitorSaysSo) {
  int visits = 0;
  small().each([&](const Config&) { return ++visits < 3; });
  EXPECT_EQ(visits, 3);
}

TEST(Space, ARuleIsJudgedAsSoonAsItsAxesAreSet) {
  std::vector<Axis> axes = {{FIRST, {0, 1}, ""}};
  for (int i = 0; i < 10; ++i) axes.push_back({"AXIS_" + std::to_string(i), {0, 1}, ""});
  int asked = 0;
  const Space space(axes, {{"FIRST is 1.", [&](const Config& config) {
                              ++asked;
                              return config[FIRST] == 1;
                            }}});
  EXPECT_EQ(space.count(), 1024);
  EXPECT_EQ(asked, 4) << "twice to see what it reads, then 1024 points lie behind each answer";
}

// AXIS_0, AXIS_1, …, each from 0 to 9.
std::vector<Axis> digits(int count) {
  std::vector<Axis> axes;
  for (int i = 0; i < count; ++i) {
    Axis axis{"AXIS_" + std::to_string(i), {}, ""};
    for (std::int64_t value = 0; value < 10; ++value) axis.values.emplace_back(value);
    axes.push_back(axis);
  }
  return axes;
}

// The processor's seconds that `work` takes, the best of three: the machine may be busy with other work.
double seconds_of(const std::function<void()>& work) {
  double best = 1e9;
  for (int n = 0; n < 3; ++n) {
    const std::clock_t start = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

TEST(Space, EnumeratesAMillionPointsWithinASecond) {
  const Space space(digits(6), {{"The first two axes differ by less than 5.",
                                 [](const Config& c) { return std::abs(c[AXIS_0] - c[AXIS_1]) < 5; }}});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(space.raw_count(), 1000000);
  EXPECT_EQ(space.count(), 700000);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
#ifdef __OPTIMIZE__
  EXPECT_LT(seconds.count(), 1.0);
#else
  EXPECT_LT(seconds.count(), 20.0);
#endif
}

// An optimised build needs 0.1 to 0.2 s for the count and for the walk, 0.0002 s for the small sample and
// less than 0.1 s for the large one.
TEST(Space, CountsWalksAndSamplesTenMillionPoints) {
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
  constexpr double slower = 1;
#else
  constexpr double slower = 30;
#endif
  const Space space(digits(7), {{"AXIS_0 and AXIS_1 differ by less than 5.",
                                 [](const Config& c) { return std::abs(c[AXIS_0] - c[AXIS_1]) < 5; }},
                                {"AXIS_2 times AXIS_3 is at most 40.",
                                 [](const Config& c) { return c[AXIS_2] * c[AXIS_3] <= 40; }},
                                {"AXIS_0 and AXIS_6 do not add up to 9.",
                                 [](const Config& c) { return c[AXIS_0] + c[AXIS_6] != 9; }}});
  EXPECT_EQ(space.raw_count(), 10'000'000);
  constexpr std::int64_t legal = 70 * 83 * 100 * 9;  // 83 of the products are at most 40
  const double count_s = seconds_of([&] { EXPECT_EQ(space.count(), legal); });
  EXPECT_LT(count_s, 1 * slower);
  const double walk_s = seconds_of([&] {
    std::int64_t walked = 0;
    space.each([&](const Config&) { return ++walked, true; });
    EXPECT_EQ(walked, legal);
  });
  EXPECT_LT(walk_s, 1 * slower);
  const double few_s = seconds_of([&] { EXPECT_EQ(space.sample(1'000, 1).size(), 1'000U); });
  EXPECT_LT(few_s, 0.1 * slower);
  const double many_s = seconds_of([&] { EXPECT_EQ(space.sample(100'000, 1).size(), 100'000U); });
  EXPECT_LT(many_s, 1 * slower);
  std::cout << "count " << count_s << " s, walk " << walk_s << " s, samples of 1,000 and 100,000 " << few_s
            << " s and " << many_s << " s\n";
}

TEST(Space, ASampleDependsOnItsSeedAlone) {
  const Space space = small();
  EXPECT_EQ(space.sample(5, 1), space.sample(5, 1));
  EXPECT_NE(space.sample(8, 1), space.sample(8, 2));
  const std::vector<Config> everything = space.sample(100, 7);
  std::set<std::string> texts;
  for (const Config& config : everything) texts.insert(config.text());
  EXPECT_EQ(texts.size(), 8U) << "all of them, each once";
}

TEST(Space, NeighboursDifferInOneAxisAndAreLegal) {
  std::set<std::string> texts;
  for (const Config& config : small().neighbours(Values::parse("BLOCK=16 ITEMS=4 LAYOUT=flat")))
    texts.insert(config.text());
  const std::set<std::string> expected = {"BLOCK=16 ITEMS=1 LAYOUT=flat", "BLOCK=16 ITEMS=4 LAYOUT=padded"};
  EXPECT_EQ(texts, expected) << "with 4 items, larger blocks break the rule";
}

// By definition, neighbours change each value of each axis in turn. This holds for values that are legal or
// break a rule, that are on no axis or missing, and for names that are no axis.
TEST(Space, NeighboursAreWhatOneAxisMakesOfAnyValues) {
  const Space space = small();
  for (const char* text :
       {"BLOCK=32 ITEMS=1 LAYOUT=padded", "BLOCK=64 ITEMS=4 LAYOUT=flat", "BLOCK=48 ITEMS=4 LAYOUT=flat",
        "BLOCK=48 ITEMS=3 LAYOUT=flat", "BLOCK=16 ITEMS=4", "ITEMS=4 LAYOUT=flat BLOCK=17", "BLOCK=16",
        "BLOCK=16 ITEMS=1 LAYOUT=flat WARPS=1", "BLOCK=16 ITEMS=1 WARPS=1", ""}) {
    const Values values = Values::parse(text);
    std::vector<Config> expected;
    for (const Axis& axis : space.axes()) {
      for (const Value& value : axis.values) {
        Values other = values;
        other.set(axis.name, value);
        if (other == values) continue;
        if (const auto config = space.find(other)) expected.push_back(*config);
      }
    }
    EXPECT_EQ(space.neighbours(values), expected) << text;
  }
}

// 2 x 3 x 2 points; TILE_PAD has an effect only on tiles, and blocks of 48 or 64 threads are the same.
Space conditional_space() {
  return Space(
      {{CategoricalAxis("STAGE"), {"none", "tile"}, ""},
       {IntegerAxis("PAD"), {1, 0, 2}, ""},
       {BLOCK, {48, 64}, "threads per block"}},
      {conditional(
           IntegerAxis("PAD"), 0, [](const Config& c) { return c[CategoricalAxis("STAGE")] == "tile"; },
           "Without a tile PAD has no effect."),
       one_name(
           BLOCK, [](const Config&) { return 64; }, "Blocks are whole.")});
}

TEST(Space, AConditionalAxisHasOneValueWhereItHasNoEffect) {
  const Space space = conditional_space();
  std::vector<std::string> texts;
  for (const Config& config : space.all()) texts.push_back(config.text());
  EXPECT_EQ(texts, std::vector<std::string>({"STAGE=none PAD=0 BLOCK=64", "STAGE=tile PAD=1 BLOCK=64",
                                             "STAGE=tile PAD=0 BLOCK=64", "STAGE=tile PAD=2 BLOCK=64"}));
  EXPECT_EQ(space.count(), 4);
  EXPECT_EQ(complaint(space, "STAGE=none PAD=2 BLOCK=64"),
            "\"STAGE=none PAD=2 BLOCK=64\" breaks a rule: Without a tile PAD has no effect.");
  EXPECT_EQ(space.complete({}).text(), "STAGE=none PAD=0 BLOCK=64");
}

TEST(Space, NeighboursTakeConditionalAxesAlong) {
  const Space space = conditional_space();
  const auto texts = [&](std::string_view values) {
    std::set<std::string> found;
    for (const Config& config : space.neighbours(Values::parse(values))) found.insert(config.text());
    return found;
  };
  EXPECT_EQ(texts("STAGE=tile PAD=2 BLOCK=64"),
            std::set<std::string>(
                {"STAGE=none PAD=0 BLOCK=64", "STAGE=tile PAD=0 BLOCK=64", "STAGE=tile PAD=1 BLOCK=64"}));
  EXPECT_EQ(texts("STAGE=none PAD=0 BLOCK=64"), std::set<std::string>({"STAGE=tile PAD=0 BLOCK=64"}));
  // Another name of a legal config has that config among its neighbours.
  EXPECT_EQ(texts("STAGE=none PAD=2 BLOCK=48"),
            std::set<std::string>({"STAGE=none PAD=0 BLOCK=64", "STAGE=tile PAD=2 BLOCK=64"}));
}

std::vector<Value> numbers(std::int64_t count) {
  std::vector<Value> values;
  for (std::int64_t value = 0; value < count; ++value) values.emplace_back(value);
  return values;
}

std::vector<Axis> long_axes(int count, std::int64_t values) {
  std::vector<Axis> axes;
  for (int i = 0; i < count; ++i) axes.emplace_back("AXIS_" + std::to_string(i), numbers(values), "");
  return axes;
}

std::int64_t sum_of(const Config& config, std::size_t axes) {
  std::int64_t sum = 0;
  for (std::size_t axis = 0; axis < axes; ++axis) sum += std::get<std::int64_t>(config.value(axis));
  return sum;
}

// A rule on two axes of a part; which axes it reads may depend on the value that it reads first.
Rule random_rule(const std::string& a, const std::string& b, std::uint64_t kind) {
  const auto at = [](const std::string& name) {
    return [name](const Config& c) { return c[IntegerAxis(name)]; };
  };
  return {"A random rule.", [x = at(a), y = at(b), kind](const Config& c) {
            switch (kind % 4) {
              case 0:
                return x(c) + y(c) != 2;
              case 1:
                return x(c) == 0 || y(c) > 0;
              case 2:
                return x(c) != 1 || y(c) == 1;
              default:
                return (x(c) * y(c)) % 3 != 2;
            }
          }};
}

// Copies of one small random space, with the axes of all interleaved, so that no walk of the whole ends: the
// results must be those that follow from the small space.
TEST(Space, WhatNoRuleConnectsIsCountedDrawnAndFoundApart) {
  constexpr int copies = 6;
  constexpr int axes = 4;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    std::vector<std::int64_t> sizes;
    for (int i = 0; i < axes; ++i) sizes.push_back(1 + static_cast<std::int64_t>(random.below(5)));
    const auto name = [](int axis, int copy) {
      return "A" + std::to_string(axis) + "_" + std::to_string(copy);
    };
    std::vector<std::array<std::uint64_t, 3>> drawn;
    for (std::uint64_t rule = 0; rule < 1 + random.below(3); ++rule)
      drawn.push_back({random.below(axes), random.below(axes), random.next()});
    const auto rules = [&](int copy, std::vector<Rule>& to) {
      for (const auto& [a, b, kind] : drawn)
        to.push_back(random_rule(name(static_cast<int>(a), copy), name(static_cast<int>(b), copy), kind));
    };
    std::vector<Axis> small_axes;
    std::vector<Axis> large_axes;
    std::vector<Rule> small_rules;
    std::vector<Rule> large_rules;
    for (int i = 0; i < axes; ++i)
      small_axes.emplace_back(name(i, 0), numbers(sizes[static_cast<std::size_t>(i)]), "");
    for (int i = 0; i < axes; ++i)
      for (int copy = 0; copy < copies; ++copy)
        large_axes.emplace_back(name(i, copy), numbers(sizes[static_cast<std::size_t>(i)]), "");
    rules(0, small_rules);
    for (int copy = 0; copy < copies; ++copy) rules(copy, large_rules);
    const Space small(small_axes, small_rules);
    const Space large(large_axes, large_rules);
    const std::vector<Config> all = small.all();
    ASSERT_EQ(small.count(), std::ssize(all)) << seed;
    const ConfigCount count = large.size();
    EXPECT_EQ(count.precision, ConfigCount::Precision::exact) << seed;
    EXPECT_EQ(count.configs, std::pow(static_cast<double>(all.size()), copies)) << seed;
    if (all.empty()) {
      EXPECT_TRUE(large.sample(3, seed).empty());
      EXPECT_THROW((void)large.complete({}), UsageError);
      continue;
    }
    const Config first = large.complete({});
    for (int i = 0; i < axes; ++i)
      for (int copy = 0; copy < copies; ++copy)
        EXPECT_EQ(first[IntegerAxis(name(i, copy))], all.front()[IntegerAxis(name(i, 0))]) << seed;
    std::set<std::string> texts;
    const std::vector<Config> sample = large.sample(50, seed);
    EXPECT_EQ(sample, large.sample(50, seed));
    for (const Config& config : sample) {
      EXPECT_TRUE(large.is_legal(config)) << config.text();
      texts.insert(config.text());
    }
    EXPECT_EQ(static_cast<double>(texts.size()), std::min(count.configs, 50.0)) << seed;
  }
}

TEST(Space, SaysTheMagnitudeOfWhatNoIntegerCounts) {
  const Space space(long_axes(24, 1000));
  EXPECT_EQ(space.size().text(), "1.0e72");
  EXPECT_EQ(space.raw_size().text(), "1.0e72");
  EXPECT_EQ(space.count(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(count_text(space.count()), "more than 9.2e18");
  EXPECT_EQ(small().size().text(), "8");
  EXPECT_FALSE(space.is_numbered());
  EXPECT_EQ(space.sample(100, 1).size(), 100U);
  EXPECT_EQ(space.complete(Values::parse("AXIS_23=7")).values().integer("AXIS_23"), 7);
  EXPECT_LE(covering_configs(space, 8, 1).size(), most_covered + 9);
  for (const Config& config : space.sample(3, 1)) {
    std::vector<std::size_t> indices;
    for (std::size_t axis = 0; axis < 24; ++axis) indices.push_back(config.index(axis));
    EXPECT_EQ(space.config(indices), config);
  }
}

// A bug may show only where values of two axes meet.
TEST(Space, CoversPairsOfValuesByItsFurtherConfigs) {
  constexpr IntegerAxis A("A"), B("B"), C("C"), D("D");
  const Space space({{A, {0, 1}, ""}, {B, {0, 1, 2, 3}, ""}, {C, {0, 1, 2}, ""}, {D, {0, 1, 2}, ""}},
                    {{"Not both are the last.", [=](const Config& c) { return c[C] + c[D] < 4; }}});
  const auto pairs_of = [](const std::vector<Config>& configs) {
    std::set<std::array<std::size_t, 4>> pairs;
    for (const Config& config : configs)
      for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = a + 1; b < 4; ++b) pairs.insert({a, config.index(a), b, config.index(b)});
    return pairs.size();
  };
  const std::size_t all = 2 * 4 + 2 * 3 + 2 * 3 + 4 * 3 + 4 * 3 + 3 * 3 - 1;
  EXPECT_LT(pairs_of(covering_configs(space, 0, 1)), all);
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    const std::vector<Config> configs = covering_configs(space, 8, seed);
    EXPECT_EQ(configs.size(), 1U + 1 + 3 + 2 + 2 + 8);
    EXPECT_EQ(pairs_of(configs), all) << seed;
  }
  EXPECT_EQ(covering_configs(space, 1000, 1).size(), static_cast<std::size_t>(space.count()));
}

// A rule connects axes with more points than can be walked.
TEST(Space, EstimatesWhatItCannotCount) {
  const Space even(long_axes(6, 1000),
                   {{"The sum is even.", [](const Config& c) { return sum_of(c, 6) % 2 == 0; }}});
  const ConfigCount count = even.size();
  EXPECT_EQ(count.precision, ConfigCount::Precision::estimate);
  EXPECT_NEAR(count.configs, 5e17, 5e16);
  EXPECT_TRUE(count.text().starts_with("about ")) << count.text();
  const std::vector<Config> sample = even.sample(1000, 3);
  EXPECT_EQ(sample.size(), 1000U);
  for (const Config& config : sample) EXPECT_TRUE(even.is_legal(config));

  // Neither a walk from the first values nor draws find more than a few of these configs.
  const Space rare(long_axes(8, 1000),
                   {{"The sum is at most 2.", [](const Config& c) { return sum_of(c, 8) <= 2; }}});
  EXPECT_EQ(rare.size().precision, ConfigCount::Precision::at_least) << rare.size().text();
  const std::vector<Config> some = rare.sample(10, 1);
  EXPECT_FALSE(some.empty());
  for (const Config& config : some) EXPECT_TRUE(rare.is_legal(config));
  const Space none(long_axes(8, 1000),
                   {{"The sum is 7990.", [](const Config& c) { return sum_of(c, 8) == 7990; }}});
  EXPECT_TRUE(none.sample(10, 1).empty());
  try {
    (void)none.complete({});
    ADD_FAILURE() << "a config was found";
  } catch (const UsageError& error) {
    EXPECT_THAT(std::string(error.what()), HasSubstr("too rare")) << error.what();
  }
}

// A rule may divide by a number that an earlier rule says is not 0. This also holds with many axes, where
// groups are joined.
TEST(Space, ARuleMayRelyOnThoseBeforeIt) {
  std::vector<Axis> axes = long_axes(12, 1000);
  axes.push_back({"LAST", {1, 0, 2}, ""});
  int divided_by_0 = 0;
  const Space space(axes, {{"LAST is not 0.", [](const Config& c) { return c[LAST] != 0; }},
                           {"AXIS_0 is not 5.", [](const Config& c) { return c[AXIS_0] != 5; }},
                           {"LAST divides the sum of the first six.", [&](const Config& c) {
                              divided_by_0 += c[LAST] == 0 ? 1 : 0;
                              return c[LAST] == 0 || sum_of(c, 6) % c[LAST] == 0;
                            }}});
  EXPECT_EQ(space.sample(100, 1).size(), 100U);
  EXPECT_NEAR(space.size().configs, 1.5e36, 1.5e35);
  EXPECT_EQ(space.complete(Values::parse("LAST=2"))[LAST], 2);
  EXPECT_EQ(divided_by_0, 0);
}

// A plain walk would have to return to these rules through all axes between them.
TEST(Space, FindsTheFirstConfigOfRulesThatCross) {
  const Space space(long_axes(20, 100),
                    {{"AXIS_0 and AXIS_19 add up to 150.",
                      [](const Config& c) { return c[AXIS_0] + c[IntegerAxis("AXIS_19")] == 150; }},
                     {"AXIS_1 is more than twice AXIS_18.",
                      [](const Config& c) { return c[AXIS_1] > 2 * c[IntegerAxis("AXIS_18")] + 20; }}});
  const Config first = space.complete({});
  EXPECT_EQ(first[AXIS_0], 51);
  EXPECT_EQ(first[AXIS_1], 21);
  EXPECT_EQ(space.complete(Values::parse("AXIS_19=60"))[AXIS_0], 90);
}

TEST(Space, SaysWhyAConfigIsNotInIt) {
  EXPECT_EQ(complaint(small(), "BLOCK=16 ITEMS=1 LAYOUT=flat"), "");
  EXPECT_THAT(complaint(small(), "BLOCK=16 WARPS=2"), HasSubstr("WARPS is not an axis"));
  EXPECT_THAT(complaint(small(), "BLOCK=17"), HasSubstr("BLOCK=17 is not on its axis"));
  EXPECT_THAT(complaint(small(), "BLOCK=sixteen"), HasSubstr("16, 32, 64"));
  EXPECT_THAT(complaint(small(), "BLOCK=16 ITEMS=1"), HasSubstr("LAYOUT is missing"));
  EXPECT_THAT(complaint(small(), "BLOCK=64 ITEMS=4 LAYOUT=flat"), HasSubstr("at most 64 elements"));
}

TEST(Space, CompletesToTheFirstLegalConfigThatAgrees) {
  EXPECT_EQ(small().complete({}).text(), "BLOCK=16 ITEMS=1 LAYOUT=flat");
  EXPECT_EQ(small().complete(Values::parse("LAYOUT=padded ITEMS=4")).text(),
            "BLOCK=16 ITEMS=4 LAYOUT=padded");
  EXPECT_THROW((void)small().complete(Values::parse("WARPS=2")), UsageError);
  EXPECT_THROW((void)small().complete(Values::parse("BLOCK=17")), UsageError);
  EXPECT_THROW((void)small().complete(Values::parse("BLOCK=64 ITEMS=4")), UsageError);
}

TEST(Space, RefusesADescriptionThatCannotBe) {
  EXPECT_THROW(Space({{"A", {}, ""}}, {}), Error);
  EXPECT_THROW(Space({{"A", {1, "one"}, ""}}, {}), Error);
  EXPECT_THROW(Space({{"A", {1}, ""}, {"A", {2}, ""}}, {}), Error);
  const Rule of_another{"BLOCK is positive.", [](const Config& c) { return c[BLOCK] > 0; }};
  EXPECT_THROW((void)Space({{"A", {1}, ""}}, {of_another}).count(), Error);
}

TEST(Space, WithoutAxesThereIsOneConfig) {
  EXPECT_EQ(Space({}, {}).count(), 1);
  EXPECT_TRUE(Space({}, {}).complete({}).text().empty());
}

}  // namespace
}  // namespace tunesmith
