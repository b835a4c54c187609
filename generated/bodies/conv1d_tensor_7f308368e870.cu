// ---- templates/common/vector.cuh
// Several neighbouring elements moved by one memory access, at most 16 bytes wide each. Knows nothing of
// images.
// (On the host common/host/vector.h stands for this file; what is here for it stays, because a kernel's
// identity is its text.)

template <typename T, int N>
struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) Vector {
  T element[N];
};

// `from` is aligned to the vector, or to 16 bytes where the vector is longer.
template <int N, typename T>
__device__ __forceinline__ Vector<T, N> load_vector(const T* from) {
#ifdef TUNESMITH_HOST
  Vector<T, N> vector;  // element by element: a host compiler may assume that no float is read as a Vector
  for (int i = 0; i < N; ++i) vector.element[i] = from[i];
  return vector;
#else
  return *reinterpret_cast<const Vector<T, N>*>(from);
#endif
}

template <int N, typename T>
__device__ __forceinline__ void store_vector(T* to, const Vector<T, N>& vector) {
#ifdef TUNESMITH_HOST
  for (int i = 0; i < N; ++i) to[i] = vector.element[i];
#else
  *reinterpret_cast<Vector<T, N>*>(to) = vector;
#endif
}

// A store of data that this kernel does not read again: it may leave the caches first.
template <int N, typename T>
__device__ __forceinline__ void store_vector_streaming(T* to, const Vector<T, N>& vector) {
#ifdef TUNESMITH_HOST
  for (int i = 0; i < N; ++i) to[i] = vector.element[i];
#else
  constexpr int bytes = sizeof(T) * N;
  if constexpr (bytes >= 16) {
#pragma unroll
    for (int i = 0; i < bytes / 16; ++i)
      __stcs(reinterpret_cast<float4*>(to) + i, reinterpret_cast<const float4*>(&vector)[i]);
  } else if constexpr (bytes == 8) {
    __stcs(reinterpret_cast<float2*>(to), reinterpret_cast<const float2&>(vector));
  } else {
    __stcs(reinterpret_cast<float*>(to), reinterpret_cast<const float&>(vector));
  }
#endif
}

// ---- templates/common/halves.cuh
// A float as two halves, for matrix products that keep the accuracy of f32: x * scale = high + middle / 2^11
// + rest, where the scale is a power of two common to all numbers of a tile that brings the largest size into
// [2^14, 2^15). If no size but 0 is more than 2^28 times smaller, every high is a normal half, so that
// |middle| <= |x * scale| for the stored middle, 2^-11 of that in value, and |rest| <= 2^-22 |x * scale|.
//
// A product of two such numbers is high * high + (high * middle + middle * high) / 2^11, without
// middle * middle and the rests: off by at most 12 * 2^-24 of its size. The small products are summed apart,
// because their sums are 2^11 times too large.


// Over the sizes of a tile's numbers.
struct SizeRange {
  unsigned most = 0;             // bits of the largest size
  unsigned least = 0xffffffffu;  // twice the bits of the smallest but 0, less one
};

__device__ __forceinline__ void include(SizeRange& range, float x) {
  float most;  // NaN stays
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(__uint_as_float(range.most)), "f"(fabsf(x)));
  range.most = __float_as_uint(most);
  range.least = min(range.least, 2 * __float_as_uint(x) - 1);  // 0 becomes the largest number
}

// Of all lanes of a warp.
__device__ __forceinline__ SizeRange warp_range(SizeRange range) {
  range.most = __reduce_max_sync(0xffffffffu, range.most);
  range.least = __reduce_min_sync(0xffffffffu, range.least);
  return range;
}

__device__ __forceinline__ SizeRange joined(const SizeRange& a, const SizeRange& b) {
  return {max(a.most, b.most), min(a.least, b.least)};
}

// The ranges of warps in shared memory, which each warp writes before a barrier and all threads read behind
// it.
using WarpRange = Vector<unsigned, 2>;

__device__ __forceinline__ void publish(WarpRange* of_warp, const SizeRange& of_thread) {
  const SizeRange range = warp_range(of_thread);
  if (threadIdx.x % 32 == 0) *of_warp = {{range.most, range.least}};
}

