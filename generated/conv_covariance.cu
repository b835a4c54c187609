// To be read: nothing is built from this text. It is the winner on NVIDIA H200 for
// batch=2 channels_out=3 channels_in=3 height=9 width=9 mask_height=3 mask_width=3 dtype=f32,
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// conv_covariance/direct for sm_90a, rendered by Tunesmith from templates/conv_covariance/direct.cu: change that and render again.
// compiled in: channels_in=3 mask_height=3 mask_width=3 dtype=f32
// config: LOOP_ORDER=channels_outside UNROLL=3 FAN_OUT=outside FAN=1 MU_LAYOUT=none BLOCK_X=64 BLOCK_Y=4 INDEX_BITS=64 START=plain TRIGGER=none

// ---- templates/common/float16.cuh
// SPDX-License-Identifier: Apache-2.0
// Floating-point numbers of 16 bits, converted from and to float; arithmetic is done in compute_type<T>.
// Conversion to 16 bits rounds to nearest even, with overflow to infinity; a NaN stays one.

struct Float16 {  // IEEE 754 binary16
  unsigned short bits;
};
struct BFloat16 {  // the upper half of a float
  unsigned short bits;
};

template <typename T>
struct ComputeType {
  using type = T;
};
template <>
struct ComputeType<Float16> {
  using type = float;
};
template <>
struct ComputeType<BFloat16> {
  using type = float;
};
// What sums and products of T are computed in: float for the types of 16 bits, else T itself.
template <typename T>
using compute_type = typename ComputeType<T>::type;

