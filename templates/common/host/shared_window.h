// SPDX-License-Identifier: Apache-2.0
// The numbers by which instructions name shared memory: variables that kernels declare have those from 1 KiB
// on, and dynamic shared memory those from 16 MiB on. A number differs from its pointer by a multiple of 128.
#pragma once

#include <stddef.h>

#include "common/host/fibers.h"
#include "common/host/shared_memory.h"

namespace tunesmith_shim {

constexpr long long declared_at = 1 << 10, dynamic_at = 1 << 24, reach = 1 << 23;
constexpr unsigned no_shared_number = 0xff000000u;  // of pointers to other memory

TUNESMITH_UNWATCHED inline unsigned shared_number(const void* pointer) {
  const char* const at = static_cast<const char*>(pointer);
  const bool declares = __start_tunesmith_shared != nullptr;
  if (declares && at >= __start_tunesmith_shared && at <= __stop_tunesmith_shared)
    return static_cast<unsigned>(declared_at + (at - __start_tunesmith_shared));
  // Also a pointer beyond an array, which a kernel may compute and not use.
  const long long in_dynamic = at - static_cast<const char*>(dynamic_shared);
  if (dynamic_shared != nullptr && in_dynamic > -reach && in_dynamic < reach)
    return static_cast<unsigned>(dynamic_at + in_dynamic);
  const long long in_declared = at - __start_tunesmith_shared;
  if (declares && in_declared >= -declared_at && in_declared < reach - declared_at)
    return static_cast<unsigned>(declared_at + in_declared);
  return no_shared_number | static_cast<unsigned>(reinterpret_cast<size_t>(at) & 127);
}

TUNESMITH_UNWATCHED inline char* shared_pointer(unsigned long long number) {
  const auto at = static_cast<long long>(number);
  if (number < static_cast<unsigned long long>(reach) && __start_tunesmith_shared != nullptr)
    return __start_tunesmith_shared + (at - declared_at);
  if (number - static_cast<unsigned long long>(reach) < 2 * static_cast<unsigned long long>(reach) &&
      dynamic_shared != nullptr)
    return static_cast<char*>(dynamic_shared) + (at - dynamic_at);
  fail(not_shared);
  return nullptr;
}

}  // namespace tunesmith_shim

inline size_t __cvta_generic_to_shared(const void* pointer) { return tunesmith_shim::shared_number(pointer); }
inline void* __cvta_shared_to_generic(size_t number) { return tunesmith_shim::shared_pointer(number); }
inline size_t __cvta_generic_to_global(const void* pointer) { return reinterpret_cast<size_t>(pointer); }
inline void* __cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
inline unsigned __isShared(const void* pointer) {
  return tunesmith_shim::shared_number(pointer) < tunesmith_shim::no_shared_number ? 1u : 0u;
}
inline unsigned __isGlobal(const void* pointer) {
  return __isShared(pointer) == 0 && !tunesmith_shim::is_on_stack(pointer) ? 1u : 0u;
}
