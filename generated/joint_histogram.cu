// To be read: nothing is built from this text. It is the base for
// values=pairs weights=none edges=uniform length=16777216 bins_x=64 bins_y=64 stride=1 lo_x="-1" hi_x="1" lo_y="-1" hi_y="1" dtype=f32,
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// joint_histogram/base for sm_90a, rendered by Tunesmith from templates/joint_histogram/base.cu: change that and render again.
// compiled in: dtype=f32
// config: BLOCK=256

// ---- templates/common/hinted_access.cuh
// SPDX-License-Identifier: Apache-2.0
// Accesses to global memory that move 1 to 16 bytes by one instruction, with a hint on what is to stay in the
// caches. (An assignment of a struct may become a store for each element.)
// On the host common/host/hinted_access.h stands for this file.

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

// The kernel does not read what it stores: loads may be moved across.
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

// ---- templates/histogram/bins.cuh
// SPDX-License-Identifier: Apache-2.0
// Which bin of equal width a number falls into, exactly as numpy.histogram has it, and elements loaded by
// whole words. templates/histogram/bins.cpp computes the numbers in Bins and bounds their error.


// Edge i is lo + i * step, each operation rounded to double, and then to float where the elements are; the
// last is hi. A bin holds its lower edge, the last one both.
struct Bins {
  unsigned count;
  double lo, step, hi;
  // inverse * x + addend, rounded down, is 2^20 plus x's bin, with 32 bits of fraction. It may be too large,
  // but never where the fraction is `window` or more.
  double inverse, addend;
  unsigned window;
};

#ifdef TUNESMITH_HOST
extern "C" int fegetround();
extern "C" int fesetround(int);
#endif

__device__ __forceinline__ double multiply_add_down(double a, double b, double c) {
#ifdef TUNESMITH_HOST
#if defined(__x86_64__)
  constexpr int downward = 0x400;
#elif defined(__aarch64__)
  constexpr int downward = 0x800000;
#else
#error "FE_DOWNWARD of this processor is not known here"
#endif
  // Volatile: the compiler must neither move the operation nor compute it itself.
  const int before = fegetround();
  fesetround(downward);
  volatile double x = a;
  volatile double y = b;
  volatile double z = c;
  volatile double result = __builtin_fma(x, y, z);
  fesetround(before);
  return result;
#else
  return __fma_rd(a, b, c);
#endif
}

// The bin of `value`, or one too many where `unsure` is set; bins.count or more for what is outside and NaN.
__device__ __forceinline__ unsigned estimated_bin(double value, const Bins& bins, bool& unsure) {
  const auto fixed = static_cast<unsigned long long>(
      __double_as_longlong(multiply_add_down(value, bins.inverse, bins.addend)));
  unsure |= static_cast<unsigned>(fixed) < bins.window;
  return static_cast<unsigned>(fixed >> 32) - 0x41300000u;  // the high word of 2^20
}

template <typename E>
__device__ __forceinline__ double lower_edge(unsigned bin, const Bins& bins) {
  if (bin == bins.count) return bins.hi;
#ifdef TUNESMITH_HOST
  const double edge = bin * bins.step + bins.lo;  // compiled without contraction
#else
  const double edge = __dadd_rn(__dmul_rn(bin, bins.step), bins.lo);
#endif
  return static_cast<double>(static_cast<E>(edge));
}

// What NumPy compares elements of type T with.
template <typename T>
struct EdgeOf {
  using Type = double;
};
template <>
struct EdgeOf<float> {
  using Type = float;
};
template <typename T>
using Edge = typename EdgeOf<T>::Type;

// E is the type of the edges. The result is bins.count or more for what is outside and for NaN.
template <typename E>
__device__ __forceinline__ unsigned bin_of(double value, const Bins& bins) {
  bool unsure = false;
  unsigned bin = estimated_bin(value, bins, unsure);
  if (unsure && value < lower_edge<E>(bin, bins)) --bin;
  return value == bins.hi ? bins.count - 1 : bin;
}

// The bins of N elements; AS_THEY_ARE: the elements themselves. Up to four share a branch, since estimates
// are rarely unsure.
template <bool AS_THEY_ARE, typename T, int N>
__device__ __forceinline__ void bins_of(unsigned (&bin)[N], const T (&element)[N], const Bins& bins) {
  constexpr int together = N < 4 ? N : 4;
#pragma unroll
  for (int first = 0; first < N; first += together) {
    bool unsure = false;
#pragma unroll
    for (int e = first; e < first + together; ++e) {
      if constexpr (AS_THEY_ARE) {
        bin[e] = static_cast<unsigned>(element[e]);
      } else {
        bin[e] = estimated_bin(static_cast<double>(element[e]), bins, unsure);
        if (static_cast<Edge<T>>(element[e]) == static_cast<Edge<T>>(bins.hi)) bin[e] = bins.count - 1;
      }
    }
    if (unsure) {
#pragma unroll
      for (int e = first; e < first + together; ++e)
        bin[e] = bin_of<Edge<T>>(static_cast<double>(element[e]), bins);
    }
  }
}

