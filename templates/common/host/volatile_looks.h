// SPDX-License-Identifier: Apache-2.0
// The twin of common/volatile_looks.cuh: the compiler reports each volatile load (look.h). It calls the
// functions of a thread sanitizer, which are defined here if the launch is not watched; no sanitizer library
// is linked.
#pragma once

#include <stddef.h>
#include <string.h>

#include "common/host/look.h"

#define TUNESMITH_VOLATILE_LOOKS 1  // runtime/host_toolchain.cpp looks for this line

#if defined(TUNESMITH_LOOKS) && !defined(TUNESMITH_WATCHED)

namespace tunesmith_shim {
TUNESMITH_UNWATCHED inline void look(const void* at, size_t bytes) {
  if (running == nullptr || is_on_stack(at)) return;
  look_again();
  looked(at, at, bytes);
}
}  // namespace tunesmith_shim

extern "C" {
#define TUNESMITH_HOOK(name) \
  TUNESMITH_UNWATCHED void name(void*) {}
#define TUNESMITH_HOOKS(bytes)                                                                        \
  TUNESMITH_HOOK(__tsan_read##bytes)                                                                  \
  TUNESMITH_HOOK(__tsan_write##bytes)                                                                 \
  TUNESMITH_HOOK(__tsan_unaligned_read##bytes)                                                        \
  TUNESMITH_HOOK(__tsan_unaligned_write##bytes)                                                       \
  TUNESMITH_HOOK(__tsan_volatile_write##bytes)                                                        \
  TUNESMITH_HOOK(__tsan_unaligned_volatile_write##bytes)                                              \
  TUNESMITH_UNWATCHED void __tsan_volatile_read##bytes(void* at) { tunesmith_shim::look(at, bytes); } \
  TUNESMITH_UNWATCHED void __tsan_unaligned_volatile_read##bytes(void* at) {                          \
    tunesmith_shim::look(at, bytes);                                                                  \
  }
TUNESMITH_HOOKS(1)
TUNESMITH_HOOKS(2)
TUNESMITH_HOOKS(4)
TUNESMITH_HOOKS(8)
TUNESMITH_HOOKS(16)
#undef TUNESMITH_HOOKS
#undef TUNESMITH_HOOK
TUNESMITH_UNWATCHED void __tsan_read_range(void*, size_t) {}
TUNESMITH_UNWATCHED void __tsan_write_range(void*, size_t) {}
TUNESMITH_UNWATCHED void* __tsan_memcpy(void* to, const void* from, size_t bytes) {
  return memcpy(to, from, bytes);
}
TUNESMITH_UNWATCHED void* __tsan_memmove(void* to, const void* from, size_t bytes) {
  return memmove(to, from, bytes);
}
TUNESMITH_UNWATCHED void* __tsan_memset(void* to, int byte, size_t bytes) { return memset(to, byte, bytes); }
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
}

#endif
