// SPDX-License-Identifier: Apache-2.0
// The functions and modes of conv1d, and their words in problems; for applications and for the op itself.
#pragma once

#include <array>
#include <string_view>

namespace tunesmith {

enum class Conv1dFunction { convolve, correlate };
constexpr std::array<std::string_view, 2> names_of(Conv1dFunction /*any*/) {
  return {"convolve", "correlate"};
}

/// For n samples and k taps the outputs are n + k - 1 (full: every overlap), max(n, k) (same) or max(n, k) -
/// min(n, k) + 1 (valid: every whole overlap, whatever the boundary). With other boundaries than zero, `same`
/// has n outputs and centres them as scipy.ndimage does.
enum class Conv1dMode { full, same, valid };
constexpr std::array<std::string_view, 3> names_of(Conv1dMode /*any*/) { return {"full", "same", "valid"}; }

}  // namespace tunesmith
