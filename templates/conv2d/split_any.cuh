// SPDX-License-Identifier: Apache-2.0
// The code of split.cuh for sizes that are known at run time. tensor_any.cu and warpgroup_any.cu use it.
#pragma once

#include "common/halves.cuh"
#include "common/integer.cuh"
#include "common/opaque.cuh"
#include "common/vector.cuh"

// The mask of the correlation that is computed: a convolution is a correlation with the mask rotated by 180
// degrees.
struct Mask {
  const float* __restrict__ weights;
  int height, width;
  bool turned;
  int left, top;

  __device__ __forceinline__ Mask(const float* weights, int height, int width, int convolve)
      : weights(weights),
        height(height),
        width(width),
        turned(convolve != 0),
        left(turned ? width - 1 - width / 2 : width / 2),
        top(turned ? height - 1 - height / 2 : height / 2) {}

  // The weight of row i and column j; zero outside the mask.
  __device__ __forceinline__ float at(int i, int j) const {
    if (i < 0 || i >= height || j < 0 || j >= width) return 0;
    const int n = i * width + j;
    return weights[turned ? height * width - 1 - n : n];
  }

  // The size range of the weights that this thread reads.
  template <int THREADS>
  __device__ __forceinline__ SizeRange range() const {
    SizeRange range;
    for (int n = threadIdx.x; n < height * width; n += THREADS) include(range, weights[n]);
    return range;
  }
};

// The plain path: computes a tile's outputs one by one from global memory.
template <int THREADS>
__device__ __noinline__ void compute_plainly(int thread, const float* __restrict__ image,
                                             const float* __restrict__ weights, float* output, int x, int y,
                                             int tile_width, int tile_height, int height, int width,
                                             int mask_height, int mask_width, int convolve) {
  const Mask mask(weights, mask_height, mask_width, convolve);
  for (int n = thread; n < tile_width * tile_height; n += THREADS) {
    const int column = x + n % tile_width, row = y + n / tile_width;
    if (column >= width || row >= height) continue;
    const int first_row = larger(0, mask.top - row), last_row = smaller(mask_height, height + mask.top - row);
    const int first_column = larger(0, mask.left - column),
              last_column = smaller(mask_width, width + mask.left - column);
    float sum = 0;
    for (int i = first_row; i < last_row; ++i) {
      const float* samples =
          image + static_cast<long long>(row - mask.top + i) * width + (column - mask.left);
      for (int j = first_column; j < last_column; ++j) sum += mask.at(i, j) * samples[j];
    }
    output[static_cast<long long>(row) * width + column] = sum;
  }
}

// The image that a tile is cut from, and the tile's place. The tile's first row and column may lie outside
// the image, where samples are zero.
struct Window {
  const float* image;
  int x, y, height, width;
};

// The size of a tile, whose rows have `quads` times 4 samples, and a thread's walk over its quads, THREADS
// apart.
template <int THREADS>
struct TileShape {
  int quads, count, row, quad, more_rows, more_quads;

  __device__ __forceinline__ TileShape(int thread, int rows, int quads)
      : quads(quads),
        count(rows * quads),
        row(thread / quads),
        quad(thread % quads),
        more_rows(THREADS / quads),
        more_quads(THREADS % quads) {}

  __device__ __forceinline__ int plane_words() const { return 2 * count; }  // one of high, middle

  // Moves to the next quad. Returns true if it is one row further than `more_rows`.
  __device__ __forceinline__ bool advance() {
    row += more_rows;
    quad += more_quads;
    const bool wraps = quad >= quads;
    if (wraps) {
      quad -= quads;
      ++row;
    }
    return wraps;
  }
};

// A thread's share of a tile. HELD of its quads stay in registers while the block finds the scale; the others
// are read twice.
template <int THREADS, int VECTOR, int HELD>
struct Tile {
  using Shape = TileShape<THREADS>;
  Vector<float, 4> samples[HELD];

  // A thread's walk through global memory.
  struct Walk {
    Shape at;
    const float* from;
    long long step;  // elements to the next quad
    int wrap;        // and where that is in one row more

    __device__ __forceinline__ Walk(const Shape& at, const Window& window)
        : at(at),
          from(window.image +
               (static_cast<long long>(window.y + at.row) * window.width + window.x + 4 * at.quad)),
          step(static_cast<long long>(at.more_rows) * window.width + 4 * at.more_quads),
          wrap(window.width - 4 * at.quads) {}

    __device__ __forceinline__ void advance() {
      from += step;
      if (at.advance()) from += wrap;
    }
  };

  template <bool INSIDE>
  static __device__ __forceinline__ Vector<float, 4> load_quad(const Window& window, const Walk& walk) {
    const float* from = walk.from;
    const int row = window.y + walk.at.row, column = window.x + 4 * walk.at.quad;
#include "conv2d/load_quad.inl"
    return quad;
  }

  // Calls visit(n, quad) for the quads that are not held.
  template <typename Visit>
  static __device__ __forceinline__ void each_other(int thread, const Shape& shape, const Window& window,
                                                    Visit visit) {
    int n = thread + HELD * THREADS;
    if (n >= shape.count) return;
    Shape at = shape;
    at.row = n / shape.quads;
    at.quad = n % shape.quads;
    Walk walk(at, window);
#pragma unroll 4
    for (; n < shape.count; n += THREADS) {
      visit(n, load_quad<false>(window, walk));
      walk.advance();
    }
  }

  template <bool INSIDE>
  __device__ __forceinline__ void load(int thread, Shape at, const Window& window) {
    // The walk is the same for each tile: the compiler would keep all of it in registers, and spill it.
    make_opaque(at.row, at.quad);
    Walk walk(at, window);
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
      samples[k] = {{0, 0, 0, 0}};
      if (thread + k * THREADS < at.count) samples[k] = load_quad<INSIDE>(window, walk);
      walk.advance();
    }
  }

  // The size range of this thread's share.
  __device__ __forceinline__ SizeRange range(int thread, const Shape& shape, const Window& window) const {
    SizeRange range;
    const auto include_quad = [&](int /*n*/, const Vector<float, 4>& quad) {
#pragma unroll
      for (int e = 0; e < 4; ++e) include(range, quad.element[e]);
    };
#pragma unroll
    for (int k = 0; k < HELD; ++k) include_quad(k, samples[k]);
    each_other(thread, shape, window, include_quad);
    return range;
  }

  // Stores the share in the plane of highs and in the plane of middles behind it, row by row.
  __device__ __forceinline__ void store(int thread, const Shape& shape, unsigned* planes,
                                        const Window& window, float scale) const {
    const auto store_quad = [&](int n, const Vector<float, 4>& quad) {
      const Halves first = split(quad.element[0], quad.element[1], scale);
      const Halves second = split(quad.element[2], quad.element[3], scale);
      store_vector<2>(planes + 2 * n, Vector<unsigned, 2>{{first.high, second.high}});
      store_vector<2>(planes + 2 * n + shape.plane_words(),
                      Vector<unsigned, 2>{{first.middle, second.middle}});
    };
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
      const int n = thread + k * THREADS;
      if (n < shape.count) store_quad(n, samples[k]);
    }
    each_other(thread, shape, window, store_quad);
  }
};

#include "conv2d/held_quads.inl"
