// conv2d of f32 as a matrix product on Hopper's tensor cores, which read both matrices from shared memory. It
// knows the mode and the mask's size; it does not know the image's size.
//
// As in tensor.cu, 8 pixels at a time are one row of 16 bytes, rows overlap in memory, and Toeplitz matrices
// of the mask's rows turn them into 8 outputs. Here one product takes 64 rows of pixels, from 8 neighbours of
// 8 image rows that lie ROWS apart, and the Toeplitz matrices of ROWS mask rows side by side: image row t of
// a warpgroup's tile of 64 columns and 8 * ROWS rows is applied to all rows of outputs that it meets. Where a
// row of outputs meets it through no row of the mask, the matrix is zero.
//
// Accuracy: as tensor.cu.

#include "common/integer.cuh"
#include "common/shared.cuh"
#include "common/vector.cuh"
#include "common/warpgroup.cuh"
#include "conv2d/split.cuh"

using Weights = Mask<mode == Mode::convolution, mask_height, mask_width>;
constexpr int before = round_up(Weights::left, VECTOR);  // columns before the tile's; keeps vectors aligned

constexpr int warps = 4 * GROUPS_X * GROUPS_Y;
constexpr int threads = 32 * warps;
constexpr int resident_blocks = larger(1, RESIDENT_WARPS / warps);  // bounds the registers of a thread
constexpr int resident_threads = resident_blocks * threads;
constexpr int group_height = 8 * ROWS;
constexpr int tile_width = 64 * GROUPS_X;
constexpr int tile_height = group_height * GROUPS_Y;
constexpr int steps =
    ceil_divide(before - Weights::left + 8 + mask_width - 1, 8);  // columns of pixels in units of 8
constexpr int row_units = tile_width / 8 + steps - 1;             // units of 8 pixels in a staged row
constexpr int rows = ROWS + mask_height - 1;                      // that the outputs of a thread meet
// A product takes 16 columns. The last 8 of an odd number are paired with those of the next row, which is
// there for the last row too.
constexpr bool paired = steps % 2 == 1;
constexpr int pairs = steps / 2;
constexpr int staged_rows = tile_height + mask_height - 1 + (paired ? rows % 2 : 0);
using Samples =
    Tile<threads, staged_rows, 2 * row_units, VECTOR, held_quads(resident_threads, AHEAD * 8 * ROWS)>;

// Toeplitz matrices of 8 outputs, B[k][n] = w[k - n], k from before - left before the mask on, for the mask's
// rows and the zeros around them; each as 8x8 matrices, n outside, for each 8 of k.
constexpr int matrix_rows = mask_height + 2 * (ROWS - 1) + (paired ? rows % 2 : 0);
constexpr int weight_words = matrix_rows * steps * 32;  // one of high, middle

__device__ __forceinline__ void stage_weights(unsigned* to, const float* __restrict__ mask, float scale) {
  for (int n = threadIdx.x; n < weight_words; n += threads) {
    const int i = n / (steps * 32) - (ROWS - 1);
    const int k = n / 32 % steps * 8 + n % 4 * 2;
    const int j = k - n / 4 % 8 - (before - Weights::left);
    Halves pair = {0, 0};
    if (i >= 0 && i < mask_height) pair = split(Weights::at(mask, i, j), Weights::at(mask, i, j + 1), scale);
    to[n] = pair.high;
    to[n + weight_words] = pair.middle;
  }
}

// Sums of a thread: registers 4 g to 4 g + 3 belong to output row ROWS - 1 - g of two image rows' outputs.
struct Sums {
  float large[4 * ROWS];
  float small[4 * ROWS];  // 2^11 times too large
};

// Adds 16 columns of samples, with the weights of COUNT mask rows, to COUNT rows of outputs from FIRST on.
template <int COUNT, int FIRST>
__device__ __forceinline__ void add(Sums& sums, MatrixPlace samples, MatrixPlace weights) {
  const MatrixPlace middle_samples = moved(samples, 4 * Samples::plane_words);
  const MatrixPlace middle_weights = moved(weights, 4 * weight_words);
  multiply_add_halves<8 * COUNT, 8 * FIRST>(sums.small, middle_samples, weights);
  multiply_add_halves<8 * COUNT, 8 * FIRST>(sums.large, samples, weights);
  multiply_add_halves<8 * COUNT, 8 * FIRST>(sums.small, samples, middle_weights);
}

// Adds image rows `begin` to `end` of a tile, `begin` even. Row t meets mask rows t - ROWS + 1 to t, which
// lie side by side.
template <int COUNT, int FIRST>
__device__ __forceinline__ void add_rows(Sums& sums, unsigned samples, unsigned weights, int begin, int end) {
  constexpr int row_bytes = row_units * 16, weight_row_bytes = steps * 128;
  constexpr int last = steps - 1;
  weights += FIRST * weight_row_bytes;
  const MatrixPlace all_samples = matrix_place(samples, 16, ROWS * row_bytes);
  const MatrixPlace all_weights = matrix_place(weights, 128, weight_row_bytes);
  const MatrixPlace last_samples = matrix_place(samples + last * 16, row_bytes, ROWS * row_bytes);
  const MatrixPlace last_weights = matrix_place(weights + last * 128, weight_row_bytes, weight_row_bytes);
#pragma unroll 1
  for (int t = begin; t < end; t += 2) {
#pragma unroll
    for (int u = t; u < t + 2; ++u) {
      if (u < rows) {
#pragma unroll
        for (int p = 0; p < pairs; ++p)
          add<COUNT, FIRST>(sums, moved(all_samples, u * row_bytes + p * 32),
                            moved(all_weights, u * weight_row_bytes + p * 256));
      }
    }
    if constexpr (paired)
      add<COUNT, FIRST>(sums, moved(last_samples, t * row_bytes), moved(last_weights, t * weight_row_bytes));
    end_group();
    wait_for_groups<1>();
  }
}

