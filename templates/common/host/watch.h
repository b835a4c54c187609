// SPDX-License-Identifier: Apache-2.0
// The reports of a watched launch: each access to memory, barriers, fences, and findings of the compiler's
// sanitizers. TUNESMITH_WATCHED is defined if the text is compiled with -fsanitize=thread, alignment and
// signed-integer-overflow. The sanitizers' functions are defined here, and no sanitizer library is linked.
// Without TUNESMITH_WATCHED, this file does nothing.
//
// runtime/watch.h has the same struct and explains the arguments of its functions.
#pragma once

#include <stddef.h>
#include <string.h>

#include "common/host/builtins.h"

#if !defined(TUNESMITH_WATCHED)

#if defined(TUNESMITH_LOOKS)
#define TUNESMITH_UNWATCHED __attribute__((no_sanitize("thread")))
#else
#define TUNESMITH_UNWATCHED
#endif
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
  void (*signal)(void* self, const void* what, int thread, int waits);
  void (*grid)(void* self, long long block);
  int (*runs_all)(void* self);
};
constexpr int reads = 0, writes = 1, updates = 2, reads_volatile = 3, writes_volatile = 4,
              updates_in_block = 5, reads_constant = 6;
constexpr int watch_ended = 9;  // the result of a launch that the watch has ended

static const Watch* watch = nullptr;
static bool in_thread = false;  // true in a thread of a block, false in the scheduler

static int thread_number();
static bool is_on_stack(const void* at);
static void fail(int code);
inline void look_again();
inline void looked(const void* at, const void* value, size_t bytes);

TUNESMITH_UNWATCHED static void end_watched() {
  in_thread = false;  // the code that ends the launch is not watched
  fail(watch_ended);
}

// The variables that kernels read most often.
TUNESMITH_UNWATCHED static bool is_own_index(const void* at) {
  return (at >= &threadIdx && at < &threadIdx + 1) || (at >= &blockIdx && at < &blockIdx + 1);
}

// This is noinline and called before the access, because the launch may end here.
TUNESMITH_UNWATCHED __attribute__((noinline)) static void note(const void* at, long long bytes, int kind) {
  if (!in_thread || is_on_stack(at) || is_own_index(at)) return;
  if (kind == reads_volatile) look_again();
  if (watch != nullptr && watch->access(watch->self, at, bytes, kind, thread_number()) == 0) end_watched();
  if (kind == reads_volatile) looked(at, at, static_cast<size_t>(bytes));
}

struct Spot {  // the layout is that of the sanitizers of GCC and Clang
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
