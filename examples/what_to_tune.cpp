// SPDX-License-Identifier: Apache-2.0
// An application whose own run finds the problems to tune: it works, prints its launches with their expected
// loss, and saves its problems with weights. Then
//
//   what_to_tune app.txt && tunesmith tune --problems app.txt && what_to_tune app.txt
//
// tunes them, the most valuable first, and the second run is faster.
//
//   what_to_tune FILE [--device auto|cuda|cuda:N|host] [--db FILE]
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "device_memory.h"
#include "tunesmith/conv2d.h"
#include "tunesmith/reduce.h"
#include "tunesmith/transpose.h"

namespace {

void require(const tunesmith::Status& status) {
  if (!status) throw std::runtime_error(status.message());
}

// Smooths an image, finds its largest value, and transposes the image.
void work(tunesmith::Dispatcher& dispatcher) {
  const tunesmith::Conv2dShape shape{.height = 90, .width = 130, .mask_height = 5, .mask_width = 5};
  const auto pixels = static_cast<std::size_t>(shape.height * shape.width);
  DeviceArray<float> image(dispatcher, std::vector<float>(pixels, 0.5f));
  DeviceArray<float> mask(dispatcher, std::vector<float>(25, 0.04f));
  DeviceArray<float> smooth(dispatcher, pixels);
  DeviceArray<float> largest(dispatcher, 1);
  for (int i = 0; i < 20; ++i) {
    require(conv2d(dispatcher, image.data(), mask.data(), smooth.data(), shape));
    require(reduce_max(dispatcher, smooth.data(), largest.data(), {.length = shape.height * shape.width}));
  }
  require(transpose(dispatcher, smooth.data(), image.data(), {.height = shape.height, .width = shape.width}));
  wait_for(dispatcher);
}

void report(const tunesmith::Dispatcher& dispatcher) {
  std::printf("on %s\n%8s %10s %8s %10s  %s\n", dispatcher.device().c_str(), "launches", "us each", "loss",
              "us to save", "problem");
  for (const tunesmith::Usage& use : dispatcher.summary()) {
    std::printf("%8llu %10.2f %6.0f %% %10.0f  %s %s (%s)\n", static_cast<unsigned long long>(use.launches),
                use.expected_us, 100 * use.expected_loss, use.lost_us, use.op.c_str(), use.problem.c_str(),
                std::string(name(use.match)).c_str());
  }
}

}  // namespace

int main(int count, char** arguments) {
  tunesmith::DispatcherOptions options{.device = "auto"};
  std::string file;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const bool named = word == "--device" || word == "--db";
    if (named ? i + 1 == count : !file.empty()) {
      file.clear();
      break;
    }
    (word == "--device" ? options.device
     : word == "--db"   ? options.database
                        : file) = arguments[named ? ++i : i];
  }
  if (file.empty()) {
    std::fprintf(stderr, "usage: %s FILE [--device auto|cuda|cuda:N|host] [--db FILE]\n", arguments[0]);
    return 2;
  }
  try {
    if (options.device == "auto") options.device = tunesmith::first_device();
    tunesmith::Dispatcher dispatcher(options);
    work(dispatcher);
    dispatcher.wait_until_ready();  // a problem's first kernel may not be its final one
    report(dispatcher);
    dispatcher.save_problems(file);
    std::printf("\nsaved; now: tunesmith tune --problems %s\n", file.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
