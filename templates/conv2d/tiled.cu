// SPDX-License-Identifier: Apache-2.0
// conv2d with a tile of OUT_X x OUT_Y outputs per thread, held in registers while a window of the image
// slides over them. The element type, the mode and the mask's size are compiled in; the image's size is not.

#include "common/async_copy.cuh"
#include "common/integer.cuh"
#include "common/overlap.inl"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"

// Everything below is a correlation. A convolution is a correlation with the mask rotated by 180 degrees; the
// centre of the mask lies one further on if a side is even.
constexpr bool turned = mode == Mode::convolution;
constexpr int left = turned ? mask_width - 1 - mask_width / 2 : mask_width / 2;
constexpr int top = turned ? mask_height - 1 - mask_height / 2 : mask_height / 2;

constexpr bool staged = SMEM_LAYOUT != SmemLayout::none;  // the image passes through shared memory
constexpr bool mask_staged = MASK_IN == MaskIn::shared;
constexpr int threads = BLOCK_X * BLOCK_Y;
constexpr int tile_width = BLOCK_X * OUT_X;  // outputs of a block
constexpr int tile_height = BLOCK_Y * OUT_Y;
constexpr int thread_rows = OUT_Y + mask_height - 1;     // image rows that a thread's outputs need
constexpr int lanes = 16 / static_cast<int>(sizeof(T));  // elements of a 16-byte access

// A mask row wider than this is processed in segments, so that the window fits in registers.
constexpr int widest_segment = sizeof(T) == 8 ? 16 : 32;
constexpr int segment = mask_width <= widest_segment ? mask_width : 16;
constexpr bool one_segment = segment == mask_width;

static_assert(OUT_X % VECTOR == 0, "a row of outputs is stored in whole vectors");

// ---- the image in shared memory

#include "conv2d/tiled_layout.inl"
constexpr TiledLayout layout =
    tiled_layout({tile_width, tile_height, OUT_X, mask_height, mask_width, left, VECTOR, lanes, mask_staged,
                  staged, SMEM_LAYOUT == SmemLayout::padded});
constexpr int before = layout.before, staged_rows = layout.rows, staged_vectors = layout.vectors,
              pitch = layout.pitch, mask_pitch = layout.mask_pitch, mask_elements = layout.mask_elements,
              shared_elements = layout.elements;
constexpr int part = smaller(VECTOR, lanes);  // elements that one store can take
constexpr bool skewed = layout.skewed;
__device__ __forceinline__ constexpr int place_of(int position) {
  return skewed ? position + position / (8 * lanes) * lanes : position;
}
constexpr bool in_static = SMEM_ALLOC == SmemAlloc::static_;

// ---- the mask

// A separate step fills this before the kernel runs. It has one element if it is not used.
__constant__ T ENTRY(mask_copy)[MASK_IN == MaskIn::constant ? mask_height * mask_width : 1];

// A small mask is read once into registers, where every index is known at compile time.
constexpr bool held = MASK_IN == MaskIn::global && UNROLL == 0 && LOOP_ORDER == LoopOrder::image &&
                      one_segment && mask_height * mask_width * static_cast<int>(sizeof(T)) <= 256;

__device__ __forceinline__ constexpr int mask_index(int i, int j) {
  return turned ? (mask_height - 1 - i) * mask_width + mask_width - 1 - j : i * mask_width + j;
}

struct Weights {
  const T* source;
  T all[held ? mask_height * mask_width : 1];
};

template <int TAPS>
__device__ __forceinline__ void read_weights(T (&row)[round_up(TAPS, lanes)], const Weights& weights, int i,
                                             int j) {
  if constexpr (mask_staged) {
    const T* from = weights.source + i * mask_pitch + j;
#pragma unroll
    for (int k = 0; k < TAPS; k += lanes) {
      const Vector<T, lanes> vector = load_vector<lanes>(from + k);
#pragma unroll
      for (int e = 0; e < lanes; ++e) row[k + e] = vector.element[e];
    }
  } else {
#pragma unroll
    for (int k = 0; k < TAPS; ++k) {
      if constexpr (held) {
        row[k] = weights.all[mask_index(i, k)];
      } else if constexpr (MASK_IN == MaskIn::constant) {
        row[k] = ENTRY(mask_copy)[mask_index(i, j + k)];
      } else {
        row[k] = weights.source[mask_index(i, j + k)];
      }
    }
  }
}

// ---- a thread's window

struct Place {
  const T* samples;  // the first sample that the thread needs, in global or shared memory
  T* outputs;
  int column, row;  // of that first sample
  int x, y;         // of the thread's first output
  int height, width;
  int position;  // of the first sample in its shared row
};

