// A thread's neighbouring elements of any size, loaded as one word of at most 16 bytes.
#pragma once

#include "common/hinted_access.cuh"

// Elements [at, at + N) of `length`; how many there are of them. What lies from `length` on is not read.
template <Hint HINT, bool CONTIGUOUS, typename E, int N>
__device__ __forceinline__ int load_elements(E (&element)[N], const E* values, long long at, long long length,
                                             long long stride) {
  static_assert(CONTIGUOUS || N == 1, "only neighbours are loaded together");
  const E* const from = values + at * (CONTIGUOUS ? 1 : stride);
  if (at + N <= length) {
    const auto moved =
        load_hinted<HINT>(reinterpret_cast<const typename Moved<N * static_cast<int>(sizeof(E))>::Type*>(from));
    memcpy(element, &moved, sizeof(element));
    return N;
  }
  const int number = at < length ? static_cast<int>(length - at) : 0;
#pragma unroll
  for (int e = 0; e < N; ++e) element[e] = e < number ? from[e] : E(0);
  return number;
}
