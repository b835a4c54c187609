// What the model of times says of problems that it knows, of those between, and of those far away.
#include "dispatch/time_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "generator/ops.h"

namespace tunesmith {
namespace {

const Op& op() { return find_op("smooth"); }

Problem problem(std::int64_t n, std::int64_t taps = 3) {
  return complete_problem(op(), Values{{"n", n}, {"taps", taps}});
}

// Two variants over octaves of n: one is twice as slow below 2^12, one above.
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
            2 * model.estimate(problem(3 << 9)).of[0].deviation);
}

TEST(TimeModel, AFitFindsWhatTimesDependOn) {
  TimeModel model(op());
  for (int v = 0; v < 4; ++v) model.add_variant();
  // Slowdowns depend on the taps alone, in waves of two octaves.
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