// ---- elements by words

// BYTES (1, 4, 8 or 16) from an address aligned to them.
template <int BYTES, Hint HINT>
__device__ __forceinline__ void load_words(unsigned (&word)[(BYTES + 3) / 4], const void* from) {
  const auto moved = load_hinted<HINT>(static_cast<const typename Moved<BYTES>::Type*>(from));
  word[0] = 0;  // a byte does not fill it
  memcpy(word, &moved, BYTES);
}

// Element `e` of a T's words.
template <typename T>
__device__ __forceinline__ T element_of(const unsigned* word, int e) {
  if constexpr (sizeof(T) == 1) {
    return static_cast<T>(word[e / 4] >> 8 * (e % 4));
  } else {
    union {
      unsigned word;
      T element;
    } both = {word[e]};
    return both.element;
  }
}

// This thread's elements of a tile as they lie in memory: ITEMS vectors, a block's width apart.
template <typename T, int ITEMS, int VECTOR>
struct Tile {
  unsigned word[ITEMS][(VECTOR * sizeof(T) + 3) / 4];
  bool whole;  // every thread's elements lie before `length`
};

// Loads this thread's elements of the tile that begins at `first`; nothing from `length` on is read.
template <int BLOCK, Hint HINT, bool CONTIGUOUS, typename T, int ITEMS, int VECTOR>
__device__ __forceinline__ void load_tile(Tile<T, ITEMS, VECTOR>& tile, const T* values, long long first,
                                          long long length, long long stride) {
  static_assert(CONTIGUOUS || VECTOR == 1, "only neighbours are loaded together");
  constexpr int size = sizeof(T);
  const int thread = static_cast<int>(threadIdx.x) * VECTOR;
  const T* const from = values + (first + thread) * (CONTIGUOUS ? 1 : stride);
  tile.whole = first + BLOCK * ITEMS * VECTOR <= length;
  if (tile.whole) {
#pragma unroll
    for (int item = 0; item < ITEMS; ++item)
      load_words<VECTOR * size, HINT>(tile.word[item],
                                      from + item * BLOCK * VECTOR * (CONTIGUOUS ? 1 : stride));
    return;
  }
#pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
#pragma unroll
    for (int w = 0; w < (VECTOR * size + 3) / 4; ++w) tile.word[item][w] = 0;
#pragma unroll
    for (int e = 0; e < VECTOR; ++e) {
      const int at = item * BLOCK * VECTOR + e;
      if (first + thread + at >= length) continue;
      unsigned one[1];
      load_words<size, HINT>(one, from + at * (CONTIGUOUS ? 1 : stride));
      tile.word[item][e * size / 4] |= one[0] << 8 * (e * size % 4);
    }
  }
}

// The bins of a tile's elements, or the elements themselves if AS_THEY_ARE. What lies from `length` on gets a
// bin that no histogram has.
template <int BLOCK, bool AS_THEY_ARE, typename T, int ITEMS, int VECTOR>
__device__ __forceinline__ void bins_of_tile(unsigned (&bin)[ITEMS * VECTOR],
                                             const Tile<T, ITEMS, VECTOR>& tile, const Bins& bins,
                                             long long first, long long length) {
  T element[ITEMS * VECTOR];
#pragma unroll
  for (int e = 0; e < ITEMS * VECTOR; ++e) element[e] = element_of<T>(tile.word[e / VECTOR], e % VECTOR);
  bins_of<AS_THEY_ARE>(bin, element, bins);
  if (tile.whole) return;
#pragma unroll
  for (int e = 0; e < ITEMS * VECTOR; ++e) {
    const int at = (e / VECTOR * BLOCK + static_cast<int>(threadIdx.x)) * VECTOR + e % VECTOR;
    if (first + at >= length) bin[e] = 0xffffffffu;
  }
}

// ---- templates/joint_histogram/cells.cuh
// SPDX-License-Identifier: Apache-2.0
// In which cell of a grid of bins a value or a pair lies: bins of equal width (histogram/bins.cuh), or
// between edges that are given.


struct Grid {
  Bins x, y;
  const double* edges_x;
  const double* edges_y;
};

constexpr unsigned no_cell = 0xffffffffu;

