// To be read: nothing is built from this text. It is the winner on NVIDIA H200 for
// outer=1 length=268435456 inner=1 outer_stride=0 stride=0 function=sum order=deterministic dtype=f32 ddof=0 sum_dtype=same,
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// reduce/all for sm_90a, rendered by Tunesmith from templates/reduce/all.cu: change that and render again.
// compiled in: function=sum order=deterministic dtype=f32 sum_dtype=same SHORT_PLACES=0
// config: BLOCK=512 ITEMS=2 VECTOR=4 BLOCKS=1056 WALK=chunked FINISH=mail TREE=shuffle AHEAD=1 LOAD=streaming START=plain TRIGGER=none

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

// ---- templates/common/vector.cuh
// SPDX-License-Identifier: Apache-2.0
// Several neighbouring elements moved by one memory access, at most 16 bytes wide each. Knows nothing of
// images.
// On the host common/host/vector.h stands for this file.

template <typename T, int N>
struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) Vector {
  T element[N];
};

// `from` is aligned to the vector, or to 16 bytes where the vector is longer.
template <int N, typename T>
__device__ __forceinline__ Vector<T, N> load_vector(const T* from) {
  return *reinterpret_cast<const Vector<T, N>*>(from);
}

template <int N, typename T>
__device__ __forceinline__ void store_vector(T* to, const Vector<T, N>& vector) {
  *reinterpret_cast<Vector<T, N>*>(to) = vector;
}

// A store of data that this kernel does not read again: it may leave the caches first.
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

// ---- templates/reduce/reduction.cuh
// SPDX-License-Identifier: Apache-2.0
// The pieces of a reduction: what is accumulated and in which type, a thread's tile, the trees of a team and
// of a block, and how blocks pass on their partials. It has no kernel.
//
// A floating-point sum is as accurate for any length: a thread's few elements of a tile are added in their
// own type, as a balanced tree, and the sums of tiles in a type with twice the digits.


// A sum, and what its roundings lost.
struct Compensated {
  double high;
  double low;
};

__device__ __forceinline__ float plus(float a, float b) { return a + b; }
__device__ __forceinline__ double plus(double a, double b) { return a + b; }
__device__ __forceinline__ long long plus(long long a, long long b) {  // wraps
  return static_cast<long long>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
}
__device__ __forceinline__ Compensated plus(Compensated a, Compensated b) {
  const double sum = a.high + b.high;  // Knuth's TwoSum
  const double part = sum - a.high;
  const double lost = (a.high - (sum - part)) + (b.high - part);
  return {sum, a.low + b.low + lost};
}

// A tile's sum in the type in which sums of tiles are added.
__device__ __forceinline__ double widened(float x) { return x; }
__device__ __forceinline__ Compensated widened(double x) { return {x, 0.0}; }
__device__ __forceinline__ long long widened(long long x) { return x; }

// One number for what was accumulated.
template <typename Number>
__device__ __forceinline__ Number settled(Number x) {
  return x;
}
__device__ __forceinline__ double settled(Compensated x) {
  // For an infinity or a NaN the losses have no meaning.
  return x.high - x.high == 0.0 ? x.high + x.low : x.high;
}

template <typename ElementType, typename ItemType, typename PartialType, typename OutputType, bool divides>
struct SumReduction {
  using Element = ElementType;
  using Item = ItemType;        // within a tile
  using Partial = PartialType;  // of tiles, threads and blocks
  using Output = OutputType;
  static __device__ __forceinline__ Item none() { return 0; }
  static __device__ __forceinline__ Item item(Element x) { return static_cast<Item>(x); }
  static __device__ __forceinline__ Item merge(Item a, Item b) { return plus(a, b); }
  static __device__ __forceinline__ Partial lift(Item x) { return widened(x); }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) { return plus(a, b); }
  template <typename Number>
  static __device__ __forceinline__ Output output(Number total, long long count) {
    if constexpr (divides) {
      return static_cast<Output>(static_cast<double>(total) / static_cast<double>(count));
    } else {
      return static_cast<Output>(total);
    }
  }
};

// NaN wins, as in NumPy.
template <bool greatest, typename Number>
__device__ __forceinline__ Number extreme(Number a, Number b) {
  return (greatest ? a > b : a < b) || a != a ? a : b;
}
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 800
template <bool greatest>
__device__ __forceinline__ float extreme(float a, float b) {
  float result;
  if constexpr (greatest) {
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  } else {
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  }
  return result;
}
#endif

// The least value of each type; minus infinity for floating-point types.
__device__ __forceinline__ void least(float& x) { x = __int_as_float(static_cast<int>(0xff800000u)); }
__device__ __forceinline__ void least(double& x) {
  x = __longlong_as_double(static_cast<long long>(0xfff0000000000000ull));
}
__device__ __forceinline__ void least(int& x) { x = -2147483647 - 1; }
__device__ __forceinline__ void least(long long& x) { x = -9223372036854775807ll - 1; }
__device__ __forceinline__ float opposite(float x) { return -x; }
__device__ __forceinline__ double opposite(double x) { return -x; }
__device__ __forceinline__ int opposite(int x) { return ~x; }
__device__ __forceinline__ long long opposite(long long x) { return ~x; }

template <typename Number, bool greatest>
struct ExtremeReduction {
  using Element = Number;
  using Item = Number;
  using Partial = Number;
  using Output = Number;
  static __device__ __forceinline__ Item none() {
    Number x;
    least(x);
    return greatest ? x : opposite(x);
  }
  static __device__ __forceinline__ Item item(Element x) { return x; }
  static __device__ __forceinline__ Item merge(Item a, Item b) { return extreme<greatest>(a, b); }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) { return extreme<greatest>(a, b); }
  static __device__ __forceinline__ Output output(Partial total, long long) { return total; }
};

// By the position of the function's word: sum, min, max, mean.
template <int function, typename T>
struct Reduction;
template <>
struct Reduction<0, float> : SumReduction<float, float, double, float, false> {};
template <>
struct Reduction<0, double> : SumReduction<double, double, Compensated, double, false> {};
template <>
struct Reduction<0, int> : SumReduction<int, long long, long long, long long, false> {};
template <>
struct Reduction<0, long long> : SumReduction<long long, long long, long long, long long, false> {};
template <typename T>
struct Reduction<1, T> : ExtremeReduction<T, false> {};
template <typename T>
struct Reduction<2, T> : ExtremeReduction<T, true> {};
template <>
struct Reduction<3, float> : SumReduction<float, float, double, float, true> {};
template <>
struct Reduction<3, double> : SumReduction<double, double, Compensated, double, true> {};
template <>
struct Reduction<3, int> : SumReduction<int, long long, long long, double, true> {};
template <>
struct Reduction<3, long long> : SumReduction<long long, double, Compensated, double, true> {};

