// conv2d/base for host, rendered by Tunesmith from templates/conv2d/base.cu: change that and render again.
// compiled in: dtype=f32
// config: BLOCK_X=32 BLOCK_Y=8

// ---- templates/common/host_shim.h
// The CUDA execution model on a CPU, for one rendered text: threads are fibers, a barrier is a switch to the
// next one, shared memory is a section that is poisoned before every block. A block's threads run in order
// (or in reverse), each to its first barrier, so that a missing barrier reads poison or old data. Blocks run
// one after the other and one launch at a time: the state below is the module's.
//
// As on a GPU, a thread that has returned counts as arrived at every later barrier. Barriers at different
// places of the text meet each other. Warp collectives have no twin here.

#define TUNESMITH_HOST 1

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if (!defined(__x86_64__) && !defined(__aarch64__)) || defined(__SANITIZE_ADDRESS__)
#define TUNESMITH_UCONTEXT 1
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#define __global__ __attribute__((visibility("hidden")))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __grid_constant__
#define __constant__ __attribute__((visibility("default"), used))
#define __shared__ static __attribute__((section("tunesmith_shared")))
#define DYNAMIC_SHARED(type, name) type* const name = static_cast<type*>(tunesmith_shim::dynamic_shared)

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
#define TUNESMITH_VECTORS(type, name, alignment)                              \
  struct alignas(2 * sizeof(type)) name##2 {                                  \
    type x, y;                                                                \
  };                                                                          \
  struct name##3 {                                                            \
    type x, y, z;                                                             \
  };                                                                          \
  struct alignas(alignment) name##4 {                                         \
    type x, y, z, w;                                                          \
  };                                                                          \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
TUNESMITH_VECTORS(float, float, 16)
TUNESMITH_VECTORS(int, int, 16)
TUNESMITH_VECTORS(double, double, 16)
#undef TUNESMITH_VECTORS

static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;

extern "C" {
extern char __start_tunesmith_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_tunesmith_shared[] __attribute__((weak, visibility("hidden")));
}

namespace tunesmith_shim {

constexpr int max_threads = 1024;
constexpr size_t page = 4096;
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t stack_bytes = 256 * 1024;  // instrumented frames are larger
#else
constexpr size_t stack_bytes = 64 * 1024;
#endif
constexpr size_t shared_guard_bytes = 256;
constexpr unsigned char poison = 0xff;  // a NaN in every floating-point type, -1 in every signed one

constexpr int ok = 0, out_of_memory = 1, shared_overrun = 2;

struct Fiber {
#if defined(TUNESMITH_UCONTEXT)
  ucontext_t context;
#else
  void* stack_pointer;
#endif
  char* stack;  // lowest address, above one page that faults
  int thread;
  bool finished;
};

typedef void (*Body)(void* const* arguments);

static void* dynamic_shared = nullptr;
static Fiber fibers[max_threads];
static Fiber* running = nullptr;
static char* stacks = nullptr;
static Body body = nullptr;
static void* const* body_arguments = nullptr;
static unsigned generation = 0;   // of barriers in this block
static int arrived = 0;           // threads at the barrier that is filling up
static int votes = 0;             // of them, those with a true predicate
static int released_arrived = 0;  // the same for the barrier that has just opened
static int released_votes = 0;

#if defined(TUNESMITH_UCONTEXT)
static ucontext_t scheduler;
#else
static void* scheduler = nullptr;
#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
.type tunesmith_switch, @function
tunesmith_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tunesmith_switch, .-tunesmith_switch
)");
constexpr size_t saved_bytes = 6 * 8;
#else
asm(R"(
.text
.p2align 4
.type tunesmith_switch, %function
tunesmith_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size tunesmith_switch, .-tunesmith_switch
)");
#endif
// Saves the callee-saved registers and the stack pointer to *from, continues where `to` was saved.
extern "C" __attribute__((visibility("hidden"))) void tunesmith_switch(void** from, void* to);
#endif

#if defined(__SANITIZE_ADDRESS__)
static const void* scheduler_stack = nullptr;
static size_t scheduler_stack_bytes = 0;
static void* scheduler_fake_stack = nullptr;
static void* fiber_fake_stacks[max_threads];
#endif

