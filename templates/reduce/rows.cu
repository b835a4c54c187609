// SPDX-License-Identifier: Apache-2.0
// reduce/rows, with a team of threads per output, along contiguous elements; for many rows. The element type,
// the function and the type of sums are compiled in.

#include "common/overlap.inl"
#include "reduce/chosen.inl"
#include "reduce/reductions.cuh"

using TeamTile = Tile<R, TEAM, ITEMS, VECTOR, static_cast<int>(LOAD)>;

constexpr int teams = BLOCK / TEAM;

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_rows)(const T* x, R::Output* y, long long outer, long long length,
                       long long outer_stride ONLY_FOR_MOMENTS(, double mean_ratio, double variance_ratio)) {
  __shared__ Partial shared[(BLOCK + 31) / 32];
  start();
  constexpr int elements = TeamTile::elements;
  const int thread = static_cast<int>(threadIdx.x) % TEAM;
  const long long row = static_cast<long long>(blockIdx.x) * teams + threadIdx.x / TEAM;
  Partial total = nothing<R>();
  R::Shift shift = {};
  if (row < outer) {
    const T* const line = x + row * outer_stride;
    shift = R::shift(line, length);
    const long long whole = length / elements * elements;
    if constexpr (R::is_fold) {
      const int rest = static_cast<int>(length % elements);
      const T* from = line;
      for (const T* const end = line + whole; from != end; from += elements) {
        TeamTile tile;
        tile.load(from, thread);
        total = R::combine(total, tile.total());
      }
      if (rest > 0) total = R::combine(total, TeamTile::total_of(from, thread, rest));
    } else {
      TeamTile tile;
      if (whole != 0) tile.load(line, thread);
      for (long long first = 0; first != whole;) {
        tile.add_to(total, first, thread, shift);
        first += elements;
        if (first != whole) tile.load(line + first, thread);
      }
      const int rest = static_cast<int>(length - whole);
      if (rest > 0) TeamTile::add_part(total, line + whole, whole, thread, rest, shift);
    }
  }
  total = team_total<R, TEAM>(total, shared);
  if (row < outer && thread == 0)
    y[row] = R::output(total, shift, length, Ratios{ONLY_FOR_MOMENTS(mean_ratio, variance_ratio)});
}