template <typename R>
__device__ __forceinline__ typename R::Partial nothing() {
  return R::lift(R::none());
}

// ---- a tile

// Loads of data that is read once. HINT 0: none; 1: it may leave the caches first; 2: the first cache does
// not keep it; 3: the same, and the second cache fetches 256 bytes at a time; 4: one half may leave the
// second cache first.
template <int HINT, int N, typename T>
__device__ __forceinline__ Vector<T, N> load_once(const T* from) {
#ifdef TUNESMITH_HOST
  return load_vector<N>(from);
#else
  if constexpr (HINT == 4) return load_hinted<Hint::half>(reinterpret_cast<const Vector<T, N>*>(from));
  constexpr int bytes = sizeof(T) * N;
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "a load moves 4, 8 or 16 bytes");
  struct alignas(bytes) {
    unsigned word[bytes / 4];
  } raw;
  // Volatile, so that all loads of a tile are under way before the first is added, and none is moved before
  // the wait for the previous kernel.
#define TUNESMITH_LOADS(hint)                                                        \
  if constexpr (bytes == 16) {                                                       \
    asm volatile("ld.global" hint ".v4.u32 {%0, %1, %2, %3}, [%4];"                  \
                 : "=r"(raw.word[0]), "=r"(raw.word[1]), "=r"(raw.word[bytes / 8]),  \
                   "=r"(raw.word[bytes / 4 - 1])                                     \
                 : "l"(from));                                                       \
  } else if constexpr (bytes == 8) {                                                 \
    asm volatile("ld.global" hint ".v2.u32 {%0, %1}, [%2];"                          \
                 : "=r"(raw.word[0]), "=r"(raw.word[bytes / 4 - 1])                  \
                 : "l"(from));                                                       \
  } else {                                                                           \
    asm volatile("ld.global" hint ".u32 %0, [%1];" : "=r"(raw.word[0]) : "l"(from)); \
  }
#if __CUDA_ARCH__ < 800
  constexpr int hint = HINT == 3 ? 2 : HINT;
#else
  constexpr int hint = HINT;
  if constexpr (hint == 3) {
    TUNESMITH_LOADS(".nc.L1::no_allocate.L2::256B")
  }
#endif
  if constexpr (hint == 2) {
    TUNESMITH_LOADS(".nc.L1::no_allocate")
  } else if constexpr (hint == 1) {
    TUNESMITH_LOADS(".cs")
  } else if constexpr (hint == 0) {
    TUNESMITH_LOADS("")
  }
#undef TUNESMITH_LOADS
  return reinterpret_cast<const Vector<T, N>&>(raw);
#endif
}

template <typename R, int N>
__device__ __forceinline__ typename R::Item tree(const typename R::Item* items) {
  if constexpr (N == 1) {
    return items[0];
  } else {
    return R::merge(tree<R, N / 2>(items), tree<R, N / 2>(items + N / 2));
  }
}

// Where a thread's elements lie in the line: runs of RUN neighbours, STEP from one run to the next.
template <int RUN, int STEP>
struct Places {
  long long first;
  __device__ __forceinline__ long long of(int k) const { return first + k / RUN * STEP + k % RUN; }
  // In a line of fewer than 2^32 elements.
  __device__ __forceinline__ unsigned short_of(int k) const {
    return static_cast<unsigned>(first) + static_cast<unsigned>(k / RUN * STEP + k % RUN);
  }
};

// ITEMS vectors for each of THREADS threads; a thread's own are THREADS vectors apart.
template <typename R, int THREADS, int ITEMS, int VECTOR, int HINT>
struct Tile {
  using Element = typename R::Element;
  using Item = typename R::Item;
  static constexpr int elements = THREADS * ITEMS * VECTOR;
  static constexpr int own = ITEMS * VECTOR;  // elements of a thread

  Vector<Element, VECTOR> vector[ITEMS];

  __device__ __forceinline__ void load(const Element* from, int thread) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
      vector[i] = load_once<HINT, VECTOR>(from + (i * THREADS + thread) * VECTOR);
  }

  __device__ __forceinline__ typename R::Partial total() const {
    Item items[ITEMS * VECTOR];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) items[i * VECTOR + v] = R::item(vector[i].element[v]);
    }
    return R::lift(tree<R, ITEMS * VECTOR>(items));
  }

  // The total of an incomplete tile of `count` elements, fewer than `elements`.
  static __device__ __forceinline__ typename R::Partial total_of(const Element* from, int thread, int count) {
    Item items[ITEMS * VECTOR];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int at = (i * THREADS + thread) * VECTOR;
      const bool inside = at + VECTOR <= count;
      Vector<Element, VECTOR> one = {};
      if (inside) one = load_once<HINT, VECTOR>(from + at);
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) items[i * VECTOR + v] = inside ? R::item(one.element[v]) : R::none();
    }
    typename R::Partial total = R::lift(tree<R, ITEMS * VECTOR>(items));
    if constexpr (VECTOR > 1) {  // the rest, less than a vector
      for (int at = count / VECTOR * VECTOR + thread; at < count; at += THREADS)
        total = R::combine(total, R::lift(R::item(from[at])));
    }
    return total;
  }

  // Of any reduction:

  template <bool all>
  static __device__ __forceinline__ void add_vectors(typename R::Partial& total,
                                                     const Vector<Element, VECTOR> (&vector)[ITEMS],
                                                     int there, long long first, int thread,
                                                     typename R::Shift shift) {
    Element x[own];
#pragma unroll
    for (int k = 0; k < own; ++k) x[k] = vector[k / VECTOR].element[k % VECTOR];
    using Where = Places<VECTOR, THREADS * VECTOR>;
    R::template add<own, all>(total, x, there, Where{first + thread * VECTOR}, shift);
  }

  // The tile's elements begin at place `first` of the line.
  __device__ __forceinline__ void add_to(typename R::Partial& total, long long first, int thread,
                                         typename R::Shift shift) const {
    add_vectors<true>(total, vector, own, first, thread, shift);
  }

  // An incomplete tile of `count` elements, fewer than `elements`.
  static __device__ __forceinline__ void add_part(typename R::Partial& total, const Element* from,
                                                  long long first, int thread, int count,
                                                  typename R::Shift shift) {
    Vector<Element, VECTOR> vector[ITEMS];
    int there = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int at = (i * THREADS + thread) * VECTOR;
      vector[i] = {};
      if (at + VECTOR <= count) {
        vector[i] = load_once<HINT, VECTOR>(from + at);
        there = (i + 1) * VECTOR;
      }
    }
    add_vectors<false>(total, vector, there, first, thread, shift);
    if constexpr (VECTOR > 1) {  // the rest, less than a vector
      for (int at = count / VECTOR * VECTOR + thread; at < count; at += THREADS) {
        const Element one[1] = {from[at]};
        R::template add<1, true>(total, one, 1, Places<1, 1>{first + at}, shift);
      }
    }
  }
};

