// SPDX-License-Identifier: Apache-2.0
// Loads a thread's neighbouring elements of any size as one word of at most 16 bytes.
#pragma once

#include "common/hinted_access.cuh"

// Loads the elements [at, at + N) if all of them exist. Returns true if they do.
template <Hint HINT, bool CONTIGUOUS, typename E, int N>
__device__ __forceinline__ bool load_elements(E (&element)[N], const E* values, long long at,
                                              long long length, long long stride) {
  static_assert(CONTIGUOUS || N == 1, "only neighbours are loaded together");
  if (at + N > length) return false;
  using Word = typename Moved<N* static_cast<int>(sizeof(E))>::Type;
  const Word moved =
      load_hinted<HINT>(reinterpret_cast<const Word*>(values + at * (CONTIGUOUS ? 1 : stride)));
  memcpy(element, &moved, sizeof(element));
  return true;
}
