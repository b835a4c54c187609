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

// ---- templates/conv2d/split.cuh
// What the templates on tensor cores share: a tile of the image on its way into shared memory as halves
// (common/halves.cuh), the mask's weights, and the plain path of a tile that does not split.


// The mask as the kernel slides it: a convolution is a correlation with the turned mask.
template <bool TURNED, int HEIGHT, int WIDTH>
struct Mask {
  static constexpr int left = TURNED ? WIDTH - 1 - WIDTH / 2 : WIDTH / 2;
  static constexpr int top = TURNED ? HEIGHT - 1 - HEIGHT / 2 : HEIGHT / 2;

  // Weight of row i and column j; zero beside the mask's columns.
  static __device__ __forceinline__ float at(const float* __restrict__ mask, int i, int j) {
    if (j < 0 || j >= WIDTH) return 0;
    return mask[TURNED ? (HEIGHT - 1 - i) * WIDTH + WIDTH - 1 - j : i * WIDTH + j];
  }

  // Over what this thread looks at.
  template <int THREADS>
  static __device__ __forceinline__ SizeRange range(const float* __restrict__ mask) {
    SizeRange range;
    for (int n = threadIdx.x; n < HEIGHT * WIDTH; n += THREADS) include(range, mask[n]);
    return range;
  }

  // The plain path: a tile's outputs one by one from global memory.
  template <int THREADS>
  static __device__ __noinline__ void apply(int thread, const float* __restrict__ image,
                                            const float* __restrict__ mask, float* output, int x, int y,
                                            int tile_width, int tile_height, int height, int width) {
    for (int n = thread; n < tile_width * tile_height; n += THREADS) {
      const int column = x + n % tile_width, row = y + n / tile_width;
      if (column >= width || row >= height) continue;
      const int first_row = larger(0, top - row), last_row = smaller(HEIGHT, height + top - row);
      const int first_column = larger(0, left - column), last_column = smaller(WIDTH, width + left - column);
      float sum = 0;
      for (int i = first_row; i < last_row; ++i) {
        const float* samples = image + static_cast<long long>(row - top + i) * width + (column - left);
        for (int j = first_column; j < last_column; ++j) sum += at(mask, i, j) * samples[j];
      }
      output[static_cast<long long>(row) * width + column] = sum;
    }
  }
};

// What a tile is cut from: its first row and column may lie outside the image, where samples are zero.
struct Window {
  const float* image;
  int x, y, height, width;
};

// A tile of ROWS rows of QUADS times 4 samples. A thread's share of it are the quads THREADS apart; HELD of
// them wait in registers while the block finds the scale, the others are read once more.
template <int THREADS, int ROWS, int QUADS, int VECTOR, int HELD>
struct Tile {
  static constexpr int count = ROWS * QUADS;
  static constexpr int share = ceil_divide(count, THREADS);
  static constexpr int held = smaller(share, HELD);
  static constexpr int plane_words = 2 * count;  // one of high, middle

  Vector<float, 4> samples[held];

  struct Place {
    int row, quad;
    __device__ __forceinline__ Place(int n) : row(n / QUADS), quad(n % QUADS) {}
    __device__ __forceinline__ void advance() {
      row += THREADS / QUADS;
      quad += THREADS % QUADS;
      if (quad >= QUADS) {
        quad -= QUADS;
        ++row;
      }
    }
  };

