// SPDX-License-Identifier: Apache-2.0
// conv2d of f32 as a matrix product on Hopper's tensor cores, which read both matrices from shared memory.
// The mode and the mask's size are compiled in; the image's size is not.
//
// As in tensor.cu, 8 pixels at a time are one row of 16 bytes, rows overlap in memory, and Toeplitz matrices
// of the mask's rows turn them into 8 outputs. Here, one product takes 64 rows of pixels, from 8 neighbours
// of 8 image rows that lie ROWS apart, and the Toeplitz matrices of ROWS mask rows side by side. So image row
// t of a warpgroup's tile of 64 columns and 8 * ROWS rows is applied to all rows of outputs that it meets.
// The matrix is zero where no row of the mask connects it with a row of outputs.
//
// The accuracy is that of tensor.cu.

#include "common/integer.cuh"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"
#include "common/warpgroup.cuh"
#include "conv2d/split.cuh"

using Weights = Mask<mode == Mode::convolution, mask_height, mask_width>;
#include "conv2d/split_layout.inl"
#include "conv2d/teams.inl"
constexpr WarpgroupLayout layout =
    warpgroup_layout(GROUPS, TEAMS, ROWS, {mask_height, mask_width, Weights::left}, VECTOR);
constexpr int before = layout.before, steps = layout.steps, row_units = layout.row_units, rows = layout.rows,
              staged_rows = layout.staged_rows;
constexpr bool paired = steps % 2 == 1;
constexpr int pairs = steps / 2;
using Samples = Tile<team_threads, staged_rows, 2 * row_units, VECTOR,
                     held_quads(resident_threads, AHEAD*(8 * ROWS + (TEAMS > 1 ? 4 : 0)))>;

// The weights are Toeplitz matrices of 8 outputs, B[k][n] = w[k - n], where k begins before - left before the
// mask. There is one for each row of the mask and for the zeros around them. Each is stored as 8x8 matrices,
// one for each 8 of k, with n as the outer index.
constexpr int weight_words = layout.weight_words;  // one of high, middle

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

// The sums of a thread: registers 4 g to 4 g + 3 belong to output row ROWS - 1 - g of the outputs of two
// image rows.
struct Sums {
  float large[4 * ROWS];
  float small[4 * ROWS];  // 2^11 times too large
};

// Adds 16 columns of samples, with the weights of COUNT mask rows, to the last COUNT rows of outputs.
template <int COUNT>
__device__ __forceinline__ void add(Sums& sums, MatrixPlace samples, MatrixPlace weights) {
  const MatrixPlace middle_samples = moved(samples, 4 * Samples::plane_words);
  const MatrixPlace middle_weights = moved(weights, 4 * weight_words);
  multiply_add_halves<8 * COUNT>(sums.small, middle_samples, weights);
  multiply_add_halves<8 * COUNT>(sums.large, samples, weights);
  multiply_add_halves<8 * COUNT>(sums.small, samples, middle_weights);
}

// Adds image rows `begin` to `end` of a tile, `begin` even. Row t meets mask rows t - ROWS + 1 to t, which
// lie side by side.
template <int COUNT>
__device__ __forceinline__ void add_rows(Sums& sums, unsigned samples, unsigned weights, int begin, int end) {
  constexpr int row_bytes = row_units * 16, weight_row_bytes = steps * 128;
  constexpr int last = steps - 1;
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
          add<COUNT>(sums, moved(all_samples, u * row_bytes + p * 32),
                     moved(all_weights, u * weight_row_bytes + p * 256));
      }
    }
    if constexpr (paired)
      add<COUNT>(sums, moved(last_samples, t * row_bytes), moved(last_weights, t * weight_row_bytes));
    end_group();
    wait_for_groups<1>();
  }
}

// Starts the products of all image rows. The last rows meet only the second half of the rows of outputs,
// which is the first half of the sums. The first rows meet only the other half, but products cannot use this:
// they have to begin with the first of the sums (common/warpgroup.cuh).
__device__ __forceinline__ void start_products(Sums& sums, unsigned samples, unsigned weights) {
  constexpr int tail = smaller(round_up(mask_height + ROWS / 2 - 1, 2), rows);
#pragma unroll
  for (int n = 0; n < 4 * ROWS; ++n) sums.large[n] = sums.small[n] = 0;
  hold(sums.large);
  hold(sums.small);
  begin_products();
  add_rows<ROWS>(sums, samples, weights, 0, tail);
  add_rows<ROWS / 2>(sums, samples, weights, tail, rows);
}

