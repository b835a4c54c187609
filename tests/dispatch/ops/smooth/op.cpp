// SPDX-License-Identifier: Apache-2.0
// An op for the tests of dispatch, with all that decides a look-up: sizes that are compiled in, a rule that
// depends on the problem, alignment, state in the module, and a config that is too large for every device.

#include "generator/op.h"

#include <algorithm>
#include <cmath>

namespace tunesmith {
namespace {

constexpr IntegerAxis BLOCK("BLOCK");
constexpr CategoricalAxis STATE("STATE");
constexpr IntegerAxis VECTOR("VECTOR");

std::vector<std::int64_t> samples(const Problem& problem) { return {problem.integer("n")}; }
std::vector<std::int64_t> taps(const Problem& problem) { return {problem.integer("taps")}; }

Launch launch(const std::string& kernel, const Problem& problem, std::int64_t block,
              std::int64_t per_thread) {
  const std::int64_t per_block = block * per_thread;
  return {.kernel = kernel,
          .grid = {(problem.integer("n") + per_block - 1) / per_block},
          .block = {block},
          .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2},
                        static_cast<std::int32_t>(problem.integer("n")),
                        static_cast<std::int32_t>(problem.integer("taps"))}};
}

Template base() {
  return {.name = "base",
          .what = "One thread an output.",
          .kernels = {"smooth_base"},
          .space =
              [](const Problem&) {
                return Space({{BLOCK, {32, 64}, "threads per block"}}, {});
              },
          .work =
              [](const Problem& problem, const Config& config) {
                return Work{.steps = {launch("smooth_base", problem, config[BLOCK], 1)}};
              }};
}

// The kernel stores NaN if a pointer is not aligned as it requires, so that a wrong choice gives a wrong
// result.
Template vector() {
  return {.name = "vector",
          .what = "VECTOR outputs per thread.",
          .kernels = {"smooth_vector"},
          .compiled_in = {"dtype", "taps"},
          .refuses =
              [](const Problem& problem) {
                return problem.integer("taps") > 9 ? std::string("More than 9 taps are not unrolled.")
                                                   : std::string();
              },
          .space =
              [](const Problem& problem) {
                const std::int64_t n = problem.integer("n");
                return Space(
                    {{BLOCK, {32, 64, 4096}, "threads per block"},
                     {VECTOR, {1, 2, 4}, "outputs per thread"},
                     {STATE, {"none", "copy"}, "whether the weights are copied into the module"}},
                    {{"VECTOR divides n.", [n](const Config& config) { return n % config[VECTOR] == 0; }}});
              },
          .work =
              [](const Problem& problem, const Config& config) {
                Work work;
                if (config[STATE] == "copy") work.steps.push_back(ConstantCopy{"weights_copy", 1, 4});
                work.steps.push_back(launch("smooth_vector", problem, config[BLOCK], config[VECTOR]));
                return work;
              },
          .alignment_bytes = [](const Problem& problem,
                                const Config& config) { return bytes(dtype_of(problem)) * config[VECTOR]; }};
}

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const double unit = dtype_of(problem) == DType::f64 ? 0x1p-53 : 0x1p-24;
  const auto count = static_cast<double>(problem.integer("taps") + 1);
  for (std::int64_t i = begin; i < end; ++i) {
    double sum = 0;
    double size = 0;
    for (std::int64_t t = 0; t < problem.integer("taps") && i + t < problem.integer("n"); ++t) {
      const double term =
          arguments[0][static_cast<std::size_t>(i + t)] * arguments[1][static_cast<std::size_t>(t)];
      sum += term;
      size += std::abs(term);
    }
    value[static_cast<std::size_t>(i - begin)] = sum;
    permitted_error[static_cast<std::size_t>(i - begin)] = std::isfinite(size) ? size * count * unit : 0;
  }
}

}  // namespace

Op ops_smooth() {
  Op op;
  op.name = "smooth";
  op.what = "output[i] = sum over t of weights[t] samples[i + t]; zero beyond the end.";
  op.parameters = {{.name = "n", .what = "samples", .maximum = 1 << 30},
                   {.name = "taps", .what = "weights", .maximum = 64},
                   {.name = "dtype", .what = "element type", .categories = {"f32", "f64"}, .initial = "f32"}};
  op.arguments = {{.name = "samples", .role = Role::input, .extents = samples},
                  {.name = "weights", .role = Role::input, .extents = taps},
                  {.name = "output", .role = Role::output, .extents = samples}};
  op.templates = {base(), vector()};
  op.reference = reference;
  op.flops = [](const Problem& problem) {
    return 2.0 * static_cast<double>(problem.integer("n") * problem.integer("taps"));
  };
  return op;
}

}  // namespace tunesmith
