// SPDX-License-Identifier: Apache-2.0
// Extents of indices and layouts of arrays, as texts and as numbers. Private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/problem.h"
#include "templates/layout_text.h"
#include "templates/tensor/notation/expression.h"

namespace tunesmith::tensor_op {

std::int64_t volume(std::span<const std::int64_t> extents);

/// The numbers 0 to count - 1 by rising `key`; those with the same key keep this order.
std::vector<std::size_t> sorted_by(std::size_t count, const auto& key) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

/// Says why the text is no list of extents, or no layout ("24x64", "24x64:80x1", dense); empty if it is one.
std::string refuses_extents(const std::string& text);
std::string refuses_layout(const std::string& text);

/// The text under which a layout is stored: without strides if these are dense (strides that move nothing
/// count as dense), and "dense" if the extents are the `least` ones too. A text that is no layout stays as it
/// is.
std::string stored_layout(const std::string& text, const std::vector<std::int64_t>& least);

/// The least and the largest place that an access reaches along a dimension; 0 and -1 without iterations.
struct Reach {
  std::int64_t least = 0, most = 0;
};
Reach reach_of(const Affine& dimension, const std::vector<std::int64_t>& extents);

/// The number of elements of an array that are read: those that its accesses span together, or reach one by
/// one if that is less.
double elements_read(const std::vector<Access>& accesses, int array,
                     const std::vector<std::int64_t>& extents);

/// The least extents that an array must have, from all its accesses.
std::vector<std::int64_t> least_extents(const Expression& expression, int array,
                                        const std::vector<std::int64_t>& extents);

/// The extents of all indices, or why they are not known.
struct Extents {
  std::vector<std::int64_t> values;
  std::string error;  ///< a sentence; empty if every index has an extent and none contradicts
};

/// Infers the extents of all indices from those that are `given` (-1: not given), one for each index, and
/// from the arrays' shapes where they are known (nullptr: unknown). An index that stands alone along a
/// dimension has that extent; an index that stands there with others, as in y+i, has the largest extent that
/// fits.
Extents infer_extents(const Expression& expression, std::vector<std::int64_t> given,
                      const std::vector<const std::vector<std::int64_t>*>& shapes);

}  // namespace tunesmith::tensor_op
