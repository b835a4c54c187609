// SPDX-License-Identifier: Apache-2.0
// The template `base` (base.cu): its space and work.

#include <algorithm>
#include <utility>

#include "templates/conv2d/op.h"

namespace tunesmith::conv2d_op {
namespace {

Space base_space(const Problem& /*problem*/) {
  return Space({{BLOCK_X, {32, 16, 64, 128}, "threads of a block along a row"},
                {BLOCK_Y, {8, 4, 16, 2, 1}, "threads of a block across rows"}},
               {{"A block has at most 1024 threads.",
                 [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y] <= 1024; }}});
}

Work base_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  if (d.empty()) return {};
  Launch launch{.kernel = "conv2d_base",
                .grid = {ceil_divide(d.out_width, config[BLOCK_X]),
                         std::min(ceil_divide(d.out_height, config[BLOCK_Y]), grid_limit),
                         std::min(d.batch, grid_limit)},
                .block = {config[BLOCK_X], config[BLOCK_Y], 1},
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, int32(d.batch),
                              int32(d.height), int32(d.width), int32(d.mask_height), int32(d.mask_width),
                              std::int32_t{d.turned}, int32(d.out_height), int32(d.out_width), int32(d.top),
                              int32(d.left), static_cast<std::int32_t>(d.boundary)}};
  add_value(launch, problem, sum_dtype(problem));
  return Work{.steps = {std::move(launch)}};
}

}  // namespace

Template base() {
  return {.name = "base",
          .what = "One thread per output, every sample read from global memory; serves every problem.",
          .kernels = {"conv2d_base"},
          .space = base_space,
          .work = base_work};
}

}  // namespace tunesmith::conv2d_op
