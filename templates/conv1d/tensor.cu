// conv1d of f32 with many taps as a matrix product on tensor cores. It knows the function and the number of
// taps; it does not know the lengths, and takes arrays of any alignment.
//
// Everything is a correlation with taps t: output i is the sum over j of t[j] X[i + j], X the samples from
// the tile's first window on. That is a product A * B: row m of A is the samples from 8 m on, B is the
// Toeplitz matrix B[k][n] = t[k - n], and element (m, n) of the product belongs to output 8 m + n, so that 16
// rows of A cover 128 outputs, and a lane's results lie where the lane stores them. An 8x8 matrix of A is 8
// units of 8 samples as they lie in shared memory. Products 64 samples of the sum apart, and those of
// outputs 64 apart, have matrices in common: taps of steps 4 apart are in registers together, and a warp
// loads each matrix once for all of them.
//
// Accuracy. Numbers are split into two halves (common/halves.cuh), which costs a product at most 12
// roundings of 2^-24 of its size. The sum of high * high is rounded once for each step of 16 taps: 2
// roundings each, n / 16 + 3 steps at most where n samples meet taps. The small sums are 2^-10 of the whole,
// so that their roundings and the addition are 3 at most for 4096 taps. With 32 or more taps and samples the
// whole is less than the n + 1 roundings of a plain f32 sum.
//
// Numbers more than 2^28 times smaller than the tile's largest, which scaled is below 2^15, are split with
// an error of at most 2^-35, middle * middle included. From such samples, and such taps, the sum of n
// products has an error of at most 2 n 2^15 2^-35. With n >= 32 that is within what the contract leaves,
// n + 1 - 15 - 2 (n / 16 + 3) roundings of the sum of sizes, if the scaled result is at least 128. Smaller
// results are computed again one by one, and so are all of a tile that has no scale: NaN, infinity, numbers
// that are too large or too small.

#include "common/halves.cuh"
#include "common/integer.cuh"
#include "common/matrix.cuh"
#include "common/overlap.cuh"
#include "common/shared.cuh"
#include "common/vector.cuh"

constexpr bool turned = function == Function::convolve;  // a convolution is a correlation with turned taps

constexpr int threads = 32 * WARPS;
constexpr int resident_blocks = larger(1, RESIDENT_WARPS / WARPS);  // bounds the registers of a thread
constexpr int warp_tile = 128 * PRODUCTS;
constexpr int tile = WARPS * warp_tile;

// Samples are read from an address that is a multiple of 16 on, up to 3 before the first that is needed.
constexpr int most_skipped = 3;
constexpr int steps = ceil_divide(most_skipped + 7 + taps, 16);  // of 16 columns of A
constexpr int units = tile / 8 + 2 * steps - 1;                  // of 8 samples
constexpr int quads = 2 * units;
constexpr int rounds = ceil_divide(quads, threads);  // quads of a thread
constexpr int plane_words = 4 * units;               // one of high, middle

// The words of B that lanes need: (t[i], t[i + 1]) for i from -first_pair on, with zeros beyond the taps.
constexpr int first_pair = 7 + most_skipped;
constexpr int tap_pairs = round_up(16 * steps + first_pair, 4);

__device__ __forceinline__ float tap_at(const float* __restrict__ kernel, int j) {
  return j < 0 || j >= taps ? 0.0f : kernel[turned ? taps - 1 - j : j];
}

// ---- staging

// Where a tile's samples lie: from `first` of the signal on.
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
      const int q = n * threads + threadIdx.x;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int p = 4 * q + e;
        raw[n][e] = q < quads && p >= place.begin && p < place.end ? place.samples[p] : 0.0f;
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

__device__ __forceinline__ void stage_taps(unsigned* to, const float* __restrict__ kernel, float scale) {
#pragma unroll 1
  for (int p = threadIdx.x; p < tap_pairs; p += threads) {
    const Halves pair = split(tap_at(kernel, p - first_pair), tap_at(kernel, p - first_pair + 1), scale);
    to[p] = pair.high;
    to[tap_pairs + p] = pair.middle;
  }
}

