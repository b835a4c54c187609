// SPDX-License-Identifier: Apache-2.0
// conv_covariance with each inner sum computed once and added to every output channel. Summed over the input
// channels first,
//   p(y, x, y', x') = sum over ci of mu[ci, y, x] mu[ci, y', x'] + gamma[ci, y, x, ci, y', x'],
// it is a box filter along the shared diagonal: a thread keeps i' - i, goes down the rows, adds up the box's
// row p(y, j + k, y', j' + k) over k, and adds that to the mask_height outputs that need it. So each
// covariance is read once, except in the tiles' halos. No sum is subtracted from another, so that NaN and
// infinity reach only the outputs whose terms hold them. The element type, the mask and the input channels
// are compiled in; the image's size is not.

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
constexpr int pending = larger(mask_height - 1, 1);         // outputs that are begun and not complete

// The window of p that one box row of a thread's OUT_J x VECTOR outputs needs.
constexpr int window_rows = OUT_J + mask_width - 1;
constexpr int window_columns = VECTOR + mask_width - 1;
__device__ __forceinline__ constexpr bool in_window(int r, int k) {
  return larger(larger(r - OUT_J, k - VECTOR) + 1, 0) <= smaller(smaller(r, k), mask_width - 1);
}

// ---- p in shared memory

#include "conv_covariance/factored_layout.inl"
constexpr FactoredLayout layout =
    factored_layout({tile_rows, tile_columns, BLOCK_D, mask_width, VECTOR, GAMMA_VECTOR,
                     static_cast<int>(sizeof(Real)), staged, STAGING == Staging::padded});
constexpr int staged_rows = layout.rows, pitch = layout.pitch, tile_elements = layout.tile;
constexpr int read_part = smaller(VECTOR, lanes);  // sums that one access can take
constexpr int write_part = smaller(GAMMA_VECTOR, lanes);
constexpr int row_vectors = layout.columns / GAMMA_VECTOR;
constexpr int staged_vectors = staged_rows * BLOCK_D * row_vectors;
constexpr int thread_vectors = ceil_divide(staged_vectors, threads);

#include "conv_covariance/image.inl"

// ---- filling shared memory

// The source and the target of this thread's vector number `e`, in the tile for row y whose first diagonal is
// d.
struct Spot {
  bool inside;
  int x, other_y, other_x;
  int to;
};
__device__ __forceinline__ Spot spot(const Image& image, int e, int thread, int y, int d, int j,
                                     int other_j) {
  const int n = thread + e * threads;
  const int k = n % row_vectors, q = n / row_vectors;
  Spot found;
  found.x = j + q / BLOCK_D;
  found.other_y = y + d + q % BLOCK_D;
  found.other_x = other_j + k * GAMMA_VECTOR;
  // The width is a multiple of GAMMA_VECTOR, so a vector is wholly inside or wholly outside.
  found.inside = n < staged_vectors && found.x < image.width && found.other_x < image.width &&
                 static_cast<unsigned>(found.other_y) < static_cast<unsigned>(image.height);
  found.to = n < staged_vectors ? q * pitch + k * GAMMA_VECTOR : -1;
  return found;
}

using GammaVector = Vector<T, GAMMA_VECTOR>;

__device__ __forceinline__ const T* first_of(const Image& image, const Spot& at, int y) {
  return covariances(image, y, at.x, at.other_y, at.other_x);
}

__device__ __forceinline__ void add_channel(Real (&p)[GAMMA_VECTOR], const Image& image, const Spot& at,
                                            int ci, int y, const GammaVector& gamma) {
  const Real left = to_float(means(image, y, at.x)[ci * image.plane]);
  const Mean* right = means(image, at.other_y, at.other_x) + ci * image.plane;
#pragma unroll
  for (int e = 0; e < GAMMA_VECTOR; ++e) p[e] += left * to_float(right[e]) + to_float(gamma.element[e]);
}

