// SPDX-License-Identifier: Apache-2.0
// Code that the kernels on tensor cores share: staging a tile of the image in shared memory as halves
// (common/halves.cuh), the mask's weights, and the plain path for a tile that does not split.
#pragma once

#include "common/halves.cuh"
#include "common/integer.cuh"
#include "common/vector.cuh"

// The mask of the correlation that is computed: a convolution is a correlation with the mask rotated by 180
// degrees.
template <bool TURNED, int HEIGHT, int WIDTH>
struct Mask {
  static constexpr int left = TURNED ? WIDTH - 1 - WIDTH / 2 : WIDTH / 2;
  static constexpr int top = TURNED ? HEIGHT - 1 - HEIGHT / 2 : HEIGHT / 2;

  // The weight of row i and column j; zero outside the mask's columns.
  static __device__ __forceinline__ float at(const float* __restrict__ mask, int i, int j) {
    if (j < 0 || j >= WIDTH) return 0;
    return mask[TURNED ? (HEIGHT - 1 - i) * WIDTH + WIDTH - 1 - j : i * WIDTH + j];
  }

  // The size range of the weights that this thread reads.
  template <int THREADS>
  static __device__ __forceinline__ SizeRange range(const float* __restrict__ mask) {
    SizeRange range;
    for (int n = threadIdx.x; n < HEIGHT * WIDTH; n += THREADS) include(range, mask[n]);
    return range;
  }

  // The plain path: computes a tile's outputs one by one from global memory.
  template <int THREADS>
  static __device__ __noinline__ void apply(int thread, const float* __restrict__ image,
                                            const float* __restrict__ mask, float* output, int x, int y,
                                            int tile_width, int tile_height, int height, int width) {
    for (int n = thread; n < tile_width * tile_height; n += THREADS) {
      const int column = x + n % tile_width, row = y + n / tile_width;
      if (column >= width || row >= height) continue;
      const int first_row = larger(0, top - row), last_row = smaller(HEIGHT, height + top - row);
      const int first_column = larger(0, left - column), last_column = smaller(WIDTH, width + left - column);
      float sum = 0;
      for (int i = first_row; i < last_row; ++i) {
        const float* samples = image + static_cast<long long>(row - top + i) * width + (column - left);
        for (int j = first_column; j < last_column; ++j) sum += at(mask, i, j) * samples[j];
      }
      output[static_cast<long long>(row) * width + column] = sum;
    }
  }
};

// The image that a tile is cut from, and the tile's place. The tile's first row and column may lie outside
// the image, where samples are zero.
struct Window {
  const float* image;
  int x, y, height, width;
};

// A tile of ROWS rows of QUADS times 4 samples. A thread's share is every THREADS-th quad. HELD of its quads
// stay in registers while the block finds the scale; the others are read twice.
template <int THREADS, int ROWS, int QUADS, int VECTOR, int HELD>
struct Tile {
  static constexpr int count = ROWS * QUADS;
  static constexpr int share = ceil_divide(count, THREADS);
  static constexpr int held = smaller(share, HELD);
  static constexpr int plane_words = 2 * count;  // one of high, middle

  Vector<float, 4> samples[held];

  struct Place {
    int row, quad;
    __device__ __forceinline__ Place(int n) : row(n / QUADS), quad(n % QUADS) {}
    __device__ __forceinline__ void advance() {
      row += THREADS / QUADS;
      quad += THREADS % QUADS;
      if (quad >= QUADS) {
        quad -= QUADS;
        ++row;
      }
    }
  };

  template <bool INSIDE>
  static __device__ __forceinline__ Vector<float, 4> load_quad(const Window& window, const Place& place) {
    const int row = window.y + place.row, column = window.x + 4 * place.quad;
    const float* from = window.image + (static_cast<long long>(row) * window.width + column);
#include "conv2d/load_quad.inl"
    return quad;
  }

  template <bool INSIDE>
  __device__ __forceinline__ void load(int thread, const Window& window) {
    Place place(thread);
#pragma unroll
    for (int k = 0; k < held; ++k) {
      if ((k + 1) * THREADS <= count || thread + k * THREADS < count) {
        samples[k] = load_quad<INSIDE>(window, place);
      } else {
        samples[k] = {{0, 0, 0, 0}};
      }
      place.advance();
    }
  }

  // The size range of this thread's share.
  __device__ __forceinline__ SizeRange range(int thread, const Window& window) const {
    SizeRange range;
#pragma unroll
    for (int k = 0; k < held; ++k) {
#pragma unroll
      for (int e = 0; e < 4; ++e) include(range, samples[k].element[e]);
    }
    if constexpr (held < share) {
      Place place(thread + held * THREADS);
#pragma unroll 4
      for (int n = thread + held * THREADS; n < count; n += THREADS) {
        const Vector<float, 4> quad = load_quad<false>(window, place);
#pragma unroll
        for (int e = 0; e < 4; ++e) include(range, quad.element[e]);
        place.advance();
      }
    }
    return range;
  }

  static __device__ __forceinline__ void store_quad(unsigned* planes, int n, const Vector<float, 4>& quad,
                                                    float scale) {
    const Halves first = split(quad.element[0], quad.element[1], scale);
    const Halves second = split(quad.element[2], quad.element[3], scale);
    store_vector<2>(planes + 2 * n, Vector<unsigned, 2>{{first.high, second.high}});
    store_vector<2>(planes + 2 * n + plane_words, Vector<unsigned, 2>{{first.middle, second.middle}});
  }

  // Stores the share in the plane of highs and in the plane of middles behind it, row by row.
  __device__ __forceinline__ void store(int thread, unsigned* planes, const Window& window,
                                        float scale) const {
#pragma unroll
    for (int k = 0; k < held; ++k) {
      const int n = thread + k * THREADS;
      if ((k + 1) * THREADS <= count || n < count) store_quad(planes, n, samples[k], scale);
    }
    if constexpr (held < share) {
      Place place(thread + held * THREADS);
#pragma unroll 4
      for (int n = thread + held * THREADS; n < count; n += THREADS) {
        store_quad(planes, n, load_quad<false>(window, place), scale);
        place.advance();
      }
    }
  }
};

#include "conv2d/held_quads.inl"
