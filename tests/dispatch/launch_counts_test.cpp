// SPDX-License-Identifier: Apache-2.0
// Tests the counts of dispatchers, and the files that they write for `tune --problems`.
#include "dispatch/launch_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "fixture.h"
#include "generator/problem_list.h"
#include "kernel_file/find_op.h"
#include "runtime/files.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

class UsesTest : public DispatcherTest {
 protected:
  // Launches `times` times, and each time also with null pointers, which fails and does not count.
  void launch(Dispatcher& dispatcher, const std::string& problem, int times) const {
    const Plan plan = dispatcher.plan("smooth", problem);
    const Buffers buffers(find_op("smooth"), Problem::parse(plan.problem()), 0, 1, memory());
    for (int i = 0; i < times; ++i) EXPECT_TRUE(plan.launch(buffers.arguments()).ok());
    void* const nowhere[] = {nullptr, nullptr, nullptr};
    EXPECT_FALSE(plan.launch(nowhere).ok());
  }
};

TEST_F(UsesTest, WhatLosesMostComesFirst) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1", .median_us = 10});
  tune({.problem = "n=2000 taps=5", .config = "VECTOR=2", .median_us = 20});
  Dispatcher dispatcher(options());
  EXPECT_TRUE(dispatcher.summary().empty());
  launch(dispatcher, "n=1000 taps=5", 5);
  launch(dispatcher, "n=1500 taps=5", 3);
  launch(dispatcher, "n=1500 taps=20", 4);  // too many taps for the winners
  dispatcher.plan("smooth", "n=9 taps=5");  // never launched
  const std::vector<Usage> uses = dispatcher.summary();
  ASSERT_EQ(uses.size(), 3u);
  std::map<std::string, Usage> of;
  for (const Usage& use : uses) {
    EXPECT_EQ(use.op, "smooth");
    of[use.problem] = use;
  }
  const Usage& exact = of.at("n=1000 taps=5 dtype=f32");
  EXPECT_EQ(exact.match, Match::exact);
  EXPECT_EQ(exact.launches, 5u);
  EXPECT_EQ(exact.expected_us, 10);
  EXPECT_EQ(exact.lost_us, 0);
  const Usage& predicted = of.at("n=1500 taps=5 dtype=f32");
  EXPECT_EQ(predicted.match, Match::predicted);
  EXPECT_EQ(predicted.launches, 3u);
  EXPECT_NEAR(predicted.lost_us,
              3 * predicted.expected_us * predicted.expected_loss / (1 + predicted.expected_loss), 1e-9);
  EXPECT_GT(predicted.lost_us, 0);
  const Usage& base = of.at("n=1500 taps=20 dtype=f32");
  EXPECT_EQ(base.match, Match::base);
  EXPECT_EQ(base.expected_us, 0);
  EXPECT_GT(base.lost_us, 0);
  EXPECT_EQ(uses.back().problem, exact.problem);
  EXPECT_GE(uses[0].lost_us, uses[1].lost_us);
}

TEST_F(UsesTest, TheFileIsReadAgain) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1"});
  Dispatcher dispatcher(options());
  launch(dispatcher, "n=1000 taps=5", 1);
  launch(dispatcher, "n=100 taps=20", 1);
  launch(dispatcher, "n=100000 taps=20", 2);
  const std::string file = (folder_ / "app.txt").string();
  dispatcher.save_problems(file);
  std::vector<ListedProblem> read;
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);)
    if (auto listed = parse_problem_line(line)) read.push_back(*listed);
  ASSERT_EQ(read.size(), 3u) << read_file(file);
  EXPECT_EQ(read[2].problem.text(), "n=1000 taps=5 dtype=f32");
  EXPECT_EQ(read[2].weight, 0);
  EXPECT_EQ(read[0].op, "smooth");
  EXPECT_EQ(read[0].problem.text(), "n=100000 taps=20 dtype=f32");
  EXPECT_EQ(read[1].problem.text(), "n=100 taps=20 dtype=f32");
  EXPECT_GT(read[0].weight, 2 * read[1].weight);
  EXPECT_THAT(read_file(file), HasSubstr("# 2 launches, base, a guess\n"));
  EXPECT_THROW(dispatcher.save_problems((folder_ / "none" / "app.txt").string()), Error);
}

// The newest plan decides how a problem matched; launches of all its plans count.
TEST_F(UsesTest, AnOldPlansLaunchesCountToo) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1"});
  { Dispatcher(options()).plan("smooth", "n=10 taps=10"); }  // stores the base in the cache
  DispatcherOptions background = options();
  background.compile = Compile::background;
  Dispatcher dispatcher(background);
  const Plan first = dispatcher.plan("smooth", "n=500 taps=6");
  check(first, "smooth");
  ASSERT_TRUE(dispatcher.wait_until_ready());
  check(dispatcher.plan("smooth", "n=500 taps=6"), "smooth");
  check(first, "smooth");
  const std::vector<Usage> uses = dispatcher.summary();
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].launches, 3u);
  EXPECT_EQ(uses[0].match, Match::predicted);
}

// Counts threads that have ended too, and more threads than a count has lines.
TEST_F(UsesTest, NoLaunchIsLost) {
  tune({.problem = "n=1000 taps=5", .config = "VECTOR=1"});
  Dispatcher dispatcher(options());
  const Plan plan = dispatcher.plan("smooth", "n=1000 taps=5");
  constexpr int threads = 40, launches = 50;
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&] { launch(dispatcher, "n=1000 taps=5", launches); });
    EXPECT_LE(dispatcher.summary().size(), 1u);
  }
  EXPECT_EQ(dispatcher.summary().at(0).launches, std::uint64_t{threads} * launches);
}

TEST_F(UsesTest, WhatIsLaunchedLeastIsForgotten) {
  DispatcherOptions small = options();
  small.most_bytes = std::size_t{16} * 30'000;  // of uses: room for two dozen
  Dispatcher dispatcher(small);
  for (int n = 1; n <= 100; ++n) {
    launch(dispatcher, "n=7 taps=3", 2);
    launch(dispatcher, "n=" + std::to_string(1000 + n) + " taps=3", 1);
  }
  const std::vector<Usage> uses = dispatcher.summary();
  EXPECT_LT(uses.size(), 30u);
  EXPECT_GT(uses.size(), 5u);
  EXPECT_TRUE(std::any_of(uses.begin(), uses.end(), [](const Usage& use) {
    return use.problem == "n=7 taps=3 dtype=f32" && use.launches == 200;
  }));
  small.most_bytes = 0;
  Dispatcher none(small);
  launch(none, "n=7 taps=3", 2);
  EXPECT_LE(none.summary().size(), 1u);
}

}  // namespace
}  // namespace tunesmith
