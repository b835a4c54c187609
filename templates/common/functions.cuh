// SPDX-License-Identifier: Apache-2.0
// The operations of generated functions, for float, double, int and long long. Integers wrap; the quotient
// and the remainder of an integer division by zero are 0.
#pragma once

#include "common/approximate.cuh"
#include "common/float16.cuh"

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
// 1 / x, rounded as in IEEE 754 but without branches. It makes a Newton step from the device's approximation.
// If x or the result lacks full precision, x is first multiplied by a power of two.
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
// The minimum and the maximum are NaN if either operand is, as in numpy.minimum and numpy.maximum.
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

// The bits of a number, as integers. From 0 on these have the order of the numbers, with NaN above all.
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

// The square root of numbers from 2^-100 to 2^100, rounded as in IEEE 754; for 0 it is NaN. The general
// square root has branches for other numbers.
__device__ __forceinline__ float sqrt_of_medium(float x) {
#ifdef TUNESMITH_HOST
  return ::sqrtf(x);
#else
  const float inverse = approximate_rsqrt(x);
  const float root = x * inverse;
  return ::fmaf(::fmaf(-root, root, x), 0.5f * inverse, root);
#endif
}
__device__ __forceinline__ double sqrt_of_medium(double x) { return ::sqrt(x); }

// Both sides are multiplied by a power of two, so that no square overflows or underflows, and there are no
// branches. 0, infinity and NaN are returned as they are.
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

// This function is not inlined, so that the rare path is not repeated in the code of every unrolled element.
__device__ __noinline__ float2 sin_cos_of_large(float x) { return make_float2(::sinf(x), ::cosf(x)); }

// Sine and cosine share the reduction to [-pi/4, pi/4]: the nearest multiple of pi/2 is subtracted from the
// angle in three parts (Cody and Waite). Minimax polynomials follow. Below 71476 the error is at most 1.49
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