// ---- threads of a block

template <typename Number>
__device__ __forceinline__ Number shuffle_down(Number x, int by, int width) {
  return __shfl_down_sync(0xffffffffu, x, by, width);
}
__device__ __forceinline__ Compensated shuffle_down(Compensated x, int by, int width) {
  return {shuffle_down(x.high, by, width), shuffle_down(x.low, by, width)};
}

// The first of each WIDTH lanes gets their total; WIDTH is a power of two, up to a warp.
template <typename R, int WIDTH>
__device__ __forceinline__ typename R::Partial lanes_total(typename R::Partial partial) {
#pragma unroll
  for (int by = WIDTH / 2; by > 0; by /= 2) partial = R::combine(partial, shuffle_down(partial, by, WIDTH));
  return partial;
}

// The first of each TEAM threads gets their total; TEAM is a power of two, and so is the block. Needs shared
// memory for one partial per warp, which is free again after the block's next barrier.
template <typename R, int TEAM>
__device__ __forceinline__ typename R::Partial team_total(typename R::Partial partial,
                                                          typename R::Partial* shared) {
  if constexpr (TEAM <= 32) {
    return lanes_total<R, TEAM>(partial);
  } else {
    const int thread = static_cast<int>(threadIdx.x);
    partial = lanes_total<R, 32>(partial);
    if (thread % 32 == 0) shared[thread / 32] = partial;
    __syncthreads();
    if (thread % TEAM < 32) {
      constexpr int warps = TEAM / 32;
      partial = shared[thread / TEAM * warps + thread % warps];
      partial = lanes_total<R, warps>(partial);
    }
    return partial;
  }
}

// The same for a block of BLOCK threads, all through shared memory: one partial per thread.
template <typename R, int BLOCK>
__device__ __forceinline__ typename R::Partial shared_total(typename R::Partial partial,
                                                            typename R::Partial* shared) {
  const int thread = static_cast<int>(threadIdx.x);
  shared[thread] = partial;
  __syncthreads();
#pragma unroll
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (thread < half) shared[thread] = R::combine(shared[thread], shared[thread + half]);
    __syncthreads();
  }
  return shared[0];
}

// ---- blocks

// Counts the calls; the last of `calls` gets true, and the counter is zero again. What the callers (and, if
// they passed a barrier before, their blocks) wrote before is visible to the last.
__device__ __forceinline__ bool last_of(unsigned* counter, unsigned calls) {
#ifdef TUNESMITH_HOST
  return atomicInc(counter, calls - 1) == calls - 1;
#else
  unsigned before;
  asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(calls - 1)
               : "memory");
  return before == calls - 1;
#endif
}

__device__ __forceinline__ void add_atomically(int* to, int x) { atomicAdd(to, x); }
__device__ __forceinline__ void add_atomically(float* to, float x) { atomicAdd(to, x); }
__device__ __forceinline__ void add_atomically(double* to, double x) { atomicAdd(to, x); }
__device__ __forceinline__ void add_atomically(long long* to, long long x) {
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(x));
}

template <typename Other>
__device__ __forceinline__ void add_atomically(Other*, Other) {}  // never called: it is of no sum

// A partial sent from one block to another without a fence: each 64-bit word holds 32 bits of it and a 1
// above them, so that a word is zero until it has arrived. The words of one partial are `stride` words apart.
template <typename Partial>
struct Mail {
  static constexpr int words = sizeof(Partial) / 4;

  static __device__ __forceinline__ void post(unsigned long long* slot, unsigned stride,
                                              const Partial& partial) {
    unsigned halves[words];
    memcpy(halves, &partial, sizeof(Partial));
    volatile unsigned long long* const to = slot;
#pragma unroll
    for (int w = 0; w < words; ++w) to[w * stride] = 1ull << 32 | halves[w];
  }

  // Waits, and leaves the words zero.
  static __device__ __forceinline__ Partial fetch(unsigned long long* slot, unsigned stride) {
    unsigned halves[words];
    volatile unsigned long long* const from = slot;
    bool arrived;
    do {
      arrived = true;
#pragma unroll
      for (int w = 0; w < words; ++w) {
        const unsigned long long word = from[w * stride];
        halves[w] = static_cast<unsigned>(word);
        arrived = arrived && word != 0;
      }
    } while (!arrived);
#pragma unroll
    for (int w = 0; w < words; ++w) from[w * stride] = 0;
    Partial partial;
    memcpy(&partial, halves, sizeof(Partial));
    return partial;
  }
};

// ---- templates/reduce/reductions.cuh
// SPDX-License-Identifier: Apache-2.0
// The reduction of each function. Some combine one value for each element (folds); others need more: the
// place of an extreme, moments, products that leave no range. It has no kernel.
//
// A reduction has Partial, Output and Shift; none(), the partial of nothing; shift(), of the address of a
// line's first element, and shift_of(), of that element; add(), which adds the first `there` of N elements,
// which are in registers, to a partial; combine(), of two partials; and output(). is_fold says that item(),
// merge() and lift() make a partial of a tile by itself, which a kernel then combines with what it has.


// What is kept of two lines at once, or written for one.
template <typename Number>
struct Pair {
  Number first, second;
};
template <typename Number>
__device__ __forceinline__ Pair<Number> shuffle_down(Pair<Number> x, int by, int width) {
  return {shuffle_down(x.first, by, width), shuffle_down(x.second, by, width)};
}

// What a mean and a variance are multiplied by: 1 / n and 1 / (n - ddof), which would take a thread longer to
// divide than to add up a short line.
struct Ratios {
  double mean, variance;
};

// ---- reductions of values, each made something else first

struct NoShift {};

