// Two-dimensional correlation or convolution of a batch of images with one mask, zero outside, output of the
// image's size; the centre of a mask is that of scipy.ndimage.correlate and convolve (mode="constant").
#pragma once

#include <cstdint>

#include "tunesmith/dispatcher.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

struct Conv2dShape {
  std::int64_t batch = 1;  ///< images
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t mask_height = 0;
  std::int64_t mask_width = 0;
};

enum class Conv2dMode { correlation, convolution };

/// `image` and `output` are batch x height x width, `mask` is mask_height x mask_width, each row-major and
/// contiguous, in memory of the dispatcher's device; `output` overlaps neither. `stream` is a cudaStream_t.
/// An output's error is at most (n + 1) u sum|mask image|, for n = mask_height * mask_width and u the dtype's
/// unit roundoff (2^-24, 2^-53). NaN and infinity in an image reach the outputs whose window holds them and
/// no others; the mask has to be finite, or outputs whose window leaves the image are undefined. Images
/// without pixels are served by doing nothing. The first call for a shape plans it; later calls look it up.
/// Throws where plan() throws (a size that is not allowed); all else, a null, overlapping or misaligned
/// pointer included, is in the Status.
Status conv2d(Dispatcher& dispatcher, const float* image, const float* mask, float* output,
              const Conv2dShape& shape, Conv2dMode mode = Conv2dMode::correlation, void* stream = nullptr);
Status conv2d(Dispatcher& dispatcher, const double* image, const double* mask, double* output,
              const Conv2dShape& shape, Conv2dMode mode = Conv2dMode::correlation, void* stream = nullptr);

/// The plan that conv2d() uses, to launch it many times or to see how it matched. Arguments: image, mask,
/// output.
template <typename T>
Plan conv2d_plan(Dispatcher& dispatcher, const Conv2dShape& shape, Conv2dMode mode = Conv2dMode::correlation);
extern template Plan conv2d_plan<float>(Dispatcher&, const Conv2dShape&, Conv2dMode);
extern template Plan conv2d_plan<double>(Dispatcher&, const Conv2dShape&, Conv2dMode);

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
