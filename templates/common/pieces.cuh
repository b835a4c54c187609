// SPDX-License-Identifier: Apache-2.0
// Eight neighbours of 16 bits at any address, loaded in the two pieces of 16 bytes that hold them. A piece is
// read if one of its elements is wanted, and then whole: also beyond the array, up to the next multiple of 16
// bytes, which lies in the same page. On the host, where memory may end with an array, only wanted elements
// are read.
#pragma once

#include "common/vector.cuh"

struct Pieces {
  unsigned word[8];  // two elements each
};

// How many elements of the first piece lie before `from`.
template <typename T>
__device__ __forceinline__ unsigned shift_in_piece(const T* from) {
  static_assert(sizeof(T) == 2, "elements of 16 bits");
  return static_cast<unsigned>(reinterpret_cast<unsigned long long>(from) / 2 % 8);
}

// `count` elements are wanted, at most 8.
template <typename T>
__device__ __forceinline__ Pieces load_pieces(const T* from, int count) {
  const int shift = static_cast<int>(shift_in_piece(from));
  Pieces pieces = {};
#ifdef TUNESMITH_HOST
  for (int e = 0; e < count; ++e) {
    const int at = shift + e;
    pieces.word[at / 2] |= static_cast<unsigned>(from[e].bits) << (16 * (at % 2));
  }
#else
  const unsigned* const words = reinterpret_cast<const unsigned*>(from - shift);
#pragma unroll
  for (int piece = 0; piece < 2; ++piece) {
    if (piece == 0 ? count <= 0 : shift + count <= 8) continue;
    const auto vector = load_vector<4>(words + 4 * piece);
#pragma unroll
    for (int w = 0; w < 4; ++w) pieces.word[4 * piece + w] = vector.element[w];
  }
#endif
  return pieces;
}

// The elements from `shift` on as four words; those from `count` on are zeros.
__device__ __forceinline__ Vector<unsigned, 4> elements_of(const Pieces& pieces, unsigned shift, int count) {
  unsigned by_four[6], by_two[5];
#pragma unroll
  for (int w = 0; w < 6; ++w) by_four[w] = (shift & 4) != 0 ? pieces.word[w + 2] : pieces.word[w];
#pragma unroll
  for (int w = 0; w < 5; ++w) by_two[w] = (shift & 2) != 0 ? by_four[w + 1] : by_four[w];
  Vector<unsigned, 4> elements;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    unsigned its = (shift & 1) != 0 ? by_two[w] >> 16 | by_two[w + 1] << 16 : by_two[w];
    if (2 * w >= count) its = 0;
    if (2 * w + 1 == count) its &= 0xffffu;
    elements.element[w] = its;
  }
  return elements;
}