// A reduction of values, as SumReduction.
template <typename R>
struct Fold : R {
  static constexpr bool is_fold = true;
  using Values = R;
  using typename R::Element;
  using typename R::Item;
  using typename R::Output;
  using typename R::Partial;
  using Shift = NoShift;
  static __device__ __forceinline__ Shift shift(const Element*, long long) { return {}; }
  static __device__ __forceinline__ Shift shift_of(Element) { return {}; }
  template <int N, bool all, typename Where>
  static __device__ __forceinline__ void add(Partial& total, const Element (&x)[N], int there, Where, Shift) {
    Item items[N];
#pragma unroll
    for (int k = 0; k < N; ++k) items[k] = all || k < there ? R::item(x[k]) : R::none();
    total = R::combine(total, R::lift(tree<R, N>(items)));
  }
  static __device__ __forceinline__ Output output(Partial total, Shift, long long length, Ratios) {
    return R::output(settled(total), length);
  }
};

// Whether any element is not 0, or whether all are; a NaN is not 0.
template <typename T, bool all>
struct LogicalReduction {
  using Element = T;
  using Item = int;
  using Partial = int;  // whether one was found that decides
  using Output = bool;
  static __device__ __forceinline__ Item none() { return 0; }
  static __device__ __forceinline__ Item item(T x) { return all ? x == 0 : x != 0; }
  static __device__ __forceinline__ Item merge(Item a, Item b) { return a | b; }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) { return a | b; }
  static __device__ __forceinline__ Output output(Partial found, long long) { return (found != 0) != all; }
};

template <typename T>
struct CountReduction {
  using Element = T;
  using Item = int;
  using Partial = long long;
  using Output = long long;
  static __device__ __forceinline__ Item none() { return 0; }
  static __device__ __forceinline__ Item item(T x) { return x != 0; }
  static __device__ __forceinline__ Item merge(Item a, Item b) { return a + b; }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) { return a + b; }
  static __device__ __forceinline__ Output output(Partial total, long long) { return total; }
};

// A product of integers, which wraps.
template <typename T>
struct WholeProduct {
  using Element = T;
  using Item = long long;
  using Partial = long long;
  using Output = long long;
  static __device__ __forceinline__ Item none() { return 1; }
  static __device__ __forceinline__ Item item(T x) { return x; }
  static __device__ __forceinline__ Item merge(Item a, Item b) {
    return static_cast<long long>(static_cast<unsigned long long>(a) * static_cast<unsigned long long>(b));
  }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) { return merge(a, b); }
  static __device__ __forceinline__ Output output(Partial total, long long) { return total; }
};

// How norms are computed and written: integers as f64.
template <typename T>
struct NormType {
  using Type = double;
  using Partial = Compensated;
};
template <>
struct NormType<float> {
  using Type = float;
  using Partial = double;
};
template <typename T>
using Norm = typename NormType<T>::Type;

__device__ __forceinline__ float magnitude(float x) { return fabsf(x); }
__device__ __forceinline__ double magnitude(double x) { return fabs(x); }

// The sum of magnitudes, or the root of that of squares.
template <typename T, bool squares>
struct NormReduction : SumReduction<T, Norm<T>, typename NormType<T>::Partial, Norm<T>, false> {
  static __device__ __forceinline__ Norm<T> item(T x) {
    const auto number = static_cast<Norm<T>>(x);
    return squares ? number * number : magnitude(number);
  }
  template <typename Number>
  static __device__ __forceinline__ Norm<T> output(Number total, long long) {
    return static_cast<Norm<T>>(squares ? sqrt(total) : total);
  }
};

template <typename T>
struct LargestMagnitude : ExtremeReduction<Norm<T>, true> {
  using Element = T;
  using Item = Norm<T>;
  static __device__ __forceinline__ Item none() { return 0; }
  static __device__ __forceinline__ Item item(T x) { return magnitude(static_cast<Norm<T>>(x)); }
};

// The smallest and the largest element.
template <typename T>
struct BothExtremes {
  using Element = T;
  using Item = Pair<T>;
  using Partial = Pair<T>;
  using Output = Pair<T>;
  using Least = ExtremeReduction<T, false>;
  using Greatest = ExtremeReduction<T, true>;
  static __device__ __forceinline__ Item none() { return {Least::none(), Greatest::none()}; }
  static __device__ __forceinline__ Item item(T x) { return {x, x}; }
  static __device__ __forceinline__ Item merge(Item a, Item b) {
    return {extreme<false>(a.first, b.first), extreme<true>(a.second, b.second)};
  }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) { return merge(a, b); }
  static __device__ __forceinline__ Output output(Partial both, long long) { return both; }
};

__device__ __forceinline__ float minus(float a, float b) { return a - b; }
__device__ __forceinline__ double minus(double a, double b) { return a - b; }
__device__ __forceinline__ int minus(int a, int b) {  // wraps
  return static_cast<int>(static_cast<unsigned>(a) - static_cast<unsigned>(b));
}
__device__ __forceinline__ long long minus(long long a, long long b) {
  return static_cast<long long>(static_cast<unsigned long long>(a) - static_cast<unsigned long long>(b));
}

template <typename T>
struct Range : BothExtremes<T> {
  using Output = T;
  static __device__ __forceinline__ T output(Pair<T> both, long long) {
    return minus(both.second, both.first);
  }
};

// ---- the place of an extreme

// The first of a tile's elements that is the `best` of them. Those that are not there are 0 and stand behind
// it.
template <typename T, int N>
__device__ __forceinline__ int place_in_tile(const T (&x)[N], T best) {
  int at = 0;
  if (best == best) {
#pragma unroll
    for (int k = N - 1; k > 0; --k)
      if (x[k] == best) at = k;
    if (x[0] == best) at = 0;
  } else {
#pragma unroll
    for (int k = N - 1; k >= 0; --k)
      if (x[k] != x[k]) at = k;
  }
  return at;
}

// The extreme, and where it is first; nowhere where there is no element yet.
constexpr long long nowhere = 0x7fffffffffffffffll;
template <typename T>
struct alignas(16) Extremum {
  T value;
  long long place;
};
template <typename T>
__device__ __forceinline__ Extremum<T> shuffle_down(Extremum<T> x, int by, int width) {
  return {shuffle_down(x.value, by, width), shuffle_down(x.place, by, width)};
}

template <typename T, bool greatest>
struct PlaceReduction {
  static constexpr bool is_fold = false;
  using Element = T;
  using Item = Extremum<T>;
  using Partial = Extremum<T>;
  using Output = long long;
  using Shift = NoShift;
  using Value = ExtremeReduction<T, greatest>;

  static __device__ __forceinline__ Item none() { return {Value::none(), nowhere}; }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Shift shift(const T*, long long) { return {}; }
  static __device__ __forceinline__ Shift shift_of(T) { return {}; }

