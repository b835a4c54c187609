// conv2d/tensor for sm_90a, rendered by Tunesmith from templates/conv2d/tensor.cu: change that and render again.
// compiled in: mask_height=31 mask_width=31 mode=correlation dtype=f32
// config: VECTOR=1 WARPS_X=1 WARPS_Y=4 ROWS=6 RESIDENT_WARPS=12

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
// Warp-wide matrix products of bf16 with sums in f32. Needs compute capability 8.0; there is no host twin,
// because a whole warp acts at once.

// Two floats rounded to the nearest bf16; `low` goes to the low half.
__device__ __forceinline__ unsigned pack_bf16(float low, float high) {
  unsigned packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}
__device__ __forceinline__ float low_bf16(unsigned packed) { return __uint_as_float(packed << 16); }
__device__ __forceinline__ float high_bf16(unsigned packed) { return __uint_as_float(packed & 0xffff0000u); }

// Four 8x8 matrices of 16-bit elements. Lane l gives the address of row l % 8 of matrix l / 8, 16 bytes
// aligned to 16.
__device__ __forceinline__ void load_matrices(unsigned (&matrix)[4], unsigned shared_address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
               : "r"(shared_address));
}

// sum (16x8) += a (16x16) * b (16x8). The quarters of a: rows 0-7 and 8-15 of columns 0-7, then of columns
// 8-15.
__device__ __forceinline__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0,
                                             unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// sum (16x8) = a (16x16) * b (16x8).
__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %10, %10, %10};"
      : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(0.0f));
}

// sum (16x8) += a (16x8) * b (8x8).
__device__ __forceinline__ void multiply_add(float (&sum)[4], unsigned a0, unsigned a1, unsigned b0) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(b0));
}