static void to_scheduler(bool last) {
#if defined(__SANITIZE_ADDRESS__)
  Fiber* self = running;
  __sanitizer_start_switch_fiber(last ? nullptr : &fiber_fake_stacks[self - fibers], scheduler_stack,
                                 scheduler_stack_bytes);
#endif
  (void)last;
#if defined(TUNESMITH_UCONTEXT)
  swapcontext(&running->context, &scheduler);
#else
  tunesmith_switch(&running->stack_pointer, scheduler);
#endif
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fiber_fake_stacks[self - fibers], &scheduler_stack, &scheduler_stack_bytes);
#endif
}

static void fiber_main() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_stack_bytes);
#endif
  body(body_arguments);
  running->finished = true;
  to_scheduler(true);
  abort();  // a finished fiber is never resumed
}

static void resume(Fiber* fiber) {
  running = fiber;
  const unsigned t = static_cast<unsigned>(fiber->thread);
  threadIdx = {t % blockDim.x, t / blockDim.x % blockDim.y, t / (blockDim.x * blockDim.y)};
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&scheduler_fake_stack, fiber->stack, stack_bytes);
#endif
#if defined(TUNESMITH_UCONTEXT)
  swapcontext(&scheduler, &fiber->context);
#else
  tunesmith_switch(&scheduler, fiber->stack_pointer);
#endif
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(scheduler_fake_stack, nullptr, nullptr);
#endif
}

static bool start(Fiber* fiber, int thread) {
  if (fiber->stack == nullptr) {
    char* slot = stacks + static_cast<size_t>(fiber - fibers) * (stack_bytes + page);
    if (mprotect(slot, page, PROT_NONE) != 0) return false;
    fiber->stack = slot + page;
  }
  fiber->thread = thread;
  fiber->finished = false;
#if defined(TUNESMITH_UCONTEXT)
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack;
  fiber->context.uc_stack.ss_size = stack_bytes;
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, fiber_main, 0);
#else
  char* top = fiber->stack + stack_bytes;
#if defined(__x86_64__)
  // As after a call: the address to return to lies at a multiple of 16, plus 8 once it is popped.
  void** frame = reinterpret_cast<void**>(top - 16 - saved_bytes);
  memset(frame, 0, 16 + saved_bytes);
  frame[6] = reinterpret_cast<void*>(fiber_main);
#else
  void** frame = reinterpret_cast<void**>(top - 160);
  memset(frame, 0, 160);
  frame[11] = reinterpret_cast<void*>(fiber_main);  // x30, the link register
#endif
  fiber->stack_pointer = frame;
#endif
  return true;
}

// One block: every thread to its first barrier, then round after round until all have finished.
static bool run_block(int threads, bool reverse) {
  static int waiting[max_threads];  // fibers at the barrier, in the order of their threads
  int count = 0;
  int fiber = 0;
  generation = 0;
  arrived = votes = 0;
  for (int n = 0; n < threads; ++n) {
    if (!start(&fibers[fiber], reverse ? threads - 1 - n : n)) return false;
    resume(&fibers[fiber]);
    if (!fibers[fiber].finished) waiting[count++] = fiber++;  // a finished thread's stack serves the next
  }
  while (count > 0) {
    ++generation;
    released_arrived = arrived;
    released_votes = votes;
    arrived = votes = 0;
    int still = 0;
    for (int n = 0; n < count; ++n) {
      const int f = waiting[n];
      resume(&fibers[f]);
      if (!fibers[f].finished) waiting[still++] = f;
    }
    count = still;
  }
  return true;
}

