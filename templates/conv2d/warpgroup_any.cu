// SPDX-License-Identifier: Apache-2.0
// The kernel of warpgroup.cu with the mask's size and direction as arguments, so that one binary serves every
// mask. warpgroup.cu explains the products. The accuracy is that of tensor.cu.

#include "common/integer.cuh"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"
#include "common/warpgroup.cuh"
#include "conv2d/split_any.cuh"
#include "conv2d/teams.inl"
using Samples =
    Tile<team_threads, VECTOR, held_quads(resident_threads, AHEAD*(8 * ROWS + (TEAMS > 1 ? 4 : 0)))>;

#include "conv2d/split_layout.inl"
// The layout and other numbers that follow from the mask's size.
struct Sizes : WarpgroupLayout {
  int tail;  // of the rows that the outputs of a thread meet, from which on they meet only the second half

  __device__ __forceinline__ bool paired() const { return steps % 2 == 1; }
  __device__ __forceinline__ explicit Sizes(const Mask& mask)
      : WarpgroupLayout(warpgroup_layout(GROUPS, TEAMS, ROWS, {mask.height, mask.width, mask.left}, VECTOR)),
        tail(round_up(mask.height + ROWS / 2 - 1, 2)) {}
};

// Stages the weights as Toeplitz matrices of 8 outputs, B[k][n] = w[k - n], where k begins before - left
// before the mask. There is one for each row of the mask and for the zeros around them. Each is stored as 8x8
// matrices, one for each 8 of k, with n as the outer index. A warp makes one of these at a time.
__device__ __forceinline__ void stage_weights(unsigned* to, const Mask& mask, const Sizes& sizes,
                                              float scale) {
  const int lane = threadIdx.x % 32, matrices = sizes.matrix_rows * sizes.steps;
  const int j = lane % 4 * 2 - lane / 4 - (sizes.before - mask.left);
#pragma unroll 4
  for (int n = threadIdx.x / 32; n < matrices; n += warps) {
    const int i = n / sizes.steps - (ROWS - 1), first = j + n % sizes.steps * 8;
    const Halves pair = split(mask.at(i, first), mask.at(i, first + 1), scale);
    to[n * 32 + lane] = pair.high;
    to[n * 32 + lane + sizes.weight_words] = pair.middle;
  }
}

// The sums of a thread: registers 4 g to 4 g + 3 belong to output row ROWS - 1 - g of the outputs of two
// image rows.
struct Sums {
  float large[4 * ROWS];
  float small[4 * ROWS];  // 2^11 times too large
};

// The distances of the middles from the highs, in bytes.
struct Planes {
  int samples, weights;
};

// Adds 16 columns of samples, with the weights of COUNT mask rows, to the last COUNT rows of outputs.
template <int COUNT>
__device__ __forceinline__ void add(Sums& sums, const Planes& planes, MatrixPlace samples,
                                    MatrixPlace weights) {
  multiply_add_halves<8 * COUNT>(sums.small, moved(samples, planes.samples), weights);
  multiply_add_halves<8 * COUNT>(sums.large, samples, weights);
  multiply_add_halves<8 * COUNT>(sums.small, samples, moved(weights, planes.weights));
}

// Adds image rows `begin` to `end` of a tile, `begin` even. Row t meets mask rows t - ROWS + 1 to t, which
// lie side by side. STEPS is the number of steps in Sizes, or 0 if it is not known.
template <int COUNT, int STEPS>
__device__ __forceinline__ void add_rows(Sums& sums, const Sizes& sizes, const Planes& planes,
                                         unsigned samples, unsigned weights, int begin, int end) {
  const int steps = STEPS > 0 ? STEPS : sizes.steps;
  const int row_bytes = (tile_width / 8 + steps - 1) * 16, weight_row_bytes = steps * 128;
  const int last = steps - 1;
  const MatrixPlace all_samples = matrix_place(samples, 16, ROWS * row_bytes);
  const MatrixPlace all_weights = matrix_place(weights, 128, weight_row_bytes);
  const MatrixPlace last_samples = matrix_place(samples + last * 16, row_bytes, ROWS * row_bytes);
  const MatrixPlace last_weights = matrix_place(weights + last * 128, weight_row_bytes, weight_row_bytes);
#pragma unroll 1
  for (int t = begin; t < end; t += 2) {
#pragma unroll
    for (int u = t; u < t + 2; ++u) {
      if (COUNT == ROWS || u < sizes.rows) {
#pragma unroll(larger(STEPS / 2, 1))
        for (int p = 0; p < steps / 2; ++p)
          add<COUNT>(sums, planes, moved(all_samples, u * row_bytes + p * 32),
                     moved(all_weights, u * weight_row_bytes + p * 256));
      }
    }
    if (steps % 2 == 1)
      add<COUNT>(sums, planes, moved(last_samples, t * row_bytes), moved(last_weights, t * weight_row_bytes));
    end_group();
    wait_for_groups<1>();
  }
}

