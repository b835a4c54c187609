// To be read: nothing is built from this text. It is the base for
// expression="y0 = exp(x0-max(x0))/sum(exp(x0-max(x0)))" rows=4096 columns=4096 dtype=f32 x0=matrix x1=matrix x2=matrix x3=matrix x4=matrix x5=matrix,
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// rows/base for sm_90a, rendered by Tunesmith from templates/rows/base.cu: change that and render again.
// compiled in: dtype=f32
// config: BLOCK=1024

// ---- templates/common/shared.cuh
// SPDX-License-Identifier: Apache-2.0
// Dynamic shared memory as an array of any type, aligned to 16 bytes. On the host the shim defines it.

#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(type, name)                               \
  extern __shared__ __align__(16) unsigned char name##_bytes_[]; \
  type* name = reinterpret_cast<type*>(name##_bytes_)
#endif

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

// ---- templates/rows/row.cuh
// SPDX-License-Identifier: Apache-2.0
// What the code of an expression is made of beside elementwise's operations: reductions and divisors of a
// row, and the kernels' parameters.


namespace rows {

template <typename X>
__device__ __forceinline__ X infinity() {
  return elementwise::Layout<X>::number(elementwise::Layout<X>::exponent);
}

template <typename X>
__device__ __forceinline__ X sum_of_none() {
  return 0;
}
template <typename X>
__device__ __forceinline__ X sum(X x, X y) {
  return x + y;
}
template <typename X>
__device__ __forceinline__ X prod_of_none() {
  return 1;
}
template <typename X>
__device__ __forceinline__ X prod(X x, X y) {
  return x * y;
}
template <typename X>
__device__ __forceinline__ X max_of_none() {
  return -infinity<X>();
}
template <typename X>
__device__ __forceinline__ X min_of_none() {
  return infinity<X>();
}
// NaN where either is.
template <typename X>
__device__ __forceinline__ X max(X x, X y) {
  return elementwise::max(x, y);
}
template <typename X>
__device__ __forceinline__ X min(X x, X y) {
  return elementwise::min(x, y);
}
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 800
__device__ __forceinline__ float max(float x, float y) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}
__device__ __forceinline__ float min(float x, float y) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}
#endif

__device__ __forceinline__ float fused(float x, float y, float z) { return ::fmaf(x, y, z); }
__device__ __forceinline__ double fused(double x, double y, double z) { return ::fma(x, y, z); }

// total / columns, by way of the inverse and a correction.
template <typename X>
__device__ __forceinline__ X mean(X total, X columns, X inverse) {
  const X near = total * inverse;
  const X rest = fused(-near, columns, total);
  return rest - rest == 0 ? fused(rest, inverse, near) : near;  // infinite totals have no rest
}

// A divisor of many: what is divided is multiplied by the inverse, which is that of the divisor times a power
// of two where the divisor or its inverse has no full precision.
template <typename X>
struct Divisor {
  X inverse, scale;
  __device__ __forceinline__ void set(X divisor) {
    constexpr bool is_double = sizeof(X) == 8;
    const X small = is_double ? X(0x1p-1022) : X(0x1p-126f), large = is_double ? X(0x1p1022) : X(0x1p126f);
    const X size = elementwise::abs(divisor);
    scale = size < small ? X(0x1p24f) : size >= large ? X(0x1p-24f) : X(1);
    inverse = elementwise::reciprocal(divisor * scale);
  }
  __device__ __forceinline__ X divides(X x) const { return product(x * inverse, scale); }

 private:
  // Not to be fused with what follows.
  static __device__ __forceinline__ float product(float x, float y) {
#ifdef TUNESMITH_HOST
    return x * y;
#else
    return __fmul_rn(x, y);
#endif
  }
  static __device__ __forceinline__ double product(double x, double y) {
#ifdef TUNESMITH_HOST
    return x * y;
#else
    return __dmul_rn(x, y);
#endif
  }
};

}  // namespace rows

// The arrays, results (of some bytes that fit their type), and what lies from one row of a matrix to the
// next.
#define ROWS_PARAMETERS_OF(Input, Output)                                                                 \
  Input x0, Input x1, Input x2, Input x3, Input x4, Input x5, Output y0, Output y1, Output y2, Output y3, \
      long long stride0, long long stride1, long long stride2, long long stride3, long long stride4,      \
      long long stride5, long long rows, long long columns
