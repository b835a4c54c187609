// SPDX-License-Identifier: Apache-2.0
// conv_covariance as in factored.cu, which explains the box filter along the shared diagonal, for a mask of
// any size and any number of input channels. These are arguments, so that one binary serves them all; only
// the element type is compiled in.
//
// A thread holds its incomplete outputs in slots, the oldest first. There are as many slots as its MARCH has
// rows, or most_slots for a mask of at most this many rows. The columns of the box are processed 1 to CHUNK
// at a time; each of these numbers has code of its own.

#include "common/float16.cuh"
#include "common/integer.cuh"
#include "common/overlap.inl"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"

using Real = compute_type<T>;

#include "conv_covariance/index.inl"

constexpr int threads = BLOCK_X * BLOCK_D * BLOCK_J;
constexpr bool staged = STAGING != Staging::none;  // p passes through shared memory
constexpr bool mu_staged = MU_IN == MuIn::shared;
constexpr int lanes = 16 / static_cast<int>(sizeof(Real));  // sums of a 16-byte access
constexpr int tile_columns = BLOCK_X * VECTOR;              // j' of a block
constexpr int tile_rows = BLOCK_J * OUT_J;                  // j of a block
#include "conv_covariance/factored_any_layout.inl"
constexpr int most_slots = factored_any_most_slots, slots = smaller(MARCH, most_slots);
constexpr int write_part = smaller(GAMMA_VECTOR, lanes);

#include "conv_covariance/image.inl"

struct Mask {
  int height, width, channels;  // of the input
};

// p in shared memory: two tiles, each of `rows` values of x times BLOCK_D diagonals times `columns` values of
// x', with `pitch` sums from one row of `columns` to the next.
struct Tiles {
  int row_vectors, vectors;
  unsigned reciprocal;  // of row_vectors, times 2^32, rounded up
  int pitch, elements;
};
__device__ __forceinline__ Tiles tiles_of(const Mask& mask, int pitch) {
  Tiles tiles;
  tiles.row_vectors = factored_any_row_vectors(tile_columns, mask.width, GAMMA_VECTOR);
  const int rows = factored_any_rows(tile_rows, mask.width, BLOCK_D);
  tiles.vectors = rows * tiles.row_vectors;
  tiles.reciprocal = 0xffffffffu / static_cast<unsigned>(tiles.row_vectors) + 1;
  tiles.pitch = pitch;
  tiles.elements = rows * pitch;
  return tiles;
}

// Fills the tile for row y, whose first diagonal is d and whose first columns are j and other_j. A thread
// loads FILL vectors at once.
__device__ __forceinline__ void fill(Real* tile, const Image& image, const Mask& mask, const Tiles& tiles,
                                     int thread, int y, int d, int j, int other_j) {
#pragma unroll 1
  for (int first = thread; first < tiles.vectors; first += FILL * threads) {
    bool inside[FILL];
    int to[FILL];
    const T* gamma[FILL];
    const Mean* left[FILL];
    const Mean* right[FILL];
    Real p[FILL][GAMMA_VECTOR];
#pragma unroll
    for (int e = 0; e < FILL; ++e) {
      const int n = first + e * threads;
      // This is exact because n times row_vectors is less than 2^32. row_vectors is 2 or more.
      const int q = static_cast<int>(static_cast<unsigned long long>(n) * tiles.reciprocal >> 32);
      const int k = n - q * tiles.row_vectors;
      const int x = j + q / BLOCK_D, other_y = y + d + q % BLOCK_D, other_x = other_j + k * GAMMA_VECTOR;
      // The width is a multiple of GAMMA_VECTOR, so a vector is wholly inside or wholly outside.
      inside[e] = n < tiles.vectors && x < image.width && other_x < image.width &&
                  static_cast<unsigned>(other_y) < static_cast<unsigned>(image.height);
      to[e] = n < tiles.vectors ? q * tiles.pitch + k * GAMMA_VECTOR : -1;
      gamma[e] = inside[e] ? covariances(image, y, x, other_y, other_x) : image.gamma;
      left[e] = inside[e] ? means(image, y, x) : image.mu;
      right[e] = inside[e] ? means(image, other_y, other_x) : image.mu;
#pragma unroll
      for (int v = 0; v < GAMMA_VECTOR; ++v) p[e][v] = 0;
    }
#pragma unroll 1
    for (int channel = 0; channel < mask.channels; channel += UNROLL) {
      // All are asked for before the first is used; of channels that do not exist zeros are added.
      Real left_mean[UNROLL][FILL], right_mean[UNROLL][FILL][GAMMA_VECTOR], term[UNROLL][FILL][GAMMA_VECTOR];
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        const bool exists = channel + u < mask.channels;
#pragma unroll
        for (int e = 0; e < FILL; ++e) {
          left_mean[u][e] = 0;
#pragma unroll
          for (int v = 0; v < GAMMA_VECTOR; ++v) right_mean[u][e][v] = term[u][e][v] = 0;
          if (!exists) continue;
          left_mean[u][e] = to_float(left[e][u * image.plane]);
          const Vector<T, GAMMA_VECTOR> vector = load_vector<GAMMA_VECTOR>(gamma[e] + u * image.gamma_step);
#pragma unroll
          for (int v = 0; v < GAMMA_VECTOR; ++v) {
            right_mean[u][e][v] = to_float(right[e][u * image.plane + v]);
            term[u][e][v] = to_float(vector.element[v]);
          }
        }
      }
#pragma unroll
      for (int e = 0; e < FILL; ++e) {
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
#pragma unroll
          for (int v = 0; v < GAMMA_VECTOR; ++v)
            p[e][v] += left_mean[u][e] * right_mean[u][e][v] + term[u][e][v];
        }
        gamma[e] += UNROLL * image.gamma_step;
        left[e] += UNROLL * image.plane;
        right[e] += UNROLL * image.plane;
      }
    }