// Of all threads; `ranges` has one for each warp. A barrier must come before it is used again.
__device__ __forceinline__ SizeRange block_range(SizeRange* ranges, SizeRange range) {
  range = warp_range(range);
  if (threadIdx.x % 32 == 0) ranges[threadIdx.x / 32] = range;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < WARPS; ++w) range = joined(range, ranges[w]);
  return range;
}

// Of a power of two.
__device__ __forceinline__ float inverse(float power) {
  return __uint_as_float(254u * (1u << 23) - __float_as_uint(power));
}

// Whether the largest has a scale, whatever the others are.
__device__ __forceinline__ bool has_scale(const SizeRange& range) {
  return splits({range.most, range.most - 1});
}

// ---- multiplying

// Of a product rows 0-7 belong to a stretch of 64 outputs in the first half of the warp's, rows 8-15 to the
// same in the second half.
struct Sums {
  float high[PRODUCTS][4], small[PRODUCTS][4];
};

// Adds COUNT steps of 16 taps, each 64 taps after the one before. `samples` is the shared address of the
// matrix row that this lane names among the first four matrices of the high plane.
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
    // Of product p it is step v - p.
#pragma unroll
    for (int p = larger(0, v - COUNT + 1); p <= smaller(v, PRODUCTS - 1); ++p)
      multiply_add_halves(sums.high[p], high, high_taps[v - p][0], high_taps[v - p][1]);
#pragma unroll
    for (int p = larger(0, v - COUNT + 1); p <= smaller(v, PRODUCTS - 1); ++p)
      multiply_add_halves(sums.small[p], high, middle_taps[v - p][0], middle_taps[v - p][1]);
#pragma unroll
    for (int p = larger(0, v - COUNT + 1); p <= smaller(v, PRODUCTS - 1); ++p)
      multiply_add_halves(sums.small[p], middle, high_taps[v - p][0], high_taps[v - p][1]);
  }
}

