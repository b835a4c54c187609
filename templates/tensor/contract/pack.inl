// SPDX-License-Identifier: Apache-2.0
// Copies operands into the workspace, where their rows are neighbours and their terms come one after another.

constexpr int pack_side = contract_pack_side, pack_threads = contract_pack_threads;

// For each digit of an operand: its extent, the places from `begins` to `ends` that are in the array, and how
// far it moves in the array and in the packed copy. The first digit is the nearest in the copy, the second
// the nearest in the array or another one.
struct PackPlaces {
  int extents[16], begins[16], ends[16];
};
struct PackStrides {
  long long from[16], to[16];
};

// A block moves 64 places of the first two digits; blocks count through the other digits. Places that are not
// in the array are zeros in the copy.
__device__ __forceinline__ void pack_places(const T* from, T* to, long long start_from,
                                            const PackPlaces& places, const PackStrides& strides, T* tile,
                                            unsigned at) {
  int corner[2], room[2];
#pragma unroll
  for (int d = 0; d < 2; ++d) {
    const unsigned tiles = ceil_divide(places.extents[d], pack_side);
    corner[d] = static_cast<int>(at % tiles) * pack_side;
    room[d] = places.extents[d] - corner[d];
    at /= tiles;
  }
  long long source = start_from + corner[0] * strides.from[0] + corner[1] * strides.from[1];
  long long target = corner[0] * strides.to[0] + corner[1] * strides.to[1];
  bool exists = true;
  constexpr int digits = larger(M_RANK, N_RANK) + K_RANK + BATCH_RANK;
#pragma unroll
  for (int d = 2; d < smaller(16, digits + 1); ++d) {
    const unsigned extent = static_cast<unsigned>(places.extents[d]);
    const long long digit = at % extent;
    exists = exists && digit >= places.begins[d] && digit < places.ends[d];
    source += digit * strides.from[d];
    target += digit * strides.to[d];
    at /= extent;
  }
  start();
  // A lane is a place of the digit whose neighbours it reads, and a line one of the other digit.
  constexpr int steps = pack_side * pack_side / pack_threads, lines = pack_threads / pack_side;
  const int lane = static_cast<int>(threadIdx.x) % pack_side;
  const int line = static_cast<int>(threadIdx.x) / pack_side;
  const bool turned = strides.from[1] == 1;
  const auto exists_at = [&](int d, int at) {
    return static_cast<unsigned>(corner[d] + at - places.begins[d]) <
           static_cast<unsigned>(places.ends[d] - places.begins[d]);
  };
  const long long step = turned ? strides.from[0] : strides.from[1];
  const T* its = from + (source + lane * (turned ? strides.from[1] : strides.from[0]) + line * step);
  exists = exists && (turned ? exists_at(1, lane) : exists_at(0, lane));
  T held[steps];  // all loads run at once
#pragma unroll
  for (int s = 0; s < steps; ++s) {
    held[s] = {};
    if (exists && (turned ? exists_at(0, line + s * lines) : exists_at(1, line + s * lines))) held[s] = *its;
    its += step * lines;
  }
  T* const place = tile + (turned ? lane * (pack_side + 1) + line : line * (pack_side + 1) + lane);
#pragma unroll
  for (int s = 0; s < steps; ++s) place[turned ? s * lines : s * lines * (pack_side + 1)] = held[s];
  __syncthreads();
  if (lane >= room[0]) return;
  T* its_to = to + (target + lane * strides.to[0] + line * strides.to[1]);
#pragma unroll
  for (int s = 0; s < steps; ++s) {
    if (line + s * lines < room[1]) *its_to = tile[(line + s * lines) * (pack_side + 1) + lane];
    its_to += strides.to[1] * lines;
  }
}

// Packs one operand or both; the first `first_blocks` blocks pack the first.
extern "C" __global__ void __launch_bounds__(pack_threads)
    ENTRY(tensor_contract_pack)(InputPointer<T> first, InputPointer<T> second, InOutPointer<T> to_first,
                                InOutPointer<T> to_second, long long first_start, long long second_start,
                                int first_blocks, const __grid_constant__ PackPlaces first_places,
                                const __grid_constant__ PackStrides first_strides,
                                const __grid_constant__ PackPlaces second_places,
                                const __grid_constant__ PackStrides second_strides) {
  if constexpr (PACK == Pack::none) return;  // it is not launched
  DYNAMIC_SHARED(T, tile);                   // of lines one element longer
  const unsigned before = static_cast<unsigned>(first_blocks);
  if (blockIdx.x < before) {
    pack_places(first, to_first, first_start, first_places, first_strides, tile, blockIdx.x);
  } else {
    pack_places(second, to_second, second_start, second_places, second_strides, tile, blockIdx.x - before);
  }
}
