// SPDX-License-Identifier: Apache-2.0
// A block's threads as fibers. A fiber runs one thread after the other until one of them waits, so kernels
// without barriers pay for no switches. This file starts and resumes fibers; warp.h and block.h decide when.
#pragma once

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

#include "common/host/builtins.h"
#include "common/host/stack_switch.h"
#include "common/host/watch.h"

extern "C" [[noreturn]] void abort();

namespace tunesmith_shim {

constexpr int max_threads = 1024;
constexpr int warp_lanes = 32;
constexpr size_t page = 4096;
constexpr size_t stack_bytes = 256 * 1024;  // reserved; only what a thread touches becomes memory

// The results of a launch. runtime/host_executable.cpp has their messages.
constexpr int ok = 0, out_of_memory = 1, shared_overrun = 2, divergent_barrier = 3, trapped = 4;
[[maybe_unused]] constexpr int broken_assumption = 5;
constexpr int divergent_warp = 6;
[[maybe_unused]] constexpr int misaligned = 8;  // 7 is a fault, 9 is watch_ended
constexpr int never_signalled = 10;
[[maybe_unused]] constexpr int differing_lanes = 11, other_block = 12, grid_waits = 13;
constexpr int waits_for_ever = 14;
[[maybe_unused]] constexpr int not_shared = 15;

struct Fiber {
#if defined(TUNESMITH_UCONTEXT)
  ucontext_t context;
#else
  void* stack_pointer;
#endif
  char* stack;   // lowest address, above one page that faults
  uint3 thread;  // threadIdx of the thread that it runs
  int line;      // the line of the barrier or collective where it waits; below 0 at __activemask
  int warp, lane;
  unsigned mask;  // the mask of the collective where it waits; 0 at a barrier
  bool finished;
  unsigned long long operand;  // its operand of the collective
  const unsigned* signal;      // the word whose change it waits for, or null
  unsigned signal_before;
  unsigned looks_in_vain;  // look.h
};

// The line of a call that has this as its last parameter's default. No number becomes one.
struct CallLine {
  int line;
  explicit CallLine(int given = __builtin_LINE()) : line(given) {}
};

typedef void (*Body)(void* const* arguments);

static Fiber fibers[max_threads];
static Fiber* running = nullptr;
static char* stacks = nullptr;
static Body body = nullptr;
static void* const* body_arguments = nullptr;
static uint3 next_thread;     // the next to start
static int threads_left = 0;  // threads of the warp that have not started
static int lanes = 0;         // the number of lanes of the warp
static int warp = 0;
static bool reversed = false;
static int failure = ok;
static int waiting[max_threads];              // fibers that have not finished, in the order of their threads
static int at_signals = 0;                    // fibers that wait for a word to change
static unsigned turn_of_waiting = 0;          // changes whenever threads that looked in vain may look again
static unsigned long long looks_in_vain = 0;  // of all threads, since one of them did something else
static unsigned long long blocks_run = 0;

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

// Returns when another thread has changed the word from `before`: a thread waits so at a cuda::barrier.
[[maybe_unused]] TUNESMITH_UNWATCHED __attribute__((noinline)) static void wait_for_signal(
    const unsigned* word, unsigned before) {
  while (*static_cast<const volatile unsigned*>(word) == before) {
    running->signal = word;
    running->signal_before = before;
    ++at_signals;
    to_scheduler(false);
    --at_signals;
    running->signal = nullptr;
  }
}

#if defined(TUNESMITH_WATCHED)
TUNESMITH_UNWATCHED static int thread_number() {
  const uint3& at = running->thread;
  return static_cast<int>((at.z * blockDim.y + at.y) * blockDim.x + at.x);
}
#endif
[[maybe_unused]] TUNESMITH_UNWATCHED static bool is_on_stack(const void* at) {
  return at >= stacks && at < stacks + max_threads * (stack_bytes + page);
}

TUNESMITH_UNWATCHED static void advance(uint3* at) {
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

// Starts threads until one waits. resume() continues that thread, which is then the fiber's last one.
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
    self->looks_in_vain = 0;
    advance(&next_thread);
    body(body_arguments);
  }
  self->finished = true;
  to_scheduler(true);
  abort();  // a finished fiber is never resumed
}

// This function is unwatched because the watch must not end a launch from the scheduler.
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

TUNESMITH_UNWATCHED static bool start(Fiber* fiber) {
  if (fiber->stack == nullptr) {
    char* slot = stacks + static_cast<size_t>(fiber - fibers) * (stack_bytes + page);
    if (mprotect(slot, page, PROT_NONE) != 0) return false;
    fiber->stack = slot + page;
  }
  fiber->finished = false;
  fiber->mask = 0;
  fiber->signal = nullptr;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(fiber->stack,
                                stack_bytes);  // the fiber may have been left in the middle of a thread
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
  // The stack is as after a call: the return address lies at a multiple of 16, and the stack pointer is 8
  // above that once it is popped.
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

TUNESMITH_UNWATCHED static bool reserve_stacks() {
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
