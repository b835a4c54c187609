// conv2d/warpgroup_any for sm_90a, rendered by Tunesmith from templates/conv2d/warpgroup_any.cu: change that and render again.
// compiled in: dtype=f32
// config: VECTOR=1 GROUPS=1 TEAMS=1 ROWS=8 TILES=1 AHEAD=0 RESIDENT_WARPS=12

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

// ---- templates/common/warpgroup.cuh
// Matrix products of halves by a warpgroup, four warps whose first is a multiple of four, with both matrices
// in shared memory and sums in f32. They run on while the threads go ahead. Needs compute capability 9.0 and
// exists on no other (wgmma); there is no host twin.

// Where a matrix lies (PTX ISA, "Matrix descriptor format", without swizzling): as 8x8 matrices of 128 bytes,
// row after row of 16 bytes, `by_columns` bytes from the first to the one of the next 8 of k, `by_rows` bytes
// from one to that of the next 8 rows of a or columns of b; all multiples of 16.
using MatrixPlace = unsigned long long;

__device__ __forceinline__ MatrixPlace matrix_place(unsigned shared_address, unsigned by_columns,
                                                    unsigned by_rows) {
  return static_cast<MatrixPlace>(shared_address >> 4) | static_cast<MatrixPlace>(by_columns >> 4) << 16 |
         static_cast<MatrixPlace>(by_rows >> 4) << 32;
}

// So many bytes on.
__device__ __forceinline__ MatrixPlace moved(MatrixPlace place, int bytes) {
  return place + static_cast<unsigned>(bytes >> 4);
}

// Makes this thread's stores to shared memory visible to products after the next barrier.
__device__ __forceinline__ void show_to_products() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Between any other access to the sums' registers and products.
__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// The products since the last call form a group.
__device__ __forceinline__ void end_group() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// Until at most RUNNING groups still run.
template <int RUNNING>
__device__ __forceinline__ void wait_for_groups() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(RUNNING) : "memory");
}

// Barriers 1 to 15 of a block, for THREADS threads, whole warps: sync() waits until so many have come there
// or arrived, arrive() does not wait.
template <int THREADS>
__device__ __forceinline__ void sync(int barrier) {
  __barrier_sync_count(barrier, THREADS);
}
template <int THREADS>
__device__ __forceinline__ void arrive(int barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(THREADS) : "memory");
}

// Keeps the compiler from touching the sums before this line while products run, or after it before they
// begin.
template <int N>
__device__ __forceinline__ void hold(float (&sum)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(sum[i])::"memory");
}

// sum (64 x COLUMNS) += a (64x16) * b (16 x COLUMNS), the first of `sum`'s columns: with others than the
// first, the compiler waits for each product. Of thread t of the warpgroup, registers 4 g to 4 g + 3 are rows
// r, r, r + 8, r + 8 with r = t / 32 * 16 + t % 32 / 4 and columns c, c + 1, c, c + 1 with c = 8 g + t % 4
// * 2.
template <int COLUMNS, int N>
__device__ __forceinline__ void multiply_add_halves(float (&sum)[N], MatrixPlace a, MatrixPlace b) {
  static_assert(COLUMNS == 16 || COLUMNS == 32 || COLUMNS == 64, "as many columns as are written out here");
  if constexpr (COLUMNS == 16) {
    asm volatile(
        "{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7 "
        "}, %8, %9, add, 1, 1, 0, 0;}"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]),
          "+f"(sum[7])
        : "l"(a), "l"(b));
  } else if constexpr (COLUMNS == 32) {
    asm volatile(
        "{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 "
        "}, %16, %17, add, 1, 1, 0, 0;}"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]),
          "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]),
          "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15])
        : "l"(a), "l"(b));
  } else {
    asm volatile(
        "{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
        "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31 "
        "}, %32, %33, add, 1, 1, 0, 0;}"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]),
          "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]),
          "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]),
          "+f"(sum[19]), "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]),
          "+f"(sum[25]), "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]),
          "+f"(sum[31])
        : "l"(a), "l"(b));
  }
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
constexpr int GROUPS = 1;
constexpr int TEAMS = 1;
constexpr int ROWS = 8;
constexpr int TILES = 1;
constexpr int AHEAD = 0;
constexpr int RESIDENT_WARPS = 12;
#define ENTRY(name) name##_0f78fc56

// ---- templates/conv2d/warpgroup_any.cu
// warpgroup.cu, where the products are explained, with the mask's size and direction as arguments: one binary
// serves every mask. Accuracy: as tensor.cu.

// The sizes of a block and of its tiles. Needs TEAMS, GROUPS, ROWS, RESIDENT_WARPS and common/integer.cuh.

