// transpose/narrow for sm_90a, rendered by Tunesmith from templates/transpose/narrow.cu: change that and render again.
// compiled in: dtype=b32 TALL=0
// config: VECTOR_IN=4 VECTOR_OUT=4 STRIP=1024 BLOCK=256 ITEMS=8 LOAD=plain STORE=plain START=plain TRIGGER=none

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

// ---- templates/common/shared.cuh
// Dynamic shared memory as an array of any type, aligned to 16 bytes. On the host the shim defines it.

#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(type, name)                               \
  extern __shared__ __align__(16) unsigned char name##_bytes_[]; \
  type* name = reinterpret_cast<type*>(name##_bytes_)
#endif

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

// ---- what this variant is
using T = unsigned;  // dtype=b32
constexpr int TALL = 0;
constexpr int VECTOR_IN = 4;
constexpr int VECTOR_OUT = 4;
constexpr int STRIP = 1024;
constexpr int BLOCK = 256;
constexpr int ITEMS = 8;
enum class Load { plain, no_allocate };
constexpr Load LOAD = Load::plain;
enum class Store { plain, streaming };
constexpr Store STORE = Store::plain;
enum class Start { plain, overlapped };
constexpr Start START = Start::plain;
enum class Trigger { none, early };
constexpr Trigger TRIGGER = Trigger::none;
#define ENTRY(name) name##_493f9eda

// ---- templates/transpose/narrow.cu
// transpose where one side is short: one of the arrays has few long rows, the other is one stretch of memory
// in which their elements alternate. A block moves STRIP elements of each long row; shared memory holds them
// in the order of the stretch, so that both sides are read and written whole. TALL: the input is the stretch.
// Of an element only the size matters.

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
constexpr Hint load_hint = LOAD == Load::no_allocate ? Hint::no_allocate : Hint::none;
constexpr Hint store_hint = static_cast<Hint>(STORE);
constexpr int row_vector = TALL ? VECTOR_OUT : VECTOR_IN;
constexpr int stretch_vector = TALL ? VECTOR_IN : VECTOR_OUT;

// Strips of the few long rows of an array, to and from shared memory, where their elements alternate. Needs
// T, BLOCK, ITEMS, STRIP, element_bytes, load_hint, store_hint and row_vector.

constexpr int row_threads = STRIP / row_vector;  // side by side in a long row
constexpr int rows_at_once = BLOCK / row_threads;

// Neighbouring elements of a long row are `rows` apart: a bank is skipped after each 128 bytes, so that a
// power of two meets all banks.
__device__ __forceinline__ int place_of(int at) {
  return at + at / larger(128 / element_bytes, 1) * larger(4 / element_bytes, 1);
}

template <int N>
__device__ __forceinline__ Vector<T, N> loaded_from(const T* from) {
  return load_hinted<load_hint>(reinterpret_cast<const Vector<T, N>*>(from));
}
template <int N>
__device__ __forceinline__ void store_to(T* to, const Vector<T, N>& vector) {
  store_hinted<store_hint>(reinterpret_cast<Vector<T, N>*>(to), vector);
}

// A part of each long row: `x` is the thread's first column of it, of `columns`.
struct Strip {
  int x, first_row, rows, columns;
};

__device__ __forceinline__ void load_rows(T* shared, const T* from, long long pitch, const Strip& strip) {
  for (int y0 = strip.first_row; y0 < strip.rows; y0 += ITEMS * rows_at_once) {
    Vector<T, row_vector> loaded[ITEMS];
#pragma unroll
    for (int n = 0; n < ITEMS; ++n) {
      const int y = y0 + n * rows_at_once;
      if (y < strip.rows && strip.x < strip.columns)
        loaded[n] = loaded_from<row_vector>(from + y * pitch + strip.x);
    }
#pragma unroll
    for (int n = 0; n < ITEMS; ++n) {
      const int y = y0 + n * rows_at_once;
      if (y >= strip.rows) break;
#pragma unroll
      for (int v = 0; v < row_vector; ++v)
        shared[place_of((strip.x + v) * strip.rows + y)] = loaded[n].element[v];
    }
  }
}

__device__ __forceinline__ void store_rows(const T* shared, T* to, long long pitch, const Strip& strip) {
  if (strip.x >= strip.columns) return;
  for (int y = strip.first_row; y < strip.rows; y += rows_at_once) {
    Vector<T, row_vector> vector;
#pragma unroll
    for (int v = 0; v < row_vector; ++v) vector.element[v] = shared[place_of((strip.x + v) * strip.rows + y)];
    store_to<row_vector>(to + y * pitch + strip.x, vector);
  }
}

__device__ __forceinline__ void load_stretch(T* shared, const T* from, int count) {
  constexpr int step = BLOCK * stretch_vector;
  for (int at0 = threadIdx.x * stretch_vector; at0 < count; at0 += ITEMS * step) {
    Vector<T, stretch_vector> loaded[ITEMS];
#pragma unroll
    for (int n = 0; n < ITEMS; ++n) {
      if (at0 + n * step < count) loaded[n] = loaded_from<stretch_vector>(from + at0 + n * step);
    }
#pragma unroll
    for (int n = 0; n < ITEMS; ++n) {
      if (at0 + n * step >= count) break;
#pragma unroll
      for (int v = 0; v < stretch_vector; ++v) shared[place_of(at0 + n * step + v)] = loaded[n].element[v];
    }
  }
}

__device__ __forceinline__ void store_stretch(const T* shared, T* to, int count) {
  for (int at = threadIdx.x * stretch_vector; at < count; at += BLOCK * stretch_vector) {
    Vector<T, stretch_vector> vector;
#pragma unroll
    for (int v = 0; v < stretch_vector; ++v) vector.element[v] = shared[place_of(at + v)];
    store_to<stretch_vector>(to + at, vector);
  }
}

// Launched with one block per strip in x and one per matrix of the batch in y and z.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(transpose_narrow)(InputPointer<T> input, T* __restrict__ output, long long batch, int rows,
                            long long length, long long pitch) {
  DYNAMIC_SHARED(T, shared);
  start();
  const long long b = static_cast<long long>(blockIdx.z) * gridDim.y + blockIdx.y;
  if (b >= batch) return;
  const long long first = static_cast<long long>(blockIdx.x) * STRIP;
  const Strip strip = {static_cast<int>(threadIdx.x) % row_threads * row_vector,
                       static_cast<int>(threadIdx.x) / row_threads, rows,
                       static_cast<int>(min(length - first, static_cast<long long>(STRIP)))};
  const long long in_rows = b * rows * pitch + first;
  const long long in_stretch = (b * length + first) * rows;
  if constexpr (TALL != 0) {
    load_stretch(shared, input + in_stretch, strip.columns * rows);
    __syncthreads();
    store_rows(shared, output + in_rows, pitch, strip);
  } else {
    load_rows(shared, input + in_rows, pitch, strip);
    __syncthreads();
    store_stretch(shared, output + in_stretch, strip.columns * rows);
  }
}
