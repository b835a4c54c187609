// SPDX-License-Identifier: Apache-2.0
// reduce/base, the plain kernels: one thread per output; where outputs are few and long, one block per
// output, whose threads walk along the length in strides and meet in a tree in shared memory; for an atomic
// sum several blocks per output, each with one addition to the global sum. Only the element type is compiled
// in. The first three kernels are for sum, min, max and mean; they would need the registers of moments if
// they were one with the last kernel, which has the other functions and sums in f64.

#include "common/shared.cuh"
#include "reduce/reductions.cuh"

// The total of one output's elements, or of this block's share of them where `blocks` share an output.
template <typename R>
__device__ __forceinline__ typename R::Partial block_total(const T* x, unsigned char* memory,
                                                           long long output, long long length,
                                                           long long inner, long long outer_stride,
                                                           long long stride, long long block,
                                                           long long blocks) {
  const T* from = x + output / inner * outer_stride + output % inner;
  typename R::Partial partial = nothing<R>();
  for (long long l = block * BLOCK + threadIdx.x; l < length; l += blocks * BLOCK)
    partial = R::combine(partial, R::lift(R::item(from[l * stride])));
  const typename R::Partial total =
      shared_total<R, BLOCK>(partial, reinterpret_cast<typename R::Partial*>(memory));
  __syncthreads();  // the memory is the next output's
  return total;
}

template <int which>
__device__ __forceinline__ void reduce_with(const T* x, void* y, unsigned char* memory, long long outputs,
                                            long long length, long long inner, long long outer_stride,
                                            long long stride) {
  using R = ReductionOfElements<which, T, false>;
  for (long long output = blockIdx.x; output < outputs; output += gridDim.x) {
    const typename R::Partial total =
        block_total<R>(x, memory, output, length, inner, outer_stride, stride, 0, 1);
    if (threadIdx.x == 0) static_cast<typename R::Output*>(y)[output] = R::output(total, {}, length, {});
  }
}

template <int which>
__device__ __forceinline__ void reduce_each_with(const T* x, void* y, long long outputs, long long length,
                                                 long long inner, long long outer_stride, long long stride) {
  using R = ReductionOfElements<which, T, false>;
  const long long step = static_cast<long long>(gridDim.x) * BLOCK;
  for (long long output = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; output < outputs;
       output += step) {
    const T* from = x + output / inner * outer_stride + output % inner;
    typename R::Partial total = nothing<R>();
    for (long long l = 0; l < length; ++l) total = R::combine(total, R::lift(R::item(from[l * stride])));
    static_cast<typename R::Output*>(y)[output] = R::output(total, {}, length, {});
  }
}

// One block per output; `which` is the position of the function's word.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_base)(const T* x, void* y, long long outputs, long long length, long long inner,
                       long long outer_stride, long long stride, int which) {
  DYNAMIC_SHARED(unsigned char, memory);
  if (which == 0) reduce_with<0>(x, y, memory, outputs, length, inner, outer_stride, stride);
  if (which == 1) reduce_with<1>(x, y, memory, outputs, length, inner, outer_stride, stride);
  if (which == 2) reduce_with<2>(x, y, memory, outputs, length, inner, outer_stride, stride);
  if (which == 3) reduce_with<3>(x, y, memory, outputs, length, inner, outer_stride, stride);
}

// One thread per output.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_base_each)(const T* x, void* y, long long outputs, long long length, long long inner,
                            long long outer_stride, long long stride, int which) {
  if (which == 0) reduce_each_with<0>(x, y, outputs, length, inner, outer_stride, stride);
  if (which == 1) reduce_each_with<1>(x, y, outputs, length, inner, outer_stride, stride);
  if (which == 2) reduce_each_with<2>(x, y, outputs, length, inner, outer_stride, stride);
  if (which == 3) reduce_each_with<3>(x, y, outputs, length, inner, outer_stride, stride);
}

