// To be read: nothing is built from this text. It is the winner on NVIDIA H200 for
// batch=1 height=4096 width=4096 input_pitch=0 output_pitch=0 dtype=b32,
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// transpose/tiled for sm_90a, rendered by Tunesmith from templates/transpose/tiled.cu: change that and render again.
// compiled in: dtype=b32
// config: VECTOR_IN=4 VECTOR_OUT=4 TURN=4 TILE_X=64 TILE_Y=64 ROWS=1 TILES=1 SMEM_LAYOUT=swizzled BLOCK_ORDER=column LOAD=plain STORE=plain START=plain TRIGGER=none RESIDENT_WARPS=32

// ---- templates/common/hinted_access.cuh
// SPDX-License-Identifier: Apache-2.0
// Accesses to global memory that move 1 to 16 bytes by one instruction, with a hint about the caches. (An
// assignment of a struct may become a store for each element.) On the host, common/host/hinted_access.h
// replaces this file.

// none: no hint. streaming: the data is not read again, so it may leave the caches first. no_allocate: L1
// need not keep the data. half: one half of an array larger than the second-level cache may leave that cache
// first, so that the other half stays there for the next kernel.
enum class Hint { none, streaming, no_allocate, half };

// The type of unsigned integers as which a vector of BYTES bytes is moved.
template <int BYTES>
struct Moved;
template <>
struct Moved<1> {
  using Type = unsigned char;
};
template <>
struct Moved<2> {
  using Type = unsigned short;
};
template <>
struct Moved<4> {
  using Type = unsigned;
};
template <>
struct Moved<8> {
  using Type = uint2;
};
template <>
struct Moved<16> {
  using Type = uint4;
};

// V is a vector or an element of 1, 2, 4, 8 or 16 bytes and is aligned to its size.
template <typename V>
union AsMoved {
  typename Moved<sizeof(V)>::Type moved;
  V value;
};

// Loads data that a thread needs before anything else. The compiler does not move this load.
template <typename V>
__device__ __forceinline__ V load_now(const V* from) {
  AsMoved<V> both;
  if constexpr (sizeof(V) == 2) {
    asm volatile("ld.global.u16 %0, [%1];" : "=h"(both.moved) : "l"(from));
  } else if constexpr (sizeof(V) == 4) {
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(both.moved) : "l"(from));
  } else {
    static_assert(sizeof(V) == 8, "a number of 2, 4 or 8 bytes");
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(both.moved.x), "=r"(both.moved.y) : "l"(from));
  }
  return both.value;
}

#if __CUDA_ARCH__ >= 800
// The cache policy of Hint::half. The address decides to which half data belongs.
__device__ __forceinline__ unsigned long long half_policy() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_normal.L2::evict_first.b64 %0, 0.5;" : "=l"(policy));
  return policy;
}

template <typename V>
__device__ __forceinline__ V load_half(const V* from) {
  AsMoved<V> both;
  const unsigned long long policy = half_policy();
#define TUNESMITH_LOAD(type) "ld.global.L1::no_allocate.L2::cache_hint" type
  if constexpr (sizeof(V) == 1) {
    unsigned wide;
    asm volatile(TUNESMITH_LOAD(".u8 %0, [%1], %2;") : "=r"(wide) : "l"(from), "l"(policy));
    both.moved = static_cast<unsigned char>(wide);
  } else if constexpr (sizeof(V) == 2) {
    asm volatile(TUNESMITH_LOAD(".u16 %0, [%1], %2;") : "=h"(both.moved) : "l"(from), "l"(policy));
  } else if constexpr (sizeof(V) == 4) {
    asm volatile(TUNESMITH_LOAD(".u32 %0, [%1], %2;") : "=r"(both.moved) : "l"(from), "l"(policy));
  } else if constexpr (sizeof(V) == 8) {
    asm volatile(TUNESMITH_LOAD(".v2.u32 {%0, %1}, [%2], %3;")
                 : "=r"(both.moved.x), "=r"(both.moved.y)
                 : "l"(from), "l"(policy));
  } else {
    asm volatile(TUNESMITH_LOAD(".v4.u32 {%0, %1, %2, %3}, [%4], %5;")
                 : "=r"(both.moved.x), "=r"(both.moved.y), "=r"(both.moved.z), "=r"(both.moved.w)
                 : "l"(from), "l"(policy));
  }
#undef TUNESMITH_LOAD
  return both.value;
}
#endif

