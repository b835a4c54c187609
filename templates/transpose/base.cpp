// SPDX-License-Identifier: Apache-2.0
// The template `base` (base.cu), which serves every problem: one thread per element, directly from array to
// array.

#include "templates/transpose/op.h"

namespace tunesmith::transpose_op {
namespace {

Space space(const Problem& /*problem*/) {
  return Space({{BLOCK_X, {32, 16, 8, 64}, "threads per block along an input row"},
                {BLOCK_Y, {8, 4, 16, 32}, "threads per block across input rows"}},
               {{"A block has at most 1024 threads.",
                 [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y] <= 1024; }}});
}

Work work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  if (d.empty()) return {};
  return {.steps = {Launch{.kernel = "transpose_base",
                           .grid = {ceil_divide(d.width, config[BLOCK_X]),
                                    std::min(ceil_divide(d.height, config[BLOCK_Y]), grid_limit),
                                    std::min(d.batch, grid_limit)},
                           .block = {config[BLOCK_X], config[BLOCK_Y]},
                           .arguments = kernel_arguments(d)}}};
}

// The kernel moves sixteen bytes as two halves.
std::int64_t alignment_bytes(const Problem& problem, const Config& /*config*/) {
  return std::min<std::int64_t>(bytes(dtype_of(problem)), 8);
}

}  // namespace

Template base() {
  return {.name = "base",
          .what = "One thread per element, straight from array to array; serves every problem.",
          .kernels = {"transpose_base"},
          .space = space,
          .work = work,
          .alignment_bytes = alignment_bytes};
}

}  // namespace tunesmith::transpose_op
