// SPDX-License-Identifier: Apache-2.0
// Further functions of CUDA that users' own kernels call: arithmetic with a stated rounding, conversions,
// integer intrinsics, and mathematical functions that the C library lacks. Ops of the library use none.
#pragma once

#include "common/host/atomics.h"
#include "common/host/bits.h"
#include "common/host/builtins.h"
#include "common/host/math.h"
#include "common/host/rounding.h"

namespace tunesmith_shim {

#if defined(__x86_64__)
constexpr int to_nearest = 0, downward = 0x400, upward = 0x800, to_zero = 0xc00;
#else
constexpr int to_nearest = 0, upward = 0x400000, downward = 0x800000, to_zero = 0xc00000;
#endif

// Computes an operation in a rounding mode. The operands are volatile because the compiler must neither move
// the operation nor compute it itself.
template <int Mode, typename Number, typename Operation>
inline Number rounded(Operation operation, Number x, Number y = 0, Number z = 0) {
  const int before = fegetround();
  fesetround(Mode);
  volatile Number a = x, b = y, c = z;
  volatile Number result = operation(a, b, c);
  fesetround(before);
  return result;
}

// Converts to a whole number as a GPU does: values beyond the type become its limits, and NaN 0.
template <typename Whole, typename Number>
inline Whole whole(Number rounded_value) {
  constexpr bool is_signed = Whole(-1) < Whole(0);
  constexpr int bits = 8 * static_cast<int>(sizeof(Whole)) - (is_signed ? 1 : 0);
  const Number limit = static_cast<Number>(2) * static_cast<Number>(1ull << (bits - 1));
  constexpr Whole most = static_cast<Whole>(~0ull >> (64 - bits));
  if (rounded_value != rounded_value) return 0;
  if (rounded_value >= limit) return most;
  if (is_signed ? rounded_value < -limit : rounded_value <= 0) return is_signed ? -most - 1 : 0;
  return static_cast<Whole>(rounded_value);
}

// The sine and the cosine of pi * x, exact where they are 0, 1 and -1.
inline void sine_and_cosine_of_pi(double x, double* sine, double* cosine) {
  const double quarters = rint(2 * x), angle = 3.14159265358979323846 * (x - quarters / 2);
  const double turn = quarters - 4 * floor(quarters / 4);  // 0, 1, 2, 3; NaN for an infinite x
  const double s = sin(angle), c = cos(angle);
  *sine = turn == 0 ? s : turn == 1 ? c : turn == 2 ? -s : turn == 3 ? -c : turn;
  *cosine = turn == 0 ? c : turn == 1 ? -s : turn == 2 ? -c : turn == 3 ? s : turn;
}

}  // namespace tunesmith_shim

#define TUNESMITH_ROUNDED(suffix, mode)                                                                     \
  inline float __fadd_##suffix(float x, float y) {                                                          \
    return tunesmith_shim::rounded<mode>([](float a, float b, float) { return a + b; }, x, y);              \
  }                                                                                                         \
  inline float __fsub_##suffix(float x, float y) {                                                          \
    return tunesmith_shim::rounded<mode>([](float a, float b, float) { return a - b; }, x, y);              \
  }                                                                                                         \
  inline float __fmul_##suffix(float x, float y) {                                                          \
    return tunesmith_shim::rounded<mode>([](float a, float b, float) { return a * b; }, x, y);              \
  }                                                                                                         \
  inline float __fdiv_##suffix(float x, float y) {                                                          \
    return tunesmith_shim::rounded<mode>([](float a, float b, float) { return a / b; }, x, y);              \
  }                                                                                                         \
  inline float __frcp_##suffix(float x) { return __fdiv_##suffix(1.0f, x); }                                \
  inline float __fsqrt_##suffix(float x) {                                                                  \
    return tunesmith_shim::rounded<mode>([](float a, float, float) { return __builtin_sqrtf(a); }, x);      \
  }                                                                                                         \
  inline float __fmaf_##suffix(float x, float y, float z) {                                                 \
    return tunesmith_shim::rounded<mode>([](float a, float b, float c) { return __builtin_fmaf(a, b, c); }, \
                                         x, y, z);                                                          \
  }                                                                                                         \
  inline double __dadd_##suffix(double x, double y) {                                                       \
    return tunesmith_shim::rounded<mode>([](double a, double b, double) { return a + b; }, x, y);           \
  }                                                                                                         \
  inline double __dsub_##suffix(double x, double y) {                                                       \
    return tunesmith_shim::rounded<mode>([](double a, double b, double) { return a - b; }, x, y);           \
  }                                                                                                         \
  inline double __dmul_##suffix(double x, double y) {                                                       \
    return tunesmith_shim::rounded<mode>([](double a, double b, double) { return a * b; }, x, y);           \
  }                                                                                                         \
  inline double __ddiv_##suffix(double x, double y) {                                                       \
    return tunesmith_shim::rounded<mode>([](double a, double b, double) { return a / b; }, x, y);           \
  }                                                                                                         \
  inline double __drcp_##suffix(double x) { return __ddiv_##suffix(1.0, x); }                               \
  inline double __dsqrt_##suffix(double x) {                                                                \
    return tunesmith_shim::rounded<mode>([](double a, double, double) { return __builtin_sqrt(a); }, x);    \
  }                                                                                                         \
  inline float __double2float_##suffix(double x) {                                                          \
    return static_cast<float>(tunesmith_shim::rounded<mode>(                                                \
        [](double a, double, double) { return static_cast<double>(static_cast<float>(a)); }, x));           \
  }
