// SPDX-License-Identifier: Apache-2.0
// An array of outer x length x inner elements, of which the inner ones are contiguous. Ops that work along
// such an axis share these parameters of their problems and rules of their templates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

/// Element (o, l, i) is x[o * outer_stride + l * stride + i].
struct StridedAxis {
  explicit StridedAxis(const Problem& problem);

  bool empty() const { return outer == 0 || length == 0 || inner == 0; }
  std::int64_t lines() const { return outer * inner; }
  std::int64_t span() const;  ///< elements of memory, those that the strides skip included

  std::int64_t outer, length, inner;
  std::int64_t stride, outer_stride;  // elements
};

// ---- for op.cpp

struct UsualExtents {
  UsualSizes outer, length, inner;
};
/// The parameters outer, length, inner, outer_stride and stride, and others. `done`: the op's participle,
/// such as "reduced".
std::vector<Parameter> axis_parameters(const std::string& done, const UsualExtents& usual,
                                       const std::vector<Parameter>& others);

/// For Op::rewritten: replaces a stride that equals its default, or by which nothing is moved, by 0, so that
/// an array is one problem however it is written.
Problem with_least_strides(const Problem& given);
/// For Op::rewritten: does the same for an array of `length` elements, `stride` apart. The stride becomes 1
/// if there is no element behind the first.
Problem with_least_stride(const Problem& given);

/// For Op::check: says why the arrays are too large. Here and in vector_rule(), has_axis says that the
/// output, which is contiguous, has the axis too, as a scan's output has.
std::string refuses_reach(const Problem& problem, bool has_axis);

/// The number of elements that are worked on: strides skip some elements, and windows have some of them
/// several times.
double axis_elements(const Problem& problem);

/// For Op::sizes: the extents, and how far apart the axis's elements lie, 1 if they are dense.
Values axis_sizes(const Problem& problem);

/// For Op::sample: rows with gaps, and windows of a larger array, are rare.
void draw_strides(Random& random, Problem& problem);

// ---- for templates

/// For Template::refuses.
std::string refuses_empty(const StridedAxis& axis);
std::string refuses_apart(const StridedAxis& axis);

/// A rule for Template's `must`.
Rule vector_rule(const StridedAxis& axis, bool has_axis);

}  // namespace tunesmith
