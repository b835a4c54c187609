// SPDX-License-Identifier: Apache-2.0
// conv1d of f32 with many taps as a matrix product on tensor cores. The function and the number of taps are
// compiled in, the lengths are not; arrays may have any alignment.
//
// Everything is a correlation with taps t: output i is the sum over j of t[j] X[i + j], where X are the
// samples from the tile's first window on. This is a product A * B: row m of A has the samples from 8 m on, B
// is the Toeplitz matrix B[k][n] = t[k - n], and element (m, n) of the product belongs to output 8 m + n.
// Rows of A overlap in memory: each 8 samples are one 16-byte row of an 8x8 matrix that is loaded as it lies.
// The 16 rows cover two stretches of 64 outputs, in which neighbouring lanes have neighbouring outputs.
//
// A step has 16 columns of A. A stretch's A in one step equals the previous stretch's A four steps later. So
// the taps of every fourth step are in registers together, and a warp loads each A once for all of them.
//
// Accuracy. Numbers are split into two halves (common/halves.cuh), which costs a product at most 12 roundings
// of 2^-24 of its size. Each step of the sum of high * high is assumed to round by 2^-23, at most n / 16 + 3
// times if n samples meet taps. The rounding inside tensor cores is not specified; the largest error in tests
// is a fifth of the permitted one. The small sums are 2^-10 of the whole, so that their roundings and the
// addition are 3 at most for 4096 taps. With 32 or more taps and samples the whole is less than the n + 1
// roundings of a plain f32 sum.
//
// The tile's largest number is below 2^15 when scaled. Numbers more than 2^28 times smaller are split with an
// error of at most 2^-35, middle * middle included. With such samples and such taps, the sum of n products
// has an error of at most 2 n 2^15 2^-35. With n >= 32 and a scaled result of at least 128, this is within
// the rest that the contract permits, n + 1 - 15 - 2 (n / 16 + 3) roundings of the sum of sizes. Smaller
// results are computed again one by one, and so are all results of a tile that has no scale because of NaN,
// infinity, or numbers that are too large or too small.

#include "common/halves.cuh"
#include "common/integer.cuh"
#include "common/matrix.cuh"
#include "common/overlap.inl"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"

constexpr bool turned = function == Function::convolve;  // a convolution is a correlation with turned taps

constexpr int threads = 32 * WARPS;
constexpr int warp_tile = 128 * PRODUCTS;
constexpr int tile = WARPS * warp_tile;

#include "conv1d/tensor_layout.inl"
constexpr TensorLayout layout = tensor_layout(taps, tile);
constexpr int steps = layout.steps, units = layout.units, plane_words = layout.plane_words;
constexpr int quads = 2 * units;
constexpr int rounds = ceil_divide(quads, threads);  // quads of a thread

// The words of B, with zeros beyond the taps.
constexpr int first_pair = tensor_first_pair, tap_pairs = layout.pairs;

__device__ __forceinline__ float tap_at(const float* kernel, int j) {
  return j < 0 || j >= taps ? 0.0f : kernel[turned ? taps - 1 - j : j];
}

// ---- staging

// The place of a tile's samples: from `first` of the signal on.
struct Place {
  const float* samples;  // of the first; may lie before the signal
  int begin, end;        // which of those from there on the signal has
};

__device__ __forceinline__ void load_samples(float (&raw)[rounds][4], const Place& place) {
  if (place.begin <= 0 && place.end >= 8 * units) {
#pragma unroll
    for (int n = 0; n < rounds; ++n) {
      const int q = n * threads + threadIdx.x;
      Vector<float, 4> vector = {{0, 0, 0, 0}};
      if ((n + 1) * threads <= quads || q < quads) vector = load_vector<4>(place.samples + 4 * q);
#pragma unroll
      for (int e = 0; e < 4; ++e) raw[n][e] = vector.element[e];
    }
  } else {
#pragma unroll
    for (int n = 0; n < rounds; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int p = 4 * (n * threads + threadIdx.x) + e;
        raw[n][e] = p >= place.begin && p < place.end ? place.samples[p] : 0.0f;
      }
    }
  }
}

__device__ __forceinline__ void stage_samples(unsigned* to, const float (&raw)[rounds][4], float scale) {
#pragma unroll
  for (int n = 0; n < rounds; ++n) {
    const int q = n * threads + threadIdx.x;
    if ((n + 1) * threads > quads && q >= quads) break;
    const Halves low = split(raw[n][0], raw[n][1], scale), high = split(raw[n][2], raw[n][3], scale);
    store_vector<2>(to + 2 * q, Vector<unsigned, 2>{{low.high, high.high}});
    store_vector<2>(to + plane_words + 2 * q, Vector<unsigned, 2>{{low.middle, high.middle}});
  }
}

__device__ __forceinline__ void stage_taps(unsigned* to, const float* kernel, float scale) {
#pragma unroll 1
  for (int p = threadIdx.x; p < tap_pairs; p += threads) {
    const Halves pair = split(tap_at(kernel, p - first_pair), tap_at(kernel, p - first_pair + 1), scale);
    to[p] = pair.high;
    to[tap_pairs + p] = pair.middle;
  }
}