// Loads without a hint may be reordered; the others keep their order.
template <Hint HINT, typename V>
__device__ __forceinline__ V load_hinted(const V* from) {
  if constexpr (HINT == Hint::none) return *from;
#if __CUDA_ARCH__ >= 800
  if constexpr (HINT == Hint::half) return load_half(from);
#else
  if constexpr (HINT == Hint::half) return *from;
#endif
  AsMoved<V> both;
  if constexpr (HINT == Hint::streaming) {
    both.moved = __ldcs(reinterpret_cast<const typename Moved<sizeof(V)>::Type*>(from));
  } else if constexpr (sizeof(V) == 1) {
    unsigned wide;
    asm volatile("ld.global.L1::no_allocate.u8 %0, [%1];" : "=r"(wide) : "l"(from));
    both.moved = static_cast<unsigned char>(wide);
  } else if constexpr (sizeof(V) == 2) {
    asm volatile("ld.global.L1::no_allocate.u16 %0, [%1];" : "=h"(both.moved) : "l"(from));
  } else if constexpr (sizeof(V) == 4) {
    asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(both.moved) : "l"(from));
  } else if constexpr (sizeof(V) == 8) {
    asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
                 : "=r"(both.moved.x), "=r"(both.moved.y)
                 : "l"(from));
  } else {
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(both.moved.x), "=r"(both.moved.y), "=r"(both.moved.z), "=r"(both.moved.w)
                 : "l"(from));
  }
  return both.value;
}

// The kernel does not read the data that it stores, so loads may be moved across these stores.
template <Hint HINT, typename V>
__device__ __forceinline__ void store_hinted(V* to, const V& value) {
  static_assert(HINT == Hint::none || HINT == Hint::streaming, "a hint for stores");
  AsMoved<V> both;
  both.value = value;
  if constexpr (HINT == Hint::streaming) {
    __stcs(reinterpret_cast<typename Moved<sizeof(V)>::Type*>(to), both.moved);
  } else if constexpr (sizeof(V) == 8) {
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(both.moved.x), "r"(both.moved.y));
  } else if constexpr (sizeof(V) == 16) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(both.moved.x), "r"(both.moved.y),
                 "r"(both.moved.z), "r"(both.moved.w));
  } else {
    *reinterpret_cast<typename Moved<sizeof(V)>::Type*>(to) = both.moved;
  }
}

// ---- templates/common/integer.cuh
// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic on compile-time sizes.

__host__ __device__ constexpr int ceil_divide(int value, int divisor) {
  return (value + divisor - 1) / divisor;
}
__host__ __device__ constexpr int round_up(int value, int multiple) {
  return ceil_divide(value, multiple) * multiple;
}
__host__ __device__ constexpr int smaller(int a, int b) { return a < b ? a : b; }
__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }

// The largest power of two that divides `value` and is at most `limit`, which is a power of two itself.
__host__ __device__ constexpr int alignment_of(int value, int limit) {
  int alignment = 1;
  while (alignment < limit && value % (2 * alignment) == 0) alignment *= 2;
  return alignment;
}

// ---- templates/common/shared_layout.cuh
// SPDX-License-Identifier: Apache-2.0
// The definitions that fragments NAME_layout.inl need in kernels: numbers, functions of them, ceil_divide(),
// round_up(), smaller() and larger(). templates/shared_layout.h has them for C++.


#define LAYOUT_FUNCTION __host__ __device__ constexpr

using LayoutSize = int;