static int run(Body kernel, void* const* arguments, const long long* grid, const long long* block,
               long long dynamic_bytes, int reverse) {
  if (stacks == nullptr) {
    void* memory = mmap(nullptr, max_threads * (stack_bytes + page), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return out_of_memory;
    stacks = static_cast<char*>(memory);
  }
  const size_t dynamic_size = static_cast<size_t>(dynamic_bytes);
  const size_t dynamic_total = (dynamic_size + shared_guard_bytes + 255) / 256 * 256;
  unsigned char* dynamic = static_cast<unsigned char*>(aligned_alloc(256, dynamic_total));
  if (dynamic == nullptr) return out_of_memory;
  memset(dynamic + dynamic_size, 0xa5, dynamic_total - dynamic_size);
  dynamic_shared = dynamic;
  body = kernel;
  body_arguments = arguments;
  const auto narrow = [](long long value) { return static_cast<unsigned>(value); };
  gridDim = {narrow(grid[0]), narrow(grid[1]), narrow(grid[2])};
  blockDim = {narrow(block[0]), narrow(block[1]), narrow(block[2])};
  const int threads = static_cast<int>(block[0] * block[1] * block[2]);
  int result = ok;
  for (unsigned z = 0; z < gridDim.z; ++z) {
    for (unsigned y = 0; y < gridDim.y; ++y) {
      for (unsigned x = 0; x < gridDim.x; ++x) {
        blockIdx = {x, y, z};
        memset(dynamic, poison, dynamic_size);
        if (__start_tunesmith_shared != nullptr) {
          memset(__start_tunesmith_shared, poison,
                 static_cast<size_t>(__stop_tunesmith_shared - __start_tunesmith_shared));
        }
        if (!run_block(threads, reverse != 0)) result = out_of_memory;
        if (result != ok) break;
      }
    }
  }
  for (size_t n = dynamic_size; n < dynamic_total; ++n) {
    if (dynamic[n] != 0xa5 && result == ok) result = shared_overrun;
  }
  free(dynamic);
  dynamic_shared = nullptr;
  return result;
}

__attribute__((destructor)) static void release_stacks() {
  if (stacks != nullptr) munmap(stacks, max_threads * (stack_bytes + page));
}

// Unpacks the parameters, whose types are the kernel's own.
template <auto Kernel>
struct Entry;
template <typename... P, void (*Kernel)(P...)>
struct Entry<Kernel> {
  template <int... I>
  struct Indices {};
  template <int N, int... I>
  struct Count : Count<N - 1, N - 1, I...> {};
  template <int... I>
  struct Count<0, I...> {
    typedef Indices<I...> type;
  };
  template <typename Q>
  static Q& as(void* at) {
    return *static_cast<Q*>(at);
  }
  template <int... I>
  static void call(void* const* arguments, Indices<I...>) {
    (void)arguments;
    Kernel(as<P>(arguments[I])...);
  }
  static void thread(void* const* arguments) { call(arguments, typename Count<sizeof...(P)>::type()); }
};

__attribute__((noinline)) static void barrier(bool predicate) {
  ++arrived;
  votes += predicate ? 1 : 0;
  to_scheduler(false);
}

}  // namespace tunesmith_shim

#define TUNESMITH_HOST_ENTRY(name)                                                                         \
  extern "C" __attribute__((visibility("default"))) int tunesmith_run_##name(                              \
      void* const* arguments, const long long* grid, const long long* block, long long dynamic_bytes,      \
      int reverse) {                                                                                       \
    return tunesmith_shim::run(tunesmith_shim::Entry<name>::thread, arguments, grid, block, dynamic_bytes, \
                               reverse);                                                                   \
  }                                                                                                        \
  extern "C" __attribute__((visibility("default"))) long long tunesmith_shared_bytes_##name() {            \
    return __start_tunesmith_shared == nullptr ? 0 : __stop_tunesmith_shared - __start_tunesmith_shared;   \
  }

inline void __syncthreads() { tunesmith_shim::barrier(false); }
inline int __syncthreads_count(int predicate) {
  tunesmith_shim::barrier(predicate != 0);
  return tunesmith_shim::released_votes;
}
inline int __syncthreads_or(int predicate) { return __syncthreads_count(predicate) > 0; }
inline int __syncthreads_and(int predicate) {
  tunesmith_shim::barrier(predicate != 0);
  return tunesmith_shim::released_votes == tunesmith_shim::released_arrived;
}
inline void __threadfence() {}
inline void __threadfence_block() {}

