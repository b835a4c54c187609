// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "generator/error.h"
#include "kernel_file/find_op.h"
#include "tuner/run/tune.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

Shard from(const std::map<std::string, std::string>& environment, std::string_view words = "auto") {
  return Shard::parse(words, [&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

template <typename Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(ShardWords, AreANumberOfANumberOrTheRank) {
  EXPECT_EQ(from({}, "3/8").text(), "3 of 8");
  EXPECT_EQ(from({}, "1/1").text(), "1 of 1");
  EXPECT_EQ(from({{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "8"}}).text(), "3 of 8");
  EXPECT_EQ(from({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}}).text(), "1 of 4");
  // The variables of mpirun inside a job of Slurm.
  EXPECT_EQ(from({{"OMPI_COMM_WORLD_RANK", "5"},
                  {"OMPI_COMM_WORLD_SIZE", "6"},
                  {"SLURM_PROCID", "0"},
                  {"SLURM_NTASKS", "1"}})
                .text(),
            "6 of 6");
  EXPECT_THAT(refusal([] { from({}); }), HasSubstr("SLURM_PROCID with SLURM_NTASKS"));
  EXPECT_THAT(refusal([] { from({{"PMI_RANK", "4"}, {"PMI_SIZE", "4"}}); }), HasSubstr("PMI_RANK=4"));
  for (const char* words : {"", "3", "0/8", "9/8", "3/8/1", "a/b", "-1/2", "1/0"})
    EXPECT_THAT(refusal([&] { from({}, words); }), HasSubstr("I/N with I from 1 to N")) << words;
}

TEST(ShardFile, LiesBesideTheDatabase) {
  EXPECT_EQ(shard_file("/a/tuned.db", {2, 8}), "/a/tuned.3-of-8.db");
  EXPECT_EQ(shard_file("tuned", {0, 2}), "tuned.1-of-2");
}

TEST(Tasks, AreEachProblemOnceWhileThereAreEnough) {
  std::multiset<std::size_t> seen;
  for (int rank = 0; rank < 3; ++rank) {
    const auto mine = tasks_of(10, {rank, 3});
    EXPECT_GE(mine.size(), 3U);
    EXPECT_LE(mine.size(), 4U);
    for (const Task& task : mine) {
      EXPECT_EQ(task.parts, 1U);
      seen.insert(task.problem);
    }
  }
  EXPECT_EQ(seen, (std::multiset<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

// Every number is in exactly one part of its problem.
void expect_cover(const std::vector<Task>& tasks, std::size_t problems) {
  for (std::size_t problem = 0; problem < problems; ++problem) {
    for (std::size_t number = 0; number < 120; ++number) {
      EXPECT_EQ(std::count_if(tasks.begin(), tasks.end(),
                              [&](const Task& task) {
                                return task.problem == problem && number % task.parts == task.part;
                              }),
                1);
    }
  }
}

TEST(Tasks, OfFewProblemsAreTheirParts) {
  for (std::size_t problems : {1, 2, 3}) {
    std::vector<Task> all;
    for (int rank = 0; rank < 5; ++rank) {
      const auto mine = tasks_of(problems, {rank, 5});
      ASSERT_EQ(mine.size(), 1U);
      all.push_back(mine.front());
    }
    expect_cover(all, problems);
    expect_cover(split(all, 8), problems);  // each rank with several devices
  }
}

TEST(LocalRank, ChoosesTheGpu) {
  const auto rank = [](const std::map<std::string, std::string>& environment) {
    return local_rank([&](const char* name) -> const char* {
      const auto found = environment.find(name);
      return found == environment.end() ? nullptr : found->second.c_str();
    });
  };
  EXPECT_FALSE(rank({{"SLURM_PROCID", "3"}}));
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                           "PALS_LOCAL_RANKID", "PMI_LOCAL_RANK", "SLURM_LOCALID"})
    EXPECT_EQ(rank({{name, "3"}}), 3) << name;
  // The variables of mpirun inside a job of Slurm.
  EXPECT_EQ(rank({{"OMPI_COMM_WORLD_LOCAL_RANK", "5"}, {"SLURM_LOCALID", "0"}}), 5);
  EXPECT_THAT(refusal([&] { rank({{"SLURM_LOCALID", "x"}}); }), HasSubstr("SLURM_LOCALID=x"));
  EXPECT_THAT(refusal([&] { rank({{"SLURM_LOCALID", "-1"}}); }), HasSubstr("--device cuda:3"));

  std::set<std::string> used;
  for (int local = 0; local < 8; ++local) used.insert(device_of_rank("cuda", local, 8));
  EXPECT_EQ(used.size(), 8U);
  EXPECT_EQ(device_of_rank("auto", 3, 8), "cuda:3");
  EXPECT_EQ(device_of_rank("cuda", 5, 1), "cuda:0");  // a scheduler shows each rank its own GPU
  EXPECT_EQ(device_of_rank("cuda", 5, 4), "cuda:1");  // with more ranks than GPUs, the lock makes them wait
  EXPECT_EQ(device_of_rank("auto", 3, 0), "auto");
  for (const char* named : {"cuda:2", "host", "cuda:all", "cuda:0,cuda:1"})
    EXPECT_EQ(device_of_rank(named, 3, 8), named);
}

TEST(Part, OfASearchThatLearnsHasASeedAndGuessesOfItsOwn) {
  std::set<std::uint64_t> seeds;
  std::multiset<std::string> guesses;
  const Op& op = find_op("transpose");
  const Problem problem = complete_problem(op, Problem::parse("height=64 width=48"));
  std::vector<Point> promising;
  for (const Config& config : op.templates.front().space(problem, DeviceFacts{}).all()) {
    promising.push_back({0, config});
    if (promising.size() == 8) break;
  }
  for (std::size_t part = 0; part < 3; ++part) {
    const Task task{0, part, 3};
    seeds.insert(seed_of(1, task));
    for (const Point& point : promising_of(promising, task)) guesses.insert(point.config.text());
  }
  EXPECT_EQ(seed_of(1, {0, 0, 3}), 1U);
  EXPECT_EQ(seeds.size(), 3U);
  EXPECT_EQ(guesses.size(), promising.size());
  EXPECT_EQ(std::set<std::string>(guesses.begin(), guesses.end()).size(), promising.size());
  EXPECT_EQ(promising_of(promising, {0, 0, 1}), promising);
}

class Share : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, Share,
                         testing::Values("exhaustive", "random", "model", "auto", "genetic"));

TEST_P(Share, OfThreeTakesEachPointOfASpaceOnce) {
  const std::string strategy = GetParam();
  const Op& op = find_op("transpose");
  const Problem problem = complete_problem(op, Problem::parse("height=64 width=48"));
  SearchSpace space = search_space(op, problem, DeviceFacts{}, {"base"});
  std::multiset<std::string> seen;
  std::size_t least = 1000;
  for (std::size_t part = 0; part < 3; ++part) {
    space.share = part;
    space.shares = 3;
    const auto search = make_search(strategy, space, 1);
    EXPECT_EQ(*search->next(), *space.base);  // each has it: it is the baseline
    std::size_t count = 0;
    for (; const auto point = search->next(); ++count) seen.insert(point->config.text());
    least = std::min(least, count);
  }
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), space.count() - 1);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), seen.size());
  EXPECT_GT(least, 0U);
}

}  // namespace
}  // namespace tunesmith
