// SPDX-License-Identifier: Apache-2.0
// Computes numpy.convolve(x, k, "valid") of a million samples with 5 taps, and compares it with plain loops
// over each output's terms.
#include "application.h"
#include "tunesmith/conv1d.h"

namespace {

void run(tunesmith::Dispatcher& dispatcher, Report& report) {
  const tunesmith::Conv1dShape shape{.length = 1000000, .taps = 5};
  const std::vector<double> x = random_values<double>(1000000, 0, 1, 1);
  const std::vector<double> k = random_values<double>(5, 0, 1, 2);
  DeviceArray<double> x_there(dispatcher, x);
  DeviceArray<double> k_there(dispatcher, k);
  DeviceArray<double> y_there(dispatcher, x.size() - k.size() + 1);
  const double us = time_us(dispatcher, [&] {
    require(conv1d(dispatcher, x_there.data(), k_there.data(), y_there.data(), shape,
                   tunesmith::Conv1dMode::valid));
  });
  const std::vector<double> y = y_there.download();

  double error = 0;
  for (std::size_t i = k.size() - 1; i < x.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < k.size(); ++j) sum += x[i - j] * k[j];
    error = worse(std::abs(y[i - k.size() + 1] - sum) / sum, error);
  }
  report.add("convolution of 1,000,000 samples with 5 taps, valid",
             tunesmith::conv1d_plan<double>(dispatcher, shape, tunesmith::Conv1dMode::valid), us, error,
             1e-14, "relative error");
}

}  // namespace

int main(int count, char** arguments) { return run_application(count, arguments, run); }
