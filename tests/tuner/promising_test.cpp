// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/promising.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/generator/test_op.h"

namespace tunesmith {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PromisingTest : public testing::Test {
 protected:
  // Adds a guess; its place is among the guesses of the same problem.
  void was_fast(const std::string& n, const std::string& template_name, const std::string& config) {
    const Problem other = complete_problem(op_, Problem::parse("n=" + n));
    guesses_.push_back({distance(op_, problem_, other), places_[n]++, template_name, config});
  }
  std::vector<std::string> points(const std::vector<std::string>& only = {}) const {
    const SearchSpace space = search_space(op_, problem_, device_, only);
    std::vector<std::string> texts;
    const auto index = [&](std::string_view name) { return template_index(op_, name); };
    for (const Point& point : promising(space, guesses_, index))
      texts.push_back(op_.templates[point.template_index].name + " " + point.config.text());
    return texts;
  }

  Op op_ = scale_op();
  Problem problem_ = complete_problem(op_, Problem::parse("n=1024"));
  DeviceFacts device_ = {.kind = DeviceKind::cuda, .name = "", .target = "sm_90a", .compute_capability = 90};
  std::vector<Guess> guesses_;
  std::map<std::string, std::size_t> places_;
};

TEST_F(PromisingTest, TheSameProblemFirstThenAllWinnersByDistanceThenAllSeconds) {
  was_fast("2048", "fixed", "BLOCK=64 VECTOR=4 STORE_MODE=plain");  // 1 octave
  was_fast("2048", "fixed", "BLOCK=64 VECTOR=1 STORE_MODE=plain");  // its second
  was_fast("64", "base", "BLOCK=32 VECTOR=1 STORE_MODE=plain");     // 4 octaves
  was_fast("1024", "base", "BLOCK=64 VECTOR=1 STORE_MODE=plain");
  was_fast("1024", "fixed", "BLOCK=32 VECTOR=4 STORE_MODE=streaming");
  EXPECT_THAT(
      points(),
      ElementsAre("base BLOCK=64 VECTOR=1 STORE_MODE=plain", "fixed BLOCK=32 VECTOR=4 STORE_MODE=streaming",
                  "fixed BLOCK=64 VECTOR=4 STORE_MODE=plain", "base BLOCK=32 VECTOR=1 STORE_MODE=plain",
                  "fixed BLOCK=64 VECTOR=1 STORE_MODE=plain"));
}

TEST_F(PromisingTest, EachIsGivenOnce) {
  was_fast("64", "base", "BLOCK=32 VECTOR=1 STORE_MODE=plain");
  was_fast("128", "base", "BLOCK=32 VECTOR=1 STORE_MODE=plain");
  was_fast("1024", "base", "BLOCK=32 VECTOR=1 STORE_MODE=plain");
  EXPECT_THAT(points(), ElementsAre("base BLOCK=32 VECTOR=1 STORE_MODE=plain"));
}

TEST_F(PromisingTest, WhatIsNotSearchedHereIsLeftOut) {
  was_fast("1024", "gone", "BLOCK=32 VECTOR=1 STORE_MODE=plain");
  was_fast("1024", "fixed", "BLOCK=32 VECTOR=1 STORE_MODE=plain");
  EXPECT_THAT(points(), ElementsAre("fixed BLOCK=32 VECTOR=1 STORE_MODE=plain"));
  EXPECT_THAT(points({"base"}), IsEmpty());
}

TEST_F(PromisingTest, WhatIsNotLegalHereBecomesTheNearestThatIs) {
  problem_ = complete_problem(op_, Problem::parse("n=1023"));
  was_fast("1024", "base", "BLOCK=64 VECTOR=4 STORE_MODE=plain");  // 4 does not divide 1023
  EXPECT_THAT(points(), ElementsAre("base BLOCK=64 VECTOR=1 STORE_MODE=plain"));
}

TEST_F(PromisingTest, AnAxisThatCameLaterOrIsGoneOrAValueThatIsNoneIsFilledIn) {
  was_fast("512", "base", "BLOCK=32 VECTOR=2");
  was_fast("512", "base", "BLOCK=64 VECTOR=1 STORE_MODE=plain TRIGGER=yes");
  was_fast("512", "base", "BLOCK=4096 VECTOR=4 STORE_MODE=bold");
  const std::vector<std::string> found = points();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], "base BLOCK=32 VECTOR=1 STORE_MODE=plain");
  EXPECT_EQ(found[1], "base BLOCK=64 VECTOR=1 STORE_MODE=plain");
  EXPECT_EQ(found[2], "base BLOCK=64 VECTOR=4 STORE_MODE=plain");
}

}  // namespace
}  // namespace tunesmith
