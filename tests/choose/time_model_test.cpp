// SPDX-License-Identifier: Apache-2.0
// Tests the estimates of the model of times: for problems that it knows, for those between them, and for
// those far away.
#include "choose/time_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "choose/winners_file.h"
#include "generator/random.h"
#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

const Op& op() { return find_op("smooth"); }

Problem problem(std::int64_t n, std::int64_t taps = 3) {
  return complete_problem(op(), Problem{{"n", n}, {"taps", taps}});
}

// Two variants over octaves of n: one is twice as slow below 2^12, the other above.
TimeModel two_variants(const Weights& weights = {}) {
  TimeModel model(op(), weights);
  model.add_variant();
  model.add_variant();
  for (int octave = 4; octave < 22; ++octave) {
    const std::size_t row = model.add_problem(problem(std::int64_t{1} << octave));
    const double best = 2 + std::exp2(octave) / 1e5;
    model.add_time(0, row, octave < 12 ? 2 * best : best);
    model.add_time(1, row, octave < 12 ? best : 2 * best);
  }
  return model;
}

TEST(TimeModel, WhatWasMeasuredIsNotEstimated) {
  TimeModel model = two_variants();
  model.solve();
  const auto estimates = model.estimate(problem(1 << 10));
  EXPECT_NEAR(estimates.of[0].slowdown, std::log(2.0), 1e-12);
  EXPECT_EQ(estimates.of[1].slowdown, 0);
  EXPECT_EQ(estimates.of[1].deviation, 0);
  EXPECT_NEAR(estimates.best_us, 2 + 1024 / 1e5, 1e-12);
  EXPECT_EQ(estimates.likeness[6], 1);
}

TEST(TimeModel, BetweenTwoProblemsItIsAsOnThese) {
  TimeModel model = two_variants();
  model.solve();
  for (const std::int64_t n : {100, 700, 1500, 12000, 90000, 1500000}) {
    const auto estimates = model.estimate(problem(n));
    EXPECT_EQ(estimates.of[1].cautious() < estimates.of[0].cautious(), n < 4096) << n;
    EXPECT_NEAR(estimates.best_us, 2 + static_cast<double>(n) / 1e5, 0.15 * estimates.best_us) << n;
  }
}

TEST(TimeModel, FarFromAllThatItKnowsItIsUnsure) {
  TimeModel model = two_variants();
  model.solve();
  EXPECT_GT(model.estimate(problem(1 << 9, 64)).of[0].deviation,
            1.5 * model.estimate(problem(3 << 9)).of[0].deviation);
}

TEST(TimeModel, AFitFindsWhatTimesDependOn) {
  TimeModel model(op());
  for (int v = 0; v < 4; ++v) model.add_variant();
  // Slowdowns depend only on the taps, in waves of two octaves.
  for (const std::int64_t n : {100, 1000, 10000, 100000, 1000000}) {
    for (const std::int64_t taps : {1, 2, 4, 8, 16, 32, 64}) {
      const std::size_t row = model.add_problem(problem(n, taps));
      model.add_best(row, 1);
      for (std::size_t v = 0; v < 4; ++v)
        model.add_time(v, row,
                       std::exp(0.5 + 0.5 * std::sin(static_cast<double>(v) + 1.5 * std::log2(taps))));
    }
  }
  const Weights weights = model.fit();
  EXPECT_GT(weights.at("taps"), 20 * weights.at("n"));
  TimeModel fitted = two_variants(weights);
  EXPECT_EQ(fitted.fit().size(), weights.size());
}

TEST(TimeModel, ARowLeftOutIsAnsweredByTheOthers) {
  TimeModel model = two_variants(two_variants().fit());
  model.solve();
  int wrong = 0;
  for (const double slowdown : model.left_out()) wrong += slowdown > 0 ? 1 : 0;
  EXPECT_EQ(model.left_out().size(), 18u);
  EXPECT_LE(wrong, 2) << "at the edge alone";
}