// Adds all image rows; the first and the last meet the outer half of the rows of outputs only.
__device__ __forceinline__ void add_all_rows(Sums& sums, unsigned samples, unsigned weights) {
  constexpr int half = ROWS / 2;
  constexpr int tail = round_up(mask_height + half - 1, 2);
#pragma unroll
  for (int n = 0; n < 4 * ROWS; ++n) sums.large[n] = sums.small[n] = 0;
  hold(sums.large);
  hold(sums.small);
  begin_products();
  add_rows<half, half>(sums, samples, weights, 0, half);
  add_rows<ROWS, 0>(sums, samples, weights, half, smaller(tail, rows));
  add_rows<half, 0>(sums, samples, weights, tail, rows);
  wait_for_groups<0>();
  hold(sums.large);
  hold(sums.small);
}

// What tile t of an image's column of tiles takes.
__device__ __forceinline__ Window window_of(const float* image, int x, unsigned t, int height, int width) {
  return {image, x - before, static_cast<int>(t) * tile_height - Weights::top, height, width};
}

// Launched with blocks of GROUPS_X * GROUPS_Y warpgroups over tiles of columns and rows; a grid that is too
// small in y or z (both limited to 65535) is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
    ENTRY(conv2d_warpgroup)(const T* __restrict__ image, const T* __restrict__ mask, T* __restrict__ output,
                            int batch, int height, int width) {
  DYNAMIC_SHARED(unsigned, memory);  // high weights, middle weights, high samples, middle samples
  __shared__ WarpRange sample_ranges[warps], weight_ranges[warps];
  unsigned* planes = memory + 2 * weight_words;
  const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);  // known to be the same in a warp
  const int group_x = group % GROUPS_X, group_y = group / GROUPS_X;
  const unsigned weights_at = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  const unsigned samples_at =
      weights_at + 8 * weight_words + (group_y * group_height * row_units + group_x * 8) * 16;

  const int x = blockIdx.x * tile_width;
  const unsigned tiles_y = (height + tile_height - 1) / tile_height;
  bool first = true;
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    const float* batch_image = image + static_cast<long long>(b) * height * width;
    float* batch_output = output + static_cast<long long>(b) * height * width;
    const auto load = [&](Samples& samples, unsigned t) {
      const Window window = window_of(batch_image, x, t, height, width);
      const bool inside = window.x >= 0 && window.y >= 0 && window.x + row_units * 8 <= width &&
                          window.y + staged_rows <= height;
      if (inside) {
        samples.load<true>(window);
      } else {
        samples.load<false>(window);
      }
    };
    Samples samples;
    if (AHEAD == 1 && blockIdx.y < tiles_y) load(samples, blockIdx.y);
    for (unsigned t = blockIdx.y; t < tiles_y; t += gridDim.y) {
      const int y = static_cast<int>(t) * tile_height;
      const Window window = window_of(batch_image, x, t, height, width);
      if (AHEAD == 0) load(samples, t);
      if (first) publish(weight_ranges, Weights::range<threads>(mask));
      publish(sample_ranges, samples.range(window));
      __syncthreads();  // also: the tile before has been read
      const SizeRange sample_range = collect<warps>(sample_ranges);
      const SizeRange weight_range = collect<warps>(weight_ranges);
      const bool good = splits(sample_range) && splits(weight_range);
      const float sample_scale = scale_of(sample_range), weight_scale = scale_of(weight_range);
      if (good) {
        if (first) stage_weights(memory, mask, weight_scale);
        samples.store(planes, window, sample_scale);
        show_to_products();
      }
      first = first && !good;
      __syncthreads();
      if (AHEAD == 1 && t + gridDim.y < tiles_y) load(samples, t + gridDim.y);
      if (!good) {
        Weights::apply<threads>(batch_image, mask, batch_output, x, y, tile_width, tile_height, height,
                                width);
        continue;
      }

      Sums sums;
      add_all_rows(sums, samples_at, weights_at);

      const float unscale = reciprocal(sample_scale * weight_scale);
      const int lane = threadIdx.x % 32;
      const int column = x + group_x * 64 + lane / 4 * 8 + lane % 4 * 2;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = y + group_y * group_height + (threadIdx.x / 32 % 4 * 2 + half) * ROWS;
        float* to = batch_output + static_cast<long long>(row) * width + column;
#pragma unroll
        for (int o = 0; o < ROWS; ++o) {
          if (row + o >= height) break;
          const float* large = sums.large + 4 * (ROWS - 1 - o) + 2 * half;
          const float* small = sums.small + 4 * (ROWS - 1 - o) + 2 * half;
          const float low = fmaf(small[0], 0x1p-11f, large[0]) * unscale;
          const float high = fmaf(small[1], 0x1p-11f, large[1]) * unscale;
          if constexpr (VECTOR == 4) {
            if (column < width) store_vector<2>(to, Vector<float, 2>{{low, high}});
          } else {
            if (column < width) to[0] = low;
            if (column + 1 < width) to[1] = high;
          }
          to += width;
        }
      }
    }
  }
}
