// SPDX-License-Identifier: Apache-2.0
// The kernel of tensor.cu with the mask's size and direction as arguments, so that one binary serves every
// mask. tensor.cu explains the products and their accuracy.

#include "common/integer.cuh"
#include "common/matrix.cuh"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"
#include "conv2d/split_any.cuh"

constexpr int threads = 32 * WARPS;
constexpr int resident_threads = resident_blocks(RESIDENT_WARPS, threads) * threads;
#include "conv2d/split_layout.inl"
constexpr int tile_width = tensor_tile_width;
constexpr int tile_height = WARPS * ROWS;
using Samples = Tile<threads, VECTOR, held_quads(resident_threads, 0)>;

// Stages the words of B that the lanes need: (w[i], w[i + 1]) for i from -7 - (before - left) on, with zeros
// beyond the mask. Highs come before middles for each mask row.
__device__ __forceinline__ void stage_weights(unsigned* to, const Mask& mask, const TensorLayout& sizes,
                                              float scale) {
#pragma unroll 4
  for (int n = threadIdx.x; n < mask.height * sizes.weight_pairs; n += threads) {
    const int i = n / sizes.weight_pairs, p = n % sizes.weight_pairs;
    const int j = p - 7 - (sizes.before - mask.left);
    const Halves pair = split(mask.at(i, j), mask.at(i, j + 1), scale);
    to[2 * i * sizes.weight_pairs + p] = pair.high;
    to[(2 * i + 1) * sizes.weight_pairs + p] = pair.middle;
  }
}

struct Warp {
  const unsigned* weights;  // this lane's first pair of mask row 0
  // Shared addresses of this lane's matrix rows in the warp's first staged row: of the first matrices of a
  // product over 16 columns, and of the matrices of the last 8 columns.
  unsigned samples, last_samples;
  int middle_plane;  // bytes from the highs of samples to the middles
  int mask_height;
};

// Sums of one row: of 16 blocks of 8 outputs, and of the next 16 blocks.
struct Sums {
  float large[2][4] = {};
  float small[2][4] = {};  // 2^11 times too large
};

// Adds staged image row r to all rows of outputs, or only to those that it meets through a row of the mask.
// STEPS is the number of steps in the layout, or 0 if it is not known.
template <bool ALL, int STEPS>
__device__ __forceinline__ void add_row(Sums (&sums)[ROWS], const Warp& warp, const TensorLayout& sizes,
                                        int r) {
  const int steps = STEPS > 0 ? STEPS : sizes.steps;
  const int row_units = tile_width / 8 + steps - 1, weight_pairs = 8 * steps + 8;
  const int offset = r * row_units * 16;
  // A product has 16 columns; a last odd step has 8.
#pragma unroll(larger(STEPS / 2, 1))
  for (int p = 0; p < steps / 2; ++p) {
    unsigned high[2][4], middle[2][4];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const unsigned at = warp.samples + offset + (half * 16 + p * 2) * 16;
      load_matrices(high[half], at);
      load_matrices(middle[half], at + warp.middle_plane);
    }
#pragma unroll
    for (int o = 0; o < ROWS; ++o) {
      const int i = r - o;
      if (!ALL && (i < 0 || i >= warp.mask_height)) continue;
      const unsigned* weights = warp.weights + 2 * i * weight_pairs + 16 * p;
      const unsigned h0 = weights[0], h1 = weights[8];
      const unsigned m0 = weights[weight_pairs], m1 = weights[weight_pairs + 8];
#pragma unroll
      for (int half = 0; half < 2; ++half) multiply_add_halves(sums[o].small[half], middle[half], h0, h1);
#pragma unroll
      for (int half = 0; half < 2; ++half) multiply_add_halves(sums[o].large[half], high[half], h0, h1);
#pragma unroll
      for (int half = 0; half < 2; ++half) multiply_add_halves(sums[o].small[half], high[half], m0, m1);
    }
  }
  if (steps % 2 == 1) {
    unsigned high[4], middle[4];  // rows 0-7 and 8-15 for the first 16 blocks, then for the next
    load_matrices(high, warp.last_samples + offset);
    load_matrices(middle, warp.last_samples + offset + warp.middle_plane);
#pragma unroll
    for (int o = 0; o < ROWS; ++o) {
      const int i = r - o;
      if (!ALL && (i < 0 || i >= warp.mask_height)) continue;
      const unsigned* weights = warp.weights + 2 * i * weight_pairs + 8 * (steps - 1);
      const unsigned h = weights[0], m = weights[weight_pairs];
#pragma unroll
      for (int half = 0; half < 2; ++half)
        multiply_add_halves(sums[o].small[half], middle[2 * half], middle[2 * half + 1], h);
#pragma unroll
      for (int half = 0; half < 2; ++half)
        multiply_add_halves(sums[o].large[half], high[2 * half], high[2 * half + 1], h);
#pragma unroll
      for (int half = 0; half < 2; ++half)
        multiply_add_halves(sums[o].small[half], high[2 * half], high[2 * half + 1], m);
    }
  }
}

