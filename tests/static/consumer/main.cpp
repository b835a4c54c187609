// SPDX-License-Identifier: Apache-2.0
// Compares a result of the exported library with a plain loop, and prints its choices for the problems that
// it reads, one per line: match|template config|expected loss|template config for any pointers
#include <tunesmith/conv2d.h>
#include <tunesmith/dispatcher.h>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr int height = 200, width = 200, mask_size = 3;

// Launches with pointers that are `offset` elements behind aligned ones.
bool agrees(tunesmith::Dispatcher& dispatcher, std::size_t offset) {
  std::vector<float> mask(mask_size * mask_size);
  alignas(64) static float memory[2][height * width + 16];
  float* const input = memory[0] + offset;
  float* const output = memory[1] + offset;
  for (std::size_t i = 0; i < height * width; ++i) input[i] = static_cast<float>(i % 13) - 5;
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = static_cast<float>(i) / 4 - 1;
  const tunesmith::Status status =
      tunesmith::conv2d(dispatcher, input, mask.data(), output,
                        {.height = height, .width = width, .mask_height = mask_size, .mask_width = mask_size},
                        tunesmith::Conv2dMode::correlation);
  if (!status) std::cerr << status.message() << '\n';
  bool equal = status.ok();
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      for (int j = 0; j < mask_size; ++j) {
        for (int i = 0; i < mask_size; ++i) {
          const int row = y + j - mask_size / 2;
          const int column = x + i - mask_size / 2;
          if (row < 0 || row >= height || column < 0 || column >= width) continue;
          sum += double{input[static_cast<std::size_t>(row * width + column)]} *
                 double{mask[static_cast<std::size_t>(j * mask_size + i)]};
        }
      }
      equal = equal && std::abs(sum - double{output[static_cast<std::size_t>(y * width + x)]}) < 1e-4;
    }
  }
  return equal;
}

}  // namespace

int main() {
  tunesmith::Dispatcher dispatcher(
      {.device = "host", .database = "given.db", .compile = tunesmith::Compile::now});
  for (const std::string& note : dispatcher.notes()) std::cerr << note << '\n';
  for (std::string problem; std::getline(std::cin, problem);) {
    const tunesmith::Plan plan = dispatcher.plan("conv2d", problem);
    const tunesmith::Variant& any = plan.unaligned_variant();
    std::printf("%s|%s %s|%.17g|%s %s\n", std::string(name(plan.match())).c_str(),
                plan.variant().template_name.c_str(), plan.variant().config.c_str(), plan.expected_loss(),
                any.template_name.c_str(), any.config.c_str());
  }
  for (const std::size_t offset : {0, 1}) {
    if (agrees(dispatcher, offset)) continue;
    std::cerr << "The result differs from a plain loop's, " << offset
              << " elements behind aligned pointers.\n";
    return 1;
  }
  return 0;
}
