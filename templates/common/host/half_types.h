// SPDX-License-Identifier: Apache-2.0
// The parts of <cuda_fp16.h> and <cuda_bf16.h> that kernels commonly use: conversions, arithmetic and
// comparisons of one number and of two. An operation is done in float and rounded once more. The result is
// the same as with one rounding, because a float has more than twice the digits (Figueroa 1995).
#pragma once

#include "common/float16.cuh"
#include "common/host/atomics.h"
#include "common/host/intrinsics.h"

namespace tunesmith_shim {
// The float next to `x`. If it is not exact, it is the neighbour whose last digit is odd, so that rounding it
// further gives the same as rounding x.
inline float to_odd(double x) {
  const float near = static_cast<float>(x);
  const double back = near;
  if (back == x || x != x || near - near != 0) return near;
  unsigned bits = __float_as_uint(near);
  const bool is_beyond = x < 0 ? back < x : back > x;
  if ((bits & 1u) == 0) bits += is_beyond ? ~0u : 1u;
  return __uint_as_float(bits);
}
}  // namespace tunesmith_shim

#define TUNESMITH_HALF_COMPARE(Half, how)                                        \
  inline Half##2 __h##how##2(Half##2 a, Half##2 b) {                             \
    return {__h##how(a.x, b.x) ? 1.0f : 0.0f, __h##how(a.y, b.y) ? 1.0f : 0.0f}; \
  }                                                                              \
  inline bool __hb##how##2(Half##2 a, Half##2 b) { return __h##how(a.x, b.x) && __h##how(a.y, b.y); }
#define TUNESMITH_HALF_MATHS(Half, name, value) \
  inline Half h##name(Half x) {                 \
    const float a = x;                          \
    return value;                               \
  }                                             \
  inline Half##2 h2##name(Half##2 x) { return {h##name(x.x), h##name(x.y)}; }
