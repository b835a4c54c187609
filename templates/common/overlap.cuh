// Programmatic dependent launch: a kernel launched with it may start while its predecessor in the stream
// still runs. Without it, before compute capability 9.0 and on the host, both functions do nothing.
#pragma once

// Returns when all work before this kernel has ended and is visible. Comes before the first access to memory.
__device__ __forceinline__ void wait_for_previous() {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel's blocks start as soon as there is room for them; they wait before they touch memory.
__device__ __forceinline__ void let_next_start() {
#if !defined(TUNESMITH_HOST) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
