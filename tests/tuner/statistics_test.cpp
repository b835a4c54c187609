// SPDX-License-Identifier: Apache-2.0
// Tests that intervals over loads cover the stated share, with the measured noise (docs/measuring.md) and
// with worse noise.
#include "tuner/search/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/tuner/noise.h"

namespace tunesmith {
namespace {

TEST(MedianInterval, LiesBetweenTwoOfTheValues) {
  const std::vector<double> values = {6, 1, 5, 2, 4, 3};
  EXPECT_EQ(median_interval(values, 0.95), (Interval{1, 3.5, 6}));
  EXPECT_EQ(median_interval(values, 0.5), (Interval{2, 3.5, 5}));
  // The second and the eighth of nine: P(less than two heads of nine) = 10 / 512 on either side.
  EXPECT_EQ(median_interval(std::vector<double>{9, 8, 7, 6, 5, 4, 3, 2, 1}, 0.95), (Interval{2, 5, 8}));
}

TEST(MedianInterval, NeedsSixValuesFor95PercentAndEightFor99) {
  std::vector<double> values(5, 1.0);
  EXPECT_FALSE(median_interval(values, 0.95));
  values.push_back(1);
  EXPECT_TRUE(median_interval(values, 0.95));
  EXPECT_FALSE(median_interval(values, 0.99));
  values.resize(8, 1.0);
  EXPECT_TRUE(median_interval(values, 0.99));
  EXPECT_FALSE(median_interval({}, 0.95));
}

TEST(MedianInterval, CoversTheMedianOfAnyShapeOfNoise) {
  for (const Noise& noise : noises) {
    Loads loads(noise, 7);
    const double median = loads.long_run_median();
    for (const std::size_t number : {6u, 9u, 20u, 60u}) {
      int covered = 0;
      constexpr int repeats = 2000;
      for (int i = 0; i < repeats; ++i) {
        std::vector<double> values;
        for (std::size_t load = 0; load < number; ++load) values.push_back(loads.next());
        const auto interval = median_interval(values, 0.95);
        ASSERT_TRUE(interval);
        if (interval->low <= median && median <= interval->high) ++covered;
      }
      EXPECT_GE(covered, repeats * 94 / 100) << noise.what << ", " << number << " loads";
    }
  }
}

TEST(PairedRatio, LeavesOutWhatARoundDoesToBoth) {
  std::vector<double> slow, fast;
  for (const double drift : {1.0, 1.3, 0.8, 1.1, 2.0, 1.0, 0.9, 1.2}) {
    slow.push_back(drift * 1.02);
    fast.push_back(drift);
  }
  const Interval ratio = paired_ratio(slow, fast, 0.95);
  EXPECT_NEAR(ratio.low, 1.02, 1e-12);
  EXPECT_NEAR(ratio.middle, 1.02, 1e-12);
  EXPECT_NEAR(ratio.high, 1.02, 1e-12);
}

TEST(PairedRatio, TakesOnlyRoundsThatHadBoth) {
  const std::vector<double> slow = {2, 0, 4, 4, 9, 0, 100};
  const std::vector<double> fast = {1, 5, 2, 2, 0, 1};
  EXPECT_DOUBLE_EQ(paired_ratio(slow, fast, 0.95).middle, 2);
  EXPECT_EQ(paired_ratio({}, fast, 0.95).middle, 1);
}

TEST(PairedRatio, HasNoIntervalOfTooFewRounds) {
  const std::vector<double> ones(5, 1.0);
  EXPECT_EQ(paired_ratio(ones, ones, 0.95).low, 0);
  EXPECT_TRUE(std::isinf(paired_ratio(ones, ones, 0.95).high));
  const std::vector<double> six(6, 1.0);
  EXPECT_EQ(paired_ratio(six, six, 0.95), (Interval{1, 1, 1}));
}

TEST(PairedRatio, CoversTheRatioOfTwoWithTheSameNoise) {
  for (const Noise& noise : noises) {
    Loads slow(noise, 11);
    Loads fast(noise, 12);
    for (const int number : {6, 9, 20, 60}) {
      int covered = 0;
      constexpr int repeats = 1000;
      for (int i = 0; i < repeats; ++i) {
        std::vector<double> a, b;
        for (int round = 0; round < number; ++round) {
          a.push_back(1.01 * slow.next());
          b.push_back(fast.next());
        }
        const Interval ratio = paired_ratio(a, b, 0.95);
        if (ratio.low <= 1.01 && 1.01 <= ratio.high) ++covered;
      }
      EXPECT_GE(covered, repeats * 94 / 100) << noise.what << ", " << number << " rounds";
    }
  }
}

}  // namespace
}  // namespace tunesmith