#define TUNESMITH_HALF_TYPE(Half, Stored)                                                       \
  struct Half : Stored {                                                                        \
    Half() = default;                                                                           \
    Half(float x) : Stored(from_float<Stored>(x)) {}                                            \
    Half(double x) : Half(tunesmith_shim::to_odd(x)) {}                                         \
    Half(int x) : Half(static_cast<double>(x)) {}                                               \
    Half(unsigned x) : Half(static_cast<double>(x)) {}                                          \
    Half(short x) : Half(static_cast<double>(x)) {}                                             \
    Half(unsigned short x) : Half(static_cast<double>(x)) {}                                    \
    Half(long x) : Half(static_cast<double>(x)) {}                                              \
    Half(unsigned long x) : Half(static_cast<double>(x)) {}                                     \
    Half(long long x) : Half(static_cast<double>(x)) {}                                         \
    Half(unsigned long long x) : Half(static_cast<double>(x)) {}                                \
    operator float() const { return to_float(static_cast<const Stored&>(*this)); }              \
    Half& operator+=(Half other) { return *this = float(*this) + float(other); }                \
    Half& operator-=(Half other) { return *this = float(*this) - float(other); }                \
    Half& operator*=(Half other) { return *this = float(*this) * float(other); }                \
    Half& operator/=(Half other) { return *this = float(*this) / float(other); }                \
  };                                                                                            \
  struct alignas(4) Half##2 {                                                                   \
    Half x, y;                                                                                  \
  };                                                                                            \
  inline Half operator+(Half a, Half b) { return a += b; }                                      \
  inline Half operator-(Half a, Half b) { return a -= b; }                                      \
  inline Half operator*(Half a, Half b) { return a *= b; }                                      \
  inline Half operator/(Half a, Half b) { return a /= b; }                                      \
  inline Half operator-(Half a) { return -float(a); }                                           \
  inline bool operator==(Half a, Half b) { return float(a) == float(b); }                       \
  inline bool operator!=(Half a, Half b) { return float(a) != float(b); }                       \
  inline bool operator<(Half a, Half b) { return float(a) < float(b); }                         \
  inline bool operator<=(Half a, Half b) { return float(a) <= float(b); }                       \
  inline bool operator>(Half a, Half b) { return float(a) > float(b); }                         \
  inline bool operator>=(Half a, Half b) { return float(a) >= float(b); }                       \
  inline Half __hadd(Half a, Half b) { return a + b; }                                          \
  inline Half __hsub(Half a, Half b) { return a - b; }                                          \
  inline Half __hmul(Half a, Half b) { return a * b; }                                          \
  inline Half __hdiv(Half a, Half b) { return a / b; }                                          \
  inline Half __hfma(Half a, Half b, Half c) {                                                  \
    return Half(static_cast<double>(float(a)) * float(b) + static_cast<double>(float(c)));      \
  }                                                                                             \
  inline Half __hneg(Half a) { return -a; }                                                     \
  inline Half __habs(Half a) { return ::fabsf(a); }                                             \
  inline Half __hmax(Half a, Half b) { return ::fmaxf(a, b); }                                  \
  inline Half __hmin(Half a, Half b) { return ::fminf(a, b); }                                  \
  inline bool __heq(Half a, Half b) { return a == b; }                                          \
  inline bool __hne(Half a, Half b) { return a != b; }                                          \
  inline bool __hlt(Half a, Half b) { return a < b; }                                           \
  inline bool __hle(Half a, Half b) { return a <= b; }                                          \
  inline bool __hgt(Half a, Half b) { return a > b; }                                           \
  inline bool __hge(Half a, Half b) { return a >= b; }                                          \
  inline bool __hisnan(Half a) { return float(a) != float(a); }                                 \
  inline Half##2 __hadd2(Half##2 a, Half##2 b) { return {a.x + b.x, a.y + b.y}; }               \
  inline Half##2 __hsub2(Half##2 a, Half##2 b) { return {a.x - b.x, a.y - b.y}; }               \
  inline Half##2 __hmul2(Half##2 a, Half##2 b) { return {a.x * b.x, a.y * b.y}; }               \
  inline Half##2 __hfma2(Half##2 a, Half##2 b, Half##2 c) {                                     \
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                      \
  }                                                                                             \
  inline Half##2 __h2div(Half##2 a, Half##2 b) { return {a.x / b.x, a.y / b.y}; }               \
  inline Half##2 __hmax2(Half##2 a, Half##2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; } \
  inline Half##2 __hmin2(Half##2 a, Half##2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; } \
  inline Half##2 __hneg2(Half##2 a) { return {-a.x, -a.y}; }                                    \
  inline Half##2 __habs2(Half##2 a) { return {__habs(a.x), __habs(a.y)}; }                      \
  inline Half##2 operator+(Half##2 a, Half##2 b) { return __hadd2(a, b); }                      \
  inline Half##2 operator-(Half##2 a, Half##2 b) { return __hsub2(a, b); }                      \
  inline Half##2 operator*(Half##2 a, Half##2 b) { return __hmul2(a, b); }                      \
  inline Half##2 operator/(Half##2 a, Half##2 b) { return __h2div(a, b); }                      \
  inline Half##2 operator-(Half##2 a) { return __hneg2(a); }                                    \
  inline Half##2 & operator+=(Half##2 & a, Half##2 b) { return a = a + b; }                     \
  inline Half##2 & operator-=(Half##2 & a, Half##2 b) { return a = a - b; }                     \
  inline Half##2 & operator*=(Half##2 & a, Half##2 b) { return a = a * b; }                     \
  inline Half##2 & operator/=(Half##2 & a, Half##2 b) { return a = a / b; }                     \
  inline bool operator==(Half##2 a, Half##2 b) { return a.x == b.x && a.y == b.y; }             \
  inline bool operator!=(Half##2 a, Half##2 b) { return a.x != b.x && a.y != b.y; }             \
  TUNESMITH_HALF_COMPARE(Half, eq)                                                              \
  TUNESMITH_HALF_COMPARE(Half, ne)                                                              \
  TUNESMITH_HALF_COMPARE(Half, lt)                                                              \
  TUNESMITH_HALF_COMPARE(Half, le)                                                              \
  TUNESMITH_HALF_COMPARE(Half, gt)                                                              \
  TUNESMITH_HALF_COMPARE(Half, ge)                                                              \
  TUNESMITH_HALF_MATHS(Half, sqrt, ::sqrtf(a))                                                  \
  TUNESMITH_HALF_MATHS(Half, rsqrt, static_cast<double>(1) / ::sqrt(static_cast<double>(a)))    \
  TUNESMITH_HALF_MATHS(Half, rcp, 1.0f / a)                                                     \
  TUNESMITH_HALF_MATHS(Half, exp, ::expf(a))                                                    \
  TUNESMITH_HALF_MATHS(Half, exp2, ::exp2f(a))                                                  \
  TUNESMITH_HALF_MATHS(Half, exp10, ::exp10f(a))                                                \
  TUNESMITH_HALF_MATHS(Half, log, ::logf(a))                                                    \
  TUNESMITH_HALF_MATHS(Half, log2, ::log2f(a))                                                  \
  TUNESMITH_HALF_MATHS(Half, log10, ::log10f(a))                                                \
  TUNESMITH_HALF_MATHS(Half, sin, ::sinf(a))                                                    \
  TUNESMITH_HALF_MATHS(Half, cos, ::cosf(a))                                                    \
  TUNESMITH_HALF_MATHS(Half, tanh, ::tanhf(a))                                                  \
  TUNESMITH_HALF_MATHS(Half, floor, ::floorf(a))                                                \
  TUNESMITH_HALF_MATHS(Half, ceil, ::ceilf(a))                                                  \
  TUNESMITH_HALF_MATHS(Half, trunc, ::truncf(a))                                                \
  TUNESMITH_HALF_MATHS(Half, rint, ::rintf(a))                                                  \
  inline float __low2float(Half##2 a) { return a.x; }                                           \
  inline float __high2float(Half##2 a) { return a.y; }
TUNESMITH_HALF_TYPE(__half, Float16)
TUNESMITH_HALF_TYPE(__nv_bfloat16, BFloat16)
#undef TUNESMITH_HALF_TYPE
#undef TUNESMITH_HALF_MATHS
#undef TUNESMITH_HALF_COMPARE
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#define TUNESMITH_HALF_CONVERSIONS(Half, half_name, two_name)                                     \
  inline float __##half_name##2float(Half a) { return a; }                                        \
  inline Half __float2##half_name(float a) { return a; }                                          \
  inline Half __float2##half_name##_rn(float a) { return a; }                                     \
  inline Half __double2##half_name(double a) { return a; }                                        \
  inline Half __int2##half_name##_rn(int a) { return a; }                                         \
  inline Half##2 __halves2##two_name(Half a, Half b) { return {a, b}; }                           \
  inline Half##2 __##half_name##2##two_name(Half a) { return {a, a}; }                            \
  inline Half##2 __float2##two_name##_rn(float a) { return {a, a}; }                              \
  inline Half##2 __floats2##two_name##_rn(float a, float b) { return {a, b}; }                    \
  inline Half##2 __float22##two_name##_rn(float2 a) { return {a.x, a.y}; }                        \
  inline float2 __##two_name##2float2(Half##2 a) { return make_float2(a.x, a.y); }                \
  inline Half##2 make_##two_name(Half a, Half b) { return {a, b}; }                               \
  inline Half##2 __low2##two_name(Half##2 a) { return {a.x, a.x}; }                               \
  inline Half##2 __high2##two_name(Half##2 a) { return {a.y, a.y}; }                              \
  inline Half##2 __lows2##two_name(Half##2 a, Half##2 b) { return {a.x, b.x}; }                   \
  inline Half##2 __highs2##two_name(Half##2 a, Half##2 b) { return {a.y, b.y}; }                  \
  inline Half __ushort_as_##half_name(unsigned short a) { return tunesmith_shim::bits<Half>(a); } \
  inline Half __short_as_##half_name(short a) { return tunesmith_shim::bits<Half>(a); }           \
  inline unsigned short __##half_name##_as_ushort(Half a) { return a.bits; }                      \
  inline short __##half_name##_as_short(Half a) { return static_cast<short>(a.bits); }            \
  inline Half __uint2##half_name##_rn(unsigned a) { return a; }                                   \
  inline Half __short2##half_name##_rn(short a) { return a; }                                     \
  inline Half __ushort2##half_name##_rn(unsigned short a) { return a; }                           \
  inline Half __ll2##half_name##_rn(long long a) { return a; }                                    \
  inline int __##half_name##2int_rn(Half a) { return __float2int_rn(a); }                         \
  inline int __##half_name##2int_rz(Half a) { return __float2int_rz(a); }                         \
  inline int __##half_name##2int_rd(Half a) { return __float2int_rd(a); }                         \
  inline int __##half_name##2int_ru(Half a) { return __float2int_ru(a); }                         \
  inline unsigned __##half_name##2uint_rn(Half a) { return __float2uint_rn(a); }                  \
  inline unsigned __##half_name##2uint_rz(Half a) { return __float2uint_rz(a); }                  \
  inline Half atomicAdd(Half* at, Half value) {                                                   \
    return tunesmith_shim::update(at, [=](Half old) -> Half { return old + value; });             \
  }                                                                                               \
  inline Half##2 atomicAdd(Half##2 * at, Half##2 value) {                                         \
    return {atomicAdd(&at->x, value.x), atomicAdd(&at->y, value.y)};                              \
  }                                                                                               \
  inline Half __low2##half_name(Half##2 a) { return a.x; }                                        \
  inline Half __high2##half_name(Half##2 a) { return a.y; }
TUNESMITH_HALF_CONVERSIONS(__half, half, half2)
TUNESMITH_HALF_CONVERSIONS(__nv_bfloat16, bfloat16, bfloat162)
#undef TUNESMITH_HALF_CONVERSIONS
inline __half2 __lowhigh2highlow(__half2 a) { return {a.y, a.x}; }
