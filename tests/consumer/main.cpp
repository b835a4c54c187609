// Plans and launches through the installed headers and libraries alone.
#include <tunesmith/conv2d.h>
#include <tunesmith/dispatcher.h>

#include <cstdio>
#include <vector>

int main() {
  tunesmith::Dispatcher dispatcher(
      {.device = "host", .database = "", .compile = tunesmith::Compile::never, .cache_folder = ""});
  const tunesmith::Plan plan =
      dispatcher.plan("conv2d", "height=4 width=5 mask_height=2 mask_width=2 dtype=f64 mode=convolution");
  std::vector<double> image(20, 1);
  std::vector<double> mask = {1, 2, 3, 4};
  std::vector<double> output(20);
  void* const arguments[] = {image.data(), mask.data(), output.data()};
  const tunesmith::Status status = plan.launch(arguments);
  std::printf("%s: %g\n%s", status.message().c_str(), output[7],
              dispatcher.explain("conv2d", plan.problem()).c_str());
  return status.ok() && output[7] == 10 ? 0 : 1;
}
