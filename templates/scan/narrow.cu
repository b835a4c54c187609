// SPDX-License-Identifier: Apache-2.0
// scan/narrow, of rows of a few elements that lie one behind the other. A tile is moved between global and
// shared memory as one stretch; there a thread has ITEMS neighbouring rows of one column. The thread keeps
// them in registers, or reads them again when it knows the total before them. Blocks pass on the totals that
// their columns have before their tiles. The types, the function and the kind are compiled in.

#include "common/async_copy.cuh"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "scan/chain.cuh"
#include "scan/scan.cuh"

using S = Scan<has_expression ? 6 : static_cast<int>(function), T, sum_dtype == SumDtype::f64>;
using Item = S::Item;
using Output = S::Output;

constexpr Hint load_hint = LOAD == Load::streaming ? Hint::streaming : Hint::none;
constexpr int warps = BLOCK / 32;
constexpr int rounds = (ITEMS + VECTOR - 1) / VECTOR;  // in which a block moves a tile
#include "scan/narrow_layout.inl"
constexpr int most_inner = narrow_most_inner;
constexpr bool rereads = HELD == Held::shared;
constexpr int copied = rereads ? VECTOR : 16 / static_cast<int>(sizeof(T));  // elements, where it is compiled
constexpr int at_once = 8;  // elements that a thread reads before it combines them

// The data that a block's threads exchange; it lies before the tile in dynamic shared memory.
struct Exchanged {
  Item totals[BLOCK];  // of the threads; then what the tile has before each
  Item of_tile[most_inner];
  Item passed[3][most_inner];  // by level
  unsigned number;
  int left_to_clear;
};
static_assert(sizeof(Exchanged) <= narrow_exchanged(BLOCK, static_cast<int>(sizeof(Item))),
              "as the layout has it");

