// SPDX-License-Identifier: Apache-2.0
// Shared memory: a section of the binary for the variables that kernels declare, and a block of memory
// between guards for dynamic shared memory. launch.h poisons both before every block.
#pragma once

#include <stddef.h>
#include <string.h>

#include "common/host/watch.h"

// The attribute `used` keeps the compiler from concluding that the variable is never written.
#if defined(__clang__)
#define TUNESMITH_SHARED static __attribute__((section("tunesmith_shared"), used))
#else
// GCC forgets the section of a variable in a template, but not that it is `noinit`: its section is .noinit.
#define TUNESMITH_SHARED static __attribute__((noinit, used))
asm(".pushsection .noinit,0,\"aw\",@nobits\n"
    ".balign 128\n"
    "__start_tunesmith_shared:\n"
    ".popsection\n"
    ".pushsection .noinit,8192,\"aw\",@nobits\n"  // the last subsection
    "__stop_tunesmith_shared:\n"
    ".popsection");
#endif
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

// The bytes of shared memory before a block runs, as a launch sets them: for the first 16 bytes and the next
// 16, in turn.
static unsigned char poison[2] = {nan_poison, nan_poison};

#if defined(__SANITIZE_ADDRESS__)
// Between variables are zones that memset() may not write.
__attribute__((no_sanitize_address)) static void fill_with_poison(unsigned char* memory, size_t size) {
  for (size_t at = 0; at < size; ++at) static_cast<volatile unsigned char*>(memory)[at] = poison[at / 16 % 2];
}
#else
TUNESMITH_UNWATCHED static void fill_with_poison(unsigned char* memory, size_t size) {
  memset(memory, poison[0], size);
  if (poison[0] == poison[1]) return;
  for (size_t at = 16; at < size; at += 32) memset(memory + at, poison[1], size - at < 16 ? size - at : 16);
}
#endif

static void* dynamic_shared = nullptr;

// The bytes that the text declares for a block. A watched binary has guards between them and gives no number.
inline long long shared_bytes() {
#if !defined(TUNESMITH_WATCHED)
  if (__start_tunesmith_shared != nullptr) return __stop_tunesmith_shared - __start_tunesmith_shared;
#endif
  return 0;
}

TUNESMITH_UNWATCHED static bool intact(const unsigned char* guards) {
  for (size_t n = 0; n < guard_bytes; n += sizeof(unsigned long long)) {
    unsigned long long eight;
    memcpy(&eight, guards + n, sizeof(eight));
    if (eight != guard * 0x0101010101010101ull) return false;
  }
  return true;
}

}  // namespace tunesmith_shim
