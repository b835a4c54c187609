// SPDX-License-Identifier: Apache-2.0
// Adds the contribution of a two-dimensional convolution to the covariance of its output, from the covariance
// and the mean of its input, in place.
#pragma once

#include <cstdint>

#include "tunesmith/dispatcher.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

/// The output has height - mask_height + 1 rows and width - mask_width + 1 columns. A batch of 0 or 0
/// channels are allowed: then nothing is added.
struct ConvCovarianceShape {
  std::int64_t batch = 1;
  std::int64_t channels_out = 0;  ///< channels of input and c
  std::int64_t channels_in = 0;   ///< channels of gamma and mu
  std::int64_t height = 0;        ///< rows of an image of gamma and mu
  std::int64_t width = 0;
  std::int64_t mask_height = 0;  ///< at most height
  std::int64_t mask_width = 0;   ///< at most width
};

/// The output has rows x columns. Each array is row-major and contiguous, in memory of the dispatcher's
/// device: `input` is batch x channels_out x rows x columns x channels_out x rows x columns, `gamma` batch x
/// channels_in x height x width x channels_in x height x width, `mu` batch x channels_in x height x width,
/// `c` channels_out.
///   input[b, c0, i, j, c0, i', j'] += c[c0] * sum over ci, k < mask_height and l < mask_width of
///       mu[b, ci, i + k, j + l] * mu[b, ci, i' + k, j' + l] + gamma[b, ci, i + k, j + l, ci, i' + k, j' + l]
/// Elements of pairs of different output channels keep every bit. `input` overlaps no other array. `stream`
/// is a cudaStream_t. With n = channels_in * mask_height * mask_width and the dtype's unit roundoff u (2^-24,
/// 2^-53), the error is at most u ((2n + 2) |c| sum(|mu mu'| + |gamma|) + |result|). A 16-bit array is IEEE
/// binary16, as __half; it is computed as float, u = 2^-24, and rounded to 16 bits once, which adds a
/// relative 2^-11. NaN and infinity in mu or gamma reach the results whose sum holds them and no others. The
/// first call for a shape plans it; later calls look it up. Throws where plan() throws (a size that is not
/// allowed). The Status tells all other errors, including null, overlapping or misaligned pointers.
Status conv_covariance(Dispatcher& dispatcher, float* input, const float* gamma, const float* mu,
                       const float* c, const ConvCovarianceShape& shape, void* stream = nullptr);
Status conv_covariance(Dispatcher& dispatcher, double* input, const double* gamma, const double* mu,
                       const double* c, const ConvCovarianceShape& shape, void* stream = nullptr);
Status conv_covariance(Dispatcher& dispatcher, std::uint16_t* input, const std::uint16_t* gamma,
                       const std::uint16_t* mu, const std::uint16_t* c, const ConvCovarianceShape& shape,
                       void* stream = nullptr);

/// The plan that conv_covariance() uses, to launch it many times or to see how it matched. T is float,
/// double, or std::uint16_t for binary16. Arguments: input, gamma, mu, c.
template <typename T>
Plan conv_covariance_plan(Dispatcher& dispatcher, const ConvCovarianceShape& shape);
extern template Plan conv_covariance_plan<float>(Dispatcher&, const ConvCovarianceShape&);
extern template Plan conv_covariance_plan<double>(Dispatcher&, const ConvCovarianceShape&);
extern template Plan conv_covariance_plan<std::uint16_t>(Dispatcher&, const ConvCovarianceShape&);

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
