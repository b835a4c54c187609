// SPDX-License-Identifier: Apache-2.0
// An expression as windows: a value at each place, reduced along one dimension after the other, or, with a
// mask whose weights depend on both indices of a window, along two at once. The template `separable` works on
// it. Private to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "templates/tensor/derive/derivation.h"
#include "templates/tensor/notation/nest.h"

namespace tunesmith::tensor_op {

constexpr std::int64_t longest_window = 128, longest_lone_window = 1024;

/// result = finish(reduced along x, y, march of weight * weight * weight * element), or with a mask
/// finish(reduced along x and march of term(element, mask)). The accesses of element move by as much with a
/// window's reduced index as with its free one. Indices are the nest's.
struct Separable {
  std::string why_not;  ///< a sentence; empty: all else is set

  /// The directions in the order in which they are reduced: x along the output's neighbours, which may have
  /// no window; y between the others if there are three windows; march along the dimension that a block
  /// marches along. With a mask, y is no window but the planes that lie beside each other in a block.
  struct Direction {
    int free = -1, reduced = -1;  ///< -1: none
    std::int64_t extent = 1, taps = 1;
    Body weight = {};  ///< of the reduced index alone; no nodes: 1
  };
  enum { x, y, march };
  std::array<Direction, 3> directions;
  std::vector<int> batch;  ///< the other free indices

  bool has_y() const { return directions[y].taps > 1; }
  bool has_mask() const { return !mask.function.nodes.empty(); }
  Body element;  ///< of the accesses that are read in windows
  Body mask;     ///< of the windows' reduced indices, of a batch's and of y's; no nodes: none
  Body term;     ///< of two accesses, to the arrays most_arrays, an element, and most_arrays + 1,
                 ///< the mask's; no nodes: their product
  Body finish;   ///< of the sum, which is an access to the array most_arrays, and of elements that
                 ///< the output's indices name; no nodes: the sum itself
};
Separable separable_of(const Problem& problem);

/// The view of an access of the problem's expression.
const View& view_of(const Problem& problem, const Access& access);

}  // namespace tunesmith::tensor_op