// Starts the products of all image rows. The last rows meet only the second half of the rows of outputs,
// which is the first half of the sums. The first rows meet only the other half, but products cannot use this:
// they have to begin with the first of the sums (common/warpgroup.cuh). Each number of steps from 2 to STEPS
// has code of its own, for masks of up to 34 columns.
template <int STEPS>
__device__ __forceinline__ void add_all(Sums& sums, const Sizes& sizes, const Planes& planes,
                                        unsigned samples, unsigned weights) {
  if (STEPS < 2 || sizes.steps == STEPS) {
    constexpr int known = STEPS < 2 ? 0 : STEPS;
    add_rows<ROWS, known>(sums, sizes, planes, samples, weights, 0, sizes.tail);
    add_rows<ROWS / 2, known>(sums, sizes, planes, samples, weights, sizes.tail, sizes.rows);
  } else {
    add_all<larger(STEPS - 1, 1)>(sums, sizes, planes, samples, weights);
  }
}

__device__ __forceinline__ void start_products(Sums& sums, const Sizes& sizes, const Planes& planes,
                                               unsigned samples, unsigned weights) {
#pragma unroll
  for (int n = 0; n < 4 * ROWS; ++n) sums.large[n] = sums.small[n] = 0;
  hold(sums.large);
  hold(sums.small);
  begin_products();
  add_all<5>(sums, sizes, planes, samples, weights);
}

// The window of tile t in a column of tiles.
__device__ __forceinline__ Window window_of(const float* image, const Mask& mask, const Sizes& sizes, int x,
                                            unsigned t, int height, int width) {
  return {image, x - sizes.before, static_cast<int>(t) * tile_height - mask.top, height, width};
}

#include "conv2d/turns.inl"

// Launched with blocks of TEAMS * GROUPS warpgroups over tiles of columns and rows; a grid whose y or z
// would exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv2d_warpgroup_any)(const T* __restrict__ image, const T* __restrict__ weights,
                                T* __restrict__ output, int batch, int height, int width, int mask_height,
                                int mask_width, int convolve) {
  DYNAMIC_SHARED(unsigned,
                 memory);  // high weights, middle weights; of each team high samples, middle samples
  __shared__ WarpRange sample_ranges[warps], weight_ranges[warps];
  // The shuffles tell the compiler that these values are the same in all of a warp.
  const int team = TEAMS == 1 ? 0 : __shfl_sync(0xffffffffu, threadIdx.x / team_threads, 0);
  const int group = GROUPS == 1 ? 0 : __shfl_sync(0xffffffffu, threadIdx.x % team_threads / 128, 0);
  const int thread = threadIdx.x % team_threads, warp = threadIdx.x / 32;
  const Mask mask(weights, mask_height, mask_width, convolve);
  const Sizes sizes(mask);
  const Samples::Shape shape(thread, sizes.staged_rows, 2 * sizes.row_units);
  unsigned* planes = memory + 2 * sizes.weight_words + team * 2 * shape.plane_words();
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
      const Window window = window_of(batch_image, mask, sizes, x, t, height, width);
      const bool inside = window.x >= 0 && window.y >= 0 && window.x + sizes.row_units * 8 <= width &&
                          window.y + sizes.staged_rows <= height;
      if (inside) {
        samples.load<true>(thread, shape, window);
      } else {
        samples.load<false>(thread, shape, window);
      }
    };
    Samples samples;
    if (AHEAD == 1 && blockIdx.y * TEAMS + team < tiles_y) load(samples, blockIdx.y * TEAMS + team);
    if (!staged) {
      staged = true;
      publish(weight_ranges + warp, mask.range<threads>());
      __syncthreads();
      const SizeRange weight_range = collect<warps>(weight_ranges);
      weights_split = splits(weight_range);
      weight_scale = scale_of(weight_range);
      if (weights_split) stage_weights(memory, mask, sizes, weight_scale);
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
        const Window window = window_of(batch_image, mask, sizes, x, t, height, width);
        if (AHEAD == 0) load(samples, t);
        publish(sample_ranges + warp, samples.range(thread, shape, window));
        sync_team(team);  // also: the tile before has been read
        const SizeRange sample_range = collect<team_warps>(sample_ranges + team * team_warps);
        good = weights_split && splits(sample_range);
        sample_scale = scale_of(sample_range);
        if (good) {
          samples.store(thread, shape, planes, window, sample_scale);
          show_to_products();
        }
        sync_team(team);
        if (AHEAD == 1 && t + stride < tiles_y) load(samples, t + stride);
      }

      wait_for_turn(team);
      if (!good) {
        pass_turn(team, last);
        if (any) {
          compute_plainly<team_threads>(thread, batch_image, weights, batch_output, x, y, tile_width,
                                        tile_height, height, width, mask_height, mask_width, convolve);
        }
        continue;
      }
      Sums sums;
      start_products(sums, sizes, {4 * shape.plane_words(), 4 * sizes.weight_words}, samples_at, weights_at);
      pass_turn(team, last);
      wait_for_groups<0>();
      hold(sums.large);
      hold(sums.small);

#include "conv2d/warpgroup_store.inl"
    }
  }
}
