// SPDX-License-Identifier: Apache-2.0
// reduce/all, with several blocks per output, along contiguous elements; for few, long reductions. The
// element type, the function, the order and the type of sums are compiled in.

#include "common/overlap.inl"
#include "reduce/chosen.inl"
#include "reduce/reductions.cuh"

using BlockTile = Tile<R, BLOCK, ITEMS, VECTOR, static_cast<int>(LOAD)>;

// The total of a thread's share: of the block's whole tiles (every gridDim-th, or `chunk` in a row), and of
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
  if constexpr (AHEAD == 0 && R::is_fold) {
    for (; t < end; t += step) {
      BlockTile tile;
      tile.load(from + t * elements, thread);
      total = R::combine(total, tile.total());
    }
  } else if constexpr (AHEAD == 0) {
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
      if constexpr (R::is_fold) {
        total = R::combine(total, tile.total());
      } else {
        tile.add_to(total, (t - step) * elements, thread, shift);
      }
      tile = next;
    }
    if constexpr (R::is_fold) {
      total = R::combine(total, tile.total());
    } else {
      tile.add_to(total, (t - step) * elements, thread, shift);
    }
  }
  if (rest > 0 && t == whole && (strided || first + chunk > whole)) {
    if constexpr (R::is_fold) {
      total = R::combine(total, BlockTile::total_of(from + whole * elements, thread, rest));
    } else {
      BlockTile::add_part(total, from + whole * elements, whole * elements, thread, rest, shift);
    }
  }
  return total;
}

#include "reduce/all_blocks.inl"

// FINISH=atomic, atomic_last: adds a block's sum. It is a template, because no other total can be added in
// this way.
template <typename Sum>
__device__ __forceinline__ void add_sum(typename Sum::Output* to, void* kept, unsigned output,
                                        unsigned* marks, unsigned blocks, typename Sum::Partial total,
                                        long long length) {
  if constexpr (FINISH == Finish::atomic) {
    add_atomically(to, Sum::Values::output(settled(total), length));
  } else {
    auto* const sum = static_cast<decltype(settled(total))*>(kept) + output;
    add_atomically(sum, settled(total));
    if (last_of(marks + output, blocks)) {
      volatile auto* const all = sum;
      *to = Sum::Values::output(settled(*all), length);
      *all = 0;
    }
  }
}

// The grid is blocks per output x outputs. `marks` are zero before and after the launch: one counter per
// output (FINISH=last, atomic_last), or the words of every block's partial (mail). `kept` is one partial per
// block, or, for atomic_last, one sum per output, which is zero before and after.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_all)(const T* x, R::Output* y, void* marks, void* kept, long long length,
                      long long outer_stride,
                      long long chunk ONLY_FOR_MOMENTS(, double mean_ratio, double variance_ratio)) {
  __shared__ Partial shared[shared_partials];
  __shared__ bool last;
  start();
  const unsigned blocks = gridDim.x;
  const unsigned output = blockIdx.y;
  const bool first_thread = threadIdx.x == 0;
  const T* const from = x + output * outer_stride;
  const R::Shift shift = R::shift(from, length);
  const Ratios ratios = {ONLY_FOR_MOMENTS(mean_ratio, variance_ratio)};
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
    if (first_thread) {
      if (collects) {
        y[output] = R::output(total, shift, length, ratios);
      } else {
        Mail<Partial>::post(box + blockIdx.x, blocks, total);
      }
    }
    return;
  }

  total = block_total(total, shared);
  if (blocks == 1) {
    if (first_thread) y[output] = R::output(total, shift, length, ratios);
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
      if (first_thread) y[output] = R::output(total, shift, length, ratios);
    }
  } else if constexpr (FINISH == Finish::atomic || FINISH == Finish::atomic_last) {
    if (first_thread)
      add_sum<R>(y + output, kept, output, static_cast<unsigned*>(marks), blocks, total, length);
  }
}

// FINISH=launch: one block per output adds up the partials of `blocks` blocks.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_all_kept)(ONLY_FOR_MOMENTS(const T* x, ) R::Output* y, const void* kept, long long length,
                           ONLY_FOR_MOMENTS(long long outer_stride, ) int blocks
                               ONLY_FOR_MOMENTS(, double mean_ratio, double variance_ratio)) {
  __shared__ Partial shared[shared_partials];
  start();
  const unsigned output = blockIdx.x;
  const Partial* partials = static_cast<const Partial*>(kept) + static_cast<long long>(output) * blocks;
  const Partial total = block_total(kept_part(partials, static_cast<unsigned>(blocks)), shared);
  if (threadIdx.x == 0)
    y[output] = R::output(total, R::Shift{ONLY_FOR_MOMENTS(R::shift(x + output * outer_stride, length))},
                          length, Ratios{ONLY_FOR_MOMENTS(mean_ratio, variance_ratio)});
}