TUNESMITH_ROUNDED(rd, tunesmith_shim::downward)
TUNESMITH_ROUNDED(ru, tunesmith_shim::upward)
TUNESMITH_ROUNDED(rz, tunesmith_shim::to_zero)
#undef TUNESMITH_ROUNDED
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline double __dsub_rn(double x, double y) { return x - y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __drcp_rn(double x) { return 1.0 / x; }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

#define TUNESMITH_TO_WHOLE(name, whole_type, number)                                                \
  inline whole_type __##name##_rn(number x) { return tunesmith_shim::whole<whole_type>(rint(x)); }  \
  inline whole_type __##name##_rz(number x) { return tunesmith_shim::whole<whole_type>(trunc(x)); } \
  inline whole_type __##name##_rd(number x) { return tunesmith_shim::whole<whole_type>(floor(x)); } \
  inline whole_type __##name##_ru(number x) { return tunesmith_shim::whole<whole_type>(ceil(x)); }
TUNESMITH_TO_WHOLE(float2int, int, float)
TUNESMITH_TO_WHOLE(float2uint, unsigned, float)
TUNESMITH_TO_WHOLE(float2ll, long long, float)
TUNESMITH_TO_WHOLE(float2ull, unsigned long long, float)
TUNESMITH_TO_WHOLE(double2int, int, double)
TUNESMITH_TO_WHOLE(double2uint, unsigned, double)
TUNESMITH_TO_WHOLE(double2ll, long long, double)
TUNESMITH_TO_WHOLE(double2ull, unsigned long long, double)
#undef TUNESMITH_TO_WHOLE
namespace tunesmith_shim {
template <int Mode, typename Whole>
inline float to_float_rounded(Whole x) {
  const int before = fegetround();
  fesetround(Mode);
  volatile Whole whole = x;
  volatile float result = static_cast<float>(whole);
  fesetround(before);
  return result;
}
}  // namespace tunesmith_shim
#define TUNESMITH_FROM_WHOLE(name, whole_type)                            \
  inline float __##name##2float_rz(whole_type x) {                        \
    return tunesmith_shim::to_float_rounded<tunesmith_shim::to_zero>(x);  \
  }                                                                       \
  inline float __##name##2float_rd(whole_type x) {                        \
    return tunesmith_shim::to_float_rounded<tunesmith_shim::downward>(x); \
  }                                                                       \
  inline float __##name##2float_ru(whole_type x) {                        \
    return tunesmith_shim::to_float_rounded<tunesmith_shim::upward>(x);   \
  }
TUNESMITH_FROM_WHOLE(int, int)
TUNESMITH_FROM_WHOLE(uint, unsigned)
TUNESMITH_FROM_WHOLE(ll, long long)
TUNESMITH_FROM_WHOLE(ull, unsigned long long)
#undef TUNESMITH_FROM_WHOLE
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(
      static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low)));
}