  // A NaN is better than any number.
  static __device__ __forceinline__ bool is_better(T a, T b) {
    return (greatest ? a > b : a < b) || (a != a && b == b);
  }
  static __device__ __forceinline__ bool is_same(T a, T b) { return a == b || (a != a && b != b); }

  // The extreme of a tile costs one operation per element. Where in the tile it is is looked for only if it
  // is better than all before, which is rare in a long line. Tiles come in the order of their places.
  template <int N, bool all, typename Where>
  static __device__ __forceinline__ void add(Partial& total, const T (&x)[N], int there, Where where, Shift) {
    if (!all && there == 0) return;
    T values[N];
#pragma unroll
    for (int k = 0; k < N; ++k) values[k] = all || k < there ? x[k] : Value::none();
    const T best = tree<Value, N>(values);
    if (total.place != nowhere && !is_better(best, total.value)) return;
    total = {best, where.of(place_in_tile(x, best))};
  }

  static __device__ __forceinline__ Partial combine(Partial a, Partial b) {
    if (b.place == nowhere) return a;
    const bool takes_b =
        a.place == nowhere || is_better(b.value, a.value) || (is_same(a.value, b.value) && b.place < a.place);
    return takes_b ? b : a;
  }
  static __device__ __forceinline__ Output output(Partial total, Shift, long long, Ratios) {
    return total.place;
  }
};

// Of elements of 4 bytes in a line of fewer than 2^32 - 1: in one word the element, as an integer in the
// order in which elements are better, and what is left from its place to 2^32 - 1. The greatest word counts;
// 0, of no element, is below all others.
template <typename T, bool greatest>
struct ShortPlaceReduction {
  static constexpr bool is_fold = false;
  using Element = T;
  using Item = unsigned long long;
  using Partial = unsigned long long;
  using Output = long long;
  using Shift = NoShift;
  using Value = ExtremeReduction<T, greatest>;
  static_assert(sizeof(T) == 4, "half a word is left for the place");

  static __device__ __forceinline__ Item none() { return 0; }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Shift shift(const T*, long long) { return {}; }
  static __device__ __forceinline__ Shift shift_of(T) { return {}; }

  static __device__ __forceinline__ unsigned order(int x) {
    const unsigned ascending = static_cast<unsigned>(x) ^ 0x80000000u;
    return greatest ? ascending : ~ascending;
  }
  // Infinities stay below all bits set, which are NaN's.
  static __device__ __forceinline__ unsigned order(float x) {
    if (x != x) return 0xffffffffu;
    const int bits = __float_as_int(x + 0.0f);  // -0 is 0
    const unsigned ascending =
        static_cast<unsigned>(bits) ^ (static_cast<unsigned>(bits >> 31) | 0x80000000u);
    return greatest ? ascending : ~ascending;
  }

  // As PlaceReduction.
  template <int N, bool all, typename Where>
  static __device__ __forceinline__ void add(Partial& total, const T (&x)[N], int there, Where where, Shift) {
    if (!all && there == 0) return;
    T values[N];
#pragma unroll
    for (int k = 0; k < N; ++k) values[k] = all || k < there ? x[k] : Value::none();
    const T best = tree<Value, N>(values);
    const unsigned long long high = static_cast<unsigned long long>(order(best)) << 32;
    if ((high | 0xffffffffu) < total) return;
    const unsigned place = where.short_of(place_in_tile(x, best));
    total = combine(total, high | (0xffffffffu - place));
  }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) { return a > b ? a : b; }
  static __device__ __forceinline__ Output output(Partial total, Shift, long long, Ratios) {
    return 0xffffffffu - static_cast<unsigned>(total);
  }
};

// ---- moments

// Of what the elements are above a line's first one: their sum, and that of their squares.
template <typename Sum>
struct alignas(16) Moments {
  Sum sum, squares;
};
template <typename Sum>
__device__ __forceinline__ Moments<Sum> shuffle_down(Moments<Sum> x, int by, int width) {
  return {shuffle_down(x.sum, by, width), shuffle_down(x.squares, by, width)};
}

// Adds `count` elements with the mean `mean + correction`, off which they have these squares.
__device__ __forceinline__ void add_group(Moments<double>& total, int count, double shift, float mean,
                                          float correction, float squares) {
  const double above = static_cast<double>(mean) - shift + static_cast<double>(correction);
  const double weighted = count * above;
  total.sum += weighted;
  total.squares += static_cast<double>(squares) + weighted * above;
}
// The same in twice the digits.
__device__ __forceinline__ void add_group(Moments<Compensated>& total, int count, double shift, double mean,
                                          double correction, double squares) {
  const Compensated above = plus(Compensated{mean, 0.0}, Compensated{-shift, correction});
  const double n = count;
  const double sum = __dmul_rn(n, above.high);
  total.sum = plus(total.sum, Compensated{sum, fma(n, above.high, -sum) + n * above.low});
  const double square = __dmul_rn(above.high, above.high);
  const double lost = fma(above.high, above.high, -square) + 2 * above.high * above.low;
  const double weighted = __dmul_rn(n, square);
  total.squares = plus(total.squares, Compensated{weighted, fma(n, square, -weighted) + n * lost});
  total.squares = plus(total.squares, Compensated{squares, 0.0});
}

__device__ __forceinline__ float fused(float x, float y, float z) { return fmaf(x, y, z); }
__device__ __forceinline__ double fused(double x, double y, double z) { return fma(x, y, z); }
__device__ __forceinline__ float reciprocal(float x) { return __fdividef(1.0f, x); }
__device__ __forceinline__ double reciprocal(double x) { return 1.0 / x; }

// What of a line's moments is written.
enum class Moment { variance, deviation, both };

// Two passes over a tile that is in registers: its mean, then what its elements are off it, in Number. Tiles
// are added up in a type with twice the digits, as what they are above the line's first element, so that
// little cancels: the square of the first one's distance from the mean is at most all squares together.
template <typename T, typename Number, typename Sum, Moment moment, typename Result>
struct MomentReduction {
  static constexpr bool is_fold = false;
  using Element = T;
  using Item = Moments<Sum>;
  using Partial = Moments<Sum>;
  // The line's first element, as it was loaded: what is computed of it waits for that, and may stand behind
  // the loads of the first tile.
  struct Shift {
    T first;
  };
  static constexpr bool has_both = moment == Moment::both;
  template <bool two, typename R>
  struct Written {
    using Type = R;
  };
  template <typename R>
  struct Written<true, R> {
    using Type = Pair<R>;
  };
  using Output = typename Written<has_both, Result>::Type;

