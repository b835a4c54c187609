// SPDX-License-Identifier: Apache-2.0
// The plain kernel of conv1d: one thread per output loops over the taps and reads everything from global
// memory. Only the element type is compiled in, so it serves every problem; the other templates are compared
// with it.

#include "common/boundary.cuh"
#include "common/widened.cuh"

// Launched with blocks of BLOCK_X threads over the outputs of a row; a grid whose y would exceed 65535, the
// limit, is walked in strides. The window of output i begins `left` samples before sample i. `value` is the
// sample outside the signal for a constant boundary.
extern "C" __global__ void __launch_bounds__(BLOCK_X)
    ENTRY(conv1d_base)(const T* __restrict__ signal, const sum_type<T>* __restrict__ kernel,
                       sum_type<T>* __restrict__ output, int batch, int convolve, long long length,
                       long long taps, long long output_length, long long left, int boundary, double value) {
  using Sum = sum_type<T>;
  const long long i = static_cast<long long>(blockIdx.x) * BLOCK_X + threadIdx.x;
  if (i >= output_length) return;
  // [first, last) are the taps that lie on the signal; the others lie on samples outside.
  const long long first = max(0LL, min(left - i, taps));
  const long long last = max(first, min(taps, length + left - i));
  const Sum outside = static_cast<Sum>(value);
  for (long long b = blockIdx.y; b < batch; b += gridDim.y) {
    const T* row = signal + b * length;
    Sum sum = 0;
    const auto add_outside = [&](long long begin, long long end) {
      for (long long j = begin; j < end; ++j) {
        const long long from = sample_at<long long>(i - left + j, length, boundary);
        sum += kernel[convolve ? taps - 1 - j : j] * (from < 0 ? outside : widened(row[from]));
      }
    };
    if (boundary != boundary_zero) add_outside(0, first);
    for (long long j = first; j < last; ++j)
      sum += kernel[convolve ? taps - 1 - j : j] * widened(row[i - left + j]);
    if (boundary != boundary_zero) add_outside(last, taps);
    output[b * output_length + i] = sum;
  }
}
