// A real number with a bound of its error, and what operations make of such numbers. Private to this folder.
#pragma once

#include <limits>

#include "templates/elementwise/expression.h"

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

}  // namespace tunesmith::elementwise_op