  // Trees of numbers.
  struct Plain {
    using Item = Number;
    static __device__ __forceinline__ Number merge(Number a, Number b) { return a + b; }
  };

  static __device__ __forceinline__ Item none() { return {}; }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Shift shift(const T* first, long long length) {
    return {length > 0 ? load_once<0, 1>(first).element[0] : T(0)};
  }
  static __device__ __forceinline__ Shift shift_of(T first) { return {first}; }
  static __device__ __forceinline__ double number_of(Shift shift) {
    const auto x = static_cast<Number>(shift.first);
    return x - x == 0 ? static_cast<double>(x) : 0.0;  // not where it is no number
  }

  template <int N, bool all, typename Where>
  static __device__ __forceinline__ void add(Partial& total, const T (&x)[N], int there, Where, Shift shift) {
    const int count = all ? N : there;
    if (count == 0) return;
    if constexpr (N == 1) {
      add_group(total, 1, number_of(shift), static_cast<Number>(x[0]), Number(0), Number(0));
    } else {
      // The first mean need not be exact: the second pass finds what it is off. Elements that are not there
      // are 0.
      const Number inverse = all ? Number(1) / Number(N) : reciprocal(static_cast<Number>(count));
      Number values[N];
#pragma unroll
      for (int k = 0; k < N; ++k) values[k] = static_cast<Number>(x[k]);
      const Number mean = tree<Plain, N>(values) * inverse;
#pragma unroll
      for (int k = 0; k < N; ++k) values[k] = all || k < there ? static_cast<Number>(x[k]) - mean : Number(0);
      const Number rest = tree<Plain, N>(values);
      // Beside each other as many sums as an addition takes cycles; what is fused costs no addition.
      constexpr int beside = N < 4 ? N : N > 32 ? 8 : 4;
      Number part[beside] = {};
#pragma unroll
      for (int k = 0; k < N; ++k) part[k % beside] = fused(values[k], values[k], part[k % beside]);
      const Number squares = tree<Plain, beside>(part);
      const Number correction = rest - rest == 0 ? rest * inverse : Number(0);  // an infinity has none
      add_group(total, count, number_of(shift), mean, correction, squares - rest * correction);
    }
  }

  static __device__ __forceinline__ Partial combine(Partial a, Partial b) {
    return {sum_of(a.sum, b.sum), sum_of(a.squares, b.squares)};
  }
  static __device__ __forceinline__ double sum_of(double a, double b) { return a + b; }
  static __device__ __forceinline__ Compensated sum_of(Compensated a, Compensated b) { return plus(a, b); }

  static __device__ __forceinline__ Output output(Partial total, Shift shift, long long length,
                                                  Ratios ratios) {
    double above, squares;  // of the mean; the sum of what is off it
    if constexpr (sizeof(Sum) == sizeof(double)) {
      above = total.sum * ratios.mean;
      squares = fma(-total.sum, above, total.squares);
    } else {
      const double sum = settled(total.sum);
      above = sum * ratios.mean;
      // What the sum in one number and the product lose.
      const double lost = (total.sum.high - sum) + total.sum.low;
      const double rest = (fma(-above, static_cast<double>(length), sum) + lost) * ratios.mean;
      squares = fma(-sum, above, total.squares.high);
      if (rest - rest == 0.0) {  // they are numbers
        squares += total.squares.low - (sum * rest + lost * above);
        above += rest;
      }
    }
    if (squares < 0) squares = 0;
    const auto variance = static_cast<Result>(squares * ratios.variance);
    if constexpr (moment == Moment::both) {
      return {static_cast<Result>(number_of(shift) + above), variance};
    } else {
      return moment == Moment::deviation ? sqrt(variance) : variance;
    }
  }
};

// ---- products

// A number as fraction * 2^exponent, 1 <= |fraction| < 2, so that no product leaves the range before the
// last; 0, infinities and NaN have the exponent 0.
struct alignas(16) Scaled {
  double fraction;
  long long exponent;
};
__device__ __forceinline__ Scaled shuffle_down(Scaled x, int by, int width) {
  return {shuffle_down(x.fraction, by, width), shuffle_down(x.exponent, by, width)};
}
__device__ __forceinline__ Scaled scaled(double x, long long exponent) {
  long long bits = __double_as_longlong(x);
  int own = static_cast<int>(bits >> 52) & 0x7ff;
  if (own == 0) {  // 0, or less than the least normal number
    if (x == 0.0) return {x, 0};
    bits = __double_as_longlong(x * 0x1p64);
    own = (static_cast<int>(bits >> 52) & 0x7ff) - 64;
  }
  if (own == 0x7ff) return {x, 0};
  const auto kept = static_cast<unsigned long long>(bits) & 0x800fffffffffffffull;
  return {__longlong_as_double(static_cast<long long>(kept | 0x3ff0000000000000ull)), exponent + own - 1023};
}

template <typename T, typename Result>
struct ProductReduction {
  static constexpr bool is_fold = false;
  using Element = T;
  using Item = Scaled;
  using Partial = Scaled;
  using Output = Result;
  using Shift = NoShift;
  static __device__ __forceinline__ Item none() { return {1.0, 0}; }
  static __device__ __forceinline__ Partial lift(Item x) { return x; }
  static __device__ __forceinline__ Shift shift(const T*, long long) { return {}; }
  static __device__ __forceinline__ Shift shift_of(T) { return {}; }

  template <int N, bool all, typename Where>
  static __device__ __forceinline__ void add(Partial& total, const T (&x)[N], int there, Where, Shift) {
    // So many f32 and a fraction have a product within the range of f64.
    constexpr int group = sizeof(T) == 8 ? 1 : 4;
#pragma unroll
    for (int first = 0; first < N; first += group) {
      if constexpr (sizeof(T) == 8) {
        if (all || first < there) total = combine(total, scaled(static_cast<double>(x[first]), 0));
      } else {
        double product = total.fraction;
#pragma unroll
        for (int k = first; k < first + group && k < N; ++k)
          product *= all || k < there ? static_cast<double>(x[k]) : 1.0;
        total = scaled(product, total.exponent);
      }
    }
  }
  static __device__ __forceinline__ Partial combine(Partial a, Partial b) {
    return scaled(a.fraction * b.fraction, a.exponent + b.exponent);
  }
  static __device__ __forceinline__ Output output(Partial total, Shift, long long, Ratios) {
    const long long most = 4096;  // beyond any type's range
    const long long exponent = total.exponent > most ? most : total.exponent < -most ? -most : total.exponent;
    return static_cast<Output>(ldexp(total.fraction, static_cast<int>(exponent)));
  }
};

