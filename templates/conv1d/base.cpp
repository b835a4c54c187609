// SPDX-License-Identifier: Apache-2.0
// The template `base` (base.cu): its space and work.

#include <algorithm>
#include <utility>

#include "templates/conv1d/op.h"

namespace tunesmith::conv1d_op {
namespace {

Space base_space(const Problem& /*problem*/) {
  return Space({{BLOCK_X, {128, 32, 64, 256, 512, 1024}, "threads per block"}});
}

Work base_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  if (d.batch == 0) return Work{};
  Launch launch{.kernel = "conv1d_base",
                .grid = {ceil_divide(d.output_length, config[BLOCK_X]), std::min(d.batch, grid_limit)},
                .block = {config[BLOCK_X]},
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, int32(d.batch),
                              std::int32_t{d.turned}, d.length, d.taps, d.output_length, d.left,
                              static_cast<std::int32_t>(d.boundary)}};
  add_value(launch, problem, sum_dtype(problem));
  return Work{.steps = {std::move(launch)}};
}

}  // namespace

Template base() {
  return {.name = "base",
          .what = "One thread per output, a loop over the taps in global memory; serves every problem.",
          .kernels = {"conv1d_base"},
          .space = base_space,
          .work = base_work};
}

}  // namespace tunesmith::conv1d_op