// A team of warpgroups side by side has a tile of its own. The teams of a block share the weights and take
// turns at products, so that each stages its samples and stores its outputs while another multiplies.
constexpr int team_threads = 128 * GROUPS;
constexpr int threads = TEAMS * team_threads;
constexpr int team_warps = team_threads / 32, warps = threads / 32;
constexpr int resident_blocks = larger(1, RESIDENT_WARPS / warps);  // bounds the registers of a thread
constexpr int resident_threads = resident_blocks * threads;
constexpr int tile_width = 64 * GROUPS;
constexpr int tile_height = 8 * ROWS;
using Samples =
    Tile<team_threads, VECTOR, held_quads(resident_threads, AHEAD*(8 * ROWS + (TEAMS > 1 ? 4 : 0)))>;

// What follows from the mask's size.
struct Sizes {
  int before;     // columns before the tile's; keeps vectors aligned
  int steps;      // columns of pixels in units of 8
  int row_units;  // units of 8 pixels in a staged row
  int rows;       // that the outputs of a thread meet
  int tail;       // of these, from which on they meet only the second half of the outputs
  int extra;      // rows of samples and of weights
  int staged_rows;
  int matrix_rows;
  int weight_words;  // one of high, middle

  // A product takes 16 columns. The last 8 of an odd number are paired with those of the next row, which is
  // there for the last row too.
  __device__ __forceinline__ bool paired() const { return steps % 2 == 1; }

  __device__ __forceinline__ explicit Sizes(const Mask& mask) {
    before = round_up(mask.left, VECTOR);
    steps = ceil_divide(before - mask.left + 8 + mask.width - 1, 8);
    row_units = tile_width / 8 + steps - 1;
    rows = ROWS + mask.height - 1;
    tail = round_up(mask.height + ROWS / 2 - 1, 2);
    extra = paired() ? rows % 2 : 0;
    staged_rows = tile_height + mask.height - 1 + extra;
    matrix_rows = mask.height + 2 * (ROWS - 1) + extra;
    weight_words = matrix_rows * steps * 32;
  }
};

// Toeplitz matrices of 8 outputs, B[k][n] = w[k - n], k from before - left before the mask on, for the mask's
// rows and the zeros around them; each as 8x8 matrices, n outside, for each 8 of k. A warp makes one at a
// time.
__device__ __forceinline__ void stage_weights(unsigned* to, const Mask& mask, const Sizes& sizes,
                                              float scale) {
  const int lane = threadIdx.x % 32, matrices = sizes.matrix_rows * sizes.steps;
  const int j = lane % 4 * 2 - lane / 4 - (sizes.before - mask.left);
#pragma unroll 4
  for (int n = threadIdx.x / 32; n < matrices; n += warps) {
    const int i = n / sizes.steps - (ROWS - 1), first = j + n % sizes.steps * 8;
    const Halves pair = split(mask.at(i, first), mask.at(i, first + 1), scale);
    to[n * 32 + lane] = pair.high;
    to[n * 32 + lane + sizes.weight_words] = pair.middle;
  }
}

// Sums of a thread: registers 4 g to 4 g + 3 belong to output row ROWS - 1 - g of two image rows' outputs.
struct Sums {
  float large[4 * ROWS];
  float small[4 * ROWS];  // 2^11 times too large
};

// How far the middles lie behind the highs, in bytes.
struct Planes {
  int samples, weights;
};

// Adds 16 columns of samples, with the weights of COUNT mask rows, to the last COUNT rows of outputs.
template <int COUNT>
__device__ __forceinline__ void add(Sums& sums, const Planes& planes, MatrixPlace samples,
                                    MatrixPlace weights) {
  multiply_add_halves<8 * COUNT>(sums.small, moved(samples, planes.samples), weights);
  multiply_add_halves<8 * COUNT>(sums.large, samples, weights);
  multiply_add_halves<8 * COUNT>(sums.small, samples, moved(weights, planes.weights));
}

