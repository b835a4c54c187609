// SPDX-License-Identifier: Apache-2.0
// transpose of tiles through shared memory. A thread loads TURN vectors of VECTOR_IN elements, one below the
// other, transposes them in registers into VECTOR_IN cells of TURN elements of an output row, and puts the
// cells into shared memory. Then vectors of VECTOR_OUT elements are stored along the output's rows. The
// kernel depends only on the size of an element.

#include "common/hinted_access.cuh"
#include "common/integer.cuh"
#include "common/overlap.inl"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"
#include "transpose/bytes.cuh"

constexpr int element_bytes = static_cast<int>(sizeof(T));
constexpr int threads = TILE_X * TILE_Y / (VECTOR_IN * TURN * ROWS);
constexpr Hint load_hint = LOAD == Load::no_allocate ? Hint::no_allocate : Hint::none;
constexpr Hint store_hint = static_cast<Hint>(STORE);
constexpr int vectors_x = TILE_X / VECTOR_IN;   // loads per row of the input's tile
constexpr int vectors_y = TILE_Y / VECTOR_OUT;  // stores per row of the output's tile

// Neighbouring threads load the TURN rows of one VECTOR_OUT, then those of the next vector of the row, so
// that the cells of a warp fill whole banks.
constexpr int cells = VECTOR_OUT / TURN;

#include "transpose/tiled_layout.inl"
constexpr TiledLayout layout =
    tiled_layout(TILE_X, TILE_Y, VECTOR_IN, VECTOR_OUT, element_bytes, SMEM_LAYOUT == SmemLayout::padded);
constexpr int unit = layout.unit, pad = layout.pad, tile_elements = layout.elements;
// `swizzled` permutes the units of a row instead of padding, which costs no memory.
constexpr int permuted = smaller(TILE_Y / unit, larger(128 / (unit * element_bytes), 1));

__device__ __forceinline__ int place_of(int x, int y) {
  const int group = x / VECTOR_IN;
  if constexpr (SMEM_LAYOUT == SmemLayout::swizzled) y ^= group % permuted * unit;
  return x * TILE_Y + group * pad + y;
}

// N elements. Small ones are packed into words if they fill whole words, because an unpacked byte takes a
// register of its own.
constexpr int side = 4 / smaller(element_bytes, 4);  // elements of a word
template <int N, bool PACKED = (side > 1 && N >= side)>
struct Pack : Vector<T, N> {
  __device__ __forceinline__ T get(int i) const { return this->element[i]; }
  __device__ __forceinline__ void set(int i, T value) { this->element[i] = value; }
};
template <int N>
struct Pack<N, true> : Vector<unsigned, larger(N / side, 1)> {
  __device__ __forceinline__ T get(int i) const {
    return static_cast<T>(this->element[i / side] >> i % side * 8 * element_bytes);
  }
  // The word has to be zero before its elements are set.
  template <typename Element>
  __device__ __forceinline__ void set(int i, Element value) {
    this->element[i / side] |= static_cast<unsigned>(value) << i % side * 8 * element_bytes;
  }
};
using Loaded = Pack<VECTOR_IN>;
using Cell = Pack<TURN>;
using Stored = Pack<VECTOR_OUT>;

// The corner, in the tile, of the n-th group of rows of thread `threadIdx.x`.
struct Group {
  int x, y;
};
__device__ __forceinline__ Group group_of(int n) {
  const int at = threadIdx.x + n * threads;
  return {at / cells % vectors_x * VECTOR_IN, (at / (cells * vectors_x) * cells + at % cells) * TURN};
}

// Loads a tile. With INSIDE, the whole tile lies in the matrix and nothing is tested. A vector lies wholly
// inside or wholly outside it, because VECTOR_IN divides the width.
template <bool INSIDE>
__device__ __forceinline__ void load_tile(Loaded (&loaded)[ROWS][TURN], const T* input, long long pitch,
                                          int columns, int rows) {
#pragma unroll
  for (int n = 0; n < ROWS; ++n) {
    const Group at = group_of(n);
#pragma unroll
    for (int r = 0; r < TURN; ++r) {
      if (!INSIDE && (at.x >= columns || at.y + r >= rows)) {
        loaded[n][r] = {};
        continue;
      }
      const T* from = input + (at.y + r) * pitch + at.x;
      loaded[n][r] = load_hinted<load_hint>(reinterpret_cast<const Loaded*>(from));
    }
  }
}

// Turns rows of the input into rows of the output. It is a template so that the branch that is not taken need
// not compile.
template <typename In, typename Out>
__device__ __forceinline__ void turn(const In (&rows)[TURN], Out (&turned)[VECTOR_IN]) {
  if constexpr (side > 1 && TURN >= side && VECTOR_IN >= side) {
#pragma unroll
    for (int x = 0; x < VECTOR_IN / side; ++x) {
#pragma unroll
      for (int y = 0; y < TURN / side; ++y) {
        unsigned from[side], to[side];
#pragma unroll
        for (int i = 0; i < side; ++i) from[i] = rows[y * side + i].element[x];
        turn_words(from, to);
#pragma unroll
        for (int i = 0; i < side; ++i) turned[x * side + i].element[y] = to[i];
      }
    }
  } else {
#pragma unroll
    for (int x = 0; x < VECTOR_IN; ++x) {
      turned[x] = {};
#pragma unroll
      for (int r = 0; r < TURN; ++r) turned[x].set(r, rows[r].get(x));
    }
  }
}

