// SPDX-License-Identifier: Apache-2.0
// An array of outer x length x inner elements, of which the inner ones are contiguous: what the ops that work
// along such an axis share of their problems, and of the rules of their templates.
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
/// outer, length, inner, outer_stride and stride, and others. `done`: what is done along the axis, "reduced".
std::vector<Parameter> axis_parameters(const std::string& done, const UsualExtents& usual,
                                       const std::vector<Parameter>& others);

/// As Op::rewritten: a stride that says what 0 says, or by which nothing is moved, is 0, so that an array is
/// one problem however it is written.
Problem with_least_strides(const Problem& given);
/// Likewise of an array of `length` elements, `stride` apart, which is 1 where there is none behind the
/// first.
Problem with_least_stride(const Problem& given);

/// As Op::check: why the arrays are too large. Here and in vector_rule() has_axis says whether the output,
/// which is contiguous, has the axis too, as a scan's.
std::string refuses_reach(const Problem& problem, bool has_axis);

/// Of what is worked on: strides skip some elements, and windows have some several times.
double axis_elements(const Problem& problem);

/// As Op::sizes: beside the extents how far apart the axis's elements lie, 1 where they are dense.
Values axis_sizes(const Problem& problem);

/// For Op::sample: rows with gaps, and windows of a larger array, are rare.
void draw_strides(Random& random, Problem& problem);

// ---- for templates

/// As Template::refuses.
std::string refuses_empty(const StridedAxis& axis);
std::string refuses_apart(const StridedAxis& axis);

/// For `must`.
Rule vector_rule(const StridedAxis& axis, bool has_axis);

}  // namespace tunesmith
