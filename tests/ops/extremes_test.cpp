// SPDX-License-Identifier: Apache-2.0
// Tests every op at the ends of its parameters' ranges: a problem that is not refused has arrays, a launch of
// the base that CUDA accepts, and companions. (The run with sanitizers finds overflows on the way.)
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "generator/error.h"
#include "generator/ops.h"
#include "generator/random.h"
#include "kernel_file/find_op.h"
#include "tests/op_cases.h"
#include "tuner/device/check_data.h"

namespace tunesmith::extremes_test {
namespace {

constexpr std::array<std::int64_t, 12> extremes = {
    0, 1, 2, 3, 1000, 65536, 1 << 20, (1LL << 31) - 1024, 1LL << 31, 1LL << 37, 1LL << 39, 1LL << 40};

TEST(Extremes, WhatIsNotRefusedCanBeDone) {
  const DeviceFacts device = {
      .kind = DeviceKind::cuda, .name = "a GPU", .target = "sm_90a", .compute_capability = 90};
  std::vector<std::pair<const Op*, int>> rounds;
  for (const Op& op : ops()) {
    for (const int round : in_turn(std::vector<int>{0, 1, 2}, 3, {&op, &op.templates.front()}))
      rounds.emplace_back(&op, round);
  }
  for (const auto& [its, round] : rounds) {
    const Op& op = *its;
    Random random(20261121 + static_cast<std::uint64_t>(round));
    int allowed = 0;
    for (int n = 0; n < 700 || (allowed <= 33 && n < 2700); ++n) {
      Problem given = Problem::parse(op.examples[random.below(op.examples.size())]);
      for (const Parameter& parameter : op.parameters) {
        if (parameter.is_integer() && random.below(2) == 0)
          given.set(parameter.name, extremes[random.below(extremes.size())]);
      }
      Problem problem;
      try {
        problem = complete_problem(op, given);
      } catch (const UsageError&) {
        continue;
      }
      SCOPED_TRACE(op.name + " " + problem.text());
      ++allowed;
      for (const Argument& argument : op.arguments)
        EXPECT_GE(elements(argument, problem), 0) << argument.name;
      EXPECT_GE(op.flops(problem), 0);
      EXPECT_GE(bytes_moved(op, problem), 0);
      EXPECT_EQ(exceeds(op.templates.front().work(problem, base_config(op, problem)), device), std::nullopt);
      for (const Problem& companion : op.companions(problem))
        EXPECT_NO_THROW(complete_problem(op, companion));
      for (const Template& tmpl : op.templates) {
        if (tmpl.constants) tmpl.constants(problem);
        if (!why_not(tmpl, problem, device)) tmpl.work(problem, tmpl.space(problem).complete({}));
      }
    }
    EXPECT_GT(allowed, 33) << op.name;
  }
}

// The references compute in double, so their result for an f64 is rounded too: a right result may differ from
// it by a unit in the last place.
TEST(Extremes, AReferenceOfDoublesPermitsItsOwnRounding) {
  for (const auto& [name, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"conv1d", "length=1000 taps=1 dtype=f64"},
           {"conv2d", "height=20 width=50 mask_height=1 mask_width=1 dtype=f64"},
           {"conv_covariance",
            "channels_out=1 channels_in=1 height=4 width=8 mask_height=1 mask_width=1 dtype=f64"},
           {"reduce", "outer=1000 length=3 function=sum dtype=f64"},
           {"elementwise", "function=add dtype=f64 shape=1000"}}) {
    const Op& op = find_op(name);
    const Problem problem = complete_problem(op, Problem::parse(text));
    const std::vector<std::vector<double>> inputs = make_inputs(op, problem, 1);
    const auto output = std::find_if(op.arguments.begin(), op.arguments.end(),
                                     [](const Argument& argument) { return argument.role != Role::input; });
    const ExpectedOutput expected =
        reference_of(op, problem, inputs, static_cast<int>(output - op.arguments.begin()));
    for (std::size_t i = 0; i < expected.value.size(); ++i)
      ASSERT_GE(expected.permitted_error[i], 0x1p-52 * std::abs(expected.value[i])) << name << ' ' << i;
  }
}

}  // namespace
}  // namespace tunesmith::extremes_test
