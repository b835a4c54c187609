// SPDX-License-Identifier: Apache-2.0
// Copies an operand into the workspace, where its rows are neighbours and its terms come one after another.

constexpr int pack_side = contract_pack_side, pack_threads = contract_pack_threads;

// The first digit of the extents is the nearest in `to`, the second the nearest in `from` or another one. A
// block moves 64 places of both; blocks count through the other digits. Places that are not from `begins` to
// `ends` are not in `from`, and zeros in `to`.
extern "C" __global__ void __launch_bounds__(pack_threads)
    ENTRY(tensor_contract_pack)(InputPointer<T> from, InOutPointer<T> to, long long start_from,
                                Extents extents, Extents begins, Extents ends,
                                OfDigits<long long> from_strides, OfDigits<long long> to_strides) {
  if constexpr (PACK == Pack::none) return;  // it is not launched
  DYNAMIC_SHARED(T, tile);                   // of lines one element longer
  unsigned at = blockIdx.x;
  int corner[2], room[2];
#pragma unroll
  for (int d = 0; d < 2; ++d) {
    const unsigned tiles = ceil_divide(extents[d], pack_side);
    corner[d] = static_cast<int>(at % tiles) * pack_side;
    room[d] = extents[d] - corner[d];
    at /= tiles;
  }
  long long source = start_from + corner[0] * from_strides[0] + corner[1] * from_strides[1];
  long long target = corner[0] * to_strides[0] + corner[1] * to_strides[1];
  bool exists = true;
  constexpr int digits = larger(M_RANK, N_RANK) + K_RANK + BATCH_RANK;
#pragma unroll
  for (int d = 2; d < smaller(16, digits + 1); ++d) {
    const unsigned extent = static_cast<unsigned>(extents[d]);
    const long long digit = at % extent;
    exists = exists && digit >= begins[d] && digit < ends[d];
    source += digit * from_strides[d];
    target += digit * to_strides[d];
    at /= extent;
  }
  start();
  const int lane = static_cast<int>(threadIdx.x) % pack_side;
  const int line = static_cast<int>(threadIdx.x) / pack_side;
  const bool turned = from_strides[1] == 1;
#pragma unroll
  for (int step = 0; step < pack_side; step += pack_threads / pack_side) {
    const int first = turned ? line + step : lane, second = turned ? lane : line + step;
    if (first >= room[0] || second >= room[1]) continue;
    T element = {};
    if (exists && corner[0] + first >= begins[0] && corner[0] + first < ends[0] &&
        corner[1] + second >= begins[1] && corner[1] + second < ends[1])
      element = from[source + first * from_strides[0] + second * from_strides[1]];
    tile[second * (pack_side + 1) + first] = element;
  }
  __syncthreads();
#pragma unroll
  for (int step = 0; step < pack_side; step += pack_threads / pack_side) {
    if (lane < room[0] && line + step < room[1])
      to[target + lane * to_strides[0] + (line + step) * to_strides[1]] =
          tile[(line + step) * (pack_side + 1) + lane];
  }
}