// A line of tiles is one outer position; a tile has `segments` x ITEMS rows. Dynamic shared memory has the
// tile as elements, and again as results, which lie behind the elements if these are read again and have
// another size.
extern "C" __global__ void __launch_bounds__(BLOCK, resident_blocks(RESIDENT_WARPS, BLOCK))
    ENTRY(scan_narrow)(const T* __restrict__ x, Output* __restrict__ y, void* counters, void* messages,
                       int lines, int tiles, long long length, int inner, long long outer_stride,
                       int segments) {
  using LineChain = Chain<S, narrow_fan>;
  constexpr bool reverse = direction == Direction::reverse;
  DYNAMIC_SHARED(unsigned char, memory);
  Exchanged& exchanged = *reinterpret_cast<Exchanged*>(memory);
  Item* const totals = exchanged.totals;
  unsigned char* const tile_memory = memory + narrow_exchanged(BLOCK, static_cast<int>(sizeof(Item)));
  T* const staged = reinterpret_cast<T*>(tile_memory);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  unsigned* const counts = static_cast<unsigned*>(counters);
  if (thread == 0) exchanged.number = tiles > 1 ? next_tile(counts, gridDim.x) : blockIdx.x;
  __syncthreads();
  const unsigned number = exchanged.number;
  const unsigned tile = number / static_cast<unsigned>(lines), line = number % static_cast<unsigned>(lines);
  const int rows = segments * ITEMS;
  const int results_at =
      narrow_results_at(rows * inner, static_cast<int>(sizeof(T)), static_cast<int>(sizeof(Output)), rereads);
  Output* const results = reinterpret_cast<Output*>(tile_memory + results_at);
  const long long first = (reverse ? tiles - 1 - static_cast<long long>(tile) : tile) * rows;
  const int there = static_cast<int>(length - first < rows ? length - first : rows);  // rows
  const int elements = there * inner;

  const T* const from = x + line * outer_stride + first * inner;
  const int tail = elements % VECTOR;  // behind the last whole vector
  Vector<T, VECTOR> vector[rereads ? 1 : rounds];
#pragma unroll
  for (int k = 0; k < rounds; ++k) {
    const int at = (k * BLOCK + thread) * VECTOR;
    if (at + VECTOR > elements) break;
    if constexpr (rereads) {
      copy_async<copied>(staged + at, from + at, true);
    } else {
      vector[k] = load_hinted<load_hint>(reinterpret_cast<const Vector<T, VECTOR>*>(from + at));
    }
  }
  if (thread < tail) staged[elements - 1 - thread] = from[elements - 1 - thread];
  if constexpr (!rereads) {
#pragma unroll
    for (int k = 0; k < rounds; ++k) {
      const int at = (k * BLOCK + thread) * VECTOR;
      if (at + VECTOR <= elements) store_vector(staged + at, vector[k]);
    }
  }
  if constexpr (rereads) wait_for_copies();
  __syncthreads();

  const int column = thread % inner, segment = thread / inner;
  const int row = reverse ? rows - 1 - segment * ITEMS : segment * ITEMS;  // the first of the thread's
  const int step = reverse ? -inner : inner;
  const int place = row * inner + column;
  // The thread's rows that exist in memory: of its ITEMS rows in the order of the scan, the last ones may be
  // missing, or in a reverse scan the first ones.
  const int end = segment < segments ? there - row : 0, begin = segment < segments ? row - there + 1 : ITEMS;
  const auto is_there = [&](int i) { return (reverse ? i >= begin : i < end) && (!rereads || i < ITEMS); };
  const auto element = [&](int i) { return is_there(i) ? S::item(staged[place + i * step]) : S::none(); };
  Item item[rereads ? at_once : ITEMS];
  if constexpr (rereads) {
    Item total = S::none();
#pragma unroll 1
    for (int first_item = 0; first_item < ITEMS; first_item += at_once) {
#pragma unroll
      for (int i = 0; i < at_once; ++i) item[i] = element(first_item + i);
#pragma unroll
      for (int i = 0; i < at_once; ++i) total = S::combine(total, item[i]);
    }
    totals[thread] = total;
  } else {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      item[i] = element(i);
      if (i > 0) item[i] = S::combine(item[i > 0 ? i - 1 : 0], item[i]);
    }
    totals[thread] = item[ITEMS - 1];
  }
  __syncthreads();

  LineChain chain(counts, static_cast<unsigned long long*>(messages), line, static_cast<unsigned>(tiles),
                  tile, inner);
  // A warp has a column: it finds the total of its segments, and the total before the tile.
  for (int c = warp; c < inner; c += warps) {
    Item total = S::none();
    for (int s = lane; s - lane < segments; s += 32) {
      const Item up_to = scan_lanes<S, 32>(s < segments ? totals[s * inner + c] : S::none(), lane);
      Item before = from_lane_below(up_to, 1, 32);
      if (lane == 0) before = S::none();
      if (s < segments) totals[s * inner + c] = S::combine(total, before);
      total = S::combine(total, from_lane(up_to, 31, 32));
    }
    if (lane == 0) {
      exchanged.of_tile[c] = total;
      if (chain.posts_tile) chain.post_tile(c, total);
    }
  }
  if (tiles > 1) {
    for (int c = warp; c < inner; c += warps) {
      Item found[LineChain::levels];
      if (chain.posts_group) {  // which others wait for
        chain.wait_as_warp<0, 0>(c, lane, found);
        if (lane == 0) chain.post_group(c, S::combine(found[0], exchanged.of_tile[c]));
        chain.wait_as_warp<1, 2>(c, lane, found);
      } else {
        chain.wait_as_warp<0, 2>(c, lane, found);
      }
      if (lane == 0) {
#pragma unroll
        for (int level = 0; level < LineChain::levels; ++level) exchanged.passed[level][c] = found[level];
      }
    }
  }
  __syncthreads();
  int clears = 0;
  if (chain.posts_section) {
    for (int c = thread; c < inner; c += BLOCK)
      chain.post_section(c, S::combine(S::combine(S::combine(exchanged.passed[2][c], exchanged.passed[1][c]),
                                                  exchanged.passed[0][c]),
                                       exchanged.of_tile[c]));
  }
  if (thread == 0 && tiles > 1) clears = chain.leave();

  Item before = totals[thread];
  if (tiles > 1)
    before = S::combine(S::combine(S::combine(exchanged.passed[2][column], exchanged.passed[1][column]),
                                   exchanged.passed[0][column]),
                        before);
  if constexpr (rereads) {
#pragma unroll 1
    for (int first_item = 0; first_item < ITEMS; first_item += at_once) {
#pragma unroll
      for (int i = 0; i < at_once; ++i) item[i] = element(first_item + i);
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const Item earlier = before;
        before = S::combine(before, item[i]);
        if (is_there(first_item + i))
          results[place + (first_item + i) * step] = S::output(kind == Kind::exclusive ? earlier : before);
      }
    }
  } else {
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
      const int i = reverse ? ITEMS - 1 - k : k;
      if (!is_there(i)) break;
      const Item earlier = i > 0 ? S::combine(before, item[i > 0 ? i - 1 : 0]) : before;
      results[place + i * step] = S::output(kind == Kind::exclusive ? earlier : S::combine(before, item[i]));
    }
  }
  if (thread == 0) exchanged.left_to_clear = clears;
  __syncthreads();
  Output* const to = y + (line * length + first) * inner;
#pragma unroll
  for (int k = 0; k < rounds; ++k) {
    const int at = (k * BLOCK + thread) * VECTOR;
    if (at + VECTOR <= elements)
      store_whole<STORE == Store::streaming>(to + at, load_vector<VECTOR>(results + at));
  }
  if (thread < tail) to[elements - 1 - thread] = results[elements - 1 - thread];
  if (tiles > 1) chain.clear(exchanged.left_to_clear, thread, BLOCK);
}
