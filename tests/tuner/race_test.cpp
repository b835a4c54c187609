// SPDX-License-Identifier: Apache-2.0
// Tests who runs in which round, who cannot be distinguished from the best, and, with simulated noise, how
// well the winner is chosen.
#include "tuner/search/race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/tuner/noise.h"

namespace tunesmith {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using State = Standing::State;

// The slower ones of `count` contenders need fewer registers, so that a rule that trades time for registers
// shows.
std::vector<Contender> contenders(std::size_t count) {
  std::vector<Contender> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i].index = i;
    all[i].alignment_bytes = 4;
    all[i].registers = 200 - static_cast<std::int64_t>(i);
  }
  return all;
}

// Runs the race to its end; `us` gives the time of a load.
void run(Race& race, const auto& us) {
  for (auto round = race.next_round(); !round.empty(); round = race.next_round()) {
    for (const std::size_t who : round) race.add(who, us(who));
    race.end_round();
  }
}

TEST(Race, EndsWhenTheWinnerIsKnownAndTheOthersAreSlower) {
  const Policy policy;
  Race race(contenders(3), {0}, policy);
  const std::vector<double> times = {10, 10.5, 20};
  std::vector<std::vector<std::size_t>> rounds;
  for (auto round = race.next_round(); !round.empty(); round = race.next_round()) {
    rounds.push_back(round);
    for (const std::size_t who : round) race.add(who, times[who]);
    race.end_round();
  }
  EXPECT_THAT(rounds[0], ElementsAre(0, 1, 2));
  EXPECT_THAT(rounds[3], ElementsAre(0, 1)) << "far slower in each of three rounds";
  EXPECT_EQ(race.rounds(), 9) << "an interval of 99 % needs nine";
  const auto standings = race.standings(0);
  EXPECT_EQ(standings[0].who, 0u);
  EXPECT_EQ(standings[1].state, State::slower);
  EXPECT_NEAR(standings[1].ratio.middle, 1.05, 1e-9);
  EXPECT_EQ(standings[2].state, State::slower);
  EXPECT_EQ(race.loads_us(2).size(), 3u);
}

TEST(Race, EqualOnesAreTiedAndTheOneThatAsksForLeastWins) {
  const Policy policy;
  const auto all = contenders(3);
  Race race(all, {0}, policy);
  run(race, [](std::size_t who) { return who == 0 ? 10 : 10.01; });
  for (const Standing& each : race.standings(0)) EXPECT_EQ(each.state, State::tied);
  EXPECT_EQ(choose_winner(race.standings(0), all, policy.resolution), 2u);
}

TEST(Race, EachAlignmentHasItsOwn) {
  const Policy policy;
  auto all = contenders(3);
  all[0].alignment_bytes = 16;
  Race race(all, {0, 4}, policy);
  run(race, [](std::size_t who) { return who == 0 ? 10 : who == 1 ? 15 : 15.5; });
  EXPECT_EQ(race.standings(0)[0].who, 0u);
  EXPECT_EQ(race.standings(0)[1].state, State::slower);
  const auto plain = race.standings(4);
  ASSERT_EQ(plain.size(), 2u);
  EXPECT_EQ(plain[0].who, 1u);
  EXPECT_EQ(plain[1].state, State::slower);
  EXPECT_GE(race.loads_us(2).size(), 9u) << "far behind the best, but not behind the best of its alignment";
}

TEST(Race, WhoFailedOrMayNotWinIsNotInIt) {
  const Policy policy;
  auto all = contenders(3);
  all[1].may_win = false;
  Race race(all, {0}, policy);
  race.drop(0);
  EXPECT_THAT(race.next_round(), ElementsAre(1, 2));
  run(race, [](std::size_t who) { return who == 2 ? 20 : 10; });
  ASSERT_EQ(race.standings(0).size(), 1u);
  EXPECT_EQ(race.standings(0)[0].who, 2u);
  EXPECT_EQ(race.loads_us(1).size(), 3u) << "a baseline needs no more";
  race.drop(2);
  EXPECT_THAT(race.standings(0), IsEmpty());
  EXPECT_THAT(race.next_round(), IsEmpty());
}

TEST(Race, HasACap) {
  Policy policy;
  policy.final_rounds = 20;
  Race race(contenders(2), {0}, policy);
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  run(race, [&](std::size_t) { return 10 * std::exp(0.1 * normal(random)); });
  EXPECT_EQ(race.rounds(), 20);
  EXPECT_EQ(race.standings(0)[1].state, State::open);
}

std::vector<Standing> two(State second, double ratio) {
  return {{0, {1, 1, 1}, State::tied}, {1, {ratio - 0.01, ratio, ratio + 0.01}, second}};
}