// The window of tile t in a column of tiles.
__device__ __forceinline__ Window window_of(const float* image, int x, unsigned t, int height, int width) {
  return {image, x - before, static_cast<int>(t) * tile_height - Weights::top, height, width};
}

#include "conv2d/turns.inl"

// Launched with blocks of TEAMS * GROUPS warpgroups over tiles of columns and rows; a grid whose y or z
// would exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv2d_warpgroup)(const T* __restrict__ image, const T* __restrict__ mask, T* __restrict__ output,
                            int batch, int height, int width) {
  DYNAMIC_SHARED(unsigned,
                 memory);  // high weights, middle weights; of each team high samples, middle samples
  __shared__ WarpRange sample_ranges[warps], weight_ranges[warps];
  // The shuffles tell the compiler that these values are the same in all of a warp.
  const int team = TEAMS == 1 ? 0 : __shfl_sync(0xffffffffu, threadIdx.x / team_threads, 0);
  const int group = GROUPS == 1 ? 0 : __shfl_sync(0xffffffffu, threadIdx.x % team_threads / 128, 0);
  const int thread = threadIdx.x % team_threads, warp = threadIdx.x / 32;
  unsigned* planes = memory + 2 * weight_words + team * 2 * Samples::plane_words;
  const unsigned weights_at = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  const unsigned samples_at = static_cast<unsigned>(__cvta_generic_to_shared(planes)) + group * 8 * 16;

  const int x = blockIdx.x * tile_width;
  const unsigned tiles_y = (height + tile_height - 1) / tile_height;
  const unsigned stride = gridDim.y * TEAMS;
  bool staged = false, weights_split = false;
  float weight_scale = 1;
  if (team == TEAMS - 1) give_turn(0);
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    const float* batch_image = image + static_cast<long long>(b) * height * width;
    float* batch_output = output + static_cast<long long>(b) * height * width;
    const auto load = [&](Samples& samples, unsigned t) {
      const Window window = window_of(batch_image, x, t, height, width);
      const bool inside = window.x >= 0 && window.y >= 0 && window.x + row_units * 8 <= width &&
                          window.y + staged_rows <= height;
      if (inside) {
        samples.load<true>(thread, window);
      } else {
        samples.load<false>(thread, window);
      }
    };
    Samples samples;
    if (AHEAD == 1 && blockIdx.y * TEAMS + team < tiles_y) load(samples, blockIdx.y * TEAMS + team);
    if (!staged) {
      staged = true;
      publish(weight_ranges + warp, Weights::range<threads>(mask));
      __syncthreads();
      const SizeRange weight_range = collect<warps>(weight_ranges);
      weights_split = splits(weight_range);
      weight_scale = scale_of(weight_range);
      if (weights_split) stage_weights(memory, mask, weight_scale);
      show_to_products();
      __syncthreads();
    }
    // All teams make the same number of rounds, so that each gets its turn. In the last round, a team may
    // have no tile.
    for (unsigned first = blockIdx.y * TEAMS; first < tiles_y; first += stride) {
      const unsigned t = first + team;
      const bool any = t < tiles_y, last = first + stride >= tiles_y && b + gridDim.z >= batch;
      const int y = static_cast<int>(t) * tile_height;
      bool good = false;
      float sample_scale = 1;
      if (any) {
        const Window window = window_of(batch_image, x, t, height, width);
        if (AHEAD == 0) load(samples, t);
        publish(sample_ranges + warp, samples.range(thread, window));
        sync_team(team);  // also: the tile before has been read
        const SizeRange sample_range = collect<team_warps>(sample_ranges + team * team_warps);
        good = weights_split && splits(sample_range);
        sample_scale = scale_of(sample_range);
        if (good) {
          samples.store(thread, planes, window, sample_scale);
          show_to_products();
        }
        sync_team(team);
        if (AHEAD == 1 && t + stride < tiles_y) load(samples, t + stride);
      }

      wait_for_turn(team);
      if (!good) {
        pass_turn(team, last);
        if (any) {
          Weights::apply<team_threads>(thread, batch_image, mask, batch_output, x, y, tile_width, tile_height,
                                       height, width);
        }
        continue;
      }
      Sums sums;
      start_products(sums, samples_at, weights_at);
      pass_turn(team, last);
      wait_for_groups<0>();
      hold(sums.large);
      hold(sums.small);

#include "conv2d/warpgroup_store.inl"
    }
  }
}
