// SPDX-License-Identifier: Apache-2.0
// Several separable filters of an image in one pass: each filter's result, their sum, or the root of the sum
// of their squares. Examples are the derivatives of a Gaussian, its Laplacian and its gradient's magnitude.
#pragma once

#include <cstdint>

#include "tunesmith/boundary.h"
#include "tunesmith/dispatcher.h"
#include "tunesmith/filter_bank_results.h"
#include "tunesmith/types.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

using FilterBankBoundary = Boundary;

/// Images of height x width pixels with `channels` channels each, row-major and contiguous. Channels are
/// filtered separately.
struct FilterBankShape {
  std::int64_t batch = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 1;
  std::int64_t filters = 0;  ///< 1 to 4
  std::int64_t taps_y = 0;   ///< weights of a column mask, at most 1024
  std::int64_t taps_x = 0;   ///< weights of a row mask, at most 1024
  FilterBankResults results = FilterBankResults::each;
  Boundary boundary = Boundary::reflect;
  double value = 0;  ///< outside, for Boundary::constant; rounded to f32 unless the image is of double
  std::int64_t origin_y = 0;
  std::int64_t origin_x = 0;
};

/// Filter f turns the pixel (y, x) into the sum over i and j of column_masks[f, i] row_masks[f, j] image[y +
/// i - taps_y / 2
/// - origin_y, x + j - taps_x / 2 - origin_x]. `column_masks` is filters x taps_y and `row_masks` filters x
/// taps_x; `output` is filters x batch x height x width x channels for FilterBankResults::each, otherwise
/// batch x height x width x channels. All are in memory of the dispatcher's device, and `output` overlaps
/// nothing. `stream` is a cudaStream_t. The same call gives the same bits. A filter's error is at most
/// (taps_y + taps_x + 1) u sum|w image|, with the unit roundoff u (2^-24, 2^-53), if no sum along one
/// direction overflows.
///
/// Throws where plan() throws: for a size or an origin that is not allowed. The Status tells all other
/// errors.
Status filter_bank(Dispatcher& dispatcher, const float* image, const float* column_masks,
                   const float* row_masks, float* output, const FilterBankShape& shape,
                   void* stream = nullptr);
Status filter_bank(Dispatcher& dispatcher, const double* image, const double* column_masks,
                   const double* row_masks, double* output, const FilterBankShape& shape,
                   void* stream = nullptr);

/// The same, also for images of f16, bf16, u8, u16 or i16. Masks and output are float.
Status filter_bank(Dispatcher& dispatcher, ElementName type, const void* image, const float* column_masks,
                   const float* row_masks, float* output, const FilterBankShape& shape,
                   void* stream = nullptr);

/// The plan that filter_bank() uses, to launch it many times or to see how it matched. Arguments: image,
/// column_masks, row_masks, output. A launch takes the value outside as its number.
Plan filter_bank_plan(Dispatcher& dispatcher, const FilterBankShape& shape,
                      ElementName type = ElementType::f32);

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
