// To be read: nothing is built from this text. It is the base for
// outer=1 length=67108864 inner=1 outer_stride=0 stride=0 function=sum kind=inclusive dtype=f32 sum_dtype=same,
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// scan/base for sm_90a, rendered by Tunesmith from templates/scan/base.cu: change that and render again.
// compiled in: dtype=f32 sum_dtype=same
// config: BLOCK=256

// ---- templates/common/shared.cuh
// Dynamic shared memory as an array of any type, aligned to 16 bytes. On the host the shim defines it.

#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(type, name)                               \
  extern __shared__ __align__(16) unsigned char name##_bytes_[]; \
  type* name = reinterpret_cast<type*>(name##_bytes_)
#endif

// ---- templates/common/float16.cuh
// Floating-point numbers of 16 bits, converted from and to float; arithmetic is done in compute_type<T>.
// Conversion to 16 bits rounds to nearest even, with overflow to infinity; a NaN stays one.

struct Float16 {  // IEEE 754 binary16
  unsigned short bits;
};
struct BFloat16 {  // the upper half of a float
  unsigned short bits;
};

template <typename T>
struct ComputeType {
  using type = T;
};
template <>
struct ComputeType<Float16> {
  using type = float;
};
template <>
struct ComputeType<BFloat16> {
  using type = float;
};
// What sums and products of T are computed in: float for the types of 16 bits, else T itself.
template <typename T>
using compute_type = typename ComputeType<T>::type;

template <typename T>
__device__ __forceinline__ T to_float(T value) {
  return value;
}
__device__ __forceinline__ float to_float(Float16 value) {
#ifndef TUNESMITH_HOST
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
#else
  const unsigned sign = (value.bits & 0x8000u) << 16;
  const unsigned magnitude = value.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return __uint_as_float(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  // In a float's fields the exponent is off by the difference of the biases, 127 - 15.
  const float scaled = __uint_as_float(magnitude << 13) * 0x1p112f;
  return __uint_as_float(sign | __float_as_uint(scaled));
#endif
}
__device__ __forceinline__ float to_float(BFloat16 value) {
  return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}

template <typename T>
__device__ __forceinline__ T from_float(compute_type<T> value) {
  return value;
}
template <>
__device__ __forceinline__ Float16 from_float<Float16>(float value) {
  Float16 result;
#ifndef TUNESMITH_HOST
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
#else
  unsigned rounded = __float_as_uint(value) & 0x7fffffffu;
  const unsigned sign = __float_as_uint(value) >> 16 & 0x8000u;
  if (rounded > 0x7f800000u) {
    rounded = 0x7e00u;
  } else if (rounded >= 0x47800000u) {  // 2^16
    rounded = 0x7c00u;
  } else if (rounded < 0x38800000u) {  // 2^-14: subnormal, in units of 2^-24 as is the last place of 0.5
    rounded = __float_as_uint(__uint_as_float(rounded) + 0.5f) - 0x3f000000u;
  } else {
    rounded = (rounded - (112u << 23) + 0xfffu + (rounded >> 13 & 1u)) >> 13;
  }
  result.bits = static_cast<unsigned short>(sign | rounded);
#endif
  return result;
}
template <>
__device__ __forceinline__ BFloat16 from_float<BFloat16>(float value) {
  BFloat16 result;
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
#else
  const unsigned bits = __float_as_uint(value);
  const unsigned rounded =
      (bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u);
  result.bits = static_cast<unsigned short>(rounded >> 16);
#endif
  return result;
}

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

// ---- templates/scan/scan.cuh
// scan's functions, and how the elements of a tile are scanned by the threads of a warp. It has no kernel.


// What sums and products of T are computed in; integers wrap.
template <typename T, bool wide>
struct WideType {
  using type = double;
};
template <typename T>
struct WideType<T, false> {
  using type = compute_type<T>;
};
template <>
struct WideType<int, false> {
  using type = long long;
};
template <>
struct WideType<unsigned char, false> {
  using type = unsigned long long;
};
// What its elements are compared in.
template <typename T>
struct CompareType {
  using type = compute_type<T>;
};
template <>
struct CompareType<unsigned char> {
  using type = int;
};
// What its sums and products are stored as.
template <typename T, bool wide>
struct ResultType {
  using type = typename WideType<T, wide>::type;
};
template <>
struct ResultType<Float16, false> {
  using type = Float16;
};
template <>
struct ResultType<BFloat16, false> {
  using type = BFloat16;
};

template <typename Number>
__device__ __forceinline__ Number plus(Number a, Number b) {
  return a + b;
}
template <>
__device__ __forceinline__ long long plus(long long a, long long b) {
  return static_cast<long long>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
}
template <typename Number>
__device__ __forceinline__ Number times(Number a, Number b) {
  return a * b;
}
template <>
__device__ __forceinline__ long long times(long long a, long long b) {
  return static_cast<long long>(static_cast<unsigned long long>(a) * static_cast<unsigned long long>(b));
}

// The least and the greatest number of an element's type, as what it is compared in.
__device__ __forceinline__ void limits(const float&, float& least, float& greatest) {
  greatest = __int_as_float(0x7f800000);
  least = -greatest;
}
__device__ __forceinline__ void limits(const Float16&, float& least, float& greatest) {
  limits(0.0f, least, greatest);
}
__device__ __forceinline__ void limits(const BFloat16&, float& least, float& greatest) {
  limits(0.0f, least, greatest);
}
__device__ __forceinline__ void limits(const double&, double& least, double& greatest) {
  greatest = __longlong_as_double(0x7ff0000000000000ll);
  least = -greatest;
}
__device__ __forceinline__ void limits(const int&, int& least, int& greatest) {
  greatest = 2147483647;
  least = -greatest - 1;
}
__device__ __forceinline__ void limits(const long long&, long long& least, long long& greatest) {
  greatest = 9223372036854775807ll;
  least = -greatest - 1;
}
__device__ __forceinline__ void limits(const unsigned char&, int& least, int& greatest) {
  least = 0;
  greatest = 255;
}

// An Item is what is combined: associative, with none() as its identity. In the order of the function's
// words; wide: sums and products are doubles.
template <int function, typename T, bool wide>
struct Scan;
template <typename T, bool wide>
struct Scan<0, T, wide> {  // sum
  using Item = typename WideType<T, wide>::type;
  using Output = typename ResultType<T, wide>::type;
  static __device__ __forceinline__ Item none() { return 0; }
  static __device__ __forceinline__ Item item(T x) { return static_cast<Item>(to_float(x)); }
  static __device__ __forceinline__ Item combine(Item a, Item b) { return plus(a, b); }
  static __device__ __forceinline__ Output output(Item x) { return from_float<Output>(x); }
};
template <typename T, bool wide>
struct Scan<1, T, wide> : Scan<0, T, wide> {  // product
  using Item = typename WideType<T, wide>::type;
  static __device__ __forceinline__ Item none() { return 1; }
  static __device__ __forceinline__ Item combine(Item a, Item b) { return times(a, b); }
};
template <bool greatest, typename T>
struct Extreme {
  using Item = typename CompareType<T>::type;
  using Output = T;
  static __device__ __forceinline__ Item none() {
    Item low, high;
    limits(T(), low, high);
    return greatest ? low : high;
  }
  static __device__ __forceinline__ Item item(T x) { return static_cast<Item>(to_float(x)); }
  // NaN stays, as in NumPy.
  static __device__ __forceinline__ Item combine(Item a, Item b) {
    return (greatest ? a > b : a < b) || a != a ? a : b;
  }
  static __device__ __forceinline__ Output output(Item x) {
    return from_float<T>(static_cast<compute_type<T>>(x));
  }
};
template <typename T, bool wide>
struct Scan<2, T, wide> : Extreme<true, T> {};
template <typename T, bool wide>
struct Scan<3, T, wide> : Extreme<false, T> {};
template <bool every, typename T>
struct Logical {
  using Item = int;  // 0 or 1
  using Output = bool;
  static __device__ __forceinline__ Item none() { return every; }
  static __device__ __forceinline__ Item item(T x) { return to_float(x) != 0; }  // NaN counts as true
  static __device__ __forceinline__ Item combine(Item a, Item b) { return every ? a & b : a | b; }
  static __device__ __forceinline__ Output output(Item x) { return x != 0; }
};
template <typename T, bool wide>
struct Scan<4, T, wide> : Logical<false, T> {};
template <typename T, bool wide>
struct Scan<5, T, wide> : Logical<true, T> {};

// Streaming stores are of 4 bytes at least.
template <bool streams, int N, typename Element>
__device__ __forceinline__ void store_whole(Element* to, const Vector<Element, N>& vector) {
  if constexpr (streams && sizeof(vector) >= 4) {
    store_vector_streaming(to, vector);
  } else {
    store_vector(to, vector);
  }
}

// ---- a warp

// The items of lanes up to each one, of WIDTH lanes each.
template <typename S, int WIDTH>
__device__ __forceinline__ typename S::Item scan_lanes(typename S::Item item, int lane) {
#pragma unroll
  for (int by = 1; by < WIDTH; by *= 2) {
    const typename S::Item before = __shfl_up_sync(0xffffffffu, item, by, WIDTH);
    if (lane >= by) item = S::combine(before, item);
  }
  return item;
}

// All items of WIDTH lanes, in each of them.
template <typename S, int WIDTH>
__device__ __forceinline__ typename S::Item fold_lanes(typename S::Item item, int lane) {
  return __shfl_sync(0xffffffffu, scan_lanes<S, WIDTH>(item, lane), WIDTH - 1, WIDTH);
}

// How a stretch may end before it is full: not at all; after a whole vector; anywhere.
enum class End { full, vector, element };

// A stretch of neighbouring elements of a line: ITEMS rounds of a vector for each of WIDTH lanes.
template <typename S, typename T, int WIDTH, int ITEMS, int VECTOR>
struct Stretch {
  using Item = typename S::Item;
  using Output = typename S::Output;
  static constexpr int elements = WIDTH * ITEMS * VECTOR;

  Item item[ITEMS][VECTOR];  // after scan() what the lane's own vector has up to each element
  Item before[ITEMS];        // after scan() what the stretch has before the lane's vector

  static __device__ __forceinline__ int place(int i, int lane) { return (i * WIDTH + lane) * VECTOR; }

  // `left` elements of the line are at `from`.
  template <Hint HINT, End END>
  __device__ __forceinline__ void load(const T* from, int lane, int left) {
    Vector<T, VECTOR> vector[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int at = place(i, lane);
      if (END == End::full || at + VECTOR <= left) {
        vector[i] = load_hinted<HINT>(reinterpret_cast<const Vector<T, VECTOR>*>(from + at));
      } else if (END == End::element && VECTOR > 1) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v)
          if (at + v < left) vector[i].element[v] = from[at + v];
      }
    }
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
      for (int v = 0; v < VECTOR; ++v)
        item[i][v] =
            END == End::full || place(i, lane) + v < left ? S::item(vector[i].element[v]) : S::none();
    }
  }

  // Returns all of the stretch. Every lane of the warp takes part.
  __device__ __forceinline__ Item scan(int lane) {
    Item up_to[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
      for (int v = 1; v < VECTOR; ++v) item[i][v] = S::combine(item[i][v - 1], item[i][v]);
      up_to[i] = scan_lanes<S, WIDTH>(item[i][VECTOR - 1], lane);
    }
    Item all = S::none();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      Item of_others = __shfl_up_sync(0xffffffffu, up_to[i], 1, WIDTH);
      if (lane == 0) of_others = S::none();
      before[i] = S::combine(all, of_others);
      all = S::combine(all, __shfl_sync(0xffffffffu, up_to[i], WIDTH - 1, WIDTH));
    }
    return all;
  }

  // `carried` is what the line has before the stretch.
  template <bool exclusive, bool streams, End END>
  __device__ __forceinline__ void store(Output* to, int lane, int left, Item carried) const {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int at = place(i, lane);
      const Item earlier = S::combine(carried, before[i]);
      Vector<Output, VECTOR> vector;
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) {
        if constexpr (exclusive) {
          vector.element[v] = S::output(v == 0 ? earlier : S::combine(earlier, item[i][v == 0 ? 0 : v - 1]));
        } else {
          vector.element[v] = S::output(S::combine(earlier, item[i][v]));
        }
      }
      if (END == End::full || at + VECTOR <= left) {
        store_whole<streams>(to + at, vector);
      } else if (END == End::element && VECTOR > 1) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v)
          if (at + v < left) to[at + v] = vector.element[v];
      }
    }
  }
};

