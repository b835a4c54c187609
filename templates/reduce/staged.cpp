// SPDX-License-Identifier: Apache-2.0
// reduce/staged: short rows, one for each thread, through shared memory.

#include <algorithm>
#include <optional>

#include "generator/device_facts.h"
#include "templates/axes.h"
#include "templates/reduce/op.h"

namespace tunesmith::reduce_op {
namespace {

constexpr IntegerAxis TILE("TILE");

constexpr std::int64_t most_tile = 16;

// The bytes of shared memory, as in staged.cu: pieces of up to 16 bytes, with an odd number of them from one
// row to the next; and the elements that a thread may read behind the last row.
std::int64_t shared_bytes(const Problem& problem, std::int64_t block) {
  const std::int64_t length = problem.integer("length"), element = bytes(dtype_of(problem));
  std::int64_t piece = std::min<std::int64_t>(4, 16 / element);
  while (length % piece != 0) piece /= 2;
  const std::int64_t pitch = length / piece % 2 == 0 ? length + piece : length;
  return (block * pitch + most_tile) * element;
}

std::string refuses(const Problem& problem) {
  const Dims d(problem);
  if (std::string empty = refuses_empty(d); !empty.empty()) return empty;
  const bool dense =
      d.inner == 1 && (d.stride == 1 || d.length == 1) && (d.outer_stride == d.length || d.outer == 1);
  if (dense && shared_bytes(problem, 64) <= static_shared_limit) return "";
  return "This template is for rows without gaps of which 64 fit in 48 KiB; here length is " +
         std::to_string(d.length) + ", inner " + std::to_string(d.inner) + ", stride " +
         std::to_string(d.stride) + " and outer_stride " + std::to_string(d.outer_stride) + ".";
}

Space staged_space(const Problem& problem) {
  return Space(
      {{BLOCK, {128, 64, 256}, "threads per block, each with a row"},
       {ITEMS, {4, 8, 2, 1}, "loads of a thread before it stores them in shared memory"},
       vector_axis(problem),
       {TILE, {8, most_tile, 4}, "elements that a thread adds together"},
       load_axis(),
       start_axis(),
       trigger_axis()},
      with_narrow_rules(
          {{"The rows of a block take at most 48 KiB of shared memory.",
            [problem](const Config& c) { return shared_bytes(problem, c[BLOCK]) <= static_shared_limit; }},
           early_rule()},
          problem),
      {half_rule(problem), trigger_rule()});
}

Work staged_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  Launch launch{.kernel = "reduce_staged",
                .grid = {ceil_divide(d.outer, config[BLOCK])},
                .block = {config[BLOCK]},
                .dynamic_shared_bytes = shared_bytes(problem, config[BLOCK]),
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.outer, int32(d.length)},
                .overlaps_previous = config[START] == "overlapped"};
  add_ratios(launch.arguments, problem);
  return {.steps = {std::move(launch)}};
}

// A guess for rows that are too short for a team of threads, and so many that each multiprocessor has blocks.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  if (d.length < 5 || d.length > 64 || d.outer < std::int64_t{128} * multiprocessors_to_fill(device))
    return std::nullopt;
  return Values{{std::string(START.name), std::string("overlapped")}};
}

}  // namespace

Template staged() {
  return {.name = "staged",
          .what = "Short rows without gaps, copied to shared memory, where each thread has one to itself.",
          .kernels = {"reduce_staged"},
          .compiled_in = {"function", "dtype", "sum_dtype"},
          .constants = tuned_constants,
          .preamble = tuned_preamble,
          .refuses = refuses,
          .untuned = untuned,
          .space = staged_space,
          .work = staged_work,
          .alignment_bytes = vector_bytes};
}

}  // namespace tunesmith::reduce_op
