// SPDX-License-Identifier: Apache-2.0
// Tests the data that an op derives from a problem, and keeps with it.
#include "generator/problem.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace tunesmith {
namespace {

std::atomic<int> calls = 0;

std::string text_of(const Problem& problem) {
  ++calls;
  return problem.text();
}
const std::string& text(const Problem& problem) { return problem.derived(text_of); }

std::size_t length_of(const Problem& problem) { return text(problem).size(); }

std::shared_ptr<const int> number_of(const Problem& problem) {
  return std::make_shared<const int>(static_cast<int>(problem.integer("n")));
}

class DerivedFromProblem : public testing::Test {
 protected:
  DerivedFromProblem() { calls = 0; }
};

TEST_F(DerivedFromProblem, IsMadeOnceForAllCopies) {
  const Problem problem({{"n", 3}});
  EXPECT_EQ(text(problem), "n=3");
  const Problem copy = problem, copy_of_copy = copy;
  Problem assigned({{"n", 4}});
  assigned = copy;
  EXPECT_EQ(&text(copy_of_copy), &text(problem));
  EXPECT_EQ(&text(assigned), &text(problem));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(copy.derived(length_of), 3U);
  EXPECT_EQ(&problem.derived(length_of), &copy.derived(length_of)) << "what is made later is shared too";
  EXPECT_EQ(calls, 1) << "one may be made of another";
}

TEST_F(DerivedFromProblem, LastsAsLongAsACopy) {
  auto first = std::make_unique<Problem>(Problem({{"n", 3}}));
  const std::string& made = text(*first);
  const std::weak_ptr<const int> number = first->derived(number_of);
  auto second = std::make_unique<Problem>(*first);
  first.reset();
  EXPECT_EQ(&text(*second), &made);
  const Problem moved = std::move(*second);
  second.reset();
  EXPECT_EQ(&text(moved), &made);
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(number.expired());
  {
    Problem last = moved;
    last.forget_derived();
    EXPECT_EQ(text(last), made);
    EXPECT_EQ(calls, 2);
  }
  EXPECT_FALSE(number.expired());
}

TEST_F(DerivedFromProblem, EndsWithTheLastCopy) {
  std::weak_ptr<const int> number;
  {
    const Problem problem({{"n", 3}});
    number = problem.derived(number_of);
    const std::vector<Problem> copies(5, problem);
    EXPECT_FALSE(number.expired());
  }
  EXPECT_TRUE(number.expired());
}

TEST_F(DerivedFromProblem, IsOfTheValuesThatThereAre) {
  Problem problem({{"n", 3}});
  EXPECT_EQ(text(problem), "n=3");
  const Problem before = problem;
  problem.set("n", 4);
  EXPECT_EQ(text(problem), "n=4");
  problem.set("m", std::string("f32"));
  EXPECT_EQ(text(problem), "n=4 m=f32");
  EXPECT_EQ(text(before), "n=3") << "the copy keeps its own";
  problem = before;
  EXPECT_EQ(text(problem), "n=3");
}

TEST_F(DerivedFromProblem, TellsNoProblemsApart) {
  const Problem asked({{"n", 3}}), not_asked({{"n", 3}});
  text(asked);
  EXPECT_EQ(asked, not_asked);
  EXPECT_EQ(asked.text(), not_asked.text());
  EXPECT_NE(asked, Problem({{"n", 4}}));
}

TEST_F(DerivedFromProblem, AnExceptionLeavesNothing) {
  static bool fails = true;
  const auto made = +[](const Problem& problem) {
    if (fails) throw std::runtime_error("not yet");
    return problem.integer("n");
  };
  const Problem problem({{"n", 3}});
  EXPECT_THROW(problem.derived(made), std::runtime_error);
  fails = false;
  EXPECT_EQ(problem.derived(made), 3);
}

TEST_F(DerivedFromProblem, ManyThreadsMayAsk) {
  for (int round = 0; round < 200; ++round) {
    const Problem problem({{"n", round}});
    const std::string expected = problem.text();
    std::atomic<int> wrong = 0;
    std::array<std::jthread, 4> threads;
    for (std::jthread& thread : threads) {
      thread = std::jthread([&] {
        const Problem copy = problem;
        if (text(problem) != expected || problem.derived(length_of) != expected.size()) ++wrong;
        if (*copy.derived(number_of) != round || text(copy) != expected) ++wrong;
      });
    }
    for (std::jthread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
}

static_assert(std::is_nothrow_move_constructible_v<Problem>);

}  // namespace
}  // namespace tunesmith
