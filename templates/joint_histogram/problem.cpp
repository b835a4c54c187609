// SPDX-License-Identifier: Apache-2.0
// Functions of a problem that joint_histogram's templates share: sizes, ranges, the arguments of their
// kernels, an axis.

#include <algorithm>

#include "templates/joint_histogram/op.h"

namespace tunesmith::joint_histogram_op {

using histogram_op::Range;

Dims::Dims(const Problem& problem)
    : length(problem.integer("length")),
      bins_x(problem.integer("bins_x")),
      bins_y(problem.integer("bins_y")),
      stride(problem.integer("stride")) {}

bool has_pairs(const Problem& problem) { return problem.string("values") == "pairs"; }
bool has_weights(const Problem& problem) { return problem.string("weights") != "none"; }
bool has_own_edges(const Problem& problem) { return problem.string("edges") == "given"; }

std::int64_t weight_bytes(const Problem& problem) {
  return !has_weights(problem) ? 0 : problem.string("weights") == "f32" ? 4 : 8;
}

Range range_of(const Problem& problem, int axis, double lo, double hi) {
  const DType dtype = dtype_of(problem);
  return {has_pairs(problem) && dtype == DType::f32 ? DType::f64 : dtype,
          problem.integer(axis == 0 ? "bins_x" : "bins_y"), lo, hi};
}

Range range_of(const Problem& problem, int axis) {
  return range_of(problem, axis, histogram_op::number(problem.string(axis == 0 ? "lo_x" : "lo_y")),
                  histogram_op::number(problem.string(axis == 0 ? "hi_x" : "hi_y")));
}

LaunchNumbers numbers_of(const std::array<Range, 2>& ranges) {
  LaunchNumbers numbers;
  std::size_t place = 0;
  for (const Range& range : ranges) {
    const histogram_op::Estimate how = histogram_op::estimate(range);
    for (const double number : {range.lo, range.step, range.edge(range.bins), how.inverse, how.addend})
      numbers.doubles[place++] = number;
    // The window is unsigned in the kernel.
    numbers.integers[place++] = static_cast<std::int32_t>(static_cast<std::uint32_t>(how.window));
  }
  return numbers;
}

// Each axis has five doubles and an integer, whose places number_places() gives.
std::vector<KernelArgument> kernel_arguments(const Problem& problem) {
  const Dims d(problem);
  std::vector<KernelArgument> arguments = {ArgumentPointer{x},
                                           ArgumentPointer{y},
                                           ArgumentPointer{weights},
                                           ArgumentPointer{edges_x},
                                           ArgumentPointer{edges_y},
                                           ArgumentPointer{sums},
                                           d.length,
                                           d.stride,
                                           int32(d.bins_x),
                                           int32(d.bins_y)};
  const LaunchNumbers numbers =
      has_own_edges(problem) ? LaunchNumbers() : numbers_of({range_of(problem, 0), range_of(problem, 1)});
  for (std::size_t place = 0; place < 12; ++place) {
    if (place % 6 == 5) {
      arguments.emplace_back(numbers.integers[place]);
    } else {
      arguments.emplace_back(numbers.doubles[place]);
    }
  }
  return arguments;
}

std::vector<int> number_places(const Problem& problem) {
  if (has_own_edges(problem)) return {};
  std::vector<int> places(10, -1);
  for (int place = 0; place < 12; ++place) places.push_back(place);
  return places;
}

Step zero_sums(const Problem& problem) {
  return Zero{.what = ArgumentPointer{sums}, .bytes = Dims(problem).cells() * 8};
}

// The axis of vectors, for the array with the widest elements.
Axis vector_axis(const Problem& problem) {
  return load_vector_axis(std::max(bytes(dtype_of(problem)), weight_bytes(problem)),
                          problem.integer("stride") == 1);
}

// The widest vector, if this gives a quarter of the multiprocessors at least 1024 vectors each. With fewer
// values, each thread takes one value.
std::int64_t first_vector(const Problem& problem, const DeviceFacts& device) {
  const std::int64_t widest = std::get<std::int64_t>(vector_axis(problem).values.front());
  return 4 * problem.integer("length") >= multiprocessors_to_fill(device) * 1024 * widest ? widest : 1;
}

// The alignment that vectors of the widest array need. The output needs no more.
std::int64_t vector_bytes(const Problem& problem, const Config& config) {
  return config[VECTOR] * std::max(bytes(dtype_of(problem)), weight_bytes(problem));
}

}  // namespace tunesmith::joint_histogram_op