// ---- what this variant is
using T = float;  // dtype=f32
enum class SumDtype { same, f64 };
constexpr SumDtype sum_dtype = SumDtype::same;
constexpr int BLOCK = 256;
#define ENTRY(name) name##_776fc696

// ---- templates/scan/base.cu
// scan, the plain kernels: one thread per line; where lines are few and long, one block per line, whose
// threads have 8 neighbouring elements each of a tile and scan their totals in shared memory. Only the
// element type and that of sums are compiled in.


// One thread per line. 32 elements are combined before they are added to what is before them, and again 32 of
// those, so that a sum has fewer roundings behind it.
template <int which, bool exclusive>
__device__ __forceinline__ void scan_line(const T* from, void* y, long long to, long long length,
                                          long long inner, long long stride) {
  using S = Scan<which, T, sum_dtype == SumDtype::f64>;
  typename S::Output* const result = static_cast<typename S::Output*>(y) + to;
  typename S::Item far = S::none(), near = S::none(), own = S::none();
  for (long long l = 0; l < length; ++l) {
    if (l % 32 == 0) {
      near = S::combine(near, own);
      own = S::none();
    }
    if (l % 1024 == 0) {
      far = S::combine(far, near);
      near = S::none();
    }
    const typename S::Item before = S::combine(S::combine(far, near), own);
    const typename S::Item item = S::item(from[l * stride]);
    own = S::combine(own, item);
    result[l * inner] = S::output(exclusive ? before : S::combine(S::combine(far, near), own));
  }
}