// The same with halves instead of bf16.
__device__ __forceinline__ void multiply_add_halves(float (&sum)[4], const unsigned (&a)[4], unsigned b0,
                                                    unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
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

// ---- what this variant is
constexpr int mask_height = 31;
constexpr int mask_width = 31;
enum class Mode { correlation, convolution };
constexpr Mode mode = Mode::correlation;
using T = float;  // dtype=f32
constexpr int VECTOR = 1;
constexpr int WARPS_X = 1;
constexpr int WARPS_Y = 4;
constexpr int ROWS = 6;
constexpr int RESIDENT_WARPS = 12;
#define ENTRY(name) name##_2ed8d905

// ---- templates/conv2d/tensor.cu
// conv2d of f32 with large masks as a matrix product on tensor cores. It knows the mode and the mask's size;
// it does not know the image's size.
//
// One row of the mask applied to one row of the image is a product A * B: row m of A is the pixels from 8 m
// on, B is the Toeplitz matrix B[k][n] = w[k - n], and element (m, n) of the product belongs to output column
// 8 m + n. So 16 rows of A cover 128 outputs. Rows of A overlap in memory, which costs nothing: each 8 pixels
// are one 16-byte row of an 8x8 matrix that is loaded as it lies.
//
// Accuracy. Every f32 is split into two bf16, x = high + middle + rest with |middle| <= 2^-8 |x| and
// |rest| <= 2^-17 |x|. Of the product only middle * middle and the rests are dropped, at most 2^-15 |w| |x|
// in all, or 512 f32 roundings (2^-24). The two small products are summed apart for each mask row, so that
// only the steps of high * high, one for each 16 columns, and one addition a mask row round at full size.
// With 2^-23 for such a step the whole stays below the mask_height * mask_width roundings of a plain f32 sum
// where that is a large number; the space's rule says where. The split needs finite numbers of ordinary size:
// a block whose samples, or whose mask, are not takes a plain path.


constexpr bool turned = mode == Mode::convolution;  // a convolution is a correlation with the turned mask
constexpr int left = turned ? mask_width - 1 - mask_width / 2 : mask_width / 2;
constexpr int top = turned ? mask_height - 1 - mask_height / 2 : mask_height / 2;
constexpr int before = round_up(left, VECTOR);  // columns loaded before the tile; keeps vectors aligned

constexpr int threads = 32 * WARPS_X * WARPS_Y;
constexpr int resident_blocks = larger(1, RESIDENT_WARPS * 32 / threads);  // bounds the registers of a thread
constexpr int warp_width = 256;  // two products of 16 x 8 outputs side by side share each B
constexpr int tile_width = WARPS_X * warp_width;
constexpr int tile_height = WARPS_Y * ROWS;
constexpr int steps = ceil_divide(before - left + 8 + mask_width - 1, 8);  // columns of A in units of 8
constexpr int row_units = tile_width / 8 + steps - 1;  // units of 8 pixels in a staged row
constexpr int staged_rows = tile_height + mask_height - 1;
constexpr int row_quads = 2 * row_units;

// The words of B that the lanes need: (w[i], w[i + 1]) for i from -7 - (before - left) on, with zeros beyond
// the mask.
constexpr int weight_pairs = 8 * steps + 8;
constexpr int weight_words = 2 * mask_height * weight_pairs;  // high, middle for each mask row
constexpr int plane_words = staged_rows * row_units * 4;      // one of high, middle

// Numbers that the split represents as described above; zero is one too.
__device__ __forceinline__ bool ordinary(float x) {
  const float size = fabsf(x);
  return (size <= 3e38f && size >= 1e-30f) || size == 0.0f;
}

__device__ __forceinline__ float weight_at(const float* __restrict__ mask, int i, int j) {
  if (j < 0 || j >= mask_width) return 0;
  return mask[turned ? (mask_height - 1 - i) * mask_width + mask_width - 1 - j : i * mask_width + j];
}

__device__ __forceinline__ bool stage_mask(unsigned* to, const float* __restrict__ mask) {
  bool good = true;
  for (int n = threadIdx.x; n < mask_height * weight_pairs; n += threads) {
    const int i = n / weight_pairs, p = n % weight_pairs;
    const float low = weight_at(mask, i, p - 7 - (before - left));
    const float high = weight_at(mask, i, p - 6 - (before - left));
    good = good && ordinary(low) && ordinary(high);
    const unsigned rounded = pack_bf16(low, high);
    to[2 * i * weight_pairs + p] = rounded;
    to[(2 * i + 1) * weight_pairs + p] = pack_bf16(low - low_bf16(rounded), high - high_bf16(rounded));
  }
  return good;
}

template <bool INSIDE>
__device__ __forceinline__ bool stage_image(unsigned* to, const float* __restrict__ image, int x, int y,
                                            int height, int width) {
  const float* corner = image + static_cast<long long>(y - top) * width + (x - before);
  bool good = true;
  int r = threadIdx.x / row_quads, q = threadIdx.x % row_quads;
#pragma unroll 4
  for (int n = threadIdx.x; n < staged_rows * row_quads; n += threads) {
    const float* from = corner + static_cast<long long>(r) * width + 4 * q;
    float pixel[4];
    if constexpr (VECTOR == 4) {
      Vector<float, 4> vector = {{0, 0, 0, 0}};
      if (INSIDE || (static_cast<unsigned>(y - top + r) < static_cast<unsigned>(height) &&
                     static_cast<unsigned>(x - before + 4 * q) < static_cast<unsigned>(width))) {
        vector = load_vector<4>(from);
      }
#pragma unroll
      for (int e = 0; e < 4; ++e) pixel[e] = vector.element[e];
    } else {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        pixel[e] = 0;
        if (INSIDE || (static_cast<unsigned>(y - top + r) < static_cast<unsigned>(height) &&
                       static_cast<unsigned>(x - before + 4 * q + e) < static_cast<unsigned>(width))) {
          pixel[e] = from[e];
        }
      }
    }
    good = good && ordinary(pixel[0]) && ordinary(pixel[1]) && ordinary(pixel[2]) && ordinary(pixel[3]);
    Vector<unsigned, 2> high, middle;
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const unsigned rounded = pack_bf16(pixel[2 * e], pixel[2 * e + 1]);
      high.element[e] = rounded;
      middle.element[e] = pack_bf16(pixel[2 * e] - low_bf16(rounded), pixel[2 * e + 1] - high_bf16(rounded));
    }
    unsigned* at = to + (r * row_quads + q) * 2;
    store_vector<2>(at, high);
    store_vector<2>(at + plane_words, middle);
    r += threads / row_quads;
    q += threads % row_quads;
    if (q >= row_quads) {
      q -= row_quads;
      ++r;
    }
  }
  return good;
}