// ---- templates/common/vector.cuh
// SPDX-License-Identifier: Apache-2.0
// Moves several neighbouring elements by memory accesses of at most 16 bytes each. On the host,
// common/host/vector.h replaces this file.

template <typename T, int N>
struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) Vector {
  T element[N];
};

// `from` is aligned to the vector, or to 16 bytes if the vector is longer.
template <int N, typename T>
__device__ __forceinline__ Vector<T, N> load_vector(const T* from) {
  return *reinterpret_cast<const Vector<T, N>*>(from);
}

template <int N, typename T>
__device__ __forceinline__ void store_vector(T* to, const Vector<T, N>& vector) {
  *reinterpret_cast<Vector<T, N>*>(to) = vector;
}

// Stores data that this kernel does not read again: it may leave the caches first.
template <int N, typename T>
__device__ __forceinline__ void store_vector_streaming(T* to, const Vector<T, N>& vector) {
  constexpr int bytes = sizeof(T) * N;
  if constexpr (bytes >= 16) {
#pragma unroll
    for (int i = 0; i < bytes / 16; ++i)
      __stcs(reinterpret_cast<float4*>(to) + i, reinterpret_cast<const float4*>(&vector)[i]);
  } else if constexpr (bytes == 8) {
    __stcs(reinterpret_cast<float2*>(to), reinterpret_cast<const float2&>(vector));
  } else {
    __stcs(reinterpret_cast<float*>(to), reinterpret_cast<const float&>(vector));
  }
}

// ---- templates/transpose/bytes.cuh
// SPDX-License-Identifier: Apache-2.0
// Small elements inside 32-bit registers, for the tuned kernels of transpose: shifts words by bytes, and
// transposes small squares of elements.

// Bytes `skipped` (0 to 3) to `skipped` + 3 of the eight bytes.
__device__ __forceinline__ unsigned shift_bytes(unsigned low, unsigned high, unsigned skipped) {
  return __byte_perm(low, high, 0x3210 + 0x1111 * skipped);
}

// Word i of `to` gets element i of each word of `from`. A word has N elements of 4 / N bytes; with N = 1 it
// is one element of any size.
template <typename Word, int N>
__device__ __forceinline__ void turn_words(const Word (&from)[N], Word (&to)[N]) {
  if constexpr (N == 4) {
    const unsigned low_01 = __byte_perm(from[0], from[1], 0x5140);
    const unsigned high_01 = __byte_perm(from[0], from[1], 0x7362);
    const unsigned low_23 = __byte_perm(from[2], from[3], 0x5140);
    const unsigned high_23 = __byte_perm(from[2], from[3], 0x7362);
    to[0] = __byte_perm(low_01, low_23, 0x5410);
    to[1] = __byte_perm(low_01, low_23, 0x7632);
    to[2] = __byte_perm(high_01, high_23, 0x5410);
    to[3] = __byte_perm(high_01, high_23, 0x7632);
  } else if constexpr (N == 2) {
    to[0] = __byte_perm(from[0], from[1], 0x5410);
    to[1] = __byte_perm(from[0], from[1], 0x7632);
  } else {
    static_assert(N == 1, "4, 2 or 1 elements are turned");
    to[0] = from[0];
  }
}

// ---- what this variant is
using T = unsigned;  // dtype=b32
constexpr int VECTOR_IN = 4;
constexpr int VECTOR_OUT = 4;
constexpr int TURN = 4;
constexpr int TILE_X = 64;
constexpr int TILE_Y = 64;
constexpr int ROWS = 1;
constexpr int TILES = 1;
enum class SmemLayout { padded, swizzled, flat };
constexpr SmemLayout SMEM_LAYOUT = SmemLayout::swizzled;
enum class BlockOrder { row, column, banded, diagonal };
constexpr BlockOrder BLOCK_ORDER = BlockOrder::column;
enum class Load { plain, no_allocate };
constexpr Load LOAD = Load::plain;
enum class Store { plain, streaming };
constexpr Store STORE = Store::plain;
enum class Start { plain, overlapped };
constexpr Start START = Start::plain;
enum class Trigger { none, early };
constexpr Trigger TRIGGER = Trigger::none;
constexpr int RESIDENT_WARPS = 32;
#define ENTRY(name) name##_a499d94a