__device__ __forceinline__ void store_sums(Real* tile, const Spot& at, const Real (&p)[GAMMA_VECTOR]) {
  if (at.to < 0) return;
#pragma unroll
  for (int e = 0; e < GAMMA_VECTOR; e += write_part) {
    Vector<Real, write_part> part;
#pragma unroll
    for (int k = 0; k < write_part; ++k) part.element[k] = p[e + k];
    store_vector<write_part>(tile + at.to + e, part);
  }
}

__device__ __forceinline__ void fill(Real* tile, const Image& image, int thread, int y, int d, int j,
                                     int other_j) {
#pragma unroll(smaller(thread_vectors, 8))
  for (int e = 0; e < thread_vectors; ++e) {
    const Spot at = spot(image, e, thread, y, d, j, other_j);
    Real p[GAMMA_VECTOR];
#pragma unroll
    for (int k = 0; k < GAMMA_VECTOR; ++k) p[k] = 0;
    if (at.inside) {
#pragma unroll(UNROLL)
      for (int ci = 0; ci < channels_in; ++ci) {
        add_channel(p, image, at, ci, y,
                    load_vector<GAMMA_VECTOR>(first_of(image, at, y) + ci * image.gamma_step));
      }
    }
    store_sums(tile, at, p);
  }
}

// Fills a tile in two steps; the outputs of the previous row are computed between them.
struct Ahead {
  GammaVector gamma[AHEAD > 0 ? thread_vectors : 1][AHEAD > 0 ? larger(channels_in, 1) : 1];
};
__device__ __forceinline__ void load_ahead(Ahead& ahead, const Image& image, int thread, int y, int d, int j,
                                           int other_j) {
#pragma unroll
  for (int e = 0; e < thread_vectors; ++e) {
    const Spot at = spot(image, e, thread, y, d, j, other_j);
    if (!at.inside) continue;
#pragma unroll
    for (int ci = 0; ci < channels_in; ++ci) {
      ahead.gamma[e][ci] = load_vector<GAMMA_VECTOR>(first_of(image, at, y) + ci * image.gamma_step);
    }
  }
}
__device__ __forceinline__ void store_ahead(Real* tile, const Ahead& ahead, const Image& image, int thread,
                                            int y, int d, int j, int other_j) {
#pragma unroll
  for (int e = 0; e < thread_vectors; ++e) {
    const Spot at = spot(image, e, thread, y, d, j, other_j);
    Real p[GAMMA_VECTOR];
#pragma unroll
    for (int k = 0; k < GAMMA_VECTOR; ++k) p[k] = 0;
    if (at.inside) {
#pragma unroll
      for (int ci = 0; ci < channels_in; ++ci) add_channel(p, image, at, ci, y, ahead.gamma[e][ci]);
    }
    store_sums(tile, at, p);
  }
}

// ---- one box row

struct Place {
  int j, other_j;    // of the thread's first output
  const Real* tile;  // where its part of a staged tile begins
};

__device__ __forceinline__ void zero(Real (&box)[OUT_J][VECTOR]) {
#pragma unroll
  for (int a = 0; a < OUT_J; ++a) {
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) box[a][v] = 0;
  }
}

// The smaller one of `k` and the number of columns after x: outputs beyond the image's last column are
// computed from that column and not stored.
template <bool INSIDE>
__device__ __forceinline__ int after(const Image& image, int x, int k) {
  return INSIDE ? k : min(k, image.width - 1 - x);
}

