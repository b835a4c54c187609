// SPDX-License-Identifier: Apache-2.0
// conv2d of f32 as a matrix product on tensor cores. The mode and the mask's size are compiled in; the
// image's size is not.
//
// One row of the mask applied to one row of the image is a product A * B: row m of A has the pixels from 8 m
// on, B is the Toeplitz matrix B[k][n] = w[k - n], and element (m, n) of the product belongs to output column
// 8 m + n. So 16 rows of A cover 128 outputs. Rows of A overlap in memory, which costs nothing: each 8 pixels
// are one 16-byte row of an 8x8 matrix that is loaded as it lies.
//
// Accuracy. Samples and weights are split into two halves, with a scale for each tile and one for the mask
// (common/halves.cuh). That costs 12 f32 roundings (2^-24) of |w| |x|. Each step of high * high, one for each
// 16 columns, counts as two. The small products are summed separately over the whole mask. They are 2^10
// times smaller, so that their roundings and their addition at the end count as at most two more. The
// template refuses masks for which the total is above the mask_height * mask_width roundings of a plain f32
// sum. A tile whose samples, or whose mask, do not split takes a plain path.

#include "common/integer.cuh"
#include "common/matrix.cuh"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"
#include "conv2d/split.cuh"

using Weights = Mask<mode == Mode::convolution, mask_height, mask_width>;
#include "conv2d/split_layout.inl"

constexpr int threads = 32 * WARPS;
constexpr int resident_threads = resident_blocks(RESIDENT_WARPS, threads) * threads;
constexpr int tile_width = tensor_tile_width, tile_height = WARPS * ROWS;
constexpr TensorLayout layout = tensor_layout(tile_height, {mask_height, mask_width, Weights::left}, VECTOR);
constexpr int before = layout.before, steps = layout.steps, row_units = layout.row_units,
              staged_rows = layout.staged_rows;
using Samples = Tile<threads, staged_rows, 2 * row_units, VECTOR, held_quads(resident_threads, 0)>;

// The words of B that the lanes need are (w[i], w[i + 1]) for i from -7 - (before - left) on, with zeros
// beyond the mask.
constexpr int weight_pairs = layout.weight_pairs, weight_words = layout.weight_words;

__device__ __forceinline__ void stage_weights(unsigned* to, const float* __restrict__ mask, float scale) {
  for (int n = threadIdx.x; n < mask_height * weight_pairs; n += threads) {
    const int i = n / weight_pairs, p = n % weight_pairs;
    const int j = p - 7 - (before - Weights::left);
    const Halves pair = split(Weights::at(mask, i, j), Weights::at(mask, i, j + 1), scale);
    to[2 * i * weight_pairs + p] = pair.high;
    to[(2 * i + 1) * weight_pairs + p] = pair.middle;
  }
}

constexpr int pairs = steps / 2;  // products over 16 columns; an odd step is one over 8

struct Warp {
  const unsigned* weights;  // this lane's first pair of mask row 0
  // Shared addresses of this lane's matrix rows in the warp's first staged row: of the first matrices of a
  // product over 16 columns, and of the matrices of the last 8 columns.
  unsigned samples, last_samples;
};

// Sums of one row: of 16 blocks of 8 outputs, and of the next 16 blocks.
struct Sums {
  float large[2][4] = {};
  float small[2][4] = {};  // 2^11 times too large
};