template <typename T>
__device__ __forceinline__ T to_float(T value) {
  return value;
}
__device__ __forceinline__ float to_float(Float16 value) {
#ifndef TUNESMITH_HOST
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
#else
  const unsigned sign = (value.bits & 0x8000u) << 16;
  const unsigned magnitude = value.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return __uint_as_float(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  // In a float's fields the exponent is off by the difference of the biases, 127 - 15.
  const float scaled = __uint_as_float(magnitude << 13) * 0x1p112f;
  return __uint_as_float(sign | __float_as_uint(scaled));
#endif
}
__device__ __forceinline__ float to_float(BFloat16 value) {
  return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}

template <typename T>
__device__ __forceinline__ T from_float(compute_type<T> value) {
  return value;
}
template <>
__device__ __forceinline__ Float16 from_float<Float16>(float value) {
  Float16 result;
#ifndef TUNESMITH_HOST
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
#else
  unsigned rounded = __float_as_uint(value) & 0x7fffffffu;
  const unsigned sign = __float_as_uint(value) >> 16 & 0x8000u;
  if (rounded > 0x7f800000u) {
    rounded = 0x7e00u;
  } else if (rounded >= 0x47800000u) {  // 2^16
    rounded = 0x7c00u;
  } else if (rounded < 0x38800000u) {  // 2^-14: subnormal, in units of 2^-24 as is the last place of 0.5
    rounded = __float_as_uint(__uint_as_float(rounded) + 0.5f) - 0x3f000000u;
  } else {
    rounded = (rounded - (112u << 23) + 0xfffu + (rounded >> 13 & 1u)) >> 13;
  }
  result.bits = static_cast<unsigned short>(sign | rounded);
#endif
  return result;
}
template <>
__device__ __forceinline__ BFloat16 from_float<BFloat16>(float value) {
  BFloat16 result;
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
#else
  const unsigned bits = __float_as_uint(value);
  const unsigned rounded =
      (bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u);
  result.bits = static_cast<unsigned short>(rounded >> 16);
#endif
  return result;
}

// ---- templates/common/integer.cuh
// SPDX-License-Identifier: Apache-2.0
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
// SPDX-License-Identifier: Apache-2.0
// Dynamic shared memory as an array of any type, aligned to 16 bytes. On the host the shim defines it.

#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(type, name)                               \
  extern __shared__ __align__(16) unsigned char name##_bytes_[]; \
  type* name = reinterpret_cast<type*>(name##_bytes_)
#endif

// ---- what this variant is
constexpr int channels_in = 3;
constexpr int mask_height = 3;
constexpr int mask_width = 3;
using T = float;  // dtype=f32
enum class LoopOrder { channels_outside, channels_between, channels_inside };
constexpr LoopOrder LOOP_ORDER = LoopOrder::channels_outside;
constexpr int UNROLL = 3;
enum class FanOut { inside, outside };
constexpr FanOut FAN_OUT = FanOut::outside;
constexpr int FAN = 1;
enum class MuLayout { none, flat, padded };
constexpr MuLayout MU_LAYOUT = MuLayout::none;
constexpr int BLOCK_X = 64;
constexpr int BLOCK_Y = 4;
constexpr int INDEX_BITS = 64;
enum class Start { plain, overlapped };
constexpr Start START = Start::plain;
enum class Trigger { none, early };
constexpr Trigger TRIGGER = Trigger::none;
#define ENTRY(name) name##_4d65cbfc

// ---- templates/conv_covariance/direct.cu
// SPDX-License-Identifier: Apache-2.0
// conv_covariance as in the original Numba kernel: one thread per pair of output pixels, which reads every
// term of its sum from where it lies. It knows the element type, the mask and the input channels, but not the
// image's size.

// SPDX-License-Identifier: Apache-2.0
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

using Real = compute_type<T>;

// SPDX-License-Identifier: Apache-2.0
// The type of offsets within one image's covariances. Needs INDEX_BITS.

template <int BITS>
struct IndexOf {
  using type = int;
};
template <>
struct IndexOf<64> {
  using type = long long;
};
using Index = IndexOf<INDEX_BITS>::type;  // of an element within one image's covariances

constexpr int threads = BLOCK_X * BLOCK_Y;
constexpr bool mu_staged = MU_LAYOUT != MuLayout::none;
constexpr bool recomputed = FAN_OUT == FanOut::outside;  // the sum, by one thread per output channel

// The three loops of a term, outermost first.
constexpr int outer_steps = LOOP_ORDER == LoopOrder::channels_outside ? channels_in : mask_height;
constexpr int middle_steps = LOOP_ORDER == LoopOrder::channels_outside   ? mask_height
                             : LOOP_ORDER == LoopOrder::channels_between ? channels_in
                                                                         : mask_width;
constexpr int inner_steps = LOOP_ORDER == LoopOrder::channels_inside ? channels_in : mask_width;

// As many steps of a loop at once as divide it and make at most 128 terms with the loops inside: more code
// gains nothing, and 512 terms took compilers 15 s.
__host__ __device__ constexpr int unrolled(int steps, int terms_inside) {
  int at_once = smaller(steps, 128 / larger(terms_inside, 1));
  while (at_once > 1 && steps % at_once != 0) --at_once;
  return larger(at_once, 1);
}
constexpr int unroll_inner = UNROLL >= 1 ? unrolled(inner_steps, 1) : 1;
constexpr int unroll_middle = UNROLL >= 2 ? unrolled(middle_steps, inner_steps) : 1;
constexpr int unroll_outer =
    UNROLL >= 3 ? unrolled(outer_steps, smaller(middle_steps, 129) * smaller(inner_steps, 129)) : 1;

// Launched with blocks of BLOCK_X x BLOCK_Y over the second and the first pixel of the pairs; the grid's z
// goes over the batch, and over the output channels where the sum is recomputed. Where the grid's y or z,
// both limited to 65535, is too small, threads take further pairs in strides of the grid.
extern "C" __global__ void __launch_bounds__(threads)
    ENTRY(conv_covariance_direct)(InOutPointer<T> input, InputPointer<T> gamma, InputPointer<T> mu,
                                  InputPointer<T> c, int batch, int channels_out, int height, int width) {
  DYNAMIC_SHARED(Real, staged_mu);
  const int rows = height - mask_height + 1, columns = width - mask_width + 1;
  const int pixels = rows * columns;
  const int image = height * width;
  // With an even pitch, a warp that spans several rows would have bank conflicts.
  const int mu_pitch = MU_LAYOUT == MuLayout::padded ? width | 1 : width;
  const Index pitch = channels_in * image;           // between covariances with neighbouring first pixels
  const Index step_down = pitch * width + width;     // both pixels one row down
  const Index step_right = pitch + 1;                // both pixels one column on
  const Index step_channel = pitch * image + image;  // both pixels in the next input channel
  const int second = blockIdx.x * BLOCK_X + threadIdx.x;
  const int i0p = second / columns, j0p = second - i0p * columns;

  start();
  const long long works = static_cast<long long>(batch) * (recomputed ? channels_out : 1);
  int b_staged = -1;
  for (long long work = blockIdx.z; work < works; work += gridDim.z) {
    const int b = static_cast<int>(recomputed ? work / channels_out : work);
    const int c_begin = recomputed ? static_cast<int>(work - static_cast<long long>(b) * channels_out) : 0;
    const int c_end = recomputed ? c_begin + 1 : channels_out;
    const T* means = mu + static_cast<long long>(b) * channels_in * image;
    const T* covariances = gamma + static_cast<long long>(b) * channels_in * image * channels_in * image;
    if constexpr (mu_staged) {
      if (b != b_staged) {
        if (b_staged >= 0) __syncthreads();  // the image before is still being read
        for (int n = threadIdx.y * BLOCK_X + threadIdx.x; n < channels_in * image; n += threads) {
          const int row = n / width;
          staged_mu[row * mu_pitch + (n - row * width)] = to_float(means[n]);
        }
        __syncthreads();
        b_staged = b;
      }
    }
    if (second >= pixels) continue;
    for (int first = blockIdx.y * BLOCK_Y + threadIdx.y; first < pixels; first += gridDim.y * BLOCK_Y) {
      const int i0 = first / columns, j0 = first - i0 * columns;
      T* outputs = input +
                   (static_cast<long long>(b) * channels_out * pixels + first) * channels_out * pixels +
                   second;
      const long long output_step = static_cast<long long>(pixels) * channels_out * pixels + pixels;
      T old[FAN];
#pragma unroll
      for (int f = 0; f < FAN; ++f) {
        if (c_begin + f < c_end) old[f] = outputs[(c_begin + f) * output_step];
      }

      const int at = i0 * width + j0, at_p = i0p * width + j0p;
      const T* terms = covariances + (at * pitch + at_p);
      const int mu_at = i0 * mu_pitch + j0, mu_at_p = i0p * mu_pitch + j0p;
      Real sum = 0;
#pragma unroll(unroll_outer)
      for (int outer = 0; outer < outer_steps; ++outer) {
#pragma unroll(unroll_middle)
        for (int middle = 0; middle < middle_steps; ++middle) {
#pragma unroll(unroll_inner)
          for (int inner = 0; inner < inner_steps; ++inner) {
            const int ci = LOOP_ORDER == LoopOrder::channels_outside   ? outer
                           : LOOP_ORDER == LoopOrder::channels_between ? middle
                                                                       : inner;
            const int ii = LOOP_ORDER == LoopOrder::channels_outside ? middle : outer;
            const int ji = LOOP_ORDER == LoopOrder::channels_inside ? middle : inner;
            Real left, right;
            if constexpr (mu_staged) {
              const int shift = (ci * height + ii) * mu_pitch + ji;
              left = staged_mu[mu_at + shift];
              right = staged_mu[mu_at_p + shift];
            } else {
              const int shift = (ci * height + ii) * width + ji;
              left = to_float(means[at + shift]);
              right = to_float(means[at_p + shift]);
            }
            sum += left * right + to_float(terms[ci * step_channel + ii * step_down + ji * step_right]);
          }
        }
      }

      for (int c0 = c_begin; c0 < c_end; c0 += FAN) {
        T weight[FAN];
#pragma unroll
        for (int f = 0; f < FAN; ++f) {
          if (c0 + f >= c_end) continue;
          if (c0 > c_begin) old[f] = outputs[(c0 + f) * output_step];
          weight[f] = c[c0 + f];
        }
#pragma unroll
        for (int f = 0; f < FAN; ++f) {
          if (c0 + f < c_end)
            outputs[(c0 + f) * output_step] = from_float<T>(to_float(old[f]) + to_float(weight[f]) * sum);
        }
      }
    }
  }
}