// The samples in [first, last) of one image row, which lie under OUT_X outputs and TAPS columns of the mask.
template <int TAPS>
struct Window {
  static constexpr int step = staged ? alignment_of(OUT_X, lanes) : VECTOR;
  static constexpr int first = before - left;
  static constexpr int last = first + OUT_X + TAPS - 1;
  T sample[round_up(last, step)];
};

// Defines read_part<step>(...). The step is that of a Window.
template <int step>
#include "common/read_part.inl"

template <int TAPS, bool INSIDE>
__device__ __forceinline__ void read_window(Window<TAPS>& window, const Place& place, int r, int j) {
  constexpr int step = Window<TAPS>::step;
  const T* row = place.samples + (staged ? r * pitch : static_cast<long long>(r) * place.width + j);
  const bool row_inside =
      INSIDE || static_cast<unsigned>(place.row + r) < static_cast<unsigned>(place.height);
#pragma unroll
  for (int c = Window<TAPS>::first / step * step; c < Window<TAPS>::last; c += step) {
    const int from = larger(Window<TAPS>::first - c, 0);
    const int to = smaller(Window<TAPS>::last - c, step);
    if constexpr (staged) {
      read_part<step>(window.sample + c, row + place_of(place.position + j + c), from, to);
    } else if (INSIDE || (row_inside &&
                          static_cast<unsigned>(place.column + j + c) < static_cast<unsigned>(place.width))) {
      // The width is a multiple of VECTOR, so a vector is wholly inside or wholly outside.
      read_part<step>(window.sample + c, row + c, from, to);
    } else {
#pragma unroll
      for (int e = 0; e < step; ++e) window.sample[c + e] = 0;
    }
  }
}

template <int TAPS>
__device__ __forceinline__ void multiply_add(T (&sum)[OUT_X], const T (&weights)[round_up(TAPS, lanes)],
                                             const Window<TAPS>& window) {
#pragma unroll
  for (int k = 0; k < TAPS; ++k) {
#pragma unroll
    for (int i = 0; i < OUT_X; ++i) sum[i] += weights[k] * window.sample[Window<TAPS>::first + i + k];
  }
}

template <bool INSIDE>
__device__ __forceinline__ void store_row(const T (&sum)[OUT_X], const Place& place, int o) {
  if (!INSIDE && place.y + o >= place.height) return;
  T* row = place.outputs + static_cast<long long>(o) * place.width;
#pragma unroll
  for (int c = 0; c < OUT_X; c += VECTOR) {
    if (INSIDE || place.x + c < place.width) {
      Vector<T, VECTOR> vector;
#pragma unroll
      for (int e = 0; e < VECTOR; ++e) vector.element[e] = sum[c + e];
      if constexpr (STORE == Store::streaming) {
        store_vector_streaming<VECTOR>(row + c, vector);
      } else {
        store_vector<VECTOR>(row + c, vector);
      }
    }
  }
}

// Adds image row r to every output row that it touches.
template <int TAPS>
__device__ __forceinline__ void add_row(T (&sum)[OUT_Y][OUT_X], const Window<TAPS>& window,
                                        const Weights& weights, int r, int j) {
#pragma unroll
  for (int o = 0; o < OUT_Y; ++o) {
    if (r - o < 0 || r - o >= mask_height) continue;
    T row[round_up(TAPS, lanes)];
    read_weights<TAPS>(row, weights, r - o, j);
    multiply_add<TAPS>(sum[o], row, window);
  }
}

