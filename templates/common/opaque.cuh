// SPDX-License-Identifier: Apache-2.0
// Numbers and addresses of which the compiler does not know where they come from, so that it computes nothing
// from them ahead of time. On the host they are as they were.
#pragma once

// Stays where it stands in the code.
__device__ __forceinline__ void make_opaque(int& x) {
#ifndef TUNESMITH_HOST
  asm volatile("" : "+r"(x));
#endif
}
__device__ __forceinline__ void make_opaque(int& x, int& y) {
#ifndef TUNESMITH_HOST
  asm volatile("" : "+r"(x), "+r"(y));
#endif
}

// Where it is anyway, so that an address is one multiplication away from an offset of 32 bits.
template <typename Pointer>
__device__ __forceinline__ Pointer held_in_register(Pointer pointer) {
#ifndef TUNESMITH_HOST
  asm("" : "+l"(pointer));
#endif
  return pointer;
}
