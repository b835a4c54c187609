// SPDX-License-Identifier: Apache-2.0
// conv2d for every boundary, size, origin and type of image. Samples pass through a tile in shared memory,
// converted to the type of the sums. Only tiles that reach beyond the image's edge compute samples outside;
// everything else is the same for all tiles. A thread's outputs slide down over a ring of the tile's rows in
// registers. The image's type, the mask's size and the alignment of rows to vectors (PHASE, IN_VECTOR,
// OUT_VECTOR) are compiled in; the boundary, the mode and the sizes are arguments.

#include "common/async_copy.cuh"
#include "common/boundary.cuh"
#include "common/integer.cuh"
#include "common/overlap.inl"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"
#include "common/widened.cuh"

using Sum = sum_type<T>;

constexpr int threads = BLOCK_X * BLOCK_Y;
constexpr int tile_width = BLOCK_X * OUT_X;  // outputs of a block
constexpr int tile_height = BLOCK_Y * OUT_Y;
constexpr int lanes = 16 / static_cast<int>(sizeof(Sum));  // elements of a 16-byte access to shared memory
constexpr int load = smaller(VECTOR, IN_VECTOR);           // elements of a global load
constexpr int store = smaller(VECTOR, alignment_of(OUT_X, OUT_VECTOR));

// ---- shared memory

#include "conv2d/bounded_layout.inl"
constexpr bool padded = SMEM_LAYOUT == SmemLayout::padded;
constexpr BoundedLayout layout =
    bounded_layout({tile_width, tile_height, load, lanes, mask_height, mask_width, PHASE, padded});
constexpr int skipped = layout.skipped, staged_rows = layout.rows, staged_columns = layout.columns,
              staged_vectors = layout.vectors, pitch = layout.pitch, mask_pitch = layout.mask_pitch,
              mask_elements = layout.mask_elements;
__device__ __forceinline__ constexpr int place_of(int position) {
  return bounded_place(position, lanes, padded);
}

struct Place {
  int height, width, boundary;
  Sum outside;      // what stands there, where the boundary is a constant
  int column, row;  // of the tile's first sample, `skipped` included
  int out_height, out_width;
  int x, y;  // of the thread's first output
};

__device__ __forceinline__ void stage_mask(Sum* to, const Sum* mask, bool convolve) {
  for (int n = threadIdx.y * BLOCK_X + threadIdx.x; n < mask_height * mask_width; n += threads) {
    const int i = n / mask_width, j = n % mask_width;
    to[i * mask_pitch + j] = mask[convolve ? mask_height * mask_width - 1 - n : n];
  }
}

// Stages a tile that lies wholly in the image, by vectors. A thread steps through them without a division.
__device__ __forceinline__ void stage_inside(Sum* to, const T* image, const Place& place) {
  constexpr int part = smaller(load, lanes);
  constexpr int vectors = staged_rows * staged_vectors;
  const T* corner = image + static_cast<long long>(place.row) * place.width + place.column;
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
  int r = thread / staged_vectors, c = thread % staged_vectors;
#pragma unroll(smaller(ceil_divide(vectors, threads), 8))
  for (int n = thread; n < vectors; n += threads) {
    const T* from = corner + static_cast<long long>(r) * place.width + c * load;
    Sum* row = to + r * pitch;
    if constexpr (COPY == Copy::async) {
#pragma unroll
      for (int p = 0; p < load; p += part)
        copy_async<part>(row + place_of(c * load + p), reinterpret_cast<const Sum*>(from) + p, true);
    } else {
      const Vector<T, load> vector = load_vector<load>(from);
#pragma unroll
      for (int p = 0; p < load; p += part) {
        Vector<Sum, part> piece;
#pragma unroll
        for (int e = 0; e < part; ++e) piece.element[e] = widened(vector.element[p + e]);
        store_vector<part>(row + place_of(c * load + p), piece);
      }
    }
    r += threads / staged_vectors;
    c += threads % staged_vectors;
    if (c >= staged_vectors) {
      c -= staged_vectors;
      ++r;
    }
  }
}

// Stages any tile, sample by sample.
__device__ __forceinline__ void stage_edge(Sum* to, const T* image, const Place& place) {
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
  int r = thread / staged_columns, c = thread % staged_columns;
#pragma unroll 1
  for (int n = thread; n < staged_rows * staged_columns; n += threads) {
    const int y = sample_at(place.row + r, place.height, place.boundary);
    const int x = sample_at(place.column + c, place.width, place.boundary);
    to[r * pitch + place_of(c)] =
        y < 0 || x < 0 ? place.outside : widened(image[static_cast<long long>(y) * place.width + x]);
    r += threads / staged_columns;
    c += threads % staged_columns;
    if (c >= staged_columns) {
      c -= staged_columns;
      ++r;
    }
  }
}

// ---- a thread's outputs

// The samples of one row of the tile under OUT_X outputs and TAPS columns of the mask.
constexpr int step = alignment_of(OUT_X, lanes);
template <int TAPS>
struct Row {
  static constexpr int last = skipped + OUT_X + TAPS - 1;
  Sum sample[round_up(last, step)];
};

// read_part(), for the tile's type.
struct Tile {
  using T = Sum;
  static
#include "common/read_part.inl"
};

template <int TAPS>
__device__ __forceinline__ void read_row(Row<TAPS>& row, const Sum* tile, int position, int r) {
#pragma unroll
  for (int c = skipped / step * step; c < Row<TAPS>::last; c += step) {
    Tile::read_part(row.sample + c, tile + r * pitch + place_of(position + c), larger(skipped - c, 0),
                    smaller(Row<TAPS>::last - c, step));
  }
}

