// SPDX-License-Identifier: Apache-2.0
// reduce, the plain kernel of any reduction of general.cuh: one thread per output; where outputs are few and
// long, one block, whose threads walk along the length in strides and meet in a tree in shared memory. Only
// the element type is compiled in.

#include "common/shared.cuh"
#include "reduce/general.cuh"

struct Lines {
  long long outputs, length, inner, outer_stride, stride;
  Ratios ratios;
  bool alone;  // one thread per output
};

template <int which, bool wide>
__device__ __forceinline__ void reduce_with(const T* x, void* y, unsigned char* memory, const Lines& lines) {
  using R = General<which, T, wide>;
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

// `which` is the position of the function's word, and 32 more where sums are computed as f64.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_base_general)(const T* x, void* y, long long outputs, long long length, long long inner,
                               long long outer_stride, long long stride, double mean_ratio,
                               double variance_ratio, int which, int alone) {
  DYNAMIC_SHARED(unsigned char, memory);
  const Lines lines = {outputs,   length, inner, outer_stride, stride, {mean_ratio, variance_ratio},
                       alone != 0};
  constexpr bool is_whole = static_cast<T>(0.5) == 0;
  constexpr bool is_f32 = !is_whole && sizeof(T) == 4;  // f64 is wide itself, moments of integers too
  switch (which) {
#define TUNESMITH_FUNCTION(function, wide, is_there)                          \
  case (wide ? 32 : 0) + function:                                          \
    if constexpr (is_there) reduce_with<function, wide>(x, y, memory, lines); \
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
