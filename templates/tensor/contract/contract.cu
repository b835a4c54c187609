// SPDX-License-Identifier: Apache-2.0
// The template `contract`: sums of products of two accesses, computed as products of matrices. The preamble
// has the types Compute and Out and the finish.

constexpr bool zeros_add_nothing = true;  // terms of zeros
__device__ __forceinline__ Compute neutral() { return 0; }
__device__ __forceinline__ Compute added(Compute sum, Compute term) { return elementwise::add(sum, term); }
__device__ __forceinline__ Compute term(Compute first, Compute second) {
  return elementwise::multiply(first, second);
}

#include "tensor/contract/body.inl"