#define ROWS_PARAMETERS ROWS_PARAMETERS_OF(const T* __restrict__, T* __restrict__)
#define ROWS_ARRAYS                                    \
  const T* const inputs[6] = {x0, x1, x2, x3, x4, x5}; \
  T* const outputs[4] = {y0, y1, y2, y3};              \
  const long long strides[6] = {stride0, stride1, stride2, stride3, stride4, stride5}

// ---- what this variant is
using T = float;  // dtype=f32
constexpr int BLOCK = 1024;
using Compute = float;
__device__ __noinline__ Compute apply(int operation, Compute x, Compute y, Compute z) {
  switch (operation) {
    case 2:
      return elementwise::negate(x);
    case 3:
      return elementwise::add(x, y);
    case 4:
      return elementwise::subtract(x, y);
    case 5:
      return elementwise::multiply(x, y);
    case 6:
      return elementwise::divide(x, y);
    case 7:
      return elementwise::remainder_of(x, y);
    case 8:
      return elementwise::less(x, y);
    case 9:
      return elementwise::less_equal(x, y);
    case 10:
      return elementwise::greater(x, y);
    case 11:
      return elementwise::greater_equal(x, y);
    case 12:
      return elementwise::equal(x, y);
    case 13:
      return elementwise::not_equal(x, y);
    case 14:
      return elementwise::logical_not(x);
    case 15:
      return elementwise::logical_and(x, y);
    case 16:
      return elementwise::logical_or(x, y);
    case 17:
      return elementwise::choose(x, y, z);
    case 18:
      return elementwise::abs(x);
    case 19:
      return elementwise::min(x, y);
    case 20:
      return elementwise::max(x, y);
    case 21:
      return elementwise::sqrt(x);
    case 22:
      return elementwise::rsqrt(x);
    case 23:
      return elementwise::cbrt(x);
    case 24:
      return elementwise::exp(x);
    case 25:
      return elementwise::exp2(x);
    case 26:
      return elementwise::expm1(x);
    case 27:
      return elementwise::log(x);
    case 28:
      return elementwise::log2(x);
    case 29:
      return elementwise::log10(x);
    case 30:
      return elementwise::log1p(x);
    case 31:
      return elementwise::sin(x);
    case 32:
      return elementwise::cos(x);
    case 33:
      return elementwise::tan(x);
    case 34:
      return elementwise::asin(x);
    case 35:
      return elementwise::acos(x);
    case 36:
      return elementwise::atan(x);
    case 37:
      return elementwise::sinh(x);
    case 38:
      return elementwise::cosh(x);
    case 39:
      return elementwise::tanh(x);
    case 40:
      return elementwise::erf(x);
    case 41:
      return elementwise::erfc(x);
    case 42:
      return elementwise::floor(x);
    case 43:
      return elementwise::ceil(x);
    case 44:
      return elementwise::trunc(x);
    case 45:
      return elementwise::rint(x);
    case 46:
      return elementwise::pow(x, y);
    case 47:
      return elementwise::atan2(x, y);
    case 48:
      return elementwise::hypot(x, y);
    default:
      return 0;
  }
}
template <int N>
__device__ __forceinline__ bool apply_frequent(int operation, Compute (&x)[N], const Compute (&y)[N]) {
  switch (operation) {
    case 3:
#pragma unroll
      for (int e = 0; e < N; ++e) x[e] = elementwise::add(x[e], y[e]);
      return true;
    case 4:
#pragma unroll
      for (int e = 0; e < N; ++e) x[e] = elementwise::subtract(x[e], y[e]);
      return true;
    case 5:
#pragma unroll
      for (int e = 0; e < N; ++e) x[e] = elementwise::multiply(x[e], y[e]);
      return true;
    case 6:
#pragma unroll
      for (int e = 0; e < N; ++e) x[e] = elementwise::divide(x[e], y[e]);
      return true;
    case 24:
#pragma unroll
      for (int e = 0; e < N; ++e) x[e] = elementwise::exp(x[e]);
      return true;
    case 19:
#pragma unroll
      for (int e = 0; e < N; ++e) x[e] = elementwise::min(x[e], y[e]);
      return true;
    case 20:
#pragma unroll
      for (int e = 0; e < N; ++e) x[e] = elementwise::max(x[e], y[e]);
      return true;
    default:
      return false;
  }
}
#define ENTRY(name) name##_19cab50f

// ---- templates/rows/base.cu
// SPDX-License-Identifier: Apache-2.0
// rows, the plain kernel: a team of threads per row, up to a block, which walks it once for each pass of
// reductions and once for the results.
// The expression is a program that is known at launch, so one kernel serves every problem of its dtype. A
// thread takes several elements through each of the program's instructions, which share what reading it
// costs.


