// SPDX-License-Identifier: Apache-2.0
// The host twin of common/two_halves.cuh.
#pragma once

#include "common/float16.cuh"

struct Halves {
  unsigned high, middle;
};

inline unsigned pack_halves(float low, float high) {
  return from_float<Float16>(low).bits | static_cast<unsigned>(from_float<Float16>(high).bits) << 16;
}
inline float low_half(unsigned packed) {
  return to_float(Float16{static_cast<unsigned short>(packed & 0xffffu)});
}
inline float high_half(unsigned packed) {
  return to_float(Float16{static_cast<unsigned short>(packed >> 16)});
}
