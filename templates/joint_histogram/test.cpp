// SPDX-License-Identifier: Apache-2.0
// Tests of joint_histogram's typed functions, against numbers from NumPy 2.4, and of refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kernel_file/find_op.h"
#include "tests/refusal.h"
#include "tunesmith/joint_histogram.h"

namespace tunesmith::joint_histogram_test {
namespace {

using testing::HasSubstr;

using Sums = std::vector<double>;

Dispatcher& host() {
  static Dispatcher dispatcher({.device = "host", .database = "", .cache_folder = ""});
  return dispatcher;
}

// Values on, below and above every edge. NumPy does not place them symmetrically.
const std::vector<float> around = {-1, -0.5f, 0, 0.5f, 1, 0.1f, 0.3f, 0.7f, 0.09999999f, 0.7000001f};

TEST(JointHistogram, CountsPairsWhereNumPyHasThem) {
  std::vector<float> x, y;
  for (const float one : around) {
    for (const float other : around) {
      x.push_back(one);
      y.push_back(other);
    }
  }
  x.insert(x.end(), {std::nanf(""), 0.2f, std::numeric_limits<float>::infinity()});
  y.insert(y.end(), {0.2f, std::nanf(""), 0.2f});
  const JointHistogramShape shape{.length = 103, .bins_x = 3, .bins_y = 2};
  Sums counts(6, -1);
  ASSERT_TRUE(histogram2d(host(), x.data(), y.data(), counts.data(), shape, {0.1, 0.7}, {-1, 1}).ok());
  // numpy.histogram2d(x, y, (3, 2), ((0.1, 0.7), (-1, 1)))[0]: 0.1f lies above 0.1, 0.7f below 0.7.
  EXPECT_EQ(counts, (Sums{2, 8, 2, 8, 4, 16}));

  const std::vector<double> edges_x = {-0.5, 0.5, 0.5, 1}, edges_y = {-2, 0.3, 5};
  const BinEdges edges{edges_x.data(), edges_y.data()};
  ASSERT_TRUE(histogram2d(host(), x.data(), y.data(), counts.data(), shape, edges).ok());
  // numpy.histogram2d(x, y, (edges_x, edges_y))[0]: 0.3f lies above 0.3.
  EXPECT_EQ(counts, (Sums{25, 25, 0, 0, 20, 20}));
}

TEST(JointHistogram, AddsWeights) {
  const std::vector<std::uint8_t> x = {0, 1, 2, 3, 3, 200, 3}, y = {5, 5, 6, 6, 6, 6, 7};
  const std::vector<float> weights = {1, 2, 4, 8, 16, 32, 64.5f};
  const JointHistogramShape shape{.length = 7, .bins_x = 2, .bins_y = 2};
  Sums sums(4, -1);
  ASSERT_TRUE(
      histogram2d(host(), x.data(), y.data(), weights.data(), sums.data(), shape, {0, 4}, {5, 7}).ok());
  EXPECT_EQ(sums, (Sums{3, 0, 0, 92.5}));

  const std::vector<double> doubles(weights.begin(), weights.end());
  const std::vector<double> edges_x = {0, 1, 4}, edges_y = {6, 6.5, 7};
  ASSERT_TRUE(histogram2d(host(), x.data(), y.data(), doubles.data(), sums.data(), shape,
                          BinEdges{edges_x.data(), edges_y.data()})
                  .ok());
  EXPECT_EQ(sums, (Sums{0, 0, 28, 64.5}));

  Sums of_x(3, -1);
  ASSERT_TRUE(
      weighted_histogram(host(), x.data(), weights.data(), of_x.data(), {.length = 7, .bins_x = 3}, {0, 3})
          .ok());
  EXPECT_EQ(of_x, (Sums{1, 2, 92.5}));
}

// numpy.histogram rounds the edges to float for single floats; numpy.histogram2d does not round them for
// pairs.
TEST(JointHistogram, EdgesOfFloatsAreThoseOfNumPysFunction) {
  const std::vector<float> x = {0.7f}, one = {1};
  Sums sums(1);
  ASSERT_TRUE(weighted_histogram(host(), x.data(), one.data(), sums.data(), {.length = 1, .bins_x = 1},
                                 {0.7 + 1e-9, 1})
                  .ok());
  EXPECT_EQ(sums[0], 1);
  ASSERT_TRUE(histogram2d(host(), x.data(), one.data(), sums.data(), {.length = 1, .bins_x = 1, .bins_y = 1},
                          {0.7 + 1e-9, 1}, {0, 2})
                  .ok());
  EXPECT_EQ(sums[0], 0);
}

TEST(JointHistogram, StridedEmptyAndRefusedArguments) {
  const std::vector<double> points = {0.5, 10, 1.5, 11, 1.5, 12};  // pairs that lie side by side
  Sums counts(4, -1);
  JointHistogramShape shape{.length = 3, .bins_x = 2, .bins_y = 2, .stride = 2};
  ASSERT_TRUE(
      histogram2d(host(), points.data(), points.data() + 1, counts.data(), shape, {0, 2}, {10, 12}).ok());
  EXPECT_EQ(counts, (Sums{1, 0, 0, 2}));
  const Status refused =
      histogram2d(host(), points.data(), points.data() + 1, counts.data(), shape, {0, 2}, {12, 10});
  EXPECT_EQ(refused.code(), Status::refused_numbers);
  EXPECT_THAT(refused.message(), HasSubstr("lo_y=12 and hi_y=10; lo_y must be less than hi_y"));
  const double* const none = nullptr;
  EXPECT_EQ(histogram2d(host(), none, points.data(), counts.data(), shape, {0, 2}, {10, 12}).code(),
            Status::null_argument);
  shape.length = 0;
  ASSERT_TRUE(histogram2d(host(), none, none, counts.data(), shape, {0, 2}, {10, 12}).ok());
  EXPECT_EQ(counts, Sums(4, 0));
}

TEST(JointHistogram, WhatIsNotAllowedIsSaidInASentence) {
  const auto says = [](const std::string& text, const std::string& what) {
    const std::string why = refusal(find_op("joint_histogram"), text);
    EXPECT_THAT(why, HasSubstr(what)) << text << ": " << why;
  };
  says("length=5 bins_x=65536 bins_y=4097", "at most 2^28 (268435456) bins are allowed");
  says("length=5 bins_x=4 bins_y=4 values=single", "bins_y is 4; leave it at 1");
  says("length=5 bins_x=4 bins_y=4 lo_x=2", "lo_x=2 and hi_x=1; lo_x must be less than hi_x");
  says("length=5 bins_x=4 bins_y=4 hi_y=nan", "'nan' is not a finite decimal number");
  says("length=5 bins_x=4 bins_y=60000 lo_y=1 hi_y=1.00000001", "too few doubles for 60000 bins");
  EXPECT_EQ(refusal(find_op("joint_histogram"), "length=5 bins_x=4 bins_y=4 lo_x=2 edges=given"), "");
}

}  // namespace
}  // namespace tunesmith::joint_histogram_test