// Adds the part of the mask that lies in the columns [j, j + TAPS).
template <int TAPS, bool INSIDE>
__device__ __forceinline__ void accumulate(T (&sum)[OUT_Y][OUT_X], const Place& place, const Weights& weights,
                                           int j) {
  if constexpr (LOOP_ORDER == LoopOrder::mask) {
    // The outer loop runs over mask rows: a row of weights is read once, and image rows are read again for
    // each mask row.
#pragma unroll(UNROLL == 0 ? mask_height : UNROLL)
    for (int i = 0; i < mask_height; ++i) {
      T row[round_up(TAPS, lanes)];
      read_weights<TAPS>(row, weights, i, j);
#pragma unroll
      for (int o = 0; o < OUT_Y; ++o) {
        Window<TAPS> window;
        read_window<TAPS, INSIDE>(window, place, o + i, j);
        multiply_add<TAPS>(sum[o], row, window);
      }
    }
  } else if constexpr (UNROLL == 0) {
    // The outer loop runs over image rows and is unrolled: each is read once, AHEAD rows before it is used,
    // and an output row is stored as soon as it is complete. Loads that do not use the read-only path cannot
    // move before earlier stores; for these kernels, an output row is stored one image row later.
    constexpr int later = overlapped ? 1 : 0;
    Window<TAPS> windows[AHEAD + 1];
#pragma unroll
    for (int r = 0; r < smaller(AHEAD, thread_rows); ++r) read_window<TAPS, INSIDE>(windows[r], place, r, j);
#pragma unroll
    for (int r = 0; r < thread_rows; ++r) {
      if (r + AHEAD < thread_rows) {
        read_window<TAPS, INSIDE>(windows[(r + AHEAD) % (AHEAD + 1)], place, r + AHEAD, j);
      }
      add_row<TAPS>(sum, windows[r % (AHEAD + 1)], weights, r, j);
      const int complete = r - later - mask_height + 1;
      if (one_segment && complete >= 0) store_row<INSIDE>(sum[complete], place, complete);
    }
    if constexpr (one_segment && later > 0) store_row<INSIDE>(sum[OUT_Y - 1], place, OUT_Y - 1);
  } else {
    // The outer loop runs over image rows and is not unrolled: rows that touch all OUT_Y output rows need no
    // test. The few rows before and after them are unrolled if this makes little code (in multiply-adds);
    // otherwise each is tested.
    constexpr bool short_ends = OUT_Y * (OUT_Y - 1) * TAPS * OUT_X <= 3072;
    constexpr int full_begin = mask_height >= OUT_Y ? OUT_Y - 1 : thread_rows;
    constexpr int full_end = mask_height >= OUT_Y ? mask_height : thread_rows;
#pragma unroll(short_ends ? full_begin : 1)
    for (int r = 0; r < full_begin; ++r) {
      Window<TAPS> window;
      read_window<TAPS, INSIDE>(window, place, r, j);
      add_row<TAPS>(sum, window, weights, r, j);
    }
#pragma unroll(UNROLL)
    for (int r = full_begin; r < full_end; ++r) {
      Window<TAPS> window;
      read_window<TAPS, INSIDE>(window, place, r, j);
#pragma unroll
      for (int o = 0; o < OUT_Y; ++o) {
        T row[round_up(TAPS, lanes)];
        read_weights<TAPS>(row, weights, r - o, j);
        multiply_add<TAPS>(sum[o], row, window);
      }
    }
#pragma unroll(short_ends ? larger(thread_rows - full_end, 1) : 1)
    for (int r = full_end; r < thread_rows; ++r) {
      Window<TAPS> window;
      read_window<TAPS, INSIDE>(window, place, r, j);
      add_row<TAPS>(sum, window, weights, r, j);
    }
  }
}

// Computes all outputs of a thread.
template <bool INSIDE>
__device__ __forceinline__ void compute(const Place& place, const Weights& weights) {
  T sum[OUT_Y][OUT_X];
#pragma unroll
  for (int o = 0; o < OUT_Y; ++o) {
#pragma unroll
    for (int i = 0; i < OUT_X; ++i) sum[o][i] = 0;
  }
  if constexpr (one_segment) {
    accumulate<mask_width, INSIDE>(sum, place, weights, 0);
  } else {
#pragma unroll 1
    for (int j = 0; j + segment <= mask_width; j += segment)
      accumulate<segment, INSIDE>(sum, place, weights, j);
    if constexpr (mask_width % segment != 0) {
      accumulate<mask_width % segment, INSIDE>(sum, place, weights, mask_width - mask_width % segment);
    }
  }
  if constexpr (!(one_segment && UNROLL == 0 && LOOP_ORDER == LoopOrder::image)) {
#pragma unroll
    for (int o = 0; o < OUT_Y; ++o) store_row<INSIDE>(sum[o], place, o);
  }
}

// ---- filling shared memory

__device__ __forceinline__ void stage_mask(T* to, const T* mask) {
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
#pragma unroll(smaller(ceil_divide(mask_height* mask_width, threads), 8))
  for (int n = thread; n < mask_height * mask_width; n += threads) {
    const int i = n / mask_width, j = n % mask_width;
    if constexpr (COPY == Copy::async) {
      copy_async<1>(to + i * mask_pitch + j, mask + mask_index(i, j), true);
    } else {
      to[i * mask_pitch + j] = mask[mask_index(i, j)];
    }
  }
}

