// SPDX-License-Identifier: Apache-2.0
// Definitions that histogram's templates share: axes, a rule, the arguments of their kernels.

#include "generator/device_facts.h"
#include "templates/histogram/op.h"

namespace tunesmith::histogram_op {

Axis load_axis() { return tunesmith::load_axis({"plain", "streaming"}); }

Axis merge_axis() {
  return {MERGE, categories({"none", "run", "warp"}),
          "which equal elements are counted together: none, a thread's neighbours, a warp's"};
}

Axis vector_axis(const Problem& problem) {
  return load_vector_axis(bytes(dtype_of(problem)), problem.integer("stride") == 1);
}

bool is_of_bytes(const Problem& problem) { return dtype_of(problem) == DType::u8; }

std::int64_t counters_of(const Problem& problem) {
  return is_of_bytes(problem) ? 256 : problem.integer("bins");
}

Rule counters_fit_rule(const std::function<std::int64_t(const Config&)>& shared_bytes) {
  return {"The counters fit in the 227 KiB of shared memory that a block may have on the largest devices.",
          [shared_bytes](const Config& c) { return shared_bytes(c) <= largest_shared_limit; }};
}

Rule run_rule() {
  return {"Runs need several elements per thread.",
          [](const Config& c) { return c[MERGE] != "run" || c[VECTOR] * c[ITEMS] > 1; }};
}

LaunchNumbers numbers_of(const Range& range) {
  const Estimate how = estimate(range);
  LaunchNumbers numbers;
  numbers.doubles = {range.lo, range.step, range.edge(range.bins), how.inverse, how.addend};
  // The window is unsigned in the kernel.
  numbers.integers[5] = static_cast<std::int32_t>(static_cast<std::uint32_t>(how.window));
  return numbers;
}

std::vector<KernelArgument> kernel_arguments(const Problem& problem) {
  const Dims d(problem);
  std::vector<KernelArgument> arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.length, d.stride,
                                           int32(d.bins)};
  const LaunchNumbers numbers =
      problem.string("function") == "histogram" ? numbers_of(Range(problem)) : LaunchNumbers();
  for (std::size_t place = 0; place < 5; ++place) arguments.emplace_back(numbers.doubles[place]);
  arguments.emplace_back(numbers.integers[5]);
  return arguments;
}

std::vector<int> number_places(const Problem& problem) {
  if (problem.string("function") != "histogram") return {};
  return {-1, -1, -1, -1, -1, 0, 1, 2, 3, 4, 5};
}

Step zero_counts(const Problem& problem) {
  return Zero{.what = ArgumentPointer{1}, .bytes = problem.integer("bins") * 8};
}

Values contiguous(const Problem& problem) {
  return {{"CONTIGUOUS", std::int64_t{problem.integer("stride") == 1}}};
}

std::int64_t vector_bytes(const Problem& problem, const Config& config) {
  return config[VECTOR] * bytes(dtype_of(problem));
}

std::int64_t tile(const Config& c) { return c[BLOCK] * c[VECTOR] * c[ITEMS]; }

}  // namespace tunesmith::histogram_op
