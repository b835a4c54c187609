// SPDX-License-Identifier: Apache-2.0
// Elements of arrays as bytes: numbers of each dtype, and those that ops are tuned with.
#pragma once

#include <span>

#include "generator/dtype.h"
#include "generator/random.h"

namespace tunesmith {

/// The nearest value of the dtype (ties to even; above the largest finite one, infinity; integers are
/// clamped). An i64 is exact up to 2^53.
double round_to(DType dtype, double value);

/// Doubles <-> the elements' bytes, of as many elements as there are doubles. `encode` rounds. Both throw
/// Error for dtypes of plain bits.
void encode(DType dtype, std::span<const double> values, char* to);
void decode(DType dtype, const char* from, std::span<double> values);

/// What an input holds where its op says nothing else, of one random number: floating-point values in
/// [-1, 1), integers in [-100, 100], or [0, 200] where the dtype has no sign.
double usual_value(DType dtype, Random& random);

}  // namespace tunesmith
