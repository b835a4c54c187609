// SPDX-License-Identifier: Apache-2.0
// Groups of asynchronous copies (async_copy.cuh): several may be under way, and are waited for in the order
// in which they ended. Before compute capability 8.0 copies have arrived when they are made. On the host
// common/host/copy_groups.h stands for this file.
#pragma once

// This thread's copies since the last call form a group.
__device__ __forceinline__ void end_copy_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Until at most LEFT of this thread's groups have not arrived; a barrier must follow before other threads
// read what has.
template <int LEFT>
__device__ __forceinline__ void wait_for_copy_groups() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
#endif
}