TimingTable as_table() {
  TimingTable table;
  table.op = op().name;
  table.variants.resize(2);
  for (int octave = 4; octave < 22; octave += 2) {
    const double best = 2 + std::exp2(octave) / 1e5;
    TimingTable::Anchor& anchor = table.anchors.emplace_back();
    anchor.problem = problem(std::int64_t{1} << octave);
    anchor.best_us = best;
    anchor.us = {octave < 12 ? 2 * best : best, octave < 12 ? best : 2 * best};
  }
  return table;
}

// The model of a solved table, with further times if `times` has some.
TimeModel from_solution(const TimingTable& table) {
  TimeModel model(op(), table.weights);
  model.add_variant();
  model.add_variant();
  for (const TimingTable::Anchor& anchor : table.anchors) {
    const std::size_t row = model.add_problem(anchor.problem);
    model.add_best(row, anchor.best_us, anchor.best_factor);
    for (std::size_t v = 0; v < 2; ++v) model.add_time(v, row, anchor.us[v], anchor.factor[v]);
  }
  return model;
}

TimingTable solved(TimingTable table) {
  fit_table(op(), DeviceFacts(), table);
  solve_table(op(), DeviceFacts(), table);
  return table;
}

TEST(TimeModel, ASolvedTableIsNotSolvedAgain) {
  TimingTable table = solved(as_table());
  TimeModel given = from_solution(table);
  given.solve();
  TimeModel again = model_of(op(), table, table.weights);
  again.solve();
  for (const std::int64_t n : {20, 100, 700, 12000, 90000, 1500000}) {
    const auto a = given.estimate(problem(n));
    const auto b = again.estimate(problem(n));
    EXPECT_NEAR(a.best_us, b.best_us, 1e-4 * b.best_us) << n;
    for (std::size_t v = 0; v < 2; ++v) {
      EXPECT_NEAR(a.of[v].slowdown, b.of[v].slowdown, 1e-4) << n;
      EXPECT_NEAR(a.of[v].deviation, b.of[v].deviation, 1e-4) << n;
    }
  }
  table.anchors.front().factor[0] += 0.04f;  // the given factors are used
  TimeModel changed = from_solution(table);
  changed.solve();
  EXPECT_GT(
      std::abs(changed.estimate(problem(20)).of[0].slowdown - again.estimate(problem(20)).of[0].slowdown),
      0.01);
}

TEST(TimeModel, FactorsThatAreNotOfItsTimesAreSolvedAnew) {
  const TimingTable right = solved(as_table());
  const auto expect_right = [&](TimingTable table, const char* what) {
    EXPECT_NE(table.solved_from, solution_key(op(), table)) << what;
    complete_factors(DeviceFacts(), table);
    EXPECT_EQ(table.solved_from, solution_key(op(), table)) << what;
    TimeModel model = from_solution(table);
    model.solve();
    for (const std::int64_t n : {20, 100, 700, 12000, 90000, 1500000}) {
      const auto estimates = model.estimate(problem(n));
      EXPECT_EQ(estimates.of[1].cautious() < estimates.of[0].cautious(), n < 4096) << what << ", " << n;
      EXPECT_NEAR(estimates.best_us, 2 + static_cast<double>(n) / 1e5, 0.2 * estimates.best_us) << what;
    }
  };
  TimingTable table = as_table();
  for (TimingTable::Anchor& anchor : table.anchors) std::swap(anchor.us[0], anchor.us[1]);
  table = solved(table);
  for (TimingTable::Anchor& anchor : table.anchors) std::swap(anchor.us[0], anchor.us[1]);
  expect_right(table, "another variant's");
  table = right;
  table.weights.erase("n");
  expect_right(table, "another version's features");
  table = right;
  table.anchors[3].best_us *= 0.999;
  table.anchors[3].us[1] *= 0.999;
  expect_right(table, "changed by hand");
  table = right;
  read_factors({}, table);
  expect_right(table, "stored without factors");
  table = right;
  complete_factors(DeviceFacts(), table);
  for (std::size_t a = 0; a < table.anchors.size(); ++a)
    EXPECT_EQ(table.anchors[a].factor, right.anchors[a].factor) << "as it was";
}

