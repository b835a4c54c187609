// SPDX-License-Identifier: Apache-2.0
// reduce with several blocks per output, along contiguous elements, by any reduction of general.cuh. The
// element type, the function and the type of sums are compiled in.

#include "common/overlap.inl"
#include "reduce/general.cuh"

using R = General<static_cast<int>(function), T, wide, SHORT_PLACES != 0>;
using Partial = R::Partial;

static_assert(!overlapped || (LOAD != Load::bypass && LOAD != Load::wide),
              "these hints load by the read-only path");
using BlockTile = GeneralTile<R, BLOCK, ITEMS, VECTOR, static_cast<int>(LOAD)>;

// What a thread adds up: its share of the block's whole tiles (every gridDim-th, or `chunk` in a row), and of
// the last, incomplete tile if that is the block's next.
__device__ __forceinline__ Partial part(const T* from, long long length, long long chunk, R::Shift shift) {
  constexpr bool strided = WALK == Walk::strided;
  constexpr int elements = BlockTile::elements;
  const int thread = static_cast<int>(threadIdx.x);
  const long long whole = length / elements;
  const int rest = static_cast<int>(length % elements);
  const long long step = strided ? gridDim.x : 1;
  const long long first = strided ? blockIdx.x : blockIdx.x * chunk;
  const long long end = strided || first + chunk > whole ? whole : first + chunk;

  Partial total = nothing<R>();
  long long t = first;
  if constexpr (AHEAD == 0) {
    BlockTile tile;
    if (t < end) tile.load(from + t * elements, thread);
    while (t < end) {
      tile.add_to(total, t * elements, thread, shift);
      t += step;
      if (t < end) tile.load(from + t * elements, thread);
    }
  } else if (t < end) {
    BlockTile tile;
    tile.load(from + t * elements, thread);
    for (t += step; t < end; t += step) {
      BlockTile next;
      next.load(from + t * elements, thread);
      tile.add_to(total, (t - step) * elements, thread, shift);
      tile = next;
    }
    tile.add_to(total, (t - step) * elements, thread, shift);
  }
  if (rest > 0 && t == whole && (strided || first + chunk > whole))
    BlockTile::add_part(total, from + whole * elements, whole * elements, thread, rest, shift);
  return total;
}

#include "reduce/all_blocks.inl"

// The grid is blocks per output x outputs. `marks` are zero before and after: one counter per output
// (FINISH=last), or the words of every block's partial (mail). `kept` is one partial per block.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_all)(const T* x, R::Output* y, void* marks, void* kept, long long length,
                      long long outer_stride, long long chunk, double mean_ratio, double variance_ratio) {
  __shared__ Partial shared[shared_partials];
  __shared__ bool last;
  start();
  const unsigned blocks = gridDim.x;
  const unsigned output = blockIdx.y;
  const bool first_thread = threadIdx.x == 0;
  const T* const from = x + output * outer_stride;
  const R::Shift shift = R::shift(from, length);
  Partial total = part(from, length, chunk, shift);

  if constexpr (FINISH == Finish::mail) {
    // The block with the highest number waits for the others, which are started before it; they never wait.
    unsigned long long* const box = static_cast<unsigned long long*>(marks) +
                                    static_cast<long long>(output) * blocks * Mail<Partial>::words;
    const bool collects = blockIdx.x == blocks - 1;
    if (collects) {
      for (unsigned b = threadIdx.x; b < blocks - 1; b += BLOCK)
        total = R::combine(total, Mail<Partial>::fetch(box + b, blocks));
    }
    total = block_total(total, shared);
    if (first_thread && collects)
      y[output] = R::output(total, shift, length, Ratios{mean_ratio, variance_ratio});
    if (first_thread && !collects) Mail<Partial>::post(box + blockIdx.x, blocks, total);
    return;
  }

  total = block_total(total, shared);
  if (blocks == 1) {
    if (first_thread) y[output] = R::output(total, shift, length, Ratios{mean_ratio, variance_ratio});
    return;
  }
  Partial* const partials = static_cast<Partial*>(kept) + static_cast<long long>(output) * blocks;
  if (first_thread) partials[blockIdx.x] = total;
  if constexpr (FINISH == Finish::last) {
    if (first_thread) last = last_of(static_cast<unsigned*>(marks) + output, blocks);
    __syncthreads();
    if (!last) return;
    total = block_total(kept_part(partials, blocks), shared);
    if (first_thread) y[output] = R::output(total, shift, length, Ratios{mean_ratio, variance_ratio});
  }
}

// FINISH=launch: one block per output adds up the partials of `blocks` blocks.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_all_kept)(const T* x, R::Output* y, const void* kept, long long length,
                           long long outer_stride, int blocks, double mean_ratio, double variance_ratio) {
  __shared__ Partial shared[shared_partials];
  start();
  const unsigned output = blockIdx.x;
  const Partial* partials = static_cast<const Partial*>(kept) + static_cast<long long>(output) * blocks;
  const Partial total = block_total(kept_part(partials, static_cast<unsigned>(blocks)), shared);
  if (threadIdx.x == 0)
    y[output] = R::output(total, R::shift(x + output * outer_stride, length), length,
                          Ratios{mean_ratio, variance_ratio});
}