template <bool INSIDE>
__device__ __forceinline__ void box_from_window(Real (&box)[OUT_J][VECTOR], const Image& image,
                                                const Place& place, int tile_at, int y, int other_y) {
  Real p[window_rows][window_columns];
  if constexpr (staged) {
#pragma unroll
    for (int r = 0; r < window_rows; ++r) {
      Real row[round_up(window_columns, read_part)];
#pragma unroll
      for (int k = 0; k < window_columns; k += read_part) {
        const Vector<Real, read_part> part =
            load_vector<read_part>(place.tile + tile_at + r * BLOCK_D * pitch + k);
#pragma unroll
        for (int e = 0; e < read_part; ++e) row[k + e] = part.element[e];
      }
#pragma unroll
      for (int k = 0; k < window_columns; ++k) p[r][k] = row[k];
    }
  } else {
#pragma unroll
    for (int r = 0; r < window_rows; ++r) {
#pragma unroll
      for (int k = 0; k < window_columns; ++k) p[r][k] = 0;
    }
#pragma unroll(UNROLL)
    for (int ci = 0; ci < channels_in; ++ci) {
      const T* gamma = covariances(image, y, place.j, other_y, place.other_j) + ci * image.gamma_step;
      const Mean* lefts = means(image, y, place.j) + ci * image.plane;
      const Mean* rights = means(image, other_y, place.other_j) + ci * image.plane;
      Real right[window_columns];
#pragma unroll
      for (int k = 0; k < window_columns; ++k)
        right[k] = to_float(rights[after<INSIDE>(image, place.other_j, k)]);
#pragma unroll
      for (int r = 0; r < window_rows; ++r) {
        const int x = after<INSIDE>(image, place.j, r);
        const Real left = to_float(lefts[x]);
        const T* row = gamma + x * image.gamma_pitch;
#pragma unroll
        for (int k = 0; k < window_columns; ++k) {
          if (in_window(r, k))
            p[r][k] += left * right[k] + to_float(row[after<INSIDE>(image, place.other_j, k)]);
        }
      }
    }
  }
#pragma unroll
  for (int tap = 0; tap < mask_width; ++tap) {
#pragma unroll
    for (int a = 0; a < OUT_J; ++a) {
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) box[a][v] += p[a + tap][v + tap];
    }
  }
}

template <bool INSIDE>
__device__ __forceinline__ void box_from_taps(Real (&box)[OUT_J][VECTOR], const Image& image,
                                              const Place& place, int tile_at, int y, int other_y) {
#pragma unroll 2
  for (int tap = 0; tap < mask_width; ++tap) {
    if constexpr (staged) {
#pragma unroll
      for (int a = 0; a < OUT_J; ++a) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v)
          box[a][v] += place.tile[tile_at + (a + tap) * BLOCK_D * pitch + v + tap];
      }
    } else {
#pragma unroll(UNROLL)
      for (int ci = 0; ci < channels_in; ++ci) {
        const T* gamma = covariances(image, y, place.j, other_y, place.other_j) + ci * image.gamma_step;
        const Mean* lefts = means(image, y, place.j) + ci * image.plane;
        const Mean* rights = means(image, other_y, place.other_j) + ci * image.plane;
        Real right[VECTOR];
#pragma unroll
        for (int v = 0; v < VECTOR; ++v)
          right[v] = to_float(rights[after<INSIDE>(image, place.other_j, v + tap)]);
#pragma unroll
        for (int a = 0; a < OUT_J; ++a) {
          const int x = after<INSIDE>(image, place.j, a + tap);
          const Real left = to_float(lefts[x]);
          const T* row = gamma + x * image.gamma_pitch;
#pragma unroll
          for (int v = 0; v < VECTOR; ++v)
            box[a][v] += left * right[v] + to_float(row[after<INSIDE>(image, place.other_j, v + tap)]);
        }
      }
    }
  }
}

// ---- the outputs

#include "conv_covariance/fan.inl"

