// SPDX-License-Identifier: Apache-2.0
// Small elements inside 32-bit registers, for the tuned kernels of transpose: shifts words by bytes, and
// transposes small squares of elements.
#pragma once

// Bytes `skipped` (0 to 3) to `skipped` + 3 of the eight bytes.
__device__ __forceinline__ unsigned shift_bytes(unsigned low, unsigned high, unsigned skipped) {
  return __byte_perm(low, high, 0x3210 + 0x1111 * skipped);
}

// Word i of `to` gets element i of each word of `from`. A word has N elements of 4 / N bytes; with N = 1 it
// is one element of any size.
template <typename Word, int N>
__device__ __forceinline__ void turn_words(const Word (&from)[N], Word (&to)[N]) {
  if constexpr (N == 4) {
    const unsigned low_01 = __byte_perm(from[0], from[1], 0x5140);
    const unsigned high_01 = __byte_perm(from[0], from[1], 0x7362);
    const unsigned low_23 = __byte_perm(from[2], from[3], 0x5140);
    const unsigned high_23 = __byte_perm(from[2], from[3], 0x7362);
    to[0] = __byte_perm(low_01, low_23, 0x5410);
    to[1] = __byte_perm(low_01, low_23, 0x7632);
    to[2] = __byte_perm(high_01, high_23, 0x5410);
    to[3] = __byte_perm(high_01, high_23, 0x7632);
  } else if constexpr (N == 2) {
    to[0] = __byte_perm(from[0], from[1], 0x5410);
    to[1] = __byte_perm(from[0], from[1], 0x7632);
  } else {
    static_assert(N == 1, "4, 2 or 1 elements are turned");
    to[0] = from[0];
  }
}
