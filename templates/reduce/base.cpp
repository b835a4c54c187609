// SPDX-License-Identifier: Apache-2.0
// reduce/base: the plain kernels, which serve every problem.

#include <algorithm>

#include "templates/reduce/op.h"

namespace tunesmith::reduce_op {
namespace {

Space base_space(const Problem& /*problem*/) { return Space({block_axis()}); }

// Functions after the mean, and sums in f64, have a kernel of their own (base.cu).
bool is_further(const Problem& problem) { return function_of(problem) > Function::mean || is_wide(problem); }

Work base_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  Work work;
  if (d.lines() == 0) return work;
  const std::int64_t block = config[BLOCK];
  Launch launch{.kernel = "reduce_base",
                .block = {block},
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.lines(), d.length, d.inner,
                              d.outer_stride, d.stride}};
  if (is_further(problem)) {
    const bool alone = d.length <= 4 * d.lines();  // a thread per output
    const std::int64_t share = alone ? ceil_divide(d.lines(), block) : d.lines();
    launch.kernel = "reduce_base_further";
    launch.grid = {std::min(share, std::int64_t{1} << 20)};  // walked in strides
    if (!alone) launch.dynamic_shared_bytes = block * partial_bytes(problem, true);
    add_ratios(launch.arguments, problem);
    launch.arguments.push_back(static_cast<std::int32_t>(function_of(problem)) + (is_wide(problem) ? 32 : 0));
    launch.arguments.push_back(std::int32_t{alone});
    work.steps.push_back(std::move(launch));
    return work;
  }
  const std::int64_t blocks = std::min(ceil_divide(d.length, 8 * block), std::int64_t{1024});
  if (is_atomic(problem) && blocks > 1) {
    launch.kernel = "reduce_base_atomic";
    launch.grid = {blocks, std::min(d.lines(), grid_limit)};
    launch.dynamic_shared_bytes = block * partial_bytes(problem, true);
    work.steps.push_back(Zero{ArgumentPointer{1}, d.lines() * bytes(output_dtype(problem))});
  } else {
    launch.arguments.push_back(static_cast<std::int32_t>(function_of(problem)));
    if (d.length <= 4 * d.lines()) {
      launch.kernel = "reduce_base_each";
      launch.grid = {std::min(ceil_divide(d.lines(), block), std::int64_t{1} << 20)};
    } else {
      launch.grid = {std::min(d.lines(), std::int64_t{2147483647})};  // walked in strides
      launch.dynamic_shared_bytes = block * partial_bytes(problem, true);
    }
  }
  work.steps.push_back(std::move(launch));
  return work;
}

}  // namespace

Template base() {
  return {
      .name = "base",
      .what = "One thread or one block per output, several blocks for an atomic sum; serves every problem.",
      .kernels = {"reduce_base", "reduce_base_each", "reduce_base_atomic", "reduce_base_further"},
      .space = base_space,
      .work = base_work};
}

}  // namespace tunesmith::reduce_op
