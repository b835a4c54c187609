// SPDX-License-Identifier: Apache-2.0
// A real number with a bound of its error, and operations on such numbers. Private to this folder.
#pragma once

#include <limits>

#include "language/expression.h"

namespace tunesmith::elementwise_op {

struct BoundedValue {
  double value = 0;
  double error = 0;  ///< the largest error; infinity: not known
};

constexpr double infinity = std::numeric_limits<double>::infinity();

inline bool certain(const BoundedValue& x) { return x.error == 0; }

/// Applies an operation to real numbers; the result's error is the one carried over from the operands,
/// without the operation's own rounding. `non_negative`: the first operand is non-negative for all inputs.
BoundedValue apply(Operation operation, const BoundedValue& x, const BoundedValue& y, const BoundedValue& z,
                   bool non_negative);

/// Evaluates nodes one after the other, as a floating-point dtype would, on bounded values.
class BoundedNodes {
 public:
  /// `nodes` must outlive the object.
  BoundedNodes(std::span<const Node> nodes, DType dtype);

  /// Notes that this node's value is added to a sum; if it is a product, the two may be fused.
  void is_added(int place);

  /// Evaluates node i, which is no input, for `size` elements from as many values of each operand.
  void evaluate(std::size_t i, const BoundedValue* x, const BoundedValue* y, const BoundedValue* z,
                std::size_t size, BoundedValue* to) const;

  /// Adds an error of `ulps` units in the last place of the type of the computation.
  BoundedValue rounded(const BoundedValue& x, double ulps) const;
  BoundedValue stored(const BoundedValue& x) const;  ///< rounds to an element of the dtype

 private:
  std::span<const Node> nodes_;
  DType dtype_, compute_;
  std::vector<char> fusable_;
};

}  // namespace tunesmith::elementwise_op