// The low 24 bits of each factor, and the low 32 bits of the product.
inline int __mul24(int x, int y) {
  const auto low = [](int v) {
    return static_cast<long long>(static_cast<int>(static_cast<unsigned>(v) << 8) >> 8);
  };
  return static_cast<int>(static_cast<unsigned>(low(x) * low(y)));
}
inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
inline unsigned __sad(int x, int y, unsigned z) {
  return z + (x < y ? static_cast<unsigned>(y) - static_cast<unsigned>(x)
                    : static_cast<unsigned>(x) - static_cast<unsigned>(y));
}
inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x < y ? y - x : x - y); }
inline int __hadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y) >> 1); }
inline int __rhadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1); }
inline unsigned __uhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1);
}
inline unsigned __urhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}
inline long long __mul64hi(long long x, long long y) {
  return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}
inline int __dp4a(int x, int y, int z) {
  unsigned sum = static_cast<unsigned>(z);
  for (int n = 0; n < 32; n += 8)
    sum += static_cast<unsigned>(static_cast<signed char>(x >> n) * static_cast<signed char>(y >> n));
  return static_cast<int>(sum);
}
inline unsigned __dp4a(unsigned x, unsigned y, unsigned z) {
  for (int n = 0; n < 32; n += 8) z += (x >> n & 255u) * (y >> n & 255u);
  return z;
}
// Two 16-bit numbers of x, times the low or the high two bytes of y.
#define TUNESMITH_DP2A(name, type, wide, narrow, first)                          \
  inline type name(type x, type y, type z) {                                     \
    unsigned sum = static_cast<unsigned>(z);                                     \
    for (int n = 0; n < 2; ++n)                                                  \
      sum += static_cast<unsigned>(static_cast<wide>(x >> 16 * n) *              \
                                   static_cast<narrow>(y >> (8 * n + (first)))); \
    return static_cast<type>(sum);                                               \
  }
TUNESMITH_DP2A(__dp2a_lo, int, short, signed char, 0)
TUNESMITH_DP2A(__dp2a_hi, int, short, signed char, 16)
TUNESMITH_DP2A(__dp2a_lo, unsigned, unsigned short, unsigned char, 0)
TUNESMITH_DP2A(__dp2a_hi, unsigned, unsigned short, unsigned char, 16)
#undef TUNESMITH_DP2A
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

template <typename Number>
constexpr bool signbit(Number x) {
  return __builtin_signbit(x) != 0;
}
inline double sinpi(double x) {
  double sine, cosine;
  tunesmith_shim::sine_and_cosine_of_pi(x, &sine, &cosine);
  return sine;
}
inline double cospi(double x) {
  double sine, cosine;
  tunesmith_shim::sine_and_cosine_of_pi(x, &sine, &cosine);
  return cosine;
}
inline float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
inline float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
inline void sincospi(double x, double* sine, double* cosine) {
  tunesmith_shim::sine_and_cosine_of_pi(x, sine, cosine);
}
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float rcbrtf(float x) { return static_cast<float>(1.0 / cbrt(static_cast<double>(x))); }
inline double normcdf(double x) { return 0.5 * erfc(-0.70710678118654752440 * x); }
inline float normcdff(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }
inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
inline float rhypotf(float x, float y) {
  return static_cast<float>(1.0 / hypot(static_cast<double>(x), static_cast<double>(y)));
}
inline double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
inline float norm3df(float x, float y, float z) {
  return static_cast<float>(
      sqrt(static_cast<double>(x) * x + static_cast<double>(y) * y + static_cast<double>(z) * z));
}
inline float rnorm3df(float x, float y, float z) {
  return static_cast<float>(
      1.0 / sqrt(static_cast<double>(x) * x + static_cast<double>(y) * y + static_cast<double>(z) * z));
}
inline float fdividef(float x, float y) { return x / y; }
TUNESMITH_UNWATCHED inline void __nanosleep(unsigned) {
  tunesmith_shim::look_again();
  tunesmith_shim::looked(nullptr, 0ull);
}

// A clock that runs with each call, because the threads run one after the other.
namespace tunesmith_shim {
static long long clocks = 0;
}
inline long long clock64() { return tunesmith_shim::clocks += 16; }
inline int clock() { return static_cast<int>(clock64()); }

