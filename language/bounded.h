// SPDX-License-Identifier: Apache-2.0
// A real number with a bound of its error, and what operations make of such numbers. Private to this folder.
#pragma once

#include <limits>

#include "language/expression.h"

namespace tunesmith::elementwise_op {

struct BoundedValue {
  double value = 0;
  double error = 0;  ///< at most; infinity: not known
};

constexpr double infinity = std::numeric_limits<double>::infinity();

inline bool certain(const BoundedValue& x) { return x.error == 0; }

/// What an operation makes of real numbers, with the error that comes from theirs; its own rounding is not in
/// it. `non_negative`: the first operand is, whatever the inputs.
BoundedValue apply(Operation operation, const BoundedValue& x, const BoundedValue& y, const BoundedValue& z,
                   bool non_negative);

/// What evaluating nodes one after the other in a floating-point dtype makes of bounded values.
class BoundedNodes {
 public:
  /// `nodes` outlive it.
  BoundedNodes(std::span<const Node> nodes, DType dtype);

  /// The value of this node goes into a sum, with which it may be fused if it is a product.
  void is_added(int place);

  /// Node i, which is no input, of `size` elements, from the values of its operands, each of which has as
  /// many.
  void evaluate(std::size_t i, const BoundedValue* x, const BoundedValue* y, const BoundedValue* z,
                std::size_t size, BoundedValue* to) const;

  /// With an error of so many units in the last place of the type that is computed in.
  BoundedValue rounded(const BoundedValue& x, double ulps) const;
  BoundedValue stored(const BoundedValue& x) const;  ///< as an element of the dtype

 private:
  std::span<const Node> nodes_;
  DType dtype_, compute_;
  std::vector<char> fusable_;
};

}  // namespace tunesmith::elementwise_op
