// To be read: nothing is built from this text. It is the winner on NVIDIA H200 for
// function=add dtype=f32 shape="134217728" a=dense b=dense c=dense d=dense e=dense f=dense,
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// elementwise/contiguous for sm_90a, rendered by Tunesmith from templates/elementwise/contiguous.cu: change that and render again.
// compiled in: function=add dtype=f32 SCALARS=0
// config: INDEX=64 TILES=1 VECTOR=2 ITEMS=4 BLOCK=1024 LOAD=plain STORE=plain START=plain TRIGGER=none RESIDENT_THREADS=1024

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

// ---- what this variant is
using T = float;  // dtype=f32
constexpr int SCALARS = 0;
constexpr int INDEX = 64;
constexpr int TILES = 1;
constexpr int VECTOR = 2;
constexpr int ITEMS = 4;
constexpr int BLOCK = 1024;
enum class Load { plain, streaming, no_allocate, half };
constexpr Load LOAD = Load::plain;
enum class Store { plain, streaming };
constexpr Store STORE = Store::plain;
enum class Start { plain, overlapped };
constexpr Start START = Start::plain;
enum class Trigger { none, early };
constexpr Trigger TRIGGER = Trigger::none;
constexpr int RESIDENT_THREADS = 1024;
using Compute = float;
constexpr int ARITY = 2;
__device__ __forceinline__ Compute apply(const Compute (&input)[ARITY]) {
  const Compute v0 = input[0];
  const Compute v1 = input[1];
  const Compute v2 = elementwise::add(v0, v1);
  return v2;
}
#define ENTRY(name) name##_e64d39fa

// ---- templates/elementwise/contiguous.cu
// SPDX-License-Identifier: Apache-2.0
// elementwise where every input is as dense as the output or is one element: no coordinates, vectors straight
// from memory, all of a thread's loads before it uses the first. SCALARS has a bit for each input of one
// element.

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

// The words of LOAD and STORE are in the order of Hint.
constexpr Hint load_hint = static_cast<Hint>(LOAD);
constexpr Hint store_hint = static_cast<Hint>(STORE);
constexpr int tile = BLOCK * ITEMS * VECTOR;  // elements that a block handles at once

// Offsets of 32 or 64 bits; pointers have 64 in any case.
template <int BITS>
struct IndexOf {
  using type = long long;
};
template <>
struct IndexOf<32> {
  using type = unsigned;
};
using Index = typename IndexOf<INDEX>::type;

__device__ __forceinline__ constexpr bool is_scalar(int k) { return (SCALARS >> k & 1) != 0; }

// A thread's elements of a tile, from `first` on.
__device__ __forceinline__ void move(Index first, Index n, const T* const (&inputs)[6],
                                     Compute (&values)[ARITY], T* out) {
  Vector<T, VECTOR> loaded[ARITY][ITEMS];
  const auto at = [=](int item) { return first + item * (BLOCK * VECTOR); };
  const auto is_inside = [=](int item) { return at(item) + VECTOR <= n; };
  const auto load = [&](int item) {
#pragma unroll
    for (int k = 0; k < ARITY; ++k) {
      if (!is_scalar(k))
        loaded[k][item] =
            load_hinted<load_hint>(reinterpret_cast<const Vector<T, VECTOR>*>(inputs[k] + at(item)));
    }
  };
  const auto compute = [&](int item) {
    Vector<T, VECTOR> result;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
#pragma unroll
      for (int k = 0; k < ARITY; ++k) {
        if (!is_scalar(k)) values[k] = to_float(loaded[k][item].element[v]);
      }
      result.element[v] = from_float<T>(apply(values));
    }
    store_hinted<store_hint>(reinterpret_cast<Vector<T, VECTOR>*>(out + at(item)), result);
  };
  if constexpr (ITEMS == 1) {  // one branch
    if (!is_inside(0)) return;
    load(0);
    compute(0);
  } else {
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      if (is_inside(item)) load(item);
    }
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      if (is_inside(item)) compute(item);
    }
  }
}

// What every problem needs comes first: the first 48 bytes of arguments are in the cache line of the
// constants that a kernel reads in any case. A further line costs a small problem some 5 % of its time.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT_THREADS / BLOCK)
    ENTRY(elementwise_contiguous)(T* out, long long elements, const T* a, const T* b, const T* c, const T* d,
                                  const T* e, const T* f) {
  start();
  const T* const inputs[6] = {a, b, c, d, e, f};
  const Index n = static_cast<Index>(elements);
  Compute values[ARITY];
  // What is added is 0, but the compiler does not know it and adds it in the uniform registers, so that the
  // pointer comes by ULDC: of a kernel of 1 us 5 % are gained over LDC on an H200.
#pragma unroll
  for (int k = 0; k < ARITY; ++k) {
    if (is_scalar(k)) {
      const char* const bytes = reinterpret_cast<const char*>(inputs[k]) + (elements >> 63);
      values[k] = to_float(load_now(reinterpret_cast<const T*>(bytes)));
    }
  }
  const auto first_of = [](Index t) { return t * tile + threadIdx.x * VECTOR; };
  if constexpr (TILES == 1) {
    move(first_of(blockIdx.x), n, inputs, values, out);
  } else {
    for (long long t = blockIdx.x; t * tile < elements; t += gridDim.x)
      move(first_of(static_cast<Index>(t)), n, inputs, values, out);
  }
  // The elements that fill no vector, fewer than VECTOR: one for each of the last block's first threads.
  if (VECTOR > 1 && blockIdx.x == gridDim.x - 1) {
    const Index at = n / VECTOR * VECTOR + threadIdx.x;
    if (at < n) {
#pragma unroll
      for (int k = 0; k < ARITY; ++k) {
        if (!is_scalar(k)) values[k] = to_float(inputs[k][at]);
      }
      out[at] = from_float<T>(apply(values));
    }
  }
}
