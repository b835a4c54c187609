// SPDX-License-Identifier: Apache-2.0
// Kernels with which the CUDA device compares and checks memory on the GPU, so that a verdict moves 24 bytes
// and no arrays. Compiled by NVRTC when the device is made.

struct Result {
  unsigned long long wrong;
  unsigned long long first_wrong;  // the smallest index, or ~0
  unsigned long long max_ratio;    // the bits of a double >= 0, which order as the numbers do
};

__device__ long long thread_index() { return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; }

__device__ long long thread_count() { return static_cast<long long>(gridDim.x) * blockDim.x; }

// Adds the results of the threads of a warp; every thread of the warp must call it.
__device__ void add(Result* result, unsigned long long wrong, unsigned long long first_wrong,
                    double max_ratio) {
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    wrong += __shfl_down_sync(0xffffffffu, wrong, lanes);
    first_wrong = min(first_wrong, __shfl_down_sync(0xffffffffu, first_wrong, lanes));
    max_ratio = fmax(max_ratio, __shfl_down_sync(0xffffffffu, max_ratio, lanes));
  }
  if (threadIdx.x % 32 != 0) return;
  if (wrong != 0) {
    atomicAdd(&result->wrong, wrong);
    atomicMin(&result->first_wrong, first_wrong);
  }
  if (max_ratio > 0)
    atomicMax(&result->max_ratio, static_cast<unsigned long long>(__double_as_longlong(max_ratio)));
}

// The order is that of DType.
enum class DType { f32, f64, f16, bf16, u8, i32, i64, u16, i16, i8, u32, u64, boolean, b8, b16, b32, b64 };

__device__ double element(const void* array, int dtype, long long i) {
  switch (static_cast<DType>(dtype)) {
    case DType::f32:
      return static_cast<const float*>(array)[i];
    case DType::f64:
      return static_cast<const double*>(array)[i];
    case DType::f16: {
      float value;
      asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<const unsigned short*>(array)[i]));
      return value;
    }
    case DType::bf16:
      return __uint_as_float(static_cast<unsigned>(static_cast<const unsigned short*>(array)[i]) << 16);
    case DType::u8:
      return static_cast<const unsigned char*>(array)[i];
    case DType::i32:
      return static_cast<const int*>(array)[i];
    case DType::i64:
      return static_cast<double>(static_cast<const long long*>(array)[i]);
    case DType::u16:
      return static_cast<const unsigned short*>(array)[i];
    case DType::i16:
      return static_cast<const short*>(array)[i];
    case DType::i8:
      return static_cast<const signed char*>(array)[i];
    case DType::u32:
      return static_cast<const unsigned*>(array)[i];
    case DType::u64:
      return static_cast<double>(static_cast<const unsigned long long*>(array)[i]);
    case DType::boolean:
      return static_cast<const unsigned char*>(array)[i];
    default:
      break;
  }
  return 0;
}

// |error| / permitted, so that above 1 is wrong; infinity where no error is permitted.
__device__ double error_ratio(double got, double expected, double permitted) {
  const double infinity = __longlong_as_double(0x7ff0000000000000ll);
  if (permitted == infinity) return 0;  // not checked
  if (isnan(expected)) return isnan(got) ? 0 : infinity;
  if (got == expected) return 0;
  if (isinf(expected) || isnan(got) || isinf(got) || !(permitted > 0)) return infinity;
  return fabs(got - expected) / permitted;
}

// error_ratio() for integers of 64 bits, signed or not: all digits count.
__device__ double error_ratio_of_integers(long long got, long long expected, double permitted) {
  if (got == expected || isinf(permitted)) return 0;
  const long long difference = static_cast<long long>(static_cast<unsigned long long>(got) -
                                                      static_cast<unsigned long long>(expected));
  return fabs(static_cast<double>(difference)) / permitted;  // infinite where nothing is permitted
}

// The permitted error of element `i`, as pack_permitted() (check_data.h) writes it.
__device__ double permitted_error(const void* permitted, int dtype, long long i) {
  return static_cast<DType>(dtype) == DType::f64 ? static_cast<const double*>(permitted)[i]
                                                 : static_cast<const float*>(permitted)[i];
}