// `image` is the first sample of the batch's image; the tile's first output is at (x, y). INSIDE tells that
// all samples of the tile are inside the image. A thread steps through the tile's vectors without a division;
// the bytes of a row fit in 32 bits.
template <bool INSIDE>
__device__ __forceinline__ void stage_image(T* to, const T* image, int x, int y, int height, int width) {
  constexpr int vectors = staged_rows * staged_vectors;
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
  const T* corner = image + static_cast<long long>(y - top) * width + (x - before);
  const unsigned row_bytes = width * static_cast<unsigned>(sizeof(T));
  int r = thread / staged_vectors, c = thread % staged_vectors;
#pragma unroll(smaller(ceil_divide(vectors, threads), 8))
  for (int n = thread; n < vectors; n += threads) {
    const T* from =
        reinterpret_cast<const T*>(reinterpret_cast<const char*>(corner) +
                                   static_cast<unsigned long long>(static_cast<unsigned>(r)) * row_bytes) +
        c * VECTOR;
    const bool inside =
        INSIDE || (static_cast<unsigned>(y - top + r) < static_cast<unsigned>(height) &&
                   static_cast<unsigned>(x - before + c * VECTOR) < static_cast<unsigned>(width));
    T* row = to + r * pitch;
    if constexpr (COPY == Copy::async) {
#pragma unroll
      for (int p = 0; p < VECTOR; p += part) {
        copy_async<part>(row + place_of(c * VECTOR + p), inside ? from + p : image, inside);
      }
    } else {
      Vector<T, VECTOR> vector;
#pragma unroll
      for (int e = 0; e < VECTOR; ++e) vector.element[e] = 0;
      if (inside) vector = load_vector<VECTOR>(from);
#pragma unroll
      for (int p = 0; p < VECTOR; p += part) {
        Vector<T, part> piece;
#pragma unroll
        for (int e = 0; e < part; ++e) piece.element[e] = vector.element[p + e];
        store_vector<part>(row + place_of(c * VECTOR + p), piece);
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

// Launched with blocks of BLOCK_X x BLOCK_Y over tiles of columns and rows; a grid whose y or z would
// exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv2d_tiled)(InputPointer<T> image, InputPointer<T> mask, T* __restrict__ output, int batch,
                        int height, int width) {
  __shared__ Vector<T, lanes> fixed_memory[in_static && shared_elements > 0 ? shared_elements / lanes : 1];
  DYNAMIC_SHARED(T, dynamic_memory);
  T* memory = in_static ? &fixed_memory[0].element[0] : dynamic_memory;
  T* tile = memory + mask_elements;

  start();
  Weights weights;
  weights.source = mask_staged ? memory : mask;
  if constexpr (mask_staged) stage_mask(memory, mask);
  if constexpr (held) {
#pragma unroll
    for (int i = 0; i < mask_height * mask_width; ++i) weights.all[i] = mask[i];
  }

  Place place;
  place.height = height;
  place.width = width;
  place.position = threadIdx.x * OUT_X;
  const int tile_x = blockIdx.x * tile_width;
  place.x = tile_x + threadIdx.x * OUT_X;
  const int tiles_y = (height + tile_height - 1) / tile_height;
  bool first = true;
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    for (int t = blockIdx.y; t < tiles_y; t += gridDim.y) {
      const int tile_y = t * tile_height;
      const bool inside = tile_x >= before && tile_y >= top &&
                          tile_x - before + staged_vectors * VECTOR <= width &&
                          tile_y - top + staged_rows <= height;
      const long long batch_base = static_cast<long long>(b) * height * width;
      place.y = tile_y + threadIdx.y * OUT_Y;
      place.column = place.x - before;
      place.row = place.y - top;
      place.outputs = output + batch_base + static_cast<long long>(place.y) * width + place.x;
      if constexpr (staged) {
        if (!first) __syncthreads();  // the tile before is still being read
        if (inside) {
          stage_image<true>(tile, image + batch_base, tile_x, tile_y, height, width);
        } else {
          stage_image<false>(tile, image + batch_base, tile_x, tile_y, height, width);
        }
        place.samples = tile + threadIdx.y * OUT_Y * pitch;
      } else {
        place.samples = image + batch_base + static_cast<long long>(place.row) * width + place.column;
      }
      if constexpr (staged || mask_staged) {
        if (staged || first) {
          if constexpr (COPY == Copy::async) wait_for_copies();
          __syncthreads();
        }
      }
      first = false;
      if constexpr (staged) {
        compute<false>(place, weights);
      } else if (inside) {
        compute<true>(place, weights);
      } else {
        compute<false>(place, weights);
      }
    }
  }
}