// Adds the COUNT steps from the first on.
template <int COUNT>
__device__ __forceinline__ void add_group(Sums& sums, unsigned samples, const unsigned* pairs) {
#pragma unroll(UNROLL)
  for (int r = 0; r < COUNT % 4; ++r) add_steps<COUNT / 4 + 1>(sums, samples + r * 32, pairs + r * 16);
  if constexpr (COUNT >= 4) {
#pragma unroll(UNROLL)
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

// Computes again the outputs of a lane that `which` names by bits; `at` is its first.
__device__ __noinline__ void compute_directly(const float* __restrict__ signal,
                                              const float* __restrict__ kernel, float* output, unsigned which,
                                              long long at, long long length, long long output_length,
                                              long long left) {
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

// Launched with blocks of WARPS warps over runs of TILES tiles of a row's outputs and the rows of the batch;
// a grid that is too small in y (limited to 65535) is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
    ENTRY(conv1d_tensor)(const T* __restrict__ signal, const T* __restrict__ kernel, T* __restrict__ output,
                         int batch, long long length, long long output_length, long long left) {
  __shared__ SizeRange ranges[2][WARPS];
  DYNAMIC_SHARED(unsigned, memory);  // pairs of taps, high samples, middle samples
  if constexpr (START == Start::overlapped) {
    let_next_start();
    wait_for_previous();
  }
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned* planes = memory + 2 * tap_pairs;
  const unsigned samples =
      static_cast<unsigned>(__cvta_generic_to_shared(planes)) +
      (warp * warp_tile / 8 + lane / 8 % 2 * (warp_tile / 16) + lane / 16 + lane % 8) * 16;

  const long long run_first = static_cast<long long>(blockIdx.x) * (TILES * tile);
  const auto skipped_of = [&](long long row) {
    const long long element = static_cast<long long>(reinterpret_cast<unsigned long long>(signal) / 4);
    return static_cast<int>((element + row * length - left) & 3);
  };
  const auto place_of = [&](long long row, int skipped, long long tile_first) {
    const long long first = tile_first - left - skipped;
    constexpr long long most = 8 * units;
    return Place{signal + row * length + first, static_cast<int>(max(0LL, min(-first, most))),
                 static_cast<int>(max(0LL, min(length - first, most)))};
  };

  float raw[rounds][4];
  load_samples(raw, place_of(blockIdx.y, skipped_of(blockIdx.y), run_first));
  SizeRange taps_range;
#pragma unroll 1
  for (int j = threadIdx.x; j < taps; j += threads) include(taps_range, kernel[j]);
  taps_range = block_range(ranges[0], taps_range);
  const float taps_scale = scale_of(taps_range);
  stage_taps(memory, kernel, taps_scale);

  for (long long row = blockIdx.y; row < batch; row += gridDim.y) {
    const int skipped = skipped_of(row);
    const unsigned* pairs = memory + (first_pair + lane % 4 * 2 - lane / 4 - skipped);
#pragma unroll 1
    for (int n = 0; n < TILES; ++n) {
      const long long tile_first = run_first + n * tile;
      if (tile_first >= output_length) break;
      SizeRange range;
#pragma unroll
      for (int i = 0; i < rounds; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) include(range, raw[i][e]);
      }
      range = block_range(ranges[1], range);
      const float scale = scale_of(range);
      stage_samples(planes, raw, scale);
      __syncthreads();

      const auto load_next = [&] {
        if (n + 1 < TILES && tile_first + tile < output_length) {
          load_samples(raw, place_of(row, skipped, tile_first + tile));
        } else if (row + gridDim.y < batch) {
          load_samples(raw, place_of(row + gridDim.y, skipped_of(row + gridDim.y), run_first));
        }
      };
      if constexpr (TILES > 1) load_next();  // on their way while this tile's are multiplied
      Sums sums = {};
      multiply(sums, samples, pairs);

      // No result is as large as NaN.
      const float least = !has_scale(range) || !has_scale(taps_range) ? __uint_as_float(0x7fffffffu)
                          : splits(range) && splits(taps_range)       ? 0.0f
                                                                      : 128.0f;
      const float back = inverse(scale * taps_scale);
      const long long at = tile_first + warp * warp_tile + 2 * lane;
      float result[2 * PRODUCTS][2];
      unsigned again = 0;
#pragma unroll
      for (int k = 0; k < 2 * PRODUCTS; ++k) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int p = k % PRODUCTS, c = k / PRODUCTS * 2 + e;
          const float scaled = sums.high[p][c] + sums.small[p][c] * (1.0f / 2048);
          if (!(fabsf(scaled) >= least)) again |= 1u << (2 * k + e);
          result[k][e] = scaled * back;
        }
      }
      float* to = output + row * output_length + at;
      if (tile_first + tile <= output_length && reinterpret_cast<unsigned long long>(to) % 8 == 0) {
#pragma unroll
        for (int k = 0; k < 2 * PRODUCTS; ++k)
          store_vector<2>(to + 64 * k, Vector<float, 2>{{result[k][0], result[k][1]}});
      } else {
        const int count = static_cast<int>(max(0LL, min(output_length - at, static_cast<long long>(tile))));
#pragma unroll
        for (int k = 0; k < 2 * PRODUCTS; ++k) {
          if (64 * k < count) to[64 * k] = result[k][0];
          if (64 * k + 1 < count) to[64 * k + 1] = result[k][1];
        }
      }
      if (again != 0) {
        compute_directly(signal + row * length, kernel, output + row * output_length, again, at, length,
                         output_length, left);
      }
      if constexpr (TILES == 1) load_next();
    }
  }
}
