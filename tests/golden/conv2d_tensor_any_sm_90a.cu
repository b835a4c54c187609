// conv2d/tensor_any for sm_90a, rendered by Tunesmith from templates/conv2d/tensor_any.cu: change that and render again.
// compiled in: dtype=f32
// config: VECTOR=1 WARPS=4 ROWS=6 RESIDENT_WARPS=12

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

// ---- templates/conv2d/split_any.cuh
// split.cuh with sizes that are known at run time.


// The mask as the kernel slides it: a convolution is a correlation with the turned mask.
struct Mask {
  const float* __restrict__ weights;
  int height, width;
  bool turned;
  int left, top;

  __device__ __forceinline__ Mask(const float* weights, int height, int width, int convolve)
      : weights(weights),
        height(height),
        width(width),
        turned(convolve != 0),
        left(turned ? width - 1 - width / 2 : width / 2),
        top(turned ? height - 1 - height / 2 : height / 2) {}

  // Weight of row i and column j; zero beside the mask.
  __device__ __forceinline__ float at(int i, int j) const {
    if (i < 0 || i >= height || j < 0 || j >= width) return 0;
    const int n = i * width + j;
    return weights[turned ? height * width - 1 - n : n];
  }

  // Over what this thread looks at.
  template <int THREADS>
  __device__ __forceinline__ SizeRange range() const {
    SizeRange range;
    for (int n = threadIdx.x; n < height * width; n += THREADS) include(range, weights[n]);
    return range;
  }
};

// The plain path: a tile's outputs one by one from global memory.
template <int THREADS>
__device__ __noinline__ void compute_plainly(int thread, const float* __restrict__ image,
                                             const float* __restrict__ weights, float* output, int x, int y,
                                             int tile_width, int tile_height, int height, int width,
                                             int mask_height, int mask_width, int convolve) {
  const Mask mask(weights, mask_height, mask_width, convolve);
  for (int n = thread; n < tile_width * tile_height; n += THREADS) {
    const int column = x + n % tile_width, row = y + n / tile_width;
    if (column >= width || row >= height) continue;
    const int first_row = larger(0, mask.top - row), last_row = smaller(mask_height, height + mask.top - row);
    const int first_column = larger(0, mask.left - column),
              last_column = smaller(mask_width, width + mask.left - column);
    float sum = 0;
    for (int i = first_row; i < last_row; ++i) {
      const float* samples =
          image + static_cast<long long>(row - mask.top + i) * width + (column - mask.left);
      for (int j = first_column; j < last_column; ++j) sum += mask.at(i, j) * samples[j];
    }
    output[static_cast<long long>(row) * width + column] = sum;
  }
}

// What a tile is cut from: its first row and column may lie outside the image, where samples are zero.
struct Window {
  const float* image;
  int x, y, height, width;
};

// The size of a tile, rows of so many times 4 samples, and a thread's way over its quads, THREADS apart.
template <int THREADS>
struct TileShape {
  int quads, count, row, quad, more_rows, more_quads;

  __device__ __forceinline__ TileShape(int thread, int rows, int quads)
      : quads(quads),
        count(rows * quads),
        row(thread / quads),
        quad(thread % quads),
        more_rows(THREADS / quads),
        more_quads(THREADS % quads) {}

  __device__ __forceinline__ int plane_words() const { return 2 * count; }  // one of high, middle

  // To the next quad; true where that takes one row more than `more_rows`.
  __device__ __forceinline__ bool advance() {
    row += more_rows;
    quad += more_quads;
    const bool wraps = quad >= quads;
    if (wraps) {
      quad -= quads;
      ++row;
    }
    return wraps;
  }
};

// A thread's share of a tile: HELD of its quads wait in registers while the block finds the scale, the others
// are read once more.
template <int THREADS, int VECTOR, int HELD>
struct Tile {
  using Shape = TileShape<THREADS>;
  Vector<float, 4> samples[HELD];

