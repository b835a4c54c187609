// SPDX-License-Identifier: Apache-2.0
// The samples outside an image or a signal, for the functions that filter them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tunesmith {

/// The modes of scipy.ndimage; each comment shows the samples next to a b c d. A window may reach over
/// several repetitions.
enum class Boundary : std::int32_t {
  zero,      ///< 0 0 | a b c d | 0 0
  constant,  ///< the same with a given value instead of 0
  nearest,   ///< a a | a b c d | d d
  reflect,   ///< b a | a b c d | d c
  mirror,    ///< c b | a b c d | c b
  wrap,      ///< c d | a b c d | a b
};

/// The names in problems, in the order of the values.
constexpr std::array<std::string_view, 6> names_of(Boundary /*any*/) {
  return {"zero", "constant", "nearest", "reflect", "mirror", "wrap"};
}

}  // namespace tunesmith
