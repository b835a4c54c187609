// SPDX-License-Identifier: Apache-2.0
// conv2d for a mask of any size and direction and for every boundary, size and origin. These are arguments,
// so that one binary serves every mask; only the image's element type is compiled in. A thread holds a tile
// of OUT_X x OUT_Y outputs in registers, and a ring of image rows under it: each mask row needs one more
// image row, which replaces the one that is done.
//
// Samples come from global memory or from a tile in shared memory, where they have the type of the sums. In
// the latter case the mask is processed in parts that fit there too, and SPLIT groups of threads share the
// rows of a part; their sums are added at the end in a fixed order. The mask's columns are processed 1 to
// CHUNK at a time. Each of these numbers has code of its own, so that no sample is multiplied by a zero next
// to the mask; this would be wrong for infinity.

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

constexpr int group_threads = BLOCK_X * BLOCK_Y;
constexpr int threads = group_threads * SPLIT;
constexpr int tile_width = BLOCK_X * OUT_X;  // outputs of a block
constexpr int tile_height = BLOCK_Y * OUT_Y;
constexpr int lanes = 16 / static_cast<int>(sizeof(Sum));  // elements of a 16-byte access to shared memory
constexpr int step = smaller(OUT_X, lanes);                // samples of one read of a row
constexpr bool staged = SAMPLES_IN == SamplesIn::shared;
constexpr int ring_rows = OUT_Y + AHEAD;
constexpr int round_rows = ring_rows * UNROLL;  // mask rows of one round of the loop

// Scalars that a thread stores one by one lie OUT_X apart from its neighbour's. They pass through shared
// memory, so that neighbouring threads store neighbouring outputs.
constexpr bool regrouped = staged && VECTOR == 1 && OUT_X > 1;

static_assert(OUT_X % VECTOR == 0, "a row of outputs is stored in whole vectors");
static_assert(staged || SPLIT == 1, "groups meet in shared memory");
static_assert(!staged || AHEAD == 0, "a tile ends with the last row that is needed");
static_assert(CHUNK % lanes == 0 && CHUNK % step == 0, "columns begin at whole vectors");

#include "conv2d/sliding_layout.inl"

template <bool STAGED>
struct SampleOf {
  using type = Sum;
};
template <>
struct SampleOf<false> {
  using type = T;
};
using Sample = typename SampleOf<staged>::type;

// A part of the mask, or all of it, and the samples under it, from those of this thread's first output on.
// They are in shared memory, or in global memory at row y and column x of an image of the given size.
struct Part {
  const Sample* samples;
  const Sum* weights;
  int pitch, weights_pitch;
  int rows, columns;
  int along;  // the mask: 1 or, backwards, -1
  int y, x, image_rows, image_columns;
};

// The samples of one row under OUT_X outputs and TAPS columns.
template <int TAPS>
struct Row {
  static constexpr int count = staged ? round_up(OUT_X + TAPS - 1, step) : OUT_X + TAPS - 1;
  Sum sample[count];

  // Reads the samples. The first is at `from`, in row y and column x of the image.
  __device__ __forceinline__ void read(const Sample* from, const Part& part, unsigned y, unsigned x) {
    if constexpr (staged) {
#pragma unroll
      for (int c = 0; c < count; c += step) {
        const Vector<Sum, step> vector = load_vector<step>(from + c);
#pragma unroll
        for (int e = 0; e < step; ++e) sample[c + e] = vector.element[e];
      }
    } else {
      const bool inside = y < static_cast<unsigned>(part.image_rows);
#pragma unroll
      for (int c = 0; c < count; ++c)
        sample[c] = inside && x + c < static_cast<unsigned>(part.image_columns) ? widened(from[c]) : Sum(0);
    }
  }
};

// The addresses of the next rows of a ring and of the mask.
struct Place {
  const Sample* samples;
  const Sum* weights;
  unsigned y, x;
};