// A table that an application reads is solved for all its times, not for a part of them.
TEST(TimeModel, AllTimesOfATableAreSolved) {
  TimingTable table = as_table();
  table.anchors.clear();
  for (int i = 0; i < 400; ++i) {
    TimingTable::Anchor& anchor = table.anchors.emplace_back();
    anchor.problem = problem(100 + 7 * i);
    anchor.best_us = 1;
    anchor.us = {i % 3 == 0 ? 1.0 : 2.0, i % 3 == 0 ? 2.0 : 1.0};
  }
  complete_factors(DeviceFacts(), table);
  for (const TimingTable::Anchor& anchor : table.anchors) {
    EXPECT_NE(anchor.factor[0], 0);
    EXPECT_NE(anchor.best_factor, 0);
  }
}

// Problems that are nearly equal but differ in their times have large factors, which nearly cancel.
TEST(TimeModel, AStoredTableSaysWhatItSaidBefore) {
  TimingTable table;
  table.op = op().name;
  table.variants.resize(2);
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    TimingTable::Anchor& anchor = table.anchors.emplace_back();
    anchor.problem = problem(1000 + 3 * i);
    anchor.best_us = 4;
    const auto time = [&] { return 4.4 + 0.4 * random.uniform(); };
    anchor.us = {time(), time()};
  }
  fit_table(op(), DeviceFacts(), table);
  table.weights["noise"] = 0.003;
  const StoredTable stored = stored_table(DeviceFacts(), table);
  TimingTable again = read_timing_table(stored.text, "it");
  read_factors(stored.factors, again);
  EXPECT_EQ(again.solved_from, solution_key(op(), again)) << "it is of the times as the text rounds them";
  float largest = 0;
  TimeModel given = from_solution(again);
  TimeModel exact = model_of(op(), again, again.weights);
  given.solve();
  exact.solve(again.anchors.size(), 2);
  for (const TimingTable::Anchor& anchor : again.anchors)
    for (const float factor : anchor.factor) largest = std::max(largest, std::abs(factor));
  ASSERT_GT(largest, 10);
  for (std::int64_t n = 990; n < 2000; n += 7) {
    for (std::size_t v = 0; v < 2; ++v)
      EXPECT_NEAR(given.estimate(problem(n)).of[v].slowdown, exact.estimate(problem(n)).of[v].slowdown, 1e-4);
    EXPECT_NEAR(given.estimate(problem(n)).best_us, exact.estimate(problem(n)).best_us, 1e-3);
  }
}

TEST(TimeModel, WhatIsKnownBesideASolvedTableCorrectsIt) {
  TimeModel model = from_solution(solved(as_table()));
  // On 2^15, between two anchors, the second is the faster one after all.
  const std::size_t row = model.add_problem(problem(1 << 15));
  model.add_time(0, row, 4);
  model.add_time(1, row, 2);
  model.solve();
  const auto near = model.estimate(problem((1 << 15) + 500));
  EXPECT_LT(near.of[1].slowdown, near.of[0].slowdown);
  const auto far = model.estimate(problem(1 << 20));
  EXPECT_LT(far.of[0].slowdown, far.of[1].slowdown);
}

