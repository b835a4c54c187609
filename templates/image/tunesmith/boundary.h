// SPDX-License-Identifier: Apache-2.0
// What stands outside an image or a signal, for the functions that filter them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tunesmith {

/// As the modes of scipy.ndimage, here beside the samples a b c d. A window may reach over several
/// repetitions.
enum class Boundary : std::int32_t {
  zero,      ///< 0 0 | a b c d | 0 0
  constant,  ///< likewise of a value that is given
  nearest,   ///< a a | a b c d | d d
  reflect,   ///< b a | a b c d | d c
  mirror,    ///< c b | a b c d | c b
  wrap,      ///< c d | a b c d | a b
};

/// The words of problems, in that order.
constexpr std::array<std::string_view, 6> names_of(Boundary /*any*/) {
  return {"zero", "constant", "nearest", "reflect", "mirror", "wrap"};
}

}  // namespace tunesmith