// Reads the ring's last image row and adds one mask row, `u` rows after the one at which the ring began.
template <int TAPS>
__device__ __forceinline__ void add_row(Sum (&sum)[OUT_Y][OUT_X], Row<TAPS> (&ring)[ring_rows],
                                        const Part& part, Place& place, int u) {
  Sum weight[round_up(TAPS, lanes)];
  if constexpr (staged) {
#pragma unroll
    for (int k = 0; k < TAPS; k += lanes) {
      const Vector<Sum, lanes> vector = load_vector<lanes>(place.weights + k);
#pragma unroll
      for (int e = 0; e < lanes; ++e) weight[k + e] = vector.element[e];
    }
  } else {
#pragma unroll
    for (int k = 0; k < TAPS; ++k) weight[k] = place.weights[part.along * k];
  }
  place.weights += part.weights_pitch;
  ring[(u + ring_rows - 1) % ring_rows].read(place.samples, part, place.y, place.x);
  place.samples += part.pitch;
  ++place.y;
#pragma unroll
  for (int k = 0; k < TAPS; ++k) {
#pragma unroll
    for (int o = 0; o < OUT_Y; ++o) {
#pragma unroll
      for (int x = 0; x < OUT_X; ++x) sum[o][x] += weight[k] * ring[(u + o) % ring_rows].sample[x + k];
    }
  }
}

template <int TAPS>
__device__ __forceinline__ void add_columns(Sum (&sum)[OUT_Y][OUT_X], const Part& part, int column) {
  Place place = {part.samples + column, part.weights + part.along * column, static_cast<unsigned>(part.y),
                 static_cast<unsigned>(part.x + column)};
  Row<TAPS> ring[ring_rows];
#pragma unroll
  for (int r = 0; r < ring_rows - 1; ++r) {
    ring[r].read(place.samples, part, place.y, place.x);
    place.samples += part.pitch;
    ++place.y;
  }
  int left = part.rows;
#pragma unroll 1
  for (; left >= round_rows; left -= round_rows) {
#pragma unroll
    for (int u = 0; u < round_rows; ++u) add_row<TAPS>(sum, ring, part, place, u);
  }
#pragma unroll
  for (int u = 0; u < round_rows - 1; ++u) {
    if (u >= left) return;
    add_row<TAPS>(sum, ring, part, place, u);
  }
}

template <int TAPS>
__device__ __forceinline__ void add_columns_of(int taps, Sum (&sum)[OUT_Y][OUT_X], const Part& part,
                                               int column) {
  if (taps == TAPS) {
    add_columns<TAPS>(sum, part, column);
  } else if constexpr (TAPS > 1) {
    add_columns_of<TAPS - 1>(taps, sum, part, column);
  }
}

__device__ __forceinline__ void add_part(Sum (&sum)[OUT_Y][OUT_X], const Part& part) {
  if (part.rows <= 0) return;
#pragma unroll 1
  for (int column = 0; column < part.columns;) {
    const int left = part.columns - column;
    // If one to three columns more than CHUNK are left, they are processed together with the last four of
    // CHUNK, because few columns reuse little.
    const int taps = left <= CHUNK ? left : CHUNK > 4 && left < CHUNK + 4 ? CHUNK - 4 : CHUNK;
    add_columns_of<CHUNK>(taps, sum, part, column);
    column += taps;
  }
}

// Copies one element to shared memory, or begins to copy it.
__device__ __forceinline__ void copy(Sum* to, const Sum* from) { copy_async<1>(to, from, true); }
template <typename Other>
__device__ __forceinline__ void copy(Sum* to, const Other* from) {
  *to = widened(*from);
}

// Begins to copy `columns` elements of each of `rows` rows to shared memory; a warp copies a row. Rows lie
// `stride` apart. ALONG is 1, or -1 for rows that are read backwards. There are at least FIXED columns.
template <int ALONG, int FIXED, typename Element>
__device__ __forceinline__ void stage(Sum* to, int pitch, int rows, int columns, const Element* from,
                                      int stride) {
  constexpr int width = smaller(threads, 32);
  constexpr int fixed = FIXED / width * width;
  const int thread = (threadIdx.z * BLOCK_Y + threadIdx.y) * BLOCK_X + threadIdx.x;
  const int lane = thread % width, first = thread / width;
  to += first * pitch + lane;
  from += static_cast<long long>(first) * stride + ALONG * lane;
  const long long from_step = static_cast<long long>(threads / width) * stride;
#pragma unroll 1
  for (int row = first; row < rows; row += threads / width) {
#pragma unroll
    for (int c = 0; c < fixed; c += width) copy(to + c, from + ALONG * c);
#pragma unroll 1
    for (int c = fixed; c < columns - lane; c += width) copy(to + c, from + ALONG * c);
    to += threads / width * pitch;
    from += from_step;
  }
}

// An image, and the value outside it for a constant boundary.
struct Image {
  const T* samples;
  int height, width, boundary;
  Sum outside;
};

