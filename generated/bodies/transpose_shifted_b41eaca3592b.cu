// ---- templates/common/hinted_access.cuh
// Accesses to global memory that move 1 to 16 bytes by one instruction, with a hint on what is to stay in the
// caches. (An assignment of a struct may become a store for each element.)
// (On the host common/host/hinted_access.h stands for this file; what is here for it stays, because a
// kernel's identity is its text.)

// No hint, or: it is not read again, so that it may leave the caches first; or: L1 need not keep it; or: of
// an array that is larger than the second-level cache one half may leave it first, so that the other stays
// there for the next kernel.
enum class Hint { none, streaming, no_allocate, half };

// The unsigned integers that a vector of so many bytes is moved as.
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

// V is a vector or an element of 1, 2, 4, 8 or 16 bytes and aligned to that.
template <typename V>
union AsMoved {
  typename Moved<sizeof(V)>::Type moved;
  V value;
};

// What a thread needs before all else, loaded where it stands in the code.
template <typename V>
__device__ __forceinline__ V load_now(const V* from) {
#ifdef TUNESMITH_HOST
  return *from;
#else
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
#endif
}

#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 800
// Which half is decided by the address.
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

// Loads without a hint may be moved about; the others keep their order.
template <Hint HINT, typename V>
__device__ __forceinline__ V load_hinted(const V* from) {
#ifdef TUNESMITH_HOST
  V value;
  memcpy(&value, from, sizeof(V));
  return value;
#else
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
#endif
}

// The kernel does not read what it stores: loads may be moved across.
template <Hint HINT, typename V>
__device__ __forceinline__ void store_hinted(V* to, const V& value) {
  static_assert(HINT == Hint::none || HINT == Hint::streaming, "a hint for stores");
#ifdef TUNESMITH_HOST
  memcpy(to, &value, sizeof(V));
#else
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
#endif
}

// ---- templates/common/integer.cuh
// Integer arithmetic on compile-time sizes.

__host__ __device__ constexpr int ceil_divide(int value, int divisor) {
  return (value + divisor - 1) / divisor;
}
__host__ __device__ constexpr int round_up(int value, int multiple) {
  return ceil_divide(value, multiple) * multiple;
}
__host__ __device__ constexpr int smaller(int a, int b) { return a < b ? a : b; }
__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }

// The largest power of two that divides `value` and is at most `limit`, itself a power of two.
__host__ __device__ constexpr int alignment_of(int value, int limit) {
  int alignment = 1;
  while (alignment < limit && value % (2 * alignment) == 0) alignment *= 2;
  return alignment;
}

// ---- templates/common/vector.cuh
// Several neighbouring elements moved by one memory access, at most 16 bytes wide each. Knows nothing of
// images.
// (On the host common/host/vector.h stands for this file; what is here for it stays, because a kernel's
// identity is its text.)

template <typename T, int N>
struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) Vector {
  T element[N];
};

// `from` is aligned to the vector, or to 16 bytes where the vector is longer.
template <int N, typename T>
__device__ __forceinline__ Vector<T, N> load_vector(const T* from) {
#ifdef TUNESMITH_HOST
  Vector<T, N> vector;  // element by element: a host compiler may assume that no float is read as a Vector
  for (int i = 0; i < N; ++i) vector.element[i] = from[i];
  return vector;
#else
  return *reinterpret_cast<const Vector<T, N>*>(from);
#endif
}

template <int N, typename T>
__device__ __forceinline__ void store_vector(T* to, const Vector<T, N>& vector) {
#ifdef TUNESMITH_HOST
  for (int i = 0; i < N; ++i) to[i] = vector.element[i];
#else
  *reinterpret_cast<Vector<T, N>*>(to) = vector;
#endif
}

// A store of data that this kernel does not read again: it may leave the caches first.
template <int N, typename T>
__device__ __forceinline__ void store_vector_streaming(T* to, const Vector<T, N>& vector) {
#ifdef TUNESMITH_HOST
  for (int i = 0; i < N; ++i) to[i] = vector.element[i];
#else
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
#endif
}

// ---- templates/transpose/bytes.cuh
// Small elements inside 32-bit registers: words shifted by bytes, and small squares of elements transposed.

// Bytes `skipped` (0 to 3) to `skipped` + 3 of the eight.
__device__ __forceinline__ unsigned shift_bytes(unsigned low, unsigned high, unsigned skipped) {
  return __byte_perm(low, high, 0x3210 + 0x1111 * skipped);
}

// Word i of `to` holds element i of each word of `from`. A word has N elements of 4 / N bytes; with N = 1 it
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

#include "constants"

// ---- templates/transpose/shifted.cu
// transpose of tiles through shared memory for rows that begin anywhere. Elements of 1 and 2 bytes are read
// as words, two aligned ones shifted into one, and turned in registers. Each row of the output is written in
// stretches that begin at multiples of WINDOW bytes in memory, so that two blocks never write the same
// window: a tile's stretch of a row begins up to WINDOW bytes before the tile, for which the tile holds a few
// more rows of the input. Of an element only the size matters.

// Programmatic dependent launch: how a kernel overlaps with its neighbours in a stream. Needs START and
// TRIGGER. Before compute capability 9.0 and on the host there is none, and START and TRIGGER change nothing.

// START=overlapped: the kernel may start while its predecessor still runs, and waits for it.
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

// Comes before a kernel's first access to global memory.
__device__ __forceinline__ void start() {
  let_next_start();
  wait_for_previous();
}

// The types of a kernel's pointers to what it reads, and to what it reads and writes. __restrict__ promises
// that nobody else writes there while the kernel runs, so that loads may take the read-only path and move
// across the wait. Before the wait the predecessor may still write.
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
constexpr int window = WINDOW / element_bytes;              // elements
constexpr int more_words = ceil_divide(window - 1, lanes);  // before each row of the output's tile
constexpr int more = more_words * lanes;                    // rows of the input above the tile
constexpr int threads = TILE_X * TILE_Y / (lanes * lanes * ROWS);
constexpr int words_x = TILE_X / lanes;
constexpr int vectors_y = TILE_Y / VECTOR_OUT;
constexpr int groups = threads / words_x;  // of `lanes` rows, which the block loads at once

// The tile is stored in the output's order, TILE_X rows of words. Neighbouring threads put words into rows
// `lanes` apart: an odd distance spreads them over the banks. A shifted vector ends with a part of the next
// word, for which a row has one word more.
constexpr int row_words = lanes == 1 ? (more_words + TILE_Y) | 1 : more_words + TILE_Y / lanes + 1;
__device__ __forceinline__ int place_of(int x, int word) {
  return x * row_words + (lanes == 1 ? 0 : x / lanes) + word;
}
constexpr int tile_words = TILE_X * row_words + (lanes == 1 ? 0 : words_x);

// The word of the elements at `from`, of which `columns` are left in the row; `within`: the two aligned words
// around them lie in the row.
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

// What surrounds a tile's corner: columns to its left and right, rows above it (negative) and below.
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

// `input` points to the tile's corner.
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
  // In flight together with the others where that takes few registers.
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

// `output` points to the tile's corner; its rows are the input's columns.
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
  // Where all rows of the output begin at a multiple of WINDOW, no stretch begins before its tile.
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