// One block per line.
template <int which, bool exclusive>
__device__ __forceinline__ void scan_long_line(const T* from, void* y, unsigned char* memory, long long to,
                                               long long length, long long inner, long long stride) {
  using S = Scan<which, T, sum_dtype == SumDtype::f64>;
  using Item = typename S::Item;
  constexpr int items = 8;
  Item* const shared = reinterpret_cast<Item*>(memory);
  typename S::Output* const result = static_cast<typename S::Output*>(y) + to;
  const int thread = static_cast<int>(threadIdx.x);
  Item carried = S::none();
  for (long long tile = 0; tile < length; tile += BLOCK * items) {
    const long long first = tile + thread * items;
    Item item[items];
#pragma unroll
    for (int i = 0; i < items; ++i) {
      item[i] = first + i < length ? S::item(from[(first + i) * stride]) : S::none();
      if (i > 0) item[i] = S::combine(item[i - 1], item[i]);
    }
    Item up_to = item[items - 1];
    shared[thread] = up_to;
    __syncthreads();
#pragma unroll
    for (int by = 1; by < BLOCK; by *= 2) {
      const Item before = thread >= by ? shared[thread - by] : S::none();
      __syncthreads();
      up_to = S::combine(before, up_to);
      shared[thread] = up_to;
      __syncthreads();
    }
    const Item before = S::combine(carried, thread > 0 ? shared[thread - 1] : S::none());
    carried = S::combine(carried, shared[BLOCK - 1]);
    __syncthreads();  // the memory is the next tile's
#pragma unroll
    for (int i = 0; i < items; ++i) {
      if (first + i >= length) break;
      const Item earlier = i > 0 ? S::combine(before, item[i > 0 ? i - 1 : 0]) : before;
      result[(first + i) * inner] = S::output(exclusive ? earlier : S::combine(before, item[i]));
    }
  }
}

