// SPDX-License-Identifier: Apache-2.0
// A counter in global memory that tells which of several calls is the last.
#pragma once

// Counts the calls; the last of `calls` gets true, and the counter is zero again. What the callers (and, if
// they passed a barrier before, their blocks) wrote before is visible to the last.
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
