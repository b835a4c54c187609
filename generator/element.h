// SPDX-License-Identifier: Apache-2.0
// Conversion between numbers and the bytes of array elements, and the usual random contents of an input.
#pragma once

#include <span>

#include "generator/dtype.h"
#include "generator/random.h"

namespace tunesmith {

/// Rounds to the nearest value of the dtype: ties go to even, floating-point values above the largest finite
/// one become infinity, integers are clamped. An i64 is exact up to 2^53.
double round_to(DType dtype, double value);

/// Convert doubles to the bytes of as many elements, and back. `encode` rounds. Both throw Error for dtypes
/// of plain bits.
void encode(DType dtype, std::span<const double> values, char* to);
void decode(DType dtype, const char* from, std::span<double> values);

/// Makes one element of an input whose op does not state its contents, from one random number: floating-point
/// values in [-1, 1), integers in [-100, 100], or [0, 200] if the dtype is unsigned.
double usual_value(DType dtype, Random& random);

}  // namespace tunesmith
