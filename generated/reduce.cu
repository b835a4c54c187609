// To be read: nothing is built from this text. It is the winner on NVIDIA H200 for
// outer=1 length=268435456 inner=1 outer_stride=0 stride=0 function=sum order=deterministic dtype=f32 ddof=0 sum_dtype=same,
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// reduce/all for sm_90a, rendered by Tunesmith from templates/reduce/all.cu: change that and render again.
// compiled in: function=sum order=deterministic dtype=f32 sum_dtype=same
// config: BLOCK=512 ITEMS=2 VECTOR=4 BLOCKS=1056 WALK=chunked FINISH=mail TREE=shuffle AHEAD=1 LOAD=streaming START=plain TRIGGER=none

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

// ---- templates/reduce/reduction.cuh
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

// ITEMS vectors for each of THREADS threads; a thread's own are THREADS vectors apart.
template <typename R, int THREADS, int ITEMS, int VECTOR, int HINT>
struct Tile {
  using Element = typename R::Element;
  using Item = typename R::Item;
  static constexpr int elements = THREADS * ITEMS * VECTOR;

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

// ---- what this variant is
enum class Function { sum, min, max, mean, argmin, argmax, var, std, prod, any, all, count_nonzero, ptp, norm1, norm2, norminf, min_max, mean_var };
constexpr Function function = Function::sum;
enum class Order { deterministic, atomic };
constexpr Order order = Order::deterministic;
using T = float;  // dtype=f32
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
#define ENTRY(name) name##_457623a9

// ---- templates/reduce/all.cu
// reduce with several blocks per output, along contiguous elements: for few, long reductions. The element
// type, the function and the order are compiled in.

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

using R = Reduction<static_cast<int>(function), T>;
using Partial = R::Partial;

static_assert(!overlapped || (LOAD != Load::bypass && LOAD != Load::wide),
              "these hints load by the read-only path");
using BlockTile = Tile<R, BLOCK, ITEMS, VECTOR, static_cast<int>(LOAD)>;

// What a thread adds up: its share of the block's whole tiles (every gridDim-th, or `chunk` in a row), and of
// the last, incomplete tile if that is the block's next.
__device__ __forceinline__ Partial part(const T* from, long long length, long long chunk) {
  constexpr bool strided = WALK == Walk::strided;
  const int thread = static_cast<int>(threadIdx.x);
  const long long whole = length / BlockTile::elements;
  const int rest = static_cast<int>(length % BlockTile::elements);
  const long long step = strided ? gridDim.x : 1;
  const long long first = strided ? blockIdx.x : blockIdx.x * chunk;
  const long long end = strided || first + chunk > whole ? whole : first + chunk;

  Partial total = nothing<R>();
  long long t = first;
  if constexpr (AHEAD == 0) {
    for (; t < end; t += step) {
      BlockTile tile;
      tile.load(from + t * BlockTile::elements, thread);
      total = R::combine(total, tile.total());
    }
  } else if (t < end) {
    BlockTile tile;
    tile.load(from + t * BlockTile::elements, thread);
    for (t += step; t < end; t += step) {
      BlockTile next;
      next.load(from + t * BlockTile::elements, thread);
      total = R::combine(total, tile.total());
      tile = next;
    }
    total = R::combine(total, tile.total());
  }
  if (rest > 0 && t == whole && (strided || first + chunk > whole)) {
    total = R::combine(total, BlockTile::total_of(from + whole * BlockTile::elements, thread, rest));
  }
  return total;
}

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

// The grid is blocks per output x outputs. `marks` are zero before and after: one counter per output
// (FINISH=last, atomic_last), or the words of every block's partial (mail). `kept` is one partial per block,
// or, for atomic_last, one sum per output, zero before and after.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_all)(const T* x, R::Output* y, void* marks, void* kept, long long length,
                      long long outer_stride, long long chunk) {
  __shared__ Partial shared[shared_partials];
  __shared__ bool last;
  start();
  const unsigned blocks = gridDim.x;
  const unsigned output = blockIdx.y;
  const bool first_thread = threadIdx.x == 0;
  Partial total = part(x + output * outer_stride, length, chunk);

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
        y[output] = R::output(settled(total), length);
      } else {
        Mail<Partial>::post(box + blockIdx.x, blocks, total);
      }
    }
    return;
  }

  total = block_total(total, shared);
  if (blocks == 1) {
    if (first_thread) y[output] = R::output(settled(total), length);
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
      if (first_thread) y[output] = R::output(settled(total), length);
    }
  } else if constexpr (FINISH == Finish::atomic) {
    if (first_thread) add_atomically(y + output, R::output(settled(total), length));
  } else {
    if (first_thread) {
      auto* const sum = static_cast<decltype(settled(total))*>(kept) + output;
      add_atomically(sum, settled(total));
      if (last_of(static_cast<unsigned*>(marks) + output, blocks)) {
        volatile auto* const all = sum;
        y[output] = R::output(settled(*all), length);
        *all = 0;
      }
    }
  }
}

// FINISH=launch: one block per output adds up the partials of `blocks` blocks.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_all_kept)(R::Output* y, const void* kept, long long length, int blocks) {
  __shared__ Partial shared[shared_partials];
  start();
  const Partial* partials = static_cast<const Partial*>(kept) + static_cast<long long>(blockIdx.x) * blocks;
  const Partial total = block_total(kept_part(partials, static_cast<unsigned>(blocks)), shared);
  if (threadIdx.x == 0) y[blockIdx.x] = R::output(settled(total), length);
}