constexpr int pairs = steps / 2;  // products over 16 columns; an odd step is one over 8

struct Warp {
  const unsigned* weights;  // this lane's first pair of mask row 0
  // Shared addresses of the matrix rows that this lane names in the warp's first staged row: the first
  // matrices of a product over 16 columns, and those of the last 8 columns.
  unsigned samples, last_samples;
};

// The pixels of one image row as products take them, in the registers' order, for 16 blocks of 8 outputs and
// the next.
struct Samples {
  unsigned wide[2][pairs][4];
  unsigned last[4];  // rows 0-7 and 8-15 for the first 16 blocks, then for the next
};

__device__ __forceinline__ void read_samples(Samples& samples, const Warp& warp, int offset) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int p = 0; p < pairs; ++p) {
      load_matrices(samples.wide[half][p], warp.samples + offset + (half * 16 + p * 2) * 16);
    }
  }
  if constexpr (steps % 2 == 1) load_matrices(samples.last, warp.last_samples + offset);
}

// Adds mask row i, applied to the samples, to one row of outputs.
__device__ __forceinline__ void add_mask_row(float (&sum)[2][4], const Samples& high, const Samples& middle,
                                             const Warp& warp, int i) {
  unsigned high_weights[steps], middle_weights[steps];
#pragma unroll
  for (int s = 0; s < steps; ++s) {
    high_weights[s] = warp.weights[2 * i * weight_pairs + 8 * s];
    middle_weights[s] = warp.weights[(2 * i + 1) * weight_pairs + 8 * s];
  }
  float small[2][4];
#pragma unroll
  for (int p = 0; p < pairs; ++p) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const unsigned h0 = high_weights[2 * p], h1 = high_weights[2 * p + 1];
      if (p == 0) {
        multiply(small[half], middle.wide[half][p], h0, h1);
      } else {
        multiply_add(small[half], middle.wide[half][p], h0, h1);
      }
      multiply_add(sum[half], high.wide[half][p], h0, h1);
      multiply_add(small[half], high.wide[half][p], middle_weights[2 * p], middle_weights[2 * p + 1]);
    }
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if constexpr (steps % 2 == 1) {
      multiply_add(small[half], middle.last[2 * half], middle.last[2 * half + 1], high_weights[steps - 1]);
      multiply_add(sum[half], high.last[2 * half], high.last[2 * half + 1], high_weights[steps - 1]);
      multiply_add(small[half], high.last[2 * half], high.last[2 * half + 1], middle_weights[steps - 1]);
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) sum[half][e] += small[half][e];
  }
}

// The plain path: the tile's outputs one by one from global memory.
__device__ __noinline__ void compute_directly(const float* __restrict__ image, const float* __restrict__ mask,
                                              float* output, int x, int y, int height, int width) {
  for (int n = threadIdx.x; n < tile_width * tile_height; n += threads) {
    const int column = x + n % tile_width, row = y + n / tile_width;
    if (column >= width || row >= height) continue;
    const int first_row = larger(0, top - row), last_row = smaller(mask_height, height + top - row);
    const int first_column = larger(0, left - column),
              last_column = smaller(mask_width, width + left - column);
    float sum = 0;
    for (int i = first_row; i < last_row; ++i) {
      const float* samples = image + static_cast<long long>(row - top + i) * width + (column - left);
      for (int j = first_column; j < last_column; ++j) sum += weight_at(mask, i, j) * samples[j];
    }
    output[static_cast<long long>(row) * width + column] = sum;
  }
}

