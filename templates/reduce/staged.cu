// reduce of short rows without gaps, by any reduction: a block's threads copy their rows to shared memory
// side by side, and then each has a row to itself, of which nothing is passed between threads.

#include "common/overlap.inl"
#include "common/shared.cuh"
#include "reduce/general.cuh"

using R = General<static_cast<int>(function), T, wide, SHORT_PLACES != 0>;

static_assert(!overlapped || (LOAD != Load::bypass && LOAD != Load::wide),
              "these hints load by the read-only path");

// Rows of an even length are one element apart, so that a warp's threads read different banks.
struct Pitch {
  int length;
  bool odd;
  __device__ __forceinline__ int place(int element) const {
    return odd ? element : element + element / length;
  }
};

// Copies `count` elements.
__device__ __forceinline__ void stage(T* staged, const T* from, int count, const Pitch& pitch) {
  constexpr int step = BLOCK * VECTOR;
  for (int first = static_cast<int>(threadIdx.x) * VECTOR; first + VECTOR <= count; first += ITEMS * step) {
    Vector<T, VECTOR> vector[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int at = first + i * step;
      if (at + VECTOR <= count) vector[i] = load_once<static_cast<int>(LOAD), VECTOR>(from + at);
    }
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int at = first + i * step;
      if (at + VECTOR > count) continue;
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) staged[pitch.place(at + v)] = vector[i].element[v];
    }
  }
  if constexpr (VECTOR > 1) {  // less than a vector
    const int at = count / VECTOR * VECTOR + static_cast<int>(threadIdx.x);
    if (at < count) staged[pitch.place(at)] = from[at];
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_staged)(const T* x, R::Output* y, long long outer, int length, double mean_ratio,
                         double variance_ratio) {
  DYNAMIC_SHARED(T, staged);
  start();
  const Pitch pitch = {length, length % 2 != 0};
  const long long first = static_cast<long long>(blockIdx.x) * BLOCK;
  const int rows = outer - first < BLOCK ? static_cast<int>(outer - first) : BLOCK;
  stage(staged, x + first * length, rows * length, pitch);
  __syncthreads();
  const int row = static_cast<int>(threadIdx.x);
  if (row >= rows) return;
  const T* const own = staged + row * (length + (pitch.odd ? 0 : 1));
  const R::Shift shift = R::shift_of(own[0]);
  typename R::Partial total = nothing<R>();
  int at = 0;
  for (; at + TILE <= length; at += TILE) {
    T some[TILE];
#pragma unroll
    for (int k = 0; k < TILE; ++k) some[k] = own[at + k];
    R::template add<TILE, true>(total, some, TILE, Places<TILE, TILE>{at}, shift);
  }
  if (at < length) {
    T some[TILE];
#pragma unroll
    for (int k = 0; k < TILE; ++k) some[k] = at + k < length ? own[at + k] : T(0);
    R::template add<TILE, false>(total, some, length - at, Places<TILE, TILE>{at}, shift);
  }
  y[first + row] = R::output(total, shift, length, Ratios{mean_ratio, variance_ratio});
}
