// SPDX-License-Identifier: Apache-2.0
// An op for the tests of dispatch: an array that may be its own output, arrays of no elements, an output that
// is added to, and a workspace of which each variant keeps another part at zero.

#include "generator/op.h"

namespace tunesmith {
namespace {

constexpr IntegerAxis VECTOR("VECTOR");

std::vector<std::int64_t> one(const Problem&) { return {1}; }
std::vector<std::int64_t> all(const Problem& problem) { return {problem.integer("n")}; }

Work work(const Problem& problem, const Config& config) {
  const std::int64_t n = problem.integer("n");
  Work work{
      .steps = {Zero{ArgumentPointer{2}, 4}}, .workspace_bytes = 16, .zeroed_bytes = 16 / config[VECTOR]};
  if (n > 0) {
    work.steps.push_back(Launch{.kernel = "tally_base",
                                .grid = {(n + 31) / 32},
                                .block = {32},
                                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2},
                                              static_cast<std::int32_t>(n), WorkspacePointer{0}}});
  }
  return work;
}

}  // namespace

Op ops_tally() {
  Op op;
  op.name = "tally";
  op.what = "y[i] = x[i]; count = n";
  op.parameters = {{.name = "n", .what = "elements", .minimum = 0, .maximum = 1 << 20},
                   {.name = "dtype", .what = "element type", .categories = {"f32"}, .initial = "f32"}};
  op.arguments = {{.name = "x",
                   .role = Role::input,
                   .extents = all,
                   .in_place = [](const Problem& problem) { return problem.integer("n") % 2 == 0; }},
                  {.name = "y", .role = Role::output, .extents = all},
                  {.name = "count", .role = Role::output, .extents = one}};
  op.templates = {
      {.name = "base",
       .what = "One thread an element.",
       .kernels = {"tally_base"},
       .space =
           [](const Problem&) {
             return Space({{VECTOR, {1, 4}, "elements by which pointers are aligned"}}, {});
           },
       .work = work,
       .alignment_bytes = [](const Problem&, const Config& config) { return 4 * config[VECTOR]; }}};
  op.reference = [](const Problem& problem, std::span<const std::vector<double>> arguments, int output,
                    std::int64_t begin, std::int64_t end, std::span<double> value,
                    std::span<double> permitted_error) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i - begin);
      value[at] =
          output == 1 ? arguments[0][static_cast<std::size_t>(i)] : static_cast<double>(problem.integer("n"));
      permitted_error[at] = 0;
    }
  };
  op.flops = [](const Problem&) { return 0.0; };
  op.bytes_moved = [](const Problem& problem) { return 8.0 * static_cast<double>(problem.integer("n")); };
  return op;
}

}  // namespace tunesmith
