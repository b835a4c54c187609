// To be read: nothing is built from this text. It is the base for
// expression="out[a,b] += x0[a,c] * x1[c,b]" dtype=f32 extents=2000x2000x2000 may=reorder finish=out out_dtype=same zero_outside=none x0=dense x1=dense x2=dense x3=dense x4=dense x5=dense out=dense,
// written by golden_tests with TUNESMITH_UPDATE_GOLDEN=1. "tunesmith render" writes any other.
// tensor/base for sm_90a, rendered by Tunesmith from templates/tensor/base.cu: change that and render again.
// compiled in: dtype=f32
// config: BLOCK=256 BLOCKS=4096

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

// ---- templates/common/functions.cuh
// SPDX-License-Identifier: Apache-2.0
// The operations that generated functions are made of, for float, double, int and long long. Integers wrap;
// an integer divided by zero is 0, and so is the remainder.


namespace elementwise {

template <typename X>
struct Wrapping {
  using type = X;
};
template <>
struct Wrapping<int> {
  using type = unsigned;
};
template <>
struct Wrapping<long long> {
  using type = unsigned long long;
};
template <typename X>
constexpr bool is_real = false;
template <>
constexpr bool is_real<float> = true;
template <>
constexpr bool is_real<double> = true;

template <typename X>
__device__ __forceinline__ X negate(X x) {
  if constexpr (is_real<X>) return -x;
  return static_cast<X>(0 - static_cast<typename Wrapping<X>::type>(x));
}
template <typename X>
__device__ __forceinline__ X add(X x, X y) {
  using W = typename Wrapping<X>::type;
  return static_cast<X>(static_cast<W>(x) + static_cast<W>(y));
}
template <typename X>
__device__ __forceinline__ X subtract(X x, X y) {
  using W = typename Wrapping<X>::type;
  return static_cast<X>(static_cast<W>(x) - static_cast<W>(y));
}
template <typename X>
__device__ __forceinline__ X multiply(X x, X y) {
  using W = typename Wrapping<X>::type;
  return static_cast<X>(static_cast<W>(x) * static_cast<W>(y));
}
template <typename X>
__device__ __forceinline__ X divide(X x, X y) {
  if constexpr (is_real<X>) {
    return x / y;
  } else {
    if (y == 0) return 0;
    return y == -1 ? negate(x) : x / y;  // the least integer has no opposite
  }
}
// 1 / x, rounded as IEEE's but without its branches: Newton's step from the device's approximation, of x
// times a power of two where x or the result has no full precision.
__device__ __forceinline__ double reciprocal(double x) { return 1 / x; }
__device__ __forceinline__ float reciprocal(float x) {
#ifdef TUNESMITH_HOST
  return 1 / x;
#else
  const float size = ::fabsf(x);
  const float scale = size < 0x1p-126f ? 0x1p24f : size >= 0x1p126f ? 0x1p-24f : 1.0f;
  const float scaled = x * scale;
  float result;  // an error that is not small is that of 0, infinity and NaN
  asm("{\n\t.reg .pred small;\n\t.reg .f32 rough, error, better;\n\t"
      "rcp.approx.ftz.f32 rough, %1;\n\t"
      "fma.rn.f32 error, %2, rough, 0f3F800000;\n\t"
      "fma.rn.f32 better, rough, error, rough;\n\t"
      "abs.f32 error, error;\n\t"
      "setp.lt.f32 small, error, 0f3F800000;\n\t"
      "selp.f32 %0, better, rough, small;\n\t}"
      : "=f"(result)
      : "f"(scaled), "f"(-scaled));
  return result * scale;
#endif
}
template <typename X>
__device__ __forceinline__ X remainder_of(X x, X y) {
  if constexpr (is_real<X>) {
    return ::fmod(x, y);
  } else {
    return y == 0 || y == -1 ? 0 : x % y;
  }
}

template <typename X>
__device__ __forceinline__ X less(X x, X y) {
  return x < y ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X less_equal(X x, X y) {
  return x <= y ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X greater(X x, X y) {
  return x > y ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X greater_equal(X x, X y) {
  return x >= y ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X equal(X x, X y) {
  return x == y ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X not_equal(X x, X y) {
  return x != y ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X logical_not(X x) {
  return x == 0 ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X logical_and(X x, X y) {
  return x != 0 && y != 0 ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X logical_or(X x, X y) {
  return x != 0 || y != 0 ? X(1) : X(0);
}
template <typename X>
__device__ __forceinline__ X choose(X condition, X yes, X no) {
  return condition != 0 ? yes : no;
}

template <typename X>
__device__ __forceinline__ X abs(X x) {
  if constexpr (is_real<X>) return ::fabs(x);
  return x < 0 ? negate(x) : x;
}
// NaN where either operand is, as numpy.minimum and numpy.maximum.
template <typename X>
__device__ __forceinline__ X min(X x, X y) {
  return x != x || x < y ? x : y;
}
template <typename X>
__device__ __forceinline__ X max(X x, X y) {
  return x != x || x > y ? x : y;
}

#define TUNESMITH_CALL_1(name)             \
  template <typename X>                    \
  __device__ __forceinline__ X name(X x) { \
    return ::name(x);                      \
  }
#define TUNESMITH_CALL_2(name)                  \
  template <typename X>                         \
  __device__ __forceinline__ X name(X x, X y) { \
    return ::name(x, y);                        \
  }
TUNESMITH_CALL_1(sqrt)
TUNESMITH_CALL_1(rsqrt)
TUNESMITH_CALL_1(cbrt)
TUNESMITH_CALL_1(exp)
TUNESMITH_CALL_1(exp2)
TUNESMITH_CALL_1(expm1)
TUNESMITH_CALL_1(log)
TUNESMITH_CALL_1(log2)
TUNESMITH_CALL_1(log10)
TUNESMITH_CALL_1(log1p)
TUNESMITH_CALL_1(sin)
TUNESMITH_CALL_1(cos)
TUNESMITH_CALL_1(tan)
TUNESMITH_CALL_1(asin)
TUNESMITH_CALL_1(acos)
TUNESMITH_CALL_1(atan)
TUNESMITH_CALL_1(sinh)
TUNESMITH_CALL_1(cosh)
TUNESMITH_CALL_1(tanh)
TUNESMITH_CALL_1(erf)
TUNESMITH_CALL_1(erfc)
TUNESMITH_CALL_1(floor)
TUNESMITH_CALL_1(ceil)
TUNESMITH_CALL_1(trunc)
TUNESMITH_CALL_1(rint)
TUNESMITH_CALL_2(pow)
TUNESMITH_CALL_2(atan2)
#undef TUNESMITH_CALL_1
#undef TUNESMITH_CALL_2

// A number's bits, as integers that are ordered as the numbers from 0 on, NaN above all.
template <typename X>
struct Layout;
template <>
struct Layout<float> {
  using Bits = int;
  static constexpr Bits exponent = 0x7f800000, lowest = 0x00800000;  // all of the exponent's bits; the last
  static __device__ __forceinline__ Bits bits(float x) { return __float_as_int(x); }
  static __device__ __forceinline__ float number(Bits x) { return __int_as_float(x); }
};
template <>
struct Layout<double> {
  using Bits = long long;
  static constexpr Bits exponent = 0x7ff0000000000000, lowest = 0x0010000000000000;
  static __device__ __forceinline__ Bits bits(double x) { return __double_as_longlong(x); }
  static __device__ __forceinline__ double number(Bits x) { return __longlong_as_double(x); }
};

// The square root of 2^-100 to 2^100, or of 0 NaN, rounded as IEEE's, which has branches for the others.
__device__ __forceinline__ float sqrt_of_medium(float x) {
#ifdef TUNESMITH_HOST
  return ::sqrtf(x);
#else
  float inverse;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  const float root = x * inverse;
  return ::fmaf(::fmaf(-root, root, x), 0.5f * inverse, root);
#endif
}
__device__ __forceinline__ double sqrt_of_medium(double x) { return ::sqrt(x); }

// Both sides are multiplied by a power of two, so that no square overflows or is lost and nothing branches.
// 0, infinity and NaN are their own result.
template <typename X>
__device__ __forceinline__ X hypot(X x, X y) {
  using L = Layout<X>;
  using Bits = typename L::Bits;
  const Bits longer = ::max(L::bits(::fabs(x)), L::bits(::fabs(y)));
  const Bits power = ::max(longer & L::exponent, 2 * L::lowest);
  const X scale = L::number(L::exponent - power);
  x *= scale;
  y *= scale;
  const X root = sqrt_of_medium(x * x + y * y);
  return longer > 0 && longer < L::exponent ? root * L::number(power - L::lowest) : L::number(longer);
}

// Out of line: the rare path is not repeated in the code of every unrolled element.
__device__ __noinline__ float2 sin_cos_of_large(float x) { return make_float2(::sinf(x), ::cosf(x)); }

// Sine and cosine share the reduction to [-pi/4, pi/4]: the angle less its nearest multiple of pi/2, which is
// subtracted in three parts (Cody and Waite), then minimax polynomials. Below 71476 the error is at most 1.49
// units in the last place (every float was tried); larger angles need more digits of pi.
__device__ __forceinline__ void sin_cos(float x, float& sine, float& cosine) {
  if (::fabsf(x) > 71476.0f) {
    const float2 both = sin_cos_of_large(x);
    sine = both.x;
    cosine = both.y;
    return;
  }
  const float shifted = ::fmaf(x, 0x1.45f306p-1f, 0x1.8p+23f);  // 2/pi; the integer is in the low bits
  const unsigned quadrant = __float_as_uint(shifted);
  const float multiple = shifted - 0x1.8p+23f;
  float r = ::fmaf(multiple, -0x1.921fb0p+00f, x);
  r = ::fmaf(multiple, -0x1.5110b4p-22f, r);
  r = ::fmaf(multiple, -0x1.846988p-48f, r);
  const float square = r * r;
  float c = ::fmaf(0x1.9a8000p-16f, square, -0x1.6c0efap-10f);
  c = ::fmaf(c, square, 0x1.555550p-5f);
  c = ::fmaf(c, square, -0.5f);
  c = ::fmaf(c, square, 1.0f);
  float s = ::fmaf(0x1.80a000p-19f, square, -0x1.a0690cp-13f);
  s = ::fmaf(s, square, 0x1.111182p-7f);
  s = ::fmaf(s, square, -0x1.555556p-3f);
  s = ::fmaf(s, r * square, r);
  const bool odd = quadrant & 1;
  const float first = odd ? c : s;
  const float second = odd ? s : c;
  sine = __int_as_float(__float_as_int(first) ^ static_cast<int>((quadrant & 2u) << 30));
  cosine = __int_as_float(__float_as_int(second) ^ static_cast<int>(((quadrant + 1) & 2u) << 30));
}
__device__ __forceinline__ void sin_cos(double x, double& sine, double& cosine) {
#ifdef TUNESMITH_HOST
  sine = ::sin(x);
  cosine = ::cos(x);
#else
  ::sincos(x, &sine, &cosine);
#endif
}

}  // namespace elementwise

// ---- what this variant is
using T = float;  // dtype=f32
constexpr int BLOCK = 256;
constexpr int BLOCKS = 4096;
using Compute = float;
__device__ __noinline__ Compute apply(int operation, Compute x, Compute y, Compute z) {
  switch (operation) {
    case 2:
      return elementwise::negate(x);
    case 3:
      return elementwise::add(x, y);
    case 4:
      return elementwise::subtract(x, y);
    case 5:
      return elementwise::multiply(x, y);
    case 6:
      return elementwise::divide(x, y);
    case 7:
      return elementwise::remainder_of(x, y);
    case 8:
      return elementwise::less(x, y);
    case 9:
      return elementwise::less_equal(x, y);
    case 10:
      return elementwise::greater(x, y);
    case 11:
      return elementwise::greater_equal(x, y);
    case 12:
      return elementwise::equal(x, y);
    case 13:
      return elementwise::not_equal(x, y);
    case 14:
      return elementwise::logical_not(x);
    case 15:
      return elementwise::logical_and(x, y);
    case 16:
      return elementwise::logical_or(x, y);
    case 17:
      return elementwise::choose(x, y, z);
    case 18:
      return elementwise::abs(x);
    case 19:
      return elementwise::min(x, y);
    case 20:
      return elementwise::max(x, y);
    case 21:
      return elementwise::sqrt(x);
    case 22:
      return elementwise::rsqrt(x);
    case 23:
      return elementwise::cbrt(x);
    case 24:
      return elementwise::exp(x);
    case 25:
      return elementwise::exp2(x);
    case 26:
      return elementwise::expm1(x);
    case 27:
      return elementwise::log(x);
    case 28:
      return elementwise::log2(x);
    case 29:
      return elementwise::log10(x);
    case 30:
      return elementwise::log1p(x);
    case 31:
      return elementwise::sin(x);
    case 32:
      return elementwise::cos(x);
    case 33:
      return elementwise::tan(x);
    case 34:
      return elementwise::asin(x);
    case 35:
      return elementwise::acos(x);
    case 36:
      return elementwise::atan(x);
    case 37:
      return elementwise::sinh(x);
    case 38:
      return elementwise::cosh(x);
    case 39:
      return elementwise::tanh(x);
    case 40:
      return elementwise::erf(x);
    case 41:
      return elementwise::erfc(x);
    case 42:
      return elementwise::floor(x);
    case 43:
      return elementwise::ceil(x);
    case 44:
      return elementwise::trunc(x);
    case 45:
      return elementwise::rint(x);
    case 46:
      return elementwise::pow(x, y);
    case 47:
      return elementwise::atan2(x, y);
    case 48:
      return elementwise::hypot(x, y);
    default:
      return 0;
  }
}
#define ENTRY(name) name##_11864d2b

// ---- templates/tensor/base.cu
// SPDX-License-Identifier: Apache-2.0
// tensor, the plain kernels: the loops as they are written, a thread for each element of the output, which
// walk it in strides of the grid. Extents, strides and the function are runtime values, so they serve every
// problem of their dtype. Dimension 0 is the innermost: the reduced ones come first, then the free ones.


#define TWELVE(name)                                                                                 \
  long long name##0, long long name##1, long long name##2, long long name##3, long long name##4,     \
      long long name##5, long long name##6, long long name##7, long long name##8, long long name##9, \
      long long name##10, long long name##11
#define TWELVE_VALUES(name)                                                                             \
  {                                                                                                     \
    name##0, name##1, name##2, name##3, name##4, name##5, name##6, name##7, name##8, name##9, name##10, \
        name##11                                                                                        \
  }

constexpr int most_dimensions = 12;
constexpr int most_accesses = 6;
enum class Reduction { sum, max, min };

struct Nest {
  long long extents[most_dimensions];
  long long output[most_dimensions];
  long long inputs[most_accesses][most_dimensions];
  long long starts[most_accesses];
  int reduced, rank;
};

// How far the accesses are from their arrays' first elements, and where the dimensions stand.
struct Place {
  long long offsets[most_accesses];
  long long at[most_dimensions];
};

__device__ __forceinline__ long long place_of(long long element, const Nest& nest, Place& place) {
  long long to = 0;
#pragma unroll
  for (int k = 0; k < most_accesses; ++k) place.offsets[k] = nest.starts[k];
#pragma unroll
  for (int d = 0; d < most_dimensions; ++d) {
    place.at[d] = 0;
    if (d < nest.reduced || d >= nest.rank) continue;
    const long long outer = element / nest.extents[d];
    const long long at = element - outer * nest.extents[d];
    place.at[d] = at;
    element = outer;
    to += at * nest.output[d];
#pragma unroll
    for (int k = 0; k < most_accesses; ++k) place.offsets[k] += at * nest.inputs[k][d];
  }
  return to;
}

__device__ __forceinline__ void step(const Nest& nest, Place& place) {
#pragma unroll
  for (int d = 0; d < most_dimensions; ++d) {
    if (d >= nest.reduced) break;
#pragma unroll
    for (int k = 0; k < most_accesses; ++k) place.offsets[k] += nest.inputs[k][d];
    if (++place.at[d] < nest.extents[d]) break;
#pragma unroll
    for (int k = 0; k < most_accesses; ++k) place.offsets[k] -= nest.inputs[k][d] * nest.extents[d];
    place.at[d] = 0;
  }
}

// NaN is larger and smaller than all.
__device__ __forceinline__ Compute reduced(Compute so_far, Compute term, Reduction reduction) {
  if (reduction == Reduction::sum) return elementwise::add(so_far, term);
  return reduction == Reduction::max ? elementwise::max(so_far, term) : elementwise::min(so_far, term);
}

// Terms are reduced in runs of 256, and these in runs again: a term of a sum is rounded at most
// 512 + terms / 65536 times. Added one after the other it would be once for each term behind it.
struct Runs {
  Compute of_terms = 0, of_runs = 0, all = 0;

  // The n-th of all, from 0 on.
  __device__ __forceinline__ void add(Compute term, long long n, Reduction how) {
    of_terms = n % 256 == 0 ? term : reduced(of_terms, term, how);
    if (n % 256 < 255) return;
    of_runs = n / 256 % 256 == 0 ? of_terms : reduced(of_runs, of_terms, how);
    if (n / 256 % 256 < 255) return;
    all = n / 65536 == 0 ? of_runs : reduced(all, of_runs, how);
  }
  __device__ __forceinline__ Compute of(long long terms, Reduction how) const {
    Compute result = all;
    if (terms / 256 % 256 > 0) result = terms / 65536 == 0 ? of_runs : reduced(result, of_runs, how);
    if (terms % 256 > 0) result = terms / 256 == 0 ? of_terms : reduced(result, of_terms, how);
    return result;
  }
};

#define PARAMETERS                                                                                          \
  const T *x0, const T *x1, const T *x2, const T *x3, const T *x4, const T *x5, T *out, long long elements, \
      long long terms, int reduced_rank, int rank, int reduction, int out_type, long long out_start,        \
      long long start0, long long start1, long long start2, long long start3, long long start4,             \
      long long start5, TWELVE(extent), TWELVE(o), TWELVE(a), TWELVE(b), TWELVE(c), TWELVE(d), TWELVE(e),   \
      TWELVE(f)
#define LOCALS                                                                                \
  const T* const inputs[most_accesses] = {x0, x1, x2, x3, x4, x5};                            \
  const Nest nest = {TWELVE_VALUES(extent),                                                   \
                     TWELVE_VALUES(o),                                                        \
                     {TWELVE_VALUES(a), TWELVE_VALUES(b), TWELVE_VALUES(c), TWELVE_VALUES(d), \
                      TWELVE_VALUES(e), TWELVE_VALUES(f)},                                    \
                     {start0, start1, start2, start3, start4, start5},                        \
                     reduced_rank,                                                            \
                     rank};                                                                   \
  const Reduction how = static_cast<Reduction>(reduction);                                    \
  const long long stride = static_cast<long long>(gridDim.x) * BLOCK;                         \
  const long long first = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x

template <typename Out>
__device__ __forceinline__ void store_as(void* out, long long at, Compute value) {
  static_cast<Out*>(out)[at] = from_float<Out>(static_cast<compute_type<Out>>(value));
}
// out_type: 0 is the inputs', the others are numbered as out_dtypes in op.h.
__device__ __forceinline__ void store(T* out, long long at, Compute value, int out_type) {
  switch (out_type) {
    case 1:
      return store_as<float>(out, at, value);
    case 2:
      return store_as<double>(out, at, value);
    case 3:
      return store_as<int>(out, at, value);
    case 4:
      return store_as<long long>(out, at, value);
    case 5:
      return store_as<Float16>(out, at, value);
    case 6:
      return store_as<BFloat16>(out, at, value);
    default:
      return store_as<T>(out, at, value);
  }
}

// A product of the first `factors` accesses, each once.
extern "C" __global__ void __launch_bounds__(BLOCK) ENTRY(tensor_base_product)(PARAMETERS, int factors) {
  LOCALS;
  for (long long element = first; element < elements; element += stride) {
    Place place;
    const long long to = place_of(element, nest, place);
    if (factors == 1 && reduced_rank == 0 && out_type == 0) {  // moved as it is, whatever its bits mean
      out[out_start + to] = inputs[0][place.offsets[0]];
      continue;
    }
    Runs runs;
    for (long long term = 0; term < terms; ++term) {
      Compute product = to_float(inputs[0][place.offsets[0]]);
#pragma unroll
      for (int k = 1; k < most_accesses; ++k) {
        if (k >= factors) break;
        product = elementwise::multiply(product, static_cast<Compute>(to_float(inputs[k][place.offsets[k]])));
      }
      runs.add(product, term, how);
      step(nest, place);
    }
    store(out, out_start + to, runs.of(terms, how), out_type);
  }
}

// The function as a program, and behind it its finish: each word an operation, in its lowest byte (the
// preamble's apply() has them; 0 is an access, 1 a number), and in the next three bytes the places of its
// operands among the words' results; of an access its number, most_accesses for the reduced value. A number's
// bits are the word behind it.
#define PROGRAM(name)                                                                            \
  long long name##0, long long name##1, long long name##2, long long name##3, long long name##4, \
      long long name##5, long long name##6, long long name##7, long long name##8, long long name##9
#define PROGRAM_VALUES(name) \
  name##0, name##1, name##2, name##3, name##4, name##5, name##6, name##7, name##8, name##9
constexpr int most_words = 40;

// A dimension of an access that is out of bounds where its place is not from 0 to extent - 1. The access is
// in the extent's upper 16 bits; of the strides a word has two.
struct Bound {
  long long start, access_extent;
  long long strides[most_dimensions / 2];
};
constexpr int most_bounds = 4;
#define BOUND(name)                                                                                       \
  long long name##start, long long name##extent, long long name##0, long long name##1, long long name##2, \
      long long name##3, long long name##4, long long name##5
#define BOUND_VALUES(name)                                                              \
  {                                                                                     \
    name##start, name##extent, { name##0, name##1, name##2, name##3, name##4, name##5 } \
  }

__device__ __forceinline__ bool is_inside(int access, const Place& place, const Bound* bounds, int count) {
  for (int n = 0; n < count; ++n) {
    const Bound& bound = bounds[n];
    if (bound.access_extent >> 48 != access) continue;
    long long at = bound.start;
#pragma unroll
    for (int d = 0; d < most_dimensions; d += 2) {
      at += place.at[d] * static_cast<int>(bound.strides[d / 2]);
      at += place.at[d + 1] * static_cast<int>(bound.strides[d / 2] >> 32);
    }
    if (at < 0 || at >= (bound.access_extent & ((1ll << 48) - 1))) return false;
  }
  return true;
}

// The elements of the accesses that have a bit.
__device__ __forceinline__ void read_some(Compute (&read)[most_accesses + 1], int accesses,
                                          const T* const (&inputs)[most_accesses], const Place& place,
                                          const Bound* bounds, int count) {
#pragma unroll
  for (int k = 0; k < most_accesses; ++k) {
    if ((accesses >> k & 1) == 0) continue;
    read[k] = 0;
    if (is_inside(k, place, bounds, count)) read[k] = to_float(inputs[k][place.offsets[k]]);
  }
}

__device__ __forceinline__ Compute number_of(long long bits) {
  if constexpr (elementwise::is_real<Compute>) {
    return static_cast<Compute>(__longlong_as_double(bits));
  } else {
    return static_cast<Compute>(bits);
  }
}

// The value of the words from `from` to `to`.
__device__ __forceinline__ Compute value_of(const long long (&program)[most_words], int from, int to,
                                            const Compute (&read)[most_accesses + 1]) {
  Compute values[most_words];
  Compute value = 0;
  for (int w = from; w < to; ++w) {
    const long long word = program[w];
    const int operation = static_cast<int>(word & 255);
    const int i = static_cast<int>(word >> 8 & 255), j = static_cast<int>(word >> 16 & 255),
              l = static_cast<int>(word >> 24 & 255);
    if (operation == 0) {
      value = read[i];
    } else if (operation == 1) {
      value = number_of(program[++w]);
    } else {
      value = apply(operation, values[i], values[j], values[l]);
    }
    values[w] = value;
  }
  return value;
}

// reads: the bits of the terms' accesses, and eight bits higher of the finish's.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(tensor_base)(PARAMETERS, int reads, int term_words, int words, int bound_count, PROGRAM(p),
                       PROGRAM(q), PROGRAM(r), PROGRAM(s), BOUND(bound0_), BOUND(bound1_), BOUND(bound2_),
                       BOUND(bound3_)) {
  LOCALS;
  const long long program[most_words] = {PROGRAM_VALUES(p), PROGRAM_VALUES(q), PROGRAM_VALUES(r),
                                         PROGRAM_VALUES(s)};
  const Bound bounds[most_bounds] = {BOUND_VALUES(bound0_), BOUND_VALUES(bound1_), BOUND_VALUES(bound2_),
                                     BOUND_VALUES(bound3_)};
  for (long long element = first; element < elements; element += stride) {
    Place place;
    const long long to = place_of(element, nest, place);
    Compute read[most_accesses + 1];
    Runs runs;
    for (long long term = 0; term < terms; ++term) {
      read_some(read, reads, inputs, place, bounds, bound_count);
      runs.add(value_of(program, 0, term_words, read), term, how);
      step(nest, place);
    }
    Compute result = runs.of(terms, how);
    if (words > term_words) {  // at the first term's place, which reduced dimensions do not move
      read_some(read, reads >> 8, inputs, place, bounds, bound_count);
      read[most_accesses] = result;
      result = value_of(program, term_words, words, read);
    }
    store(out, out_start + to, result, out_type);
  }
}
