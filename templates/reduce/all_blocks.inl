// SPDX-License-Identifier: Apache-2.0
// How a block's threads add up their partials, and how those that blocks have stored are added up, for
// several blocks per output. Needs R, a reduction, Partial, BLOCK and TREE.
constexpr bool by_shuffles = TREE == Tree::shuffle;

// Returns the block's total to its first thread.
__device__ __forceinline__ Partial block_total(Partial partial, Partial* shared) {
  if constexpr (by_shuffles) {
    return team_total<R, BLOCK>(partial, shared);
  } else {
    return shared_total<R, BLOCK>(partial, shared);
  }
}

// The total of a thread's share of the partials that an output's blocks have stored.
__device__ __forceinline__ Partial kept_part(const Partial* kept, unsigned count) {
  Partial total = nothing<R>();
#pragma unroll 4
  for (unsigned b = threadIdx.x; b < count; b += BLOCK) total = R::combine(total, kept[b]);
  return total;
}

constexpr int shared_partials = by_shuffles ? (BLOCK + 31) / 32 : BLOCK;
