// SPDX-License-Identifier: Apache-2.0
// Groups of asynchronous copies (async_copy.cuh). Several groups may be under way; they are waited for in the
// order in which they were ended. Before compute capability 8.0, copies are complete when they are made. On
// the host, common/host/copy_groups.h replaces this file.
#pragma once

// Ends a group: it consists of this thread's copies since the last call.
__device__ __forceinline__ void end_copy_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most LEFT of this thread's groups have not arrived. A barrier must follow before other
// threads read the arrived data.
template <int LEFT>
__device__ __forceinline__ void wait_for_copy_groups() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
#endif
}
