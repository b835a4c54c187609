// SPDX-License-Identifier: Apache-2.0
// transpose of matrices with a short side whose short rows have gaps between them. Strips of the long rows
// pass through shared memory; short rows are read or written one after the other, element by element, so that
// each of their sectors is touched once. TALL means that the input has the short rows. The kernel depends
// only on the size of an element.

#include "common/hinted_access.cuh"
#include "common/integer.cuh"
#include "common/overlap.inl"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"

constexpr int element_bytes = static_cast<int>(sizeof(T));
constexpr Hint load_hint = LOAD == Load::no_allocate ? Hint::no_allocate : Hint::none;
constexpr Hint store_hint = static_cast<Hint>(STORE);
constexpr int row_vector = VECTOR;

#include "transpose/strip.inl"

__device__ __forceinline__ void load_short_rows(T* shared, const T* from, long long pitch,
                                                const Strip& strip) {
  const int count = strip.columns * strip.rows;
  for (int at0 = threadIdx.x; at0 < count; at0 += ITEMS * BLOCK) {
    Vector<T, 1> loaded[ITEMS];
#pragma unroll
    for (int n = 0; n < ITEMS; ++n) {
      const unsigned at = at0 + n * BLOCK;
      const unsigned rows = strip.rows;
      if (at < static_cast<unsigned>(count)) loaded[n] = loaded_from<1>(from + at / rows * pitch + at % rows);
    }
#pragma unroll
    for (int n = 0; n < ITEMS; ++n)
      if (at0 + n * BLOCK < count) shared[place_of(at0 + n * BLOCK)] = loaded[n].element[0];
  }
}

__device__ __forceinline__ void store_short_rows(const T* shared, T* to, long long pitch,
                                                 const Strip& strip) {
  const unsigned rows = strip.rows;
  for (unsigned at = threadIdx.x; at < strip.columns * rows; at += BLOCK) {
    const Vector<T, 1> element = {{shared[place_of(static_cast<int>(at))]}};
    store_to<1>(to + at / rows * pitch + at % rows, element);
  }
}

// Launched with one block per strip in x and one per matrix of the batch in y and z. Pitches are elements
// from one row to the next.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(transpose_narrow_pitched)(InputPointer<T> input, T* __restrict__ output, long long batch, int rows,
                                    long long length, long long pitch, long long short_pitch) {
  DYNAMIC_SHARED(T, shared);
  start();
  const long long b = static_cast<long long>(blockIdx.z) * gridDim.y + blockIdx.y;
  if (b >= batch) return;
  const long long first = static_cast<long long>(blockIdx.x) * STRIP;
  const Strip strip = {static_cast<int>(threadIdx.x) % row_threads * row_vector,
                       static_cast<int>(threadIdx.x) / row_threads, rows,
                       static_cast<int>(min(length - first, static_cast<long long>(STRIP)))};
  const long long in_rows = b * rows * pitch + first;
  const long long in_short_rows = (b * length + first) * short_pitch;
  if constexpr (TALL != 0) {
    load_short_rows(shared, input + in_short_rows, short_pitch, strip);
    __syncthreads();
    store_rows(shared, output + in_rows, pitch, strip);
  } else {
    load_rows(shared, input + in_rows, pitch, strip);
    __syncthreads();
    store_short_rows(shared, output + in_short_rows, short_pitch, strip);
  }
}
