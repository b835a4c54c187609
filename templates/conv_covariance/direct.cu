// SPDX-License-Identifier: Apache-2.0
// conv_covariance as in the original Numba kernel: one thread per pair of output pixels, which reads every
// term of its sum from global memory. The element type, the mask and the input channels are compiled in; the
// image's size is not.

#include "common/float16.cuh"
#include "common/integer.cuh"
#include "common/overlap.inl"
#include "common/shared.cuh"

using Real = compute_type<T>;

#include "conv_covariance/index.inl"

constexpr int threads = BLOCK_X * BLOCK_Y;
constexpr bool mu_staged = MU_LAYOUT != MuLayout::none;
constexpr bool recomputed = FAN_OUT == FanOut::outside;  // the sum, by one thread per output channel

// The three loops of a term, outermost first.
constexpr int outer_steps = LOOP_ORDER == LoopOrder::channels_outside ? channels_in : mask_height;
constexpr int middle_steps = LOOP_ORDER == LoopOrder::channels_outside   ? mask_height
                             : LOOP_ORDER == LoopOrder::channels_between ? channels_in
                                                                         : mask_width;
constexpr int inner_steps = LOOP_ORDER == LoopOrder::channels_inside ? channels_in : mask_width;

// The number of steps of a loop to unroll: the largest that divides the loop and makes at most 128 terms with
// the loops inside it. More code gains nothing, and 512 terms took compilers 15 s.
__host__ __device__ constexpr int unrolled(int steps, int terms_inside) {
  int at_once = smaller(steps, 128 / larger(terms_inside, 1));
  while (at_once > 1 && steps % at_once != 0) --at_once;
  return larger(at_once, 1);
}
constexpr int unroll_inner = UNROLL >= 1 ? unrolled(inner_steps, 1) : 1;
constexpr int unroll_middle = UNROLL >= 2 ? unrolled(middle_steps, inner_steps) : 1;
constexpr int unroll_outer =
    UNROLL >= 3 ? unrolled(outer_steps, smaller(middle_steps, 129) * smaller(inner_steps, 129)) : 1;

// Launched with blocks of BLOCK_X x BLOCK_Y over the second and the first pixel of the pairs. The grid's z
// goes over the batch, and over the output channels if the sum is recomputed. If the grid's y or z, both
// limited to 65535, is too small, threads take further pairs in strides of the grid.
extern "C" __global__ void __launch_bounds__(threads)
    ENTRY(conv_covariance_direct)(InOutPointer<T> input, InputPointer<T> gamma, InputPointer<T> mu,
                                  InputPointer<T> c, int batch, int channels_out, int height, int width) {
  DYNAMIC_SHARED(Real, staged_mu);
  const int rows = height - mask_height + 1, columns = width - mask_width + 1;
  const int pixels = rows * columns;
  const int image = height * width;
  // With an even pitch, a warp that spans several rows would have bank conflicts.
  const int mu_pitch = MU_LAYOUT == MuLayout::padded ? width | 1 : width;
  const Index pitch = channels_in * image;           // between covariances with neighbouring first pixels
  const Index step_down = pitch * width + width;     // both pixels one row down
  const Index step_right = pitch + 1;                // both pixels one column on
  const Index step_channel = pitch * image + image;  // both pixels in the next input channel
  const int second = blockIdx.x * BLOCK_X + threadIdx.x;
  const int i0p = second / columns, j0p = second - i0p * columns;

  start();
  const long long works = static_cast<long long>(batch) * (recomputed ? channels_out : 1);
  int b_staged = -1;
  for (long long work = blockIdx.z; work < works; work += gridDim.z) {
    const int b = static_cast<int>(recomputed ? work / channels_out : work);
    const int c_begin = recomputed ? static_cast<int>(work - static_cast<long long>(b) * channels_out) : 0;
    const int c_end = recomputed ? c_begin + 1 : channels_out;
    const T* means = mu + static_cast<long long>(b) * channels_in * image;
    const T* covariances = gamma + static_cast<long long>(b) * channels_in * image * channels_in * image;
    if constexpr (mu_staged) {
      if (b != b_staged) {
        if (b_staged >= 0) __syncthreads();  // the image before is still being read
        for (int n = threadIdx.y * BLOCK_X + threadIdx.x; n < channels_in * image; n += threads) {
          const int row = n / width;
          staged_mu[row * mu_pitch + (n - row * width)] = to_float(means[n]);
        }
        __syncthreads();
        b_staged = b;
      }
    }
    if (second >= pixels) continue;
    for (int first = blockIdx.y * BLOCK_Y + threadIdx.y; first < pixels; first += gridDim.y * BLOCK_Y) {
      const int i0 = first / columns, j0 = first - i0 * columns;
      T* outputs = input +
                   (static_cast<long long>(b) * channels_out * pixels + first) * channels_out * pixels +
                   second;
      const long long output_step = static_cast<long long>(pixels) * channels_out * pixels + pixels;
      T old[FAN];
#pragma unroll
      for (int f = 0; f < FAN; ++f) {
        if (c_begin + f < c_end) old[f] = outputs[(c_begin + f) * output_step];
      }

      const int at = i0 * width + j0, at_p = i0p * width + j0p;
      const T* terms = covariances + (at * pitch + at_p);
      const int mu_at = i0 * mu_pitch + j0, mu_at_p = i0p * mu_pitch + j0p;
      Real sum = 0;
#pragma unroll(unroll_outer)
      for (int outer = 0; outer < outer_steps; ++outer) {
#pragma unroll(unroll_middle)
        for (int middle = 0; middle < middle_steps; ++middle) {
#pragma unroll(unroll_inner)
          for (int inner = 0; inner < inner_steps; ++inner) {
            const int ci = LOOP_ORDER == LoopOrder::channels_outside   ? outer
                           : LOOP_ORDER == LoopOrder::channels_between ? middle
                                                                       : inner;
            const int ii = LOOP_ORDER == LoopOrder::channels_outside ? middle : outer;
            const int ji = LOOP_ORDER == LoopOrder::channels_inside ? middle : inner;
            Real left, right;
            if constexpr (mu_staged) {
              const int shift = (ci * height + ii) * mu_pitch + ji;
              left = staged_mu[mu_at + shift];
              right = staged_mu[mu_at_p + shift];
            } else {
              const int shift = (ci * height + ii) * width + ji;
              left = to_float(means[at + shift]);
              right = to_float(means[at_p + shift]);
            }
            sum += left * right + to_float(terms[ci * step_channel + ii * step_down + ji * step_right]);
          }
        }
      }

      for (int c0 = c_begin; c0 < c_end; c0 += FAN) {
        T weight[FAN];
#pragma unroll
        for (int f = 0; f < FAN; ++f) {
          if (c0 + f >= c_end) continue;
          if (c0 > c_begin) old[f] = outputs[(c0 + f) * output_step];
          weight[f] = c[c0 + f];
        }
#pragma unroll
        for (int f = 0; f < FAN; ++f) {
          if (c0 + f < c_end)
            outputs[(c0 + f) * output_step] = from_float<T>(to_float(old[f]) + to_float(weight[f]) * sum);
        }
      }
    }
  }
}
