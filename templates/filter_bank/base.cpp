// SPDX-License-Identifier: Apache-2.0
// filter_bank/base: the template of the plain kernel, which serves every problem.

#include <algorithm>

#include "templates/filter_bank/op.h"

namespace tunesmith::filter_bank_op {
namespace {

Space base_space(const Problem& /*problem*/) {
  return Space(
      {{BLOCK, {128, 64, 256}, "threads per block"}, {ROWS, {8, 4, 16}, "outputs of a thread, in a column"}});
}

std::int64_t number(FilterBankResults results) { return static_cast<std::int64_t>(results); }

Work base_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  if (d.empty()) return {};
  const std::int64_t threads = d.batch * ceil_divide(d.height, config[ROWS]) * d.row_length();
  Launch launch{.kernel = "filter_bank_base",
                .grid = {std::min(ceil_divide(threads, config[BLOCK]), std::int64_t{1} << 20)},
                .block = {config[BLOCK]},
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, ArgumentPointer{3},
                              d.batch, d.height, d.width, d.channels, int32(d.filters), int32(d.taps_y),
                              int32(d.taps_x), int32(d.before_y), int32(d.before_x), int32(number(d.results)),
                              static_cast<std::int32_t>(d.boundary)}};
  add_value(launch, problem, sum_dtype(problem));
  return {.steps = {std::move(launch)}};
}

}  // namespace

Template base() {
  return {.name = "base",
          .what = "Each thread has a few outputs of a column; serves every problem.",
          .kernels = {"filter_bank_base"},
          .constants =
              [](const Problem& /*problem*/) {
                return Values{{"EACH", number(FilterBankResults::each)},
                              {"NORM", number(FilterBankResults::norm)}};
              },
          .space = base_space,
          .work = base_work};
}

}  // namespace tunesmith::filter_bank_op