  // A thread's way through global memory.
  struct Walk {
    Shape at;
    const float* from;
    long long step;  // elements to the next quad
    int wrap;        // and where that is in one row more

    __device__ __forceinline__ Walk(const Shape& at, const Window& window)
        : at(at),
          from(window.image +
               (static_cast<long long>(window.y + at.row) * window.width + window.x + 4 * at.quad)),
          step(static_cast<long long>(at.more_rows) * window.width + 4 * at.more_quads),
          wrap(window.width - 4 * at.quads) {}

    __device__ __forceinline__ void advance() {
      from += step;
      if (at.advance()) from += wrap;
    }
  };

  template <bool INSIDE>
  static __device__ __forceinline__ Vector<float, 4> load_quad(const Window& window, const Walk& walk) {
    const float* from = walk.from;
    const int row = window.y + walk.at.row, column = window.x + 4 * walk.at.quad;
// How a tile's quad is loaded: needs INSIDE, VECTOR, `window`, the quad's `row` and `column`, and its place
// `from`.

Vector<float, 4> quad = {{0, 0, 0, 0}};
if constexpr (VECTOR == 4) {
  if (INSIDE || (static_cast<unsigned>(row) < static_cast<unsigned>(window.height) &&
                 static_cast<unsigned>(column) < static_cast<unsigned>(window.width))) {
    quad = load_vector<4>(from);
  }
} else {
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    if (INSIDE || (static_cast<unsigned>(row) < static_cast<unsigned>(window.height) &&
                   static_cast<unsigned>(column + e) < static_cast<unsigned>(window.width))) {
      quad.element[e] = from[e];
    }
  }
}
    return quad;
  }

  // Calls visit(n, quad) for the others.
  template <typename Visit>
  static __device__ __forceinline__ void each_other(int thread, const Shape& shape, const Window& window,
                                                    Visit visit) {
    int n = thread + HELD * THREADS;
    if (n >= shape.count) return;
    Shape at = shape;
    at.row = n / shape.quads;
    at.quad = n % shape.quads;
    Walk walk(at, window);
#pragma unroll 4
    for (; n < shape.count; n += THREADS) {
      visit(n, load_quad<false>(window, walk));
      walk.advance();
    }
  }

  template <bool INSIDE>
  __device__ __forceinline__ void load(int thread, Shape at, const Window& window) {
    // The way is the same for each tile: the compiler would keep all of it, and spill it.
    asm volatile("" : "+r"(at.row), "+r"(at.quad));
    Walk walk(at, window);
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
      samples[k] = {{0, 0, 0, 0}};
      if (thread + k * THREADS < at.count) samples[k] = load_quad<INSIDE>(window, walk);
      walk.advance();
    }
  }

  // Over this thread's share.
  __device__ __forceinline__ SizeRange range(int thread, const Shape& shape, const Window& window) const {
    SizeRange range;
    const auto include_quad = [&](int /*n*/, const Vector<float, 4>& quad) {
#pragma unroll
      for (int e = 0; e < 4; ++e) include(range, quad.element[e]);
    };
#pragma unroll
    for (int k = 0; k < HELD; ++k) include_quad(k, samples[k]);
    each_other(thread, shape, window, include_quad);
    return range;
  }

  // To the plane of highs and that of middles after it, rows after rows.
  __device__ __forceinline__ void store(int thread, const Shape& shape, unsigned* planes,
                                        const Window& window, float scale) const {
    const auto store_quad = [&](int n, const Vector<float, 4>& quad) {
      const Halves first = split(quad.element[0], quad.element[1], scale);
      const Halves second = split(quad.element[2], quad.element[3], scale);
      store_vector<2>(planes + 2 * n, Vector<unsigned, 2>{{first.high, second.high}});
      store_vector<2>(planes + 2 * n + shape.plane_words(),
                      Vector<unsigned, 2>{{first.middle, second.middle}});
    };
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
      const int n = thread + k * THREADS;
      if (n < shape.count) store_quad(n, samples[k]);
    }
    each_other(thread, shape, window, store_quad);
  }
};