// ---- templates/transpose/tiled.cu
// SPDX-License-Identifier: Apache-2.0
// transpose of tiles through shared memory. A thread loads TURN vectors of VECTOR_IN elements, one below the
// other, transposes them in registers into VECTOR_IN cells of TURN elements of an output row, and puts the
// cells into shared memory. Then vectors of VECTOR_OUT elements are stored along the output's rows. The
// kernel depends only on the size of an element.

// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launch, by which a kernel overlaps with its neighbours in a stream. Needs START and
// TRIGGER. These have no effect before compute capability 9.0 and on the host, which have no such launch.

// With START=overlapped, the kernel may start while its predecessor still runs, and waits for it.
constexpr bool overlapped = START == Start::overlapped;

// Returns when all work before this kernel has ended and is visible.
__device__ __forceinline__ void wait_for_previous() {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
  if constexpr (overlapped) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel's blocks start as soon as there is room for them; they wait before they touch memory.
__device__ __forceinline__ void let_next_start() {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
  if constexpr (TRIGGER == Trigger::early) asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// A kernel calls this before its first access to global memory.
__device__ __forceinline__ void start() {
  let_next_start();
  wait_for_previous();
}

// The types of a kernel's pointers to arrays that it reads, and to arrays that it reads and writes.
// __restrict__ promises that no other code writes to the array while the kernel runs, so that loads may take
// the read-only path and move across the wait. An overlapped kernel cannot promise this, because its
// predecessor may still write before the wait.
template <typename Element, bool PROMISED>
struct PointerTo {
  using Type = Element* __restrict__;
};
template <typename Element>
struct PointerTo<Element, false> {
  using Type = Element*;
};
template <typename Element>
using InputPointer = typename PointerTo<const Element, !overlapped>::Type;
template <typename Element>
using InOutPointer = typename PointerTo<Element, !overlapped>::Type;

constexpr int element_bytes = static_cast<int>(sizeof(T));
constexpr int threads = TILE_X * TILE_Y / (VECTOR_IN * TURN * ROWS);
constexpr Hint load_hint = LOAD == Load::no_allocate ? Hint::no_allocate : Hint::none;
constexpr Hint store_hint = static_cast<Hint>(STORE);
constexpr int vectors_x = TILE_X / VECTOR_IN;   // loads per row of the input's tile
constexpr int vectors_y = TILE_Y / VECTOR_OUT;  // stores per row of the output's tile

// Neighbouring threads load the TURN rows of one VECTOR_OUT, then those of the next vector of the row, so
// that the cells of a warp fill whole banks.
constexpr int cells = VECTOR_OUT / TURN;

// SPDX-License-Identifier: Apache-2.0
// The shared memory of transpose/tiled: the tile in the output's order, TILE_X rows of TILE_Y elements.
// Threads of a warp put cells into rows VECTOR_IN apart. In a padded tile, each group of VECTOR_IN rows is
// shifted by one more unit, which is a vector of the output and at least a bank (4 bytes).

struct TiledLayout {
  LayoutSize unit, pad;  // elements
  LayoutSize elements;   // of all
};
LAYOUT_FUNCTION TiledLayout tiled_layout(LayoutSize tile_x, LayoutSize tile_y, LayoutSize vector_in,
                                         LayoutSize vector_out, LayoutSize element_bytes, bool padded) {
  TiledLayout at = {};
  at.unit = larger(vector_out, 4 / smaller(element_bytes, 4));
  at.pad = padded ? at.unit : 0;
  at.elements = tile_x * tile_y + (tile_x / vector_in - 1) * at.pad;
  return at;
}
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
