// SPDX-License-Identifier: Apache-2.0
// The smallest application: one correlation of an image with a 3 x 3 mask.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tunesmith/conv2d.h"

int main() {
  try {
    // With "cuda", the first CUDA device, the pointers below would have to come from cudaMalloc.
    tunesmith::Dispatcher dispatcher({.device = "host"});

    const tunesmith::Conv2dShape shape{.height = 200, .width = 300, .mask_height = 3, .mask_width = 3};
    const std::vector<float> image(60000, 2.0f);  // 200 x 300
    const std::vector<float> mask(9, 1.0f);
    std::vector<float> output(60000);

    const tunesmith::Status status =
        tunesmith::conv2d(dispatcher, image.data(), mask.data(), output.data(), shape);
    if (!status) {
      std::fprintf(stderr, "%s\n", status.message().c_str());
      return 1;
    }
    const tunesmith::Plan plan = tunesmith::conv2d_plan<float>(dispatcher, shape);
    std::printf("%s (%s) on %s: in the middle %g, in the corner %g\n", plan.variant().template_name.c_str(),
                std::string(name(plan.match())).c_str(), dispatcher.device().c_str(), output[100 * 300 + 150],
                output[0]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
