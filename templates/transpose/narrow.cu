// SPDX-License-Identifier: Apache-2.0
// transpose of matrices with a short side: one of the arrays has few long rows, the other is one stretch of
// memory in which their elements alternate. A block moves STRIP elements of each long row. Shared memory
// holds them in the order of the stretch, so that both arrays are read and written contiguously. TALL means
// that the input is the stretch. The kernel depends only on the size of an element.

#include "common/hinted_access.cuh"
#include "common/integer.cuh"
#include "common/overlap.inl"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"

constexpr int element_bytes = static_cast<int>(sizeof(T));
constexpr Hint load_hint = LOAD == Load::no_allocate ? Hint::no_allocate : Hint::none;
constexpr Hint store_hint = static_cast<Hint>(STORE);
constexpr int row_vector = TALL ? VECTOR_OUT : VECTOR_IN;
constexpr int stretch_vector = TALL ? VECTOR_IN : VECTOR_OUT;

#include "transpose/strip.inl"

__device__ __forceinline__ void load_stretch(T* shared, const T* from, int count) {
  constexpr int step = BLOCK * stretch_vector;
  for (int at0 = threadIdx.x * stretch_vector; at0 < count; at0 += ITEMS * step) {
    Vector<T, stretch_vector> loaded[ITEMS];
#pragma unroll
    for (int n = 0; n < ITEMS; ++n) {
      if (at0 + n * step < count) loaded[n] = loaded_from<stretch_vector>(from + at0 + n * step);
    }
#pragma unroll
    for (int n = 0; n < ITEMS; ++n) {
      if (at0 + n * step >= count) break;
#pragma unroll
      for (int v = 0; v < stretch_vector; ++v) shared[place_of(at0 + n * step + v)] = loaded[n].element[v];
    }
  }
}

__device__ __forceinline__ void store_stretch(const T* shared, T* to, int count) {
  for (int at = threadIdx.x * stretch_vector; at < count; at += BLOCK * stretch_vector) {
    Vector<T, stretch_vector> vector;
#pragma unroll
    for (int v = 0; v < stretch_vector; ++v) vector.element[v] = shared[place_of(at + v)];
    store_to<stretch_vector>(to + at, vector);
  }
}

// Launched with one block per strip in x and one per matrix of the batch in y and z.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(transpose_narrow)(InputPointer<T> input, T* __restrict__ output, long long batch, int rows,
                            long long length, long long pitch) {
  DYNAMIC_SHARED(T, shared);
  start();
  const long long b = static_cast<long long>(blockIdx.z) * gridDim.y + blockIdx.y;
  if (b >= batch) return;
  const long long first = static_cast<long long>(blockIdx.x) * STRIP;
  const Strip strip = {static_cast<int>(threadIdx.x) % row_threads * row_vector,
                       static_cast<int>(threadIdx.x) / row_threads, rows,
                       static_cast<int>(min(length - first, static_cast<long long>(STRIP)))};
  const long long in_rows = b * rows * pitch + first;
  const long long in_stretch = (b * length + first) * rows;
  if constexpr (TALL != 0) {
    load_stretch(shared, input + in_stretch, strip.columns * rows);
    __syncthreads();
    store_rows(shared, output + in_rows, pitch, strip);
  } else {
    load_rows(shared, input + in_rows, pitch, strip);
    __syncthreads();
    store_stretch(shared, output + in_stretch, strip.columns * rows);
  }
}