template <int WARPS>
__device__ __forceinline__ SizeRange collect(const WarpRange* of_warps) {
  SizeRange range;
#pragma unroll
  for (int w = 0; w < WARPS; ++w) {
    const WarpRange of_warp = of_warps[w];
    range = joined(range, {of_warp.element[0], of_warp.element[1]});
  }
  return range;
}

// Whether the split holds for numbers of this range: finite, the largest from 2^-40 to 2^40, so that no
// scale or product of two leaves the floats.
__device__ __forceinline__ bool splits(const SizeRange& range) {
  constexpr unsigned binade = 1u << 23;
  if (range.most == 0) return true;
  return range.most >= (127 - 40) * binade && range.most < (127 + 40) * binade &&
         range.least / 2 + 1 + 28 * binade >= (range.most & ~(binade - 1));
}

// The power of two of a range that splits.
__device__ __forceinline__ float scale_of(const SizeRange& range) {
  return range.most == 0 ? 1.0f : __uint_as_float((127 + 14 + 127) * (1u << 23) - (range.most & 0x7f800000u));
}

// Of a power of two from 2^-126 to 2^126.
__device__ __forceinline__ float reciprocal(float power) {
  return __uint_as_float(2 * 0x3f800000u - __float_as_uint(power));
}

// Two neighbours' highs, or middles; the first in the low half.
struct Halves {
  unsigned high, middle;
};

__device__ __forceinline__ unsigned pack_halves(float low, float high) {
  unsigned packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

__device__ __forceinline__ float low_half(unsigned packed) {
  float value;
  asm("{.reg .f16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low;}" : "=f"(value) : "r"(packed));
  return value;
}
__device__ __forceinline__ float high_half(unsigned packed) {
  float value;
  asm("{.reg .f16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, high;}" : "=f"(value) : "r"(packed));
  return value;
}

__device__ __forceinline__ Halves split(float first, float second, float scale) {
  first *= scale;
  second *= scale;
  const unsigned high = pack_halves(first, second);
  return {high, pack_halves((first - low_half(high)) * 2048.0f, (second - high_half(high)) * 2048.0f)};
}

// ---- templates/common/integer.cuh
// Integer arithmetic on compile-time sizes.

__host__ __device__ constexpr int ceil_divide(int value, int divisor) {
  return (value + divisor - 1) / divisor;
}
__host__ __device__ constexpr int round_up(int value, int multiple) {
  return ceil_divide(value, multiple) * multiple;
}
__host__ __device__ constexpr int smaller(int a, int b) { return a < b ? a : b; }
__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }

// The largest power of two that divides `value` and is at most `limit`, itself a power of two.
__host__ __device__ constexpr int alignment_of(int value, int limit) {
  int alignment = 1;
  while (alignment < limit && value % (2 * alignment) == 0) alignment *= 2;
  return alignment;
}

// ---- templates/common/matrix.cuh
// Warp-wide matrix products of halves with sums in f32. Needs compute capability 8.0; there is no host twin,
// because a whole warp acts at once.

// Four 8x8 matrices of 16-bit elements. Lane l gives the address of row l % 8 of matrix l / 8, 16 bytes
// aligned to 16.
__device__ __forceinline__ void load_matrices(unsigned (&matrix)[4], unsigned shared_address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
               : "r"(shared_address));
}

// sum (16x8) += a (16x16) * b (16x8). The quarters of a: rows 0-7 and 8-15 of columns 0-7, then of columns
// 8-15.
__device__ __forceinline__ void multiply_add_halves(float (&sum)[4], const unsigned (&a)[4], unsigned b0,
                                                    unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// sum (16x8) += a (16x8) * b (8x8).
__device__ __forceinline__ void multiply_add_halves(float (&sum)[4], unsigned a0, unsigned a1, unsigned b0) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(b0));
}

// ---- templates/common/shared.cuh
// Dynamic shared memory as an array of any type, aligned to 16 bytes. On the host the shim defines it.

