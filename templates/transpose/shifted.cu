// SPDX-License-Identifier: Apache-2.0
// transpose of tiles through shared memory, for rows that begin at any address. Elements of 1 and 2 bytes are
// read as words, each shifted together from two aligned words, and transposed in registers. Each row of the
// output is written in stretches that begin at multiples of WINDOW bytes in memory, so that two blocks never
// write the same window. A tile's stretch of a row begins up to WINDOW bytes before the tile; for this, the
// tile holds a few more rows of the input. The kernel depends only on the size of an element.

#include "common/hinted_access.cuh"
#include "common/integer.cuh"
#include "common/overlap.inl"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"
#include "transpose/bytes.cuh"

constexpr int element_bytes = static_cast<int>(sizeof(T));
constexpr int lanes = larger(4 / element_bytes, 1);  // elements of a word
template <int BYTES>
struct WordOf {
  using Type = unsigned;
};
template <>
struct WordOf<8> {
  using Type = unsigned long long;
};
using Word = typename WordOf<element_bytes>::Type;
using Stored = Vector<Word, VECTOR_OUT / lanes>;

constexpr Hint load_hint = LOAD == Load::no_allocate ? Hint::no_allocate : Hint::none;
constexpr Hint store_hint = static_cast<Hint>(STORE);
constexpr int window = WINDOW / element_bytes;  // elements
#include "transpose/shifted_layout.inl"
constexpr ShiftedLayout layout = shifted_layout(TILE_X, TILE_Y, window, lanes);
constexpr int more_words = layout.more_words, row_words = layout.row_words, tile_words = layout.words;
constexpr int more = more_words * lanes;  // rows of the input above the tile
constexpr int threads = TILE_X * TILE_Y / (lanes * lanes * ROWS);
constexpr int words_x = TILE_X / lanes;
constexpr int vectors_y = TILE_Y / VECTOR_OUT;
constexpr int groups = threads / words_x;  // of `lanes` rows, which the block loads at once

__device__ __forceinline__ int place_of(int x, int word) {
  return x * row_words + (lanes == 1 ? 0 : x / lanes) + word;
}

// Loads the word of the elements at `from`; `columns` elements are left in the row. `within` tells that the
// two aligned words around them lie in the row.
__device__ __forceinline__ Word load_word(const T* from, int columns, bool within) {
  if constexpr (lanes == 1) {
    return load_hinted<load_hint>(reinterpret_cast<const Word*>(from));
  } else {
    if (within) {
      const unsigned skipped = static_cast<unsigned>(reinterpret_cast<size_t>(from)) % 4;
      const unsigned* aligned =
          reinterpret_cast<const unsigned*>(reinterpret_cast<const unsigned char*>(from) - skipped);
      return shift_bytes(aligned[0], aligned[1], skipped);
    }
    unsigned word = 0;
#pragma unroll
    for (int i = 0; i < lanes; ++i) {
      if (i < columns) word |= static_cast<unsigned>(from[i]) << 8 * element_bytes * i;
    }
    return word;
  }
}

// The matrix around a tile's corner: columns to its left and right, rows above it (negative) and below.
struct Around {
  int left, columns, top, rows;
};

// Loads a word from each of `lanes` rows at (x, y) of the tile; `from` points to the first.
template <bool INSIDE>
__device__ __forceinline__ void load_words(Word (&loaded)[lanes], const T* from, long long pitch, int x,
                                           int y, const Around& around) {
  const bool within = (x + around.left) * element_bytes >= 3 && (around.columns - x) * element_bytes >= 8;
#pragma unroll
  for (int r = 0; r < lanes; ++r) {
    loaded[r] = 0;
    if (INSIDE || (x < around.columns && y + r >= around.top && y + r < around.rows))
      loaded[r] = load_word(from, around.columns - x, within);
    from += pitch;
  }
}

__device__ __forceinline__ void put_words(Word* tile, const Word (&loaded)[lanes], int x, int word) {
  Word turned[lanes];
  turn_words(loaded, turned);
#pragma unroll
  for (int i = 0; i < lanes; ++i) tile[place_of(x + i, word)] = turned[i];
}

// Loads a tile; `input` points to its corner.
template <bool INSIDE>
__device__ __forceinline__ void load_tile(Word* tile, const T* input, long long pitch, const Around& around,
                                          bool aligned) {
  // A thread stays in its column, so that one pointer goes from row to row.
  const int x = threadIdx.x % words_x * lanes;
  const int group = threadIdx.x / words_x;
  const T* from = input + group * lanes * pitch + x;
  Word loaded[ROWS][lanes];
#pragma unroll
  for (int n = 0; n < ROWS; ++n) {
    load_words<INSIDE>(loaded[n], from, pitch, x, (group + n * groups) * lanes, around);
    from += groups * lanes * pitch;
  }
  constexpr int rounds = ceil_divide(more_words, groups);
  Word before[rounds][lanes];
  const auto load_before = [&] {
    const T* first = input + (group * lanes - more) * pitch + x;
#pragma unroll
    for (int n = 0; n < rounds; ++n) {
      if (group + n * groups < more_words)
        load_words<INSIDE>(before[n], first, pitch, x, (group + n * groups) * lanes - more, around);
      first += groups * lanes * pitch;
    }
  };
  // These loads run together with the others if this takes few registers.
  if (lanes == 1 && !aligned) load_before();
#pragma unroll
  for (int n = 0; n < ROWS; ++n) put_words(tile, loaded[n], x, group + n * groups + more_words);
  if (lanes > 1 && !aligned) load_before();
  if (!aligned) {
#pragma unroll
    for (int n = 0; n < rounds; ++n) {
      if (group + n * groups < more_words) put_words(tile, before[n], x, group + n * groups);
    }
  }
}

