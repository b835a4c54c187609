// SPDX-License-Identifier: Apache-2.0
// Copies VECTOR samples to shared memory. Needs T, VECTOR, COPY, `lanes` (elements of a 16-byte access),
// common/async_copy.cuh, common/integer.cuh and common/vector.cuh.

constexpr int part = smaller(VECTOR, lanes);  // elements that one store can take

__device__ __forceinline__ void stage_vector(T* to, const T* from) {
  if constexpr (COPY == Copy::async) {
#pragma unroll
    for (int p = 0; p < VECTOR; p += part) copy_async<part>(to + p, from + p, true);
  } else {
    const Vector<T, VECTOR> vector = load_vector<VECTOR>(from);
#pragma unroll
    for (int p = 0; p < VECTOR; p += part) {
      Vector<T, part> piece;
#pragma unroll
      for (int e = 0; e < part; ++e) piece.element[e] = vector.element[p + e];
      store_vector<part>(to + p, piece);
    }
  }
}