// Image row r meets output row o through mask row r - o. Image rows from ROWS - 1 to mask_height - 1 meet all
// output rows. Each number of steps from 2 to STEPS has code of its own, for masks of up to 34 columns.
template <int STEPS>
__device__ __forceinline__ void add_rows(Sums (&sums)[ROWS], const Warp& warp, const TensorLayout& sizes) {
  if (STEPS < 2 || sizes.steps == STEPS) {
    constexpr int known = STEPS < 2 ? 0 : STEPS;
#pragma unroll 1
    for (int r = 0; r < ROWS + warp.mask_height - 1; ++r) {
      if (r >= ROWS - 1 && r < warp.mask_height) {
        add_row<true, known>(sums, warp, sizes, r);
      } else {
        add_row<false, known>(sums, warp, sizes, r);
      }
    }
  } else {
    add_rows<larger(STEPS - 1, 1)>(sums, warp, sizes);
  }
}

// Launched with blocks of 32 * WARPS threads over tiles of columns and rows; a grid whose y or
// z would exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv2d_tensor_any)(const T* __restrict__ image, const T* __restrict__ weights,
                             T* __restrict__ output, int batch, int height, int width, int mask_height,
                             int mask_width, int convolve) {
  DYNAMIC_SHARED(unsigned, memory);  // pairs of weights, high samples, middle samples
  __shared__ WarpRange sample_ranges[WARPS], weight_ranges[WARPS];
  const Mask mask(weights, mask_height, mask_width, convolve);
  const TensorLayout sizes = tensor_layout(tile_height, {mask.height, mask.width, mask.left}, VECTOR);
  const Samples::Shape shape(threadIdx.x, sizes.staged_rows, 2 * sizes.row_units);
  unsigned* planes = memory + 2 * mask_height * sizes.weight_pairs;
  const int lane = threadIdx.x % 32, warp_y = threadIdx.x / 32;

  Warp warp;
  warp.weights = memory + (lane % 4 * 2 - lane / 4 + 7);
  const unsigned corner = static_cast<unsigned>(__cvta_generic_to_shared(planes)) +
                          (warp_y * ROWS * sizes.row_units + lane % 8) * 16;
  const int matrix = lane / 8;
  warp.samples = corner + (matrix % 2 * 8 + matrix / 2) * 16;
  warp.last_samples = corner + (matrix / 2 * 16 + matrix % 2 * 8 + sizes.steps - 1) * 16;
  warp.middle_plane = 4 * shape.plane_words();
  warp.mask_height = mask_height;

  const int x = blockIdx.x * tile_width;
  const int tiles_y = (height + tile_height - 1) / tile_height;
  bool first = true;
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    const float* batch_image = image + static_cast<long long>(b) * height * width;
    float* batch_output = output + static_cast<long long>(b) * height * width;
    for (int t = blockIdx.y; t < tiles_y; t += gridDim.y) {
      const int y = t * tile_height;
      const Window window = {batch_image, x - sizes.before, y - mask.top, height, width};
      const bool inside = window.x >= 0 && window.y >= 0 && window.x + sizes.row_units * 8 <= width &&
                          window.y + sizes.staged_rows <= height;
      Samples samples;
      if (inside) {
        samples.load<true>(threadIdx.x, shape, window);
      } else {
        samples.load<false>(threadIdx.x, shape, window);
      }
      if (first) publish(weight_ranges + threadIdx.x / 32, mask.range<threads>());
      publish(sample_ranges + threadIdx.x / 32, samples.range(threadIdx.x, shape, window));
      __syncthreads();  // also: the tile before has been read
      const SizeRange sample_range = collect<WARPS>(sample_ranges);
      const SizeRange weight_range = collect<WARPS>(weight_ranges);
      const bool good = splits(sample_range) && splits(weight_range);
      const float sample_scale = scale_of(sample_range), weight_scale = scale_of(weight_range);
      if (good) {
        if (first) stage_weights(memory, mask, sizes, weight_scale);
        samples.store(threadIdx.x, shape, planes, window, sample_scale);
      }
      first = first && !good;
      __syncthreads();
      if (!good) {
        compute_plainly<threads>(threadIdx.x, batch_image, weights, batch_output, x, y, tile_width,
                                 tile_height, height, width, mask_height, mask_width, convolve);
        continue;
      }

      Sums sums[ROWS];
      add_rows<5>(sums, warp, sizes);

#include "conv2d/tensor_store.inl"
    }
  }
}
