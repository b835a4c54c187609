// To be read: nothing is built from this text. It is the base for
// outer=1 length=67108864 inner=1 outer_stride=0 stride=0 function=sum kind=inclusive dtype=f32 sum_dtype=same direction=forward expression=none identity=none,
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// scan/base for sm_90a, rendered by Tunesmith from templates/scan/base.cu: change that and render again.
// compiled in: dtype=f32 sum_dtype=same expression=none identity=none
// config: BLOCK=256

// ---- templates/common/shared.cuh
// SPDX-License-Identifier: Apache-2.0
// Dynamic shared memory as an array of any type, aligned to 16 bytes. On the host the shim defines it.

#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(type, name)                               \
  extern __shared__ __align__(16) unsigned char name##_bytes_[]; \
  type* name = reinterpret_cast<type*>(name##_bytes_)
#endif

// ---- templates/common/float16.cuh
// SPDX-License-Identifier: Apache-2.0
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

// ---- templates/common/functions.cuh
// SPDX-License-Identifier: Apache-2.0
// The operations that generated functions are made of, for float, double, int and long long. Integers wrap;
// an integer divided by zero is 0, and so is the remainder.


namespace elementwise {

template <typename X>
struct Wrapping {
  using type = X;
};
template <>
struct Wrapping<int> {
  using type = unsigned;
};
template <>
struct Wrapping<long long> {
  using type = unsigned long long;
};
template <typename X>
constexpr bool is_real = false;
template <>
constexpr bool is_real<float> = true;
template <>
constexpr bool is_real<double> = true;

template <typename X>
__device__ __forceinline__ X negate(X x) {
  if constexpr (is_real<X>) return -x;
  return static_cast<X>(0 - static_cast<typename Wrapping<X>::type>(x));
}
template <typename X>
__device__ __forceinline__ X add(X x, X y) {
  using W = typename Wrapping<X>::type;
  return static_cast<X>(static_cast<W>(x) + static_cast<W>(y));
}
template <typename X>
__device__ __forceinline__ X subtract(X x, X y) {
  using W = typename Wrapping<X>::type;
  return static_cast<X>(static_cast<W>(x) - static_cast<W>(y));
}
template <typename X>
__device__ __forceinline__ X multiply(X x, X y) {
  using W = typename Wrapping<X>::type;
  return static_cast<X>(static_cast<W>(x) * static_cast<W>(y));
}
template <typename X>
__device__ __forceinline__ X divide(X x, X y) {
  if constexpr (is_real<X>) {
    return x / y;
  } else {
    if (y == 0) return 0;
    return y == -1 ? negate(x) : x / y;  // the least integer has no opposite
  }
}
// 1 / x, rounded as IEEE's but without its branches: Newton's step from the device's approximation, of x
// times a power of two where x or the result has no full precision.
__device__ __forceinline__ double reciprocal(double x) { return 1 / x; }
__device__ __forceinline__ float reciprocal(float x) {
#ifdef TUNESMITH_HOST
  return 1 / x;
#else
  const float size = ::fabsf(x);
  const float scale = size < 0x1p-126f ? 0x1p24f : size >= 0x1p126f ? 0x1p-24f : 1.0f;
  const float scaled = x * scale;
  float result;  // an error that is not small is that of 0, infinity and NaN
  asm("{\n\t.reg .pred small;\n\t.reg .f32 rough, error, better;\n\t"
      "rcp.approx.ftz.f32 rough, %1;\n\t"
      "fma.rn.f32 error, %2, rough, 0f3F800000;\n\t"
      "fma.rn.f32 better, rough, error, rough;\n\t"
      "abs.f32 error, error;\n\t"
      "setp.lt.f32 small, error, 0f3F800000;\n\t"
      "selp.f32 %0, better, rough, small;\n\t}"
      : "=f"(result)
      : "f"(scaled), "f"(-scaled));
  return result * scale;
#endif
}
template <typename X>
__device__ __forceinline__ X remainder_of(X x, X y) {
  if constexpr (is_real<X>) {
    return ::fmod(x, y);
  } else {
    return y == 0 || y == -1 ? 0 : x % y;
  }
}

template <typename X>
__device__ __forceinline__ X less(X x, X y) {
  return x < y ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X less_equal(X x, X y) {
  return x <= y ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X greater(X x, X y) {
  return x > y ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X greater_equal(X x, X y) {
  return x >= y ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X equal(X x, X y) {
  return x == y ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X not_equal(X x, X y) {
  return x != y ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X logical_not(X x) {
  return x == 0 ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X logical_and(X x, X y) {
  return x != 0 && y != 0 ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X logical_or(X x, X y) {
  return x != 0 || y != 0 ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X choose(X condition, X yes, X no) {
  return condition != 0 ? yes : no;
}

template <typename X>
__device__ __forceinline__ X abs(X x) {
  if constexpr (is_real<X>) return ::fabs(x);
  return x < 0 ? negate(x) : x;
}
// NaN where either operand is, as numpy.minimum and numpy.maximum.
template <typename X>
__device__ __forceinline__ X min(X x, X y) {
  return x != x || x < y ? x : y;
}
template <typename X>
__device__ __forceinline__ X max(X x, X y) {
  return x != x || x > y ? x : y;
}

#define TUNESMITH_CALL_1(name)             \
  template <typename X>                    \
  __device__ __forceinline__ X name(X x) { \
    return ::name(x);                      \
  }
#define TUNESMITH_CALL_2(name)                  \
  template <typename X>                         \
  __device__ __forceinline__ X name(X x, X y) { \
    return ::name(x, y);                        \
  }
TUNESMITH_CALL_1(sqrt)
TUNESMITH_CALL_1(rsqrt)
TUNESMITH_CALL_1(cbrt)
TUNESMITH_CALL_1(exp)
TUNESMITH_CALL_1(exp2)
TUNESMITH_CALL_1(expm1)
TUNESMITH_CALL_1(log)
TUNESMITH_CALL_1(log2)
TUNESMITH_CALL_1(log10)
TUNESMITH_CALL_1(log1p)
TUNESMITH_CALL_1(sin)
TUNESMITH_CALL_1(cos)
TUNESMITH_CALL_1(tan)
TUNESMITH_CALL_1(asin)
TUNESMITH_CALL_1(acos)
TUNESMITH_CALL_1(atan)
TUNESMITH_CALL_1(sinh)
TUNESMITH_CALL_1(cosh)
TUNESMITH_CALL_1(tanh)
TUNESMITH_CALL_1(erf)
TUNESMITH_CALL_1(erfc)
TUNESMITH_CALL_1(floor)
TUNESMITH_CALL_1(ceil)
TUNESMITH_CALL_1(trunc)
TUNESMITH_CALL_1(rint)
TUNESMITH_CALL_2(pow)
TUNESMITH_CALL_2(atan2)
#undef TUNESMITH_CALL_1
#undef TUNESMITH_CALL_2

// A number's bits, as integers that are ordered as the numbers from 0 on, NaN above all.
template <typename X>
struct Layout;
template <>
struct Layout<float> {
  using Bits = int;
  static constexpr Bits exponent = 0x7f800000, lowest = 0x00800000;  // all of the exponent's bits; the last
  static __device__ __forceinline__ Bits bits(float x) { return __float_as_int(x); }
  static __device__ __forceinline__ float number(Bits x) { return __int_as_float(x); }
};
template <>
struct Layout<double> {
  using Bits = long long;
  static constexpr Bits exponent = 0x7ff0000000000000, lowest = 0x0010000000000000;
  static __device__ __forceinline__ Bits bits(double x) { return __double_as_longlong(x); }
  static __device__ __forceinline__ double number(Bits x) { return __longlong_as_double(x); }
};

// The square root of 2^-100 to 2^100, or of 0 NaN, rounded as IEEE's, which has branches for the others.
__device__ __forceinline__ float sqrt_of_medium(float x) {
#ifdef TUNESMITH_HOST
  return ::sqrtf(x);
#else
  float inverse;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  const float root = x * inverse;
  return ::fmaf(::fmaf(-root, root, x), 0.5f * inverse, root);
#endif
}
__device__ __forceinline__ double sqrt_of_medium(double x) { return ::sqrt(x); }

// Both sides are multiplied by a power of two, so that no square overflows or is lost and nothing branches.
// 0, infinity and NaN are their own result.
template <typename X>
__device__ __forceinline__ X hypot(X x, X y) {
  using L = Layout<X>;
  using Bits = typename L::Bits;
  const Bits longer = ::max(L::bits(::fabs(x)), L::bits(::fabs(y)));
  const Bits power = ::max(longer & L::exponent, 2 * L::lowest);
  const X scale = L::number(L::exponent - power);
  x *= scale;
  y *= scale;
  const X root = sqrt_of_medium(x * x + y * y);
  return longer > 0 && longer < L::exponent ? root * L::number(power - L::lowest) : L::number(longer);
}

// Out of line: the rare path is not repeated in the code of every unrolled element.
__device__ __noinline__ float2 sin_cos_of_large(float x) { return make_float2(::sinf(x), ::cosf(x)); }

// Sine and cosine share the reduction to [-pi/4, pi/4]: the angle less its nearest multiple of pi/2, which is
// subtracted in three parts (Cody and Waite), then minimax polynomials. Below 71476 the error is at most 1.49
// units in the last place (every float was tried); larger angles need more digits of pi.
__device__ __forceinline__ void sin_cos(float x, float& sine, float& cosine) {
  if (::fabsf(x) > 71476.0f) {
    const float2 both = sin_cos_of_large(x);
    sine = both.x;
    cosine = both.y;
    return;
  }
  const float shifted = ::fmaf(x, 0x1.45f306p-1f, 0x1.8p+23f);  // 2/pi; the integer is in the low bits
  const unsigned quadrant = __float_as_uint(shifted);
  const float multiple = shifted - 0x1.8p+23f;
  float r = ::fmaf(multiple, -0x1.921fb0p+00f, x);
  r = ::fmaf(multiple, -0x1.5110b4p-22f, r);
  r = ::fmaf(multiple, -0x1.846988p-48f, r);
  const float square = r * r;
  float c = ::fmaf(0x1.9a8000p-16f, square, -0x1.6c0efap-10f);
  c = ::fmaf(c, square, 0x1.555550p-5f);
  c = ::fmaf(c, square, -0.5f);
  c = ::fmaf(c, square, 1.0f);
  float s = ::fmaf(0x1.80a000p-19f, square, -0x1.a0690cp-13f);
  s = ::fmaf(s, square, 0x1.111182p-7f);
  s = ::fmaf(s, square, -0x1.555556p-3f);
  s = ::fmaf(s, r * square, r);
  const bool odd = quadrant & 1;
  const float first = odd ? c : s;
  const float second = odd ? s : c;
  sine = __int_as_float(__float_as_int(first) ^ static_cast<int>((quadrant & 2u) << 30));
  cosine = __int_as_float(__float_as_int(second) ^ static_cast<int>(((quadrant + 1) & 2u) << 30));
}
__device__ __forceinline__ void sin_cos(double x, double& sine, double& cosine) {
#ifdef TUNESMITH_HOST
  sine = ::sin(x);
  cosine = ::cos(x);
#else
  ::sincos(x, &sine, &cosine);
#endif
}

}  // namespace elementwise

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

// ---- templates/scan/scan.cuh
// SPDX-License-Identifier: Apache-2.0
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

// What a problem's expression makes of two numbers, and what an exclusive scan begins with: generated.
template <typename Number>
struct Expression;
// Either a number or nothing, so that an expression needs no number that changes nothing.
template <typename Number>
struct Optional {
  Number value;
  int is_there;
};
template <typename T, bool wide>
struct Scan<6, T, wide> {
  using Number = compute_type<T>;
  using Item = Optional<Number>;
  using Output = T;
  static __device__ __forceinline__ Item none() { return {0, 0}; }
  static __device__ __forceinline__ Item item(T x) { return {to_float(x), 1}; }
  static __device__ __forceinline__ Item combine(const Item& a, const Item& b) {
    if (!b.is_there) return a;
    return {a.is_there ? Expression<Number>::combine(a.value, b.value) : b.value, 1};
  }
  static __device__ __forceinline__ Output output(const Item& x) {
    return from_float<T>(x.is_there ? x.value : Expression<Number>::first());
  }
};

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

template <typename Number>
__device__ __forceinline__ Number from_lane_below(const Number& item, int by, int width) {
  return __shfl_up_sync(0xffffffffu, item, by, width);
}
template <typename Number>
__device__ __forceinline__ Optional<Number> from_lane_below(const Optional<Number>& item, int by, int width) {
  return {from_lane_below(item.value, by, width), from_lane_below(item.is_there, by, width)};
}
template <typename Number>
__device__ __forceinline__ Number from_lane(const Number& item, int lane, int width) {
  return __shfl_sync(0xffffffffu, item, lane, width);
}
template <typename Number>
__device__ __forceinline__ Optional<Number> from_lane(const Optional<Number>& item, int lane, int width) {
  return {from_lane(item.value, lane, width), from_lane(item.is_there, lane, width)};
}

// The items of lanes up to each one, of WIDTH lanes each.
template <typename S, int WIDTH>
__device__ __forceinline__ typename S::Item scan_lanes(typename S::Item item, int lane) {
#pragma unroll
  for (int by = 1; by < WIDTH; by *= 2) {
    const typename S::Item before = from_lane_below(item, by, WIDTH);
    if (lane >= by) item = S::combine(before, item);
  }
  return item;
}

// All items of WIDTH lanes, in each of them.
template <typename S, int WIDTH>
__device__ __forceinline__ typename S::Item fold_lanes(typename S::Item item, int lane) {
  return from_lane(scan_lanes<S, WIDTH>(item, lane), WIDTH - 1, WIDTH);
}

// How a stretch may end before it is full: not at all; after a whole vector; anywhere.
enum class End { full, vector, element };

// A stretch of neighbouring elements of a line: ITEMS rounds of a vector for each of WIDTH lanes. REVERSE:
// the last element comes first; all places but `left` and `from` are in the order of the scan.
template <typename S, typename T, int WIDTH, int ITEMS, int VECTOR, bool REVERSE>
struct Stretch {
  using Item = typename S::Item;
  using Output = typename S::Output;
  static constexpr int elements = WIDTH * ITEMS * VECTOR;

  Vector<T, VECTOR> loaded[ITEMS];
  Item item[ITEMS][VECTOR];  // after scan() what the lane's own vector has up to each element
  Item before[ITEMS];        // after scan() what the stretch has before the lane's vector

  // Where the memory of round i begins, and which of its elements is number v.
  static __device__ __forceinline__ int place(int i, int lane) {
    const int at = (i * WIDTH + lane) * VECTOR;
    return REVERSE ? elements - VECTOR - at : at;
  }
  static constexpr __device__ __forceinline__ int element(int v) { return REVERSE ? VECTOR - 1 - v : v; }

  // `left` elements of the line are at `from` and behind it.
  template <Hint HINT, End END>
  __device__ __forceinline__ void load(const T* from, int lane, int left) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int at = place(i, lane);
      if (END == End::full || at + VECTOR <= left) {
        loaded[i] = load_hinted<HINT>(reinterpret_cast<const Vector<T, VECTOR>*>(from + at));
      } else if (END == End::element && VECTOR > 1) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v)
          if (at + v < left) loaded[i].element[v] = from[at + v];
      }
    }
  }

  // The same as scan() returns, combined in another order, before scan() takes its time.
  template <End END>
  __device__ __forceinline__ Item total(int lane, int left) const {
    Item all = S::none();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
      for (int v = 0; v < VECTOR; ++v)
        if (END == End::full || place(i, lane) + v < left)
          all = S::combine(all, S::item(loaded[i].element[v]));
    }
    return fold_lanes<S, WIDTH>(all, lane);
  }

  // Returns all of the stretch, of which `left` elements were loaded. Every lane of the warp takes part.
  template <End END>
  __device__ __forceinline__ Item scan(int lane, int left) {
    Item up_to[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) {
        const bool is_there = END == End::full || place(i, lane) + element(v) < left;
        item[i][v] = is_there ? S::item(loaded[i].element[element(v)]) : S::none();
        if (v > 0) item[i][v] = S::combine(item[i][v > 0 ? v - 1 : 0], item[i][v]);
      }
      up_to[i] = scan_lanes<S, WIDTH>(item[i][VECTOR - 1], lane);
    }
    Item all = S::none();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      Item of_others = from_lane_below(up_to[i], 1, WIDTH);
      if (lane == 0) of_others = S::none();
      before[i] = S::combine(all, of_others);
      all = S::combine(all, from_lane(up_to[i], WIDTH - 1, WIDTH));
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
        Output& result = vector.element[element(v)];
        if constexpr (exclusive) {
          result = S::output(v == 0 ? earlier : S::combine(earlier, item[i][v == 0 ? 0 : v - 1]));
        } else {
          result = S::output(S::combine(earlier, item[i][v]));
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
constexpr bool has_expression = false;
#define ENTRY(name) name##_e0ed9496

// ---- templates/scan/base.cu
// SPDX-License-Identifier: Apache-2.0
// scan, the plain kernels: a thread, a warp or a block per line, or per part of a line where lines are few
// and long. Such a line takes two launches: of each part but the last its total; then the results of each
// part, behind the totals of those before it. Only the types and an expression are compiled in.


constexpr int items = 8;  // of a thread, loaded before the first is used

// A part of a line; places are in the order of the scan, whatever that is in the memory.
template <typename S>
struct Part {
  using Item = typename S::Item;
  const T* from;           // the line's first
  typename S::Output* to;  // likewise
  long long from_step, to_step;
  long long begin, end;
  int shift;  // 1: an exclusive scan, in which an element counts from the next place on

  // Of the places from `first` on, of which a warp has 32 * items at most.
  __device__ __forceinline__ int left(long long first) const {
    const long long there = end - first;
    return static_cast<int>(there < 0 ? 0 : there < 32 * items ? there : 32 * items);
  }
  // A thread's places are `apart` from each other.
  __device__ __forceinline__ void load(long long first, int apart, Item (&item)[items]) const {
    const T* at = from + (first - shift) * from_step;
    const int there = left(first);
#pragma unroll
    for (int i = 0; i < items; ++i) {
      item[i] = i * apart < there && (i > 0 || first >= shift) ? S::item(*at) : S::none();
      at += apart * from_step;
    }
  }
  __device__ __forceinline__ void store(long long first, int apart, const Item (&item)[items],
                                        const Item& before) const {
    typename S::Output* at = to + first * to_step;
    const int there = left(first);
#pragma unroll
    for (int i = 0; i < items; ++i) {
      if (i * apart < there) *at = S::output(S::combine(before, item[i]));
      at += apart * to_step;
    }
  }
};

// By one thread. 32 elements are combined before they are added to what is before them, and again 32 of
// those, so that a sum has fewer roundings behind it. Returns `carried` with all elements of the part.
template <typename S>
__device__ __forceinline__ typename S::Item scan_alone(const Part<S>& part, typename S::Item carried,
                                                       bool has_results) {
  using Item = typename S::Item;
  Item near = S::none(), own = S::none();
  for (long long first = part.begin; first < part.end; first += items) {
    Item item[items];
    part.load(first, 1, item);
    if ((first - part.begin) % 32 == 0) {
      near = S::combine(near, own);
      own = S::none();
    }
    if ((first - part.begin) % 1024 == 0) {
      carried = S::combine(carried, near);
      near = S::none();
    }
#pragma unroll
    for (int i = 0; i < items; ++i) item[i] = own = S::combine(own, item[i]);
    if (has_results) part.store(first, 1, item, S::combine(carried, near));
  }
  return S::combine(S::combine(carried, near), own);
}

// The same by a team of `team` threads, a warp or a block. `totals` has a place for each warp. All teams of a
// block go through `length` elements, so that all threads of a warp reach the same line.
template <typename S>
__device__ __forceinline__ typename S::Item scan_by_team(const Part<S>& part, long long length,
                                                         typename S::Item carried, typename S::Item* totals,
                                                         int team, bool has_results) {
  using Item = typename S::Item;
  const int thread = static_cast<int>(threadIdx.x) % team, lane = thread % 32, warp = thread / 32;
  for (long long tile = 0; tile < length; tile += team * items) {
    const long long first = part.begin + tile + warp * 32 * items + lane;
    Item item[items];
    part.load(first, 32, item);
    Item total = S::none();
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const Item up_to = scan_lanes<S, 32>(item[i], lane);
      item[i] = S::combine(total, up_to);
      total = S::combine(total, from_lane(up_to, 31, 32));
    }
    Item before = carried;
    if (team > 32) {
      if (lane == 0) totals[warp] = total;
      __syncthreads();
      const Item of_warps = scan_lanes<S, 32>(lane < team / 32 ? totals[lane] : S::none(), lane);
      __syncthreads();  // the memory is the next tile's
      total = from_lane(of_warps, team / 32 - 1, 32);
      const Item of_others = from_lane(of_warps, warp > 0 ? warp - 1 : 0, 32);
      if (warp > 0) before = S::combine(carried, of_others);
    }
    if (has_results) part.store(first, 32, item, before);
    carried = S::combine(carried, total);
  }
  return carried;
}

// What the totals from `first` to `end` come to, which are `apart` from each other.
template <typename S>
__device__ __forceinline__ typename S::Item fold(const typename S::Item* totals, long long apart, int first,
                                                 int end) {
  typename S::Item all = S::none();
#pragma unroll 4
  for (int n = first; n < end; ++n) all = S::combine(all, totals[n * apart]);
  return all;
}
// `number` of them, 1024 at most, by one thread or by a warp, in groups of up to 32.
template <typename S>
__device__ __forceinline__ typename S::Item fold_alone(const typename S::Item* totals, long long apart,
                                                       int number) {
  typename S::Item all = S::none();
  for (int first = 0; first < number; first += 32)
    all = S::combine(all, fold<S>(totals, apart, first, first + 32 < number ? first + 32 : number));
  return all;
}
template <typename S>
__device__ __forceinline__ typename S::Item fold_by_warp(const typename S::Item* totals, long long apart,
                                                         int number) {
  const int lane = static_cast<int>(threadIdx.x) % 32, each = (number + 31) / 32;
  const int first = lane * each, end = first + each < number ? first + each : number;
  return fold_lanes<S, 32>(fold<S>(totals, apart, first, end), lane);
}

// Parts are numbered so that neighbours are of neighbouring lines. `team`: threads of a part.
template <int which, bool alone>
__device__ __forceinline__ void scan_parts(const T* x, void* y, void* workspace, unsigned long long* memory,
                                           long long parts, long long lines, long long length,
                                           long long part_length, long long inner, long long outer_stride,
                                           long long stride, int exclusive, int reverse, int has_results,
                                           int team) {
  using S = Scan<which, T, sum_dtype == SumDtype::f64>;
  using Item = typename S::Item;
  const int teams = BLOCK / team;                    // of a block
  const long long front = reverse ? length - 1 : 0;  // the element that comes first
  Item* const totals = static_cast<Item*>(workspace);
  for (long long of_block = static_cast<long long>(blockIdx.x) * teams; of_block < parts;
       of_block += static_cast<long long>(gridDim.x) * teams) {
    const long long number = of_block + threadIdx.x / static_cast<unsigned>(team);
    const bool is_there = number < parts;
    const long long of_line = number < lines || !is_there ? 0 : number / lines;
    const long long line = is_there ? number - of_line * lines : 0;
    const long long outer = line < inner ? 0 : line / inner, column = line - outer * inner;
    const long long begin = of_line * part_length;
    const long long end = begin + part_length < length ? begin + part_length : length;
    const Part<S> part = {x + outer * outer_stride + front * stride + column,
                          static_cast<typename S::Output*>(y) + (outer * length + front) * inner + column,
                          reverse ? -stride : stride,
                          reverse ? -inner : inner,
                          begin,
                          is_there ? end : begin,
                          exclusive};
    Item total = S::none();
    if constexpr (alone) {
      if (has_results) total = fold_alone<S>(totals + line, lines, static_cast<int>(of_line));
      total = scan_alone(part, total, has_results != 0);
    } else {
      if (has_results) total = fold_by_warp<S>(totals + line, lines, static_cast<int>(of_line));
      total = scan_by_team(part, part_length, total, reinterpret_cast<Item*>(memory), team, has_results != 0);
    }
    if (!has_results && is_there && threadIdx.x % static_cast<unsigned>(team) == 0) totals[number] = total;
  }
}

// `function` is the position of its word; sums of another type are of sums and products alone.
template <bool alone>
__device__ __forceinline__ void scan_function(const T* x, void* y, void* workspace,
                                              unsigned long long* memory, long long parts, long long lines,
                                              long long length, long long part_length, long long inner,
                                              long long outer_stride, long long stride, int function,
                                              int exclusive, int reverse, int has_results, int team) {
#define TUNESMITH_SCAN(which)                                                                   \
  if (function == which)                                                                        \
    scan_parts<which, alone>(x, y, workspace, memory, parts, lines, length, part_length, inner, \
                             outer_stride, stride, exclusive, reverse, has_results, team);
  if constexpr (has_expression) {
    TUNESMITH_SCAN(6)
  } else {
    TUNESMITH_SCAN(0)
    TUNESMITH_SCAN(1)
    if constexpr (sum_dtype == SumDtype::same) {
      TUNESMITH_SCAN(2)
      TUNESMITH_SCAN(3)
      TUNESMITH_SCAN(4)
      TUNESMITH_SCAN(5)
    }
  }
}

// `parts`: of all lines together. The workspace has their totals, which are written where there are no
// results.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(scan_base)(const T* x, void* y, void* workspace, long long parts, long long lines, long long length,
                     long long part_length, long long inner, long long outer_stride, long long stride,
                     int function, int exclusive, int reverse, int has_results, int team) {
  __shared__ unsigned long long memory[2 * BLOCK / 32];
  scan_function<false>(x, y, workspace, memory, parts, lines, length, part_length, inner, outer_stride,
                       stride, function, exclusive, reverse, has_results, team);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(scan_base_each)(const T* x, void* y, void* workspace, long long parts, long long lines,
                          long long length, long long part_length, long long inner, long long outer_stride,
                          long long stride, int function, int exclusive, int reverse, int has_results) {
  scan_function<true>(x, y, workspace, nullptr, parts, lines, length, part_length, inner, outer_stride,
                      stride, function, exclusive, reverse, has_results, 1);
}