  template <bool INSIDE>
  static __device__ __forceinline__ Vector<float, 4> load_quad(const Window& window, const Place& place) {
    const int row = window.y + place.row, column = window.x + 4 * place.quad;
    const float* from = window.image + (static_cast<long long>(row) * window.width + column);
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

  template <bool INSIDE>
  __device__ __forceinline__ void load(int thread, const Window& window) {
    Place place(thread);
#pragma unroll
    for (int k = 0; k < held; ++k) {
      if ((k + 1) * THREADS <= count || thread + k * THREADS < count) {
        samples[k] = load_quad<INSIDE>(window, place);
      } else {
        samples[k] = {{0, 0, 0, 0}};
      }
      place.advance();
    }
  }

  // Over this thread's share.
  __device__ __forceinline__ SizeRange range(int thread, const Window& window) const {
    SizeRange range;
#pragma unroll
    for (int k = 0; k < held; ++k) {
#pragma unroll
      for (int e = 0; e < 4; ++e) include(range, samples[k].element[e]);
    }
    if constexpr (held < share) {
      Place place(thread + held * THREADS);
#pragma unroll 4
      for (int n = thread + held * THREADS; n < count; n += THREADS) {
        const Vector<float, 4> quad = load_quad<false>(window, place);
#pragma unroll
        for (int e = 0; e < 4; ++e) include(range, quad.element[e]);
        place.advance();
      }
    }
    return range;
  }

  static __device__ __forceinline__ void store_quad(unsigned* planes, int n, const Vector<float, 4>& quad,
                                                    float scale) {
    const Halves first = split(quad.element[0], quad.element[1], scale);
    const Halves second = split(quad.element[2], quad.element[3], scale);
    store_vector<2>(planes + 2 * n, Vector<unsigned, 2>{{first.high, second.high}});
    store_vector<2>(planes + 2 * n + plane_words, Vector<unsigned, 2>{{first.middle, second.middle}});
  }

  // To the plane of highs and that of middles after it, rows after rows.
  __device__ __forceinline__ void store(int thread, unsigned* planes, const Window& window,
                                        float scale) const {
#pragma unroll
    for (int k = 0; k < held; ++k) {
      const int n = thread + k * THREADS;
      if ((k + 1) * THREADS <= count || n < count) store_quad(planes, n, samples[k], scale);
    }
    if constexpr (held < share) {
      Place place(thread + held * THREADS);
#pragma unroll 4
      for (int n = thread + held * THREADS; n < count; n += THREADS) {
        store_quad(planes, n, load_quad<false>(window, place), scale);
        place.advance();
      }
    }
  }
};

// How many quads of a tile a thread may hold. Needs common/integer.cuh.

// The registers that a thread has where so many are resident, less those that are `taken` while samples wait
// and about 28 for the walk over a tile (72 where nothing is taken); in quads.
__host__ __device__ constexpr int held_quads(int resident_threads, int taken) {
  return larger(1, (smaller(255, 65536 / resident_threads) - (taken > 0 ? taken + 28 : 72)) / 4);
}

#include "constants"

// ---- templates/conv2d/warpgroup.cu
// conv2d of f32 as a matrix product on Hopper's tensor cores, which read both matrices from shared memory. It
// knows the mode and the mask's size; it does not know the image's size.
//
// As in tensor.cu, 8 pixels at a time are one row of 16 bytes, rows overlap in memory, and Toeplitz matrices
// of the mask's rows turn them into 8 outputs. Here one product takes 64 rows of pixels, from 8 neighbours of
// 8 image rows that lie ROWS apart, and the Toeplitz matrices of ROWS mask rows side by side: image row t of
// a warpgroup's tile of 64 columns and 8 * ROWS rows is applied to all rows of outputs that it meets. Where a
// row of outputs meets it through no row of the mask, the matrix is zero.
//
// Accuracy: as tensor.cu.


using Weights = Mask<mode == Mode::convolution, mask_height, mask_width>;
constexpr int before = round_up(Weights::left, VECTOR);  // columns before the tile's; keeps vectors aligned

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
constexpr int steps =
    ceil_divide(before - Weights::left + 8 + mask_width - 1, 8);  // columns of pixels in units of 8
constexpr int row_units = tile_width / 8 + steps - 1;             // units of 8 pixels in a staged row
constexpr int rows = ROWS + mask_height - 1;                      // that the outputs of a thread meet
// A product takes 16 columns. The last 8 of an odd number are paired with those of the next row, which is
// there for the last row too.
constexpr bool paired = steps % 2 == 1;
constexpr int pairs = steps / 2;
constexpr int staged_rows = tile_height + mask_height - 1 + (paired ? rows % 2 : 0);
using Samples = Tile<team_threads, staged_rows, 2 * row_units, VECTOR,
                     held_quads(resident_threads, AHEAD*(8 * ROWS + (TEAMS > 1 ? 4 : 0)))>;

// Toeplitz matrices of 8 outputs, B[k][n] = w[k - n], k from before - left before the mask on, for the mask's
// rows and the zeros around them; each as 8x8 matrices, n outside, for each 8 of k.
constexpr int matrix_rows = mask_height + 2 * (ROWS - 1) + (paired ? rows % 2 : 0);
constexpr int weight_words = matrix_rows * steps * 32;  // one of high, middle

__device__ __forceinline__ void stage_weights(unsigned* to, const float* __restrict__ mask, float scale) {
  for (int n = threadIdx.x; n < weight_words; n += threads) {
    const int i = n / (steps * 32) - (ROWS - 1);
    const int k = n / 32 % steps * 8 + n % 4 * 2;
    const int j = k - n / 4 % 8 - (before - Weights::left);
    Halves pair = {0, 0};
    if (i >= 0 && i < mask_height) pair = split(Weights::at(mask, i, j), Weights::at(mask, i, j + 1), scale);
    to[n] = pair.high;
    to[n + weight_words] = pair.middle;
  }
}

// Sums of a thread: registers 4 g to 4 g + 3 belong to output row ROWS - 1 - g of two image rows' outputs.
struct Sums {
  float large[4 * ROWS];
  float small[4 * ROWS];  // 2^11 times too large
};

// Adds 16 columns of samples, with the weights of COUNT mask rows, to the last COUNT rows of outputs.
template <int COUNT>
__device__ __forceinline__ void add(Sums& sums, MatrixPlace samples, MatrixPlace weights) {
  const MatrixPlace middle_samples = moved(samples, 4 * Samples::plane_words);
  const MatrixPlace middle_weights = moved(weights, 4 * weight_words);
  multiply_add_halves<8 * COUNT>(sums.small, middle_samples, weights);
  multiply_add_halves<8 * COUNT>(sums.large, samples, weights);
  multiply_add_halves<8 * COUNT>(sums.small, samples, middle_weights);
}

// Adds image rows `begin` to `end` of a tile, `begin` even. Row t meets mask rows t - ROWS + 1 to t, which
// lie side by side.
template <int COUNT>
__device__ __forceinline__ void add_rows(Sums& sums, unsigned samples, unsigned weights, int begin, int end) {
  constexpr int row_bytes = row_units * 16, weight_row_bytes = steps * 128;
  constexpr int last = steps - 1;
  const MatrixPlace all_samples = matrix_place(samples, 16, ROWS * row_bytes);
  const MatrixPlace all_weights = matrix_place(weights, 128, weight_row_bytes);
  const MatrixPlace last_samples = matrix_place(samples + last * 16, row_bytes, ROWS * row_bytes);
  const MatrixPlace last_weights = matrix_place(weights + last * 128, weight_row_bytes, weight_row_bytes);
#pragma unroll 1
  for (int t = begin; t < end; t += 2) {
#pragma unroll
    for (int u = t; u < t + 2; ++u) {
      if (u < rows) {
#pragma unroll
        for (int p = 0; p < pairs; ++p)
          add<COUNT>(sums, moved(all_samples, u * row_bytes + p * 32),
                     moved(all_weights, u * weight_row_bytes + p * 256));
      }
    }
    if constexpr (paired)
      add<COUNT>(sums, moved(last_samples, t * row_bytes), moved(last_weights, t * weight_row_bytes));
    end_group();
    wait_for_groups<1>();
  }
}

// Starts the products of all image rows. The last rows meet only the second half of the rows of outputs,
// which is the first half of the sums. That the first rows meet only the other half cannot be used: a product
// has to begin with the first of its sums (common/warpgroup.cuh).
__device__ __forceinline__ void start_products(Sums& sums, unsigned samples, unsigned weights) {
  constexpr int tail = smaller(round_up(mask_height + ROWS / 2 - 1, 2), rows);
#pragma unroll
  for (int n = 0; n < 4 * ROWS; ++n) sums.large[n] = sums.small[n] = 0;
  hold(sums.large);
  hold(sums.small);
  begin_products();
  add_rows<ROWS>(sums, samples, weights, 0, tail);
  add_rows<ROWS / 2>(sums, samples, weights, tail, rows);
}

// What tile t of an image's column of tiles takes.
__device__ __forceinline__ Window window_of(const float* image, int x, unsigned t, int height, int width) {
  return {image, x - before, static_cast<int>(t) * tile_height - Weights::top, height, width};
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
    ENTRY(conv2d_warpgroup)(const T* __restrict__ image, const T* __restrict__ mask, T* __restrict__ output,
                            int batch, int height, int width) {
  DYNAMIC_SHARED(unsigned,
                 memory);  // high weights, middle weights; of each team high samples, middle samples
  __shared__ WarpRange sample_ranges[warps], weight_ranges[warps];
  // Known to be the same in a warp.
  const int team = TEAMS == 1 ? 0 : __shfl_sync(0xffffffffu, threadIdx.x / team_threads, 0);
  const int group = GROUPS == 1 ? 0 : __shfl_sync(0xffffffffu, threadIdx.x % team_threads / 128, 0);
  const int thread = threadIdx.x % team_threads, warp = threadIdx.x / 32;
  unsigned* planes = memory + 2 * weight_words + team * 2 * Samples::plane_words;
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
      const Window window = window_of(batch_image, x, t, height, width);
      const bool inside = window.x >= 0 && window.y >= 0 && window.x + row_units * 8 <= width &&
                          window.y + staged_rows <= height;
      if (inside) {
        samples.load<true>(thread, window);
      } else {
        samples.load<false>(thread, window);
      }
    };
    Samples samples;
    if (AHEAD == 1 && blockIdx.y * TEAMS + team < tiles_y) load(samples, blockIdx.y * TEAMS + team);
    if (!staged) {
      staged = true;
      publish(weight_ranges + warp, Weights::range<threads>(mask));
      __syncthreads();
      const SizeRange weight_range = collect<warps>(weight_ranges);
      weights_split = splits(weight_range);
      weight_scale = scale_of(weight_range);
      if (weights_split) stage_weights(memory, mask, weight_scale);
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
        const Window window = window_of(batch_image, x, t, height, width);
        if (AHEAD == 0) load(samples, t);
        publish(sample_ranges + warp, samples.range(thread, window));
        sync_team(team);  // also: the tile before has been read
        const SizeRange sample_range = collect<team_warps>(sample_ranges + team * team_warps);
        good = weights_split && splits(sample_range);
        sample_scale = scale_of(sample_range);
        if (good) {
          samples.store(thread, planes, window, sample_scale);
          show_to_products();
        }
        sync_team(team);
        if (AHEAD == 1 && t + stride < tiles_y) load(samples, t + stride);
      }

      wait_for_turn(team);
      if (!good) {
        pass_turn(team, last);
        if (any) {
          Weights::apply<team_threads>(thread, batch_image, mask, batch_output, x, y, tile_width, tile_height,
                                       height, width);
        }
        continue;
      }
      Sums sums;
      start_products(sums, samples_at, weights_at);
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
