// SPDX-License-Identifier: Apache-2.0
// Integer intrinsics, and the bits of a number as another type.
#pragma once

#include <string.h>

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(high) << 32 | low;
  unsigned result = 0;
  for (unsigned n = 0; n < 4; ++n) {
    const unsigned select = selector >> 4 * n & 15;
    unsigned byte = static_cast<unsigned>(bytes >> 8 * (select & 7)) & 255;
    if ((select & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    result |= byte << 8 * n;
  }
  return result;
}
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1) << (31 - bit);
  return reversed;
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }

namespace tunesmith_shim {

template <typename To, typename From>
inline To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "a reinterpretation keeps the size");
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

}  // namespace tunesmith_shim

inline int __float_as_int(float x) { return tunesmith_shim::bits<int>(x); }
inline unsigned __float_as_uint(float x) { return tunesmith_shim::bits<unsigned>(x); }
inline float __int_as_float(int x) { return tunesmith_shim::bits<float>(x); }
inline float __uint_as_float(unsigned x) { return tunesmith_shim::bits<float>(x); }
inline long long __double_as_longlong(double x) { return tunesmith_shim::bits<long long>(x); }
inline double __longlong_as_double(long long x) { return tunesmith_shim::bits<double>(x); }