#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(type, name)                               \
  extern __shared__ __align__(16) unsigned char name##_bytes_[]; \
  type* name = reinterpret_cast<type*>(name##_bytes_)
#endif

#include "constants"

// ---- templates/conv1d/tensor.cu
// conv1d of f32 with many taps as a matrix product on tensor cores. It knows the function and the number of
// taps; it does not know the lengths, and takes arrays of any alignment.
//
// Everything is a correlation with taps t: output i is the sum over j of t[j] X[i + j], X the samples from
// the tile's first window on. That is a product A * B: row m of A is the samples from 8 m on, B is the
// Toeplitz matrix B[k][n] = t[k - n], and element (m, n) of the product belongs to output 8 m + n. Rows of A
// overlap in memory: each 8 samples are one 16-byte row of an 8x8 matrix that is loaded as it lies. The 16
// rows cover two stretches of 64 outputs, in which neighbouring lanes have neighbouring outputs.
//
// A stretch's A of one step, 16 columns, is that of the stretch before for the fourth step after it. So the
// taps of every fourth step are in registers together, and a warp loads each A once for all of them.
//
// Accuracy. Numbers are split into two halves (common/halves.cuh), which costs a product at most 12
// roundings of 2^-24 of its size. A step of the sum of high * high is taken to round by 2^-23, at most
// n / 16 + 3 times where n samples meet taps; what tensor cores do inside one is not specified, and the
// largest error in tests is a fifth of what is permitted. The small sums are 2^-10 of the whole, so that
// their roundings and the addition are 3 at most for 4096 taps. With 32 or more taps and samples the whole
// is less than the n + 1 roundings of a plain f32 sum.
//
// Numbers more than 2^28 times smaller than the tile's largest, which scaled is below 2^15, are split with
// an error of at most 2^-35, middle * middle included. From such samples, and such taps, the sum of n
// products has an error of at most 2 n 2^15 2^-35. With n >= 32 that is within what the contract leaves,
// n + 1 - 15 - 2 (n / 16 + 3) roundings of the sum of sizes, if the scaled result is at least 128. Smaller
// results are computed again one by one, and so are all of a tile that has no scale: NaN, infinity, numbers
// that are too large or too small.

// Programmatic dependent launch: how a kernel overlaps with its neighbours in a stream. Needs START and
// TRIGGER. Before compute capability 9.0 and on the host there is none, and START and TRIGGER change nothing.

// START=overlapped: the kernel may start while its predecessor still runs, and waits for it.
constexpr bool overlapped = START == Start::overlapped;

// Returns when all work before this kernel has ended and is visible.
__device__ __forceinline__ void wait_for_previous() {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
  if constexpr (overlapped) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel's blocks start as soon as there is room for them; they wait before they touch memory.
__device__ __forceinline__ void let_next_start() {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
  if constexpr (TRIGGER == Trigger::early) asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Comes before a kernel's first access to global memory.
__device__ __forceinline__ void start() {
  let_next_start();
  wait_for_previous();
}

// The types of a kernel's pointers to what it reads, and to what it reads and writes. __restrict__ promises
// that nobody else writes there while the kernel runs, so that loads may take the read-only path and move
// across the wait. Before the wait the predecessor may still write.
template <typename Element, bool PROMISED>
struct PointerTo {
  using Type = Element* __restrict__;
};
template <typename Element>
struct PointerTo<Element, false> {
  using Type = Element*;
};
template <typename Element>
using InputPointer = typename PointerTo<const Element, !overlapped>::Type;
template <typename Element>
using InOutPointer = typename PointerTo<Element, !overlapped>::Type;

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

__device__ __forceinline__ float tap_at(const float* kernel, int j) {
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

// What tensor.cu and tensor_any.cu sum in, and whether that can be exact enough. Needs PRODUCTS and
// common/halves.cuh.

// Whether the largest has a scale, whatever the others are.
__device__ __forceinline__ bool has_scale(const SizeRange& range) {
  return splits({range.most, 2 * range.most - 1});
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
// One of the products of tensor.cu and tensor_any.cu. Needs COUNT, PRODUCTS, `sums`, the step `v` of samples
// `high` and `middle`, and `high_taps` and `middle_taps`.

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

// Computes the outputs of a lane again whose bits are set in `which`; `at` is its first.
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
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
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

// The end of tensor.cu and tensor_any.cu: the warp's sums to the output, but for those that are computed
// again. Needs `sums`, `range`, `taps_range`, `scale`, `taps_scale`, `tile_first`, `row`, `warp`, `lane` and
// `output`.

// No result is as large as NaN.
const float least = !has_scale(range) || !has_scale(taps_range) ? __uint_as_float(0x7fffffffu)
                    : splits(range) && splits(taps_range)       ? 0.0f
                                                                : 128.0f;
const float back = reciprocal(scale * taps_scale);
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
  }
}
