// SPDX-License-Identifier: Apache-2.0
// The template `loops`: tensor as loops that are written for one problem. render puts the kernels,
// tensor_loops_0 and those behind it, where "generated" is included (loops_text.cpp). This file has the code
// that they share.

#include "common/functions.cuh"
#include "common/ordered.cuh"
#include "common/overlap.inl"
#include "common/vector.cuh"
#include "tensor/reduction.inl"

// True if a is below b and not below 0.
template <typename Number>
__device__ __forceinline__ bool is_below(Number a, Number b) {
  return a >= 0 && a < b;
}

// Combines the sums of `lanes` neighbouring threads, so that each of them gets the result, in an order that
// depends on nothing else.
template <typename How, int lanes, int count>
__device__ __forceinline__ void combine(Compute (&sum)[count]) {
#pragma unroll
  for (int n = 0; n < count; ++n) {
#pragma unroll
    for (int far = lanes / 2; far > 0; far /= 2)
      sum[n] = How::of(sum[n], __shfl_xor_sync(0xffffffffu, sum[n], far));
  }
}

// Combines the sums of threads of several warps in the same way, through shared memory.
template <typename How, int lanes, int count>
__device__ __forceinline__ void combine(Compute (&sum)[count], Compute* parts) {
  combine<How, 32>(sum);
  const int warp = threadIdx.x / 32, first = threadIdx.x / lanes * (lanes / 32);
  if (threadIdx.x % 32 == 0) {
    for (int n = 0; n < count; ++n) parts[warp * count + n] = sum[n];
  }
  __syncthreads();
#pragma unroll
  for (int n = 0; n < count; ++n) {
    sum[n] = parts[first * count + n];
    for (int w = 1; w < lanes / 32; ++w) sum[n] = How::of(sum[n], parts[(first + w) * count + n]);
  }
}

template <int wide, int count, typename Element>
__device__ __forceinline__ void load_by(Compute (&values)[count], const Element* from) {
#pragma unroll
  for (int n = 0; n < count / wide; ++n) {
    const Vector<Element, wide> vector = load_vector<wide>(from + n * wide);
#pragma unroll
    for (int k = 0; k < wide; ++k) values[n * wide + k] = load(vector.element[k]);
  }
#pragma unroll
  for (int n = count / wide * wide; n < count; ++n) values[n] = load(from[n]);
}

template <int count, typename Element>
__device__ __forceinline__ void load_run(Compute (&values)[count], const Element* from) {
  if (is_aligned<16>(from)) {
    load_by<16 / sizeof(Element)>(values, from);
  } else if (is_aligned<8>(from)) {
    load_by<8 / sizeof(Element)>(values, from);
  } else {
    load_by<1>(values, from);
  }
}

using Place = int;  // of an element

#include "generated"