// An atomic sum; the outputs are zero before the launch.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_base_atomic)(const T* x, void* y, long long outputs, long long length, long long inner,
                              long long outer_stride, long long stride) {
  using R = ReductionOfElements<0, T, false>;
  DYNAMIC_SHARED(unsigned char, memory);
  for (long long output = blockIdx.y; output < outputs; output += gridDim.y) {
    const R::Partial total =
        block_total<R>(x, memory, output, length, inner, outer_stride, stride, blockIdx.x, gridDim.x);
    if (threadIdx.x == 0)
      add_atomically(static_cast<R::Output*>(y) + output, R::output(total, {}, length, {}));
  }
}

// ---- the other functions

struct Lines {
  long long outputs, length, inner, outer_stride, stride;
  Ratios ratios;
  bool alone;  // one thread per output
};

template <int which, bool wide>
__device__ __forceinline__ void reduce_line_with(const T* x, void* y, unsigned char* memory,
                                                 const Lines& lines) {
  using R = ReductionOfElements<which, T, wide>;
  using Partial = typename R::Partial;
  const int thread = lines.alone ? 0 : static_cast<int>(threadIdx.x);
  const int team = lines.alone ? 1 : BLOCK;
  const long long first = lines.alone ? static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x
                                      : static_cast<long long>(blockIdx.x);
  const long long step = static_cast<long long>(gridDim.x) * (BLOCK / team);
  for (long long output = first; output < lines.outputs; output += step) {
    const T* from = x + output / lines.inner * lines.outer_stride + output % lines.inner;
    const typename R::Shift shift = R::shift(from, lines.length);
    Partial total = nothing<R>();
    for (long long l = thread; l < lines.length; l += team) {
      const T one[1] = {from[l * lines.stride]};
      R::template add<1, true>(total, one, 1, Places<1, 1>{l}, shift);
    }
    if (!lines.alone) {
      total = shared_total<R, BLOCK>(total, reinterpret_cast<Partial*>(memory));
      __syncthreads();  // the memory is the next output's
    }
    if (thread == 0)
      static_cast<typename R::Output*>(y)[output] = R::output(total, shift, lines.length, lines.ratios);
  }
}

// `which` is the position of the function's word, plus 32 if sums are computed as f64.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_base_further)(const T* x, void* y, long long outputs, long long length, long long inner,
                               long long outer_stride, long long stride, double mean_ratio,
                               double variance_ratio, int which, int alone) {
  DYNAMIC_SHARED(unsigned char, memory);
  const Lines lines = {outputs,   length, inner, outer_stride, stride, {mean_ratio, variance_ratio},
                       alone != 0};
  constexpr bool is_whole = static_cast<NumberOf<T>>(0.5) == 0;
  constexpr bool is_f32 =
      !is_whole && sizeof(NumberOf<T>) == 4;  // f64 is wide itself, moments of integers too
  switch (which) {
#define TUNESMITH_FUNCTION(function, wide, is_there)                               \
  case (wide ? 32 : 0) + function:                                          \
    if constexpr (is_there) reduce_line_with<function, wide>(x, y, memory, lines); \
    break;
    TUNESMITH_FUNCTION(4, false, true)
    TUNESMITH_FUNCTION(5, false, true)
    TUNESMITH_FUNCTION(6, false, true)
    TUNESMITH_FUNCTION(7, false, true)
    TUNESMITH_FUNCTION(8, false, true)
    TUNESMITH_FUNCTION(9, false, true)
    TUNESMITH_FUNCTION(10, false, true)
    TUNESMITH_FUNCTION(11, false, true)
    TUNESMITH_FUNCTION(12, false, true)
    TUNESMITH_FUNCTION(13, false, true)
    TUNESMITH_FUNCTION(14, false, true)
    TUNESMITH_FUNCTION(15, false, true)
    TUNESMITH_FUNCTION(16, false, true)
    TUNESMITH_FUNCTION(17, false, true)
    TUNESMITH_FUNCTION(0, true, is_whole || is_f32)
    TUNESMITH_FUNCTION(3, true, is_f32)
    TUNESMITH_FUNCTION(6, true, is_f32)
    TUNESMITH_FUNCTION(7, true, is_f32)
    TUNESMITH_FUNCTION(8, true, is_whole || is_f32)
    TUNESMITH_FUNCTION(17, true, is_f32)
#undef TUNESMITH_FUNCTION
    default:
      break;
  }
}