// Launched with blocks of 32 * WARPS_X * WARPS_Y threads over tiles of columns and rows; a grid that is too
// small in y or z (both limited to 65535) is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
    ENTRY(conv2d_tensor)(const T* __restrict__ image, const T* __restrict__ mask, T* __restrict__ output,
                         int batch, int height, int width) {
  DYNAMIC_SHARED(unsigned, memory);  // pairs of weights, high samples, middle samples
  const int lane = threadIdx.x % 32, warp_x = threadIdx.x / 32 % WARPS_X, warp_y = threadIdx.x / 32 / WARPS_X;
  const bool good_mask = stage_mask(memory, mask);

  Warp warp;
  warp.weights = memory + (lane % 4 * 2 - lane / 4 + 7);
  const unsigned corner = static_cast<unsigned>(__cvta_generic_to_shared(memory + weight_words)) +
                          (warp_y * ROWS * row_units + warp_x * warp_width / 8 + lane % 8) * 16;
  const int matrix = lane / 8;
  warp.samples = corner + (matrix % 2 * 8 + matrix / 2) * 16;
  warp.last_samples = corner + (matrix / 2 * 16 + matrix % 2 * 8 + steps - 1) * 16;

  const int x = blockIdx.x * tile_width;
  const int tiles_y = (height + tile_height - 1) / tile_height;
  bool first = true;
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    const float* batch_image = image + static_cast<long long>(b) * height * width;
    float* batch_output = output + static_cast<long long>(b) * height * width;
    for (int t = blockIdx.y; t < tiles_y; t += gridDim.y) {
      const int y = t * tile_height;
      if (!first) __syncthreads();  // the tile before is still being read
      first = false;
      const bool inside =
          x >= before && y >= top && x - before + row_units * 8 <= width && y - top + staged_rows <= height;
      const bool good = inside ? stage_image<true>(memory + weight_words, batch_image, x, y, height, width)
                               : stage_image<false>(memory + weight_words, batch_image, x, y, height, width);
      if (__syncthreads_or(!(good && good_mask))) {
        compute_directly(batch_image, mask, batch_output, x, y, height, width);
        continue;
      }

      float sum[ROWS][2][4] = {};
      // Image row r meets output row o through mask row r - o. The rows between `full_begin` and `full_end`
      // meet all.
      constexpr int rows = ROWS + mask_height - 1;
      constexpr int full_begin = mask_height >= ROWS ? ROWS - 1 : rows;
      constexpr int full_end = mask_height >= ROWS ? mask_height : rows;
#pragma unroll 1
      for (int r = 0; r < rows; ++r) {
        Samples high, middle;
        read_samples(high, warp, r * row_units * 16);
        read_samples(middle, warp, r * row_units * 16 + plane_words * 4);
        if (r >= full_begin && r < full_end) {
#pragma unroll
          for (int o = 0; o < ROWS; ++o) add_mask_row(sum[o], high, middle, warp, r - o);
        } else {
#pragma unroll
          for (int o = 0; o < ROWS; ++o) {
            if (r - o >= 0 && r - o < mask_height) add_mask_row(sum[o], high, middle, warp, r - o);
          }
        }
      }

      const int row = y + warp_y * ROWS;
      const int column = x + warp_x * warp_width + lane / 4 * 8 + lane % 4 * 2;
#pragma unroll
      for (int o = 0; o < ROWS; ++o) {
        if (row + o >= height) break;
        float* to = batch_output + static_cast<long long>(row + o) * width + column;
#pragma unroll
        for (int e = 0; e < 4; ++e) {  // two outputs each: rows 0-7, 8-15, 16-23, 24-31 of the product
          const float low = sum[o][e / 2][e % 2 * 2], high = sum[o][e / 2][e % 2 * 2 + 1];
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
