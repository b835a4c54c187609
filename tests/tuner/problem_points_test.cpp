// SPDX-License-Identifier: Apache-2.0
// Tests the variants that each mode tries on a problem, from stored, listed and built-in ones.
#include "tuner/run/problem_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/generator/test_op.h"

namespace tunesmith {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t here = 7;

class ProblemPointsTest : public testing::Test {
 protected:
  std::string text(const Point& point) const {
    return op_.templates[point.template_index].name + " " + point.config.text();
  }
  std::vector<std::string> texts(const std::vector<Point>& points) const {
    std::vector<std::string> all;
    for (const Point& point : points) all.push_back(text(point));
    return all;
  }
  Store::Fast fast(std::int64_t device, const std::string& problem, const std::string& config,
                   const std::string& template_name = "fixed") const {
    return {device, complete_problem(op_, Problem::parse(problem)).text(), template_name, config};
  }

  Op op_ = scale_op();
  Problem problem_ = complete_problem(op_, Problem::parse("n=1024"));
  DeviceFacts device_ = {.kind = DeviceKind::cuda, .name = "", .target = "sm_90a", .compute_capability = 90};
  SearchSpace space_ = search_space(op_, problem_, device_);
  Place place_{op_, problem_, device_};
  std::string base_ = text(*space_.base);
};

TEST_F(ProblemPointsTest, WhatIsStoredIsOfThisProblemAndDeviceAndStillLegal) {
  const std::vector<Store::Fast> fastest = {
      fast(here, "n=1024", "BLOCK=64 VECTOR=4 STORE_MODE=plain"),
      fast(here, "n=2048", "BLOCK=64 VECTOR=1 STORE_MODE=plain"),                // another problem
      fast(8, "n=1024", "BLOCK=64 VECTOR=1 STORE_MODE=plain"),                   // another device
      fast(here, "n=1024", "BLOCK=128 VECTOR=4 STORE_MODE=plain"),               // not legal any more
      fast(here, "n=1024", "BLOCK=64 VECTOR=4 STORE_MODE=plain", "gone"),        // nor is its template
      fast(here, "n=1024", space_.base->config.text(), op_.templates[0].name)};  // the base is there
  EXPECT_THAT(texts(stored_points(place_, *space_.base, fastest, here)),
              ElementsAre(base_, "fixed BLOCK=64 VECTOR=4 STORE_MODE=plain"));
}

TEST_F(ProblemPointsTest, WhatIsListedIsTriedWhereItIsLegal) {
  const std::vector<NamedVariant> listed = {{"fixed", "BLOCK=64 VECTOR=4 STORE_MODE=plain"},
                                            {"base", "BLOCK=64 VECTOR=1 STORE_MODE=plain"}};
  EXPECT_THAT(texts(listed_points(place_, *space_.base, listed)),
              ElementsAre(base_, "fixed BLOCK=64 VECTOR=4 STORE_MODE=plain",
                          "base BLOCK=64 VECTOR=1 STORE_MODE=plain"));
  const Problem odd = complete_problem(op_, Problem::parse("n=1023"));  // VECTOR=4 is not legal
  EXPECT_THAT(texts(listed_points({op_, odd, device_}, *space_.base, listed)),
              ElementsAre(base_, "base BLOCK=64 VECTOR=1 STORE_MODE=plain"));
}

TEST_F(ProblemPointsTest, ChecksOfSeveralProblemsCoverTogetherWhatOneCovers) {
  std::vector<std::string> together;
  for (const std::size_t problem : {0u, 1u, 2u}) {
    const std::vector<std::string> part = texts(covering_points(space_, 3, 1, problem, 3));
    EXPECT_EQ(part.front(), base_);
    together.insert(together.end(), part.begin(), part.end());
  }
  std::vector<std::string> whole = texts(covering_points(space_, 3, 1, 0, 1));
  std::sort(whole.begin(), whole.end());
  EXPECT_EQ(std::adjacent_find(whole.begin(), whole.end()), whole.end()) << "one is tried twice";
  std::sort(together.begin(), together.end());
  together.erase(std::unique(together.begin(), together.end()), together.end());
  EXPECT_EQ(together, whole);
}

TEST_F(ProblemPointsTest, AGuessOfAnotherProblemOrDeviceIsFartherAway) {
  const std::vector<BuiltIn> built_in = {
      {"scale", problem_.text(), "fixed", "BLOCK=64 VECTOR=4 STORE_MODE=plain"},
      {"conv2d", "", "tiled", ""},                // another op's
      {"scale", "gone=3", "fixed", "BLOCK=64"}};  // of a problem that the op no longer has
  WinnerRow won;
  won.problem.text = complete_problem(op_, Problem::parse("n=2048")).text();
  won.template_.name = "base";
  won.variant.config = "BLOCK=32 VECTOR=1 STORE_MODE=plain";
  const std::vector<Store::Fast> fastest = {fast(here, "n=1024", "BLOCK=64 VECTOR=1 STORE_MODE=plain"),
                                            fast(here, "n=1024", "BLOCK=32 VECTOR=4 STORE_MODE=plain"),
                                            fast(8, "n=1024", "BLOCK=32 VECTOR=1 STORE_MODE=streaming")};
  std::vector<std::string> said;
  for (const Guess& guess : guesses(place_, built_in, {&won, 1}, fastest, here))
    said.push_back(guess.template_name + " " + std::to_string(guess.distance).substr(0, 3) + " " +
                   std::to_string(guess.place));
  EXPECT_THAT(said, ElementsAre("fixed 0.0 0", "base 1.0 0", "fixed 0.0 0", "fixed 0.0 1", "fixed 1.0 0"));
}

TEST_F(ProblemPointsTest, AnotherComputationSaysNothingAndTheUntunedDefaultComesLast) {
  op_.parameters.front().is_computation = true;  // n
  op_.templates.back().untuned = [](const Problem&, const DeviceFacts&) {
    return std::optional(Values{{"BLOCK", std::int64_t{64}}});
  };
  const std::vector<Store::Fast> fastest = {fast(here, "n=2048", "BLOCK=32 VECTOR=1 STORE_MODE=streaming"),
                                            fast(here, "n=1024", "BLOCK=32 VECTOR=4 STORE_MODE=plain")};
  const std::vector<Guess> all = guesses(place_, {}, {}, fastest, here);
  const std::vector<Point> points = promising(space_, all, [&](std::string_view name) {
    return std::optional<std::size_t>(name == op_.templates.back().name ? op_.templates.size() - 1 : 0);
  });
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(text(points[0]), "fixed BLOCK=32 VECTOR=4 STORE_MODE=plain");
  EXPECT_TRUE(text(points[1]).starts_with("fixed BLOCK=64 ")) << text(points[1]);
}

// A config of an op with kinds has a meaning for other computations, and the default is among the first.
TEST_F(ProblemPointsTest, WithKindsOtherComputationsAreGuessesThoseOfOtherKindsLast) {
  op_.parameters.front().is_computation = true;  // n
  op_.kind = [](const Problem& problem) { return problem.integer("n") < 2000 ? "short" : "long"; };
  op_.templates.back().untuned = [](const Problem&, const DeviceFacts&) {
    return std::optional(Values{{"BLOCK", std::int64_t{64}}});
  };
  const std::vector<Store::Fast> fastest = {fast(here, "n=2048", "BLOCK=32 VECTOR=1 STORE_MODE=streaming"),
                                            fast(here, "n=512", "BLOCK=32 VECTOR=4 STORE_MODE=plain")};
  std::vector<std::string> said;
  for (const Guess& guess : guesses(place_, {}, {}, fastest, here))
    said.push_back(Values::parse(guess.config).text().substr(0, 15) + " " +
                   std::to_string(guess.distance).substr(0, 3) + " " + std::to_string(guess.place));
  EXPECT_THAT(said, ElementsAre("BLOCK=32 VECTOR 5.0 0", "BLOCK=32 VECTOR 1.0 0", "BLOCK=64 VECTOR 1.0 0"));
}

TEST_F(ProblemPointsTest, NothingIsBuiltInForAnotherProblem) {
  const std::vector<BuiltIn> built_in = {{"scale", "n=7", "fixed", "BLOCK=64"}};
  EXPECT_THAT(built_in_hashes(place_, built_in), IsEmpty());
}

TEST_F(ProblemPointsTest, AListIsProposedInItsOrderAndEnds) {
  const auto search = search_of({{0, space_.base->config}, *space_.base});
  EXPECT_TRUE(search->next());
  search->report(*space_.base, Verdict::ok, 1);
  EXPECT_TRUE(search->next());
  EXPECT_FALSE(search->next());
  EXPECT_FALSE(search->learns());
}

}  // namespace
}  // namespace tunesmith
