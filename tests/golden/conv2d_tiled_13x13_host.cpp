// conv2d/tiled for host, rendered by Tunesmith from templates/conv2d/tiled.cu: change that and render again.
// compiled in: mask_height=13 mask_width=13 mode=convolution dtype=f32
// config: SMEM_LAYOUT=padded MASK_IN=shared COPY=async SMEM_ALLOC=dynamic LOOP_ORDER=image UNROLL=1 VECTOR=2 OUT_X=2 OUT_Y=4 BLOCK_X=8 BLOCK_Y=8 AHEAD=0 STORE=plain START=plain RESIDENT_WARPS=16

// ---- templates/common/host_shim.h
// The CUDA execution model on a CPU, for one rendered text: threads are fibers, a barrier is a switch to the
// next one, shared memory is a section that is poisoned before every block. A block's threads run in order
// (or in reverse), each to its first barrier, so that a missing barrier reads poison or old data. A fiber
// that meets no barrier runs one thread after the other, so kernels without barriers pay for no switches.
// Blocks run one after the other and one launch at a time: the state below is the module's.
//
// As on a GPU, a thread that has returned counts as arrived at every later barrier. Threads that wait at
// different lines end the launch with an error. Warp collectives have no twin here.
//
// No C++ header is included: <math.h> alone would double the time to compile a variant.

#define TUNESMITH_HOST 1

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(TUNESMITH_UCONTEXT)
#define TUNESMITH_UCONTEXT 1
#endif
#if defined(TUNESMITH_UCONTEXT)
#include <ucontext.h>
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
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
// `used`: the compiler must not conclude from what it sees that nobody writes to it.
#define __shared__ static __attribute__((section("tunesmith_shared"), used))
#define DYNAMIC_SHARED(type, name) \
  [[maybe_unused]] type* const name = static_cast<type*>(tunesmith_shim::dynamic_shared)
#define __builtin_assume(condition) \
  ((condition) ? static_cast<void>(0) : tunesmith_shim::fail(tunesmith_shim::broken_assumption))

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
#define TUNESMITH_VECTORS(type, name, alignment)                              \
  struct name##1 {                                                            \
    type x;                                                                   \
  };                                                                          \
  struct alignas(2 * sizeof(type)) name##2 {                                  \
    type x, y;                                                                \
  };                                                                          \
  struct name##3 {                                                            \
    type x, y, z;                                                             \
  };                                                                          \
  struct alignas(alignment) name##4 {                                         \
    type x, y, z, w;                                                          \
  };                                                                          \
  inline name##1 make_##name##1(type x) { return {x}; }                       \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
TUNESMITH_VECTORS(signed char, char, 4)
TUNESMITH_VECTORS(unsigned char, uchar, 4)
TUNESMITH_VECTORS(short, short, 8)
TUNESMITH_VECTORS(unsigned short, ushort, 8)
TUNESMITH_VECTORS(int, int, 16)
TUNESMITH_VECTORS(unsigned, uint, 16)
TUNESMITH_VECTORS(long long, longlong, 16)
TUNESMITH_VECTORS(unsigned long long, ulonglong, 16)
TUNESMITH_VECTORS(float, float, 16)
TUNESMITH_VECTORS(double, double, 16)
#undef TUNESMITH_VECTORS

__attribute__((used)) static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
[[maybe_unused]] constexpr int warpSize = 32;

extern "C" {
extern char __start_tunesmith_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_tunesmith_shared[] __attribute__((weak, visibility("hidden")));
[[noreturn]] void abort();
void* aligned_alloc(size_t alignment, size_t size);
void free(void* memory);
int printf(const char* format, ...);
}

namespace tunesmith_shim {

constexpr int max_threads = 1024;
constexpr size_t page = 4096;
constexpr size_t stack_bytes = 256 * 1024;  // reserved; only what a thread touches becomes memory
constexpr size_t guard_bytes = 4096;        // before and after dynamic shared memory
constexpr unsigned char guard = 0xa5;
constexpr unsigned char poison = 0xff;  // a NaN in every floating-point type, -1 in every signed one

constexpr int ok = 0, out_of_memory = 1, shared_overrun = 2, divergent_barrier = 3, trapped = 4;
[[maybe_unused]] constexpr int broken_assumption = 5;

struct Fiber {
#if defined(TUNESMITH_UCONTEXT)
  ucontext_t context;
#else
  void* stack_pointer;
#endif
  char* stack;   // lowest address, above one page that faults
  uint3 thread;  // threadIdx of the thread that it runs
  int line;      // of the barrier where it waits
  bool finished;
};

typedef void (*Body)(void* const* arguments);

static void* dynamic_shared = nullptr;
static Fiber fibers[max_threads];
static Fiber* running = nullptr;
static char* stacks = nullptr;
static Body body = nullptr;
static void* const* body_arguments = nullptr;
static uint3 next_thread;     // the next to start
static int threads_left = 0;  // to start
static bool reversed = false;
static int failure = ok;
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

// Ends the launch; the other fibers are left where they are.
[[maybe_unused]] __attribute__((noinline)) static void fail(int code) {
  failure = code;
  to_scheduler(false);
}

static void advance(uint3* at) {
  if (reversed) {
    if (at->x-- > 0) return;
    at->x = blockDim.x - 1;
    if (at->y-- > 0) return;
    at->y = blockDim.y - 1;
    --at->z;
  } else {
    if (++at->x < blockDim.x) return;
    at->x = 0;
    if (++at->y < blockDim.y) return;
    at->y = 0;
    ++at->z;
  }
}

// Starts threads until one waits; that one is continued by resume() and is then the last.
static void fiber_main() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_stack_bytes);
#endif
  Fiber* self = running;
  while (threads_left > 0) {
    --threads_left;
    threadIdx = self->thread = next_thread;
    advance(&next_thread);
    body(body_arguments);
  }
  self->finished = true;
  to_scheduler(true);
  abort();  // a finished fiber is never resumed
}

