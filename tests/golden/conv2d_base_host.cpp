// conv2d/base for host, rendered by Tunesmith from templates/conv2d/base.cu: change that and render again.
// compiled in: dtype=f32
// config: BLOCK_X=32 BLOCK_Y=8

// ---- templates/common/host/builtins.h
// CUDA's built-in vector types and variables.

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

// ---- templates/common/host/watch.h
// What a watched launch tells: each access to memory, barriers, fences, and what the sanitizers of the
// compiler find. TUNESMITH_WATCHED is defined where the text is compiled with -fsanitize=thread, alignment
// and signed-integer-overflow; their functions are defined here, and no library of theirs is linked. Without
// it there is nothing.
//
// runtime/watch.h has the same struct, and says what each of its functions is told.

#include <stddef.h>
#include <string.h>


#if !defined(TUNESMITH_WATCHED)

#define TUNESMITH_UNWATCHED
#define TUNESMITH_TELL(what, ...) static_cast<void>(0)
#define TUNESMITH_NOTE(at, bytes, kind) static_cast<void>(0)

#else

#define TUNESMITH_UNWATCHED __attribute__((no_sanitize("thread")))
#define TUNESMITH_TELL(what, ...)                                                                           \
  (tunesmith_shim::watch != nullptr ? tunesmith_shim::watch->what(tunesmith_shim::watch->self, __VA_ARGS__) \
                                    : static_cast<void>(0))

#define TUNESMITH_NOTE(at, bytes, kind) tunesmith_shim::note(at, bytes, tunesmith_shim::kind)

namespace tunesmith_shim {

struct Watch {
  void* self;
  void (*shared)(void* self, const void* dynamic, long long bytes);
  long long (*next_block)(void* self, long long blocks);
  int (*access)(void* self, const void* at, long long bytes, int kind, int thread);
  void (*barrier)(void* self, int thread);
  void (*collective)(void* self, int warp, unsigned lanes);
  void (*fence)(void* self, int thread, int of_device);
  int (*misaligned)(void* self, const void* at, long long alignment, const char* file, int line, int thread);
  void (*overflow)(void* self, const char* file, int line);
};
constexpr int reads = 0, writes = 1, updates = 2, reads_volatile = 3, writes_volatile = 4;
constexpr int watch_ended = 9;  // what a launch answers that the watch has ended

static const Watch* watch = nullptr;
static bool in_thread = false;  // of a block, not in the scheduler

static int thread_number();
static bool is_on_stack(const void* at);
static void fail(int code);

TUNESMITH_UNWATCHED static void end_watched() {
  in_thread = false;  // what ends the launch is not watched itself
  fail(watch_ended);
}

// noinline, and before the access: the launch may end here.
TUNESMITH_UNWATCHED __attribute__((noinline)) static void note(const void* at, long long bytes, int kind) {
  if (watch == nullptr || !in_thread || is_on_stack(at)) return;
  if (watch->access(watch->self, at, bytes, kind, thread_number()) == 0) end_watched();
}

struct Spot {  // as the sanitizers of GCC and Clang have it
  const char* file;
  unsigned line, column;
};
struct Mismatch {
  Spot spot;
  const void* type;
  unsigned char log_alignment, kind;
};
TUNESMITH_UNWATCHED static void note_misaligned(const Mismatch* what, const void* at) {
  if (watch == nullptr || !in_thread) return;
  if (watch->misaligned(watch->self, at, 1ll << what->log_alignment, what->spot.file,
                        static_cast<int>(what->spot.line), thread_number()) == 0)
    end_watched();
}
TUNESMITH_UNWATCHED static void note_overflow(const Spot* where) {
  if (watch != nullptr && in_thread) watch->overflow(watch->self, where->file, static_cast<int>(where->line));
}

}  // namespace tunesmith_shim

