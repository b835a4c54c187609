// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of the op joint_histogram share: a problem's sizes, the arguments of its
// kernels, axes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "generator/op.h"
#include "templates/histogram/op.h"

namespace tunesmith::joint_histogram_op {

/// The indices in Op::arguments.
enum ArgumentIndex : std::uint8_t { x, y, weights, edges_x, edges_y, sums };

struct Dims {
  explicit Dims(const Problem& problem);
  std::int64_t cells() const { return bins_x * bins_y; }

  std::int64_t length, bins_x, bins_y, stride;
};

bool has_pairs(const Problem& problem);
bool has_weights(const Problem& problem);
bool has_own_edges(const Problem& problem);
std::int64_t weight_bytes(const Problem& problem);  ///< 0 if there are none

/// The range of the first (0) or second values. Edges of single values are those of numpy.histogram, which
/// rounds them to float for floats. Edges of pairs are those of numpy.histogram2d, which does not round them.
histogram_op::Range range_of(const Problem& problem, int axis, double lo, double hi);
histogram_op::Range range_of(const Problem& problem, int axis);
LaunchNumbers numbers_of(const std::array<histogram_op::Range, 2>& ranges);

std::vector<KernelArgument> kernel_arguments(const Problem& problem);
std::vector<int> number_places(const Problem& problem);  ///< for each argument its number, or -1
Step zero_sums(const Problem& problem);
Axis vector_axis(const Problem& problem);
std::int64_t first_vector(const Problem& problem, const DeviceFacts& device);
std::int64_t vector_bytes(const Problem& problem, const Config& config);

Template base();
Template shared();
Template direct();

}  // namespace tunesmith::joint_histogram_op
