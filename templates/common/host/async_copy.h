// SPDX-License-Identifier: Apache-2.0
// The host twin of common/async_copy.cuh: copies that arrive at the wait, at addresses that a GPU would take.
#pragma once

#include "common/host/pending_copies.h"

template <int N, typename T>
inline void copy_async(T* to, const T* from, bool inside) {
  constexpr int bytes = sizeof(T) * N;
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "an asynchronous copy moves 4, 8 or 16 bytes");
  tunesmith_shim::copy_later(to, from, bytes, inside ? bytes : 0);
}

inline void wait_for_copies() {
  tunesmith_shim::end_copy_group();
  tunesmith_shim::wait_for_groups(0);
}