// ---- by the position of the function's word (op.h)

// `wide`: sums and products of other types are computed and written as f64. `short_places`: lines have fewer
// than 2^32 - 1 elements, of 4 bytes.
template <int function, typename T, bool wide, bool short_places = false>
struct ReductionOf;

template <typename T>
struct ReductionOf<0, T, false> : Fold<Reduction<0, T>> {};
template <typename T>
struct ReductionOf<1, T, false> : Fold<Reduction<1, T>> {};
template <typename T>
struct ReductionOf<2, T, false> : Fold<Reduction<2, T>> {};
template <typename T>
struct ReductionOf<3, T, false> : Fold<Reduction<3, T>> {};
template <typename T>
struct ReductionOf<0, T, true> : Fold<SumReduction<T, double, Compensated, double, false>> {};
template <typename T>
struct ReductionOf<3, T, true> : Fold<SumReduction<T, double, Compensated, double, true>> {};
template <typename T>
struct ReductionOf<4, T, false> : PlaceReduction<T, false> {};
template <typename T>
struct ReductionOf<5, T, false> : PlaceReduction<T, true> {};
template <typename T>
struct ReductionOf<4, T, false, true> : ShortPlaceReduction<T, false> {};
template <typename T>
struct ReductionOf<5, T, false, true> : ShortPlaceReduction<T, true> {};
template <typename T, bool wide>
struct ReductionOf<6, T, wide> : MomentReduction<T, double, Compensated, Moment::variance, double> {};
template <>
struct ReductionOf<6, float, false> : MomentReduction<float, float, double, Moment::variance, float> {};
template <typename T, bool wide>
struct ReductionOf<7, T, wide> : MomentReduction<T, double, Compensated, Moment::deviation, double> {};
template <>
struct ReductionOf<7, float, false> : MomentReduction<float, float, double, Moment::deviation, float> {};
template <typename T>
struct ReductionOf<8, T, false> : Fold<WholeProduct<T>> {};
template <>
struct ReductionOf<8, float, false> : ProductReduction<float, float> {};
template <>
struct ReductionOf<8, double, false> : ProductReduction<double, double> {};
template <typename T>
struct ReductionOf<8, T, true> : ProductReduction<T, double> {};
template <typename T>
struct ReductionOf<9, T, false> : Fold<LogicalReduction<T, false>> {};
template <typename T>
struct ReductionOf<10, T, false> : Fold<LogicalReduction<T, true>> {};
template <typename T>
struct ReductionOf<11, T, false> : Fold<CountReduction<T>> {};
template <typename T>
struct ReductionOf<12, T, false> : Fold<Range<T>> {};
template <typename T>
struct ReductionOf<13, T, false> : Fold<NormReduction<T, false>> {};
template <typename T>
struct ReductionOf<14, T, false> : Fold<NormReduction<T, true>> {};
template <typename T>
struct ReductionOf<15, T, false> : Fold<LargestMagnitude<T>> {};
template <typename T>
struct ReductionOf<16, T, false> : Fold<BothExtremes<T>> {};
template <typename T, bool wide>
struct ReductionOf<17, T, wide> : MomentReduction<T, double, Compensated, Moment::both, double> {};
template <>
struct ReductionOf<17, float, false> : MomentReduction<float, float, double, Moment::both, float> {};

// ---- what this variant is
enum class Function { sum, min, max, mean, argmin, argmax, var, std, prod, any, all, count_nonzero, ptp, norm1, norm2, norminf, min_max, mean_var };
constexpr Function function = Function::sum;
enum class Order { deterministic, atomic };
constexpr Order order = Order::deterministic;
using T = float;  // dtype=f32
constexpr int SHORT_PLACES = 0;
constexpr int BLOCK = 512;
constexpr int ITEMS = 2;
constexpr int VECTOR = 4;
constexpr int BLOCKS = 1056;
enum class Walk { strided, chunked };
constexpr Walk WALK = Walk::chunked;
enum class Finish { last, launch, mail, atomic, atomic_last };
constexpr Finish FINISH = Finish::mail;
enum class Tree { shuffle, shared };
constexpr Tree TREE = Tree::shuffle;
constexpr int AHEAD = 1;
enum class Load { plain, streaming, bypass, wide, half };
constexpr Load LOAD = Load::streaming;
enum class Start { plain, overlapped };
constexpr Start START = Start::plain;
enum class Trigger { none, early };
constexpr Trigger TRIGGER = Trigger::none;
#define ONLY_FOR_MOMENTS(...)
constexpr bool wide = false;
#define ENTRY(name) name##_a9fa472b

// ---- templates/reduce/all.cu
// SPDX-License-Identifier: Apache-2.0
// reduce with several blocks per output, along contiguous elements: for few, long reductions. The element
// type, the function, the order and the type of sums are compiled in.

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
// The reduction that a variant computes. Needs common/overlap.inl, T, function, wide, SHORT_PLACES and LOAD.
// ONLY_FOR_MOMENTS(...), which the host writes (op.cpp), has the parameters of kernels that only variances
// and deviations need; it is nothing for other functions.
using R = ReductionOf<static_cast<int>(function), T, wide, SHORT_PLACES != 0>;
using Partial = R::Partial;

static_assert(!overlapped || (LOAD != Load::bypass && LOAD != Load::wide),
              "these hints load by the read-only path");

using BlockTile = Tile<R, BLOCK, ITEMS, VECTOR, static_cast<int>(LOAD)>;

