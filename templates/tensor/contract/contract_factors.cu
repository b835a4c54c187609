// SPDX-License-Identifier: Apache-2.0
// The template `contract_factors`: sums of products of two factors, each a function of accesses. A kernel
// writes the factors into the workspace, where they are multiplied as in contract. The preamble has the types
// T, in which the factors are, Given, of the arrays, Compute and Out, the factors and the finish.

constexpr bool zeros_add_nothing = true;  // terms of zeros
__device__ __forceinline__ Compute neutral() { return 0; }
__device__ __forceinline__ Compute added(Compute sum, Compute term) { return elementwise::add(sum, term); }
__device__ __forceinline__ Compute term(Compute first, Compute second) {
  return elementwise::multiply(first, second);
}

#include "tensor/contract/body.inl"

// For each dimension of a copy its extent. The first one is the nearest in the copy; `values` of its places
// are values, the others zeros. `turned`: the second one's neighbours are those of an array.
struct CopyPlaces {
  int extents[16], values, turned;
};
// How far each dimension moves the copies and the accesses of both factors.
struct CopyStrides {
  long long first[16], second[16];
};
struct AccessStrides {
  long long start, from[16];
};
struct AllStrides {
  AccessStrides of[FACTOR_ACCESSES];
};

// A block writes 64 places of the first two dimensions; blocks count through the other ones.
template <typename Factor>
__device__ __forceinline__ void copy_factor(const Given* const (&from)[Factor::arity], T* to,
                                            const CopyPlaces& places, const long long (&to_strides)[16],
                                            const AllStrides& strides, T* tile, unsigned at) {
  int corner[2], room[2];
#pragma unroll
  for (int d = 0; d < 2; ++d) {
    const unsigned tiles = ceil_divide(places.extents[d], pack_side);
    corner[d] = static_cast<int>(at % tiles) * pack_side;
    room[d] = places.extents[d] - corner[d];
    at /= tiles;
  }
  long long target = corner[0] * to_strides[0] + corner[1] * to_strides[1];
  const Given* source[Factor::arity];
#pragma unroll
  for (int a = 0; a < Factor::arity; ++a) {
    const AccessStrides& its = strides.of[Factor::first + a];
    source[a] = from[a] + (its.start + corner[0] * its.from[0] + corner[1] * its.from[1]);
  }
#pragma unroll
  for (int d = 2; d < larger(2, Factor::rank); ++d) {
    const unsigned extent = static_cast<unsigned>(places.extents[d]);
    const long long digit = at % extent;
    target += digit * to_strides[d];
#pragma unroll
    for (int a = 0; a < Factor::arity; ++a) source[a] += digit * strides.of[Factor::first + a].from[d];
    at /= extent;
  }
  start();
  // A lane is a place of the dimension whose neighbours it reads, and a line one of the other dimension.
  constexpr int steps = pack_side * pack_side / pack_threads, lines = pack_threads / pack_side;
  const int lane = static_cast<int>(threadIdx.x) % pack_side;
  const int line = static_cast<int>(threadIdx.x) / pack_side;
  const bool turned = places.turned != 0;
  const int values = places.values - corner[0];  // of the first dimension
  const bool exists = lane < (turned ? room[1] : values);
#pragma unroll
  for (int s = 0; s < steps; ++s) {
    const int along = line + s * lines;
    T value = {};
    if (exists && along < (turned ? values : room[1])) {
      Compute elements[Factor::arity];
#pragma unroll
      for (int a = 0; a < Factor::arity; ++a) {
        const AccessStrides& its = strides.of[Factor::first + a];
        const long long place =
            turned ? along * its.from[0] + lane * its.from[1] : lane * its.from[0] + along * its.from[1];
        elements[a] = static_cast<Compute>(to_float(source[a][place]));
      }
      value = converted<T>(Factor::of(elements));
    }
    tile[turned ? lane * pack_line + along : along * pack_line + lane] = value;
  }
  __syncthreads();
  if (lane >= room[0]) return;
#pragma unroll
  for (int s = 0; s < steps; ++s) {
    const int along = line + s * lines;
    if (along < room[1])
      to[target + lane * to_strides[0] + along * to_strides[1]] = tile[along * pack_line + lane];
  }
}

// Writes one factor or both; the first `first_blocks` blocks write the first.
extern "C" __global__ void __launch_bounds__(pack_threads)
    ENTRY(tensor_contract_factors)(InOutPointer<T> to_first, InOutPointer<T> to_second, int first_blocks,
                                   FACTOR_PARAMETERS, const __grid_constant__ CopyPlaces first_places,
                                   const __grid_constant__ CopyPlaces second_places,
                                   const __grid_constant__ CopyStrides to_strides,
                                   const __grid_constant__ AllStrides strides) {
  DYNAMIC_SHARED(T, tile);
  const unsigned before = static_cast<unsigned>(first_blocks);
  if (blockIdx.x < before) {
    const Given* const from[] = {FIRST_OPERANDS};
    copy_factor<FirstFactor>(from, to_first, first_places, to_strides.first, strides, tile, blockIdx.x);
  } else {
    const Given* const from[] = {SECOND_OPERANDS};
    copy_factor<SecondFactor>(from, to_second, second_places, to_strides.second, strides, tile,
                              blockIdx.x - before);
  }
}