#include "conv1d/tensor_sums.inl"

// Adds COUNT steps of 16 taps, each 64 taps after the previous one. `samples` is the shared address of this
// lane's matrix row among the first four matrices of the high plane.
template <int COUNT>
__device__ __forceinline__ void add_steps(Sums& sums, unsigned samples, const unsigned* pairs) {
  unsigned high_taps[COUNT][2], middle_taps[COUNT][2];
#pragma unroll
  for (int s = 0; s < COUNT; ++s) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      high_taps[s][half] = pairs[64 * s + 8 * half];
      middle_taps[s][half] = pairs[tap_pairs + 64 * s + 8 * half];
    }
  }
#pragma unroll
  for (int v = 0; v < PRODUCTS - 1 + COUNT; ++v) {
    unsigned high[4], middle[4];
    load_matrices(high, samples + v * 128);
    load_matrices(middle, samples + v * 128 + plane_words * 4);
#include "conv1d/add_products.inl"
  }
}

// Adds the COUNT steps from the first on.
template <int COUNT>
__device__ __forceinline__ void add_group(Sums& sums, unsigned samples, const unsigned* pairs) {
#pragma unroll
  for (int r = 0; r < COUNT % 4; ++r) add_steps<COUNT / 4 + 1>(sums, samples + r * 32, pairs + r * 16);
  if constexpr (COUNT >= 4) {
#pragma unroll
    for (int r = COUNT % 4; r < 4; ++r) add_steps<COUNT / 4>(sums, samples + r * 32, pairs + r * 16);
  }
}

__device__ __forceinline__ void multiply(Sums& sums, unsigned samples, const unsigned* pairs) {
  constexpr int group = 4 * HELD;
#pragma unroll 1
  for (int g = 0; g < steps / group; ++g) {
    add_group<group>(sums, samples, pairs);
    samples += group * 32;
    pairs += group * 16;
  }
  if constexpr (steps % group > 0) add_group<steps % group>(sums, samples, pairs);
}

// ---- results

// Computes again those outputs of a lane whose bits are set in `which`; `at` is the lane's first output.
__device__ __noinline__ void compute_directly(const float* signal, const float* kernel, float* output,
                                              unsigned which, long long at, long long length,
                                              long long output_length, long long left) {
  for (; which != 0; which &= which - 1) {
    const int bit = __ffs(which) - 1;
    const long long i = at + bit / 2 * 64 + bit % 2;
    if (i >= output_length) return;
    const int begin = static_cast<int>(max(0LL, left - i));
    const int end = static_cast<int>(min(static_cast<long long>(taps), length + left - i));
    float sum = 0;
    for (int j = begin; j < end; ++j) sum += kernel[turned ? taps - 1 - j : j] * signal[i - left + j];
    output[i] = sum;
  }
}

// Launched with blocks of WARPS warps over the tiles of a row's outputs and the rows of the batch; a grid
// whose y would exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(conv1d_tensor)(InputPointer<T> signal, InputPointer<T> kernel, T* __restrict__ output, int batch,
                         long long length, long long output_length, long long left) {
  __shared__ WarpRange warps_samples[WARPS], warps_taps[WARPS];
  DYNAMIC_SHARED(unsigned, memory);  // pairs of taps, high samples, middle samples
  start();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned* planes = memory + 2 * tap_pairs;
  const unsigned samples =
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
    constexpr long long most = 8 * units;
    const long long begin = left + skipped - tile_first;
    const Place place = {signal + row_first - skipped, static_cast<int>(max(0LL, min(begin, most))),
                         static_cast<int>(max(0LL, min(length + begin, most)))};
    float raw[rounds][4];
    load_samples(raw, place);
    if (first) {
#pragma unroll 1
      for (int j = threadIdx.x; j < taps; j += threads) include(taps_range, kernel[j]);
      publish(warps_taps + warp, taps_range);
    }
    SizeRange range;
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
#pragma unroll
      for (int e = 0; e < 4; ++e) include(range, raw[i][e]);
    }
    publish(warps_samples + warp, range);
    __syncthreads();  // the row before has been multiplied too
    range = collect<WARPS>(warps_samples);
    if (first) {
      first = false;
      taps_range = collect<WARPS>(warps_taps);
      taps_scale = scale_of(taps_range);
      stage_taps(memory, kernel, taps_scale);
    }
    const float scale = scale_of(range);
    stage_samples(planes, raw, scale);
    __syncthreads();

    Sums sums = {};
    multiply(sums, samples, memory + (first_pair + lane % 4 * 2 - lane / 4 - skipped));

#include "conv1d/tensor_store.inl"
    if (again != 0) {
      compute_directly(signal + row * length, kernel, output + row * output_length, again, at, length,
                       output_length, left);
    }
  }
}
