// SPDX-License-Identifier: Apache-2.0
// The kernel of tensor.cu with the number of taps and their direction as arguments, so that one binary serves
// every kernel of taps. tensor.cu explains the products and their accuracy. Samples for which a thread has no
// register are read twice.

#include "common/halves.cuh"
#include "common/integer.cuh"
#include "common/matrix.cuh"
#include "common/overlap.inl"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"

constexpr int threads = 32 * WARPS;
constexpr int warp_tile = 128 * PRODUCTS;
constexpr int tile = WARPS * warp_tile;

#include "conv1d/tensor_layout.inl"
constexpr int first_pair = tensor_first_pair;
constexpr int held = PRODUCTS + 2;  // quads of samples that wait in a thread's registers

// The taps, and the layout that follows from their number.
struct Taps : TensorLayout {
  const float* kernel;
  int count;
  bool turned;  // a convolution is a correlation with turned taps

  __device__ __forceinline__ Taps(const float* kernel, int count, int convolve)
      : TensorLayout(tensor_layout(count, tile)), kernel(kernel), count(count), turned(convolve != 0) {}

  // Zero beyond the taps.
  __device__ __forceinline__ float at(int j) const {
    return j < 0 || j >= count ? 0.0f : kernel[turned ? count - 1 - j : j];
  }
};

// ---- staging

// The place of a tile's samples: from `first` of the signal on.
struct Place {
  const float* samples;  // of the first; may lie before the signal
  int begin, end;        // which of those from there on the signal has
};

__device__ __forceinline__ Vector<float, 4> load_quad(const Place& place, int q) {
  const int p = 4 * q;
  if (p >= place.begin && p + 4 <= place.end) return load_vector<4>(place.samples + p);
  Vector<float, 4> quad;
#pragma unroll
  for (int e = 0; e < 4; ++e)
    quad.element[e] = p + e >= place.begin && p + e < place.end ? place.samples[p + e] : 0.0f;
  return quad;
}

// A thread's quads, `threads` apart. The first ones stay in registers while the block finds the scale; the
// others are read twice.
struct Samples {
  Vector<float, 4> quad[held];

  __device__ __forceinline__ void load(const Place& place, int quads) {
    const bool inside = place.begin <= 0 && place.end >= 4 * quads;
#pragma unroll
    for (int n = 0; n < held; ++n) {
      const int q = n * threads + threadIdx.x;
      quad[n] = {{0, 0, 0, 0}};
      if (q < quads) quad[n] = inside ? load_vector<4>(place.samples + 4 * q) : load_quad(place, q);
    }
  }

  // Calls visit(q, quad) for each quad.
  template <typename Visit>
  __device__ __forceinline__ void each(const Place& place, int quads, Visit visit) const {
#pragma unroll
    for (int n = 0; n < held; ++n) {
      const int q = n * threads + threadIdx.x;
      if (q < quads) visit(q, quad[n]);
    }
#pragma unroll 1
    for (int q = held * threads + threadIdx.x; q < quads; q += threads) visit(q, load_quad(place, q));
  }
};

__device__ __forceinline__ void stage_samples(unsigned* to, int q, const Vector<float, 4>& quad, float scale,
                                              int plane_words) {
  const Halves low = split(quad.element[0], quad.element[1], scale);
  const Halves high = split(quad.element[2], quad.element[3], scale);
  store_vector<2>(to + 2 * q, Vector<unsigned, 2>{{low.high, high.high}});
  store_vector<2>(to + plane_words + 2 * q, Vector<unsigned, 2>{{low.middle, high.middle}});
}

__device__ __forceinline__ void stage_taps(unsigned* to, const Taps& taps, float scale) {
#pragma unroll 1
  for (int p = threadIdx.x; p < taps.pairs; p += threads) {
    const Halves pair = split(taps.at(p - first_pair), taps.at(p - first_pair + 1), scale);
    to[p] = pair.high;
    to[taps.pairs + p] = pair.middle;
  }
}

#include "conv1d/tensor_sums.inl"

// The operands of all steps: the shared address of this lane's matrix row among the first four matrices of
// the high plane, its first pair of taps, and the distances from these to the middles.
struct Operands {
  unsigned samples;
  const unsigned* pairs;
  int middle_samples, middle_pairs;  // bytes, words
};

// Adds COUNT steps of 16 taps, each 64 taps after the previous one.
template <int COUNT>
__device__ __forceinline__ void add_steps(Sums& sums, const Operands& from) {
  unsigned high_taps[COUNT][2], middle_taps[COUNT][2];
#pragma unroll
  for (int s = 0; s < COUNT; ++s) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      high_taps[s][half] = from.pairs[64 * s + 8 * half];
      middle_taps[s][half] = from.pairs[from.middle_pairs + 64 * s + 8 * half];
    }
  }
#pragma unroll
  for (int v = 0; v < PRODUCTS - 1 + COUNT; ++v) {
    unsigned high[4], middle[4];
    load_matrices(high, from.samples + v * 128);
    load_matrices(middle, from.samples + v * 128 + from.middle_samples);
#include "conv1d/add_products.inl"
  }
}

