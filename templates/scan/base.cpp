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
  // Threads of neighbouring lines read neighbouring elements, but of contiguous lines.
  const bool is_alone = d.length < 32 || (d.lines() >= 32768 && (d.inner > 1 || d.length < 64));
  const std::int64_t team = is_alone ? 1 : d.length <= 1024 || d.lines() >= 4096 ? 32 : block;
  Launch launch{
      .kernel = is_alone ? "scan_base_each" : "scan_base",
      .grid = {std::min(ceil_divide(d.lines(), block / team), std::int64_t{1} << 20)},  // walked in strides
      .block = {block},
      .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.lines(), d.length, d.inner, d.outer_stride,
                    d.stride, static_cast<std::int32_t>(function_of(problem)),
                    std::int32_t{is_exclusive(problem)}, std::int32_t{is_reverse(problem)}}};
  if (!is_alone) launch.arguments.emplace_back(int32(team));
  work.steps.push_back(std::move(launch));
  return work;
}

}  // namespace

Template base() {
  return {.name = "base",
          .what = "A thread, a warp or a block per line; serves every problem.",
          .kernels = {"scan_base", "scan_base_each"},
          .compiled_in = {"dtype", "sum_dtype", "expression", "identity"},
          .space = base_space,
          .work = base_work};
}

}  // namespace tunesmith::scan_op
