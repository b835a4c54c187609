// SPDX-License-Identifier: Apache-2.0
// Computes the mean of two arrays with this application's own op, without a compiler and a database. Prints
// how the choice was made.
#include <tunesmith/dispatcher.h>

#include <cstdio>
#include <string>
#include <vector>

int main() {
  tunesmith::Dispatcher dispatcher(
      {.device = "host", .database = "", .compile = tunesmith::Compile::never, .cache_folder = ""});
  const tunesmith::Plan plan = dispatcher.plan("average", "n=1000");
  std::puts(dispatcher.explain("average", plan.problem()).c_str());
  std::vector<float> left(1000, 1);
  std::vector<float> right(1000, 4);
  std::vector<float> mean(1000);
  void* const arguments[] = {left.data(), right.data(), mean.data()};
  const tunesmith::Status status = plan.launch(arguments);
  std::printf("%s: %g\n", status.message().c_str(), static_cast<double>(mean[999]));
  return status.ok() && mean[999] == 2.5F ? 0 : 1;
}
