// SPDX-License-Identifier: Apache-2.0
// The plain kernel of conv_covariance: one thread per pair of output pixels, with the original Numba kernel's
// loops over input channels and mask, then one addition per output channel. Only the element type is compiled
// in, so it serves every problem; the other templates are compared with it.

#include "common/float16.cuh"

// Launched with blocks of BLOCK threads over all pairs, with the second pixel's column as the fastest index.
// If the grid is too small, threads take further pairs in strides of the grid.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(conv_covariance_base)(T* __restrict__ input, const T* __restrict__ gamma, const T* __restrict__ mu,
                                const T* __restrict__ c, long long batch, long long channels_out,
                                long long channels_in, long long height, long long width,
                                long long mask_height, long long mask_width) {
  const long long rows = height - mask_height + 1, columns = width - mask_width + 1;
  const long long pixels = rows * columns;
  const long long image = height * width;
  for (long long n = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; n < batch * pixels * pixels;
       n += static_cast<long long>(gridDim.x) * BLOCK) {
    const long long second = n % pixels, first = n / pixels % pixels, b = n / pixels / pixels;
    const long long i0 = first / columns, j0 = first % columns;
    const long long i0p = second / columns, j0p = second % columns;
    compute_type<T> sum = 0;
    for (long long ci = 0; ci < channels_in; ++ci) {
      const T* means = mu + (b * channels_in + ci) * image;
      const T* covariances = gamma + (b * channels_in + ci) * image * channels_in * image + ci * image;
      for (long long ii = 0; ii < mask_height; ++ii) {
        for (long long ji = 0; ji < mask_width; ++ji) {
          const long long x = (i0 + ii) * width + j0 + ji;
          const long long xp = (i0p + ii) * width + j0p + ji;
          sum +=
              to_float(means[x]) * to_float(means[xp]) + to_float(covariances[x * channels_in * image + xp]);
        }
      }
    }
    for (long long c0 = 0; c0 < channels_out; ++c0) {
      T* to =
          input + ((b * channels_out + c0) * pixels + first) * channels_out * pixels + c0 * pixels + second;
      *to = from_float<T>(to_float(*to) + to_float(c[c0]) * sum);
    }
  }
}
