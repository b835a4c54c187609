// To be read: nothing is built from this text. It is the winner on NVIDIA H200 for
// function=histogram length=268435456 bins=256 stride=1 lo="-1" hi="1" dtype=f32,
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// histogram/shared for sm_90a, rendered by Tunesmith from templates/histogram/shared.cu: change that and render again.
// compiled in: function=histogram dtype=f32 CONTIGUOUS=1
// config: COUNTER_BITS=32 OWNER=lane COPIES=1 MERGE=none VECTOR=4 INCREMENT=constant ITEMS=4 AHEAD=1 LOAD=streaming BLOCK=1024 BLOCKS=132 START=overlapped TRIGGER=none

// ---- templates/common/shared.cuh
// SPDX-License-Identifier: Apache-2.0
// Dynamic shared memory as an array of any type, aligned to 16 bytes. On the host the shim defines it.

#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(type, name)                               \
  extern __shared__ __align__(16) unsigned char name##_bytes_[]; \
  type* name = reinterpret_cast<type*>(name##_bytes_)
#endif

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

// ---- what this variant is
enum class Function { histogram, bincount };
constexpr Function function = Function::histogram;
using T = float;  // dtype=f32
constexpr int CONTIGUOUS = 1;
constexpr int COUNTER_BITS = 32;
enum class Owner { lane, warp };
constexpr Owner OWNER = Owner::lane;
constexpr int COPIES = 1;
enum class Merge { none, run, warp };
constexpr Merge MERGE = Merge::none;
constexpr int VECTOR = 4;
enum class Increment { constant, value };
constexpr Increment INCREMENT = Increment::constant;
constexpr int ITEMS = 4;
constexpr int AHEAD = 1;
enum class Load { plain, streaming };
constexpr Load LOAD = Load::streaming;
constexpr int BLOCK = 1024;
constexpr int BLOCKS = 132;
enum class Start { plain, overlapped };
constexpr Start START = Start::overlapped;
enum class Trigger { none, early };
constexpr Trigger TRIGGER = Trigger::none;
#define ENTRY(name) name##_0fa05ac9

// ---- templates/histogram/shared.cu
// SPDX-License-Identifier: Apache-2.0
// histogram with its counters in shared memory, in several copies: each for some lanes of every warp, in
// banks of their own, or each for some warps. A block adds its counts to the output at its end.

// SPDX-License-Identifier: Apache-2.0
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
// SPDX-License-Identifier: Apache-2.0
// A block's counters in shared memory, in copies, and how a tile is counted into them. Needs T, function,
// CONTIGUOUS, BLOCK, ITEMS, VECTOR, COPIES, OWNER, COUNTER_BITS, INCREMENT and MERGE.

constexpr int per_thread = ITEMS * VECTOR;  // elements of a tile
constexpr long long per_block = static_cast<long long>(BLOCK) * per_thread;

// Bytes are counted by value; the bins of the 256 values are found at the end, not those of `length` bytes.
constexpr bool of_bytes = sizeof(T) == 1;
constexpr bool by_lane = OWNER == Owner::lane;
constexpr bool packed = COUNTER_BITS == 16;  // two counters per word
constexpr unsigned full = 0x8000;            // where a packed counter is emptied

static_assert(!packed || per_block < 0x10000 - full, "a counter may reach `full` and then take a whole tile");

struct Counters {
  unsigned* word;
  unsigned cells, rows;  // counters of a copy, and their words
  unsigned offset;       // of this thread's copy, in words
  unsigned one;          // what an element adds; not a constant for INCREMENT=value
  unsigned long long* counts;
};

__device__ __forceinline__ unsigned place_of(unsigned row, const Counters& counters) {
  return (by_lane ? row * COPIES : row) + counters.offset;
}

__device__ __forceinline__ void add(unsigned cell, unsigned times, const Counters& counters) {
  if (cell >= counters.cells) return;
  if constexpr (packed) {
    const unsigned shift = (cell & 1) * 16;
    unsigned* const word = counters.word + place_of(cell >> 1, counters);
    const unsigned before = atomicAdd(word, times << shift) >> shift & 0xffff;
    // One thread sees a counter become full and empties it. The barrier after each tile keeps the others from
    // adding more than a tile to it meanwhile, so that it never runs over.
    if (before < full && before + times >= full) {
      atomicAdd(word, 0u - (full << shift));
      atomicAdd(counters.counts + cell, static_cast<unsigned long long>(full));
    }
  } else {
    atomicAdd(counters.word + place_of(cell, counters), times);
  }
}

__device__ __forceinline__ void count(const unsigned (&cell)[per_thread], const Counters& counters) {
  if constexpr (MERGE == Merge::run) {
    unsigned current = cell[0];
    unsigned times = 1;
#pragma unroll
    for (int e = 1; e < per_thread; ++e) {
      if (cell[e] == current) {
        ++times;
      } else {
        add(current, times, counters);
        current = cell[e];
        times = 1;
      }
    }
    add(current, times, counters);
  } else {
#pragma unroll
    for (int e = 0; e < per_thread; ++e) {
      if constexpr (MERGE == Merge::warp) {
        const unsigned peers = __match_any_sync(0xffffffffu, cell[e]);
        if (static_cast<int>(threadIdx.x % 32) == __ffs(static_cast<int>(peers)) - 1)
          add(cell[e], static_cast<unsigned>(__popc(peers)), counters);
      } else {
        add(cell[e], counters.one, counters);
      }
    }
  }
}

__host__ __device__ constexpr int log2_of(int power) { return power == 1 ? 0 : 1 + log2_of(power / 2); }

// Whether a byte's counter is found from the word that holds the byte, without taking it out.
constexpr bool straight =
    of_bytes && VECTOR >= 4 && by_lane && !packed && MERGE == Merge::none && CONTIGUOUS != 0;

using Loaded = Tile<T, ITEMS, VECTOR>;

// A whole tile, each lane's counters in its own banks: two instructions make a byte's offset into the
// counters from the word that holds it.
__device__ __forceinline__ void count_bytes(const Loaded& tile, const Counters& counters) {
  constexpr int up = log2_of(COPIES) + 2;  // from a byte to its counter's offset in bytes
#pragma unroll
  for (int e = 0; e < per_thread; ++e) {
    const unsigned w = tile.word[e / VECTOR][e % VECTOR / 4];
    const int shift = 8 * (e % 4) - up;
    const unsigned offset =
        ((shift < 0 ? w << (shift < 0 ? -shift : 0) : w >> (shift < 0 ? 0 : shift)) & (255u << up)) |
        counters.offset * 4;
    atomicAdd(reinterpret_cast<unsigned*>(reinterpret_cast<char*>(counters.word) + offset), counters.one);
  }
}

__device__ __forceinline__ void count_tile(const Loaded& tile, const Bins& bins, const Counters& counters,
                                           long long first, long long length) {
  if constexpr (straight) {
    if (tile.whole) return count_bytes(tile, counters);
  }
  unsigned cell[per_thread];
  bins_of_tile<BLOCK, of_bytes || function == Function::bincount>(cell, tile, bins, first, length);
  count(cell, counters);
  if constexpr (packed) __syncthreads();
}

__device__ __forceinline__ void put(unsigned cell, unsigned times, const Counters& counters,
                                    const Bins& bins) {
  if (times == 0) return;
  unsigned bin = cell;
  if constexpr (of_bytes && function == Function::histogram) bin = bin_of<double>(cell, bins);
  if (bin < bins.count) atomicAdd(counters.counts + bin, static_cast<unsigned long long>(times));
}

// `alone`: the only block, which then sets the output to zero itself. `one` is 1. A block has at most 2^31
// elements.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(histogram_shared)(InputPointer<T> values, unsigned long long* __restrict__ counts, long long length,
                            long long stride, int bins, double lo, double step, double hi, double inverse,
                            double addend, int window, int alone, int one) {
  DYNAMIC_SHARED(unsigned, word);
  const Bins b = {static_cast<unsigned>(bins), lo, step, hi, inverse, addend, static_cast<unsigned>(window)};
  Counters counters;
  counters.word = word;
  counters.cells = of_bytes ? 256 : b.count;
  counters.rows = packed ? (counters.cells + 1) / 2 : counters.cells;
  counters.offset = by_lane ? threadIdx.x % COPIES : threadIdx.x / 32 % COPIES * counters.rows;
  counters.one = INCREMENT == Increment::value ? static_cast<unsigned>(one) : 1;
  counters.counts = counts;
  for (unsigned i = threadIdx.x; i < counters.rows * COPIES; i += BLOCK) word[i] = 0;
  wait_for_previous();
  if (alone != 0) {
    for (unsigned i = threadIdx.x; i < b.count; i += BLOCK) counts[i] = 0;
  }
  __syncthreads();

  const long long per_grid = gridDim.x * per_block;
  long long first = blockIdx.x * per_block;
  Loaded next;
  if constexpr (AHEAD != 0) {
    if (first < length)
      load_tile<BLOCK, static_cast<Hint>(LOAD), CONTIGUOUS != 0>(next, values, first, length, stride);
  }
  for (; first < length; first += per_grid) {
    Loaded tile;
    if constexpr (AHEAD != 0) {
      tile = next;
      if (first + per_grid < length)
        load_tile<BLOCK, static_cast<Hint>(LOAD), CONTIGUOUS != 0>(next, values, first + per_grid, length,
                                                                   stride);
    } else {
      load_tile<BLOCK, static_cast<Hint>(LOAD), CONTIGUOUS != 0>(tile, values, first, length, stride);
    }
    count_tile(tile, b, counters, first, length);
  }
  let_next_start();
  __syncthreads();

  for (unsigned row = threadIdx.x; row < counters.rows; row += BLOCK) {
    unsigned low = 0;
    unsigned high = 0;
#pragma unroll
    for (unsigned copy = 0; copy < COPIES; ++copy) {
      // Copies side by side are read in an order that keeps a warp's banks apart.
      const unsigned at =
          by_lane ? row * COPIES + (copy + row * COPIES / 32) % COPIES : copy * counters.rows + row;
      low += packed ? word[at] & 0xffff : word[at];
      if constexpr (packed) high += word[at] >> 16;
    }
    put(packed ? 2 * row : row, low, counters, b);
    if constexpr (packed) {
      if (2 * row + 1 < counters.cells) put(2 * row + 1, high, counters, b);
    }
  }
}