// How many quads of a tile a thread may hold. Needs common/integer.cuh.

// The registers that a thread has where so many are resident, less those that are `taken` while samples wait
// and about 28 for the walk over a tile (72 where nothing is taken); in quads.
__host__ __device__ constexpr int held_quads(int resident_threads, int taken) {
  return larger(1, (smaller(255, 65536 / resident_threads) - (taken > 0 ? taken + 28 : 72)) / 4);
}

// ---- what this variant is
using T = float;  // dtype=f32
constexpr int VECTOR = 1;
constexpr int WARPS = 4;
constexpr int ROWS = 6;
constexpr int RESIDENT_WARPS = 12;
#define ENTRY(name) name##_97a3ed60

// ---- templates/conv2d/tensor_any.cu
// tensor.cu, where the products and their accuracy are explained, with the mask's size and direction as
// arguments: one binary serves every mask.


constexpr int threads = 32 * WARPS;
constexpr int resident_blocks = larger(1, RESIDENT_WARPS / WARPS);  // bounds the registers of a thread
constexpr int resident_threads = resident_blocks * threads;
constexpr int tile_width = 256;  // two products of 16 x 8 outputs side by side share each B
constexpr int tile_height = WARPS * ROWS;
using Samples = Tile<threads, VECTOR, held_quads(resident_threads, 0)>;

// What follows from the mask's size.
struct Sizes {
  int before;     // columns before the tile's; keeps vectors aligned
  int steps;      // columns of A in units of 8
  int row_units;  // units of 8 pixels in a staged row
  int staged_rows;
  int weight_pairs;  // of a mask row

  __device__ __forceinline__ explicit Sizes(const Mask& mask) {
    before = round_up(mask.left, VECTOR);
    steps = ceil_divide(before - mask.left + 8 + mask.width - 1, 8);
    row_units = tile_width / 8 + steps - 1;
    staged_rows = tile_height + mask.height - 1;
    weight_pairs = 8 * steps + 8;
  }
};

// The words of B that the lanes need: (w[i], w[i + 1]) for i from -7 - (before - left) on, with zeros beyond
// the mask; highs and then middles of each mask row.
__device__ __forceinline__ void stage_weights(unsigned* to, const Mask& mask, const Sizes& sizes,
                                              float scale) {
#pragma unroll 4
  for (int n = threadIdx.x; n < mask.height * sizes.weight_pairs; n += threads) {
    const int i = n / sizes.weight_pairs, p = n % sizes.weight_pairs;
    const int j = p - 7 - (sizes.before - mask.left);
    const Halves pair = split(mask.at(i, j), mask.at(i, j + 1), scale);
    to[2 * i * sizes.weight_pairs + p] = pair.high;
    to[(2 * i + 1) * sizes.weight_pairs + p] = pair.middle;
  }
}

struct Warp {
  const unsigned* weights;  // this lane's first pair of mask row 0
  // Shared addresses of the matrix rows that this lane names in the warp's first staged row: the first
  // matrices of a product over 16 columns, and those of the last 8 columns.
  unsigned samples, last_samples;
  int middle_plane;  // bytes from the highs of samples to the middles
  int mask_height;
};

// Sums of 16 blocks of 8 outputs and the next, of one row.
struct Sums {
  float large[2][4] = {};
  float small[2][4] = {};  // 2^11 times too large
};