#pragma unroll
    for (int e = 0; e < FILL; ++e) {
      if (to[e] < 0) continue;
#pragma unroll
      for (int v = 0; v < GAMMA_VECTOR; v += write_part) {
        Vector<Real, write_part> part;
#pragma unroll
        for (int w = 0; w < write_part; ++w) part.element[w] = inside[e] ? p[e][v + w] : Real(0);
        store_vector<write_part>(tile + to[e] + v, part);
      }
    }
  }
}

// ---- one box row

struct Place {
  int j, other_j;    // of the thread's first output
  const Real* tile;  // where its part of a staged tile begins
};

using Box = Real[OUT_J][VECTOR];

// Adds the columns [tap, tap + TAPS) of the box.
template <int TAPS>
__device__ __forceinline__ void add_taps(Box& box, const Image& image, const Mask& mask, const Place& place,
                                         const Real* tile, int row_pitch, int y, int other_y, int tap) {
  if constexpr (staged) {
    const Real* from = tile + tap * (row_pitch + 1);
#pragma unroll
    for (int k = 0; k < TAPS; ++k) {
#pragma unroll
      for (int a = 0; a < OUT_J; ++a) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) box[a][v] += from[a * row_pitch + v];
      }
      from += row_pitch + 1;
    }
  } else {
    const T* gamma = covariances(image, y, place.j + tap, other_y, place.other_j + tap);
    const Mean* lefts = means(image, y, place.j + tap);
    const Mean* rights = means(image, other_y, place.other_j + tap);
    // Outputs beyond the last column are computed from that column and not stored.
    int column[OUT_J + TAPS - 1];
#pragma unroll
    for (int c = 0; c < OUT_J + TAPS - 1; ++c)
      column[c] = OUT_J == 1 ? c : min(c, image.width - 1 - (place.j + tap));
#pragma unroll 1
    for (int channel = 0; channel < mask.channels; channel += UNROLL) {
      // All are asked for before the first is used; of channels that do not exist zeros are added.
      Real left[UNROLL][OUT_J + TAPS - 1], right[UNROLL][VECTOR + TAPS - 1],
          covariance[UNROLL][TAPS][OUT_J][VECTOR];
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        const bool exists = channel + u < mask.channels;
        const T* own = gamma + u * image.gamma_step;
#pragma unroll
        for (int k = 0; k < TAPS; ++k) {
#pragma unroll
          for (int n = 0; n < OUT_J * VECTOR; ++n) {
            const int a = n / VECTOR, v = n % VECTOR;
            covariance[u][k][a][v] = exists ? to_float(own[column[a + k] * image.gamma_pitch + (v + k)]) : 0;
          }
        }
#pragma unroll
        for (int c = 0; c < OUT_J + TAPS - 1; ++c)
          left[u][c] = exists ? to_float(lefts[u * image.plane + column[c]]) : 0;
#pragma unroll
        for (int c = 0; c < VECTOR + TAPS - 1; ++c)
          right[u][c] = exists ? to_float(rights[u * image.plane + c]) : 0;
      }
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
#pragma unroll
        for (int k = 0; k < TAPS; ++k) {
#pragma unroll
          for (int n = 0; n < OUT_J * VECTOR; ++n) {
            const int a = n / VECTOR, v = n % VECTOR;
            box[a][v] += left[u][a + k] * right[u][v + k] + covariance[u][k][a][v];
          }
        }
      }
      gamma += UNROLL * image.gamma_step;
      lefts += UNROLL * image.plane;
      rights += UNROLL * image.plane;
    }
  }
}

