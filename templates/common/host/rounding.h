// SPDX-License-Identifier: Apache-2.0
// Operations of double that do not round to nearest.
#pragma once

extern "C" int fegetround();
extern "C" int fesetround(int);

inline double __fma_rd(double x, double y, double z) {
#if defined(__x86_64__)
  constexpr int downward = 0x400;
#elif defined(__aarch64__)
  constexpr int downward = 0x800000;
#else
#error "FE_DOWNWARD of this processor is not known here"
#endif
  // The operands are volatile because the compiler must neither move the operation nor compute it itself.
  const int before = fegetround();
  fesetround(downward);
  volatile double a = x;
  volatile double b = y;
  volatile double c = z;
  volatile double result = __builtin_fma(a, b, c);
  fesetround(before);
  return result;
}
