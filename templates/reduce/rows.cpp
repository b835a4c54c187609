// SPDX-License-Identifier: Apache-2.0
// reduce/rows: a team of threads per output, along contiguous elements.

#include "templates/axes.h"
#include "templates/reduce/op.h"

namespace tunesmith::reduce_op {
namespace {

constexpr IntegerAxis TEAM("TEAM");

std::string refuses(const Problem& problem) {
  const Dims d(problem);
  const std::string empty = refuses_empty(d);
  return empty.empty() ? refuses_apart(d) : empty;
}

Space rows_space(const Problem& problem) {
  return Space(
      {block_axis(),
       {TEAM, {32, 1, 2, 4, 8, 16, 64, 128, 256, 512, 1024}, "threads per row"},
       items_axis(),
       vector_axis(problem),
       load_axis(),
       start_axis(),
       trigger_axis()},
      with_narrow_rules({vector_rule(Dims(problem), false),
                         early_rule(),
                         {"A team is at most a block.", [](const Config& c) { return c[TEAM] <= c[BLOCK]; }}},
                        problem),
      {flight_rule(problem), half_rule(problem), trigger_rule()});
}

Work rows_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  const std::int64_t block = config[BLOCK];
  Launch launch{.kernel = "reduce_rows",
                .grid = {ceil_divide(d.outer, block / config[TEAM])},
                .block = {block},
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.outer, d.length, d.outer_stride},
                .overlaps_previous = config[START] == "overlapped"};
  if (has_moments(function_of(problem))) add_ratios(launch.arguments, problem);
  return {.steps = {std::move(launch)}};
}

// A thread has about 16 elements of a long row; neighbouring threads of a short one read neighbouring
// elements. Teams grow in steps of 4, so that few kernels serve all lengths.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& /*device*/) {
  const std::int64_t length = problem.integer("length");
  std::int64_t team = 1;
  while (team < 256 && 4 * team <= length && (team < 16 || 64 * team <= length)) team *= 4;
  return Values{{std::string(TEAM.name), team}};
}

}  // namespace

Template rows() {
  return {.name = "rows",
          .what = "A team of threads per output, along contiguous elements: many rows; needs no workspace.",
          .kernels = {"reduce_rows"},
          .compiled_in = {"dtype", "function", "sum_dtype"},
          .constants = tuned_constants,
          .preamble = tuned_preamble,
          .refuses = refuses,
          .untuned = untuned,
          .space = rows_space,
          .work = rows_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::reduce_op