// The same for a tile that reaches beyond the image's edge. Its first sample is in row y and column x.
__device__ __forceinline__ void stage_edge(Sum* to, int pitch, int rows, int columns, const Image& image,
                                           int y, int x) {
  constexpr int width = smaller(threads, 32);
  const int thread = (threadIdx.z * BLOCK_Y + threadIdx.y) * BLOCK_X + threadIdx.x;
  const int lane = thread % width;
#pragma unroll 1
  for (int row = thread / width; row < rows; row += threads / width) {
    const int from_y = sample_at(y + row, image.height, image.boundary);
    const T* from = image.samples + static_cast<long long>(larger(from_y, 0)) * image.width;
#pragma unroll 2
    for (int c = lane; c < columns; c += width) {
      const int from_x = sample_at(x + c, image.width, image.boundary);
      if (from_y < 0 || from_x < 0) {
        to[row * pitch + c] = image.outside;
      } else {
        copy(to + (row * pitch + c), from + from_x);
      }
    }
  }
}

// Writes a thread's outputs to shared memory.
__device__ __forceinline__ void write(Sum* to, int pitch, const Sum (&sum)[OUT_Y][OUT_X]) {
#pragma unroll
  for (int o = 0; o < OUT_Y; ++o) {
#pragma unroll
    for (int c = 0; c < OUT_X; c += step) {
      Vector<Sum, step> vector;
#pragma unroll
      for (int e = 0; e < step; ++e) vector.element[e] = sum[o][c + e];
      store_vector<step>(to + o * pitch + c, vector);
    }
  }
}

template <int N>
__device__ __forceinline__ void store(Sum* to, const Vector<Sum, N>& vector) {
  if constexpr (STORE == Store::streaming) {
    store_vector_streaming<N>(to, vector);
  } else {
    store_vector<N>(to, vector);
  }
}

// Stores the tile's outputs from shared memory; a warp stores a row. `rows` and `columns` of them exist.
__device__ __forceinline__ void store_rows(Sum* to, const Sum* sums, int stride, int rows, int columns) {
  constexpr int width = smaller(threads, 32);
  const int thread = (threadIdx.z * BLOCK_Y + threadIdx.y) * BLOCK_X + threadIdx.x;
#pragma unroll 4
  for (int row = thread / width; row < tile_height; row += threads / width) {
#pragma unroll
    for (int c = 0; c < tile_width; c += width) {
      const int column = c + thread % width;
      if (row < rows && column < columns && (tile_width % width == 0 || column < tile_width))
        store<1>(to + (static_cast<long long>(row) * stride + column), {{sums[row * tile_width + column]}});
    }
  }
}

// Stores a thread's outputs, of which `rows` and `columns` exist.
__device__ __forceinline__ void store_sums(Sum* to, int stride, int rows, int columns,
                                           const Sum (&sum)[OUT_Y][OUT_X]) {
#pragma unroll
  for (int o = 0; o < OUT_Y; ++o) {
    if (o >= rows) break;
#pragma unroll
    for (int c = 0; c < OUT_X; c += VECTOR) {
      if (c >= columns) break;
      Vector<Sum, VECTOR> vector;
#pragma unroll
      for (int e = 0; e < VECTOR; ++e) vector.element[e] = sum[o][c + e];
      store<VECTOR>(to + c, vector);
    }
    to += stride;
  }
}