template <int TAPS>
__device__ __forceinline__ void add_taps_of(int taps, Box& box, const Image& image, const Mask& mask,
                                            const Place& place, const Real* tile, int row_pitch, int y,
                                            int other_y, int tap) {
  if (taps == TAPS) {
    add_taps<TAPS>(box, image, mask, place, tile, row_pitch, y, other_y, tap);
  } else if constexpr (TAPS > 1) {
    add_taps_of<TAPS - 1>(taps, box, image, mask, place, tile, row_pitch, y, other_y, tap);
  }
}

// ---- the outputs

#include "conv_covariance/fan.inl"

// Goes down the rows from begin to end + mask.height - 1; output row i is complete after row i + mask.height
// - 1. `d` is the thread's i' - i, and `block_d` is i' - i on the block's first diagonal. `tile_j` and
// `tile_other_j` are the columns of the block's first output.
__device__ __forceinline__ void march(const Image& image, const Mask& mask, const Place& place, Real* memory,
                                      const Tiles& tiles, int thread, int begin, int end, int d, int block_d,
                                      int tile_j, int tile_other_j) {
  const int row_pitch = BLOCK_D * tiles.pitch;
  const int rows = end - begin + mask.height - 1;
  Real sums[slots][OUT_J][VECTOR];
#pragma unroll
  for (int m = 0; m < slots; ++m) {
#pragma unroll
    for (int n = 0; n < OUT_J * VECTOR; ++n) sums[m][n / VECTOR][n % VECTOR] = 0;
  }
  int tile_at = 0;
  if constexpr (staged) fill(memory, image, mask, tiles, thread, begin, block_d, tile_j, tile_other_j);
#pragma unroll 1
  for (int r = 0; r < rows; ++r) {
    const int y = begin + r, other_y = y + d;
    const int i = y - mask.height + 1, other_i = other_y - mask.height + 1;
    const bool is_last = r >= mask.height - 1;  // of the first slot's rows
    bool complete = is_last;
    if constexpr (staged) {
      __syncthreads();
      complete = complete && static_cast<unsigned>(other_i) < static_cast<unsigned>(image.rows);
    }
    Fan fan;
    T* const first = complete ? outputs(image, place, i, other_i) : image.input;
    if (INPUT == Input::early && complete) load_fan<false>(fan, image, place, 0, first);

    Box box = {};
#pragma unroll 1
    for (int tap = 0; tap < mask.width; tap += CHUNK) {
      add_taps_of<CHUNK>(smaller(CHUNK, mask.width - tap), box, image, mask, place, place.tile + tile_at,
                         row_pitch, y, other_y, tap);
    }
#pragma unroll
    for (int m = 0; m < slots; ++m) {
      if (m == 0 || (m <= r && m < mask.height)) {
#pragma unroll
        for (int n = 0; n < OUT_J * VECTOR; ++n)
          sums[m][n / VECTOR][n % VECTOR] += box[n / VECTOR][n % VECTOR];
      }
    }
    if (complete) {
#pragma unroll 1
      for (int c0 = 0; c0 < image.channels_out; c0 += FAN) {
        if (INPUT == Input::late || c0 > 0) load_fan<false>(fan, image, place, c0, first);
        store_fan<false>(fan, image, place, c0, first, sums[0]);
      }
    }
    if (is_last) {
#pragma unroll
      for (int m = 0; m < slots; ++m) {
#pragma unroll
        for (int n = 0; n < OUT_J * VECTOR; ++n)
          sums[m][n / VECTOR][n % VECTOR] =
              m + 1 < slots ? sums[m + 1 < slots ? m + 1 : m][n / VECTOR][n % VECTOR] : 0;
      }
    }
    if constexpr (staged) {
      // The other tile was last read before this row's barrier.
      tile_at = tiles.elements - tile_at;
      if (r + 1 < rows)
        fill(memory + tile_at, image, mask, tiles, thread, y + 1, block_d, tile_j, tile_other_j);
    }
  }
}

