// SPDX-License-Identifier: Apache-2.0
// scan/columns: a thread has ITEMS neighbouring rows of VECTOR columns. A block's threads lie side by side
// along the columns and BLOCK_Y deep along the length. Blocks pass on the totals that their columns have
// before their tiles. The types, the function and the kind are compiled in.

#include "common/resident_blocks.cuh"
#include "scan/chain.cuh"
#include "scan/scan.cuh"

using S = Scan<has_expression ? 6 : static_cast<int>(function), T, sum_dtype == SumDtype::f64>;
using Item = S::Item;

constexpr Hint load_hint = LOAD == Load::streaming ? Hint::streaming : Hint::none;
constexpr int columns = BLOCK_X * VECTOR;  // of a block
constexpr int rows = BLOCK_Y * ITEMS;      // of a tile
constexpr int threads = BLOCK_X * BLOCK_Y;

// A line of tiles is `columns` columns of one outer position; `across` lines lie beside each other.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(scan_columns)(const T* __restrict__ x, S::Output* __restrict__ y, void* counters, void* messages,
                        int lines, int across, int tiles, long long length, long long inner,
                        long long outer_stride, long long stride) {
  using LineChain = Chain<S, FAN>;
  constexpr bool reverse = direction == Direction::reverse;
  __shared__ Item totals[BLOCK_Y][columns];  // of the threads; then what the tile has before each
  __shared__ Item passed[LineChain::levels][columns];
  __shared__ unsigned shared_number;
  __shared__ int left_to_clear;
  const int thread = static_cast<int>(threadIdx.y * BLOCK_X + threadIdx.x);
  unsigned* const counts = static_cast<unsigned*>(counters);
  if (thread == 0) shared_number = tiles > 1 ? next_tile(counts, gridDim.x) : blockIdx.x;
  __syncthreads();
  const unsigned number = shared_number;
  const unsigned tile = number / static_cast<unsigned>(lines), line = number % static_cast<unsigned>(lines);
  const unsigned outer = line / static_cast<unsigned>(across);
  const long long column_first = static_cast<long long>(line % static_cast<unsigned>(across)) * columns;
  const long long column = column_first + threadIdx.x * VECTOR;
  const long long row = static_cast<long long>(tile) * rows + threadIdx.y * ITEMS;
  const long long rest = column < inner ? length - row : 0;
  const int left = static_cast<int>(rest < ITEMS ? rest : ITEMS);  // rows that the thread has
  const long long place = reverse ? length - 1 - row : row;        // of the first, in the memory

  Vector<T, VECTOR> loaded[ITEMS];
  const T* const from = x + outer * outer_stride + place * stride + column;
  const long long step = reverse ? -stride : stride;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    if (i < left)
      loaded[i] = load_hinted<load_hint>(reinterpret_cast<const Vector<T, VECTOR>*>(from + i * step));
  Item item[ITEMS][VECTOR];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
      item[i][v] = i < left ? S::item(loaded[i].element[v]) : S::none();
      if (i > 0) item[i][v] = S::combine(item[i > 0 ? i - 1 : 0][v], item[i][v]);
    }
  }

  // Here and in messages a block's columns are in the order of v and x, so that neighbouring threads have
  // neighbouring numbers. Each thread waits for one level of a column; the first `columns` threads wait for
  // level 0.
  LineChain chain(counts, static_cast<unsigned long long*>(messages), line, static_cast<unsigned>(tiles),
                  tile, columns);
  Item of_tile[(columns + threads - 1) / threads];
  // A thread that has all of its columns needs no other thread.
  const bool is_alone = BLOCK_Y == 1 && tiles == 1;
  int clears = 0;
  if (!is_alone) {
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) totals[threadIdx.y][v * BLOCK_X + threadIdx.x] = item[ITEMS - 1][v];
    __syncthreads();
#pragma unroll
    for (int c = 0; c < columns; c += threads) {
      const int own = c + thread;
      if (own >= columns) break;
      Item total = S::none();
#pragma unroll
      for (int segment = 0; segment < BLOCK_Y; ++segment) {
        const Item next = totals[segment][own];
        totals[segment][own] = total;
        total = S::combine(total, next);
      }
      of_tile[c / threads] = total;
      if (chain.posts_tile) chain.post_tile(own, total);
    }
#pragma unroll
    for (int u = 0; u < LineChain::levels * columns; u += threads) {
      const int unit = u + thread;
      if (unit >= LineChain::levels * columns) break;
      const int level = unit / columns, own = unit % columns;
      const Item found = chain.wait_alone(level, own);
      if (level == 0 && chain.posts_group)
        chain.post_group(own, S::combine(found, of_tile[u < columns ? u / threads : 0]));
      passed[level][own] = found;
    }
    __syncthreads();
    if (chain.posts_section) {
#pragma unroll
      for (int c = 0; c < columns; c += threads) {
        const int own = c + thread;
        if (own >= columns) break;
        const Item before = S::combine(S::combine(passed[2][own], passed[1][own]), passed[0][own]);
        chain.post_section(own, S::combine(before, of_tile[c / threads]));
      }
    }
    if (thread == 0 && tiles > 1) clears = chain.leave();
  }

  Item before[VECTOR];
#pragma unroll
  for (int v = 0; v < VECTOR; ++v) {
    const int own = v * BLOCK_X + static_cast<int>(threadIdx.x);
    before[v] = is_alone ? S::none()
                         : S::combine(S::combine(S::combine(passed[2][own], passed[1][own]), passed[0][own]),
                                      totals[threadIdx.y][own]);
  }
  S::Output* const to = y + (outer * length + place) * inner + column;
  const long long to_step = reverse ? -inner : inner;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    if (i >= left) break;
    Vector<S::Output, VECTOR> result;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
      if constexpr (kind == Kind::exclusive) {
        result.element[v] = S::output(i == 0 ? before[v] : S::combine(before[v], item[i > 0 ? i - 1 : 0][v]));
      } else {
        result.element[v] = S::output(S::combine(before[v], item[i][v]));
      }
    }
    store_whole<STORE == Store::streaming>(to + i * to_step, result);
  }
  if (tiles == 1) return;
  if (thread == 0) left_to_clear = clears;
  __syncthreads();
  chain.clear(left_to_clear, thread, threads);
}
