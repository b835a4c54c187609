// SPDX-License-Identifier: Apache-2.0
// Small windows, for rank_filter: a thread has OUTPUTS_Y rows of OUTPUTS_X neighbouring outputs. A selection
// network that is generated for them, `select`, compares their elements.

#include "common/async_copy.cuh"
#include "common/boundary.cuh"
#include "common/integer.cuh"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "rank_filter/words.cuh"

constexpr int threads = BLOCK_X * BLOCK_Y, half_x = BLOCK_X * OUTPUTS_X, tile_y = BLOCK_Y * OUTPUTS_Y;
#include "rank_filter/network_layout.inl"
#include "rank_filter/tile.inl"

// Defines `select`, which computes the outputs of the windows that begin at `s` and at the next places.
#include "generated"

extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(rank_filter_network)(const T* __restrict__ image, T* __restrict__ output, int depth, int height,
                               int width, int tiles_x, int tiles_y, int boundary, double outside) {
  DYNAMIC_SHARED(Word, tile);
  const Place place = place_of(blockIdx.x, tiles_x, tiles_y);
  fill_tile(tile, image, depth, height, width, place, boundary, from_outside<T>(outside));
  const int thread_x = static_cast<int>(threadIdx.x) % BLOCK_X * OUTPUTS_X,
            thread_y = static_cast<int>(threadIdx.x) / BLOCK_X * OUTPUTS_Y;
  Word out[OUTPUTS_Y][OUTPUTS_X];
  select(tile + thread_y * pitch + in_row(thread_x), out);
#pragma unroll
  for (int n = 0; n < OUTPUTS_Y; ++n) {
    const int y = place.y + thread_y + n, x = place.x + thread_x;
    if (UNALIGNED == 0 && y >= height) break;
    T* const to = output + (static_cast<long long>(place.z) * height + y) * width + x;
    store_words(to, out[n], y < height ? width - x : 0);
  }
}
