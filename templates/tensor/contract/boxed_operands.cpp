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

std::optional<BoxedArray> boxed(const Groups& groups, Side side) {
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
  const std::optional<Dimension> near = joined((along ? others : rows).digits, stride),
                                 far = joined((along ? rows : others).digits, stride);
  if (!near || !far || near->stride != 1) return std::nullopt;
  BoxedArray view;
  view.start = (side == Side::first ? groups.first : side == Side::second ? groups.second : groups.out).start;
  view.dimensions = {*near, *far};
  // Rows that overlap, as those of windows do, are no array.
  if (view.dimensions[1].extent > 1 && view.dimensions[1].stride < view.dimensions[0].extent)
    return std::nullopt;
  for (const Digit& digit : groups.batch) {
    if (digit.extent > 1 && digit.*stride <= 0) return std::nullopt;
    view.dimensions.push_back({digit.extent, digit.extent > 1 ? digit.*stride : any_stride});
  }
  return view;
}

std::optional<BoxedArray> boxed_image(const Groups& groups, bool second, std::int64_t terms,
                                      std::int64_t vector) {
  const std::optional<Image> image = image_of(groups, second);
  if (!image || image->channels % terms != 0) return std::nullopt;
  const std::size_t walks = image->dimensions.size();
  if (walks + 2 > BoxedArray::most_dimensions) return std::nullopt;
  BoxedArray view;
  view.start = image->start;
  view.dimensions = {{image->channels, 1}};
  std::int64_t least_stride = image->channels;  // what is nearer does not overlap
  for (const Image::Dimension& its : image->dimensions) {
    view.dimensions.push_back({.extent = its.extent,
                               .stride = its.stride,
                               .first = its.first,
                               .windows = its.windows,
                               .step = its.step});
    const std::int64_t most_beyond = BoxedArray::most_beyond.at(walks),
                       behind = view.dimensions.back().behind();
    if (its.step > BoxedArray::most_step || its.first < -most_beyond || its.first >= most_beyond ||
        behind < -most_beyond || behind >= most_beyond ||
        (its.in_window - 1) * its.step_in_window > BoxedArray::most_in_window.at(walks))
      return std::nullopt;
    if (its.stride < least_stride || its.stride % vector != 0) return std::nullopt;
    least_stride = its.stride * its.extent;
  }
  if (image->images > 1 && (image->image_stride < least_stride || image->image_stride % vector != 0))
    return std::nullopt;
  view.dimensions.push_back({image->images, image->images > 1 ? image->image_stride : any_stride});
  return view;
}

}  // namespace tunesmith::tensor_op
