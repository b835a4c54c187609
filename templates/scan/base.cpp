// scan/base: the plain kernels, which serve every problem.

#include <algorithm>

#include "templates/scan/op.h"

namespace tunesmith::scan_op {
namespace {

Space base_space(const Problem& /*problem*/) {
  return Space({{BLOCK, {256, 128, 512, 1024}, "threads per block"}});
}

Work base_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  Work work;
  if (d.empty()) return work;
  const std::int64_t block = config[BLOCK];
  Launch launch{.kernel = "scan_base",
                .block = {block},
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.lines(), d.length, d.inner,
                              d.outer_stride, d.stride, static_cast<std::int32_t>(function_of(problem)),
                              std::int32_t{is_exclusive(problem)}}};
  if (d.length <= 4 * d.lines()) {
    launch.kernel = "scan_base_each";
    launch.grid = {std::min(ceil_divide(d.lines(), block), std::int64_t{1} << 20)};  // walked in strides
  } else {
    launch.grid = {std::min(d.lines(), std::int64_t{1} << 20)};
    launch.dynamic_shared_bytes = block * item_bytes(problem);
  }
  work.steps.push_back(std::move(launch));
  return work;
}

}  // namespace

Template base() {
  return {.name = "base",
          .what = "One thread or one block per line; serves every problem.",
          .kernels = {"scan_base", "scan_base_each"},
          .compiled_in = {"dtype", "sum_dtype"},
          .space = base_space,
          .work = base_work};
}

}  // namespace tunesmith::scan_op
