#include "tuner/promising.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/generator/test_op.h"

namespace tunesmith {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PromisingTest : public testing::Test {
 protected:
  void won(const std::string& problem, const std::string& template_name, const std::string& config) {
    WinnerRow row;
    row.problem.text = problem;
    row.template_.name = template_name;
    row.variant.config = config;
    winners_.push_back(row);
  }
  std::vector<std::string> guesses(const std::vector<std::string>& only = {}) const {
    const SearchSpace space = search_space(op_, problem_, device_, only);
    std::vector<std::string> texts;
    for (const Point& point : promising(op_, problem_, device_, space, fastest_, winners_))
      texts.push_back(op_.templates[point.template_index].name + " " + point.config.text());
    return texts;
  }

  Op op_ = scale_op();
  Problem problem_ = complete_problem(op_, Values::parse("n=1024"));
  DeviceFacts device_ = {.kind = "cuda", .name = "", .target = "sm_90a", .compute_capability = 90};
  std::vector<Store::Tried> fastest_;
  std::vector<WinnerRow> winners_;
};

TEST_F(PromisingTest, TheFastestOfTheProblemComeBeforeWinnersOfOthersTheNearestFirst) {
  won("n=64", "base", "BLOCK=32 VECTOR=1 STORE_MODE=plain");
  won("n=2048", "fixed", "BLOCK=64 VECTOR=4 STORE_MODE=plain");
  won("n=1024", "base", "BLOCK=64 VECTOR=1 STORE_MODE=plain");
  fastest_ = {{"fixed", "BLOCK=32 VECTOR=4 STORE_MODE=streaming"}};
  EXPECT_THAT(
      guesses(),
      ElementsAre("base BLOCK=64 VECTOR=1 STORE_MODE=plain", "fixed BLOCK=32 VECTOR=4 STORE_MODE=streaming",
                  "fixed BLOCK=64 VECTOR=4 STORE_MODE=plain", "base BLOCK=32 VECTOR=1 STORE_MODE=plain"));
}

TEST_F(PromisingTest, EachIsGivenOnce) {
  won("n=64", "base", "BLOCK=32 VECTOR=1 STORE_MODE=plain");
  won("n=128", "base", "BLOCK=32 VECTOR=1 STORE_MODE=plain");
  fastest_ = {{"base", "BLOCK=32 VECTOR=1 STORE_MODE=plain"}};
  EXPECT_THAT(guesses(), ElementsAre("base BLOCK=32 VECTOR=1 STORE_MODE=plain"));
}

TEST_F(PromisingTest, WhatIsNotLegalOrNotSearchedHereIsLeftOut) {
  problem_ = complete_problem(op_, Values::parse("n=1023"));
  won("n=1024", "base", "BLOCK=32 VECTOR=4 STORE_MODE=plain");   // 4 does not divide 1023
  won("n=1024", "base", "BLOCK=128 VECTOR=1 STORE_MODE=plain");  // not on the axis
  won("n=1024", "gone", "BLOCK=32 VECTOR=1 STORE_MODE=plain");
  won("m=1024", "base", "BLOCK=32 VECTOR=1 STORE_MODE=plain");  // no such problem any more
  won("n=1024", "fixed", "BLOCK=32 VECTOR=1 STORE_MODE=plain");
  EXPECT_THAT(guesses(), ElementsAre("fixed BLOCK=32 VECTOR=1 STORE_MODE=plain"));
  EXPECT_THAT(guesses({"base"}), IsEmpty());
}

}  // namespace
}  // namespace tunesmith
