// SPDX-License-Identifier: Apache-2.0
// The template `contract_any`: any function of two accesses that is added, or of which the largest or
// smallest value is taken, computed as a product of matrices. The preamble has Compute, Out, apply() and the
// finish.

// True if terms of zeros add nothing.
constexpr bool zeros_add_nothing = ZEROS_ADD_NOTHING != 0;

// REDUCTION: 0 adds, 1 takes the largest, 2 the smallest; a NaN is larger and smaller than all.
template <typename X>
__device__ __forceinline__ X end_of(bool largest) {
  if constexpr (elementwise::is_real<X>) {
    return __uint_as_float(largest ? 0x7f800000u : 0xff800000u);  // an infinity
  } else {
    using Bits = typename elementwise::Wrapping<X>::type;
    constexpr Bits most = static_cast<Bits>(-1) / 2;
    return static_cast<X>(largest ? most : most + 1);
  }
}
__device__ __forceinline__ Compute neutral() { return REDUCTION == 0 ? 0 : end_of<Compute>(REDUCTION == 2); }
__device__ __forceinline__ Compute added(Compute sum, Compute term) {
  if constexpr (REDUCTION == 0) return elementwise::add(sum, term);
  return REDUCTION == 1 ? elementwise::max(sum, term) : elementwise::min(sum, term);
}
__device__ __forceinline__ Compute term(Compute first, Compute second) {
  const Compute values[2] = {SWAPPED ? second : first, SWAPPED ? first : second};
  return apply(values);
}

#include "tensor/contract/body.inl"
