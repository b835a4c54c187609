// SPDX-License-Identifier: Apache-2.0
// Copies from global to shared memory that use no registers and are waited for as one group. Before compute
// capability 8.0 they are ordinary copies, and the wait does nothing. On the host they arrive at the wait,
// and common/host/async_copy.h replaces this file.
#pragma once

// Copies N elements (4, 8 or 16 bytes in all, with both addresses aligned to this size), or writes zeros if
// not `inside`. In the latter case `from` is not read but still has to be a pointer into the array.
template <int N, typename T>
__device__ __forceinline__ void copy_async(T* to, const T* from, bool inside) {
  constexpr int bytes = sizeof(T) * N;
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "an asynchronous copy moves 4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
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
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
#endif
}
