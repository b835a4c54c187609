// SPDX-License-Identifier: Apache-2.0
// The parts of <cuda_fp16.h> and <cuda_bf16.h> that kernels commonly use: conversions, arithmetic and
// comparisons of one number and of two. An operation is done in float and rounded once more. The result is
// the same as with one rounding, because a float has more than twice the digits (Figueroa 1995).
#pragma once

#include "common/float16.cuh"

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

#define TUNESMITH_HALF_TYPE(Half, Stored)                                                  \
  struct Half : Stored {                                                                   \
    Half() = default;                                                                      \
    Half(float x) : Stored(from_float<Stored>(x)) {}                                       \
    Half(double x) : Half(tunesmith_shim::to_odd(x)) {}                                    \
    Half(int x) : Half(static_cast<double>(x)) {}                                          \
    Half(unsigned x) : Half(static_cast<double>(x)) {}                                     \
    operator float() const { return to_float(static_cast<const Stored&>(*this)); }         \
    Half& operator+=(Half other) { return *this = float(*this) + float(other); }           \
    Half& operator-=(Half other) { return *this = float(*this) - float(other); }           \
    Half& operator*=(Half other) { return *this = float(*this) * float(other); }           \
    Half& operator/=(Half other) { return *this = float(*this) / float(other); }           \
  };                                                                                       \
  struct alignas(4) Half##2 {                                                              \
    Half x, y;                                                                             \
  };                                                                                       \
  inline Half operator+(Half a, Half b) { return a += b; }                                 \
  inline Half operator-(Half a, Half b) { return a -= b; }                                 \
  inline Half operator*(Half a, Half b) { return a *= b; }                                 \
  inline Half operator/(Half a, Half b) { return a /= b; }                                 \
  inline Half operator-(Half a) { return -float(a); }                                      \
  inline bool operator==(Half a, Half b) { return float(a) == float(b); }                  \
  inline bool operator!=(Half a, Half b) { return float(a) != float(b); }                  \
  inline bool operator<(Half a, Half b) { return float(a) < float(b); }                    \
  inline bool operator<=(Half a, Half b) { return float(a) <= float(b); }                  \
  inline bool operator>(Half a, Half b) { return float(a) > float(b); }                    \
  inline bool operator>=(Half a, Half b) { return float(a) >= float(b); }                  \
  inline Half __hadd(Half a, Half b) { return a + b; }                                     \
  inline Half __hsub(Half a, Half b) { return a - b; }                                     \
  inline Half __hmul(Half a, Half b) { return a * b; }                                     \
  inline Half __hdiv(Half a, Half b) { return a / b; }                                     \
  inline Half __hfma(Half a, Half b, Half c) {                                             \
    return Half(static_cast<double>(float(a)) * float(b) + static_cast<double>(float(c))); \
  }                                                                                        \
  inline Half __hneg(Half a) { return -a; }                                                \
  inline Half __habs(Half a) { return ::fabsf(a); }                                        \
  inline Half __hmax(Half a, Half b) { return ::fmaxf(a, b); }                             \
  inline Half __hmin(Half a, Half b) { return ::fminf(a, b); }                             \
  inline bool __heq(Half a, Half b) { return a == b; }                                     \
  inline bool __hne(Half a, Half b) { return a != b; }                                     \
  inline bool __hlt(Half a, Half b) { return a < b; }                                      \
  inline bool __hle(Half a, Half b) { return a <= b; }                                     \
  inline bool __hgt(Half a, Half b) { return a > b; }                                      \
  inline bool __hge(Half a, Half b) { return a >= b; }                                     \
  inline bool __hisnan(Half a) { return float(a) != float(a); }                            \
  inline Half hsqrt(Half a) { return ::sqrtf(a); }                                         \
  inline Half hexp(Half a) { return ::expf(a); }                                           \
  inline Half hlog(Half a) { return ::logf(a); }                                           \
  inline Half##2 __hadd2(Half##2 a, Half##2 b) { return {a.x + b.x, a.y + b.y}; }          \
  inline Half##2 __hsub2(Half##2 a, Half##2 b) { return {a.x - b.x, a.y - b.y}; }          \
  inline Half##2 __hmul2(Half##2 a, Half##2 b) { return {a.x * b.x, a.y * b.y}; }          \
  inline Half##2 __hfma2(Half##2 a, Half##2 b, Half##2 c) {                                \
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                 \
  }                                                                                        \
  inline float __low2float(Half##2 a) { return a.x; }                                      \
  inline float __high2float(Half##2 a) { return a.y; }
TUNESMITH_HALF_TYPE(__half, Float16)
TUNESMITH_HALF_TYPE(__nv_bfloat16, BFloat16)
#undef TUNESMITH_HALF_TYPE
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#define TUNESMITH_HALF_CONVERSIONS(Half, half_name, two_name)                      \
  inline float __##half_name##2float(Half a) { return a; }                         \
  inline Half __float2##half_name(float a) { return a; }                           \
  inline Half __float2##half_name##_rn(float a) { return a; }                      \
  inline Half __double2##half_name(double a) { return a; }                         \
  inline Half __int2##half_name##_rn(int a) { return a; }                          \
  inline Half##2 __halves2##two_name(Half a, Half b) { return {a, b}; }            \
  inline Half##2 __##half_name##2##two_name(Half a) { return {a, a}; }             \
  inline Half##2 __float2##two_name##_rn(float a) { return {a, a}; }               \
  inline Half##2 __floats2##two_name##_rn(float a, float b) { return {a, b}; }     \
  inline Half##2 __float22##two_name##_rn(float2 a) { return {a.x, a.y}; }         \
  inline float2 __##two_name##2float2(Half##2 a) { return make_float2(a.x, a.y); } \
  inline Half __low2##half_name(Half##2 a) { return a.x; }                         \
  inline Half __high2##half_name(Half##2 a) { return a.y; }
TUNESMITH_HALF_CONVERSIONS(__half, half, half2)
TUNESMITH_HALF_CONVERSIONS(__nv_bfloat16, bfloat16, bfloat162)
#undef TUNESMITH_HALF_CONVERSIONS