// Adds the last steps, fewer than COUNT.
template <int COUNT>
__device__ __forceinline__ void add_rest(Sums& sums, const Operands& from, int count) {
  if constexpr (COUNT > 1) {
    if (count == COUNT - 1) {
      add_steps<COUNT - 1>(sums, from);
    } else {
      add_rest<COUNT - 1>(sums, from, count);
    }
  }
}

// Adds the steps r, r + 4, r + 8, ... for each r.
__device__ __forceinline__ void multiply(Sums& sums, const Operands& first, int steps) {
#pragma unroll 1
  for (int r = 0; r < 4; ++r) {
    Operands from = first;
    from.samples += r * 32;
    from.pairs += r * 16;
    int count = (steps - r + 3) / 4;
#pragma unroll 1
    for (; count >= HELD; count -= HELD) {
      add_steps<HELD>(sums, from);
      from.samples += HELD * 128;
      from.pairs += HELD * 64;
    }
    add_rest<HELD>(sums, from, count);
  }
}

// ---- results

// Computes again those outputs of a lane whose bits are set in `which`; `at` is the lane's first output.
__device__ __noinline__ void compute_directly(const float* signal, const float* kernel, float* output,
                                              unsigned which, long long at, long long length,
                                              long long output_length, long long left, int taps,
                                              int convolve) {
  for (; which != 0; which &= which - 1) {
    const int bit = __ffs(which) - 1;
    const long long i = at + bit / 2 * 64 + bit % 2;
    if (i >= output_length) return;
    const int begin = static_cast<int>(max(0LL, left - i));
    const int end = static_cast<int>(min(static_cast<long long>(taps), length + left - i));
    float sum = 0;
    for (int j = begin; j < end; ++j) sum += kernel[convolve ? taps - 1 - j : j] * signal[i - left + j];
    output[i] = sum;
  }
}

// Launched with blocks of WARPS warps over the tiles of a row's outputs and the rows of the batch; a grid
// whose y would exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv1d_tensor_any)(InputPointer<T> signal, InputPointer<T> kernel, T* __restrict__ output,
                             int batch, long long length, long long output_length, long long left,
                             int taps_count, int convolve) {
  __shared__ WarpRange warps_samples[WARPS], warps_taps[WARPS];
  DYNAMIC_SHARED(unsigned, memory);  // pairs of taps, high samples, middle samples
  start();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Taps taps(kernel, taps_count, convolve);
  const int quads = 2 * taps.units;
  unsigned* planes = memory + 2 * taps.pairs;
  const unsigned samples_at =
      static_cast<unsigned>(__cvta_generic_to_shared(planes)) +
      (warp * warp_tile / 8 + lane / 8 % 2 * (warp_tile / 16) + lane / 16 + lane % 8) * 16;
  const long long tile_first = static_cast<long long>(blockIdx.x) * tile;

  SizeRange taps_range;
  float taps_scale = 0;
  bool first = true;
  for (long long row = blockIdx.y; row < batch; row += gridDim.y) {
    const long long row_first = row * length + tile_first - left;
    const int skipped = static_cast<int>(
        (static_cast<long long>(reinterpret_cast<unsigned long long>(signal) / 4) + row_first) & 3);
    const long long most = 8 * taps.units;
    const long long begin = left + skipped - tile_first;
    const Place place = {signal + row_first - skipped, static_cast<int>(max(0LL, min(begin, most))),
                         static_cast<int>(max(0LL, min(length + begin, most)))};
    Samples samples;
    samples.load(place, quads);
    if (first) {
#pragma unroll 1
      for (int j = threadIdx.x; j < taps_count; j += threads) include(taps_range, kernel[j]);
      publish(warps_taps + warp, taps_range);
    }
    SizeRange range;
    samples.each(place, quads, [&](int /*q*/, const Vector<float, 4>& quad) {
#pragma unroll
      for (int e = 0; e < 4; ++e) include(range, quad.element[e]);
    });
    publish(warps_samples + warp, range);
    __syncthreads();  // the row before has been multiplied too
    range = collect<WARPS>(warps_samples);
    if (first) {
      first = false;
      taps_range = collect<WARPS>(warps_taps);
      taps_scale = scale_of(taps_range);
      stage_taps(memory, taps, taps_scale);
    }
    const float scale = scale_of(range);
    samples.each(place, quads, [&](int q, const Vector<float, 4>& quad) {
      stage_samples(planes, q, quad, scale, taps.plane_words);
    });
    __syncthreads();

    Sums sums = {};
    multiply(sums,
             {samples_at, memory + (first_pair + lane % 4 * 2 - lane / 4 - skipped), 4 * taps.plane_words,
              taps.pairs},
             taps.steps);

#include "conv1d/tensor_store.inl"
    if (again != 0) {
      compute_directly(signal + row * length, kernel, output + row * output_length, again, at, length,
                       output_length, left, taps_count, convolve);
    }
  }
}
