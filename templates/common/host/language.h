// SPDX-License-Identifier: Apache-2.0
// The parts of CUDA's language beyond C++: qualifiers, fences, and functions that end a launch from within a
// kernel.
//
// It must be included after every header of the C library, which uses some of these names itself.
#pragma once

#include "common/host/builtins.h"
#include "common/host/fibers.h"
#include "common/host/look.h"
#include "common/host/shared_memory.h"

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

namespace tunesmith_shim {
// A thread that waits for another one may do nothing but pass a fence between its loads.
TUNESMITH_UNWATCHED inline void pass_fence(int of_device) {
  look_again();
  TUNESMITH_TELL(fence, thread_number(), of_device);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  looked(nullptr, 0ull);
  static_cast<void>(of_device);
}
}  // namespace tunesmith_shim
TUNESMITH_UNWATCHED inline void __threadfence() { tunesmith_shim::pass_fence(1); }
TUNESMITH_UNWATCHED inline void __threadfence_block() { tunesmith_shim::pass_fence(0); }
inline void __threadfence_system() { __threadfence(); }
inline void __trap() { tunesmith_shim::fail(tunesmith_shim::trapped); }
