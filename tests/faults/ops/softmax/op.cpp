// SPDX-License-Identifier: Apache-2.0
// softmax: an op for the fault tests whose wrong templates are right for numbers in [-1, 1).
#include <algorithm>
#include <cmath>
#include <limits>

#include "generator/ops.h"

namespace tunesmith {
namespace {

constexpr IntegerAxis BLOCK("BLOCK");

Template named(const std::string& name, const std::string& what) {
  return {.name = name,
          .what = what,
          .kernels = {"softmax_" + name},
          .space =
              [](const Problem&) {
                return Space({{BLOCK, {64}, "threads per block"}}, {});
              },
          .work =
              [name](const Problem& problem, const Config& config) {
                return Work{
                    .steps = {Launch{.kernel = "softmax_" + name,
                                     .grid = {problem.integer("rows")},
                                     .block = {config[BLOCK]},
                                     .arguments = {ArgumentPointer{0}, ArgumentPointer{1},
                                                   static_cast<std::int32_t>(problem.integer("columns"))}}}};
              }};
}

}  // namespace

Op ops_softmax() {
  return {
      .name = "softmax",
      .what = "y[r][i] = exp(x[r][i]) / sum of exp(x[r])",
      .parameters = {{.name = "rows", .what = "rows"},
                     {.name = "columns", .what = "columns"},
                     {.name = "dtype", .what = "element type", .categories = {"f32"}, .initial = "f32"}},
      .arguments = {{"x", Role::input, {"rows", "columns"}}, {"y", Role::output, {"rows", "columns"}}},
      .templates = {named("base", "right"), named("unstable", "overflows"),
                    named("no_barrier", "lacks a barrier")},
      .reference =
          [](const Problem& problem, std::span<const std::vector<double>> arguments, int, std::int64_t begin,
             std::int64_t end, std::span<double> value, std::span<double> permitted) {
            const std::int64_t columns = problem.integer("columns");
            for (std::int64_t i = begin; i < end; ++i) {
              const double* row = arguments[0].data() + i / columns * columns;
              const double most = *std::max_element(row, row + columns);
              double sum = 0;
              for (std::int64_t k = 0; k < columns; ++k) sum += std::exp(row[k] - most);
              const auto at = static_cast<std::size_t>(i - begin);
              value[at] = std::exp(row[i % columns] - most) / sum;
              // Rounding a difference d of up to 200 gives an error of d 2^-24 relative to exp(d).
              permitted[at] = value[at] * (200 + 64) * 0x1p-23 + std::numeric_limits<float>::min();
            }
          },
      .flops =
          [](const Problem& problem) {
            return 5.0 * static_cast<double>(problem.integer("rows") * problem.integer("columns"));
          },
      .companions = {"rows=1 columns=1", "rows=3 columns=100"},
  };
}

}  // namespace tunesmith
