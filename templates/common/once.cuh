// Accesses to global memory that move 1 to 16 bytes by one instruction: ordinary stores, and loads and stores
// of what a kernel touches only once, which stay out of the first-level cache or may leave the caches first.
// An assignment of a struct may become a store for each element.
#pragma once

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

// The kernel does not read what it stores: loads may be moved across.
template <typename V>
__device__ __forceinline__ void store_whole(V* to, const V& value) {
#if defined(TUNESMITH_HOST)
  *to = value;
#else
  AsMoved<V> both;
  both.value = value;
  if constexpr (sizeof(V) == 8) {
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(both.moved.x), "r"(both.moved.y));
  } else if constexpr (sizeof(V) == 16) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(both.moved.x), "r"(both.moved.y),
                 "r"(both.moved.z), "r"(both.moved.w));
  } else {
    *reinterpret_cast<typename Moved<sizeof(V)>::Type*>(to) = both.moved;
  }
#endif
}

// Nobody writes there while the kernel runs.
template <typename V>
__device__ __forceinline__ V load_once(const V* from) {
#if defined(TUNESMITH_HOST)
  return *from;
#else
  AsMoved<V> both;
  if constexpr (sizeof(V) == 1) {
    unsigned wide;
    asm("ld.global.nc.L1::no_allocate.u8 %0, [%1];" : "=r"(wide) : "l"(from));
    both.moved = static_cast<unsigned char>(wide);
  } else if constexpr (sizeof(V) == 2) {
    asm("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(both.moved) : "l"(from));
  } else if constexpr (sizeof(V) == 4) {
    asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(both.moved) : "l"(from));
  } else if constexpr (sizeof(V) == 8) {
    asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
        : "=r"(both.moved.x), "=r"(both.moved.y)
        : "l"(from));
  } else {
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(both.moved.x), "=r"(both.moved.y), "=r"(both.moved.z), "=r"(both.moved.w)
        : "l"(from));
  }
  return both.value;
#endif
}

template <typename V>
__device__ __forceinline__ void store_once(V* to, const V& value) {
#if defined(TUNESMITH_HOST)
  *to = value;
#else
  AsMoved<V> both;
  both.value = value;
  __stcs(reinterpret_cast<typename Moved<sizeof(V)>::Type*>(to), both.moved);
#endif
}
