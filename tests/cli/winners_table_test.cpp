// SPDX-License-Identifier: Apache-2.0
#include "cli/winners_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

TuneResult sample() {
  TunedWinner winner;
  winner.template_name = "tiled";
  winner.config = "BLOCK=64";
  winner.time.median_us = 10;
  winner.alignment_bytes = 16;
  TunedProblem problem;
  problem.problem = "count=1000";
  problem.winners = {winner};
  problem.base = TunedTime{.median_us = 40, .interval_us = Interval{39.9, 40, 40.2}, .energy_uj = 12000};
  problem.worst_us = 80;
  problem.verdicts = {{Verdict::ok, 7}, {Verdict::timeout, 1}};
  problem.measured = 8;
  problem.seconds = 2;
  problem.variants = 90;
  TuneResult result;
  result.device_id = "cuda:0";
  result.device.name = "A GPU";
  result.problems = {problem};
  return result;
}

TEST(WinnersText, IsATableForEachProblem) {
  EXPECT_EQ(winners_text(sample()),
            "\nOn A GPU (cuda:0):\n"
            "count=1000\n"
            "          median    95 % interval         energy  over base  over worst  alignment  registers  "
            "template  config\n"
            "  winner  10.00 us                                4.00x      8.00x       16 bytes   -          "
            "tiled     BLOCK=64\n"
            "  base    40.00 us  39.90 us to 40.20 us  12 mJ   1.00x      2.00x\n"
            "  Verdicts: ok 7 timeout 1; 8 measured in 2.0 s, 0 known before, 90 variants in the space.\n");
}

TEST(WinnersText, ABaseThatFailsIsAnAlarm) {
  TuneResult result = sample();
  EXPECT_FALSE(is_alarming(result.problems[0]));
  result.problems[0].base_fault = "wrong_result: The element [3] is 1 instead of 2.";
  EXPECT_TRUE(is_alarming(result.problems[0]));
  EXPECT_THAT(winners_text(result),
              HasSubstr("  The base fails, wrong_result: The element [3] is 1 instead of 2. "
                        "Dispatch falls back on it, so mend it or the reference first.\n"));
  result.problems[0].base_fault.clear();
  result.problems[0].verdicts = {{Verdict::crash, 2}};
  EXPECT_TRUE(is_alarming(result.problems[0]));
  EXPECT_THAT(winners_text(result), HasSubstr("  No variant is ok"));
  result.problems[0].verdicts.clear();
  EXPECT_FALSE(is_alarming(result.problems[0])) << "nothing was judged";
}

TEST(WinnersText, SaysWhomTheWinnerCannotBeToldFrom) {
  TuneResult result = sample();
  TunedWinner& winner = result.problems[0].winners[0];
  winner.finalists = 5;
  winner.tied = 3;
  winner.runner_up = "tiled BLOCK=32";
  winner.runner_up_ratio = {0.996, 0.999, 1.003};
  EXPECT_THAT(winners_text(result),
              HasSubstr("\n  winner: 3 of 5 finalists cannot be told from the best; runner-up "
                        "0.999x (0.996 to 1.003): tiled BLOCK=32\n"));
  winner.tied = 1;
  winner.runner_up_ratio = {0, 1.3, std::numeric_limits<double>::infinity()};
  EXPECT_THAT(winners_text(result),
              HasSubstr("\n  winner: faster than the other 4 finalists; runner-up 1.300x: tiled BLOCK=32\n"));
  winner.finalists = 2;
  winner.alignment_bytes = 1;
  result.problems[0].variants = 1;
  const std::string one = winners_text(result);
  for (const char* words : {"faster than the other finalist;", " 1 byte ", ", 1 variant in the space."})
    EXPECT_THAT(one, HasSubstr(words)) << words << one;
}

TEST(WinnersText, FinalsOfNothingAreAboutTunedProblems) {
  TuneResult result = sample();
  result.problems.clear();
  result.mode = modes::finals;
  const std::string text = winners_text(result);
  EXPECT_THAT(text,
              HasSubstr("nothing to choose from: no problem was tuned on this device with these caches"));
}

TEST(WinnersText, ColumnsOfUtf8LineUp) {
  TuneResult result = sample();
  TunedWinner plain = result.problems[0].winners[0];
  result.problems[0].winners[0].template_name = "größe";
  plain.template_name = "tiled";
  plain.alignment_bytes = 4;
  result.problems[0].winners.push_back(plain);
  const std::string text = winners_text(result);
  EXPECT_THAT(text, HasSubstr("-          größe     BLOCK=64\n"));
  EXPECT_THAT(text, HasSubstr("-          tiled     BLOCK=64\n"));
}

TEST(WinnersText, SaysWhereTheTimeWent) {
  TuneResult result = sample();
  result.spent = {.prepare_s = 1, .load_s = 0.5, .check_s = 2, .time_s = 4, .store_s = 0.25, .idle_s = 2};
  result.spent.stored(1);  // of the idle time
  result.compilers = 3;
  result.compile_s = 24;
  result.seconds = 10;
  const std::string text = winners_text(result);
  for (const char* line : {"prepare                1.000  10.0 %", "store                  1.250  12.5 %",
                           "idle                   1.000  10.0 %", "together               9.750  97.5 %",
                           "compile (3 at once)    24.00  80.0 %"}) {
    EXPECT_THAT(text, HasSubstr(line)) << line << text;
  }
}

TEST(WinnersText, NamesColdCachesAndChainedLaunches) {
  TuneResult result = sample();
  EXPECT_THAT(winners_text(result), Not(HasSubstr("cold")));
  result.conditions.caches = Caches::cold;
  EXPECT_EQ(winners_text(result).rfind("\nOn A GPU (cuda:0), with cold caches:\n", 0), 0U);
  result.conditions.caches = Caches::warm;
  result.conditions.launches = Launches::chained;
  EXPECT_EQ(winners_text(result).rfind("\nOn A GPU (cuda:0), launches chained:\n", 0), 0U);
}

TEST(WinnersText, SaysWhyThereIsNoneAndWhatTheDatabaseKept) {
  TuneResult result = sample();
  result.problems[0].winners[0].note = "The winner stays.";
  EXPECT_THAT(winners_text(result), HasSubstr("\n  The winner stays.\n"));
  result.problems[0].winners.clear();
  result.problems[0].base.reset();
  EXPECT_THAT(winners_text(result), HasSubstr("count=1000\n  No winner: "));
  result.problems.clear();
  EXPECT_THAT(winners_text(result), HasSubstr("nothing to tune"));
  result.interrupted = true;
  EXPECT_THAT(winners_text(result), Not(HasSubstr("nothing to tune")));
  EXPECT_THAT(winners_text(result), HasSubstr("Interrupted."));
}

}  // namespace
}  // namespace tunesmith
