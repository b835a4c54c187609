// SPDX-License-Identifier: Apache-2.0
// Computes the covariance of a convolution layer's output on unreliable hardware in one call, and compares it
// with the original seven nested loops, which are too slow for use.
#include "application.h"
#include "tunesmith/conv_covariance.h"

namespace {

struct Arrays {
  std::vector<float> input, gamma, mu, c;
};

// Runs the loops in double; `magnitude` gets the sum of the absolute values of an element's terms.
void loops(const tunesmith::ConvCovarianceShape& shape, const Arrays& arrays, std::vector<double>& input,
           std::vector<double>& magnitude) {
  const std::int64_t rows = shape.height - shape.mask_height + 1;
  const std::int64_t columns = shape.width - shape.mask_width + 1;
  const auto at = [](const std::vector<float>& array, std::int64_t index) {
    return static_cast<double>(array[static_cast<std::size_t>(index)]);
  };
  const auto mu = [&](std::int64_t b, std::int64_t ci, std::int64_t i, std::int64_t j) {
    return at(arrays.mu, ((b * shape.channels_in + ci) * shape.height + i) * shape.width + j);
  };
  const auto gamma = [&](std::int64_t b, std::int64_t ci, std::int64_t i, std::int64_t j, std::int64_t ip,
                         std::int64_t jp) {
    const std::int64_t left = ((b * shape.channels_in + ci) * shape.height + i) * shape.width + j;
    return at(arrays.gamma, ((left * shape.channels_in + ci) * shape.height + ip) * shape.width + jp);
  };
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t c0 = 0; c0 < shape.channels_out; ++c0) {
      for (std::int64_t i0 = 0; i0 < rows; ++i0) {
        for (std::int64_t j0 = 0; j0 < columns; ++j0) {
          for (std::int64_t i0p = 0; i0p < rows; ++i0p) {
            for (std::int64_t j0p = 0; j0p < columns; ++j0p) {
              const std::int64_t left = ((b * shape.channels_out + c0) * rows + i0) * columns + j0;
              const auto element =
                  static_cast<std::size_t>(((left * shape.channels_out + c0) * rows + i0p) * columns + j0p);
              for (std::int64_t ci = 0; ci < shape.channels_in; ++ci) {
                for (std::int64_t ii = 0; ii < shape.mask_height; ++ii) {
                  for (std::int64_t ji = 0; ji < shape.mask_width; ++ji) {
                    const double term =
                        at(arrays.c, c0) * (mu(b, ci, i0 + ii, j0 + ji) * mu(b, ci, i0p + ii, j0p + ji) +
                                            gamma(b, ci, i0 + ii, j0 + ji, i0p + ii, j0p + ji));
                    input[element] += term;
                    magnitude[element] += std::abs(term);
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}

void run(tunesmith::Dispatcher& dispatcher, Report& report) {
  const tunesmith::ConvCovarianceShape shape{.batch = 2,
                                             .channels_out = 3,
                                             .channels_in = 3,
                                             .height = 9,
                                             .width = 9,
                                             .mask_height = 3,
                                             .mask_width = 3};
  Arrays arrays{.input = random_values<float>(std::size_t{2} * 3 * 7 * 7 * 3 * 7 * 7, 0, 1, 1),
                .gamma = random_values<float>(std::size_t{2} * 3 * 9 * 9 * 3 * 9 * 9, 0, 1, 2),
                .mu = random_values<float>(std::size_t{2} * 3 * 9 * 9, 0, 1, 3),
                .c = random_values<float>(3, 0.5, 1.5, 4)};
  DeviceArray<float> input(dispatcher, arrays.input);
  DeviceArray<float> gamma(dispatcher, arrays.gamma);
  DeviceArray<float> mu(dispatcher, arrays.mu);
  DeviceArray<float> c(dispatcher, arrays.c);
  const auto add = [&] {
    require(conv_covariance(dispatcher, input.data(), gamma.data(), mu.data(), c.data(), shape));
  };
  const double us = time_us(dispatcher, add);
  input.upload(arrays.input);  // each launch adds to it; the comparison is with one launch
  add();
  const std::vector<float> result = input.download();

  std::vector<double> expected(arrays.input.begin(), arrays.input.end());
  std::vector<double> magnitude(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) magnitude[i] = std::abs(expected[i]);
  loops(shape, arrays, expected, magnitude);
  double error = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(static_cast<double>(result[i]) - expected[i]);
    if (difference != 0) error = worse(difference / magnitude[i], error);
  }
  report.add("covariance of a layer: batch 2, 3 to 3 channels, 9 x 9 to 7 x 7, mask 3 x 3",
             tunesmith::conv_covariance_plan<float>(dispatcher, shape), us, error, 1e-5, "relative error");
}

}  // namespace

int main(int count, char** arguments) { return run_application(count, arguments, run); }