static void resume(Fiber* fiber) {
  running = fiber;
  threadIdx = fiber->thread;
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

static bool start(Fiber* fiber) {
  if (fiber->stack == nullptr) {
    char* slot = stacks + static_cast<size_t>(fiber - fibers) * (stack_bytes + page);
    if (mprotect(slot, page, PROT_NONE) != 0) return false;
    fiber->stack = slot + page;
  }
  fiber->finished = false;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(fiber->stack,
                                stack_bytes);  // it may have been left in the middle of a thread
#endif
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
static int run_block(int threads) {
  static int waiting[max_threads];  // fibers at the barrier, in the order of their threads
  int count = 0;
  failure = ok;
  arrived = votes = 0;
  threads_left = threads;
  next_thread = {0, 0, 0};
  if (reversed) next_thread = {blockDim.x - 1, blockDim.y - 1, blockDim.z - 1};
  while (threads_left > 0) {
    Fiber* fiber = &fibers[count];
    if (!start(fiber)) return out_of_memory;
    resume(fiber);
    if (failure != ok) return failure;
    if (!fiber->finished) {
      waiting[count] = count;
      ++count;
    }
  }
  while (count > 0) {
    for (int n = 1; n < count; ++n) {
      if (fibers[waiting[n]].line != fibers[waiting[0]].line) return divergent_barrier;
    }
    released_arrived = arrived;
    released_votes = votes;
    arrived = votes = 0;
    int still = 0;
    for (int n = 0; n < count; ++n) {
      const int f = waiting[n];
      resume(&fibers[f]);
      if (failure != ok) return failure;
      if (!fibers[f].finished) waiting[still++] = f;
    }
    count = still;
  }
  return ok;
}

static bool intact(const unsigned char* guards) {
  for (size_t n = 0; n < guard_bytes; n += sizeof(unsigned long long)) {
    unsigned long long eight;
    memcpy(&eight, guards + n, sizeof(eight));
    if (eight != guard * 0x0101010101010101ull) return false;
  }
  return true;
}

static int run_grid(unsigned char* dynamic, size_t dynamic_size, int threads) {
  const size_t shared_size = __start_tunesmith_shared == nullptr
                                 ? 0
                                 : static_cast<size_t>(__stop_tunesmith_shared - __start_tunesmith_shared);
  for (unsigned z = 0; z < gridDim.z; ++z) {
    for (unsigned y = 0; y < gridDim.y; ++y) {
      for (unsigned x = 0; x < gridDim.x; ++x) {
        blockIdx = {x, y, z};
        memset(dynamic, poison, dynamic_size);
        if (shared_size > 0) memset(__start_tunesmith_shared, poison, shared_size);
        const int result = run_block(threads);
        if (result != ok) return result;
        if (dynamic_size > 0 && !(intact(dynamic - guard_bytes) && intact(dynamic + dynamic_size)))
          return shared_overrun;
      }
    }
  }
  return intact(dynamic - guard_bytes) && intact(dynamic + dynamic_size) ? ok : shared_overrun;
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
  const size_t total = (dynamic_size + 2 * guard_bytes + 255) / 256 * 256;
  unsigned char* dynamic = static_cast<unsigned char*>(aligned_alloc(256, total));
  if (dynamic == nullptr) return out_of_memory;
  memset(dynamic, guard, total);
  dynamic_shared = dynamic + guard_bytes;
  body = kernel;
  body_arguments = arguments;
  reversed = reverse != 0;
  const auto narrow = [](long long value) { return static_cast<unsigned>(value); };
  gridDim = {narrow(grid[0]), narrow(grid[1]), narrow(grid[2])};
  blockDim = {narrow(block[0]), narrow(block[1]), narrow(block[2])};
  const int threads = static_cast<int>(block[0] * block[1] * block[2]);
  const int result = run_grid(dynamic + guard_bytes, dynamic_size, threads);
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

__attribute__((noinline)) static void barrier(bool predicate, int line) {
  running->line = line;
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

// The line is that of the call, also where an optimizer makes two calls of one.
inline void __syncthreads(int line = __builtin_LINE()) { tunesmith_shim::barrier(false, line); }
inline int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
  tunesmith_shim::barrier(predicate != 0, line);
  return tunesmith_shim::released_votes;
}
inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return __syncthreads_count(predicate, line) > 0 ? 1 : 0;
}
inline int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
  tunesmith_shim::barrier(predicate != 0, line);
  return tunesmith_shim::released_votes == tunesmith_shim::released_arrived ? 1 : 0;
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __trap() { tunesmith_shim::fail(tunesmith_shim::trapped); }

// As in CUDA, of a signed and an unsigned integer the result is unsigned, and of a number and a NaN the
// number.
#define TUNESMITH_MIN_MAX(type, a_type, b_type)                                                          \
  constexpr type min(a_type a, b_type b) { return static_cast<type>(b) < static_cast<type>(a) ? b : a; } \
  constexpr type max(a_type a, b_type b) { return static_cast<type>(a) < static_cast<type>(b) ? b : a; }
#define TUNESMITH_MIN_MAX_BOTH(type)                             \
  TUNESMITH_MIN_MAX(type, type, type)                            \
  TUNESMITH_MIN_MAX(unsigned type, unsigned type, unsigned type) \
  TUNESMITH_MIN_MAX(unsigned type, type, unsigned type)          \
  TUNESMITH_MIN_MAX(unsigned type, unsigned type, type)
TUNESMITH_MIN_MAX_BOTH(int)
TUNESMITH_MIN_MAX_BOTH(long)
TUNESMITH_MIN_MAX_BOTH(long long)
#undef TUNESMITH_MIN_MAX_BOTH
#undef TUNESMITH_MIN_MAX
#define TUNESMITH_MIN_MAX(type, a_type, b_type)                                          \
  constexpr type min(a_type a, b_type b) { return b != b || a < b ? type(a) : type(b); } \
  constexpr type max(a_type a, b_type b) { return b != b || a > b ? type(a) : type(b); }
TUNESMITH_MIN_MAX(float, float, float)
TUNESMITH_MIN_MAX(double, double, double)
TUNESMITH_MIN_MAX(double, float, double)
TUNESMITH_MIN_MAX(double, double, float)
#undef TUNESMITH_MIN_MAX

// What the C library computes under CUDA's names, in double, in float, and chosen by the argument.
#define TUNESMITH_MATHS_1(name)    \
  extern "C" double name(double);  \
  extern "C" float name##f(float); \
  inline float name(float x) { return name##f(x); }
#define TUNESMITH_MATHS_2(name)           \
  extern "C" double name(double, double); \
  extern "C" float name##f(float, float); \
  inline float name(float x, float y) { return name##f(x, y); }
TUNESMITH_MATHS_1(sqrt)
TUNESMITH_MATHS_1(cbrt)
TUNESMITH_MATHS_1(exp)
TUNESMITH_MATHS_1(exp2)
TUNESMITH_MATHS_1(expm1)
TUNESMITH_MATHS_1(log)
TUNESMITH_MATHS_1(log2)
TUNESMITH_MATHS_1(log10)
TUNESMITH_MATHS_1(log1p)
TUNESMITH_MATHS_1(sin)
TUNESMITH_MATHS_1(cos)
TUNESMITH_MATHS_1(tan)
TUNESMITH_MATHS_1(asin)
TUNESMITH_MATHS_1(acos)
TUNESMITH_MATHS_1(atan)
TUNESMITH_MATHS_1(sinh)
TUNESMITH_MATHS_1(cosh)
TUNESMITH_MATHS_1(tanh)
TUNESMITH_MATHS_1(erf)
TUNESMITH_MATHS_1(erfc)
TUNESMITH_MATHS_1(floor)
TUNESMITH_MATHS_1(ceil)
TUNESMITH_MATHS_1(trunc)
TUNESMITH_MATHS_1(round)
TUNESMITH_MATHS_1(rint)
TUNESMITH_MATHS_1(fabs)
TUNESMITH_MATHS_2(pow)
TUNESMITH_MATHS_2(fmod)
TUNESMITH_MATHS_2(hypot)
TUNESMITH_MATHS_2(atan2)
TUNESMITH_MATHS_2(copysign)
TUNESMITH_MATHS_2(fmin)
TUNESMITH_MATHS_2(fmax)
#undef TUNESMITH_MATHS_1
#undef TUNESMITH_MATHS_2
extern "C" double fma(double, double, double);
extern "C" float fmaf(float, float, float);
inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
constexpr int abs(int x) { return x < 0 ? -x : x; }
constexpr long long abs(long long x) { return x < 0 ? -x : x; }
inline float abs(float x) { return fabsf(x); }
inline double abs(double x) { return fabs(x); }
template <typename Number>
constexpr bool isnan(Number x) {
  return x != x;
}
template <typename Number>
constexpr bool isinf(Number x) {
  return x == x && x - x != x - x;
}
template <typename Number>
constexpr bool isfinite(Number x) {
  return x - x == x - x;
}

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }

#define TUNESMITH_LOAD(name)                 \
  template <typename Element>                \
  inline Element name(const Element* from) { \
    return *from;                            \
  }
#define TUNESMITH_STORE(name)                    \
  template <typename Element>                    \
  inline void name(Element* to, Element value) { \
    *to = value;                                 \
  }
TUNESMITH_LOAD(__ldg)
TUNESMITH_LOAD(__ldca)
TUNESMITH_LOAD(__ldcg)
TUNESMITH_LOAD(__ldcs)
TUNESMITH_STORE(__stcg)
TUNESMITH_STORE(__stcs)
TUNESMITH_STORE(__stwb)
TUNESMITH_STORE(__stwt)
#undef TUNESMITH_LOAD
#undef TUNESMITH_STORE

namespace tunesmith_shim {

template <typename To, typename From>
inline To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "a reinterpretation keeps the size");
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

// Two variants may run at once on the same memory, so these are atomic in earnest.
template <typename Element, typename Change>
inline Element update(Element* at, Change change) {
  Element old;
  __atomic_load(at, &old, __ATOMIC_RELAXED);
  for (;;) {
    Element changed = change(old);
    if (__atomic_compare_exchange(at, &old, &changed, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return old;
  }
}

}  // namespace tunesmith_shim

inline int __float_as_int(float x) { return tunesmith_shim::bits<int>(x); }
inline unsigned __float_as_uint(float x) { return tunesmith_shim::bits<unsigned>(x); }
inline float __int_as_float(int x) { return tunesmith_shim::bits<float>(x); }
inline float __uint_as_float(unsigned x) { return tunesmith_shim::bits<float>(x); }
inline long long __double_as_longlong(double x) { return tunesmith_shim::bits<long long>(x); }
inline double __longlong_as_double(long long x) { return tunesmith_shim::bits<double>(x); }

#define TUNESMITH_ATOMIC(name, type, expression)                                           \
  inline type name(type* at, type value) {                                                 \
    return tunesmith_shim::update(at, [value](type old) -> type { return (expression); }); \
  }
#define TUNESMITH_ATOMICS(type)                                                                         \
  TUNESMITH_ATOMIC(atomicAdd, type, old + value)                                                        \
  TUNESMITH_ATOMIC(atomicMin, type, value < old ? value : old)                                          \
  TUNESMITH_ATOMIC(atomicMax, type, old < value ? value : old)                                          \
  TUNESMITH_ATOMIC(atomicAnd, type, old& value)                                                         \
  TUNESMITH_ATOMIC(atomicOr, type, old | value)                                                         \
  TUNESMITH_ATOMIC(atomicXor, type, old ^ value)                                                        \
  TUNESMITH_ATOMIC(atomicExch, type, (static_cast<void>(old), value))                                   \
  inline type atomicCAS(type* at, type expected, type value) {                                          \
    return tunesmith_shim::update(at, [=](type old) -> type { return old == expected ? value : old; }); \
  }
TUNESMITH_ATOMICS(int)
TUNESMITH_ATOMICS(unsigned)
TUNESMITH_ATOMICS(unsigned long long)
TUNESMITH_ATOMIC(atomicSub, int, old - value)
TUNESMITH_ATOMIC(atomicSub, unsigned, old - value)
TUNESMITH_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
TUNESMITH_ATOMIC(atomicAdd, float, old + value)
TUNESMITH_ATOMIC(atomicAdd, double, old + value)
TUNESMITH_ATOMIC(atomicExch, float, (static_cast<void>(old), value))
#undef TUNESMITH_ATOMICS
#undef TUNESMITH_ATOMIC

// ---- templates/common/async_copy.cuh
// Copies from global to shared memory that pass no register and are waited for as one group. Before compute
// capability 8.0, and on the host, they are ordinary copies and the wait does nothing.

// Copies N elements (4, 8 or 16 bytes in all, both addresses aligned to that), or writes zeros if not
// `inside`; then `from` is not read but still has to be a pointer into the array.
template <int N, typename T>
__device__ __forceinline__ void copy_async(T* to, const T* from, bool inside) {
  constexpr int bytes = sizeof(T) * N;
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "an asynchronous copy moves 4, 8 or 16 bytes");
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 800
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const int read = inside ? bytes : 0;
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(read));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(bytes),
                 "r"(read));
  }
#else
  for (int i = 0; i < N; ++i) to[i] = inside ? from[i] : T(0);
#endif
}