// Goes down the rows from begin_y to end_y; output row i is complete after row i + mask_height - 1. `d` is
// the thread's i' - i, and `block_d` is i' - i on the block's first diagonal. `tile_j` and `tile_other_j` are
// the columns of the block's first output.
template <bool INSIDE>
__device__ __forceinline__ void march(const Image& image, const Place& place, Real* tiles, int thread,
                                      int begin_y, int end_y, int d, int block_d, int tile_j,
                                      int tile_other_j) {
  Real sums[pending][OUT_J][VECTOR];  // the oldest first
#pragma unroll
  for (int m = 0; m < pending; ++m) zero(sums[m]);
  int tile_at = 0;
  if constexpr (staged) fill(tiles, image, thread, begin_y, block_d, tile_j, tile_other_j);
#pragma unroll 1
  for (int y = begin_y; y < end_y; ++y) {
    const int other_y = y + d;
    const int i = y - mask_height + 1, other_i = other_y - mask_height + 1;
    bool complete = i >= begin_y;
    if constexpr (staged) {
      __syncthreads();
      complete = complete && static_cast<unsigned>(other_i) < static_cast<unsigned>(image.rows);
    }
    Ahead ahead;
    if constexpr (staged && AHEAD > 0) {
      if (y + 1 < end_y) load_ahead(ahead, image, thread, y + 1, block_d, tile_j, tile_other_j);
    }
    Fan fan;
    T* const first = complete ? outputs(image, place, i, other_i) : image.input;
    if (INPUT == Input::early && complete) load_fan<INSIDE>(fan, image, place, 0, first);

    Real box[OUT_J][VECTOR];
    zero(box);
    if constexpr (BOX == Box::window) {
      box_from_window<INSIDE>(box, image, place, tile_at, y, other_y);
    } else {
      box_from_taps<INSIDE>(box, image, place, tile_at, y, other_y);
    }
    Real sum[OUT_J][VECTOR];
#pragma unroll
    for (int a = 0; a < OUT_J; ++a) {
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) {
        sum[a][v] = mask_height == 1 ? box[a][v] : sums[0][a][v] + box[a][v];
#pragma unroll
        for (int m = 0; m + 1 < pending; ++m) sums[m][a][v] = sums[m + 1][a][v] + box[a][v];
        sums[pending - 1][a][v] = box[a][v];
      }
    }
    if (complete) {
#pragma unroll 1
      for (int c0 = 0; c0 < image.channels_out; c0 += FAN) {
        if (INPUT == Input::late || c0 > 0) load_fan<INSIDE>(fan, image, place, c0, first);
        store_fan<INSIDE>(fan, image, place, c0, first, sum);
      }
    }
    if constexpr (staged) {
      // The other tile was last read before this row's barrier.
      tile_at = tile_elements - tile_at;
      if (y + 1 < end_y) {
        if constexpr (AHEAD > 0) {
          store_ahead(tiles + tile_at, ahead, image, thread, y + 1, block_d, tile_j, tile_other_j);
        } else {
          fill(tiles + tile_at, image, thread, y + 1, block_d, tile_j, tile_other_j);
        }
      }
    }
  }
}

// Launched with blocks of BLOCK_X x BLOCK_D x BLOCK_J over the second column, the diagonals and the first
// column. The grid's x goes over the tiles of both columns, the strips of MARCH rows and the batch; its y
// goes over the diagonals that a strip meets.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv_covariance_factored)(InOutPointer<T> input, InputPointer<T> gamma, InputPointer<T> mu,
                                    InputPointer<T> c, int channels_out, int height, int width, int strips) {
  DYNAMIC_SHARED(Real, memory);
  const int thread = (threadIdx.z * BLOCK_D + threadIdx.y) * BLOCK_X + threadIdx.x;
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
  image.mu = MeanOf<mu_staged>::either(mu_image, memory + 2 * tile_elements);
  if constexpr (mu_staged) {
    for (int n = thread; n < channels_in * image.plane; n += threads)
      memory[2 * tile_elements + n] = to_float(mu_image[n]);
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
  if (tile_j + tile_rows <= image.columns && tile_other_j + tile_columns <= image.columns) {
    march<true>(image, place, memory, thread, begin, end + mask_height - 1, d, block_d, tile_j, tile_other_j);
  } else {
    march<false>(image, place, memory, thread, begin, end + mask_height - 1, d, block_d, tile_j,
                 tile_other_j);
  }
}
