// SPDX-License-Identifier: Apache-2.0
// Tests the interval that is stored with a time: of 20 intervals, each from a few loads, at least 90 %
// contain the median of all loads. Kernels of 1 us to 1 ms take turns, as finalists do, in the worker's code.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iostream>

#include "kernel_file/find_op.h"
#include "runtime/toolchain.h"
#include "tests/cuda/gpu.h"
#include "tuner/check/checker.h"
#include "tuner/check/rendered_variant.h"
#include "tuner/search/policy.h"
#include "tuner/search/statistics.h"

namespace tunesmith {
namespace {

class ReloadTest : public GpuTest {};

struct Runner {
  std::string what;
  std::unique_ptr<Checker> checker;
  MeasureRequest request;
  std::vector<double> loads_us;
};

constexpr std::size_t intervals = 20;
constexpr std::size_t loads = 12;  // per interval

Runner base_of(Device& device, const Toolchain& toolchain, const char* op_name, const char* text) {
  const Op& op = find_op(op_name);
  const Problem problem = complete_problem(op, Problem::parse(text));
  const RenderedVariant base =
      render_variant(op, problem, {0, base_config(op, problem, device.facts())}, device.facts());
  const Compilation compiled = toolchain.compile(base.source);
  EXPECT_TRUE(compiled.ok) << compiled.log;
  const Policy policy = policy_for(DeviceKind::cuda);
  std::vector<char> memory(check_bytes(op, problem));
  fill_check_memory(op, problem, 1, memory.data());
  Runner runner{std::string(op_name) + " " + text,
                std::make_unique<Checker>(device, op, check_parts(op, problem, memory.data())),
                {},
                {}};
  runner.request.template_name = op.templates.front().name;
  runner.request.config = base.point.config.text();
  runner.request.suffix = base.source.suffix;
  runner.request.binary = compiled.bytes;
  runner.request.check = false;
  runner.request.timing.samples = policy.final_samples;
  runner.request.timing.sample_target_us = policy.sample_target_us;
  const MeasureReply first = runner.checker->judge(runner.request);
  EXPECT_EQ(first.verdict, Verdict::ok) << first.reason;
  runner.request.timing.repeats = repeats_for(summarize(first.samples_us).median_us, policy.sample_target_us);
  return runner;
}

TEST_F(ReloadTest, IntervalsOverLoadsCoverTheLongRunMedian) {
  const auto toolchain = make_nvrtc_toolchain();
  std::deque<Runner> runners;
  for (const auto& [op, problem] :
       {std::pair("elementwise", "function=add shape=\"1000\""),
        std::pair("elementwise", "function=add shape=\"1000000\""),
        std::pair("conv2d", "height=200 width=200 mask_height=13 mask_width=13"),
        std::pair("conv2d", "height=1000 width=2000 mask_height=3 mask_width=3"),
        std::pair("conv2d", "height=4096 width=4096 mask_height=3 mask_width=3"),
        std::pair("conv2d", "height=4096 width=4096 mask_height=13 mask_width=13")})
    runners.push_back(base_of(device(), *toolchain, op, problem));

  for (std::size_t round = 0; round < intervals * loads; ++round) {
    for (Runner& runner : runners) {
      const MeasureReply reply = runner.checker->judge(runner.request);
      ASSERT_EQ(reply.verdict, Verdict::ok) << runner.what << ": " << reply.reason;
      runner.loads_us.push_back(summarize(reply.samples_us).median_us);
    }
  }

  std::size_t covered = 0;
  for (const Runner& runner : runners) {
    const double median = summarize(runner.loads_us).median_us;
    std::size_t here = 0;
    double half = 0;
    for (std::size_t i = 0; i < intervals; ++i) {
      const auto interval =
          median_interval(std::span(runner.loads_us).subspan(i * loads, loads), stated_confidence);
      ASSERT_TRUE(interval);
      if (interval->low <= median && median <= interval->high) ++here;
      half += (interval->high - interval->low) / 2 / median / intervals;
    }
    std::cout << runner.what << ": " << median << " us, intervals of +-" << 100 * half << " %, " << here
              << " of " << intervals << " cover\n";
    covered += here;
  }
  EXPECT_GE(covered, runners.size() * intervals * 9 / 10);
}

}  // namespace
}  // namespace tunesmith
