// SPDX-License-Identifier: Apache-2.0
// scan/base: the plain kernels, which serve every problem.

#include <algorithm>

#include "templates/scan/op.h"
#include "templates/shared_layout.h"

namespace tunesmith::scan_op {
namespace {

#include "templates/scan/base_layout.inl"

Space base_space(const Problem& /*problem*/) { return Space({block_axis()}); }

// True if a thread takes a line alone. Threads of neighbouring lines read neighbouring elements, unless the
// lines are contiguous.
bool is_alone(const Dims& d) {
  if (d.length < 32 || (d.lines() >= 32768 && (d.inner > 1 || d.length < 64))) return true;
  return d.inner >= 32 && d.lines() * d.length >= std::int64_t{1} << 20;
}

Work base_work(const Problem& problem, const Config& config, const DeviceFacts& device) {
  const Dims d(problem);
  Work work;
  if (d.empty()) return work;
  const std::int64_t block = config[BLOCK];
  const bool alone = is_alone(d);
  const bool is_for_warp = d.length <= 1024 || (d.lines() >= 4096 && d.length <= 32768);
  const std::int64_t team = alone ? 1 : is_for_warp ? 32 : block;
  // The parts are as many as give each multiprocessor 1024 threads and are worth a second launch. Each part
  // adds up the totals of the parts before it.
  const std::int64_t least = alone ? 128 : team * base_items;
  const std::int64_t wanted =
      std::min<std::int64_t>(1024, 1024 * multiprocessors_to_fill(device) / team / d.lines());
  const bool has_parts = wanted > 1 && d.length > 4 * least;
  const std::int64_t part_length = has_parts ? round_up(ceil_divide(d.length, wanted), least) : d.length;
  const std::int64_t parts = ceil_divide(d.length, part_length);  // of a line
  const auto launch = [&](std::int64_t of_line, bool has_results) {
    Launch made{
        .kernel = alone ? "scan_base_each" : "scan_base",
        .grid = {std::min(ceil_divide(of_line * d.lines(), block / team),
                          std::int64_t{1} << 20)},  // walked in strides
        .block = {block},
        .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, WorkspacePointer{0}, of_line * d.lines(),
                      d.lines(), d.length, part_length, d.inner, d.outer_stride, d.stride,
                      static_cast<std::int32_t>(function_of(problem)), std::int32_t{is_exclusive(problem)},
                      std::int32_t{is_reverse(problem)}, std::int32_t{has_results}}};
    if (!alone) made.arguments.emplace_back(int32(team));
    work.steps.push_back(std::move(made));
  };
  if (parts > 1) launch(parts - 1, false);
  launch(parts, true);
  // A total of an expression also says whether it exists.
  const bool is_expression = function_of(problem) == own_expression;
  work.workspace_bytes = (parts - 1) * d.lines() * item_bytes(problem) * (is_expression ? 2 : 1);
  return work;
}

}  // namespace

Template base() {
  return {.name = "base",
          .what = "A thread, a warp or a block per line, or per part of a long one; serves every problem.",
          .kernels = {"scan_base", "scan_base_each"},
          .compiled_in = {"dtype", "sum_dtype", "expression", "identity"},
          .space = base_space,
          .work = base_work,
          .alignment_bytes = [](const Problem& problem, const Config& /*config*/) {
            return element_bytes(problem);
          }};
}

}  // namespace tunesmith::scan_op