#define TUNESMITH_MIN_MAX(type)                                \
  constexpr type min(type a, type b) { return b < a ? b : a; } \
  constexpr type max(type a, type b) { return a < b ? b : a; }
TUNESMITH_MIN_MAX(int)
TUNESMITH_MIN_MAX(unsigned)
TUNESMITH_MIN_MAX(long)
TUNESMITH_MIN_MAX(long long)
TUNESMITH_MIN_MAX(unsigned long long)
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
#undef TUNESMITH_MIN_MAX

template <typename T>
inline T __ldg(const T* from) {
  return *from;
}
template <typename T>
inline void __stcs(T* to, T value) {
  *to = value;
}
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
template <typename To, typename From>
inline To tunesmith_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "a reinterpretation keeps the size");
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}
inline int __float_as_int(float x) { return tunesmith_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return tunesmith_bits<unsigned>(x); }
inline float __int_as_float(int x) { return tunesmith_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return tunesmith_bits<float>(x); }

// One launch runs at a time, in one thread of the system: an ordinary update is atomic here.
template <typename T, typename U>
inline T atomicAdd(T* at, U value) {
  const T old = *at;
  *at = old + static_cast<T>(value);
  return old;
}
template <typename T, typename U>
inline T atomicMax(T* at, U value) {
  const T old = *at;
  if (*at < static_cast<T>(value)) *at = static_cast<T>(value);
  return old;
}
template <typename T, typename U>
inline T atomicMin(T* at, U value) {
  const T old = *at;
  if (static_cast<T>(value) < *at) *at = static_cast<T>(value);
  return old;
}
template <typename T, typename U>
inline T atomicExch(T* at, U value) {
  const T old = *at;
  *at = static_cast<T>(value);
  return old;
}
template <typename T, typename U, typename V>
inline T atomicCAS(T* at, U expected, V value) {
  const T old = *at;
  if (old == static_cast<T>(expected)) *at = static_cast<T>(value);
  return old;
}

// ---- what this variant is
using T = float;  // dtype=f32
constexpr int BLOCK_X = 32;
constexpr int BLOCK_Y = 8;
#define ENTRY(name) name##_145475c1

// ---- templates/conv2d/base.cu
// conv2d, the plain kernel: one thread an output, every sample read from global memory. It knows nothing but
// the element type, so it serves every problem and is what the other templates are compared with.

// Launched with blocks of BLOCK_X x BLOCK_Y over the columns and rows; a grid that is too small in y or z
// (both limited to 65535) is walked in strides.
extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    ENTRY(conv2d_base)(const T* __restrict__ image, const T* __restrict__ mask, T* __restrict__ output,
                       int batch, int height, int width, int mask_height, int mask_width, int convolve) {
  const int x = blockIdx.x * BLOCK_X + threadIdx.x;
  if (x >= width) return;
  // The window's first sample relative to the output. A convolution is a correlation with the mask turned by
  // half a turn, whose centre, where a side is even, lies one further on.
  const int left = convolve ? mask_width - 1 - mask_width / 2 : mask_width / 2;
  const int top = convolve ? mask_height - 1 - mask_height / 2 : mask_height / 2;
  const int first_column = max(0, left - x);
  const int last_column = min(mask_width, width + left - x);
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    for (int y = blockIdx.y * BLOCK_Y + threadIdx.y; y < height; y += gridDim.y * BLOCK_Y) {
      const int first_row = max(0, top - y);
      const int last_row = min(mask_height, height + top - y);
      T sum = 0;
      for (int i = first_row; i < last_row; ++i) {
        const T* row = image + (static_cast<long long>(b) * height + (y - top + i)) * width + (x - left);
        const T* weights = mask + static_cast<long long>(convolve ? mask_height - 1 - i : i) * mask_width;
        for (int j = first_column; j < last_column; ++j) {
          sum += weights[convolve ? mask_width - 1 - j : j] * row[j];
        }
      }
      output[(static_cast<long long>(b) * height + y) * width + x] = sum;
    }
  }
}

// ---- entries for the host
TUNESMITH_HOST_ENTRY(conv2d_base_145475c1)