TEST(ChooseWinner, AStoredOneStaysUnlessItIsSlower) {
  auto all = contenders(2);
  all[1].stored = true;
  all[1].registers = 255;
  EXPECT_EQ(choose_winner(two(State::tied, 1.001), all, 0.005), 1u);
  EXPECT_EQ(choose_winner(two(State::open, 1.01), all, 0.005), 1u);
  EXPECT_EQ(choose_winner(two(State::slower, 1.02), all, 0.005), 0u);
}

TEST(ChooseWinner, ANewOneMustBeTiedAndNear) {
  const auto all = contenders(2);
  EXPECT_EQ(choose_winner(two(State::tied, 1.002), all, 0.005), 1u);
  EXPECT_EQ(choose_winner(two(State::tied, 1.004), all, 0.005), 0u);
  EXPECT_EQ(choose_winner(two(State::open, 1.001), all, 0.005), 0u);
  EXPECT_EQ(choose_winner({}, all, 0.005), std::nullopt);
}

TEST(ChooseWinner, PrefersAlignmentThenRegistersThenSharedMemoryThenTheEarlier) {
  auto all = contenders(2);
  all[1].registers = 255;
  all[0].alignment_bytes = 16;
  EXPECT_EQ(choose_winner(two(State::tied, 1.001), all, 0.005), 1u);
  all[0].alignment_bytes = 4;
  EXPECT_EQ(choose_winner(two(State::tied, 1.001), all, 0.005), 0u);
  all[0].registers = 255;
  all[0].shared_bytes = 1024;
  EXPECT_EQ(choose_winner(two(State::tied, 1.001), all, 0.005), 1u);
  all[1].shared_bytes = 1024;
  EXPECT_EQ(choose_winner(two(State::tied, 1.001), all, 0.005), 0u);
}

TEST(StandingsOf, ValuesMeasuredOnceTieWithinAPart) {
  auto all = contenders(4);
  all[3].alignment_bytes = 16;
  const auto standings = standings_of({100, 0, 100.9, 99}, all, 0, 0.01);
  ASSERT_EQ(standings.size(), 3u);
  EXPECT_EQ(standings[0].who, 3u);
  EXPECT_EQ(standings[1].state, State::slower);
  EXPECT_EQ(standings_of({100, 0, 100.9, 99}, all, 4, 0.01)[1].state, State::tied);
  EXPECT_THAT(standings_of({0, 0}, all, 0, 0.01), IsEmpty());
}

// The requirement, for noise of all shapes and a drift of 0.3 % and more over the finals: fresh
// finals of the same variants name winners inside each other's sets, and lose at most 0.5 %.
class SimulatedFinals : public testing::TestWithParam<std::size_t> {};

TEST_P(SimulatedFinals, NameWinnersInsideEachOthersSetsAndLoseLittle) {
  const Policy policy;
  const std::size_t count = GetParam();
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform;
  for (const Noise& noise : noises) {
    const double noisy_median = Loads(noise, 1).long_run_median();
    // Sixty rounds cannot decide more precisely with the largest noise.
    const double permitted = std::max(0.005, noise.between / 3);
    int winners = 0, loads = 0, inside = 0, pairs = 0, lost = 0, covered = 0;
    for (int space = 0; space < 12; ++space) {
      const auto all = contenders(count);
      std::vector<double> truth = {10};
      while (truth.size() < count)
        truth.push_back(truth.back() * (1 - 0.003 * std::log(1 - uniform(random))));
      std::vector<std::vector<Standing>> sets;
      std::vector<std::size_t> named;
      for (int database = 0; database < 3; ++database) {
        Race race(all, {0}, policy);
        Loads noise_of_loads(noise, random());
        run(race, [&](std::size_t who) {
          ++loads;
          return truth[who] * noise_of_loads.next() * (1 + 0.005 * race.rounds() / policy.final_rounds);
        });
        EXPECT_LE(race.rounds(), policy.final_rounds);
        sets.push_back(race.standings(0));
        named.push_back(*choose_winner(sets.back(), all, policy.resolution));
        ++winners;
        if (truth[named.back()] > (1 + permitted) * truth[0]) ++lost;
        const double drift = 1 + 0.005 * race.rounds() / 2 / policy.final_rounds;
        const auto interval = median_interval(race.loads_us(named.back()), stated_confidence);
        const double median = truth[named.back()] * noisy_median * drift;
        if (interval && interval->low <= median && median <= interval->high) ++covered;
      }
      for (const auto& set : sets) {
        for (const std::size_t winner : named) {
          ++pairs;
          inside += std::any_of(set.begin(), set.end(), [&](const Standing& each) {
            return each.who == winner && each.state != State::slower;
          });
        }
      }
    }
    EXPECT_GE(inside, pairs * 97 / 100) << noise.what;
    EXPECT_LE(lost, winners * 5 / 100) << noise.what;
    EXPECT_GE(covered, winners * 90 / 100) << noise.what;
    EXPECT_LE(loads, 700 * winners) << noise.what << ": of 5 ms each";
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, SimulatedFinals, testing::Values(8u, 16u));

}  // namespace
}  // namespace tunesmith