// Stores a tile. `output` points to its corner; rows of the output are columns of the input.
template <bool INSIDE>
__device__ __forceinline__ void store_tile(const Word* tile, T* output, long long pitch,
                                           const Around& around) {
  constexpr int words = VECTOR_OUT / lanes;
#pragma unroll
  for (int n = 0; n < TILE_X * vectors_y / threads; ++n) {
    const int at = threadIdx.x + n * threads;
    const int x = at / vectors_y;
    if (!INSIDE && x >= around.columns) continue;
    T* corner = output + x * pitch;
    const int back = static_cast<unsigned>(reinterpret_cast<size_t>(corner)) / element_bytes % window;
    const int y = at % vectors_y * VECTOR_OUT - back;
    const Word* from = tile + place_of(x, (y + more) / lanes);
    Stored vector;
#pragma unroll
    for (int i = 0; i < words; ++i) vector.element[i] = from[i];
    if constexpr (lanes > 1) {
      const unsigned skipped = (y + more) % lanes * element_bytes;
      const Word next = from[words];
#pragma unroll
      for (int i = 0; i < words; ++i) {
        vector.element[i] =
            shift_bytes(vector.element[i], i + 1 < words ? vector.element[i + 1] : next, skipped);
      }
    }
    T* to = corner + y;
    if (INSIDE || (y >= around.top && y + VECTOR_OUT <= around.rows)) {
      store_hinted<store_hint>(reinterpret_cast<Stored*>(to), vector);
    } else {
#pragma unroll
      for (int i = 0; i < VECTOR_OUT; ++i) {
        if (y + i >= around.top && y + i < around.rows)
          to[i] = static_cast<T>(vector.element[i / lanes] >> i % lanes * 8 * element_bytes);
      }
    }
  }
}

// Launched with one block per tile in x and one per matrix of the batch in y and z.
extern "C" __global__ void __launch_bounds__(threads, RESIDENT_WARPS * 32 / threads)
    ENTRY(transpose_shifted)(InputPointer<T> input, T* __restrict__ output, long long batch, long long height,
                             long long width, long long input_pitch, long long output_pitch, int tiles_x,
                             int tiles_y) {
  __shared__ Word tile[tile_words];
  start();
  const long long b = static_cast<long long>(blockIdx.z) * gridDim.y + blockIdx.y;
  if (b >= batch) return;
  const unsigned block = blockIdx.x;
  unsigned tile_x, tile_y;
  if constexpr (BLOCK_ORDER == BlockOrder::row) {
    tile_x = block % tiles_x;
    tile_y = block / tiles_x;
  } else if constexpr (BLOCK_ORDER == BlockOrder::column) {
    tile_x = block / tiles_y;
    tile_y = block % tiles_y;
  } else {  // bands of 8 rows of tiles, each walked column by column
    const unsigned band = block / (8u * tiles_x) * 8;
    const unsigned high = min(tiles_y - band, 8u);
    tile_x = (block - band * tiles_x) / high;
    tile_y = band + (block - band * tiles_x) % high;
  }
  const long long x = static_cast<long long>(tile_x) * TILE_X, y = static_cast<long long>(tile_y) * TILE_Y;
  Around around;
  around.left = static_cast<int>(min(x, 3ll));
  around.columns = static_cast<int>(min(width - x, TILE_X + 8ll));
  around.top = -static_cast<int>(min(y, static_cast<long long>(more)));
  around.rows = static_cast<int>(min(height - y, static_cast<long long>(TILE_Y)));
  // If all rows of the output begin at a multiple of WINDOW, no stretch begins before its tile.
  const bool aligned = (reinterpret_cast<size_t>(output) | output_pitch * element_bytes) % WINDOW == 0;
  const T* from = input + (b * height + y) * input_pitch + x;
  T* to = output + (b * width + x) * output_pitch + y;
  if (around.columns >= TILE_X && around.top == -more && around.rows == TILE_Y) {
    load_tile<true>(tile, from, input_pitch, around, aligned);
    __syncthreads();
    store_tile<true>(tile, to, output_pitch, around);
  } else {
    load_tile<false>(tile, from, input_pitch, around, aligned);
    __syncthreads();
    store_tile<false>(tile, to, output_pitch, around);
  }
}
