// SPDX-License-Identifier: Apache-2.0
// Instructions of PTX on whole numbers and bits: moves, arithmetic that wraps, carries, shifts, comparisons.
#pragma once

#include "common/host/intrinsics.h"
#include "common/host/ptx_operands.h"

namespace tunesmith_ptx {

template <typename T>
constexpr bool is_signed = is_number<T>&& static_cast<T>(-1) < static_cast<T>(0);

// Moves; of registers in braces the first has the lowest bits.
template <typename T, typename Register, typename A>
inline void mov(Register& to, const A& a) {
  set(to, get<T>(a));
}
template <typename T, typename Register, typename Part, int N>
inline void mov(Register& to, Registers<Part, N> from) {
  Register all = 0;
  for (int n = 0; n < N; ++n)
    all = static_cast<Register>(all | static_cast<Register>(from[n]) << (8 * sizeof(Register) / N * n));
  to = all;
}
template <typename T, typename Part, int N, typename A>
inline void mov(Registers<Part, N> to, const A& a) {
  const auto all = get<Unsigned<sizeof(T)>>(a);
  for (int n = 0; n < N; ++n) to[n] = static_cast<Part>(all >> (8 * sizeof(T) / N * n));
}

// The unsigned type in which numbers wrap.
template <typename T>
using Wrapping = Unsigned<sizeof(T) < 4 ? 4 : sizeof(T)>;
// A type that holds sums and products of two numbers.
template <size_t Size, bool Signed>
struct WideOf {
  using Type = long long;
};
template <size_t Size>
struct WideOf<Size, false> {
  using Type = unsigned long long;
};
template <>
struct WideOf<8, true> {
  using Type = __int128;
};
template <>
struct WideOf<8, false> {
  using Type = unsigned __int128;
};
template <typename T>
using Wide = typename WideOf<sizeof(T), is_signed<T>>::Type;

template <typename T>
inline T clamped(Wide<T> x) {
  constexpr Wide<T> most = is_signed<T> ? (Wide<T>(1) << (8 * sizeof(T) - 1)) - 1 : static_cast<T>(~T(0));
  constexpr Wide<T> least = is_signed<T> ? -most - 1 : 0;
  return static_cast<T>(x > most ? most : x < least ? least : x);
}

template <bool Sat, typename T, typename Register, typename A, typename B>
inline void add_whole(Register& to, const A& a, const B& b) {
  const Wide<T> x = get<T>(a), y = get<T>(b);
  set(to, Sat ? clamped<T>(x + y) : static_cast<T>(x + y));
}
template <bool Sat, typename T, typename Register, typename A, typename B>
inline void sub_whole(Register& to, const A& a, const B& b) {
  const Wide<T> x = get<T>(a), y = get<T>(b);
  set(to, Sat ? clamped<T>(x - y) : static_cast<T>(x - y));
}

// Carries, which stay until the next instruction with .cc.
static unsigned carry = 0;
template <typename T, typename Register>
inline void set_with_carry(Register& to, unsigned __int128 all) {
  carry = static_cast<unsigned>(all >> 8 * sizeof(T)) & 1u;
  set(to, static_cast<T>(all));
}
template <bool Carries, bool Reads, typename T, typename Register>
inline void set_sum(Register& to, Unsigned<sizeof(T)> x, Unsigned<sizeof(T)> y, bool subtracts) {
  using U = Unsigned<sizeof(T)>;
  unsigned __int128 all = x;
  const unsigned before = Reads ? carry : 0;
  if (subtracts) {
    all = all - y - before;
  } else {
    all = all + y + before;
  }
  if constexpr (Carries) {
    set_with_carry<U>(to, all);
  } else {
    set(to, static_cast<T>(static_cast<U>(all)));
  }
}
#define TUNESMITH_PTX_CARRIED(name, carries, reads, subtracts)       \
  template <typename T, typename Register, typename A, typename B>   \
  inline void name(Register& to, const A& a, const B& b) {           \
    using U = Unsigned<sizeof(T)>;                                   \
    set_sum<carries, reads, T>(to, get<U>(a), get<U>(b), subtracts); \
  }
TUNESMITH_PTX_CARRIED(add_cc, true, false, false)
TUNESMITH_PTX_CARRIED(addc, false, true, false)
TUNESMITH_PTX_CARRIED(addc_cc, true, true, false)
TUNESMITH_PTX_CARRIED(sub_cc, true, false, true)
TUNESMITH_PTX_CARRIED(subc, false, true, true)
TUNESMITH_PTX_CARRIED(subc_cc, true, true, true)
#undef TUNESMITH_PTX_CARRIED

// The halves of a product, and the whole of it.
template <typename T, typename A, typename B>
inline Wide<T> product(const A& a, const B& b) {
  return static_cast<Wide<T>>(get<T>(a)) * static_cast<Wide<T>>(get<T>(b));
}
template <typename T>
inline T low_half(Wide<T> x) {
  return static_cast<T>(x);
}
template <typename T>
inline T high_half(Wide<T> x) {
  return static_cast<T>(x >> 8 * sizeof(T));
}
template <typename T>
struct Twice;
template <>
struct Twice<u16> {
  using Type = u32;
};
template <>
struct Twice<s16> {
  using Type = s32;
};
template <>
struct Twice<u32> {
  using Type = u64;
};
template <>
struct Twice<s32> {
  using Type = s64;
};

#define TUNESMITH_PTX_HALF(half)                                                                      \
  template <typename T, typename Register, typename A, typename B>                                    \
  inline void mul_##half(Register& to, const A& a, const B& b) {                                      \
    set(to, half##_half<T>(product<T>(a, b)));                                                        \
  }                                                                                                   \
  template <typename T, typename Register, typename A, typename B, typename C>                        \
  inline void mad_##half(Register& to, const A& a, const B& b, const C& c) {                          \
    using U = Unsigned<sizeof(T)>;                                                                    \
    set_sum<false, false, T>(to, static_cast<U>(half##_half<T>(product<T>(a, b))), get<U>(c), false); \
  }                                                                                                   \
  template <typename T, typename Register, typename A, typename B, typename C>                        \
  inline void mad_cc_##half(Register& to, const A& a, const B& b, const C& c) {                       \
    using U = Unsigned<sizeof(T)>;                                                                    \
    set_sum<true, false, T>(to, static_cast<U>(half##_half<T>(product<T>(a, b))), get<U>(c), false);  \
  }                                                                                                   \
  template <typename T, typename Register, typename A, typename B, typename C>                        \
  inline void madc_##half(Register& to, const A& a, const B& b, const C& c) {                         \
    using U = Unsigned<sizeof(T)>;                                                                    \
    set_sum<false, true, T>(to, static_cast<U>(half##_half<T>(product<T>(a, b))), get<U>(c), false);  \
  }                                                                                                   \
  template <typename T, typename Register, typename A, typename B, typename C>                        \
  inline void madc_cc_##half(Register& to, const A& a, const B& b, const C& c) {                      \
    using U = Unsigned<sizeof(T)>;                                                                    \
    set_sum<true, true, T>(to, static_cast<U>(half##_half<T>(product<T>(a, b))), get<U>(c), false);   \
  }
TUNESMITH_PTX_HALF(low)
TUNESMITH_PTX_HALF(high)
#undef TUNESMITH_PTX_HALF
template <typename T, typename Register, typename A, typename B>
inline void mul_wide(Register& to, const A& a, const B& b) {
  set(to, static_cast<typename Twice<T>::Type>(product<T>(a, b)));
}
template <typename T, typename Register, typename A, typename B, typename C>
inline void mad_wide(Register& to, const A& a, const B& b, const C& c) {
  using W = typename Twice<T>::Type;
  using U = Unsigned<sizeof(W)>;
  set(to, static_cast<W>(static_cast<U>(product<T>(a, b)) + get<U>(c)));
}
// Division by zero gives all ones, and the remainder the number itself, as GPUs do.
template <typename T, typename Register, typename A, typename B>
inline void div_whole(Register& to, const A& a, const B& b) {
  const Wide<T> x = get<T>(a), y = get<T>(b);
  set(to, y == 0 ? static_cast<T>(~T(0)) : static_cast<T>(x / y));
}
template <typename T, typename Register, typename A, typename B>
inline void rem_whole(Register& to, const A& a, const B& b) {
  const Wide<T> x = get<T>(a), y = get<T>(b);
  set(to, y == 0 ? get<T>(a) : static_cast<T>(x % y));
}
template <typename T, typename Register, typename A, typename B>
inline void min_whole(Register& to, const A& a, const B& b) {
  const T x = get<T>(a), y = get<T>(b);
  set(to, y < x ? y : x);
}
template <typename T, typename Register, typename A, typename B>
inline void max_whole(Register& to, const A& a, const B& b) {
  const T x = get<T>(a), y = get<T>(b);
  set(to, x < y ? y : x);
}
template <typename T, typename Register, typename A>
inline void abs_whole(Register& to, const A& a) {
  const auto x = static_cast<Wide<T>>(get<T>(a));
  set(to, static_cast<T>(x < 0 ? -x : x));
}
template <typename T, typename Register, typename A>
inline void neg_whole(Register& to, const A& a) {
  set(to, static_cast<T>(-static_cast<Wide<T>>(get<T>(a))));
}
template <typename T, typename Register, typename A, typename B, typename C>
inline void sad(Register& to, const A& a, const B& b, const C& c) {
  const Wide<T> x = get<T>(a), y = get<T>(b);
  set(to, static_cast<T>((x < y ? y - x : x - y) + static_cast<Wide<T>>(get<T>(c))));
}
template <typename T, typename Register, typename A, typename B>
inline void mul24_lo(Register& to, const A& a, const B& b) {
  if constexpr (is_signed<T>) {
    set(to, __mul24(get<T>(a), get<T>(b)));
  } else {
    set(to, __umul24(get<T>(a), get<T>(b)));
  }
}
template <typename T, typename Register, typename A, typename B, typename C>
inline void mad24_lo(Register& to, const A& a, const B& b, const C& c) {
  Register factor;
  mul24_lo<T>(factor, a, b);
  set(to, static_cast<T>(factor + get<u32>(c)));
}

template <typename Register, typename A, typename B, typename C>
inline void vabsdiff4_add(Register& to, const A& a, const B& b, const C& c) {
  auto sum = get<u32>(c);
  for (int n = 0; n < 32; n += 8) {
    const u32 x = get<u32>(a) >> n & 255u, y = get<u32>(b) >> n & 255u;
    sum += x < y ? y - x : x - y;
  }
  set(to, sum);
}

// Factors of bytes, which may be signed or not each.
template <typename TA, typename TB, typename Register, typename A, typename B, typename C>
inline void dp4a(Register& to, const A& a, const B& b, const C& c) {
  using Byte = u8;
  auto sum = get<u32>(c);
  const auto of = [](u32 bits, int n, auto zero) {
    return is_signed<decltype(zero)> ? static_cast<s8>(bits >> 8 * n) : static_cast<Byte>(bits >> 8 * n);
  };
  for (int n = 0; n < 4; ++n) sum += static_cast<u32>(of(get<u32>(a), n, TA()) * of(get<u32>(b), n, TB()));
  to = sum;
}

// Bits.
#define TUNESMITH_PTX_BITWISE(name, expression)                    \
  template <typename T, typename Register, typename A, typename B> \
  inline void name(Register& to, const A& a, const B& b) {         \
    const T x = get<T>(a), y = get<T>(b);                          \
    set(to, static_cast<T>(expression));                           \
  }
TUNESMITH_PTX_BITWISE(bit_and, x& y)
TUNESMITH_PTX_BITWISE(bit_or, x | y)
TUNESMITH_PTX_BITWISE(bit_xor, x ^ y)
#undef TUNESMITH_PTX_BITWISE
template <typename T, typename Register, typename A>
inline void bit_not(Register& to, const A& a) {
  if constexpr (__is_same(T, bool)) {
    set(to, !get<T>(a));
  } else {
    set(to, static_cast<T>(~get<T>(a)));
  }
}
template <typename T, typename Register, typename A>
inline void cnot(Register& to, const A& a) {
  set(to, static_cast<T>(get<T>(a) == 0 ? 1 : 0));
}
template <typename T, typename Register, typename A, typename B>
inline void shl(Register& to, const A& a, const B& by) {
  constexpr u32 bits = 8 * sizeof(T);
  const auto n = get<u32>(by);
  set(to, n >= bits ? T(0) : static_cast<T>(static_cast<Wrapping<T>>(get<T>(a)) << n));
}
template <typename T, typename Register, typename A, typename B>
inline void shr(Register& to, const A& a, const B& by) {
  constexpr u32 bits = 8 * sizeof(T);
  const auto n = get<u32>(by);
  const T x = get<T>(a);
  set(to, static_cast<T>(n >= bits ? (x < 0 ? T(-1) : T(0)) : x >> n));
}
template <typename Register, typename A, typename B, typename C>
inline void shf_l_wrap(Register& to, const A& a, const B& b, const C& c) {
  set(to, __funnelshift_l(get<u32>(a), get<u32>(b), get<u32>(c)));
}
template <typename Register, typename A, typename B, typename C>
inline void shf_r_wrap(Register& to, const A& a, const B& b, const C& c) {
  set(to, __funnelshift_r(get<u32>(a), get<u32>(b), get<u32>(c)));
}
template <typename Register, typename A, typename B, typename C>
inline void shf_l_clamp(Register& to, const A& a, const B& b, const C& c) {
  set(to, __funnelshift_lc(get<u32>(a), get<u32>(b), get<u32>(c)));
}
template <typename Register, typename A, typename B, typename C>
inline void shf_r_clamp(Register& to, const A& a, const B& b, const C& c) {
  set(to, __funnelshift_rc(get<u32>(a), get<u32>(b), get<u32>(c)));
}
// Any function of three bits: bit 4 x + 2 y + z of the table is its value.
template <typename Register, typename A, typename B, typename C, typename Table>
inline void lop3(Register& to, const A& a, const B& b, const C& c, const Table& table) {
  const u32 x = get<u32>(a), y = get<u32>(b), z = get<u32>(c), truth = get<u32>(table);
  u32 made = 0;
  for (u32 n = 0; n < 8; ++n)
    if ((truth >> n & 1u) != 0)
      made |= ((n & 4) != 0 ? x : ~x) & ((n & 2) != 0 ? y : ~y) & ((n & 1) != 0 ? z : ~z);
  set(to, made);
}
template <typename Register, typename A, typename B, typename C>
inline void prmt(Register& to, const A& a, const B& b, const C& selector) {
  set(to, __byte_perm(get<u32>(a), get<u32>(b), get<u32>(selector)));
}
template <typename T, typename Register, typename A, typename B, typename C>
inline void bfe(Register& to, const A& a, const B& first, const C& count) {
  constexpr u32 bits = 8 * sizeof(T);
  using U = Unsigned<sizeof(T)>;
  const u32 at = get<u32>(first) & 255u, length = get<u32>(count) & 255u;
  const auto x = get<U>(a);
  if (length == 0) {
    set(to, U(0));
    return;
  }
  const u32 last = at + length - 1 < bits - 1 ? at + length - 1 : bits - 1;
  const bool sign = is_signed<T> && (x >> last & 1u) != 0;
  U made = at >= bits ? U(0) : static_cast<U>(x >> at);
  const u32 kept = at >= bits ? 0 : last - at + 1;
  if (length < bits || at > 0) {
    const U ones = kept >= bits ? static_cast<U>(~U(0)) : static_cast<U>((U(1) << kept) - 1);
    made = static_cast<U>(sign ? made | ~ones : made & ones);
  }
  set(to, made);
}
template <typename T, typename Register, typename A, typename B, typename C, typename E>
inline void bfi(Register& to, const A& a, const B& b, const C& first, const E& count) {
  constexpr u32 bits = 8 * sizeof(T);
  const u32 at = get<u32>(first) & 255u, length = get<u32>(count) & 255u;
  const T from = get<T>(a);
  T made = get<T>(b);
  for (u32 n = 0; n < length && at + n < bits && n < bits; ++n) {
    const T one = static_cast<T>(T(1) << (at + n));
    made = static_cast<T>((from >> n & 1u) != 0 ? made | one : made & ~one);
  }
  set(to, made);
}
template <typename T, typename Register, typename A>
inline void popc(Register& to, const A& a) {
  set(to, static_cast<u32>(__popcll(get<T>(a))));
}
template <typename T, typename Register, typename A>
inline void clz(Register& to, const A& a) {
  set(to, static_cast<u32>(__clzll(static_cast<s64>(get<T>(a))) - (64 - 8 * static_cast<int>(sizeof(T)))));
}
template <typename T, typename Register, typename A>
inline void brev(Register& to, const A& a) {
  set(to, static_cast<T>(__brevll(get<T>(a)) >> (64 - 8 * sizeof(T))));
}
// The place of the highest bit that differs from the sign, or with ShiftAmount its distance from the top.
template <bool ShiftAmount, typename T, typename Register, typename A>
inline void bfind(Register& to, const A& a) {
  using U = Unsigned<sizeof(T)>;
  const T x = get<T>(a);
  const auto all = static_cast<U>(is_signed<T> && x < 0 ? ~static_cast<U>(x) : static_cast<U>(x));
  if (all == 0) {
    set(to, ~0u);
    return;
  }
  const int place = 63 - __clzll(static_cast<s64>(static_cast<u64>(all)));
  set(to, static_cast<u32>(ShiftAmount ? 8 * static_cast<int>(sizeof(T)) - 1 - place : place));
}
template <typename T, typename Register, typename A, typename B, typename P>
inline void selp(Register& to, const A& a, const B& b, const P& p) {
  set(to, get<bool>(p) ? get<T>(a) : get<T>(b));
}
template <typename T, typename TC, typename Register, typename A, typename B, typename C>
inline void slct(Register& to, const A& a, const B& b, const C& c) {
  set(to, get<TC>(c) >= TC(0) ? get<T>(a) : get<T>(b));
}

// Comparisons; those with u are true of a NaN, which the others are false of.
#define TUNESMITH_PTX_COMPARED(name, expression)              \
  struct Is_##name {                                          \
    template <typename T>                                     \
    static bool of(T x, T y) {                                \
      [[maybe_unused]] const bool has_nan = x != x || y != y; \
      return expression;                                      \
    }                                                         \
  };
TUNESMITH_PTX_COMPARED(eq, x == y)
TUNESMITH_PTX_COMPARED(ne, !has_nan && x != y)
TUNESMITH_PTX_COMPARED(lt, x < y)
TUNESMITH_PTX_COMPARED(le, x <= y)
TUNESMITH_PTX_COMPARED(gt, x > y)
TUNESMITH_PTX_COMPARED(ge, x >= y)
TUNESMITH_PTX_COMPARED(lo, x < y)
TUNESMITH_PTX_COMPARED(ls, x <= y)
TUNESMITH_PTX_COMPARED(hi, x > y)
TUNESMITH_PTX_COMPARED(hs, x >= y)
TUNESMITH_PTX_COMPARED(equ, has_nan || x == y)
TUNESMITH_PTX_COMPARED(neu, has_nan || x != y)
TUNESMITH_PTX_COMPARED(ltu, has_nan || x < y)
TUNESMITH_PTX_COMPARED(leu, has_nan || x <= y)
TUNESMITH_PTX_COMPARED(gtu, has_nan || x > y)
TUNESMITH_PTX_COMPARED(geu, has_nan || x >= y)
TUNESMITH_PTX_COMPARED(num, !has_nan)
TUNESMITH_PTX_COMPARED(nan, has_nan)
#undef TUNESMITH_PTX_COMPARED
template <typename How, typename T, typename D, typename A, typename B>
inline void compare(D&& to, const A& a, const B& b) {
  const bool is = How::of(get<T>(a), get<T>(b));
  set_with(to, is, !is);
}
// The comparison joined with another predicate.
#define TUNESMITH_PTX_JOINED(name, join)                                              \
  template <typename How, typename T, typename D, typename A, typename B, typename P> \
  inline void compare_##name(D&& to, const A& a, const B& b, const P& p) {            \
    const bool is = How::of(get<T>(a), get<T>(b)), other = get<bool>(p);              \
    set_with(to, is join other, !is join other);                                      \
  }
TUNESMITH_PTX_JOINED(and, &&)
TUNESMITH_PTX_JOINED(or, ||)
TUNESMITH_PTX_JOINED(xor, !=)
#undef TUNESMITH_PTX_JOINED
template <typename How, typename D, typename T, typename Register, typename A, typename B>
inline void set_if(Register& to, const A& a, const B& b) {
  const bool is = How::of(get<T>(a), get<T>(b));
  if constexpr (__is_same(D, f32)) {
    set(to, is ? 1.0f : 0.0f);
  } else {
    set(to, is ? ~0u : 0u);
  }
}

}  // namespace tunesmith_ptx
