// SPDX-License-Identifier: Apache-2.0
// The largest size of an array, and its sentence for errors. Checks of problems use them.
#pragma once

#include <cstdint>
#include <string>

namespace tunesmith {

/// The most elements of an array, from its first to its last: far beyond any memory, and far from an overflow
/// of 64 bits.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 40;
inline constexpr const char* most_elements_text = "2^40";

inline bool are_too_many(double elements) { return elements > static_cast<double>(most_elements); }

/// The sentence that refuses an array with more elements. `array` is, for example, "An array of rows=4
/// columns=5".
inline std::string too_many_elements(const std::string& array) {
  return array + " has more than the " + most_elements_text +
         " elements that are allowed, from its first to its last; ask for a smaller one.";
}

}  // namespace tunesmith