template <int which, bool exclusive>
__device__ __forceinline__ void scan_lines(const T* x, void* y, unsigned char* memory, long long lines,
                                           long long length, long long inner, long long outer_stride,
                                           long long stride) {
  const bool alone = memory == nullptr;
  const long long first = alone ? static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x : blockIdx.x;
  const long long step = alone ? static_cast<long long>(gridDim.x) * BLOCK : gridDim.x;
  for (long long line = first; line < lines; line += step) {
    const T* const from = x + line / inner * outer_stride + line % inner;
    const long long to = line / inner * length * inner + line % inner;
    if (alone) {
      scan_line<which, exclusive>(from, y, to, length, inner, stride);
    } else {
      scan_long_line<which, exclusive>(from, y, memory, to, length, inner, stride);
    }
  }
}

// Sums of another type are of sums and products alone.
#define TUNESMITH_SCANS(which)                                                            \
  if constexpr (which < 2 || sum_dtype == SumDtype::same) {                               \
    if (function == which && exclusive)                                                   \
      scan_lines<which, true>(x, y, memory, lines, length, inner, outer_stride, stride);  \
    if (function == which && !exclusive)                                                  \
      scan_lines<which, false>(x, y, memory, lines, length, inner, outer_stride, stride); \
  }

// One block per line; `function` is the position of the function's word.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(scan_base)(const T* x, void* y, long long lines, long long length, long long inner,
                     long long outer_stride, long long stride, int function, int exclusive) {
  DYNAMIC_SHARED(unsigned char, memory);
  TUNESMITH_SCANS(0)
  TUNESMITH_SCANS(1)
  TUNESMITH_SCANS(2)
  TUNESMITH_SCANS(3)
  TUNESMITH_SCANS(4)
  TUNESMITH_SCANS(5)
}

// One thread per line.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(scan_base_each)(const T* x, void* y, long long lines, long long length, long long inner,
                          long long outer_stride, long long stride, int function, int exclusive) {
  unsigned char* const memory = nullptr;
  TUNESMITH_SCANS(0)
  TUNESMITH_SCANS(1)
  TUNESMITH_SCANS(2)
  TUNESMITH_SCANS(3)
  TUNESMITH_SCANS(4)
  TUNESMITH_SCANS(5)
}
