// SPDX-License-Identifier: Apache-2.0
// A counter in global memory that tells which of several calls is the last.
#pragma once

// Counts calls. Returns true for the last of `calls` calls and resets the counter to zero. The last caller
// sees all earlier writes of the callers, and of their blocks if these passed a barrier before the call.
__device__ __forceinline__ bool last_of(unsigned* counter, unsigned calls) {
#ifdef TUNESMITH_HOST
  return atomicInc(counter, calls - 1) == calls - 1;
#else
  unsigned before;
  asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(calls - 1)
               : "memory");
  return before == calls - 1;
#endif
}