// What a thread adds up: its share of the block's whole tiles (every gridDim-th, or `chunk` in a row), and of
// the last, incomplete tile if that is the block's next.
__device__ __forceinline__ Partial part(const T* from, long long length, long long chunk, R::Shift shift) {
  constexpr bool strided = WALK == Walk::strided;
  constexpr int elements = BlockTile::elements;
  const int thread = static_cast<int>(threadIdx.x);
  const long long whole = length / elements;
  const int rest = static_cast<int>(length % elements);
  const long long step = strided ? gridDim.x : 1;
  const long long first = strided ? blockIdx.x : blockIdx.x * chunk;
  const long long end = strided || first + chunk > whole ? whole : first + chunk;

  Partial total = nothing<R>();
  long long t = first;
  if constexpr (AHEAD == 0 && R::is_fold) {
    for (; t < end; t += step) {
      BlockTile tile;
      tile.load(from + t * elements, thread);
      total = R::combine(total, tile.total());
    }
  } else if constexpr (AHEAD == 0) {
    BlockTile tile;
    if (t < end) tile.load(from + t * elements, thread);
    while (t < end) {
      tile.add_to(total, t * elements, thread, shift);
      t += step;
      if (t < end) tile.load(from + t * elements, thread);
    }
  } else if (t < end) {
    BlockTile tile;
    tile.load(from + t * elements, thread);
    for (t += step; t < end; t += step) {
      BlockTile next;
      next.load(from + t * elements, thread);
      if constexpr (R::is_fold) {
        total = R::combine(total, tile.total());
      } else {
        tile.add_to(total, (t - step) * elements, thread, shift);
      }
      tile = next;
    }
    if constexpr (R::is_fold) {
      total = R::combine(total, tile.total());
    } else {
      tile.add_to(total, (t - step) * elements, thread, shift);
    }
  }
  if (rest > 0 && t == whole && (strided || first + chunk > whole)) {
    if constexpr (R::is_fold) {
      total = R::combine(total, BlockTile::total_of(from + whole * elements, thread, rest));
    } else {
      BlockTile::add_part(total, from + whole * elements, whole * elements, thread, rest, shift);
    }
  }
  return total;
}

// SPDX-License-Identifier: Apache-2.0
// How a block's threads meet, and how the partials that blocks have stored are added up, for several blocks
// per output. Needs R, a reduction, Partial, BLOCK and TREE.
constexpr bool by_shuffles = TREE == Tree::shuffle;

// The block's first thread gets the block's total.
__device__ __forceinline__ Partial block_total(Partial partial, Partial* shared) {
  if constexpr (by_shuffles) {
    return team_total<R, BLOCK>(partial, shared);
  } else {
    return shared_total<R, BLOCK>(partial, shared);
  }
}

// A thread's share of the partials that an output's blocks have stored.
__device__ __forceinline__ Partial kept_part(const Partial* kept, unsigned count) {
  Partial total = nothing<R>();
#pragma unroll 4
  for (unsigned b = threadIdx.x; b < count; b += BLOCK) total = R::combine(total, kept[b]);
  return total;
}

constexpr int shared_partials = by_shuffles ? (BLOCK + 31) / 32 : BLOCK;

// FINISH=atomic, atomic_last: adds a block's sum. A template, because no other total can be added so.
template <typename Sum>
__device__ __forceinline__ void add_sum(typename Sum::Output* to, void* kept, unsigned output,
                                        unsigned* marks, unsigned blocks, typename Sum::Partial total,
                                        long long length) {
  if constexpr (FINISH == Finish::atomic) {
    add_atomically(to, Sum::Values::output(settled(total), length));
  } else {
    auto* const sum = static_cast<decltype(settled(total))*>(kept) + output;
    add_atomically(sum, settled(total));
    if (last_of(marks + output, blocks)) {
      volatile auto* const all = sum;
      *to = Sum::Values::output(settled(*all), length);
      *all = 0;
    }
  }
}

// The grid is blocks per output x outputs. `marks` are zero before and after: one counter per output
// (FINISH=last, atomic_last), or the words of every block's partial (mail). `kept` is one partial per block,
// or, for atomic_last, one sum per output, zero before and after.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_all)(const T* x, R::Output* y, void* marks, void* kept, long long length,
                      long long outer_stride,
                      long long chunk ONLY_FOR_MOMENTS(, double mean_ratio, double variance_ratio)) {
  __shared__ Partial shared[shared_partials];
  __shared__ bool last;
  start();
  const unsigned blocks = gridDim.x;
  const unsigned output = blockIdx.y;
  const bool first_thread = threadIdx.x == 0;
  const T* const from = x + output * outer_stride;
  const R::Shift shift = R::shift(from, length);
  const Ratios ratios = {ONLY_FOR_MOMENTS(mean_ratio, variance_ratio)};
  Partial total = part(from, length, chunk, shift);

  if constexpr (FINISH == Finish::mail) {
    // The block with the highest number waits for the others, which are started before it; they never wait.
    unsigned long long* const box = static_cast<unsigned long long*>(marks) +
                                    static_cast<long long>(output) * blocks * Mail<Partial>::words;
    const bool collects = blockIdx.x == blocks - 1;
    if (collects) {
      for (unsigned b = threadIdx.x; b < blocks - 1; b += BLOCK)
        total = R::combine(total, Mail<Partial>::fetch(box + b, blocks));
    }
    total = block_total(total, shared);
    if (first_thread) {
      if (collects) {
        y[output] = R::output(total, shift, length, ratios);
      } else {
        Mail<Partial>::post(box + blockIdx.x, blocks, total);
      }
    }
    return;
  }

  total = block_total(total, shared);
  if (blocks == 1) {
    if (first_thread) y[output] = R::output(total, shift, length, ratios);
    return;
  }
  if constexpr (FINISH == Finish::last || FINISH == Finish::launch) {
    Partial* const partials = static_cast<Partial*>(kept) + static_cast<long long>(output) * blocks;
    if (first_thread) partials[blockIdx.x] = total;
    if constexpr (FINISH == Finish::last) {
      if (first_thread) last = last_of(static_cast<unsigned*>(marks) + output, blocks);
      __syncthreads();
      if (!last) return;
      total = block_total(kept_part(partials, blocks), shared);
      if (first_thread) y[output] = R::output(total, shift, length, ratios);
    }
  } else if constexpr (FINISH == Finish::atomic || FINISH == Finish::atomic_last) {
    if (first_thread)
      add_sum<R>(y + output, kept, output, static_cast<unsigned*>(marks), blocks, total, length);
  }
}

// FINISH=launch: one block per output adds up the partials of `blocks` blocks.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_all_kept)(ONLY_FOR_MOMENTS(const T* x, ) R::Output* y, const void* kept, long long length,
                           ONLY_FOR_MOMENTS(long long outer_stride, ) int blocks
                               ONLY_FOR_MOMENTS(, double mean_ratio, double variance_ratio)) {
  __shared__ Partial shared[shared_partials];
  start();
  const unsigned output = blockIdx.x;
  const Partial* partials = static_cast<const Partial*>(kept) + static_cast<long long>(output) * blocks;
  const Partial total = block_total(kept_part(partials, static_cast<unsigned>(blocks)), shared);
  if (threadIdx.x == 0)
    y[output] = R::output(total, R::Shift{ONLY_FOR_MOMENTS(R::shift(x + output * outer_stride, length))},
                          length, Ratios{ONLY_FOR_MOMENTS(mean_ratio, variance_ratio)});
}
