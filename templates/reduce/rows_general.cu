// SPDX-License-Identifier: Apache-2.0
// reduce with a team of threads per output, along contiguous elements, by any reduction of general.cuh. The
// element type, the function and the type of sums are compiled in.

#include "common/overlap.inl"
#include "reduce/general.cuh"

using R = General<static_cast<int>(function), T, wide, SHORT_PLACES != 0>;
using Partial = R::Partial;

static_assert(!overlapped || (LOAD != Load::bypass && LOAD != Load::wide),
              "these hints load by the read-only path");
using TeamTile = GeneralTile<R, TEAM, ITEMS, VECTOR, static_cast<int>(LOAD)>;

constexpr int teams = BLOCK / TEAM;

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_rows)(const T* x, R::Output* y, long long outer, long long length, long long outer_stride,
                       double mean_ratio, double variance_ratio) {
  __shared__ Partial shared[(BLOCK + 31) / 32];
  start();
  const int thread = static_cast<int>(threadIdx.x) % TEAM;
  const long long row = static_cast<long long>(blockIdx.x) * teams + threadIdx.x / TEAM;
  Partial total = nothing<R>();
  R::Shift shift = {};
  if (row < outer) {
    const T* const from = x + row * outer_stride;
    shift = R::shift(from, length);
    const long long end = length / TeamTile::elements * TeamTile::elements;
    TeamTile tile;
    if (end != 0) tile.load(from, thread);
    for (long long first = 0; first != end;) {
      tile.add_to(total, first, thread, shift);
      first += TeamTile::elements;
      if (first != end) tile.load(from + first, thread);
    }
    const int rest = static_cast<int>(length - end);
    if (rest > 0) TeamTile::add_part(total, from + end, end, thread, rest, shift);
  }
  total = team_total<R, TEAM>(total, shared);
  if (row < outer && thread == 0)
    y[row] = R::output(total, shift, length, Ratios{mean_ratio, variance_ratio});
}