// Adds COUNT rows of the mask from row `i` on. The ring has the tile's rows for all outputs except the last
// one.
template <int TAPS, int COUNT>
__device__ __forceinline__ void add_rows(Sum (&sum)[OUT_Y][OUT_X], Row<TAPS> (&ring)[OUT_Y], const Sum* tile,
                                         int position, const Sum* mask, int i) {
#pragma unroll
  for (int u = 0; u < COUNT; ++u) {
    read_row<TAPS>(ring[(u + OUT_Y - 1) % OUT_Y], tile, position, i + u + OUT_Y - 1);
    Sum weight[round_up(TAPS, lanes)];
#pragma unroll
    for (int k = 0; k < TAPS; k += lanes) {
      const Vector<Sum, lanes> vector = load_vector<lanes>(mask + (i + u) * mask_pitch + k);
#pragma unroll
      for (int e = 0; e < lanes; ++e) weight[k + e] = vector.element[e];
    }
#pragma unroll
    for (int o = 0; o < OUT_Y; ++o) {
#pragma unroll
      for (int k = 0; k < TAPS; ++k) {
#pragma unroll
        for (int x = 0; x < OUT_X; ++x)
          sum[o][x] += weight[k] * ring[(u + o) % OUT_Y].sample[skipped + x + k];
      }
    }
  }
}

// Adds TAPS columns of the mask. The first column is at `mask`, the sample under it at `position`.
template <int TAPS>
__device__ __forceinline__ void accumulate(Sum (&sum)[OUT_Y][OUT_X], const Sum* tile, int position,
                                           const Sum* mask) {
  constexpr int rounds = mask_height / OUT_Y;
  Row<TAPS> ring[OUT_Y];
#pragma unroll
  for (int o = 0; o < OUT_Y - 1; ++o) read_row<TAPS>(ring[o], tile, position, o);
#pragma unroll(UNROLL == 0 ? larger(rounds, 1) : UNROLL)
  for (int n = 0; n < rounds; ++n) add_rows<TAPS, OUT_Y>(sum, ring, tile, position, mask, n * OUT_Y);
  if constexpr (mask_height % OUT_Y > 0)
    add_rows<TAPS, mask_height % OUT_Y>(sum, ring, tile, position, mask, rounds * OUT_Y);
}

__device__ __forceinline__ void compute(Sum (&sum)[OUT_Y][OUT_X], const Sum* tile, const Sum* mask) {
  const int position = threadIdx.x * OUT_X;
  const Sum* rows = tile + threadIdx.y * OUT_Y * pitch;
#pragma unroll 1
  for (int j = 0; j + CHUNK <= mask_width; j += CHUNK) accumulate<CHUNK>(sum, rows, position + j, mask + j);
  constexpr int rest = mask_width % CHUNK;
  if constexpr (rest > 0) accumulate<rest>(sum, rows, position + mask_width - rest, mask + mask_width - rest);
}

__device__ __forceinline__ void store_outputs(Sum* output, const Sum (&sum)[OUT_Y][OUT_X],
                                              const Place& place) {
#pragma unroll
  for (int o = 0; o < OUT_Y; ++o) {
    if (place.y + o >= place.out_height) return;
    Sum* row = output + static_cast<long long>(place.y + o) * place.out_width + place.x;
#pragma unroll
    for (int c = 0; c < OUT_X; c += store) {
      if (place.x + c >= place.out_width) break;
      Vector<Sum, store> vector;
#pragma unroll
      for (int e = 0; e < store; ++e) vector.element[e] = sum[o][c + e];
      if constexpr (STORE == Store::streaming) {
        store_vector_streaming<store>(row + c, vector);
      } else {
        store_vector<store>(row + c, vector);
      }
    }
  }
}

// Launched with blocks of BLOCK_X x BLOCK_Y over tiles of the output's columns and rows; a grid whose y or z
// would exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv2d_bounded)(InputPointer<T> image, InputPointer<Sum> mask, Sum* __restrict__ output, int batch,
                          int height, int width, int out_height, int out_width, int top, int left,
                          int convolve, int boundary, double value) {
  DYNAMIC_SHARED(Sum, memory);
  Sum* tile = memory + mask_elements;
  start();
  stage_mask(memory, mask, convolve != 0);

  Place place;
  place.height = height;
  place.width = width;
  place.boundary = boundary;
  place.outside = static_cast<Sum>(value);
  place.out_height = out_height;
  place.out_width = out_width;
  const int tile_x = blockIdx.x * tile_width;
  place.column = tile_x - left - skipped;
  place.x = tile_x + threadIdx.x * OUT_X;
  const int tiles_y = (out_height + tile_height - 1) / tile_height;
  bool first = true;
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    for (int t = blockIdx.y; t < tiles_y; t += gridDim.y) {
      if (!first) __syncthreads();  // the tile before is still being read
      first = false;
      place.row = t * tile_height - top;
      place.y = t * tile_height + threadIdx.y * OUT_Y;
      const T* one = image + static_cast<long long>(b) * height * width;
      if (place.column >= 0 && place.column + staged_vectors * load <= width && place.row >= 0 &&
          place.row + staged_rows <= height) {
        stage_inside(tile, one, place);
        if constexpr (COPY == Copy::async) wait_for_copies();
      } else {
        stage_edge(tile, one, place);
      }
      __syncthreads();
      Sum sum[OUT_Y][OUT_X] = {};
      compute(sum, tile, memory);
      store_outputs(output + static_cast<long long>(b) * out_height * out_width, sum, place);
    }
  }
}
