// SPDX-License-Identifier: Apache-2.0
// Hides the origin of numbers and addresses from the compiler, so that it computes nothing from them ahead of
// time. On the host, the functions do nothing.
#pragma once

// The compiler does not move this.
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

// The pointer, which stays in the register where it is, so that an address takes one multiplication from an
// offset of 32 bits.
template <typename Pointer>
__device__ __forceinline__ Pointer held_in_register(Pointer pointer) {
#ifndef TUNESMITH_HOST
  asm("" : "+l"(pointer));
#endif
  return pointer;
}
