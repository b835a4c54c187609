#include "generator/space.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "generator/error.h"

namespace tunesmith {
namespace {

constexpr IntegerAxis AXIS_0("AXIS_0");
constexpr IntegerAxis AXIS_1("AXIS_1");
constexpr IntegerAxis BLOCK("BLOCK");
constexpr IntegerAxis FIRST("FIRST");
constexpr IntegerAxis ITEMS("ITEMS");
constexpr WordAxis LAYOUT("LAYOUT");

// 3 x 2 x 2 points, of which a rule on the first two axes leaves 4 x 2.
Space small() {
  return Space(
      {{BLOCK, {16, 32, 64}, "threads a block"},
       {ITEMS, {1, 4}, "elements a thread"},
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
  EXPECT_EQ(asked, 3) << "once to see what it reads, then 1024 points lie behind each answer";
}

TEST(Space, EnumeratesAMillionPointsWithinASecond) {
  std::vector<Axis> axes;
  for (int i = 0; i < 6; ++i) {
    Axis axis{"AXIS_" + std::to_string(i), {}, ""};
    for (std::int64_t value = 0; value < 10; ++value) axis.values.emplace_back(value);
    axes.push_back(axis);
  }
  const Space space(axes, {{"The first two axes differ by less than 5.",
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

TEST(Space, SaysWhyAConfigIsNotInIt) {
  EXPECT_EQ(complaint(small(), "BLOCK=16 ITEMS=1 LAYOUT=flat"), "");
  EXPECT_NE(complaint(small(), "BLOCK=16 WARPS=2").find("WARPS is not an axis"), std::string::npos);
  EXPECT_NE(complaint(small(), "BLOCK=17").find("BLOCK=17 is not on its axis"), std::string::npos);
  EXPECT_NE(complaint(small(), "BLOCK=sixteen").find("16, 32, 64"), std::string::npos);
  EXPECT_NE(complaint(small(), "BLOCK=16 ITEMS=1").find("LAYOUT is missing"), std::string::npos);
  EXPECT_NE(complaint(small(), "BLOCK=64 ITEMS=4 LAYOUT=flat").find("at most 64 elements"),
            std::string::npos);
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
