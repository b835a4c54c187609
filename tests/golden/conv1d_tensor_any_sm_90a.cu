// conv1d/tensor_any for sm_90a, rendered by Tunesmith from templates/conv1d/tensor_any.cu: change that and render again.
// compiled in: dtype=f32
// config: WARPS=4 PRODUCTS=6 HELD=2 START=plain TRIGGER=none RESIDENT_WARPS=16

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

// ---- what this variant is
using T = float;  // dtype=f32
constexpr int WARPS = 4;
constexpr int PRODUCTS = 6;
constexpr int HELD = 2;
enum class Start { plain, overlapped };
constexpr Start START = Start::plain;
enum class Trigger { none, early };
constexpr Trigger TRIGGER = Trigger::none;
constexpr int RESIDENT_WARPS = 16;
#define ENTRY(name) name##_e4058653

// ---- templates/conv1d/tensor_any.cu
// tensor.cu, where the products and their accuracy are explained, with the number of taps and their direction
// as arguments: one binary serves every kernel. Samples for which a thread has no register are read twice.

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

constexpr int threads = 32 * WARPS;
constexpr int resident_blocks = larger(1, RESIDENT_WARPS / WARPS);  // bounds the registers of a thread
constexpr int warp_tile = 128 * PRODUCTS;
constexpr int tile = WARPS * warp_tile;

// Samples are read from an address that is a multiple of 16 on, up to 3 before the first that is needed.
constexpr int most_skipped = 3;
constexpr int first_pair = 7 + most_skipped;
constexpr int held = PRODUCTS + 2;  // quads of samples that wait in a thread's registers

// The taps, and what follows from their number.
struct Taps {
  const float* kernel;
  int count;
  bool turned;      // a convolution is a correlation with turned taps
  int steps;        // of 16 columns of A
  int units;        // of 8 samples
  int plane_words;  // one of high, middle
  int pairs;        // words of B that lanes need: (t[i], t[i + 1]) for i from -first_pair on

  __device__ __forceinline__ Taps(const float* kernel, int count, int convolve)
      : kernel(kernel),
        count(count),
        turned(convolve != 0),
        steps(ceil_divide(most_skipped + 7 + count, 16)),
        units(tile / 8 + 2 * steps - 1),
        plane_words(4 * units),
        pairs(round_up(16 * steps + first_pair, 4)) {}

  // Zero beyond the taps.
  __device__ __forceinline__ float at(int j) const {
    return j < 0 || j >= count ? 0.0f : kernel[turned ? count - 1 - j : j];
  }
};

// ---- staging

// Where a tile's samples lie: from `first` of the signal on.
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

// A thread's quads, `threads` apart: the first wait in registers while the block finds the scale, the others
// are read twice.
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

  // Calls visit(q, quad) for each of them.
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

// What all steps need: the shared address of the matrix row that this lane names among the first four
// matrices of the high plane, its first pair of taps, and how far behind them the middles are.
struct Operands {
  unsigned samples;
  const unsigned* pairs;
  int middle_samples, middle_pairs;  // bytes, words
};

// Adds COUNT steps of 16 taps, each 64 taps after the one before.
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

// The last steps, fewer than COUNT.
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

// Steps r, r + 4, r + 8, ... for each r.
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

// Computes the outputs of a lane again whose bits are set in `which`; `at` is its first.
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
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
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
                       output_length, left, taps_count, convolve);
    }
  }
}
