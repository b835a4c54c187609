// SPDX-License-Identifier: Apache-2.0
// Tests that a histogram's limits are arguments of a launch: one plan serves all limits, and no choice
// depends on them.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "generator/number_text.h"
#include "kernel_file/find_op.h"
#include "runtime/executable.h"
#include "tunesmith/histogram.h"

namespace tunesmith::histogram_limits_test {
namespace {

using Counts = std::vector<std::int64_t>;

TEST(Histogram, OnePlanServesAllLimits) {
  Dispatcher dispatcher({.device = "host", .database = "", .cache_folder = ""});
  const std::vector<float> values = {0.1f, 0.6f, 0.9f, 3};
  Counts counts(2, -1);
  void* const arguments[] = {const_cast<float*>(values.data()), counts.data()};
  const Plan plan = histogram_plan<float>(dispatcher, {.length = 4, .bins = 2}, 0, 1);
  const auto count = [&](std::vector<double> limits) {
    const Status status = plan.launch(arguments, limits);
    EXPECT_TRUE(status.ok()) << status.message();
    return counts;
  };
  EXPECT_EQ(count({}), (Counts{1, 2}));
  EXPECT_EQ(count({0, 4}), (Counts{3, 1}));
  EXPECT_EQ(count({0.5, 1}), (Counts{1, 1}));
  EXPECT_EQ(count({}), (Counts{1, 2})) << "other numbers are of one launch alone";
  const std::vector<double> three = {0, 1, 2};
  EXPECT_EQ(plan.launch(arguments, three).code(), Status::wrong_number_count);
  EXPECT_EQ(
      plan.launch(arguments, three).message(),
      "The count of numbers is wrong; pass none to a launch of histogram, or one for each of these: lo, "
      "hi.");
  std::vector<std::uint8_t> bytes = {1, 1, 0};
  void* const of_bytes[] = {bytes.data(), counts.data()};
  const Plan counting = bincount_plan<std::uint8_t>(dispatcher, {.length = 3, .bins = 2});
  EXPECT_TRUE(counting.launch(of_bytes).ok());
  EXPECT_EQ(counting.launch(of_bytes, std::vector<double>{0, 1}).message(),
            "Launches of this plan take no numbers; pass none.");
}

// Neither look-ups nor choices depend on the limits.
TEST(Histogram, LimitsDecideNothing) {
  const Op& op = find_op("histogram");
  const auto same = [&](const char* a, const char* b) {
    return same_until_launch(op, complete_problem(op, Problem::parse(a)),
                             complete_problem(op, Problem::parse(b)));
  };
  EXPECT_TRUE(same("length=5 bins=4 lo=2 hi=3", "length=5 bins=4"));
  EXPECT_FALSE(same("length=5 bins=4", "length=5 bins=5"));
  for (const char* text :
       {"length=1000 bins=7 lo=0.1 hi=0.7", "length=999 bins=100 lo=-100 hi=100 dtype=i32"}) {
    const Problem own = complete_problem(op, Problem::parse(text));
    Problem other = own;
    other.set("lo", "0");
    other.set("hi", "1");
    LaunchNumbers made;
    const double limits[] = {nearest_number(own.string("lo")), nearest_number(own.string("hi"))};
    ASSERT_EQ(op.launch_numbers(other)(limits, made), "");
    for (const Template& tmpl : op.templates) {
      const Config config = tmpl.space(own).complete({});
      EXPECT_EQ(tmpl.space(other).complete({}).text(), config.text());
      const Launch wanted = std::get<Launch>(tmpl.work(own, config).steps.back());
      const Launch given = std::get<Launch>(tmpl.work(other, config).steps.back());
      for (std::size_t i = 0; i < wanted.arguments.size(); ++i) {
        const void* const stood_in = scalar_of(given.arguments[i], place_of(given, i), &made);
        if (const auto* number = std::get_if<double>(&wanted.arguments[i])) {
          EXPECT_EQ(*static_cast<const double*>(stood_in), *number);
        } else if (const auto* integer = std::get_if<std::int32_t>(&wanted.arguments[i])) {
          EXPECT_EQ(*static_cast<const std::int32_t*>(stood_in), *integer);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tunesmith::histogram_limits_test
