// SPDX-License-Identifier: Apache-2.0
// Computes two image convolutions that are often written by hand with shared memory: 13 x 13 on 200 x 200 as
// scipy.ndimage.convolve(mode="constant") defines it, and 3 x 3 on 1000 x 2000 as torch.nn.Conv2d with
// padding 1 does. Each is compared with plain loops.
#include "application.h"
#include "tunesmith/conv2d.h"

namespace {

struct Sum {
  double value = 0;
  double magnitude = 0;  // the sum of the absolute values of its terms
};

// Computes the output at (i, j) by plain loops.
Sum convolved(const std::vector<float>& image, const std::vector<float>& mask,
              const tunesmith::Conv2dShape& shape, tunesmith::Conv2dMode mode, std::int64_t i,
              std::int64_t j) {
  Sum sum;
  for (std::int64_t k = 0; k < shape.mask_height; ++k) {
    for (std::int64_t l = 0; l < shape.mask_width; ++l) {
      const bool flipped = mode == tunesmith::Conv2dMode::convolution;
      const std::int64_t row = flipped ? i - k + shape.mask_height / 2 : i + k - shape.mask_height / 2;
      const std::int64_t column = flipped ? j - l + shape.mask_width / 2 : j + l - shape.mask_width / 2;
      if (row < 0 || row >= shape.height || column < 0 || column >= shape.width) continue;
      const double term = static_cast<double>(mask[static_cast<std::size_t>(k * shape.mask_width + l)]) *
                          static_cast<double>(image[static_cast<std::size_t>(row * shape.width + column)]);
      sum.value += term;
      sum.magnitude += std::abs(term);
    }
  }
  return sum;
}

void compare(tunesmith::Dispatcher& dispatcher, Report& report, const char* what,
             const std::vector<float>& image, const std::vector<float>& mask,
             const tunesmith::Conv2dShape& shape, tunesmith::Conv2dMode mode) {
  DeviceArray<float> image_there(dispatcher, image);
  DeviceArray<float> mask_there(dispatcher, mask);
  DeviceArray<float> output_there(dispatcher, image.size());
  const double us = time_us(dispatcher, [&] {
    require(conv2d(dispatcher, image_there.data(), mask_there.data(), output_there.data(), shape, mode));
  });
  const std::vector<float> output = output_there.download();

  // Rounding errors grow with the terms, which may cancel in the sum.
  double error = 0;
  for (std::int64_t i = 0; i < shape.height; ++i) {
    for (std::int64_t j = 0; j < shape.width; ++j) {
      const Sum expected = convolved(image, mask, shape, mode, i, j);
      const auto got = static_cast<double>(output[static_cast<std::size_t>(i * shape.width + j)]);
      error = worse(std::abs(got - expected.value) / expected.magnitude, error);
    }
  }
  report.add(what, tunesmith::conv2d_plan<float>(dispatcher, shape, mode), us, error, 1e-5,
             "error relative to the sum of the terms' magnitudes");
}

void run(tunesmith::Dispatcher& dispatcher, Report& report) {
  // A dark photograph, and a random mask whose weights sum to 1: no terms cancel, so the error measured is
  // the relative error.
  std::vector<float> mask = random_values<float>(std::size_t{13} * 13, 0, 1, 1);
  float total = 0;
  for (const float weight : mask) total += weight;
  for (float& weight : mask) weight /= total;
  compare(dispatcher, report, "convolution of 200 x 200 with 13 x 13",
          random_values<float>(std::size_t{200} * 200, 0, 1.0 / 255, 2), mask,
          {.height = 200, .width = 200, .mask_height = 13, .mask_width = 13},
          tunesmith::Conv2dMode::convolution);

  // The weights of a fresh torch.nn.Conv2d(1, 1, 3) lie between -1/3 and 1/3.
  compare(
      dispatcher, report, "correlation of 1000 x 2000 with 3 x 3",
      random_values<float>(std::size_t{1000} * 2000, 0, 1, 3), random_values<float>(9, -1.0 / 3, 1.0 / 3, 4),
      {.height = 1000, .width = 2000, .mask_height = 3, .mask_width = 3}, tunesmith::Conv2dMode::correlation);
}

}  // namespace

int main(int count, char** arguments) { return run_application(count, arguments, run); }
