// SPDX-License-Identifier: Apache-2.0
// average: the mean of two arrays, element by element.
#include "generator/op.h"

#include <cmath>

namespace tunesmith {
namespace {
constexpr IntegerAxis BLOCK("BLOCK"), ITEMS("ITEMS");
}

Op ops_average() {
  const Template base = {
      .name = "base",
      .what = "Blocks of threads walk the arrays in strides.",
      .kernels = {"average_base"},
      .space =
          [](const Problem&) {
            return Space({{BLOCK, {128, 64, 256, 512}, "threads per block"},
                          {ITEMS, {1, 2, 4, 8}, "elements per thread"}},
                         {{"A block handles at most 2048 elements.",
                           [](const Config& c) { return c[BLOCK] * c[ITEMS] <= 2048; }}});
          },
      .work =
          [](const Problem& problem, const Config& config) {
            const std::int64_t n = problem.integer("n");
            const std::int64_t per_block = config[BLOCK] * config[ITEMS];
            return Work{.steps = {Launch{
                            .kernel = "average_base",
                            .grid = {(n + per_block - 1) / per_block},
                            .block = {config[BLOCK]},
                            .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, n}}}};
          }};
  return {
      .name = "average",
      .what = "mean[i] = (left[i] + right[i]) / 2",
      .parameters =
          {{.name = "n", .what = "elements"},
           {.name = "dtype", .what = "element type", .categories = {"f32", "f64"}, .initial = "f32"}},
      .arguments = {{"left", Role::input, {"n"}},
                    {"right", Role::input, {"n"}},
                    {"mean", Role::output, {"n"}}},
      .templates = {base},
      .reference =
          [](const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
             std::int64_t begin, std::int64_t end, std::span<double> value,
             std::span<double> permitted_error) {
            const double unit = dtype_of(problem) == DType::f64 ? 0x1p-53 : 0x1p-24;
            for (std::int64_t i = begin; i < end; ++i) {
              const auto at = static_cast<std::size_t>(i);
              const auto to = static_cast<std::size_t>(i - begin);
              value[to] = (arguments[0][at] + arguments[1][at]) / 2;
              const double size = std::abs(arguments[0][at]) + std::abs(arguments[1][at]);
              permitted_error[to] = std::isfinite(size) ? 2 * unit * size : 0;  // not finite: exact
            }
          },
      .flops = [](const Problem& problem) { return 2.0 * static_cast<double>(problem.integer("n")); },
      .companions = {"n=1", "n=2049"},
      .examples = {"n=1000", "n=257 dtype=f64"},
  };
}

}  // namespace tunesmith
