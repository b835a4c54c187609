// SPDX-License-Identifier: Apache-2.0
// Two-dimensional correlation or convolution of a batch of images with one mask. By default, samples outside
// are zero, the output has the image's size, and the mask's centre is that of scipy.ndimage.correlate and
// convolve (mode="constant").
#pragma once

#include <cstdint>

#include "tunesmith/boundary.h"
#include "tunesmith/dispatcher.h"
#include "tunesmith/types.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

/// The outputs, as in scipy.signal.convolve2d: as many as the image has samples (same); one for each overlap
/// of mask and image (full); one for each whole overlap, in each direction, of the smaller one with the
/// larger one (valid).
enum class Conv2dSize { same, full, valid };

using Conv2dBoundary = Boundary;

struct Conv2dShape {
  std::int64_t batch = 1;  ///< images
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t mask_height = 0;
  std::int64_t mask_width = 0;
  Conv2dSize size = Conv2dSize::same;
  Boundary boundary = Boundary::zero;
  /// scipy.ndimage's `origin`, -(mask / 2) to (mask - 1) / 2 in each direction, for Conv2dSize::same: above 0
  /// it moves a correlation's window up or to the left, and a convolution's down or to the right. With -1 for
  /// an even side of the mask and 0 for an odd one, the outputs are those of
  /// scipy.signal.convolve2d(mode="same") and correlate2d.
  std::int64_t origin_y = 0;
  std::int64_t origin_x = 0;
  double value = 0;  ///< outside the image, with Boundary::constant; rounded to f32 unless T is double
};

std::int64_t conv2d_output_height(const Conv2dShape& shape) noexcept;
std::int64_t conv2d_output_width(const Conv2dShape& shape) noexcept;

enum class Conv2dMode { correlation, convolution };

/// `image` is batch x height x width, `output` batch x conv2d_output_height() x conv2d_output_width(), `mask`
/// is mask_height x mask_width, each row-major and contiguous, in memory of the dispatcher's device; `output`
/// overlaps neither. `stream` is a cudaStream_t. An output's error is at most (n + 1) u sum|mask image|,
/// where n is mask_height * mask_width and u is the dtype's unit roundoff (2^-24, 2^-53). NaN and infinity in
/// an image, or outside it, reach the outputs whose window holds them and no others. The mask has to be
/// finite; otherwise, outputs whose window leaves the image are undefined. For images without pixels, the
/// call does nothing. The first call for a shape plans it; later calls look it up, and one plan serves every
/// `value`. Throws where plan() throws (a size that is not allowed). The Status tells all other errors,
/// including null, overlapping or misaligned pointers.
Status conv2d(Dispatcher& dispatcher, const float* image, const float* mask, float* output,
              const Conv2dShape& shape, Conv2dMode mode = Conv2dMode::correlation, void* stream = nullptr);
Status conv2d(Dispatcher& dispatcher, const double* image, const double* mask, double* output,
              const Conv2dShape& shape, Conv2dMode mode = Conv2dMode::correlation, void* stream = nullptr);

/// f16, bf16, u8, u16 or i16: types of an image's elements that are narrower than those of mask and output.
/// The computation is in float.
using Conv2dImage = ElementType;
Status conv2d(Dispatcher& dispatcher, ElementName type, const void* image, const float* mask, float* output,
              const Conv2dShape& shape, Conv2dMode mode = Conv2dMode::correlation, void* stream = nullptr);

/// The plan that conv2d() uses, to launch it many times or to see how it matched. Arguments: image, mask,
/// output. With Boundary::constant, launch() takes another `value` as its number.
template <typename T>
Plan conv2d_plan(Dispatcher& dispatcher, const Conv2dShape& shape, Conv2dMode mode = Conv2dMode::correlation);
extern template Plan conv2d_plan<float>(Dispatcher&, const Conv2dShape&, Conv2dMode);
extern template Plan conv2d_plan<double>(Dispatcher&, const Conv2dShape&, Conv2dMode);
Plan conv2d_plan(Dispatcher& dispatcher, ElementName type, const Conv2dShape& shape,
                 Conv2dMode mode = Conv2dMode::correlation);

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
