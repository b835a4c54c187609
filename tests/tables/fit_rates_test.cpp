// SPDX-License-Identifier: Apache-2.0
// Tests that rates are found again from times that were made with other ones.
#include "bench/fit_rates.h"

#include <gtest/gtest.h>

#include <array>

#include "generator/error.h"
#include "kernel_file/find_op.h"
#include "templates/tensor/contract/contract_config.h"

namespace tunesmith {
namespace {

double& value_of(Rates& rates, const std::string& name) {
  for (Rate& rate : rates.rates)
    if (rate.op == "tensor" && rate.name == name) return rate.value;
  throw Error("There is no rate " + name + ".");
}

class FitRates : public testing::Test {
 protected:
  FitRates() : device_(facts_of_capability(90)), rates_(rates_of("tensor", device_)) {
    const Op& op = find_op("tensor");
    const Template& tmpl = find_template(op, "contract");
    for (const std::array<int, 3>& size : {std::array{4096, 4096, 64}, {96, 96, 8000}, {2000, 1000, 512}}) {
      const Problem problem = complete_problem(
          op, Problem::parse("expression=\"c[i,j] += a[i,k] * b[k,j]\" i=" + std::to_string(size[0]) + " j=" +
                             std::to_string(size[1]) + " k=" + std::to_string(size[2]) + " dtype=f16"));
      for (const Config& config : tmpl.space(problem, device_).sample(60, 7))
        if (tensor_op::contraction::modelled_clocks(problem, config, device_, rates_))
          times_.push_back({problem, config, 0});
    }
  }
  ModelledClocks clocks_ = [this](const TimedConfig& timed, const Rates& rates) {
    return *tensor_op::contraction::modelled_clocks(timed.problem, timed.config, device_, rates);
  };
  void make_times(const Rates& truth) {
    for (TimedConfig& timed : times_)
      timed.us =
          truth.value("tensor", "first_launch") + clocks_(timed, truth) / truth.value("tensor", "clock");
  }

  DeviceFacts device_;
  Rates rates_;
  std::vector<TimedConfig> times_;
};

TEST_F(FitRates, FindsThoseOfAnotherDevice) {
  ASSERT_GE(times_.size(), 12u);
  Rates truth = rates_;
  value_of(truth, "memory") /= 2;
  value_of(truth, "clock") *= 0.7;
  make_times(truth);
  EXPECT_GT(error_of_model(times_, clocks_, "tensor", rates_), 0.2);
  Rates found = fit_rates(rates_, "tensor", {"memory", "clock", "copy"}, times_, clocks_);
  EXPECT_LT(error_of_model(times_, clocks_, "tensor", found), 0.05);
  for (const char* name : {"memory", "clock"})
    EXPECT_NEAR(value_of(found, name) / value_of(truth, name), 1, 0.15) << name;
}

TEST_F(FitRates, LeavesWhatTheTimesSayNothingOf) {
  make_times(rates_);
  Rates found = fit_rates(rates_, "tensor", {"split", "halves_wait", "memory"}, times_, clocks_);
  EXPECT_EQ(write_rates(found), write_rates(rates_));
}

}  // namespace
}  // namespace tunesmith
