// SPDX-License-Identifier: Apache-2.0
// The modes and sizes of conv2d, and their words in problems; for applications and for the op itself.
#pragma once

#include <array>
#include <string_view>

namespace tunesmith {

enum class Conv2dMode { correlation, convolution };
constexpr std::array<std::string_view, 2> names_of(Conv2dMode /*any*/) {
  return {"correlation", "convolution"};
}

/// The outputs, as in scipy.signal.convolve2d: as many as the image has samples (same); one for each overlap
/// of mask and image (full); one for each whole overlap, in each direction, of the smaller one with the
/// larger one (valid).
enum class Conv2dSize { same, full, valid };
constexpr std::array<std::string_view, 3> names_of(Conv2dSize /*any*/) { return {"same", "full", "valid"}; }

}  // namespace tunesmith