__device__ __forceinline__ void put_tile(T* tile, const Loaded (&loaded)[ROWS][TURN]) {
#pragma unroll
  for (int n = 0; n < ROWS; ++n) {
    const Group at = group_of(n);
    Cell turned[VECTOR_IN];
    turn(loaded[n], turned);
#pragma unroll
    for (int x = 0; x < VECTOR_IN; ++x) *reinterpret_cast<Cell*>(tile + place_of(at.x + x, at.y)) = turned[x];
  }
}

template <bool INSIDE>
__device__ __forceinline__ void store_tile(const T* tile, T* output, long long pitch, int columns, int rows) {
#pragma unroll
  for (int n = 0; n < TILE_X * vectors_y / threads; ++n) {
    const int at = threadIdx.x + n * threads;
    const int x = at / vectors_y, y = at % vectors_y * VECTOR_OUT;
    if (!INSIDE && (x >= columns || y >= rows)) continue;
    const Stored vector = *reinterpret_cast<const Stored*>(tile + place_of(x, y));
    store_hinted<store_hint>(reinterpret_cast<Stored*>(output + x * pitch + y), vector);
  }
}

struct Corner {
  long long x, y;
};

__device__ __forceinline__ Corner corner_of(unsigned tile, unsigned tiles_x, unsigned tiles_y) {
  unsigned x, y;
  if constexpr (BLOCK_ORDER == BlockOrder::row) {
    x = tile % tiles_x;
    y = tile / tiles_x;
  } else if constexpr (BLOCK_ORDER == BlockOrder::column) {
    x = tile / tiles_y;
    y = tile % tiles_y;
  } else if constexpr (BLOCK_ORDER == BlockOrder::diagonal) {
    y = tile % tiles_y;
    x = (tile / tiles_y + y) % tiles_x;
  } else {  // bands of 8 rows of tiles, each walked column by column
    const unsigned band = tile / (8 * tiles_x) * 8;
    const unsigned high = min(tiles_y - band, 8u);
    const unsigned at = tile - band * tiles_x;
    x = at / high;
    y = band + at % high;
  }
  return {static_cast<long long>(x) * TILE_X, static_cast<long long>(y) * TILE_Y};
}

// Launched with one block per TILES tiles in x and one per matrix of the batch in y and z.
extern "C" __global__ void __launch_bounds__(threads, RESIDENT_WARPS * 32 / threads)
    ENTRY(transpose_tiled)(InputPointer<T> input, T* __restrict__ output, long long batch, long long height,
                           long long width, long long input_pitch, long long output_pitch, int tiles_x,
                           int tiles_y) {
  __shared__ __align__(16) T tile[tile_elements];
  start();
  const unsigned all = static_cast<unsigned>(tiles_x) * static_cast<unsigned>(tiles_y);
  const unsigned first = blockIdx.x * TILES;
  const long long b = static_cast<long long>(blockIdx.z) * gridDim.y + blockIdx.y;
  if (b >= batch) return;
  const T* from = input + b * height * input_pitch;
  T* to = output + b * width * output_pitch;
  Loaded loaded[ROWS][TURN];
  const auto load = [&](const Corner& corner) {
    const T* start = from + corner.y * input_pitch + corner.x;
    const int columns = static_cast<int>(min(width - corner.x, static_cast<long long>(TILE_X)));
    const int rows = static_cast<int>(min(height - corner.y, static_cast<long long>(TILE_Y)));
    if (columns == TILE_X && rows == TILE_Y) {
      load_tile<true>(loaded, start, input_pitch, columns, rows);
    } else {
      load_tile<false>(loaded, start, input_pitch, columns, rows);
    }
  };
  Corner corner = corner_of(first, tiles_x, tiles_y);
  load(corner);
#pragma unroll 1
  for (int n = 0; n < TILES; ++n) {
    if (n > 0) __syncthreads();  // the tile before has been read
    put_tile(tile, loaded);
    __syncthreads();
    const Corner here = corner;
    const bool last = n + 1 == TILES || first + n + 1 >= all;
    if (!last) {  // the next tile is loaded while this one is stored
      corner = corner_of(first + n + 1, tiles_x, tiles_y);
      load(corner);
    }
    T* start = to + here.x * output_pitch + here.y;
    const int columns = static_cast<int>(min(width - here.x, static_cast<long long>(TILE_X)));
    const int rows = static_cast<int>(min(height - here.y, static_cast<long long>(TILE_Y)));
    if (columns == TILE_X && rows == TILE_Y) {
      store_tile<true>(tile, start, output_pitch, columns, rows);
    } else {
      store_tile<false>(tile, start, output_pitch, columns, rows);
    }
    if (last) break;
  }
}
