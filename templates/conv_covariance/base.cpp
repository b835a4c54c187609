// SPDX-License-Identifier: Apache-2.0
// The plain template, `base` (base.cu): it serves every problem and compiles in only the element type.

#include "templates/axes.h"
#include "templates/conv_covariance/op.h"

namespace tunesmith::conv_covariance_op {
namespace {

// CUDA's limit for the grid's x. Beyond it, the kernel walks in strides.
constexpr std::int64_t grid_limit_x = 2147483647;

Work work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  if (d.nothing_to_add()) return {};
  const std::int64_t pairs = d.batch * d.pixels() * d.pixels();
  return {.steps = {Launch{.kernel = "conv_covariance_base",
                           .grid = {std::min(ceil_divide(pairs, config[BLOCK]), grid_limit_x)},
                           .block = {config[BLOCK]},
                           .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2},
                                         ArgumentPointer{3}, d.batch, d.channels_out, d.channels_in, d.height,
                                         d.width, d.mask_height, d.mask_width}}}};
}

}  // namespace

Template base() {
  return {
      .name = "base",
      .what =
          "One thread per pair of output pixels, with the loops of the original Numba kernel; serves every "
          "problem.",
      .kernels = {"conv_covariance_base"},
      .space =
          [](const Problem&) {
            return Space({block_axis({256, 128, 64, 512})});
          },
      .work = work};
}

}  // namespace tunesmith::conv_covariance_op
