// SPDX-License-Identifier: Apache-2.0
// Filters a picture with the best kernel that the dispatch library knows, and prints which one it was.
//
//   filter_image [INPUT.png] [OUTPUT.png] [--device auto|cuda|cuda:N|host] [--db FILE] [--mask NAME]
//
// Without INPUT.png it filters a test card; OUTPUT.png is filtered.png by default.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "../device_memory.h"
#include "picture.h"
#include "tunesmith/conv2d.h"

namespace {

struct Mask {
  int size = 0;  // rows and columns
  tunesmith::Conv2dMode mode = tunesmith::Conv2dMode::correlation;
  std::vector<float> weights;
};

// A Gaussian whose weights sum to 1, cut at three standard deviations.
Mask gaussian(int size) {
  Mask mask{size, tunesmith::Conv2dMode::convolution, {}};
  const double deviation = size / 6.0;
  double sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        const double dy = y - (size - 1) / 2.0;
        const double dx = x - (size - 1) / 2.0;
        const double weight = std::exp(-(dy * dy + dx * dx) / (2 * deviation * deviation));
        if (pass == 0) {
          sum += weight;
        } else {
          mask.weights.push_back(static_cast<float>(weight / sum));
        }
      }
    }
  }
  return mask;
}

const std::map<std::string, Mask>& masks() {
  static const std::map<std::string, Mask> all = {
      {"gaussian13", gaussian(13)},
      {"gaussian5", gaussian(5)},
      {"sharpen3", {3, tunesmith::Conv2dMode::correlation, {0, -1, 0, -1, 5, -1, 0, -1, 0}}},
      {"edges3", {3, tunesmith::Conv2dMode::correlation, {-1, -1, -1, -1, 8, -1, -1, -1, -1}}},
      {"box6", {6, tunesmith::Conv2dMode::correlation, std::vector<float>(36, 1.0f / 36)}}};
  return all;
}

struct Request {
  std::string input;
  std::string output = "filtered.png";
  std::string mask = "gaussian13";
  tunesmith::DispatcherOptions options;
};

constexpr const char* usage =
    "usage: filter_image [INPUT.png] [OUTPUT.png] [--device auto|cuda|cuda:N|host] [--db FILE] [--mask NAME]";

Request read_arguments(int count, char** arguments) {
  Request request;
  request.options.device = tunesmith::first_device();
  std::vector<std::string> files;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == count) throw std::runtime_error("The option " + word + " needs a value.");
      return arguments[++i];
    };
    if (word == "--device") {
      request.options.device = value();
      if (request.options.device == "auto") request.options.device = tunesmith::first_device();
    } else if (word == "--db") {
      request.options.database = value();
    } else if (word == "--mask") {
      request.mask = value();
    } else if (word.starts_with('-')) {
      throw std::runtime_error("There is no option " + word + "; the options are --device, --db and --mask.");
    } else {
      files.push_back(word);
    }
  }
  if (files.size() > 2)
    throw std::runtime_error(std::to_string(files.size()) +
                             " files are named; allowed are one to read and one to write.");
  if (!files.empty()) request.input = files[0];
  if (files.size() == 2) request.output = files[1];
  if (!masks().contains(request.mask)) {
    std::string names;
    for (const auto& [name, mask] : masks()) names += (names.empty() ? "" : ", ") + name;
    throw std::runtime_error("There is no mask " + request.mask + "; the masks are " + names + ".");
  }
  return request;
}

void run(const Request& request) {
  using Clock = std::chrono::steady_clock;
  Picture picture = request.input.empty() ? test_card(200, 200) : read_png(request.input);
  const Mask& mask = masks().at(request.mask);

  tunesmith::Dispatcher dispatcher(request.options);
  // Opacity is not filtered; each other channel is one image of the batch.
  const std::size_t filtered =
      static_cast<std::size_t>(picture.channels % 2 == 0 ? picture.channels - 1 : picture.channels) *
      picture.height * picture.width;
  const tunesmith::Conv2dShape shape{
      .batch = static_cast<std::int64_t>(filtered / picture.height / picture.width),
      .height = static_cast<std::int64_t>(picture.height),
      .width = static_cast<std::int64_t>(picture.width),
      .mask_height = mask.size,
      .mask_width = mask.size};
  // The best kernel may have to be compiled first; otherwise the first launches would use a kernel that is
  // ready.
  const tunesmith::Plan ready = tunesmith::conv2d_plan<float>(dispatcher, shape, mask.mode);
  const tunesmith::NamedProblem problem{"conv2d", ready.problem()};
  dispatcher.prepare({&problem, 1});
  const tunesmith::Plan plan = tunesmith::conv2d_plan<float>(dispatcher, shape, mask.mode);

  DeviceArray<float> image(dispatcher, filtered);
  DeviceArray<float> weights(dispatcher, mask.weights.size());
  DeviceArray<float> output(dispatcher, filtered);
  image.upload({picture.samples.begin(), picture.samples.begin() + static_cast<std::ptrdiff_t>(filtered)});
  weights.upload(mask.weights);

  double best_us = 0;
  for (int i = 0; i < 3; ++i) {  // the first launch also initialises the device
    const Clock::time_point start = Clock::now();
    const tunesmith::Status status =
        tunesmith::conv2d(dispatcher, image.data(), weights.data(), output.data(), shape, mask.mode);
    if (!status) throw std::runtime_error(status.message());
    wait_for(dispatcher);
    const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    best_us = i == 0 ? us : std::min(best_us, us);
  }
  const std::vector<float> result = output.download();
  std::copy(result.begin(), result.end(), picture.samples.begin());
  write_png(request.output, picture);

  const tunesmith::Variant& variant = plan.variant();
  std::printf("%s, %zu x %zu, %lld channel(s), mask %s, on %s\n",
              request.input.empty() ? "test card" : request.input.c_str(), picture.height, picture.width,
              static_cast<long long>(shape.batch), request.mask.c_str(), dispatcher.device().c_str());
  std::printf("variant: %s %s\n", variant.template_name.c_str(), variant.config.c_str());
  std::printf("match:   %s", std::string(name(plan.match())).c_str());
  if (!variant.tuned_problem.empty()) {
    std::printf(" (%.0f %% behind the best expected; tuned for %s on %s: %.2f us%s)",
                100 * plan.expected_loss(), variant.tuned_problem.c_str(), variant.tuned_on.c_str(),
                variant.median_us, variant.cold_caches ? " with cold caches" : "");
  }
  std::printf("\ntime:    %.1f us per launch, with the wait for it\nwritten: %s\n", best_us,
              request.output.c_str());
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && (std::strcmp(arguments[1], "--help") == 0 || std::strcmp(arguments[1], "-h") == 0)) {
    std::puts(usage);
    return 0;
  }
  Request request;
  try {
    request = read_arguments(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n%s\n", error.what(), usage);
    return 2;
  }
  try {
    run(request);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