// The numbers of the output lie in groups of `count`, `stride` bytes apart.
extern "C" __global__ void compare(const char* output, int dtype, long long stride, long long count, int size,
                                   const double* expected, const void* permitted, long long elements,
                                   Result* result) {
  unsigned long long wrong = 0;
  unsigned long long first_wrong = ~0ull;
  double max_ratio = 0;
  for (long long i = thread_index(); i < elements; i += thread_count()) {
    const double allowed = permitted_error(permitted, dtype, i);
    const char* const at = output + (count == 1 ? i * stride : i / count * stride + i % count * size);
    const double ratio = static_cast<DType>(dtype) == DType::b64
                             ? error_ratio_of_integers(*reinterpret_cast<const long long*>(at),
                                                       __double_as_longlong(expected[i]), allowed)
                             : error_ratio(element(at, dtype, 0), expected[i], allowed);
    max_ratio = fmax(max_ratio, ratio);
    if (ratio > 1) {
      ++wrong;
      first_wrong = min(first_wrong, static_cast<unsigned long long>(i));
    }
  }
  add(result, wrong, first_wrong, max_ratio);
}

// Counts the 16-byte words that differ, and single bytes if the pointers or the end are not aligned.
extern "C" __global__ void differ(const unsigned char* a, const unsigned char* b, long long bytes,
                                  Result* result) {
  const bool aligned =
      (reinterpret_cast<unsigned long long>(a) | reinterpret_cast<unsigned long long>(b)) % 16 == 0;
  const long long vectors = aligned ? bytes / 16 : 0;
  unsigned long long wrong = 0;
  for (long long i = thread_index(); i < vectors; i += thread_count()) {
    const uint4 x = reinterpret_cast<const uint4*>(a)[i];
    const uint4 y = reinterpret_cast<const uint4*>(b)[i];
    wrong += x.x != y.x || x.y != y.y || x.z != y.z || x.w != y.w;
  }
  for (long long i = 16 * vectors + thread_index(); i < bytes; i += thread_count()) wrong += a[i] != b[i];
  add(result, wrong, 0, 0);
}

// Counts the bytes of two memory ranges that are not `byte`.
extern "C" __global__ void changed(const unsigned char* before, const unsigned char* after, long long bytes,
                                   int byte, Result* result) {
  unsigned long long wrong = 0;
  for (long long i = thread_index(); i < bytes; i += thread_count())
    wrong += (before[i] != byte) + (after[i] != byte);
  add(result, wrong, 0, 0);
}

// Work that raises the clocks: dependent multiply-adds on every multiprocessor.
extern "C" __global__ void spin(Result* result, int rounds) {
  float a = threadIdx.x;
  for (int i = 0; i < rounds; ++i) a = a * 0.999f + 1.0f;
  if (a < 0) result->wrong = 1;  // never true; keeps the compiler from removing the loop
}

// Runs between the launches of a variant that is timed, in place of an ordinary kernel of an application.
extern "C" __global__ void spacer() {}

// Reads memory, so that the second-level cache holds nothing else; the lines that it leaves there are clean.
extern "C" __global__ void evict(const uint4* memory, long long bytes) {
  unsigned bits = 0;
  for (long long i = thread_index(); i < bytes / 16; i += thread_count()) {
    const uint4 word = memory[i];
    bits |= word.x | word.y | word.z | word.w;
  }
  if (bits != 0) asm volatile("trap;");  // never: all is zero; keeps the loads
}

struct LateWrites {
  struct {
    unsigned char* to;
    const unsigned char* from;  // null: `byte`
    long long bytes;
    int byte;
  } write[16];
  int count;
};

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

// Lets the next kernel start, and writes only `wait` nanoseconds later.
extern "C" __global__ void write_late(LateWrites writes, unsigned long long wait) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  const unsigned long long start = nanoseconds();
  while (nanoseconds() - start < wait) {
  }
  for (int w = 0; w < writes.count; ++w) {
    const auto& one = writes.write[w];
    const bool aligned =
        (reinterpret_cast<unsigned long long>(one.to) | reinterpret_cast<unsigned long long>(one.from)) %
            16 ==
        0;
    const unsigned word = one.byte * 0x01010101u;
    const long long vectors = aligned ? one.bytes / 16 : 0;
    for (long long i = thread_index(); i < vectors; i += thread_count())
      reinterpret_cast<uint4*>(one.to)[i] = one.from != nullptr ? reinterpret_cast<const uint4*>(one.from)[i]
                                                                : make_uint4(word, word, word, word);
    for (long long i = 16 * vectors + thread_index(); i < one.bytes; i += thread_count())
      one.to[i] = one.from != nullptr ? one.from[i] : static_cast<unsigned char>(one.byte);
  }
}