// The last of the ascending `edges` that is not above the value, the uppermost excepted; `bins` for what is
// outside and for NaN. All elements take each step of the search together, so that their reads overlap.
template <typename E, int N>
__device__ __forceinline__ void bins_between(unsigned (&bin)[N], const E (&element)[N], const double* edges,
                                             unsigned bins) {
#pragma unroll
  for (int e = 0; e < N; ++e) bin[e] = 0;
#pragma unroll 1
  for (unsigned step = bins > 1 ? 1u << (31 - __clz(static_cast<int>(bins - 1))) : 0; step > 0; step /= 2) {
#pragma unroll
    for (int e = 0; e < N; ++e) {
      const unsigned next = bin[e] + step;
      if (next < bins && edges[next] <= static_cast<double>(element[e])) bin[e] = next;
    }
  }
#pragma unroll
  for (int e = 0; e < N; ++e) {
    const auto value = static_cast<double>(element[e]);
    if (!(value >= edges[0] && value <= edges[bins])) bin[e] = bins;
  }
}

// numpy.histogram compares floats with edges rounded to float, numpy.histogram2d with edges in double.
template <bool PAIRS, bool OWN_EDGES, typename E, int N>
__device__ __forceinline__ void places_of(unsigned (&bin)[N], const E (&element)[N], const Bins& bins,
                                          const double* edges) {
  if constexpr (OWN_EDGES) {
    bins_between(bin, element, edges, bins.count);
  } else if constexpr (PAIRS) {
    double value[N];
#pragma unroll
    for (int e = 0; e < N; ++e) value[e] = static_cast<double>(element[e]);
    bins_of<false>(bin, value, bins);
  } else {
    bins_of<false>(bin, element, bins);
  }
}

// Without PAIRS there is no `y`, and one bin of it.
template <bool PAIRS, bool OWN_EDGES, typename E, int N>
__device__ __forceinline__ void cells_of(unsigned (&cell)[N], const E (&x)[N], const E (&y)[N],
                                         const Grid& grid) {
  places_of<PAIRS, OWN_EDGES>(cell, x, grid.x, grid.edges_x);
  if constexpr (PAIRS) {
    unsigned column[N];
    places_of<PAIRS, OWN_EDGES>(column, y, grid.y, grid.edges_y);
#pragma unroll
    for (int e = 0; e < N; ++e)
      cell[e] =
          cell[e] < grid.x.count && column[e] < grid.y.count ? cell[e] * grid.y.count + column[e] : no_cell;
  } else {
#pragma unroll
    for (int e = 0; e < N; ++e)
      if (cell[e] >= grid.x.count) cell[e] = no_cell;
  }
}

// ---- what this variant is
using T = float;  // dtype=f32
constexpr int BLOCK = 256;
#define ENTRY(name) name##_13931eac

// ---- templates/joint_histogram/base.cu
// SPDX-License-Identifier: Apache-2.0
// joint_histogram, the plain kernel: one thread per pair, whose weight it adds to the sum in global memory.
// What the tuned kernels compile in is looked at here, so that few binaries serve every problem.


__device__ __forceinline__ unsigned cell_of(T x, T y, bool pairs, bool own_edges, const Grid& grid) {
  const T row[1] = {x};
  const T column[1] = {y};
  unsigned cell[1];
  if (pairs) {
    if (own_edges) {
      cells_of<true, true>(cell, row, column, grid);
    } else {
      cells_of<true, false>(cell, row, column, grid);
    }
  } else if (own_edges) {
    cells_of<false, true>(cell, row, column, grid);
  } else {
    cells_of<false, false>(cell, row, column, grid);
  }
  return cell[0];
}

// `weight_bytes`: 0 without weights, 4 for float, 8 for double.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(joint_histogram_base)(const T* __restrict__ x, const T* __restrict__ y,
                                const void* __restrict__ weights, const double* __restrict__ edges_x,
                                const double* __restrict__ edges_y, double* __restrict__ sums,
                                long long length, long long stride, int bins_x, int bins_y, double lo_x,
                                double step_x, double hi_x, double inverse_x, double addend_x, int window_x,
                                double lo_y, double step_y, double hi_y, double inverse_y, double addend_y,
                                int window_y, int pairs, int own_edges, int weight_bytes) {
  const Grid grid = {{static_cast<unsigned>(bins_x), lo_x, step_x, hi_x, inverse_x, addend_x,
                      static_cast<unsigned>(window_x)},
                     {static_cast<unsigned>(bins_y), lo_y, step_y, hi_y, inverse_y, addend_y,
                      static_cast<unsigned>(window_y)},
                     edges_x,
                     edges_y};
  const long long threads = static_cast<long long>(gridDim.x) * BLOCK;
  for (long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; i < length; i += threads) {
    const T second = pairs != 0 ? y[i * stride] : T(0);
    const unsigned cell = cell_of(x[i * stride], second, pairs != 0, own_edges != 0, grid);
    if (cell == no_cell) continue;
    const double weight = weight_bytes == 0   ? 1.0
                          : weight_bytes == 4 ? static_cast<double>(static_cast<const float*>(weights)[i])
                                              : static_cast<const double*>(weights)[i];
    atomicAdd(sums + cell, weight);
  }
}
