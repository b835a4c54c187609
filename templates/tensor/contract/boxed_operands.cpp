// SPDX-License-Identifier: Apache-2.0
#include "templates/tensor/contract/boxed_operands.h"

namespace tunesmith::tensor_op {
namespace {

using Dimension = BoxedArray::Dimension;

// A stride that CUDA takes, for an index of one place.
constexpr std::int64_t any_stride = 16;

// The digits of a group, the fastest first, as one dimension; nothing if they are not.
std::optional<Dimension> joined(const Group& group, Stride stride) {
  Dimension all = {.extent = 1, .stride = any_stride};
  for (const Digit& digit : group) {
    if (digit.extent == 1) continue;
    if (digit.*stride <= 0) return std::nullopt;
    if (all.extent > 1 && digit.*stride != all.stride * all.extent) return std::nullopt;
    if (all.extent == 1) all.stride = digit.*stride;
    all.extent *= digit.extent;
  }
  return all;
}

}  // namespace

std::optional<BoxedArray> boxed(const Groups& groups, Side side, bool with_windows) {
  const Stride stride = side == Side::first    ? &Digit::first
                        : side == Side::second ? &Digit::second
                                               : &Digit::out;
  const Counted m = counted_m(groups), k = counted_k(groups, "first");
  const std::optional<Counted> n = counted_n(groups, 1);
  if (!n || groups.batch.size() > most_boxed_batch) return std::nullopt;
  const bool along = side == Side::first    ? first_along_k(groups)
                     : side == Side::second ? second_along_k(groups)
                                            : true;
  const Counted& rows = side == Side::second ? *n : m;
  const Counted& others = side == Side::out ? *n : k;
  const Group neighbours = with_windows ? Group{others.digits.front()} : (along ? others : rows).digits;
  const std::optional<Dimension> near = joined(neighbours, stride);
  std::optional<Dimension> far = joined((along ? rows : others).digits, stride);
  if (!near || !far || near->stride != 1) return std::nullopt;
  BoxedArray view;
  view.start = (side == Side::first ? groups.first : side == Side::second ? groups.second : groups.out).start;
  if (with_windows) {
    // Behind the last row of the output there may be no further windows in the image.
    far->extent = 1;
    for (const Digit& digit : rows.digits)
      far->extent += (digit.extent - digit.padding - 1) * (digit.*stride) / far->stride;
  }
  view.dimensions = {*near, *far};
  // Rows that overlap, as those of windows do, are no array.
  if (view.dimensions[1].extent > 1 && view.dimensions[1].stride < view.dimensions[0].extent)
    return std::nullopt;
  if (with_windows) {
    for (const Digit& digit : Group(others.digits.begin() + 1, others.digits.end())) {
      if (digit.extent > 1 && digit.*stride <= 0) return std::nullopt;
      view.dimensions.push_back({digit.extent, digit.extent > 1 ? digit.*stride : any_stride});
    }
  }
  for (const Digit& digit : groups.batch) {
    if (digit.extent > 1 && digit.*stride <= 0) return std::nullopt;
    view.dimensions.push_back({digit.extent, digit.extent > 1 ? digit.*stride : any_stride});
  }
  if (view.dimensions.size() > BoxedArray::most_dimensions) return std::nullopt;
  return view;
}

}  // namespace tunesmith::tensor_op