// Estimates are made many at a time, in floats. Here they are compared with estimates one by one, in doubles,
// on random problems and times, of variants with many times and with few.
TEST(TimeModel, EstimatesAreWhatTheFormulasSay) {
  const Weights weights = {{"n", 0.25},    {"taps", 0.5}, {"bytes", 0},   {"flops", 0},
                           {"element", 0}, {"dtype", 1},  {"noise", 0.1}, {"spread", 0.3}};
  TimeModel model(op(), weights);
  Random random(7);
  const auto draw = [&] {
    return problem(1 + static_cast<std::int64_t>(random.below(1 << 20)),
                   1 + static_cast<std::int64_t>(random.below(30)));
  };
  std::vector<Problem> problems;
  for (int i = 0; i < 70; ++i) model.add_problem(problems.emplace_back(draw()));
  std::map<std::pair<std::size_t, std::size_t>, bool> is_known;
  for (std::size_t v = 0; v < 19; ++v) {
    model.add_variant();
    for (std::size_t row = v % 7; row < problems.size(); row += v % 5 == 4 ? 35 : 1 + v % 3) {
      model.add_time(v, row, 1 + 0.1 * static_cast<double>(random.below(10)));
      is_known[{v, row}] = true;
    }
  }
  model.solve();
  const auto covariance = [](const Problem& a, const Problem& b) {
    const auto octaves = [&](const char* name) { return log2_of(*a.find(name)) - log2_of(*b.find(name)); };
    const double squared = 0.25 * std::pow(octaves("n"), 2) + 0.5 * std::pow(octaves("taps"), 2);
    return squared < 60 ? (std::exp(-squared / 2) + std::exp(-std::sqrt(squared))) / 2 : 0;
  };
  std::vector<double> mean(model.variants());
  for (int i = 0; i < 100; ++i) {
    const Problem one = draw();
    const TimeModel::Estimates estimates = model.estimate(one);
    for (std::size_t v = 0; v < model.variants(); ++v) {
      double sum = 0, nearest = 0;
      for (std::size_t row = 0; row < problems.size(); ++row) {
        const double like = covariance(one, problems[row]);
        EXPECT_NEAR(static_cast<double>(estimates.likeness[row]), like, 2e-6);
        sum += like * model.factor(v, row);
        if (is_known.contains({v, row})) nearest = std::max(nearest, like);
      }
      EXPECT_NEAR(estimates.of[v].deviation, 0.3 * std::sqrt(1 - nearest * nearest / 1.1), 1e-5);
      if (estimates.of[v].slowdown == 0) continue;  // smaller estimates are set to 0
      if (mean[v] == 0) mean[v] = estimates.of[v].slowdown - sum;
      EXPECT_NEAR(estimates.of[v].slowdown, mean[v] + sum, 1e-5) << v;
    }
  }
}

// With kinds a time on a problem of another kind changes nothing, however near the problem is.
TEST(TimeModel, ATimeOfAnotherKindSaysNothing) {
  Op kinds = op();
  kinds.kind = [](const Problem& problem) { return std::to_string(problem.integer("taps") % 2); };
  const auto estimate = [&](bool with_other, std::int64_t taps) {
    TimeModel model(kinds);
    model.add_variant();
    model.add_variant();
    for (int octave = 4; octave < 12; ++octave) {
      const std::size_t odd = model.add_problem(problem(std::int64_t{1} << octave, 3));
      model.add_time(0, odd, 1);
      model.add_time(1, odd, 2);
      if (!with_other) continue;
      const std::size_t even = model.add_problem(problem(std::int64_t{1} << octave, 4));
      model.add_time(0, even, 2);
      model.add_time(1, even, 1);
    }
    model.solve();
    return model.estimate(problem(300, taps));
  };
  const auto alone = estimate(false, 3), both = estimate(true, 3), other = estimate(true, 4);
  EXPECT_LT(both.of[0].slowdown, both.of[1].slowdown);
  EXPECT_GT(other.of[0].slowdown, other.of[1].slowdown);
  EXPECT_EQ(*std::max_element(both.likeness.begin(), both.likeness.end()),
            *std::max_element(alone.likeness.begin(), alone.likeness.end()));
  EXPECT_EQ(both.is_known, (std::vector<bool>{true, true}));
  const auto unknown = estimate(false, 4);
  EXPECT_EQ(unknown.is_known, (std::vector<bool>{false, false}));
  EXPECT_EQ(*std::max_element(unknown.likeness.begin(), unknown.likeness.end()), 0);
}

TEST(TimeModel, NothingKnownIsNothingSaid) {
  TimeModel model(op());
  model.solve();
  EXPECT_EQ(model.estimate(problem(5)).best_us, 0);
  EXPECT_TRUE(model.estimate(problem(5)).of.empty());
  model.add_variant();
  model.solve();
  EXPECT_GT(model.estimate(problem(5)).of[0].slowdown, 0) << "a variant without a time is not the best";
}

}  // namespace
}  // namespace tunesmith