// Waits for this thread's copies; a barrier must follow before other threads read them.
__device__ __forceinline__ void wait_for_copies() {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
#endif
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

// ---- templates/common/overlap.cuh
// Programmatic dependent launch: a kernel launched with it may start while its predecessor in the stream
// still runs. Without it, before compute capability 9.0 and on the host, both functions do nothing.

// Returns when all work before this kernel has ended and is visible. Comes before the first access to memory.
__device__ __forceinline__ void wait_for_previous() {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel's blocks start as soon as there is room for them; they wait before they touch memory.
__device__ __forceinline__ void let_next_start() {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
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
constexpr int mask_height = 13;
constexpr int mask_width = 13;
enum class Mode { correlation, convolution };
constexpr Mode mode = Mode::convolution;
using T = float;  // dtype=f32
enum class SmemLayout { none, flat, padded };
constexpr SmemLayout SMEM_LAYOUT = SmemLayout::padded;
enum class MaskIn { global, shared, constant };
constexpr MaskIn MASK_IN = MaskIn::shared;
enum class Copy { sync, async };
constexpr Copy COPY = Copy::async;
enum class SmemAlloc { dynamic, static_ };
constexpr SmemAlloc SMEM_ALLOC = SmemAlloc::dynamic;
enum class LoopOrder { image, mask };
constexpr LoopOrder LOOP_ORDER = LoopOrder::image;
constexpr int UNROLL = 1;
constexpr int VECTOR = 2;
constexpr int OUT_X = 2;
constexpr int OUT_Y = 4;
constexpr int BLOCK_X = 8;
constexpr int BLOCK_Y = 8;
constexpr int AHEAD = 0;
enum class Store { plain, streaming };
constexpr Store STORE = Store::plain;
enum class Start { plain, overlapped };
constexpr Start START = Start::plain;
constexpr int RESIDENT_WARPS = 16;
#define ENTRY(name) name##_7ccc3639

// ---- templates/conv2d/tiled.cu
// conv2d with a tile of OUT_X x OUT_Y outputs a thread, held in registers while a window of the image slides
// over them. It knows the element type, the mode and the mask's size; it does not know the image's size.


// Everything below is a correlation: a convolution is one with the mask turned by half a turn, whose centre,
// where a side is even, lies one further on.
constexpr bool turned = mode == Mode::convolution;
constexpr int left = turned ? mask_width - 1 - mask_width / 2 : mask_width / 2;
constexpr int top = turned ? mask_height - 1 - mask_height / 2 : mask_height / 2;

constexpr bool staged = SMEM_LAYOUT != SmemLayout::none;  // the image passes through shared memory
constexpr bool mask_staged = MASK_IN == MaskIn::shared;
constexpr int threads = BLOCK_X * BLOCK_Y;
constexpr int resident_blocks = larger(1, RESIDENT_WARPS * 32 / threads);  // bounds the registers of a thread
constexpr int tile_width = BLOCK_X * OUT_X;                                // outputs of a block
constexpr int tile_height = BLOCK_Y * OUT_Y;
constexpr int thread_rows = OUT_Y + mask_height - 1;     // image rows that a thread's outputs need
constexpr int lanes = 16 / static_cast<int>(sizeof(T));  // elements of a 16-byte access

// A mask row wider than this is walked in segments, so that the window fits in registers.
constexpr int widest_segment = sizeof(T) == 8 ? 16 : 32;
constexpr int segment = mask_width <= widest_segment ? mask_width : 16;
constexpr bool one_segment = segment == mask_width;

static_assert(OUT_X % VECTOR == 0, "a row of outputs is stored in whole vectors");

// ---- the image in shared memory

// A row is loaded from `before` columns before the tile on, which keeps vectors aligned in both memories.
// With VECTOR=4 copies are few; with the largest VECTOR that divides `left` no sample is read from shared
// memory in vain.
constexpr int before = round_up(left, VECTOR);
constexpr int staged_rows = tile_height + mask_height - 1;
constexpr int staged_vectors = ceil_divide(before - left + tile_width + mask_width - 1, VECTOR);
constexpr int part = smaller(VECTOR, lanes);  // elements that one store can take
constexpr int used_width =
    round_up(larger(staged_vectors * VECTOR, before - left + tile_width + mask_width - 1), lanes);

// Threads whose rows of outputs are longer than 16 bytes would meet in the same banks: `padded` leaves out 16
// bytes after each 128. Shorter rows meet only across the block's rows, for which it widens the pitch.
constexpr bool skewed = SMEM_LAYOUT == SmemLayout::padded && OUT_X > lanes;
constexpr int bank_width = 8 * lanes;  // 128 bytes
__device__ __forceinline__ constexpr int place_of(int position) {
  return skewed ? position + position / bank_width * lanes : position;
}
constexpr int pitch = skewed ? used_width + ceil_divide(used_width, bank_width) * lanes
                      : SMEM_LAYOUT == SmemLayout::padded ? used_width + lanes
                                                          : used_width;
constexpr int mask_pitch = round_up(mask_width, lanes);
constexpr int mask_elements = mask_staged ? mask_height * mask_pitch : 0;
constexpr int shared_elements = mask_elements + (staged ? staged_rows * pitch : 0);
constexpr bool in_static = SMEM_ALLOC == SmemAlloc::static_;

// ---- the mask

// Filled by a step of its own before the kernel; one element where it is not used.
__constant__ T ENTRY(mask_copy)[MASK_IN == MaskIn::constant ? mask_height * mask_width : 1];

// A small mask is read once into registers, where every index is known at compile time.
constexpr bool held = MASK_IN == MaskIn::global && UNROLL == 0 && LOOP_ORDER == LoopOrder::image &&
                      one_segment && mask_height * mask_width * static_cast<int>(sizeof(T)) <= 256;

__device__ __forceinline__ constexpr int mask_index(int i, int j) {
  return turned ? (mask_height - 1 - i) * mask_width + mask_width - 1 - j : i * mask_width + j;
}

struct Weights {
  const T* source;
  T all[held ? mask_height * mask_width : 1];
};

template <int TAPS>
__device__ __forceinline__ void read_weights(T (&row)[round_up(TAPS, lanes)], const Weights& weights, int i,
                                             int j) {
  if constexpr (mask_staged) {
    const T* from = weights.source + i * mask_pitch + j;
#pragma unroll
    for (int k = 0; k < TAPS; k += lanes) {
      const Vector<T, lanes> vector = load_vector<lanes>(from + k);
#pragma unroll
      for (int e = 0; e < lanes; ++e) row[k + e] = vector.element[e];
    }
  } else {
#pragma unroll
    for (int k = 0; k < TAPS; ++k) {
      if constexpr (held) {
        row[k] = weights.all[mask_index(i, k)];
      } else if constexpr (MASK_IN == MaskIn::constant) {
        row[k] = ENTRY(mask_copy)[mask_index(i, j + k)];
      } else {
        row[k] = weights.source[mask_index(i, j + k)];
      }
    }
  }
}

// ---- a thread's window

struct Place {
  const T* samples;  // the first sample that the thread needs, in global or shared memory
  T* outputs;
  int column, row;  // of that first sample
  int x, y;         // of the thread's first output
  int height, width;
  int position;  // of the first sample in its shared row
};

// The samples of one image row under OUT_X outputs and TAPS columns of the mask: those in [first, last).
template <int TAPS>
struct Window {
  static constexpr int step = staged ? alignment_of(OUT_X, lanes) : VECTOR;
  static constexpr int first = before - left;
  static constexpr int last = first + OUT_X + TAPS - 1;
  T sample[round_up(last, step)];
};

// Reads the samples [from, to) of the `step` at `source`, which is aligned to a vector of that many.
template <int step>
__device__ __forceinline__ void read_part(T* samples, const T* source, int from, int to) {
  if (to - from == 1) {
    samples[from] = source[from];
  } else if (to - from == 2 && from % 2 == 0 && step == 4) {
    const Vector<T, 2> vector = load_vector<2>(source + from);
    samples[from] = vector.element[0];
    samples[from + 1] = vector.element[1];
  } else {
    const Vector<T, step> vector = load_vector<step>(source);
#pragma unroll
    for (int e = 0; e < step; ++e) samples[e] = vector.element[e];
  }
}

template <int TAPS, bool INSIDE>
__device__ __forceinline__ void read_window(Window<TAPS>& window, const Place& place, int r, int j) {
  constexpr int step = Window<TAPS>::step;
  const T* row = place.samples + (staged ? r * pitch : static_cast<long long>(r) * place.width + j);
  const bool row_inside =
      INSIDE || static_cast<unsigned>(place.row + r) < static_cast<unsigned>(place.height);
#pragma unroll
  for (int c = Window<TAPS>::first / step * step; c < Window<TAPS>::last; c += step) {
    const int from = larger(Window<TAPS>::first - c, 0);
    const int to = smaller(Window<TAPS>::last - c, step);
    if constexpr (staged) {
      read_part<step>(window.sample + c, row + place_of(place.position + j + c), from, to);
    } else if (INSIDE || (row_inside &&
                          static_cast<unsigned>(place.column + j + c) < static_cast<unsigned>(place.width))) {
      // The width is a multiple of VECTOR, so a vector is inside as a whole or not at all.
      read_part<step>(window.sample + c, row + c, from, to);
    } else {
#pragma unroll
      for (int e = 0; e < step; ++e) window.sample[c + e] = 0;
    }
  }
}

template <int TAPS>
__device__ __forceinline__ void multiply_add(T (&sum)[OUT_X], const T (&weights)[round_up(TAPS, lanes)],
                                             const Window<TAPS>& window) {
#pragma unroll
  for (int k = 0; k < TAPS; ++k) {
#pragma unroll
    for (int i = 0; i < OUT_X; ++i) sum[i] += weights[k] * window.sample[Window<TAPS>::first + i + k];
  }
}

template <bool INSIDE>
__device__ __forceinline__ void store_row(const T (&sum)[OUT_X], const Place& place, int o) {
  if (!INSIDE && place.y + o >= place.height) return;
  T* row = place.outputs + static_cast<long long>(o) * place.width;
#pragma unroll
  for (int c = 0; c < OUT_X; c += VECTOR) {
    if (INSIDE || place.x + c < place.width) {
      Vector<T, VECTOR> vector;
#pragma unroll
      for (int e = 0; e < VECTOR; ++e) vector.element[e] = sum[c + e];
      if constexpr (STORE == Store::streaming) {
        store_vector_streaming<VECTOR>(row + c, vector);
      } else {
        store_vector<VECTOR>(row + c, vector);
      }
    }
  }
}

// One image row r, given to every output row that it touches.
template <int TAPS>
__device__ __forceinline__ void add_row(T (&sum)[OUT_Y][OUT_X], const Window<TAPS>& window,
                                        const Weights& weights, int r, int j) {
#pragma unroll
  for (int o = 0; o < OUT_Y; ++o) {
    if (r - o < 0 || r - o >= mask_height) continue;
    T row[round_up(TAPS, lanes)];
    read_weights<TAPS>(row, weights, r - o, j);
    multiply_add<TAPS>(sum[o], row, window);
  }
}

// Adds the part of the mask that lies in the columns [j, j + TAPS).
template <int TAPS, bool INSIDE>
__device__ __forceinline__ void accumulate(T (&sum)[OUT_Y][OUT_X], const Place& place, const Weights& weights,
                                           int j) {
  if constexpr (LOOP_ORDER == LoopOrder::mask) {
    // Mask rows outside: a row of weights is read once, image rows are read again for each mask row.
#pragma unroll(UNROLL == 0 ? mask_height : UNROLL)
    for (int i = 0; i < mask_height; ++i) {
      T row[round_up(TAPS, lanes)];
      read_weights<TAPS>(row, weights, i, j);
#pragma unroll
      for (int o = 0; o < OUT_Y; ++o) {
        Window<TAPS> window;
        read_window<TAPS, INSIDE>(window, place, o + i, j);
        multiply_add<TAPS>(sum[o], row, window);
      }
    }
  } else if constexpr (UNROLL == 0) {
    // Image rows outside, all unrolled: each is read once, AHEAD rows before it is used, and an output row
    // leaves as soon as it is complete.
    Window<TAPS> windows[AHEAD + 1];
#pragma unroll
    for (int r = 0; r < smaller(AHEAD, thread_rows); ++r) read_window<TAPS, INSIDE>(windows[r], place, r, j);
#pragma unroll
    for (int r = 0; r < thread_rows; ++r) {
      if (r + AHEAD < thread_rows) {
        read_window<TAPS, INSIDE>(windows[(r + AHEAD) % (AHEAD + 1)], place, r + AHEAD, j);
      }
      add_row<TAPS>(sum, windows[r % (AHEAD + 1)], weights, r, j);
      if constexpr (one_segment) {
        if (r >= mask_height - 1) store_row<INSIDE>(sum[r - mask_height + 1], place, r - mask_height + 1);
      }
    }
  } else {
    // Image rows outside, rolled: rows that touch all OUT_Y output rows need no test; the few before and
    // after them are unrolled too if that is little code (in multiply-adds), and tested otherwise.
    constexpr bool short_ends = OUT_Y * (OUT_Y - 1) * TAPS * OUT_X <= 3072;
    constexpr int full_begin = mask_height >= OUT_Y ? OUT_Y - 1 : thread_rows;
    constexpr int full_end = mask_height >= OUT_Y ? mask_height : thread_rows;
#pragma unroll(short_ends ? full_begin : 1)
    for (int r = 0; r < full_begin; ++r) {
      Window<TAPS> window;
      read_window<TAPS, INSIDE>(window, place, r, j);
      add_row<TAPS>(sum, window, weights, r, j);
    }
#pragma unroll(UNROLL)
    for (int r = full_begin; r < full_end; ++r) {
      Window<TAPS> window;
      read_window<TAPS, INSIDE>(window, place, r, j);
#pragma unroll
      for (int o = 0; o < OUT_Y; ++o) {
        T row[round_up(TAPS, lanes)];
        read_weights<TAPS>(row, weights, r - o, j);
        multiply_add<TAPS>(sum[o], row, window);
      }
    }
#pragma unroll(short_ends ? larger(thread_rows - full_end, 1) : 1)
    for (int r = full_end; r < thread_rows; ++r) {
      Window<TAPS> window;
      read_window<TAPS, INSIDE>(window, place, r, j);
      add_row<TAPS>(sum, window, weights, r, j);
    }
  }
}

// All outputs of a thread.
template <bool INSIDE>
__device__ __forceinline__ void compute(const Place& place, const Weights& weights) {
  T sum[OUT_Y][OUT_X];
#pragma unroll
  for (int o = 0; o < OUT_Y; ++o) {
#pragma unroll
    for (int i = 0; i < OUT_X; ++i) sum[o][i] = 0;
  }
  if constexpr (one_segment) {
    accumulate<mask_width, INSIDE>(sum, place, weights, 0);
  } else {
#pragma unroll 1
    for (int j = 0; j + segment <= mask_width; j += segment)
      accumulate<segment, INSIDE>(sum, place, weights, j);
    if constexpr (mask_width % segment != 0) {
      accumulate<mask_width % segment, INSIDE>(sum, place, weights, mask_width - mask_width % segment);
    }
  }
  if constexpr (!(one_segment && UNROLL == 0 && LOOP_ORDER == LoopOrder::image)) {
#pragma unroll
    for (int o = 0; o < OUT_Y; ++o) store_row<INSIDE>(sum[o], place, o);
  }
}

// ---- filling shared memory

__device__ __forceinline__ void stage_mask(T* to, const T* __restrict__ mask) {
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
#pragma unroll(smaller(ceil_divide(mask_height* mask_width, threads), 8))
  for (int n = thread; n < mask_height * mask_width; n += threads) {
    const int i = n / mask_width, j = n % mask_width;
    if constexpr (COPY == Copy::async) {
      copy_async<1>(to + i * mask_pitch + j, mask + mask_index(i, j), true);
    } else {
      to[i * mask_pitch + j] = mask[mask_index(i, j)];
    }
  }
}

// `image` is the first sample of the batch's image; the tile's first output is at (x, y). INSIDE: so is all
// that the tile needs. A thread steps through the tile's vectors without a division; a row's bytes are a
// 32-bit number.
template <bool INSIDE>
__device__ __forceinline__ void stage_image(T* to, const T* __restrict__ image, int x, int y, int height,
                                            int width) {
  constexpr int vectors = staged_rows * staged_vectors;
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
  const T* corner = image + static_cast<long long>(y - top) * width + (x - before);
  const unsigned row_bytes = width * static_cast<unsigned>(sizeof(T));
  int r = thread / staged_vectors, c = thread % staged_vectors;
#pragma unroll(smaller(ceil_divide(vectors, threads), 8))
  for (int n = thread; n < vectors; n += threads) {
    const T* from =
        reinterpret_cast<const T*>(reinterpret_cast<const char*>(corner) +
                                   static_cast<unsigned long long>(static_cast<unsigned>(r)) * row_bytes) +
        c * VECTOR;
    const bool inside =
        INSIDE || (static_cast<unsigned>(y - top + r) < static_cast<unsigned>(height) &&
                   static_cast<unsigned>(x - before + c * VECTOR) < static_cast<unsigned>(width));
    T* row = to + r * pitch;
    if constexpr (COPY == Copy::async) {
#pragma unroll
      for (int p = 0; p < VECTOR; p += part) {
        copy_async<part>(row + place_of(c * VECTOR + p), inside ? from + p : image, inside);
      }
    } else {
      Vector<T, VECTOR> vector;
#pragma unroll
      for (int e = 0; e < VECTOR; ++e) vector.element[e] = 0;
      if (inside) vector = load_vector<VECTOR>(from);
#pragma unroll
      for (int p = 0; p < VECTOR; p += part) {
        Vector<T, part> piece;
#pragma unroll
        for (int e = 0; e < part; ++e) piece.element[e] = vector.element[p + e];
        store_vector<part>(row + place_of(c * VECTOR + p), piece);
      }
    }
    r += threads / staged_vectors;
    c += threads % staged_vectors;
    if (c >= staged_vectors) {
      c -= staged_vectors;
      ++r;
    }
  }
}

// Launched with blocks of BLOCK_X x BLOCK_Y over tiles of columns and rows; a grid that is too small in y or
// z (both limited to 65535) is walked in strides.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
    ENTRY(conv2d_tiled)(const T* __restrict__ image, const T* __restrict__ mask, T* __restrict__ output,
                        int batch, int height, int width) {
  __shared__ Vector<T, lanes> fixed_memory[in_static && shared_elements > 0 ? shared_elements / lanes : 1];
  DYNAMIC_SHARED(T, dynamic_memory);
  T* memory = in_static ? &fixed_memory[0].element[0] : dynamic_memory;
  T* tile = memory + mask_elements;

  if constexpr (START == Start::overlapped) {
    let_next_start();
    wait_for_previous();
  }
  Weights weights;
  weights.source = mask_staged ? memory : mask;
  if constexpr (mask_staged) stage_mask(memory, mask);
  if constexpr (held) {
#pragma unroll
    for (int i = 0; i < mask_height * mask_width; ++i) weights.all[i] = mask[i];
  }

  Place place;
  place.height = height;
  place.width = width;
  place.position = threadIdx.x * OUT_X;
  const int tile_x = blockIdx.x * tile_width;
  place.x = tile_x + threadIdx.x * OUT_X;
  const int tiles_y = (height + tile_height - 1) / tile_height;
  bool first = true;
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    for (int t = blockIdx.y; t < tiles_y; t += gridDim.y) {
      const int tile_y = t * tile_height;
      const bool inside = tile_x >= before && tile_y >= top &&
                          tile_x - before + staged_vectors * VECTOR <= width &&
                          tile_y - top + staged_rows <= height;
      const long long batch_base = static_cast<long long>(b) * height * width;
      place.y = tile_y + threadIdx.y * OUT_Y;
      place.column = place.x - before;
      place.row = place.y - top;
      place.outputs = output + batch_base + static_cast<long long>(place.y) * width + place.x;
      if constexpr (staged) {
        if (!first) __syncthreads();  // the tile before is still being read
        if (inside) {
          stage_image<true>(tile, image + batch_base, tile_x, tile_y, height, width);
        } else {
          stage_image<false>(tile, image + batch_base, tile_x, tile_y, height, width);
        }
        place.samples = tile + threadIdx.y * OUT_Y * pitch;
      } else {
        place.samples = image + batch_base + static_cast<long long>(place.row) * width + place.column;
      }
      if constexpr (staged || mask_staged) {
        if (staged || first) {
          if constexpr (COPY == Copy::async) wait_for_copies();
          __syncthreads();
        }
      }
      first = false;
      if constexpr (staged) {
        compute<false>(place, weights);
      } else if (inside) {
        compute<true>(place, weights);
      } else {
        compute<false>(place, weights);
      }
    }
  }
}

// ---- entries for the host
TUNESMITH_HOST_ENTRY(conv2d_tiled_7ccc3639)