// Adds image rows `begin` to `end` of a tile, `begin` even. Row t meets mask rows t - ROWS + 1 to t, which
// lie side by side. STEPS: as in Sizes, or 0 if it is not known.
template <int COUNT, int STEPS>
__device__ __forceinline__ void add_rows(Sums& sums, const Sizes& sizes, const Planes& planes,
                                         unsigned samples, unsigned weights, int begin, int end) {
  const int steps = STEPS > 0 ? STEPS : sizes.steps;
  const int row_bytes = (tile_width / 8 + steps - 1) * 16, weight_row_bytes = steps * 128;
  const int last = steps - 1;
  const MatrixPlace all_samples = matrix_place(samples, 16, ROWS * row_bytes);
  const MatrixPlace all_weights = matrix_place(weights, 128, weight_row_bytes);
  const MatrixPlace last_samples = matrix_place(samples + last * 16, row_bytes, ROWS * row_bytes);
  const MatrixPlace last_weights = matrix_place(weights + last * 128, weight_row_bytes, weight_row_bytes);
#pragma unroll 1
  for (int t = begin; t < end; t += 2) {
#pragma unroll
    for (int u = t; u < t + 2; ++u) {
      if (COUNT == ROWS || u < sizes.rows) {
#pragma unroll(larger(STEPS / 2, 1))
        for (int p = 0; p < steps / 2; ++p)
          add<COUNT>(sums, planes, moved(all_samples, u * row_bytes + p * 32),
                     moved(all_weights, u * weight_row_bytes + p * 256));
      }
    }
    if (steps % 2 == 1)
      add<COUNT>(sums, planes, moved(last_samples, t * row_bytes), moved(last_weights, t * weight_row_bytes));
    end_group();
    wait_for_groups<1>();
  }
}

// Starts the products of all image rows. The last rows meet only the second half of the rows of outputs,
// which is the first half of the sums. That the first rows meet only the other half cannot be used: a product
// has to begin with the first of its sums (common/warpgroup.cuh). There is code of its own for 2 to STEPS
// steps, masks of up to 34 columns.
template <int STEPS>
__device__ __forceinline__ void add_all(Sums& sums, const Sizes& sizes, const Planes& planes,
                                        unsigned samples, unsigned weights) {
  if (STEPS < 2 || sizes.steps == STEPS) {
    constexpr int known = STEPS < 2 ? 0 : STEPS;
    add_rows<ROWS, known>(sums, sizes, planes, samples, weights, 0, sizes.tail);
    add_rows<ROWS / 2, known>(sums, sizes, planes, samples, weights, sizes.tail, sizes.rows);
  } else {
    add_all<larger(STEPS - 1, 1)>(sums, sizes, planes, samples, weights);
  }
}

__device__ __forceinline__ void start_products(Sums& sums, const Sizes& sizes, const Planes& planes,
                                               unsigned samples, unsigned weights) {
#pragma unroll
  for (int n = 0; n < 4 * ROWS; ++n) sums.large[n] = sums.small[n] = 0;
  hold(sums.large);
  hold(sums.small);
  begin_products();
  add_all<5>(sums, sizes, planes, samples, weights);
}

// What tile t of an image's column of tiles takes.
__device__ __forceinline__ Window window_of(const float* image, const Mask& mask, const Sizes& sizes, int x,
                                            unsigned t, int height, int width) {
  return {image, x - sizes.before, static_cast<int>(t) * tile_height - mask.top, height, width};
}

// The barriers of a block's teams. Needs TEAMS, `team_threads` and common/warpgroup.cuh.

// A team's barriers: its own, and that of its turn.
__device__ __forceinline__ void sync_team(int team) {
  if constexpr (TEAMS > 1) {
    sync<team_threads>(1 + team);
  } else {
    __syncthreads();
  }
}
__device__ __forceinline__ void wait_for_turn(int team) {
  if constexpr (TEAMS > 1) sync<2 * team_threads>(1 + TEAMS + team);
}
__device__ __forceinline__ void give_turn(int team) {
  if constexpr (TEAMS > 1) arrive<2 * team_threads>(1 + TEAMS + team);
}

// To the next team; after the `last` tiles to none.
__device__ __forceinline__ void pass_turn(int team, bool last) {
  if (team < TEAMS - 1) {
    give_turn(team + 1);
  } else if (!last) {
    give_turn(0);
  }
}

