// SPDX-License-Identifier: Apache-2.0
// reduce with several blocks per output, along contiguous elements: for few, long reductions. The element
// type, the function and the order are compiled in.

#include "common/overlap.inl"
#include "reduce/reduction.cuh"

using R = Reduction<static_cast<int>(function), T>;
using Partial = R::Partial;

static_assert(!overlapped || (LOAD != Load::bypass && LOAD != Load::wide),
              "these hints load by the read-only path");
using BlockTile = Tile<R, BLOCK, ITEMS, VECTOR, static_cast<int>(LOAD)>;

// What a thread adds up: its share of the block's whole tiles (every gridDim-th, or `chunk` in a row), and of
// the last, incomplete tile if that is the block's next.
__device__ __forceinline__ Partial part(const T* from, long long length, long long chunk) {
  constexpr bool strided = WALK == Walk::strided;
  const int thread = static_cast<int>(threadIdx.x);
  const long long whole = length / BlockTile::elements;
  const int rest = static_cast<int>(length % BlockTile::elements);
  const long long step = strided ? gridDim.x : 1;
  const long long first = strided ? blockIdx.x : blockIdx.x * chunk;
  const long long end = strided || first + chunk > whole ? whole : first + chunk;

  Partial total = nothing<R>();
  long long t = first;
  if constexpr (AHEAD == 0) {
    for (; t < end; t += step) {
      BlockTile tile;
      tile.load(from + t * BlockTile::elements, thread);
      total = R::combine(total, tile.total());
    }
  } else if (t < end) {
    BlockTile tile;
    tile.load(from + t * BlockTile::elements, thread);
    for (t += step; t < end; t += step) {
      BlockTile next;
      next.load(from + t * BlockTile::elements, thread);
      total = R::combine(total, tile.total());
      tile = next;
    }
    total = R::combine(total, tile.total());
  }
  if (rest > 0 && t == whole && (strided || first + chunk > whole)) {
    total = R::combine(total, BlockTile::total_of(from + whole * BlockTile::elements, thread, rest));
  }
  return total;
}

#include "reduce/all_blocks.inl"

// The grid is blocks per output x outputs. `marks` are zero before and after: one counter per output
// (FINISH=last, atomic_last), or the words of every block's partial (mail). `kept` is one partial per block,
// or, for atomic_last, one sum per output, zero before and after.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_all)(const T* x, R::Output* y, void* marks, void* kept, long long length,
                      long long outer_stride, long long chunk) {
  __shared__ Partial shared[shared_partials];
  __shared__ bool last;
  start();
  const unsigned blocks = gridDim.x;
  const unsigned output = blockIdx.y;
  const bool first_thread = threadIdx.x == 0;
  Partial total = part(x + output * outer_stride, length, chunk);

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
    if (first_thread) {
      if (collects) {
        y[output] = R::output(settled(total), length);
      } else {
        Mail<Partial>::post(box + blockIdx.x, blocks, total);
      }
    }
    return;
  }

  total = block_total(total, shared);
  if (blocks == 1) {
    if (first_thread) y[output] = R::output(settled(total), length);
    return;
  }
  if constexpr (FINISH == Finish::last || FINISH == Finish::launch) {
    Partial* const partials = static_cast<Partial*>(kept) + static_cast<long long>(output) * blocks;
    if (first_thread) partials[blockIdx.x] = total;
    if constexpr (FINISH == Finish::last) {
      if (first_thread) last = last_of(static_cast<unsigned*>(marks) + output, blocks);
      __syncthreads();
      if (!last) return;
      total = block_total(kept_part(partials, blocks), shared);
      if (first_thread) y[output] = R::output(settled(total), length);
    }
  } else if constexpr (FINISH == Finish::atomic) {
    if (first_thread) add_atomically(y + output, R::output(settled(total), length));
  } else {
    if (first_thread) {
      auto* const sum = static_cast<decltype(settled(total))*>(kept) + output;
      add_atomically(sum, settled(total));
      if (last_of(static_cast<unsigned*>(marks) + output, blocks)) {
        volatile auto* const all = sum;
        y[output] = R::output(settled(*all), length);
        *all = 0;
      }
    }
  }
}

// FINISH=launch: one block per output adds up the partials of `blocks` blocks.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_all_kept)(R::Output* y, const void* kept, long long length, int blocks) {
  __shared__ Partial shared[shared_partials];
  start();
  const Partial* partials = static_cast<const Partial*>(kept) + static_cast<long long>(blockIdx.x) * blocks;
  const Partial total = block_total(kept_part(partials, static_cast<unsigned>(blocks)), shared);
  if (threadIdx.x == 0) y[blockIdx.x] = R::output(settled(total), length);
}