// Launched with blocks of BLOCK_X x BLOCK_D x BLOCK_J over the second column, the diagonals and the first
// column. The grid's x goes over the tiles of both columns, the strips of MARCH rows and the batch; its y
// goes over the diagonals that a strip meets. `pitch` is the pitch of staged tiles.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv_covariance_factored_any)(InOutPointer<T> input, InputPointer<T> gamma, InputPointer<T> mu,
                                        InputPointer<T> c, int channels_out, int channels_in, int height,
                                        int width, int mask_height, int mask_width, int strips, int pitch) {
  DYNAMIC_SHARED(Real, memory);
  const int thread = (threadIdx.z * BLOCK_D + threadIdx.y) * BLOCK_X + threadIdx.x;
  const Mask mask = {mask_height, mask_width, channels_in};
  const Tiles tiles = staged ? tiles_of(mask, pitch) : Tiles{};
  Image image;
  image.height = height;
  image.width = width;
  image.rows = height - mask_height + 1;
  image.columns = width - mask_width + 1;
  image.channels_out = channels_out;
  image.plane = height * width;
  image.gamma_pitch = channels_in * image.plane;
  image.gamma_step = image.gamma_pitch * image.plane + image.plane;
  image.input_pitch = channels_out * image.rows * image.columns;
  image.input_step = image.input_pitch * (image.rows * image.columns) + image.rows * image.columns;
  image.c = c;

  const int tiles_x = (image.columns + tile_columns - 1) / tile_columns;
  const int tiles_j = (image.columns + tile_rows - 1) / tile_rows;
  int block = blockIdx.x;
  const int tile_other_j = block % tiles_x * tile_columns;
  block /= tiles_x;
  const int tile_j = block % tiles_j * tile_rows;
  block /= tiles_j;
  const int strip_begin = block % strips * MARCH;
  const long long b = block / strips;
  const int strip_end = min(strip_begin + MARCH, image.rows);
  // The first diagonal holds only the strip's last row, at i' = 0; the last diagonal holds only its first
  // row.
  const int block_d = static_cast<int>(blockIdx.y) * BLOCK_D - (strip_begin + MARCH - 1);
  const int d = block_d + static_cast<int>(threadIdx.y);
  // The output rows i for which i' is a row too: on any diagonal of the block if it shares tiles, otherwise
  // on the thread's own diagonal.
  const int begin = max(strip_begin, staged ? -(block_d + BLOCK_D - 1) : -d);
  const int end = min(strip_end, image.rows - (staged ? block_d : d));

  start();
  image.input = input + b * image.input_pitch * image.input_pitch;
  image.gamma = gamma + b * image.gamma_pitch * image.gamma_pitch;
  const T* mu_image = mu + b * image.gamma_pitch;
  image.mu = MeanOf<mu_staged>::either(mu_image, memory + 2 * tiles.elements);
  if constexpr (mu_staged) {
    Real* to = memory + 2 * tiles.elements;
    for (int n = thread; n < channels_in * image.plane; n += threads) to[n] = to_float(mu_image[n]);
    __syncthreads();
  }
  Place place;
  place.j = tile_j + static_cast<int>(threadIdx.z) * OUT_J;
  place.other_j = tile_other_j + static_cast<int>(threadIdx.x) * VECTOR;
  place.tile = memory +
               (static_cast<int>(threadIdx.z) * OUT_J * BLOCK_D + static_cast<int>(threadIdx.y)) * pitch +
               static_cast<int>(threadIdx.x) * VECTOR;
  if (begin >= end) return;  // where a block shares tiles, all its threads or none
  if (!staged && (place.j >= image.columns || place.other_j >= image.columns)) return;
  march(image, mask, place, memory, tiles, thread, begin, end, d, block_d, tile_j, tile_other_j);
}