// Launched with blocks of TEAMS * GROUPS warpgroups over tiles of columns and rows; a grid whose y or z
// would exceed 65535, the limit, is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
    ENTRY(conv2d_warpgroup_any)(const T* __restrict__ image, const T* __restrict__ weights,
                                T* __restrict__ output, int batch, int height, int width, int mask_height,
                                int mask_width, int convolve) {
  DYNAMIC_SHARED(unsigned,
                 memory);  // high weights, middle weights; of each team high samples, middle samples
  __shared__ WarpRange sample_ranges[warps], weight_ranges[warps];
  // Known to be the same in a warp.
  const int team = TEAMS == 1 ? 0 : __shfl_sync(0xffffffffu, threadIdx.x / team_threads, 0);
  const int group = GROUPS == 1 ? 0 : __shfl_sync(0xffffffffu, threadIdx.x % team_threads / 128, 0);
  const int thread = threadIdx.x % team_threads, warp = threadIdx.x / 32;
  const Mask mask(weights, mask_height, mask_width, convolve);
  const Sizes sizes(mask);
  const Samples::Shape shape(thread, sizes.staged_rows, 2 * sizes.row_units);
  unsigned* planes = memory + 2 * sizes.weight_words + team * 2 * shape.plane_words();
  const unsigned weights_at = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  const unsigned samples_at = static_cast<unsigned>(__cvta_generic_to_shared(planes)) + group * 8 * 16;

  const int x = blockIdx.x * tile_width;
  const unsigned tiles_y = (height + tile_height - 1) / tile_height;
  const unsigned stride = gridDim.y * TEAMS;
  bool staged = false, weights_split = false;
  float weight_scale = 1;
  if (team == TEAMS - 1) give_turn(0);
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    const float* batch_image = image + static_cast<long long>(b) * height * width;
    float* batch_output = output + static_cast<long long>(b) * height * width;
    const auto load = [&](Samples& samples, unsigned t) {
      const Window window = window_of(batch_image, mask, sizes, x, t, height, width);
      const bool inside = window.x >= 0 && window.y >= 0 && window.x + sizes.row_units * 8 <= width &&
                          window.y + sizes.staged_rows <= height;
      if (inside) {
        samples.load<true>(thread, shape, window);
      } else {
        samples.load<false>(thread, shape, window);
      }
    };
    Samples samples;
    if (AHEAD == 1 && blockIdx.y * TEAMS + team < tiles_y) load(samples, blockIdx.y * TEAMS + team);
    if (!staged) {
      staged = true;
      publish(weight_ranges + warp, mask.range<threads>());
      __syncthreads();
      const SizeRange weight_range = collect<warps>(weight_ranges);
      weights_split = splits(weight_range);
      weight_scale = scale_of(weight_range);
      if (weights_split) stage_weights(memory, mask, sizes, weight_scale);
      show_to_products();
      __syncthreads();
    }
    // All teams make the same number of rounds, so that each turn comes; in the last round a team may have no
    // tile.
    for (unsigned first = blockIdx.y * TEAMS; first < tiles_y; first += stride) {
      const unsigned t = first + team;
      const bool any = t < tiles_y, last = first + stride >= tiles_y && b + gridDim.z >= batch;
      const int y = static_cast<int>(t) * tile_height;
      bool good = false;
      float sample_scale = 1;
      if (any) {
        const Window window = window_of(batch_image, mask, sizes, x, t, height, width);
        if (AHEAD == 0) load(samples, t);
        publish(sample_ranges + warp, samples.range(thread, shape, window));
        sync_team(team);  // also: the tile before has been read
        const SizeRange sample_range = collect<team_warps>(sample_ranges + team * team_warps);
        good = weights_split && splits(sample_range);
        sample_scale = scale_of(sample_range);
        if (good) {
          samples.store(thread, shape, planes, window, sample_scale);
          show_to_products();
        }
        sync_team(team);
        if (AHEAD == 1 && t + stride < tiles_y) load(samples, t + stride);
      }

      wait_for_turn(team);
      if (!good) {
        pass_turn(team, last);
        if (any) {
          compute_plainly<team_threads>(thread, batch_image, weights, batch_output, x, y, tile_width,
                                        tile_height, height, width, mask_height, mask_width, convolve);
        }
        continue;
      }
      Sums sums;
      start_products(sums, sizes, {4 * shape.plane_words(), 4 * sizes.weight_words}, samples_at, weights_at);
      pass_turn(team, last);
      wait_for_groups<0>();
      hold(sums.large);
      hold(sums.small);

// The end of warpgroup.cu and warpgroup_any.cu: a thread's sums to the image. Needs `sums`, both scales,
// `batch_output`, the tile's `x` and `y`, `group`, `warp`, and the image's `height` and `width`.

const float unscale = reciprocal(sample_scale * weight_scale);
const int lane = threadIdx.x % 32;
const int column = x + group * 64 + lane / 4 * 8 + lane % 4 * 2;
#pragma unroll
for (int half = 0; half < 2; ++half) {
  const int row = y + (warp % 4 * 2 + half) * ROWS;
  float* to = batch_output + static_cast<long long>(row) * width + column;
#pragma unroll
  for (int o = 0; o < ROWS; ++o) {
    const float* large = sums.large + 4 * (ROWS - 1 - o) + 2 * half;
    const float* small = sums.small + 4 * (ROWS - 1 - o) + 2 * half;
    const float low = fmaf(small[0], 0x1p-11f, large[0]) * unscale;
    const float high = fmaf(small[1], 0x1p-11f, large[1]) * unscale;
    if constexpr (VECTOR == 4) {
      if (row + o < height && column < width) store_vector<2>(to, Vector<float, 2>{{low, high}});
    } else {
      if (row + o < height && column < width) to[0] = low;
      if (row + o < height && column + 1 < width) to[1] = high;
    }
    to += width;
  }
}
    }
  }
}