// Adds staged image row r to all rows of outputs, or only to those that it meets through a row of the mask.
template <bool ALL>
__device__ __forceinline__ void add_row(Sums (&sums)[ROWS], const Warp& warp, int r) {
  const int offset = r * row_units * 16;
  constexpr int middle_plane = Samples::plane_words * 4;
#pragma unroll
  for (int p = 0; p < pairs; ++p) {
    unsigned high[2][4], middle[2][4];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      load_matrices(high[half], warp.samples + offset + (half * 16 + p * 2) * 16);
      load_matrices(middle[half], warp.samples + offset + (half * 16 + p * 2) * 16 + middle_plane);
    }
#pragma unroll
    for (int o = 0; o < ROWS; ++o) {
      const int i = r - o;
      if (!ALL && (i < 0 || i >= mask_height)) continue;
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
  if constexpr (steps % 2 == 1) {
    unsigned high[4], middle[4];  // rows 0-7 and 8-15 for the first 16 blocks, then for the next
    load_matrices(high, warp.last_samples + offset);
    load_matrices(middle, warp.last_samples + offset + middle_plane);
#pragma unroll
    for (int o = 0; o < ROWS; ++o) {
      const int i = r - o;
      if (!ALL && (i < 0 || i >= mask_height)) continue;
      const unsigned h = warp.weights[2 * i * weight_pairs + 8 * (steps - 1)];
      const unsigned m = warp.weights[(2 * i + 1) * weight_pairs + 8 * (steps - 1)];
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

// Image row r meets output row o through mask row r - o. The rows between `full_begin` and `full_end` meet
// all output rows.
__device__ __forceinline__ void add_rows(Sums (&sums)[ROWS], const Warp& warp) {
  constexpr int rows = ROWS + mask_height - 1;
  if constexpr (mask_height * steps <= 18) {  // then all weights may stay in registers
#pragma unroll
    for (int r = 0; r < rows; ++r) add_row<false>(sums, warp, r);
  } else {
    constexpr int full_begin = mask_height >= ROWS ? ROWS - 1 : rows;
    constexpr int full_end = mask_height >= ROWS ? mask_height : rows;
#pragma unroll 1
    for (int r = 0; r < rows; ++r) {
      if (r >= full_begin && r < full_end) {
        add_row<true>(sums, warp, r);
      } else {
        add_row<false>(sums, warp, r);
      }
    }
  }
}

// Launched with blocks of 32 * WARPS threads over tiles of columns and rows; a grid whose y or
// z would exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv2d_tensor)(const T* __restrict__ image, const T* __restrict__ mask, T* __restrict__ output,
                         int batch, int height, int width) {
  DYNAMIC_SHARED(unsigned, memory);  // pairs of weights, high samples, middle samples
  __shared__ WarpRange sample_ranges[WARPS], weight_ranges[WARPS];
  unsigned* planes = memory + weight_words;
  const int lane = threadIdx.x % 32, warp_y = threadIdx.x / 32;

  Warp warp;
  warp.weights = memory + (lane % 4 * 2 - lane / 4 + 7);
  const unsigned corner =
      static_cast<unsigned>(__cvta_generic_to_shared(planes)) + (warp_y * ROWS * row_units + lane % 8) * 16;
  const int matrix = lane / 8;
  warp.samples = corner + (matrix % 2 * 8 + matrix / 2) * 16;
  warp.last_samples = corner + (matrix / 2 * 16 + matrix % 2 * 8 + steps - 1) * 16;

  const int x = blockIdx.x * tile_width;
  const int tiles_y = (height + tile_height - 1) / tile_height;
  bool first = true;
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    const float* batch_image = image + static_cast<long long>(b) * height * width;
    float* batch_output = output + static_cast<long long>(b) * height * width;
    for (int t = blockIdx.y; t < tiles_y; t += gridDim.y) {
      const int y = t * tile_height;
      const Window window = {batch_image, x - before, y - Weights::top, height, width};
      const bool inside = window.x >= 0 && window.y >= 0 && window.x + row_units * 8 <= width &&
                          window.y + staged_rows <= height;
      Samples samples;
      if (inside) {
        samples.load<true>(threadIdx.x, window);
      } else {
        samples.load<false>(threadIdx.x, window);
      }
      if (first) publish(weight_ranges + threadIdx.x / 32, Weights::range<threads>(mask));
      publish(sample_ranges + threadIdx.x / 32, samples.range(threadIdx.x, window));
      __syncthreads();  // also: the tile before has been read
      const SizeRange sample_range = collect<WARPS>(sample_ranges);
      const SizeRange weight_range = collect<WARPS>(weight_ranges);
      const bool good = splits(sample_range) && splits(weight_range);
      const float sample_scale = scale_of(sample_range), weight_scale = scale_of(weight_range);
      if (good) {
        if (first) stage_weights(memory, mask, weight_scale);
        samples.store(threadIdx.x, planes, window, sample_scale);
      }
      first = first && !good;
      __syncthreads();
      if (!good) {
        Weights::apply<threads>(threadIdx.x, batch_image, mask, batch_output, x, y, tile_width, tile_height,
                                height, width);
        continue;
      }

      Sums sums[ROWS];
      add_rows(sums, warp);

#include "conv2d/tensor_store.inl"
    }
  }
}
