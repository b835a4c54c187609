// SPDX-License-Identifier: Apache-2.0
// numpy.convolve and numpy.correlate of each signal of a batch with one kernel, in all their modes; the
// kernel may be longer than the signals. With other boundaries than zero, they are scipy.ndimage's convolve1d
// and correlate1d.
#pragma once

#include <cstdint>

#include "tunesmith/boundary.h"
#include "tunesmith/dispatcher.h"
#include "tunesmith/types.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {

using Conv1dBoundary = Boundary;

struct Conv1dShape {
  std::int64_t batch = 1;   ///< signals
  std::int64_t length = 0;  ///< samples per signal
  std::int64_t taps = 0;    ///< elements of the kernel
  Boundary boundary = Boundary::zero;
  /// scipy.ndimage's `origin`, -(taps / 2) to (taps - 1) / 2, for Conv1dMode::same with another boundary than
  /// zero: above 0 it moves the window of correlate to the left, and that of convolve to the right.
  std::int64_t origin = 0;
  double value = 0;  ///< outside the signal, with Boundary::constant; rounded to f32 unless T is double
};

enum class Conv1dFunction { convolve, correlate };

/// For n samples and k taps the outputs are n + k - 1 (full: every overlap), max(n, k) (same) or max(n, k) -
/// min(n, k) + 1 (valid: every whole overlap, whatever the boundary). With other boundaries than zero, `same`
/// has n outputs and centres them as scipy.ndimage does.
enum class Conv1dMode { full, same, valid };

std::int64_t conv1d_output_length(const Conv1dShape& shape, Conv1dMode mode) noexcept;

/// `signal` is batch x length, `kernel` taps, `output` batch x conv1d_output_length(), each row-major and
/// contiguous, in memory of the dispatcher's device; `output` overlaps neither. `stream` is a cudaStream_t.
/// An output's error is at most (n + 1) u sum|kernel signal|. Here n is min(length, taps), or taps with other
/// boundaries than zero, and u is the dtype's unit roundoff (2^-24, 2^-53). NaN and infinity in a signal
/// reach the outputs whose window holds them and no others; those in the kernel do too, but outputs at which
/// such a tap lies outside the signal are undefined. A batch of 0 does nothing. The first call for a shape
/// plans it; later calls look it up. Throws where plan() throws (a length or taps of 0, a size that is not
/// allowed). The Status tells all other errors, including null, overlapping or misaligned pointers.
Status conv1d(Dispatcher& dispatcher, const float* signal, const float* kernel, float* output,
              const Conv1dShape& shape, Conv1dMode mode = Conv1dMode::full,
              Conv1dFunction function = Conv1dFunction::convolve, void* stream = nullptr);
Status conv1d(Dispatcher& dispatcher, const double* signal, const double* kernel, double* output,
              const Conv1dShape& shape, Conv1dMode mode = Conv1dMode::full,
              Conv1dFunction function = Conv1dFunction::convolve, void* stream = nullptr);

/// f16, bf16, u8, u16 or i16: types of a signal's elements that are narrower than those of kernel and output.
/// The computation is in float.
using Conv1dSignal = ElementType;
Status conv1d(Dispatcher& dispatcher, ElementName type, const void* signal, const float* kernel,
              float* output, const Conv1dShape& shape, Conv1dMode mode = Conv1dMode::full,
              Conv1dFunction function = Conv1dFunction::convolve, void* stream = nullptr);

/// The plan that conv1d() uses, to launch it many times or to see how it matched. Arguments: signal, kernel,
/// output. With Boundary::constant, launch() takes another `value` as its number.
template <typename T>
Plan conv1d_plan(Dispatcher& dispatcher, const Conv1dShape& shape, Conv1dMode mode = Conv1dMode::full,
                 Conv1dFunction function = Conv1dFunction::convolve);
extern template Plan conv1d_plan<float>(Dispatcher&, const Conv1dShape&, Conv1dMode, Conv1dFunction);
extern template Plan conv1d_plan<double>(Dispatcher&, const Conv1dShape&, Conv1dMode, Conv1dFunction);
Plan conv1d_plan(Dispatcher& dispatcher, ElementName type, const Conv1dShape& shape,
                 Conv1dMode mode = Conv1dMode::full, Conv1dFunction function = Conv1dFunction::convolve);

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
