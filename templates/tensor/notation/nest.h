// SPDX-License-Identifier: Apache-2.0
// A tensor problem as a nest of loops: each access reads its array at start + the sum of stride * index.
// Kernels and references need nothing else of a problem. Pure. Private to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/op.h"
#include "templates/tensor/notation/expression.h"
#include "templates/tensor/notation/layout.h"

namespace tunesmith::tensor_op {

/// The stride of an index; 0 for the index -1, which stands for none.
inline std::int64_t along(const std::vector<std::int64_t>& strides, int index) {
  return index < 0 ? 0 : strides[static_cast<std::size_t>(index)];
}

/// A dimension along which an access may be out of its array's bounds: it reads 0 where start + the sum of
/// stride * index is not from 0 to extent - 1.
struct Bound {
  std::int64_t start = 0, extent = 0;
  std::vector<std::int64_t> strides;  ///< one for each index of the nest
};

/// How one access moves. Strides have any sign; start is such that no offset is below 0, within the bounds.
struct View {
  int array = 0;                      ///< place among the op's arguments: x0 … x5, out
  std::int64_t start = 0;             ///< in elements
  std::vector<std::int64_t> strides;  ///< in elements, one for each index of the nest; 0: no movement
  std::vector<Bound> bounds = {};

  std::int64_t stride(int index) const { return along(strides, index); }
  std::vector<std::vector<std::int64_t>*> all_strides();  ///< its own and those of its bounds
};

/// The view of an access to an array of this layout, with a stride for each index of these extents.
View view_of(const Access& access, const ArrayLayout& layout, const std::vector<std::int64_t>& extents,
             bool is_zero_outside);

/// A nest of loops. Indices of extent 1 are left out. Free indices, which the output moves along, come first.
struct Nest {
  std::vector<std::int64_t> extents;
  std::vector<std::string>
      names;  ///< as in the problem's expression; a fused index has all letters, such as "ab"
  std::size_t free = 0;
  std::vector<View> inputs;  ///< one for each access
  View output;

  std::size_t rank() const { return extents.size(); }
  std::int64_t extent(int index) const {  ///< -1: no index
    return index < 0 ? 1 : extents[static_cast<std::size_t>(index)];
  }
  bool is_reduced(std::size_t index) const { return index >= free; }
  std::int64_t outputs() const;  ///< elements that are written: the product of the free extents
  std::int64_t terms() const;    ///< the product of the reduced extents
  std::size_t bounds() const;    ///< of all accesses

  std::vector<std::vector<std::int64_t>*> all_strides();               ///< of the output and the inputs
  void insert(std::size_t at, std::string name, std::int64_t extent);  ///< an index that moves nothing yet
  void erase(std::size_t index);
  void erase_ones();  ///< all indices of extent 1
};

/// The expression and the nest of a complete problem of the op. They last as long as the problem.
const Expression& expression_of(const Problem& problem);
const Nest& nest_of(const Problem& problem);

/// Sorts free indices by falling stride of the output, then reduced ones by falling stride of the first
/// access that they move, and makes neighbouring indices that every access steps over as one a single index.
/// The order of sums may change with it.
Nest fused(const Nest& nest);

}  // namespace tunesmith::tensor_op