// Launched with blocks of BLOCK_X x BLOCK_Y x SPLIT over tiles of columns and rows; a grid whose y or z would
// exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv2d_sliding)(InputPointer<T> image, InputPointer<Sum> mask, Sum* __restrict__ output, int batch,
                          int height, int width, int out_height, int out_width, int top, int left,
                          int mask_height, int mask_width, int convolve, int part_height, int part_width,
                          int boundary, double value) {
  DYNAMIC_SHARED(Sum, memory);  // a part of the mask, the tile; then the sums of groups
  start();
  // Everything below is a correlation. A convolution is a correlation with the mask rotated by 180 degrees.
  const bool one_part = part_height >= mask_height && part_width >= mask_width;
  const int group = threadIdx.z;

  Part part;
  part.along = 1;
  const SlidingLayout layout =
      sliding_layout({tile_width, tile_height, SPLIT, part_height, part_width, lanes});
  part.weights_pitch = layout.weights_pitch;
  part.pitch = layout.pitch;
  Sum* tile = memory + layout.tile_at;
  const int tile_x = blockIdx.x * tile_width;
  const int tiles_y = (out_height + tile_height - 1) / tile_height;
  bool first = true;
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    const Image one = {image + static_cast<long long>(b) * height * width, height, width, boundary,
                       static_cast<Sum>(value)};
    for (int t = blockIdx.y; t < tiles_y; t += gridDim.y) {
      const int tile_y = t * tile_height;
      Sum sum[OUT_Y][OUT_X] = {};
      if constexpr (!staged) {
        part.rows = mask_height;
        part.columns = mask_width;
        part.weights = mask + (convolve ? mask_height * mask_width - 1 : 0);
        part.along = convolve ? -1 : 1;
        part.weights_pitch = part.along * mask_width;
        part.y = tile_y + threadIdx.y * OUT_Y - top;
        part.x = tile_x + threadIdx.x * OUT_X - left;
        part.samples = reinterpret_cast<const Sample*>(
            one.samples + (static_cast<long long>(part.y) * width + part.x));  // of the same type here
        part.pitch = width;
        part.image_rows = smaller(height, part.y + OUT_Y - 1 + mask_height);
        part.image_columns = width;
        add_part(sum, part);
      }
#pragma unroll 1
      for (int i = 0; staged && i < mask_height; i += part_height) {
        const int rows = smaller(part_height, mask_height - i);
        const int share = (rows + SPLIT - 1) / SPLIT;  // of a group
#pragma unroll 1
        for (int j = 0; j < mask_width; j += part_width) {
          const int columns = smaller(part_width, mask_width - j);
          if (!first) __syncthreads();  // what is in shared memory is still being read
          if (first || !one_part) {
            const int n = i * mask_width + j, last = mask_height * mask_width - 1;
            if (convolve) {
              stage<-1, 0>(memory, part.weights_pitch, rows, columns, mask + (last - n), -mask_width);
            } else {
              stage<1, 0>(memory, part.weights_pitch, rows, columns, mask + n, mask_width);
            }
          }
          first = false;
          const int x = tile_x - left + j, y = tile_y - top + i;
          const int staged_rows = tile_height + rows - 1, staged_columns = tile_width + columns - 1;
          if (x >= 0 && y >= 0 && staged_columns <= width - x && staged_rows <= height - y) {
            stage<1, tile_width>(tile, part.pitch, staged_rows, staged_columns,
                                 one.samples + (static_cast<long long>(y) * width + x), width);
          } else {
            stage_edge(tile, part.pitch, staged_rows, staged_columns, one, y, x);
          }
          wait_for_copies();
          __syncthreads();
          part.samples = tile + (threadIdx.y * OUT_Y + group * share) * part.pitch + threadIdx.x * OUT_X;
          part.weights = memory + group * share * part.weights_pitch;
          part.rows = smaller(share, rows - group * share);
          part.columns = columns;
          add_part(sum, part);
        }
      }

      if constexpr (SPLIT > 1) {
        __syncthreads();  // the tile is no longer needed
        Sum* sums = tile + threadIdx.y * BLOCK_X + threadIdx.x;
        if (group > 0) {
#pragma unroll
          for (int n = 0; n < OUT_Y * OUT_X; ++n)
            sums[((group - 1) * OUT_Y * OUT_X + n) * group_threads] = sum[n / OUT_X][n % OUT_X];
        }
        __syncthreads();
        if (group == 0) {
#pragma unroll
          for (int g = 0; g < SPLIT - 1; ++g) {
#pragma unroll
            for (int n = 0; n < OUT_Y * OUT_X; ++n)
              sum[n / OUT_X][n % OUT_X] += sums[(g * OUT_Y * OUT_X + n) * group_threads];
          }
        }
      }
      Sum* to = output + (static_cast<long long>(b) * out_height + tile_y) * out_width + tile_x;
      if constexpr (regrouped) {
        __syncthreads();  // the tile, or the groups' sums, are no longer needed
        if (group == 0) write(tile + threadIdx.y * OUT_Y * tile_width + threadIdx.x * OUT_X, tile_width, sum);
        __syncthreads();
        store_rows(to, tile, out_width, out_height - tile_y, out_width - tile_x);
      } else if (group == 0) {
        const int x = threadIdx.x * OUT_X, y = threadIdx.y * OUT_Y;
        store_sums(to + (static_cast<long long>(y) * out_width + x), out_width, out_height - tile_y - y,
                   out_width - tile_x - x, sum);
      }
    }
  }
}