// An instruction, from its lowest bit on: 8 bits of operation (the preamble's apply() has them; 0 is a
// reduction, 1 a result), three operands of 10 bits each, 8 bits of destination, and a bit for each of the
// sweeps that need it; one of a row's own values has that of the sweep before which it is computed. An
// operand is three bits of where it is, and 7 of its number there; only with a first operand that is what
// came before may the others be. The destination is a place of the row's values, or a slot of the elements',
// none_there where it is for the next instruction alone; or the number of a reduction or a result.
enum class Operand { before, input, row_input, place, slot, number, none };
constexpr int none_there = 255;
constexpr int first_operand = 8, operand_bits = 10, first_destination = 38, first_sweep = 46;
constexpr int most_words = 108;
struct Program {
  long long words[most_words];
};
constexpr int most_inputs = 6;
constexpr int most_outputs = 4;
constexpr int elements = sizeof(Compute) == 8 ? 4 : 8;  // of a thread at once
constexpr int most_near = 16;                           // steps whose terms are added before all else

enum class Function { sum, mean, prod, max, min };

template <Function FUNCTION>
__device__ __forceinline__ Compute none_of() {
  return FUNCTION == Function::prod  ? Compute(1)
         : FUNCTION == Function::max ? -rows::infinity<Compute>()
         : FUNCTION == Function::min ? rows::infinity<Compute>()
                                     : Compute(0);
}
template <Function FUNCTION>
__device__ __forceinline__ Compute combined(Compute x, Compute y) {
  return FUNCTION == Function::prod  ? x * y
         : FUNCTION == Function::max ? rows::max(x, y)
         : FUNCTION == Function::min ? rows::min(x, y)
                                     : x + y;
}
__device__ __forceinline__ Compute none_of(Function function) {
  switch (function) {
    case Function::prod:
      return none_of<Function::prod>();
    case Function::max:
      return none_of<Function::max>();
    case Function::min:
      return none_of<Function::min>();
    default:
      return none_of<Function::sum>();
  }
}
__device__ __forceinline__ Compute combined(Function function, Compute x, Compute y) {
  switch (function) {
    case Function::prod:
      return combined<Function::prod>(x, y);
    case Function::max:
      return combined<Function::max>(x, y);
    case Function::min:
      return combined<Function::min>(x, y);
    default:
      return combined<Function::sum>(x, y);
  }
}
template <Function FUNCTION, int N>
__device__ __forceinline__ Compute combined_all(Compute (&term)[N]) {
#pragma unroll
  for (int by = 1; by < N; by *= 2) {
#pragma unroll
    for (int e = 0; e + by < N; e += 2 * by) term[e] = combined<FUNCTION>(term[e], term[e + by]);
  }
  return term[0];
}

// What all threads of a block share.
struct Block {
  long long program[most_words];
  const T* input[most_inputs];
  T* output[most_outputs];
  long long stride[most_inputs];
};

// A thread's own values: of the row the places, two for each reduction first, and behind them the slots.
struct Values {
  Compute* first;
  int threads, places;
  __device__ __forceinline__ Compute& place(int n) const { return first[n * threads]; }
  __device__ __forceinline__ Compute& slot(int n, int e) const {
    return first[(places + n * elements + e) * threads];
  }
};

// N elements of a row: vectors of neighbours, `step` from one to the next. Of a row's own value, one.
template <int N>
struct Elements {
  static constexpr int vector = N == 1 ? 1 : 16 / sizeof(T) < N ? 16 / sizeof(T) : N;
  using Part = Vector<T, vector>;
  static constexpr int parts = N / vector;

  long long row, column, output;  // of the first: where it is in a row and among a result's elements
  int step;
  int left;     // of the row from the first on
  bool writes;  // this thread writes the row's results
  bool all;     // no thread of the block has elements behind its row's end

  __device__ __forceinline__ bool inside(int e) const { return e / vector * step + e % vector < left; }
  static __device__ __forceinline__ bool is_aligned(const void* at) {
    return vector == 1 || reinterpret_cast<unsigned long long>(at) % sizeof(Part) == 0;
  }

