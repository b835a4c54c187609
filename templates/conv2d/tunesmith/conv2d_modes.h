// SPDX-License-Identifier: Apache-2.0
// What a conv2d may compute, by number and by the words of problems: for applications and for the op itself.
#pragma once

#include <array>
#include <string_view>

namespace tunesmith {

enum class Conv2dMode { correlation, convolution };
constexpr std::array<std::string_view, 2> names_of(Conv2dMode /*any*/) {
  return {"correlation", "convolution"};
}

/// Which outputs there are: as many as the image has; one for each overlap of mask and image; one for each
/// whole overlap, in each direction of the smaller with the larger one, as scipy.signal.convolve2d has them.
enum class Conv2dSize { same, full, valid };
constexpr std::array<std::string_view, 3> names_of(Conv2dSize /*any*/) { return {"same", "full", "valid"}; }

}  // namespace tunesmith
