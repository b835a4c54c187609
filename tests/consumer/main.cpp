// SPDX-License-Identifier: Apache-2.0
// Plans and launches with only the installed headers and libraries, compiled without exceptions.
#include <tunesmith/conv2d.h>
#include <tunesmith/dispatcher.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

int main() {
  std::optional<tunesmith::Dispatcher> dispatcher;
  tunesmith::Plan plan;
  std::string text;
  const auto make = [&] {
    dispatcher.emplace(tunesmith::DispatcherOptions{
        .device = "host", .database = "", .compile = tunesmith::Compile::never, .cache_folder = ""});
    plan =
        dispatcher->plan("conv2d", "height=4 width=5 mask_height=2 mask_width=2 dtype=f64 mode=convolution");
    text = dispatcher->explain("conv2d", plan.problem());
  };
  const tunesmith::Status made = tunesmith::attempt(make);
  std::printf("%s\n%s", made.message().c_str(), text.c_str());
  if (!made) return 1;

  std::vector<double> image(20, 1);
  std::vector<double> mask = {1, 2, 3, 4};
  std::vector<double> output(20);
  void* const arguments[] = {image.data(), mask.data(), output.data()};
  const tunesmith::Status status = plan.launch(arguments);
  const tunesmith::Status wrong = tunesmith::attempt([&] { plan = dispatcher->plan("conv2d", "height=-4"); });
  std::printf("%s: %g\n%s\n", status.message().c_str(), output[7], wrong.message().c_str());
  return status.ok() && output[7] == 10 && wrong.code() == tunesmith::Status::wrong_input ? 0 : 1;
}
