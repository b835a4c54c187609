// SPDX-License-Identifier: Apache-2.0
// CUDA's mathematical functions, implemented by those of the C library. <math.h> is not included because it
// alone would double the time to compile a variant.
#pragma once

// As in CUDA, the result for a signed and an unsigned integer is unsigned, and the result for a number and a
// NaN is the number.
#define TUNESMITH_MIN_MAX(type, a_type, b_type)                                                          \
  constexpr type min(a_type a, b_type b) { return static_cast<type>(b) < static_cast<type>(a) ? b : a; } \
  constexpr type max(a_type a, b_type b) { return static_cast<type>(a) < static_cast<type>(b) ? b : a; }
#define TUNESMITH_MIN_MAX_BOTH(type)                             \
  TUNESMITH_MIN_MAX(type, type, type)                            \
  TUNESMITH_MIN_MAX(unsigned type, unsigned type, unsigned type) \
  TUNESMITH_MIN_MAX(unsigned type, type, unsigned type)          \
  TUNESMITH_MIN_MAX(unsigned type, unsigned type, type)
TUNESMITH_MIN_MAX_BOTH(int)
TUNESMITH_MIN_MAX_BOTH(long)
TUNESMITH_MIN_MAX_BOTH(long long)
#undef TUNESMITH_MIN_MAX_BOTH
#undef TUNESMITH_MIN_MAX
#define TUNESMITH_MIN_MAX(type, a_type, b_type)                                          \
  constexpr type min(a_type a, b_type b) { return b != b || a < b ? type(a) : type(b); } \
  constexpr type max(a_type a, b_type b) { return b != b || a > b ? type(a) : type(b); }
TUNESMITH_MIN_MAX(float, float, float)
TUNESMITH_MIN_MAX(double, double, double)
TUNESMITH_MIN_MAX(double, float, double)
TUNESMITH_MIN_MAX(double, double, float)
#undef TUNESMITH_MIN_MAX

// Functions of the C library that have CUDA's names: in double, in float, and chosen by the argument.
#define TUNESMITH_MATHS_1(name)    \
  extern "C" double name(double);  \
  extern "C" float name##f(float); \
  inline float name(float x) { return name##f(x); }
#define TUNESMITH_MATHS_2(name)                                                     \
  extern "C" double name(double, double);                                           \
  extern "C" float name##f(float, float);                                           \
  inline float name(float x, float y) { return name##f(x, y); }                     \
  inline double name(float x, double y) { return name(static_cast<double>(x), y); } \
  inline double name(double x, float y) { return name(x, static_cast<double>(y)); }
TUNESMITH_MATHS_1(sqrt)
TUNESMITH_MATHS_1(cbrt)
TUNESMITH_MATHS_1(exp)
TUNESMITH_MATHS_1(exp2)
TUNESMITH_MATHS_1(exp10)
TUNESMITH_MATHS_1(expm1)
TUNESMITH_MATHS_1(log)
TUNESMITH_MATHS_1(log2)
TUNESMITH_MATHS_1(log10)
TUNESMITH_MATHS_1(log1p)
TUNESMITH_MATHS_1(logb)
TUNESMITH_MATHS_1(sin)
TUNESMITH_MATHS_1(cos)
TUNESMITH_MATHS_1(tan)
TUNESMITH_MATHS_1(asin)
TUNESMITH_MATHS_1(acos)
TUNESMITH_MATHS_1(atan)
TUNESMITH_MATHS_1(sinh)
TUNESMITH_MATHS_1(cosh)
TUNESMITH_MATHS_1(tanh)
TUNESMITH_MATHS_1(asinh)
TUNESMITH_MATHS_1(acosh)
TUNESMITH_MATHS_1(atanh)
TUNESMITH_MATHS_1(erf)
TUNESMITH_MATHS_1(erfc)
TUNESMITH_MATHS_1(tgamma)
TUNESMITH_MATHS_1(lgamma)
TUNESMITH_MATHS_1(floor)
TUNESMITH_MATHS_1(ceil)
TUNESMITH_MATHS_1(trunc)
TUNESMITH_MATHS_1(round)
TUNESMITH_MATHS_1(rint)
TUNESMITH_MATHS_1(nearbyint)
TUNESMITH_MATHS_1(fabs)
TUNESMITH_MATHS_2(pow)
TUNESMITH_MATHS_2(fmod)
TUNESMITH_MATHS_2(remainder)
TUNESMITH_MATHS_2(hypot)
TUNESMITH_MATHS_2(atan2)
TUNESMITH_MATHS_2(copysign)
TUNESMITH_MATHS_2(fmin)
TUNESMITH_MATHS_2(fmax)
TUNESMITH_MATHS_2(fdim)
TUNESMITH_MATHS_2(nextafter)
#undef TUNESMITH_MATHS_1
#undef TUNESMITH_MATHS_2
extern "C" double fma(double, double, double);
extern "C" float fmaf(float, float, float);
inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
extern "C" void sincos(double, double*, double*);
extern "C" void sincosf(float, float*, float*);
inline void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
extern "C" double ldexp(double, int);
extern "C" float ldexpf(float, int);
inline float ldexp(float x, int exponent) { return ldexpf(x, exponent); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
constexpr int abs(int x) { return x < 0 ? -x : x; }
constexpr long abs(long x) { return x < 0 ? -x : x; }
constexpr long long abs(long long x) { return x < 0 ? -x : x; }
inline float abs(float x) { return fabsf(x); }
inline double abs(double x) { return fabs(x); }
template <typename Number>
constexpr bool isnan(Number x) {
  return x != x;
}
template <typename Number>
constexpr bool isinf(Number x) {
  return x == x && x - x != x - x;
}
template <typename Number>
constexpr bool isfinite(Number x) {
  return x - x == x - x;
}