extern "C" {
#define TUNESMITH_HOOK(name, bytes, kind) \
  TUNESMITH_UNWATCHED void name(void* at) { tunesmith_shim::note(at, bytes, tunesmith_shim::kind); }
#define TUNESMITH_HOOKS(bytes)                                                 \
  TUNESMITH_HOOK(__tsan_read##bytes, bytes, reads)                             \
  TUNESMITH_HOOK(__tsan_write##bytes, bytes, writes)                           \
  TUNESMITH_HOOK(__tsan_unaligned_read##bytes, bytes, reads)                   \
  TUNESMITH_HOOK(__tsan_unaligned_write##bytes, bytes, writes)                 \
  TUNESMITH_HOOK(__tsan_volatile_read##bytes, bytes, reads_volatile)           \
  TUNESMITH_HOOK(__tsan_volatile_write##bytes, bytes, writes_volatile)         \
  TUNESMITH_HOOK(__tsan_unaligned_volatile_read##bytes, bytes, reads_volatile) \
  TUNESMITH_HOOK(__tsan_unaligned_volatile_write##bytes, bytes, writes_volatile)
TUNESMITH_HOOKS(1)
TUNESMITH_HOOKS(2)
TUNESMITH_HOOKS(4)
TUNESMITH_HOOKS(8)
TUNESMITH_HOOKS(16)
#undef TUNESMITH_HOOKS
#undef TUNESMITH_HOOK
TUNESMITH_UNWATCHED void __tsan_read_range(void* at, size_t bytes) {
  tunesmith_shim::note(at, static_cast<long long>(bytes), tunesmith_shim::reads);
}
TUNESMITH_UNWATCHED void __tsan_write_range(void* at, size_t bytes) {
  tunesmith_shim::note(at, static_cast<long long>(bytes), tunesmith_shim::writes);
}
TUNESMITH_UNWATCHED void* __tsan_memcpy(void* to, const void* from, size_t bytes) {
  __tsan_read_range(const_cast<void*>(from), bytes);
  __tsan_write_range(to, bytes);
  return memcpy(to, from, bytes);
}
TUNESMITH_UNWATCHED void* __tsan_memmove(void* to, const void* from, size_t bytes) {
  __tsan_read_range(const_cast<void*>(from), bytes);
  __tsan_write_range(to, bytes);
  return memmove(to, from, bytes);
}
TUNESMITH_UNWATCHED void* __tsan_memset(void* to, int byte, size_t bytes) {
  __tsan_write_range(to, bytes);
  return memset(to, byte, bytes);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __ubsan_handle_type_mismatch_v1(void* what, void* at) {
  tunesmith_shim::note_misaligned(static_cast<const tunesmith_shim::Mismatch*>(what), at);
}
#define TUNESMITH_HOOK(name)                                                        \
  void __ubsan_handle_##name##_overflow(void* where, void*, void*) {                \
    tunesmith_shim::note_overflow(static_cast<const tunesmith_shim::Spot*>(where)); \
  }
TUNESMITH_HOOK(add)
TUNESMITH_HOOK(sub)
TUNESMITH_HOOK(mul)
TUNESMITH_HOOK(divrem)
#undef TUNESMITH_HOOK
void __ubsan_handle_negate_overflow(void* where, void*) {
  tunesmith_shim::note_overflow(static_cast<const tunesmith_shim::Spot*>(where));
}
__attribute__((visibility("default"))) void tunesmith_watch(const tunesmith_shim::Watch* given) {
  tunesmith_shim::watch = given;
}
}

#endif

// ---- templates/common/host/atomics.h
// Atomic operations. Two variants may run at once on the same memory, so these are real ones.


namespace tunesmith_shim {

template <typename Element, typename Change>
TUNESMITH_UNWATCHED inline Element update(Element* at, Change change) {
#if defined(TUNESMITH_WATCHED)
  note(at, sizeof(Element), updates);
#endif
  Element old;
  __atomic_load(at, &old, __ATOMIC_RELAXED);
  for (;;) {
    Element changed = change(old);
    if (__atomic_compare_exchange(at, &old, &changed, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return old;
  }
}

}  // namespace tunesmith_shim

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

// ---- templates/common/host/bits.h
// Integer intrinsics, and the bits of a number as another type.

#include <string.h>

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(high) << 32 | low;
  unsigned result = 0;
  for (unsigned n = 0; n < 4; ++n) {
    const unsigned select = selector >> 4 * n & 15;
    unsigned byte = static_cast<unsigned>(bytes >> 8 * (select & 7)) & 255;
    if ((select & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    result |= byte << 8 * n;
  }
  return result;
}
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1) << (31 - bit);
  return reversed;
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }

namespace tunesmith_shim {

template <typename To, typename From>
inline To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "a reinterpretation keeps the size");
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

}  // namespace tunesmith_shim

inline int __float_as_int(float x) { return tunesmith_shim::bits<int>(x); }
inline unsigned __float_as_uint(float x) { return tunesmith_shim::bits<unsigned>(x); }
inline float __int_as_float(int x) { return tunesmith_shim::bits<float>(x); }
inline float __uint_as_float(unsigned x) { return tunesmith_shim::bits<float>(x); }
inline long long __double_as_longlong(double x) { return tunesmith_shim::bits<long long>(x); }
inline double __longlong_as_double(long long x) { return tunesmith_shim::bits<double>(x); }

// ---- templates/common/host/stack_switch.h
// The switch from one stack to another, in assembly for x86-64 and AArch64. Elsewhere fibers.h uses ucontext,
// which costs a system call per switch, for the signal mask.

#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(TUNESMITH_UCONTEXT)
#define TUNESMITH_UCONTEXT 1
#endif
#if defined(TUNESMITH_UCONTEXT)
#include <ucontext.h>
#endif

#if !defined(TUNESMITH_UCONTEXT)
namespace tunesmith_shim {

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

}  // namespace tunesmith_shim
#endif

// ---- templates/common/host/fibers.h
// A block's threads as fibers. A fiber runs one thread after the other until one of them waits, so kernels
// without barriers pay for no switches. Knows how to start and resume a fiber; warp.h and block.h know when.

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif


extern "C" [[noreturn]] void abort();

namespace tunesmith_shim {

constexpr int max_threads = 1024;
constexpr int warp_lanes = 32;
constexpr size_t page = 4096;
constexpr size_t stack_bytes = 256 * 1024;  // reserved; only what a thread touches becomes memory

// What a launch answers; runtime/host_executable.cpp has the words.
constexpr int ok = 0, out_of_memory = 1, shared_overrun = 2, divergent_barrier = 3, trapped = 4;
[[maybe_unused]] constexpr int broken_assumption = 5;
constexpr int divergent_warp = 6;
[[maybe_unused]] constexpr int misaligned = 8;  // 7 is a fault, 9 is watch_ended

struct Fiber {
#if defined(TUNESMITH_UCONTEXT)
  ucontext_t context;
#else
  void* stack_pointer;
#endif
  char* stack;   // lowest address, above one page that faults
  uint3 thread;  // threadIdx of the thread that it runs
  int line;      // of the barrier or collective where it waits; below 0 at __activemask
  int warp, lane;
  unsigned mask;  // of the collective where it waits; 0 at a barrier
  bool finished;
  unsigned long long operand;  // what it gives to the collective
};

typedef void (*Body)(void* const* arguments);

static Fiber fibers[max_threads];
static Fiber* running = nullptr;
static char* stacks = nullptr;
static Body body = nullptr;
static void* const* body_arguments = nullptr;
static uint3 next_thread;     // the next to start
static int threads_left = 0;  // of the warp, to start
static int lanes = 0;         // of the warp
static int warp = 0;
static bool reversed = false;
static int failure = ok;
static int waiting[max_threads];  // fibers that have not finished, in the order of their threads

#if defined(TUNESMITH_UCONTEXT)
static ucontext_t scheduler;
#else
static void* scheduler = nullptr;
#endif

#if defined(__SANITIZE_ADDRESS__)
static const void* scheduler_stack = nullptr;
static size_t scheduler_stack_bytes = 0;
static void* scheduler_fake_stack = nullptr;
static void* fiber_fake_stacks[max_threads];
#endif

TUNESMITH_UNWATCHED static void to_scheduler(bool last) {
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
[[maybe_unused]] TUNESMITH_UNWATCHED __attribute__((noinline)) static void fail(int code) {
  failure = code;
  to_scheduler(false);
}

#if defined(TUNESMITH_WATCHED)
TUNESMITH_UNWATCHED static int thread_number() {
  const uint3& at = running->thread;
  return static_cast<int>((at.z * blockDim.y + at.y) * blockDim.x + at.x);
}
TUNESMITH_UNWATCHED static bool is_on_stack(const void* at) {
  return at >= stacks && at < stacks + max_threads * (stack_bytes + page);
}
#endif

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
TUNESMITH_UNWATCHED static void fiber_main() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_stack_bytes);
#endif
  Fiber* self = running;
  while (threads_left > 0) {
    --threads_left;
    self->lane = reversed ? threads_left : lanes - 1 - threads_left;
    self->warp = warp;
    threadIdx = self->thread = next_thread;
    advance(&next_thread);
    body(body_arguments);
  }
  self->finished = true;
  to_scheduler(true);
  abort();  // a finished fiber is never resumed
}

// Unwatched: the watch must not end a launch from the scheduler.
TUNESMITH_UNWATCHED __attribute__((noinline)) static void resume(Fiber* fiber) {
  running = fiber;
  threadIdx = fiber->thread;
#if defined(TUNESMITH_WATCHED)
  in_thread = true;
#endif
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
#if defined(TUNESMITH_WATCHED)
  in_thread = false;
#endif
}

static bool start(Fiber* fiber) {
  if (fiber->stack == nullptr) {
    char* slot = stacks + static_cast<size_t>(fiber - fibers) * (stack_bytes + page);
    if (mprotect(slot, page, PROT_NONE) != 0) return false;
    fiber->stack = slot + page;
  }
  fiber->finished = false;
  fiber->mask = 0;
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

static bool reserve_stacks() {
  if (stacks != nullptr) return true;
  void* memory = mmap(nullptr, max_threads * (stack_bytes + page), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  stacks = static_cast<char*>(memory);
  return true;
}

__attribute__((destructor)) static void release_stacks() {
  if (stacks != nullptr) munmap(stacks, max_threads * (stack_bytes + page));
}

}  // namespace tunesmith_shim

// ---- templates/common/host/shared_memory.h
// Shared memory: a section of the binary for what kernels declare, and one block of memory between guards for
// dynamic shared memory. launch.h poisons both before every block.

#include <stddef.h>
#include <string.h>

// `used`: the compiler must not conclude from what it sees that nobody writes to it.
#define TUNESMITH_SHARED static __attribute__((section("tunesmith_shared"), used))
#if defined(TUNESMITH_WATCHED)  // before each, and behind the last, bytes that no thread may touch
#define TUNESMITH_JOINED_NOW(a, b) a##b
#define TUNESMITH_JOINED(a, b) TUNESMITH_JOINED_NOW(a, b)
#define TUNESMITH_SHARED_GUARD TUNESMITH_SHARED char TUNESMITH_JOINED(tunesmith_guard_, __COUNTER__)[1024]
#define __shared__        \
  TUNESMITH_SHARED_GUARD; \
  TUNESMITH_SHARED
#else
#define __shared__ TUNESMITH_SHARED
#endif
#define DYNAMIC_SHARED(type, name) \
  [[maybe_unused]] type* const name = static_cast<type*>(tunesmith_shim::dynamic_shared)

extern "C" {
extern char __start_tunesmith_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_tunesmith_shared[] __attribute__((weak, visibility("hidden")));
}

namespace tunesmith_shim {

constexpr size_t guard_bytes = 4096;  // before and after dynamic shared memory
constexpr unsigned char guard = 0xa5;
constexpr unsigned char nan_poison = 0xff;  // a NaN in every floating-point type, -1 in every signed one

// What the bytes of shared memory hold before a block, as a launch says: the first 16 and the next, in turn.
static unsigned char poison[2] = {nan_poison, nan_poison};

static void fill_with_poison(unsigned char* memory, size_t size) {
  memset(memory, poison[0], size);
  if (poison[0] == poison[1]) return;
  for (size_t at = 16; at < size; at += 32) memset(memory + at, poison[1], size - at < 16 ? size - at : 16);
}

static void* dynamic_shared = nullptr;

// Of a block, declared in the text; a watched binary has guards among it, and says nothing.
inline long long shared_bytes() {
#if !defined(TUNESMITH_WATCHED)
  if (__start_tunesmith_shared != nullptr) return __stop_tunesmith_shared - __start_tunesmith_shared;
#endif
  return 0;
}

static bool intact(const unsigned char* guards) {
  for (size_t n = 0; n < guard_bytes; n += sizeof(unsigned long long)) {
    unsigned long long eight;
    memcpy(&eight, guards + n, sizeof(eight));
    if (eight != guard * 0x0101010101010101ull) return false;
  }
  return true;
}

}  // namespace tunesmith_shim

// ---- templates/common/host/warp.h
// Warps and their collectives (shuffles, votes, matches, reductions).
//
// A warp is 32 neighbouring threads, started together. Those that meet at a collective wait until all that
// its mask names have come to the same line with the same mask, or have returned; what a returned thread, or
// one that the mask does not name, would have given is all ones. If the warp stands still before that, the
// launch ends with an error.

#include <string.h>


namespace tunesmith_shim {

static int meeting = 0;                              // fibers at a collective
static unsigned met = 0;                             // lanes of the collective that has just taken place
static unsigned met_votes = 0;                       // of them, those whose operand is not 0
static unsigned long long met_operands[warp_lanes];  // of all lanes

// Runs one warp, the fibers waiting[first] to waiting[count - 1], until each has finished or waits at a
// barrier. Returns the new count. Cold, so that it is compiled for size, which is quicker: every variant pays
// for it.
__attribute__((noinline, cold)) static int settle(int first, int count) {
  while (meeting > 0) {
    unsigned alive = 0;
    for (int n = first; n < count; ++n) alive |= 1u << fibers[waiting[n]].lane;
    const Fiber* ready = nullptr;
    for (int n = first; n < count && (ready == nullptr || ready->line < 0); ++n) {
      const Fiber& fiber = fibers[waiting[n]];
      if (fiber.mask == 0) continue;
      unsigned here = 0;
      for (int m = first; m < count; ++m) {
        const Fiber& other = fibers[waiting[m]];
        if (other.line == fiber.line && other.mask == fiber.mask) here |= 1u << other.lane;
      }
      // __activemask takes those who come, so it takes place only when nothing else can.
      if (fiber.line < 0 ? ready == nullptr : here == (fiber.mask & alive)) {
        ready = &fiber;
        met = here;
      }
    }
    if (ready == nullptr) {
      failure = divergent_warp;
      return count;
    }
    TUNESMITH_TELL(collective, fibers[waiting[first]].warp, met);
    met_votes = 0;
    memset(met_operands, nan_poison, sizeof(met_operands));
    for (int n = first; n < count; ++n) {
      Fiber& fiber = fibers[waiting[n]];
      if ((met >> fiber.lane & 1) == 0) continue;
      met_operands[fiber.lane] = fiber.operand;
      if (fiber.operand != 0) met_votes |= 1u << fiber.lane;
    }
    int still = first;
    const unsigned group = met;
    for (int n = first; n < count; ++n) {
      const int f = waiting[n];
      if ((group >> fibers[f].lane & 1) != 0) {
        fibers[f].mask = 0;
        --meeting;
        resume(&fibers[f]);
        if (failure != ok) return count;
      }
      if (!fibers[f].finished) waiting[still++] = f;
    }
    count = still;
  }
  return count;
}

// Returns when the lanes of `mask` have met; met, met_votes and met_operands are then theirs.
__attribute__((noinline)) static void meet(unsigned mask, unsigned long long operand, int line) {
  if ((mask >> running->lane & 1) == 0) fail(divergent_warp);
  running->line = line;
  running->mask = mask;
  running->operand = operand;
  ++meeting;
  to_scheduler(false);
}

}  // namespace tunesmith_shim

// The line is that of the call, also where an optimizer makes one of two calls.
inline void __syncwarp(unsigned mask = ~0u, int line = __builtin_LINE()) {
  tunesmith_shim::meet(mask, 0, line);
}
inline unsigned __activemask(int line = __builtin_LINE()) {
  tunesmith_shim::meet(~0u, 0, -line);
  return tunesmith_shim::met;
}
inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  tunesmith_shim::meet(mask, static_cast<unsigned>(predicate), line);
  return tunesmith_shim::met_votes;
}
inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line) != 0 ? 1 : 0;
}
inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line) == tunesmith_shim::met ? 1 : 0;
}

namespace tunesmith_shim {

// What an integer is promoted to, as if there were an overload for each arithmetic type.
template <typename Number>
using Promoted = decltype(Number() + Number());

template <typename Number>
inline unsigned long long operand(Number value) {
  unsigned long long all = 0;
  memcpy(&all, &value, sizeof(value));
  return all;
}

// What `lane` gave.
template <typename Number>
inline Number given(int lane) {
  Number value;
  memcpy(&value, &met_operands[lane], sizeof(value));
  return value;
}

}  // namespace tunesmith_shim

// `own` is this lane, `first` and `last` are those of its segment of `width` lanes, `from` is where the value
// comes from: beyond the segment, from the lane itself.
#define TUNESMITH_SHUFFLE(name, type, from)                                                                \
  template <typename Number>                                                                               \
  inline tunesmith_shim::Promoted<Number> name(unsigned mask, Number value, type by, int width = warpSize, \
                                               int line = __builtin_LINE()) {                              \
    const tunesmith_shim::Promoted<Number> promoted = value;                                               \
    tunesmith_shim::meet(mask, tunesmith_shim::operand(promoted), line);                                   \
    const int own = tunesmith_shim::running->lane;                                                         \
    [[maybe_unused]] const int first = own & ~(width - 1), last = own | (width - 1);                       \
    const int n = static_cast<int>(by) & 31;                                                               \
    return tunesmith_shim::given<tunesmith_shim::Promoted<Number>>(from);                                  \
  }
TUNESMITH_SHUFFLE(__shfl_sync, int, first | (n & (width - 1)))
TUNESMITH_SHUFFLE(__shfl_up_sync, unsigned, own - n < first ? own : own - n)
TUNESMITH_SHUFFLE(__shfl_down_sync, unsigned, own + n > last ? own : own + n)
TUNESMITH_SHUFFLE(__shfl_xor_sync, int, (own ^ n) > last ? own : own ^ n)
#undef TUNESMITH_SHUFFLE

template <typename Number>
inline unsigned __match_any_sync(unsigned mask, Number value, int line = __builtin_LINE()) {
  const tunesmith_shim::Promoted<Number> promoted = value;
  const unsigned long long own = tunesmith_shim::operand(promoted);
  tunesmith_shim::meet(mask, own, line);
  unsigned same = 0;
  for (int lane = 0; lane < warpSize; ++lane)
    same |= (tunesmith_shim::met_operands[lane] == own ? 1u : 0u) << lane;
  return same & tunesmith_shim::met;
}
template <typename Number>
inline unsigned __match_all_sync(unsigned mask, Number value, int* all, int line = __builtin_LINE()) {
  const unsigned same = __match_any_sync(mask, value, line);
  *all = same == tunesmith_shim::met ? 1 : 0;
  return *all != 0 ? same : 0;
}

#define TUNESMITH_REDUCE(name, type, expression)                             \
  inline type name(unsigned mask, type value, int line = __builtin_LINE()) { \
    tunesmith_shim::meet(mask, tunesmith_shim::operand(value), line);        \
    for (int lane = 0; lane < warpSize; ++lane) {                            \
      if (lane == tunesmith_shim::running->lane) continue;                   \
      if ((tunesmith_shim::met >> lane & 1) == 0) continue;                  \
      const type other = tunesmith_shim::given<type>(lane);                  \
      value = expression;                                                    \
    }                                                                        \
    return value;                                                            \
  }
TUNESMITH_REDUCE(__reduce_add_sync, unsigned, value + other)
TUNESMITH_REDUCE(__reduce_min_sync, unsigned, other < value ? other : value)
TUNESMITH_REDUCE(__reduce_max_sync, unsigned, value < other ? other : value)
TUNESMITH_REDUCE(__reduce_add_sync, int,
                 static_cast<int>(static_cast<unsigned>(value) + static_cast<unsigned>(other)))
TUNESMITH_REDUCE(__reduce_min_sync, int, other < value ? other : value)
TUNESMITH_REDUCE(__reduce_max_sync, int, value < other ? other : value)
TUNESMITH_REDUCE(__reduce_and_sync, unsigned, value& other)
TUNESMITH_REDUCE(__reduce_or_sync, unsigned, value | other)
TUNESMITH_REDUCE(__reduce_xor_sync, unsigned, value ^ other)
#undef TUNESMITH_REDUCE

// ---- templates/common/host/block.h
// A block and its barriers.
//
// The threads run in order (or in reverse), each to its first barrier, so that a missing barrier reads poison
// or old data. As on a GPU, a thread that has returned counts as arrived at every later barrier. Threads that
// wait at different lines end the launch with an error.


namespace tunesmith_shim {

static int arrived = 0;           // threads at the barrier that is filling up
static int votes = 0;             // of them, those with a true predicate
static int released_arrived = 0;  // the same for the barrier that has just opened
static int released_votes = 0;

// One block: warp after warp, every thread to its first barrier, then round after round until all have
// finished.
static int run_block(int threads) {
  int count = 0;
  failure = ok;
  arrived = votes = meeting = 0;
  warp = 0;
  next_thread = {0, 0, 0};
  if (reversed) next_thread = {blockDim.x - 1, blockDim.y - 1, blockDim.z - 1};
  for (int left = threads; left > 0; left -= lanes, ++warp) {
    lanes = left < warp_lanes ? left : warp_lanes;
    if (reversed && left % warp_lanes != 0) lanes = left % warp_lanes;
    threads_left = lanes;
    const int first = count;
    while (threads_left > 0) {
      const int f = count == 0 ? 0 : waiting[count - 1] + 1;
      Fiber* fiber = &fibers[f];
      if (!start(fiber)) return out_of_memory;
      resume(fiber);
      if (failure != ok) return failure;
      if (!fiber->finished) {
        waiting[count] = f;
        ++count;
      }
    }
    count = settle(first, count);
    if (failure != ok) return failure;
  }
  while (count > 0) {
    for (int n = 1; n < count; ++n) {
      if (fibers[waiting[n]].line != fibers[waiting[0]].line) return divergent_barrier;
    }
    TUNESMITH_TELL(barrier, arrived);
    released_arrived = arrived;
    released_votes = votes;
    arrived = votes = 0;
    int still = 0;
    int first = 0;  // of the warp
    for (int n = 0; n < count; ++n) {
      const int f = waiting[n];
      resume(&fibers[f]);
      if (failure != ok) return failure;
      if (!fibers[f].finished) waiting[still++] = f;
      if (n + 1 < count && fibers[waiting[n + 1]].warp == fibers[f].warp) continue;
      first = still = settle(first, still);
      if (failure != ok) return failure;
    }
    count = still;
  }
  return ok;
}

__attribute__((noinline)) static void barrier(bool predicate, int line) {
  running->line = line;
  ++arrived;
  votes += predicate ? 1 : 0;
  to_scheduler(false);
}

}  // namespace tunesmith_shim

// The line is that of the call, also where an optimizer makes one of two calls.
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

// ---- templates/common/host/aligned.h
// What a GPU asks of the address of a wide access.

#include <stddef.h>


namespace tunesmith_shim {

inline void require_alignment(const void* address, size_t bytes) {
  if ((reinterpret_cast<size_t>(address) & (bytes - 1)) != 0) fail(misaligned);
}

}  // namespace tunesmith_shim

// ---- templates/common/host/cache_hints.h
// Loads and stores with a cache hint, which a CPU has no use for.


#define TUNESMITH_LOAD(name)                                  \
  template <typename Element>                                 \
  inline Element name(const Element* from) {                  \
    tunesmith_shim::require_alignment(from, sizeof(Element)); \
    return *from;                                             \
  }
#define TUNESMITH_STORE(name)                               \
  template <typename Element>                               \
  inline void name(Element* to, Element value) {            \
    tunesmith_shim::require_alignment(to, sizeof(Element)); \
    *to = value;                                            \
  }
TUNESMITH_LOAD(__ldg)
TUNESMITH_LOAD(__ldca)
TUNESMITH_LOAD(__ldcg)
TUNESMITH_LOAD(__ldcs)
TUNESMITH_LOAD(__ldcv)
TUNESMITH_LOAD(__ldlu)
TUNESMITH_STORE(__stcg)
TUNESMITH_STORE(__stcs)
TUNESMITH_STORE(__stwb)
TUNESMITH_STORE(__stwt)
#undef TUNESMITH_LOAD
#undef TUNESMITH_STORE

// ---- templates/common/host/launch.h
// One launch of one kernel: its blocks, one after the other, in the order that is asked for.

#include <stddef.h>
#include <string.h>


extern "C" {
void* aligned_alloc(size_t alignment, size_t size);
void free(void* memory);
}

namespace tunesmith_shim {

// Which block is the n-th to run: in order, in reverse, or all over the grid.
enum class BlockOrder { ascending, descending, scattered };
static unsigned long long block_at(unsigned long long n, unsigned long long blocks, BlockOrder order) {
  constexpr unsigned long long most_scattered = 1ull << 31;  // so that no product overflows
  if (order == BlockOrder::ascending || blocks > most_scattered) return n;
  if (order == BlockOrder::descending) return blocks - 1 - n;
  const unsigned long long step = blocks % 1000003 != 0 ? 1000003 : 1000033;  // primes: each block once
  return (n * step + blocks / 2) % blocks;
}

static int run_grid(unsigned char* dynamic, size_t dynamic_size, int threads, BlockOrder order) {
  const size_t shared_size = __start_tunesmith_shared == nullptr
                                 ? 0
                                 : static_cast<size_t>(__stop_tunesmith_shared - __start_tunesmith_shared);
  const unsigned long long row = gridDim.x, plane = row * gridDim.y, blocks = plane * gridDim.z;
  for (unsigned long long n = 0; n < blocks; ++n) {
    unsigned long long at = block_at(n, blocks, order);
#if defined(TUNESMITH_WATCHED)
    if (watch != nullptr) {
      const long long next = watch->next_block(watch->self, static_cast<long long>(blocks));
      if (next < 0) break;
      at = static_cast<unsigned long long>(next);
    }
#endif
    const auto narrow = [](unsigned long long value) { return static_cast<unsigned>(value); };
    blockIdx = {narrow(at % row), narrow(at % plane / row), narrow(at / plane)};
    fill_with_poison(dynamic, dynamic_size);
    if (shared_size > 0)
      fill_with_poison(reinterpret_cast<unsigned char*>(__start_tunesmith_shared), shared_size);
    const int result = run_block(threads);
    if (result != ok) return result;
    if (dynamic_size > 0 && !(intact(dynamic - guard_bytes) && intact(dynamic + dynamic_size)))
      return shared_overrun;
  }
  return intact(dynamic - guard_bytes) && intact(dynamic + dynamic_size) ? ok : shared_overrun;
}

// `way` is 1 for threads in reverse, plus 2 where every other 16 bytes of poison have the other sign, plus 4
// times the BlockOrder, plus 256 times the difference of the poison's bits from a NaN's.
static int run(Body kernel, void* const* arguments, const long long* grid, const long long* block,
               long long dynamic_bytes, int way) {
  if (!reserve_stacks()) return out_of_memory;
  const size_t dynamic_size = static_cast<size_t>(dynamic_bytes);
  const size_t total = (dynamic_size + 2 * guard_bytes + 255) / 256 * 256;
  unsigned char* dynamic = static_cast<unsigned char*>(aligned_alloc(256, total));
  if (dynamic == nullptr) return out_of_memory;
  memset(dynamic, guard, total);
  dynamic_shared = dynamic + guard_bytes;
  body = kernel;
  body_arguments = arguments;
  reversed = (way & 1) != 0;
  poison[0] = static_cast<unsigned char>(nan_poison ^ way >> 8);
  poison[1] = static_cast<unsigned char>(poison[0] ^ ((way & 2) != 0 ? 0x80 : 0));
  const auto narrow = [](long long value) { return static_cast<unsigned>(value); };
  gridDim = {narrow(grid[0]), narrow(grid[1]), narrow(grid[2])};
  blockDim = {narrow(block[0]), narrow(block[1]), narrow(block[2])};
  const int threads = static_cast<int>(block[0] * block[1] * block[2]);
  TUNESMITH_TELL(shared, dynamic_shared, dynamic_bytes);
  const int result =
      run_grid(dynamic + guard_bytes, dynamic_size, threads, static_cast<BlockOrder>(way >> 2 & 3));
  free(dynamic);
  dynamic_shared = nullptr;
  return result;
}

}  // namespace tunesmith_shim

// ---- templates/common/host/entry.h
// What a binary exports for each of its kernels; the executable that loads it finds these by name.


namespace tunesmith_shim {

// What the export of a kernel's parameters answers for each index, from 0 on: 4 * bytes + kind, and -1 beyond
// the last. runtime/host_executable.cpp compares that with what a launch gives.
constexpr int unknown_kind = 0, pointer_kind = 1, integer_kind = 2, floating_kind = 3;
template <typename P>
constexpr int kind(P*) {
  return __is_enum(P) ? integer_kind : unknown_kind;
}
template <typename P>
constexpr int kind(P**) {
  return pointer_kind;
}
constexpr int kind(int*) { return integer_kind; }
constexpr int kind(unsigned*) { return integer_kind; }
constexpr int kind(long*) { return integer_kind; }
constexpr int kind(unsigned long*) { return integer_kind; }
constexpr int kind(long long*) { return integer_kind; }
constexpr int kind(unsigned long long*) { return integer_kind; }
constexpr int kind(float*) { return floating_kind; }
constexpr int kind(double*) { return floating_kind; }

// Unpacks the parameters, whose types are the kernel's own, and says what they are.
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
  TUNESMITH_UNWATCHED static void call(void* const* arguments, Indices<I...>) {
    (void)arguments;
    Kernel(as<P>(arguments[I])...);
  }
  static void thread(void* const* arguments) { call(arguments, typename Count<sizeof...(P)>::type()); }
  static long long parameter(int index) {
    constexpr long long all[] = {(4 * static_cast<long long>(sizeof(P)) + kind(static_cast<P*>(nullptr)))...,
                                 -1};
    return index < static_cast<int>(sizeof...(P)) ? all[index] : -1;
  }
};

}  // namespace tunesmith_shim

#define TUNESMITH_EXPORT extern "C" __attribute__((visibility("default")))
// Ends the running launch from within a kernel, such as from the handler of a signal that it raised.
TUNESMITH_EXPORT void tunesmith_fail(int code) { tunesmith_shim::fail(code); }

#if defined(TUNESMITH_WATCHED)
#define TUNESMITH_LAST_GUARD TUNESMITH_SHARED_GUARD;
#else
#define TUNESMITH_LAST_GUARD
#endif
#define TUNESMITH_HOST_ENTRY(name)                                                                         \
  TUNESMITH_LAST_GUARD                                                                                     \
  TUNESMITH_EXPORT int tunesmith_run_##name(void* const* arguments, const long long* grid,                 \
                                            const long long* block, long long dynamic_bytes, int way) {    \
    return tunesmith_shim::run(tunesmith_shim::Entry<name>::thread, arguments, grid, block, dynamic_bytes, \
                               way);                                                                       \
  }                                                                                                        \
  TUNESMITH_EXPORT long long tunesmith_shared_bytes_##name() { return tunesmith_shim::shared_bytes(); }    \
  TUNESMITH_EXPORT long long tunesmith_parameter_##name(int index) {                                       \
    return tunesmith_shim::Entry<name>::parameter(index);                                                  \
  }

// ---- templates/common/host/language.h
// What CUDA's language has beyond C++: qualifiers, fences, and what ends a launch from within a kernel.
//
// Stands after every header of the C library, which uses some of these words itself.


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
#define __builtin_assume(condition) \
  ((condition) ? static_cast<void>(0) : tunesmith_shim::fail(tunesmith_shim::broken_assumption))

extern "C" int printf(const char* format, ...);

TUNESMITH_UNWATCHED inline void __threadfence() { TUNESMITH_TELL(fence, tunesmith_shim::thread_number(), 1); }
TUNESMITH_UNWATCHED inline void __threadfence_block() {
  TUNESMITH_TELL(fence, tunesmith_shim::thread_number(), 0);
}
inline void __threadfence_system() { __threadfence(); }
inline void __trap() { tunesmith_shim::fail(tunesmith_shim::trapped); }

// ---- templates/common/host/math.h
// CUDA's mathematical functions, by those of the C library. <math.h> is not included: it alone would double
// the time to compile a variant.

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
#define TUNESMITH_MATHS_2(name)                                                     \
  extern "C" double name(double, double);                                           \
  extern "C" float name##f(float, float);                                           \
  inline float name(float x, float y) { return name##f(x, y); }                     \
  inline double name(float x, double y) { return name(static_cast<double>(x), y); } \
  inline double name(double x, float y) { return name(x, static_cast<double>(y)); }
TUNESMITH_MATHS_1(sqrt)
TUNESMITH_MATHS_1(cbrt)
TUNESMITH_MATHS_1(exp)
TUNESMITH_MATHS_1(exp2)
TUNESMITH_MATHS_1(exp10)
TUNESMITH_MATHS_1(expm1)
TUNESMITH_MATHS_1(log)
TUNESMITH_MATHS_1(log2)
TUNESMITH_MATHS_1(log10)
TUNESMITH_MATHS_1(log1p)
TUNESMITH_MATHS_1(logb)
TUNESMITH_MATHS_1(sin)
TUNESMITH_MATHS_1(cos)
TUNESMITH_MATHS_1(tan)
TUNESMITH_MATHS_1(asin)
TUNESMITH_MATHS_1(acos)
TUNESMITH_MATHS_1(atan)
TUNESMITH_MATHS_1(sinh)
TUNESMITH_MATHS_1(cosh)
TUNESMITH_MATHS_1(tanh)
TUNESMITH_MATHS_1(asinh)
TUNESMITH_MATHS_1(acosh)
TUNESMITH_MATHS_1(atanh)
TUNESMITH_MATHS_1(erf)
TUNESMITH_MATHS_1(erfc)
TUNESMITH_MATHS_1(tgamma)
TUNESMITH_MATHS_1(lgamma)
TUNESMITH_MATHS_1(floor)
TUNESMITH_MATHS_1(ceil)
TUNESMITH_MATHS_1(trunc)
TUNESMITH_MATHS_1(round)
TUNESMITH_MATHS_1(rint)
TUNESMITH_MATHS_1(nearbyint)
TUNESMITH_MATHS_1(fabs)
TUNESMITH_MATHS_2(pow)
TUNESMITH_MATHS_2(fmod)
TUNESMITH_MATHS_2(remainder)
TUNESMITH_MATHS_2(hypot)
TUNESMITH_MATHS_2(atan2)
TUNESMITH_MATHS_2(copysign)
TUNESMITH_MATHS_2(fmin)
TUNESMITH_MATHS_2(fmax)
TUNESMITH_MATHS_2(fdim)
TUNESMITH_MATHS_2(nextafter)
#undef TUNESMITH_MATHS_1
#undef TUNESMITH_MATHS_2
extern "C" double fma(double, double, double);
extern "C" float fmaf(float, float, float);
inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
extern "C" void sincos(double, double*, double*);
extern "C" void sincosf(float, float*, float*);
inline void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
extern "C" double ldexp(double, int);
extern "C" float ldexpf(float, int);
inline float ldexp(float x, int exponent) { return ldexpf(x, exponent); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
constexpr int abs(int x) { return x < 0 ? -x : x; }
constexpr long abs(long x) { return x < 0 ? -x : x; }
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

// ---- templates/common/host_shim.h
// The CUDA execution model on a CPU, for one rendered text: threads are fibers, a barrier is a switch to the
// next one, shared memory is a section that is poisoned before every block. Blocks run one after the other
// and one launch at a time: the state is the module's.
//
// No C++ header is included, and few of the C library: every variant would pay for them when it is compiled.

#define TUNESMITH_HOST 1


// ---- templates/common/boundary.cuh
// Which sample stands at a place outside an array, by the words of scipy.ndimage. In kernels a boundary is an
// argument: only what lies at an edge asks for it.

// As templates/boundary.h numbers them.
enum BoundaryNumber {
  boundary_zero,
  boundary_constant,
  boundary_nearest,
  boundary_reflect,
  boundary_mirror,
  boundary_wrap
};

// The place in [0, size), or -1 where a constant stands. One step back is mostly enough; an array that is
// shorter than what lies beside it is repeated.
template <typename Index>
__device__ __forceinline__ Index sample_at(Index place, Index size, int boundary) {
  if (place >= 0 && place < size) return place;
  if (boundary <= boundary_constant) return -1;
  if (boundary == boundary_nearest) return place < 0 ? 0 : size - 1;
  const bool before = place < 0;
  Index found;
  if (boundary == boundary_reflect) {
    found = before ? -1 - place : size - 1 - (place - size);
  } else if (boundary == boundary_mirror) {
    found = before ? -place : size - 2 - (place - size);
  } else {
    found = before ? place + size : place - size;
  }
  if (found >= 0 && found < size) return found;
  if (size == 1) return 0;
  const Index period = boundary == boundary_reflect  ? 2 * size
                       : boundary == boundary_mirror ? 2 * size - 2
                                                     : size;
  found = place % period;
  if (found < 0) found += period;
  if (found < size) return found;
  return boundary == boundary_reflect ? period - 1 - found : period - found;
}

// ---- templates/common/float16.cuh
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

// ---- templates/common/widened.cuh
// Samples of any type as the numbers that sums are made of: double for double, else float.


template <typename T>
struct SumType {
  using type = float;
};
template <>
struct SumType<double> {
  using type = double;
};
template <typename T>
using sum_type = typename SumType<T>::type;

template <typename T>
__device__ __forceinline__ sum_type<T> widened(T value) {
  return static_cast<sum_type<T>>(to_float(value));
}

// ---- what this variant is
using T = float;  // dtype=f32
constexpr int BLOCK_X = 32;
constexpr int BLOCK_Y = 8;
#define ENTRY(name) name##_76c92dcb

// ---- templates/conv2d/base.cu
// conv2d, the plain kernel: one thread per output, every sample read from global memory. It knows nothing but
// the element type, so it serves every problem and is what the other templates are compared with.


// Launched with blocks of BLOCK_X x BLOCK_Y over the columns and rows of the output; a grid whose y or z
// would exceed 65535, the limit, is walked in strides. An output's window begins `top` rows above and `left`
// columns before the image's sample of its place. `value` stands outside where the boundary is a constant.
extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    ENTRY(conv2d_base)(const T* __restrict__ image, const sum_type<T>* __restrict__ mask,
                       sum_type<T>* __restrict__ output, int batch, int height, int width, int mask_height,
                       int mask_width, int convolve, int out_height, int out_width, int top, int left,
                       int boundary, double value) {
  using Sum = sum_type<T>;
  const int x = blockIdx.x * BLOCK_X + threadIdx.x;
  if (x >= out_width) return;
  // The columns of the mask that lie on the image: those before and behind it see what stands outside.
  const long long column = static_cast<long long>(x) - left;
  const int first_column = static_cast<int>(max(0LL, min(-column, static_cast<long long>(mask_width))));
  const int last_column = static_cast<int>(max(0LL, min(width - column, static_cast<long long>(mask_width))));
  const Sum outside = static_cast<Sum>(value);
  for (int b = blockIdx.z; b < batch; b += gridDim.z) {
    for (int y = blockIdx.y * BLOCK_Y + threadIdx.y; y < out_height; y += gridDim.y * BLOCK_Y) {
      Sum sum = 0;
      for (int i = 0; i < mask_height; ++i) {
        const long long from_y = sample_at<long long>(static_cast<long long>(y) - top + i, height, boundary);
        if (boundary == boundary_zero && from_y < 0) continue;
        const T* row = image + (static_cast<long long>(b) * height + max(from_y, 0LL)) * width;
        // A convolution is a correlation with the mask turned by half a turn.
        const Sum* weights = mask + static_cast<long long>(convolve ? mask_height - 1 - i : i) * mask_width;
        const auto weight = [&](int j) { return weights[convolve ? mask_width - 1 - j : j]; };
        const auto add_outside = [&](int begin, int end) {
          for (int j = begin; j < end; ++j) {
            const long long from_x = from_y < 0 ? -1 : sample_at<long long>(column + j, width, boundary);
            sum += weight(j) * (from_x < 0 ? outside : widened(row[from_x]));
          }
        };
        if (boundary != boundary_zero) add_outside(0, first_column);
        if (from_y < 0) {
          add_outside(first_column, last_column);
        } else {
          for (int j = first_column; j < last_column; ++j) sum += weight(j) * widened(row[column + j]);
        }
        if (boundary != boundary_zero) add_outside(max(first_column, last_column), mask_width);
      }
      output[(static_cast<long long>(b) * out_height + y) * out_width + x] = sum;
    }
  }
}

// ---- entries for the host
TUNESMITH_HOST_ENTRY(conv2d_base_76c92dcb)
