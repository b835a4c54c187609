// tensor, sums of products of two accesses as products of matrices. The preamble has
// the types Compute and Out and the finish.

#include "common/async_copy.cuh"
#include "common/copy_groups.cuh"
#include "common/float16.cuh"
#include "common/hinted_access.cuh"
#include "common/integer.cuh"
#include "common/overlap.inl"
#include "common/shared.cuh"
#include "common/vector.cuh"
#include "elementwise/functions.cuh"

constexpr bool zeros_add_nothing = true;  // terms of zeros
__device__ __forceinline__ Compute neutral() { return 0; }
__device__ __forceinline__ Compute added(Compute sum, Compute term) { return elementwise::add(sum, term); }
__device__ __forceinline__ Compute term(Compute first, Compute second) {
  return elementwise::multiply(first, second);
}

#include "tensor/contract_body.inl"