  // Those behind the end are 0.
  __device__ __forceinline__ void load(const T* from, Compute (&value)[N]) const {
    const bool aligned = is_aligned(from);
#pragma unroll
    for (int p = 0; p < parts; ++p) {
      Part part = {};
      if (aligned && p * step + vector <= left) {
        part = load_vector<vector>(from + p * step);
      } else {
#pragma unroll
        for (int k = 0; k < vector; ++k)
          if (p * step + k < left) part.element[k] = from[p * step + k];
      }
#pragma unroll
      for (int k = 0; k < vector; ++k) value[p * vector + k] = to_float(part.element[k]);
    }
  }

  __device__ __forceinline__ void store(T* to, const Compute (&value)[N]) const {
    const bool aligned = is_aligned(to);
#pragma unroll
    for (int p = 0; p < parts; ++p) {
      Part part;
#pragma unroll
      for (int k = 0; k < vector; ++k) part.element[k] = from_float<T>(value[p * vector + k]);
      if constexpr (vector > 1) {
        if (aligned && p * step + vector <= left) {
          store_vector_streaming<vector>(to + p * step, part);
          continue;
        }
      }
#pragma unroll
      for (int k = 0; k < vector; ++k)
        if (p * step + k < left) to[p * step + k] = part.element[k];
    }
  }
};

template <int N>
__device__ __forceinline__ void fetch(const Block& block, const Values& values, const Elements<N>& at,
                                      int operand, const Compute (&before)[N], Compute (&value)[N]) {
  const int n = operand >> 3;
  Compute same = 0;
  switch (static_cast<Operand>(operand & 7)) {
    case Operand::before:
#pragma unroll
      for (int e = 0; e < N; ++e) value[e] = before[e];
      return;
    case Operand::input:
      at.load(block.input[n] + at.row * block.stride[n] + at.column, value);
      return;
    case Operand::slot:
#pragma unroll
      for (int e = 0; e < N; ++e) value[e] = values.slot(n, e);
      return;
    case Operand::row_input:
      same = to_float(block.input[n][at.row * block.stride[n]]);
      break;
    case Operand::place:
      same = values.place(n);
      break;
    default:
      same = elementwise::Layout<Compute>::number(
          static_cast<typename elementwise::Layout<Compute>::Bits>(block.program[n]));
  }
#pragma unroll
  for (int e = 0; e < N; ++e) value[e] = same;
}

// Adds N terms to a reduction's; `folds`: those of most_near steps are there.
template <Function FUNCTION, int N>
__device__ __forceinline__ void reduce(const Values& values, int place, Compute (&term)[N], bool folds) {
  Compute near = combined<FUNCTION>(values.place(place), combined_all<FUNCTION>(term));
  if (folds) {
    values.place(place + 1) = combined<FUNCTION>(values.place(place + 1), near);
    near = none_of<FUNCTION>();
  }
  values.place(place) = near;
}

// Takes N elements through the instructions from `from` to `to` that the sweep needs.
template <int N>
__device__ __forceinline__ void run(const Block& block, const Values& values, const Elements<N>& at, int from,
                                    int to, int sweep, long long functions, bool folds) {
  Compute result[N] = {};
  for (int w = from; w < to; ++w) {
    const long long word = block.program[w];
    if ((word >> (first_sweep + sweep) & 1) == 0) continue;
    const int operation = static_cast<int>(word & 255),
              destination = static_cast<int>(word >> first_destination & 255);
    const auto operand = [word](int n) {
      return static_cast<int>(word >> (first_operand + n * operand_bits) & ((1 << operand_bits) - 1));
    };
    const auto is = [](int an_operand, Operand kind) { return (an_operand & 7) == static_cast<int>(kind); };
    if (!is(operand(0), Operand::before)) fetch(block, values, at, operand(0), result, result);
    if (operation == 0) {
      const Function function = static_cast<Function>(functions >> 4 * destination & 15);
      Compute term[N];
#pragma unroll
      for (int e = 0; e < N; ++e) term[e] = result[e];
      if (!at.all) {
        const Compute none = none_of(function);
#pragma unroll
        for (int e = 0; e < N; ++e)
          if (!at.inside(e)) term[e] = none;
      }
      switch (function) {
        case Function::prod:
          reduce<Function::prod>(values, 2 * destination, term, folds);
          break;
        case Function::max:
          reduce<Function::max>(values, 2 * destination, term, folds);
          break;
        case Function::min:
          reduce<Function::min>(values, 2 * destination, term, folds);
          break;
        default:
          reduce<Function::sum>(values, 2 * destination, term, folds);
      }
      continue;
    }
    if (operation == 1) {
      if (at.writes) at.store(block.output[destination] + at.output, result);
      continue;
    }
    Compute y[N] = {};
    if (!is(operand(1), Operand::none)) fetch(block, values, at, operand(1), result, y);
    if (N == 1 || !apply_frequent(operation, result, y)) {
      Compute z[N] = {};
      if (!is(operand(2), Operand::none)) fetch(block, values, at, operand(2), result, z);
#pragma unroll
      for (int e = 0; e < N; ++e) result[e] = apply(operation, result[e], y[e], z[e]);
    }
    if (destination == none_there) continue;
    if (N == 1) {
      values.place(destination) = result[0];
    } else {
#pragma unroll
      for (int e = 0; e < N; ++e) values.slot(destination, e) = result[e];
    }
  }
}

