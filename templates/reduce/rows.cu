// SPDX-License-Identifier: Apache-2.0
// reduce with a team of threads per output, along contiguous elements: for many rows. The element type and
// the function are compiled in.

#include "common/overlap.inl"
#include "reduce/reduction.cuh"

using R = Reduction<static_cast<int>(function), T>;
using Partial = R::Partial;

static_assert(!overlapped || (LOAD != Load::bypass && LOAD != Load::wide),
              "these hints load by the read-only path");
using TeamTile = Tile<R, TEAM, ITEMS, VECTOR, static_cast<int>(LOAD)>;

constexpr int teams = BLOCK / TEAM;

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_rows)(const T* x, R::Output* y, long long outer, long long length, long long outer_stride) {
  __shared__ Partial shared[(BLOCK + 31) / 32];
  start();
  const int thread = static_cast<int>(threadIdx.x) % TEAM;
  const long long row = static_cast<long long>(blockIdx.x) * teams + threadIdx.x / TEAM;
  Partial total = nothing<R>();
  if (row < outer) {
    const T* from = x + row * outer_stride;
    const T* const end = from + length / TeamTile::elements * TeamTile::elements;
    const int rest = static_cast<int>(length % TeamTile::elements);
    for (; from != end; from += TeamTile::elements) {
      TeamTile tile;
      tile.load(from, thread);
      total = R::combine(total, tile.total());
    }
    if (rest > 0) total = R::combine(total, TeamTile::total_of(from, thread, rest));
  }
  total = team_total<R, TEAM>(total, shared);
  if (row < outer && thread == 0) y[row] = R::output(settled(total), length);
}