// Adds image row r of the staged ones to all rows of outputs, or to those that a mask row takes there.
// STEPS: as in Sizes, or 0 if it is not known.
template <bool ALL, int STEPS>
__device__ __forceinline__ void add_row(Sums (&sums)[ROWS], const Warp& warp, const Sizes& sizes, int r) {
  const int steps = STEPS > 0 ? STEPS : sizes.steps;
  const int row_units = tile_width / 8 + steps - 1, weight_pairs = 8 * steps + 8;
  const int offset = r * row_units * 16;
  // A product takes 16 columns; an odd step is one over 8.
#pragma unroll(larger(STEPS / 2, 1))
  for (int p = 0; p < steps / 2; ++p) {
    unsigned high[2][4], middle[2][4];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const unsigned at = warp.samples + offset + (half * 16 + p * 2) * 16;
      load_matrices(high[half], at);
      load_matrices(middle[half], at + warp.middle_plane);
    }
#pragma unroll
    for (int o = 0; o < ROWS; ++o) {
      const int i = r - o;
      if (!ALL && (i < 0 || i >= warp.mask_height)) continue;
      const unsigned* weights = warp.weights + 2 * i * weight_pairs + 16 * p;
      const unsigned h0 = weights[0], h1 = weights[8];
      const unsigned m0 = weights[weight_pairs], m1 = weights[weight_pairs + 8];
#pragma unroll
      for (int half = 0; half < 2; ++half) multiply_add_halves(sums[o].small[half], middle[half], h0, h1);
#pragma unroll
      for (int half = 0; half < 2; ++half) multiply_add_halves(sums[o].large[half], high[half], h0, h1);
#pragma unroll
      for (int half = 0; half < 2; ++half) multiply_add_halves(sums[o].small[half], high[half], m0, m1);
    }
  }
  if (steps % 2 == 1) {
    unsigned high[4], middle[4];  // rows 0-7 and 8-15 for the first 16 blocks, then for the next
    load_matrices(high, warp.last_samples + offset);
    load_matrices(middle, warp.last_samples + offset + warp.middle_plane);
#pragma unroll
    for (int o = 0; o < ROWS; ++o) {
      const int i = r - o;
      if (!ALL && (i < 0 || i >= warp.mask_height)) continue;
      const unsigned* weights = warp.weights + 2 * i * weight_pairs + 8 * (steps - 1);
      const unsigned h = weights[0], m = weights[weight_pairs];
#pragma unroll
      for (int half = 0; half < 2; ++half)
        multiply_add_halves(sums[o].small[half], middle[2 * half], middle[2 * half + 1], h);
#pragma unroll
      for (int half = 0; half < 2; ++half)
        multiply_add_halves(sums[o].large[half], high[2 * half], high[2 * half + 1], h);
#pragma unroll
      for (int half = 0; half < 2; ++half)
        multiply_add_halves(sums[o].small[half], high[2 * half], high[2 * half + 1], m);
    }
  }
}

// Image row r meets output row o through mask row r - o. Those from ROWS - 1 to mask_height - 1 meet all.
// There is code of its own for 2 to STEPS steps, masks of up to 34 columns.
template <int STEPS>
__device__ __forceinline__ void add_rows(Sums (&sums)[ROWS], const Warp& warp, const Sizes& sizes) {
  if (STEPS < 2 || sizes.steps == STEPS) {
    constexpr int known = STEPS < 2 ? 0 : STEPS;
#pragma unroll 1
    for (int r = 0; r < ROWS + warp.mask_height - 1; ++r) {
      if (r >= ROWS - 1 && r < warp.mask_height) {
        add_row<true, known>(sums, warp, sizes, r);
      } else {
        add_row<false, known>(sums, warp, sizes, r);
      }
    }
  } else {
    add_rows<larger(STEPS - 1, 1)>(sums, warp, sizes);
  }
}

