// SPDX-License-Identifier: Apache-2.0
// Instructions of PTX on floating-point numbers, and conversions. An approximation (.approx) is computed as
// exactly as the C library does, so a GPU's result differs from it in the last digits.
#pragma once

#include "common/host/intrinsics.h"
#include "common/host/math.h"
#include "common/host/ptx_operands.h"

namespace tunesmith_ptx {

template <typename T>
constexpr int lanes_of = 1;
template <>
inline constexpr int lanes_of<f16x2> = 2;
template <>
inline constexpr int lanes_of<bf16x2> = 2;
template <>
inline constexpr int lanes_of<f32x2> = 2;

template <Round R>
constexpr int mode_of = R == Round::rz   ? tunesmith_shim::to_zero
                        : R == Round::rm ? tunesmith_shim::downward
                        : R == Round::rp ? tunesmith_shim::upward
                                         : tunesmith_shim::to_nearest;

// With .ftz numbers below the normal ones are zeros of their sign.
template <bool Ftz, typename T>
inline T flushed(T x) {
  if constexpr (Ftz && __is_same(T, f32)) {
    if (__builtin_fabsf(x) < 0x1p-126f) return __builtin_copysignf(0.0f, x);
  }
  return x;
}
template <bool Sat, typename T>
inline T saturated(T x) {
  if constexpr (Sat) return x > T(0) ? x < T(1) ? x : T(1) : T(0);
  return x;
}

// An operation on one number of each operand, rounded once; of 16 bits it is computed in double.
template <Round R, bool Ftz, bool Sat, typename T, typename Operation>
inline T computed(Operation operation, T x, T y, T z) {
  if constexpr (__is_same(T, f32) || __is_same(T, f64)) {
    x = flushed<Ftz>(x);
    y = flushed<Ftz>(y);
    z = flushed<Ftz>(z);
    if constexpr (mode_of<R> == tunesmith_shim::to_nearest) {
      return saturated<Sat>(flushed<Ftz>(operation(x, y, z)));
    } else {
      return saturated<Sat>(flushed<Ftz>(tunesmith_shim::rounded<mode_of<R>>(operation, x, y, z)));
    }
  } else {
    const T made = operation(static_cast<f64>(static_cast<f32>(x)), static_cast<f64>(static_cast<f32>(y)),
                             static_cast<f64>(static_cast<f32>(z)));
    return saturated<Sat>(made);
  }
}
template <Round R, bool Ftz, bool Sat, typename T, typename Register, typename Operation, typename A,
          typename B, typename C>
inline void compute(Register& to, Operation operation, const A& a, const B& b, const C& c) {
  const T x = get<T>(a), y = get<T>(b), z = get<T>(c);
  if constexpr (lanes_of<T> == 2) {
    set(to,
        T{computed<R, Ftz, Sat>(operation, x.x, y.x, z.x), computed<R, Ftz, Sat>(operation, x.y, y.y, z.y)});
  } else {
    set(to, computed<R, Ftz, Sat>(operation, x, y, z));
  }
}

inline f32 fused(f32 x, f32 y, f32 z) { return __builtin_fmaf(x, y, z); }
inline f64 fused(f64 x, f64 y, f64 z) { return __builtin_fma(x, y, z); }
inline f32 least(f32 x, f32 y) { return __builtin_fminf(x, y); }
inline f64 least(f64 x, f64 y) { return __builtin_fmin(x, y); }
inline f32 largest(f32 x, f32 y) { return __builtin_fmaxf(x, y); }
inline f64 largest(f64 x, f64 y) { return __builtin_fmax(x, y); }

#define TUNESMITH_PTX_OF_TWO(name, expression)                                                  \
  template <Round R, bool Ftz, bool Sat, typename T, typename Register, typename A, typename B> \
  inline void name(Register& to, const A& a, const B& b) {                                      \
    compute<R, Ftz, Sat, T>(                                                                    \
        to, [](auto x, auto y, auto) { return expression; }, a, b, b);                          \
  }
TUNESMITH_PTX_OF_TWO(add, x + y)
TUNESMITH_PTX_OF_TWO(sub, x - y)
TUNESMITH_PTX_OF_TWO(mul, x* y)
TUNESMITH_PTX_OF_TWO(div, x / y)
#undef TUNESMITH_PTX_OF_TWO
template <Round R, bool Ftz, bool Sat, bool Relu, typename T, typename Register, typename A, typename B,
          typename C>
inline void fma(Register& to, const A& a, const B& b, const C& c) {
  compute<R, Ftz, Sat, T>(
      to,
      [](auto x, auto y, auto z) {
        const auto made = fused(x, y, z);
        return Relu && !(made > 0) ? made - made : made;
      },
      a, b, c);
}
// The minimum of a number and a NaN is the number, with NaN the NaN.
template <bool Ftz, bool Nan, typename T, typename Register, typename A, typename B>
inline void min(Register& to, const A& a, const B& b) {
  compute<Round::none, Ftz, false, T>(
      to, [](auto x, auto y, auto) { return Nan && (x != x || y != y) ? x + y : least(x, y); }, a, b, b);
}
template <bool Ftz, bool Nan, typename T, typename Register, typename A, typename B>
inline void max(Register& to, const A& a, const B& b) {
  compute<Round::none, Ftz, false, T>(
      to, [](auto x, auto y, auto) { return Nan && (x != x || y != y) ? x + y : largest(x, y); }, a, b, b);
}
#define TUNESMITH_PTX_OF_ONE(name, expression)                            \
  template <Round R, bool Ftz, typename T, typename Register, typename A> \
  inline void name(Register& to, const A& a) {                            \
    compute<R, Ftz, false, T>(                                            \
        to, [](auto x, auto, auto) { return expression; }, a, a, a);      \
  }
TUNESMITH_PTX_OF_ONE(abs, x < 0 || (x == 0 && __builtin_signbit(x)) ? -x : x)
TUNESMITH_PTX_OF_ONE(neg, -x)
TUNESMITH_PTX_OF_ONE(rcp, decltype(x)(1) / x)
TUNESMITH_PTX_OF_ONE(sqrt, ::sqrt(x))
TUNESMITH_PTX_OF_ONE(rsqrt, decltype(x)(1) / ::sqrt(x))
TUNESMITH_PTX_OF_ONE(ex2, ::exp2(x))
TUNESMITH_PTX_OF_ONE(lg2, ::log2(x))
TUNESMITH_PTX_OF_ONE(sin, ::sin(x))
TUNESMITH_PTX_OF_ONE(cos, ::cos(x))
TUNESMITH_PTX_OF_ONE(tanh, ::tanh(x))
#undef TUNESMITH_PTX_OF_ONE
template <typename T, typename Register, typename A, typename B>
inline void copysign(Register& to, const A& sign, const B& size) {
  set(to, static_cast<T>(__builtin_copysign(static_cast<f64>(get<T>(size)), static_cast<f64>(get<T>(sign)))));
}

// Conversions.
template <typename T>
constexpr bool is_of_16 = __is_same(T, f16) || __is_same(T, bf16);
template <Round R, typename T>
inline T to_whole_value(T x) {
  if constexpr (R == Round::rni) return ::rint(x);
  if constexpr (R == Round::rzi) return ::trunc(x);
  if constexpr (R == Round::rmi) return ::floor(x);
  if constexpr (R == Round::rpi) return ::ceil(x);
  return x;
}
template <Round R, bool Relu, typename D>
inline D narrowed(f32 x) {
  if constexpr (Relu) x = x > 0 ? x : 0;
  if constexpr (R == Round::rz) {  // of two neighbours the one that is nearer to zero
    D near = x;
    if (__builtin_fabsf(near) > __builtin_fabsf(x)) --near.bits;
    return near;
  }
  return x;
}

template <Round R, bool Ftz, bool Sat, bool Relu, typename D, typename S>
inline D converted(S x) {
  if constexpr (is_of_16<S>) {
    return converted<R, Ftz, Sat, Relu, D>(static_cast<f32>(x));
  } else if constexpr (__is_same(D, tf32)) {
    const u32 bits = __float_as_uint(x);
    if ((bits & 0x7f800000u) == 0x7f800000u) return {x};
    const u32 half = R == Round::rn ? 0xfffu + (bits >> 13 & 1u) : R == Round::rz ? 0u : 0x1000u;
    return {__uint_as_float((bits + half) & 0xffffe000u)};
  } else if constexpr (is_number<D> && is_number<S>) {
    if constexpr (!Sat) return static_cast<D>(x);
    constexpr bool is_signed = static_cast<D>(-1) < static_cast<D>(0);
    constexpr __int128 most = is_signed ? static_cast<__int128>((~0ull >> (64 - 8 * sizeof(D))) >> 1)
                                        : static_cast<__int128>(~0ull >> (64 - 8 * sizeof(D)));
    constexpr __int128 least = is_signed ? -most - 1 : 0;
    return static_cast<D>(x > most ? most : x < least ? least : static_cast<__int128>(x));
  } else if constexpr (is_number<D>) {
    return tunesmith_shim::whole<D>(to_whole_value<R>(flushed<Ftz>(x)));
  } else if constexpr (is_number<S>) {
    if constexpr (is_of_16<D>) {
      return D(x);
    } else {
      if constexpr (mode_of<R> == tunesmith_shim::to_nearest) return static_cast<D>(x);
      const int before = fegetround();
      fesetround(mode_of<R>);
      volatile S from = x;
      volatile D made = static_cast<D>(from);
      fesetround(before);
      return made;
    }
  } else {
    const S from = to_whole_value<R>(flushed<Ftz>(x));
    if constexpr (is_of_16<D> && __is_same(S, f32)) {
      return saturated<Sat>(narrowed<R, Relu, D>(from));
    } else if constexpr (__is_same(D, f32) && __is_same(S, f64) && mode_of<R> != tunesmith_shim::to_nearest) {
      return saturated<Sat>(static_cast<f32>(tunesmith_shim::rounded<mode_of<R>>(
          [](f64 a, f64, f64) { return static_cast<f64>(static_cast<f32>(a)); }, from)));
    } else {
      return saturated<Sat>(flushed<Ftz>(static_cast<D>(from)));
    }
  }
}
template <Round R, bool Ftz, bool Sat, bool Relu, typename D, typename S, typename Register, typename A>
inline void cvt(Register& to, const A& a) {
  set(to, converted<R, Ftz, Sat, Relu, D>(get<S>(a)));
}
// Two numbers in one register, the first operand in its upper half.
template <Round R, bool Relu, typename D, typename S, typename Register, typename A, typename B>
inline void cvt_pair(Register& to, const A& upper, const B& lower) {
  using One = decltype(D().x);
  set(to, D{narrowed<R, Relu, One>(get<S>(lower)), narrowed<R, Relu, One>(get<S>(upper))});
}

}  // namespace tunesmith_ptx
