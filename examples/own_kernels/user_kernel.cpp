// SPDX-License-Identifier: Apache-2.0
// An application with its own kernel: softmax_rows.cu in the fastest variant that `tunesmith tune
// softmax_rows.cu` found. It compares the result with a plain loop.
//
//   user_kernel FILE.cu [--device auto|cuda|cuda:N|host] [--db FILE]
//
// Exit code 0 if the result agrees, 1 if it differs or something fails, 2 for a wrong command line.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "device_memory.h"
#include "tunesmith/dispatcher.h"

namespace {

constexpr int rows = 64, cols = 1000;

// Returns the largest relative difference from a loop in double.
double largest_error(const std::vector<float>& x, const std::vector<float>& y) {
  double error = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const float* row = x.data() + r * cols;
    const double largest = *std::max_element(row, row + cols);
    double sum = 0;
    for (int c = 0; c < cols; ++c) sum += std::exp(row[c] - largest);
    for (std::size_t c = 0; c < cols; ++c) {
      const double expected = std::exp(row[c] - largest) / sum;
      error = std::max(error, std::abs(y[r * cols + c] - expected) / expected);
    }
  }
  return error;
}

int run(const tunesmith::DispatcherOptions& options) {
  tunesmith::Dispatcher dispatcher(options);
  std::vector<float> x(std::size_t{rows} * cols);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 3 * std::sin(static_cast<float>(i));
  DeviceArray<float> input(dispatcher, x);
  DeviceArray<float> output(dispatcher, x.size());

  const tunesmith::Plan plan =
      dispatcher.plan("softmax_rows", "rows=" + std::to_string(rows) + " cols=" + std::to_string(cols));
  void* const arguments[] = {input.data(), output.data()};
  const tunesmith::Status status = plan.launch(arguments);
  if (!status) throw std::runtime_error(status.message());
  wait_for(dispatcher);

  const double error = largest_error(x, output.download());
  std::printf("on %s: %s, %s; largest relative error %.2g\n", dispatcher.device().c_str(),
              std::string(name(plan.match())).c_str(), plan.variant().config.c_str(), error);
  return error < 2e-5 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  tunesmith::DispatcherOptions options{.device = "auto"};
  options.compile = tunesmith::Compile::now;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const bool named = word == "--device" || word == "--db";
    if (named && i + 1 < count) {
      (word == "--device" ? options.device : options.database) = arguments[++i];
    } else if (!named) {
      options.kernels.push_back(word);
    }
  }
  if (options.kernels.size() != 1) {
    std::fprintf(stderr, "usage: %s FILE.cu [--device auto|cuda|cuda:N|host] [--db FILE]\n", arguments[0]);
    return 2;
  }
  try {
    if (options.device == "auto") options.device = tunesmith::first_device();
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