inline void __sincosf(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
inline float norm4df(float x, float y, float z, float w) {
  return static_cast<float>(sqrt(static_cast<double>(x) * x + static_cast<double>(y) * y +
                                 static_cast<double>(z) * z + static_cast<double>(w) * w));
}
inline float rnorm4df(float x, float y, float z, float w) {
  return static_cast<float>(1.0 / sqrt(static_cast<double>(x) * x + static_cast<double>(y) * y +
                                       static_cast<double>(z) * z + static_cast<double>(w) * w));
}
inline double norm4d(double x, double y, double z, double w) { return hypot(hypot(x, y), hypot(z, w)); }

inline float pow(float x, int n) { return powf(x, static_cast<float>(n)); }
inline double pow(double x, int n) { return pow(x, static_cast<double>(n)); }
extern "C" long lrint(double);
extern "C" long lrintf(float);
extern "C" long long llrint(double);
extern "C" long long llrintf(float);
extern "C" long lround(double);
extern "C" long lroundf(float);
extern "C" long long llround(double);
extern "C" long long llroundf(float);
extern "C" int ilogb(double);
extern "C" int ilogbf(float);
extern "C" double modf(double, double*);
extern "C" float modff(float, float*);
extern "C" double frexp(double, int*);
extern "C" float frexpf(float, int*);
extern "C" double scalbn(double, int);
extern "C" float scalbnf(float, int);

inline unsigned atomicDec(unsigned* at, unsigned value) {
  return tunesmith_shim::update(
      at, [value](unsigned old) -> unsigned { return old == 0 || old > value ? value : old - 1; });
}
inline long long atomicMin(long long* at, long long value) {
  return tunesmith_shim::update(at,
                                [value](long long old) -> long long { return value < old ? value : old; });
}
inline long long atomicMax(long long* at, long long value) {
  return tunesmith_shim::update(at,
                                [value](long long old) -> long long { return old < value ? value : old; });
}

// CUDA has atomicCAS of 16 bits, and sums of two and four floats, each of which is added alone.
inline unsigned short atomicCAS(unsigned short* at, unsigned short expected, unsigned short value) {
  return tunesmith_shim::update(
      at, [=](unsigned short old) -> unsigned short { return old == expected ? value : old; });
}
inline float2 atomicAdd(float2* at, float2 value) {
  return {atomicAdd(&at->x, value.x), atomicAdd(&at->y, value.y)};
}
inline float4 atomicAdd(float4* at, float4 value) {
  return {atomicAdd(&at->x, value.x), atomicAdd(&at->y, value.y), atomicAdd(&at->z, value.z),
          atomicAdd(&at->w, value.w)};
}
#if defined(TUNESMITH_WATCHED)
#define TUNESMITH_WITHIN_BLOCK tunesmith_shim::is_of_block = true
#else
#define TUNESMITH_WITHIN_BLOCK static_cast<void>(0)
#endif
#define TUNESMITH_SCOPED(name)                                                \
  template <typename Element, typename Value>                                 \
  inline Element name##_system(Element* at, Value value) {                    \
    return name(at, static_cast<Element>(value));                             \
  }                                                                           \
  template <typename Element, typename Value>                                 \
  TUNESMITH_UNWATCHED inline Element name##_block(Element* at, Value value) { \
    TUNESMITH_WITHIN_BLOCK;                                                   \
    return name(at, static_cast<Element>(value));                             \
  }
TUNESMITH_SCOPED(atomicAdd)
TUNESMITH_SCOPED(atomicSub)
TUNESMITH_SCOPED(atomicMin)
TUNESMITH_SCOPED(atomicMax)
TUNESMITH_SCOPED(atomicAnd)
TUNESMITH_SCOPED(atomicOr)
TUNESMITH_SCOPED(atomicXor)
TUNESMITH_SCOPED(atomicExch)
TUNESMITH_SCOPED(atomicInc)
TUNESMITH_SCOPED(atomicDec)
#undef TUNESMITH_SCOPED
template <typename Element, typename Expected, typename Value>
inline Element atomicCAS_system(Element* at, Expected expected, Value value) {
  return atomicCAS(at, static_cast<Element>(expected), static_cast<Element>(value));
}
template <typename Element, typename Expected, typename Value>
TUNESMITH_UNWATCHED inline Element atomicCAS_block(Element* at, Expected expected, Value value) {
  TUNESMITH_WITHIN_BLOCK;
  return atomicCAS(at, static_cast<Element>(expected), static_cast<Element>(value));
}
