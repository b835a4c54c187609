// SPDX-License-Identifier: Apache-2.0
// Two-dimensional correlation or convolution of a batch of images with one mask. Without more words: zero
// outside, output of the image's size, and the mask's centre that of scipy.ndimage.correlate and convolve
// (mode="constant").
#pragma once

#include <cstdint>

#include "tunesmith/boundary.h"
#include "tunesmith/dispatcher.h"
#include "tunesmith/types.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

/// Which outputs there are: as many as the image has; one for each overlap of mask and image; one for each
/// whole overlap, in each direction of the smaller with the larger one, as scipy.signal.convolve2d has them.
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
  /// it moves a correlation's window up or to the left, and a convolution's down or to the right. With -1
  /// where the mask's side is even, and 0 where it is odd, the outputs are those of
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
/// overlaps neither. `stream` is a cudaStream_t. An output's error is at most (n + 1) u sum|mask image|, for
/// n = mask_height * mask_width and u the dtype's unit roundoff (2^-24, 2^-53). NaN and infinity in an image,
/// or outside it, reach the outputs whose window holds them and no others; the mask has to be finite, or
/// outputs whose window leaves the image are undefined. Images without pixels are served by doing nothing.
/// The first call for a shape plans it; later calls look it up, and one plan serves every `value`. Throws
/// where plan() throws (a size that is not allowed); all else, a null, overlapping or misaligned pointer
/// included, is in the Status.
Status conv2d(Dispatcher& dispatcher, const float* image, const float* mask, float* output,
              const Conv2dShape& shape, Conv2dMode mode = Conv2dMode::correlation, void* stream = nullptr);
Status conv2d(Dispatcher& dispatcher, const double* image, const double* mask, double* output,
              const Conv2dShape& shape, Conv2dMode mode = Conv2dMode::correlation, void* stream = nullptr);

/// f16, bf16, u8, u16 or i16: elements of an image that are narrower than those of mask and output; computed
/// as float.
using Conv2dImage = ElementType;
Status conv2d(Dispatcher& dispatcher, ElementName type, const void* image, const float* mask, float* output,
              const Conv2dShape& shape, Conv2dMode mode = Conv2dMode::correlation, void* stream = nullptr);

/// The plan that conv2d() uses, to launch it many times or to see how it matched. Arguments: image, mask,
/// output. With Boundary::constant launch() takes another `value` as its number.
template <typename T>
Plan conv2d_plan(Dispatcher& dispatcher, const Conv2dShape& shape, Conv2dMode mode = Conv2dMode::correlation);
extern template Plan conv2d_plan<float>(Dispatcher&, const Conv2dShape&, Conv2dMode);
extern template Plan conv2d_plan<double>(Dispatcher&, const Conv2dShape&, Conv2dMode);
Plan conv2d_plan(Dispatcher& dispatcher, ElementName type, const Conv2dShape& shape,
                 Conv2dMode mode = Conv2dMode::correlation);

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