// `team`: threads per row, a power of two up to 32 or whole warps. The program's words are numbers up to
// `row_words`, instructions of a row's own values up to `element_words`, and those of elements. Of 4 bits
// each: the reductions' functions, and the sweeps that end with them, in order. Behind the last sweep for
// reductions there is one for results, which walks the row if some are there for each of its elements.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(rows_base)(ROWS_PARAMETERS, int team, int row_words, int element_words, int words, int reductions,
                     long long functions, long long sweeps_of, int sweeps, int walks, int places,
                     const __grid_constant__ Program program) {
  DYNAMIC_SHARED(Compute, values_of_all);
  __shared__ Block block;
  __shared__ Compute totals[2][BLOCK / 32];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int w = thread; w < words; w += threads) block.program[w] = program.words[w];
  if (thread == 0) {
    ROWS_ARRAYS;
#pragma unroll
    for (int k = 0; k < most_inputs; ++k) {
      block.input[k] = inputs[k];
      block.stride[k] = strides[k];
    }
#pragma unroll
    for (int k = 0; k < most_outputs; ++k) block.output[k] = outputs[k];
  }
  __syncthreads();
  using Some = Elements<elements>;
  const int number_in_block = thread / team, lane = thread % team, rows_at_once = threads / team;
  const int warps = team / 32;
  int span = 1;  // lanes that have the totals of a team's warps
  while (span < warps) span *= 2;
  const Values values = {values_of_all + thread, threads, places};
  const int step = team * Some::vector;
  int turn = 0;  // of the two places for warps' totals; no warp is two turns behind another
  for (long long first = static_cast<long long>(blockIdx.x) * rows_at_once; first < rows;
       first += static_cast<long long>(gridDim.x) * rows_at_once) {
    const long long wanted = first + number_in_block, row = wanted < rows ? wanted : rows - 1;
    for (int r = 0; r < reductions; ++r)
      values.place(2 * r) = values.place(2 * r + 1) = none_of(static_cast<Function>(functions >> 4 * r & 15));
    int r = 0;
    for (int sweep = 0; sweep <= sweeps; ++sweep) {
      const Elements<1> whole = {row, 0, row, 0, 1, lane == 0 && wanted < rows, true};
      run<1>(block, values, whole, row_words, element_words, sweep, functions, false);
      int count = 0;
      for (long long start = 0; start < columns && sweep < walks; start += Some::parts * step) {
        const long long column = start + lane * Some::vector, left = columns - column;
        const Some some = {row,
                           column,
                           row * columns + column,
                           step,
                           left < 1 << 30 ? static_cast<int>(left) : 1 << 30,
                           wanted < rows,
                           start + Some::parts * step <= columns};
        run<elements>(block, values, some, element_words, words, sweep, functions, ++count % most_near == 0);
      }
      for (; r < reductions && (sweeps_of >> 4 * r & 15) == sweep; ++r) {
        const Function function = static_cast<Function>(functions >> 4 * r & 15);
        Compute total = combined(function, values.place(2 * r + 1), values.place(2 * r));
        for (int by = 1; by < team && by < 32; by *= 2)
          total = combined(function, total, __shfl_xor_sync(0xffffffffu, total, by));
        if (warps > 1) {
          if (thread % 32 == 0) totals[turn][thread / 32] = total;
          __syncthreads();
          const int its = thread % span;
          total = its < warps ? totals[turn][number_in_block * warps + its] : none_of(function);
          for (int by = 1; by < span; by *= 2)
            total = combined(function, total, __shfl_xor_sync(0xffffffffu, total, by));
          turn = 1 - turn;
        }
        values.place(2 * r) = function == Function::mean ? total / static_cast<Compute>(columns) : total;
      }
    }
  }
}