// Launched with blocks of 32 * WARPS threads over tiles of columns and rows; a grid whose y or
// z would exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
    ENTRY(conv2d_tensor_any)(const T* __restrict__ image, const T* __restrict__ weights,
                             T* __restrict__ output, int batch, int height, int width, int mask_height,
                             int mask_width, int convolve) {
  DYNAMIC_SHARED(unsigned, memory);  // pairs of weights, high samples, middle samples
  __shared__ WarpRange sample_ranges[WARPS], weight_ranges[WARPS];
  const Mask mask(weights, mask_height, mask_width, convolve);
  const Sizes sizes(mask);
  const Samples::Shape shape(threadIdx.x, sizes.staged_rows, 2 * sizes.row_units);
  unsigned* planes = memory + 2 * mask_height * sizes.weight_pairs;
  const int lane = threadIdx.x % 32, warp_y = threadIdx.x / 32;

  Warp warp;
  warp.weights = memory + (lane % 4 * 2 - lane / 4 + 7);
  const unsigned corner = static_cast<unsigned>(__cvta_generic_to_shared(planes)) +
                          (warp_y * ROWS * sizes.row_units + lane % 8) * 16;
  const int matrix = lane / 8;
  warp.samples = corner + (matrix % 2 * 8 + matrix / 2) * 16;
  warp.last_samples = corner + (matrix / 2 * 16 + matrix % 2 * 8 + sizes.steps - 1) * 16;
  warp.middle_plane = 4 * shape.plane_words();
  warp.mask_height = mask_height;

  const int x = blockIdx.x * tile_width;
  const int tiles_y = (height + tile_height - 1) / tile_height;
  bool first = true;
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    const float* batch_image = image + static_cast<long long>(b) * height * width;
    float* batch_output = output + static_cast<long long>(b) * height * width;
    for (int t = blockIdx.y; t < tiles_y; t += gridDim.y) {
      const int y = t * tile_height;
      const Window window = {batch_image, x - sizes.before, y - mask.top, height, width};
      const bool inside = window.x >= 0 && window.y >= 0 && window.x + sizes.row_units * 8 <= width &&
                          window.y + sizes.staged_rows <= height;
      Samples samples;
      if (inside) {
        samples.load<true>(threadIdx.x, shape, window);
      } else {
        samples.load<false>(threadIdx.x, shape, window);
      }
      if (first) publish(weight_ranges + threadIdx.x / 32, mask.range<threads>());
      publish(sample_ranges + threadIdx.x / 32, samples.range(threadIdx.x, shape, window));
      __syncthreads();  // also: the tile before has been read
      const SizeRange sample_range = collect<WARPS>(sample_ranges);
      const SizeRange weight_range = collect<WARPS>(weight_ranges);
      const bool good = splits(sample_range) && splits(weight_range);
      const float sample_scale = scale_of(sample_range), weight_scale = scale_of(weight_range);
      if (good) {
        if (first) stage_weights(memory, mask, sizes, weight_scale);
        samples.store(threadIdx.x, shape, planes, window, sample_scale);
      }
      first = first && !good;
      __syncthreads();
      if (!good) {
        compute_plainly<threads>(threadIdx.x, batch_image, weights, batch_output, x, y, tile_width,
                                 tile_height, height, width, mask_height, mask_width, convolve);
        continue;
      }

      Sums sums[ROWS];
      add_rows<5>(sums, warp, sizes);

// The end of tensor.cu and tensor_any.cu: a warp's sums to the image. Needs `sums`, both scales,
// `batch_output`, the tile's `x` and `y`, `lane`, `warp_y`, and the image's `height` and `width`.

const float unscale = reciprocal(sample_scale * weight_scale);
const int row = y + warp_y * ROWS;
const int column = x + lane / 4 * 8 + lane % 4 * 2;
#pragma unroll
for (int o = 0; o < ROWS; ++o) {
  if (row + o >= height) break;
  float* to = batch_output + static_cast<long long>(row + o) * width + column;
#pragma unroll
  for (int e = 0; e < 4; ++e) {  // two outputs each: rows 0-7, 8-15, 16-23, 24-31 of the product
    const float* large = sums[o].large[e / 2] + e % 2 * 2;
    const float* small = sums[o].small[e / 2] + e % 2 * 2;
    const float low = fmaf(small[0], 0x1p-11f, large[0]) * unscale;
    const float high = fmaf(small[1], 0x1p-11f, large[1]) * unscale;
    if constexpr (VECTOR == 4) {
      if (column + 64 * e < width) store_vector<2>(to + 64 * e, Vector<float, 2>{{low, high}});
    } else {
      if (column + 64 * e < width) to[64 * e] = low;
      if (column + 64 * e + 1 < width) to[64 * e + 1] = high;
    }
  }
}
    }
  }
}
