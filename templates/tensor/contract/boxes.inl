// SPDX-License-Identifier: Apache-2.0
// The kernel of LOAD_BY=boxes. A warp of its own brings the tiles of both operands as boxes through tensor
// maps, into a ring of stages, while the warpgroups multiply. Blocks stay: each takes one tile of the output
// after another, so that the next tile's operands arrive while sums are stored. Each operand's rows, and its
// terms, are one dimension of a map; the digits of the batch are the others.

constexpr int block_threads = threads + 32;
constexpr int box_rows = 128 / static_cast<int>(sizeof(T));  // of an operand whose neighbours are rows

// An operand that is read through windows is copied from its image as that is, or from its packed channels: a
// row is a window, K's first digit is a channel, and the others are places within a window.
#ifdef HAS_WINDOWS
constexpr int image = PACK == Pack::channels || !(WINDOWED == 0 ? packs_first : packs_second) ? WINDOWED : -1;
#define WALKS_PARAMETER , Walks walks
#else
constexpr int image = -1;
#define WALKS_PARAMETER
#endif

// By digits: of a row, how many pixels apart windows are and where the first one begins; of a term, how far
// apart the pixels of a window are.
struct Walks {
  Extents steps, firsts;
};

// Begins to copy an operand's tile.
template <typename Side, int TILE>
__device__ __forceinline__ void copy_tile(Held* to, const TensorMap& map, int row, int term,
                                          const int (&batch)[BATCH_RANK], BoxBarrier* filled) {
  int place[2 + BATCH_RANK];
#pragma unroll
  for (int d = 0; d < BATCH_RANK; ++d) place[2 + d] = batch[d];
  if constexpr (Side::by_rows) {
    place[0] = term;
    place[1] = row;
    copy_box(to, map, place, filled);
  } else {
    place[1] = term;
#pragma unroll
    for (int r = 0; r < TILE; r += box_rows) {
      place[0] = row + r;
      copy_box(to + r * TILE_K, map, place, filled);
    }
  }
}

// The digits of a number in a group.
template <typename Group, int RANK>
__device__ __forceinline__ void count(int (&its)[RANK], unsigned rest, const Extents& extents,
                                      const Extents& multipliers) {
#pragma unroll
  for (int d = Group::first; d < Group::end; ++d) {
    const unsigned next = d + 1 < Group::end ? divided(rest, extents[d], multipliers[d]) : 0;
    its[d - Group::first] = static_cast<int>(rest - next * static_cast<unsigned>(extents[d]));
    rest = next;
  }
}

// Begins to copy a tile of the image. Behind the dimensions that windows step along there may be one more
// digit of rows: images.
template <typename Rows, typename Terms>
__device__ __forceinline__ void copy_windows(Held* to, const TensorMap& map, int row, int term,
                                             const Digits& digits, const Walks& walks, BoxBarrier* filled) {
  constexpr int number = Terms::end - Terms::first - 1;
  int windows[larger(Rows::end - Rows::first, number + 1)] = {}, terms[number + 1];
  count<Rows>(windows, static_cast<unsigned>(row), digits.extents, digits.multipliers);
  count<Terms>(terms, static_cast<unsigned>(term), digits.extents, digits.multipliers);
  int place[number + 2] = {terms[0]}, in_window[number];
#pragma unroll
  for (int walk = 0; walk < number; ++walk) {
    place[1 + walk] = windows[walk] * walks.steps[Rows::first + walk] + walks.firsts[Rows::first + walk];
    in_window[walk] = terms[1 + walk] * walks.steps[Terms::first + 1 + walk];
  }
  place[1 + number] = windows[number];
  copy_pixels(to, map, place, in_window, filled);
}

// The stage of a tile of K, and the number of its phase.
struct Turn {
  int stage = 0;
  unsigned phase;

  __device__ __forceinline__ explicit Turn(unsigned first) : phase(first) {}
  __device__ __forceinline__ void end() {
    if (++stage < stages) return;
    stage = 0;
    phase ^= 1;
  }
};

// A warp has read a stage.
__device__ __forceinline__ void give_back(BoxBarrier* emptied) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) arrive_at(emptied);
}

// How a kernel takes the output: as boxes, or by its address.
template <bool IN_BOXES_OUT>
struct OutOf {
  using type = InOutPointer<Out>;
};
template <>
struct OutOf<true> {
  using type = TensorMap;
};
using OutPlace = typename OutOf<boxes_out>::type;
__device__ __forceinline__ Out* address_of(Out* out) { return out; }
__device__ __forceinline__ Out* address_of(const TensorMap&) { return nullptr; }

constexpr int box_columns = contract_box_row / static_cast<int>(sizeof(Out));
constexpr int box_elements = contract_box_rows * box_columns;
constexpr int box_sums = box_columns / 4;  // of a thread's row

// The columns of a thread's sums as products leave them: of each eight two neighbours.
struct BoxColumns {
  int first;
  __device__ __forceinline__ int column(int j) const { return first + j / 2 * 8 + j % 2; }
};

// A warpgroup stores its sums as boxes, by way of its two places in shared memory, in turn; `next` is the one
// to begin with.
__device__ __forceinline__ void store_boxes(const TensorMap& out, Out* places, int& next, const Tile& tile,
                                            const Sizes& sizes, const int (&batch)[BATCH_RANK],
                                            const Sums& sums, const FinishOperands& operands) {
  constexpr int piece = 16 / static_cast<int>(sizeof(Out));
  const int group = static_cast<int>(threadIdx.x) / 128, thread = static_cast<int>(threadIdx.x) % 128;
  const int row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
  Out* const mine = places + group * contract_out_boxes * box_elements;
  int place[2 + BATCH_RANK];
#pragma unroll
  for (int d = 0; d < BATCH_RANK; ++d) place[2 + d] = batch[d];
#pragma unroll
  for (int i = 0; i < THREAD_M; i += 2) {
    const int first_row = group * 32 * THREAD_M + i * 32;  // of the tile
#pragma unroll
    for (int from = 0; from < TILE_N; from += box_columns) {
      Out* const box = mine + next * box_elements;
      next ^= 1;
      if (thread == 0) wait_for_box_groups<contract_out_boxes - 1>();
      sync<128>(1 + group);
      const Finish<FINISH_ACCESSES, box_sums> finish(operands, tile, sizes, BoxColumns{from + column}, 0);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int its_row = row + half * 8;
        const int in_tile = first_row + its_row;
        const Place row_place = finish.row(in_tile);
#pragma unroll
        for (int j = 0; j < box_sums; j += 2) {
          const int at = column + j / 2 * 8;  // in the box
          Vector<Out, 2> vector = {};
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            const bool exists =
                FINISH_ACCESSES == 0 || (static_cast<int>(tile.m) * TILE_M + in_tile < sizes.m &&
                                         static_cast<int>(tile.n) * TILE_N + from + at + e < sizes.n);
            if (exists)
              vector.element[e] =
                  converted<Out>(finish.of(sums.sum[i + half][from / 4 + j + e], row_place, j + e));
          }
          store_vector<2>(box + its_row * box_columns + (at / piece ^ its_row % 8) * piece + at % piece,
                          vector);
        }
      }
      show_to_products();
      sync<128>(1 + group);
      if (thread == 0) {
        place[0] = static_cast<int>(tile.n) * TILE_N + from;
        place[1] = static_cast<int>(tile.m) * TILE_M + first_row;
        store_box(out, place, box);
        end_box_group();
      }
    }
  }
}
__device__ __forceinline__ void store_boxes(const Out*, Out*, int&, const Tile&, const Sizes&,
                                            const int (&)[BATCH_RANK], const Sums&, const FinishOperands&) {}

// `all` are the tiles of all parts of K and all places in the batch.
extern "C" __global__ void __launch_bounds__(block_threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(tensor_contract)(const __grid_constant__ TensorMap first, const __grid_constant__ TensorMap second,
                           const __grid_constant__ OutPlace out, InOutPointer<Compute> kept,
                           InOutPointer<unsigned> arrived, long long out_start, int m, int n, int k,
                           int runs_n, int tiles_m, int tiles_n, int splits, int terms_of_split, int all,
                           Extents extents, Extents multipliers,
                           Strides out_strides FINISH_PARAMETERS WALKS_PARAMETER) {
  SWIZZLED_SHARED(unsigned char, memory);
  Tables& tables = *reinterpret_cast<Tables*>(memory);
  Run* const runs = reinterpret_cast<Run*>(memory + runs_at);
  BoxBarrier* const filled = reinterpret_cast<BoxBarrier*>(memory + layout.barriers_at);
  BoxBarrier* const emptied = filled + stages;
  Held* const shared = reinterpret_cast<Held*>(memory + tiles_at);
  const Digits digits = {extents, multipliers, {}, {}, out_strides};
  const Sizes sizes = {m, n, k, runs_n};
#ifndef HAS_WINDOWS
  const Walks walks = {};
#endif
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == threads) {
    prepare_boxes(first);
    prepare_boxes(second);
#pragma unroll
    for (int stage = 0; stage < stages; ++stage) {
      set(filled + stage, 1);
      set(emptied + stage, threads / 32);
    }
    show_barriers();
  }
  start();
  __syncthreads();

  if (thread >= threads) {
    if (thread > threads) return;
    Turn turn(1);
#pragma unroll 1
    for (unsigned at = blockIdx.x; at < static_cast<unsigned>(all); at += gridDim.x) {
      const Tile tile = tile_of(at, tiles_m, tiles_n, splits);
      int batch[BATCH_RANK];
      count<Batch>(batch, tile.batch, extents, multipliers);
      const int first_term = static_cast<int>(tile.split) * terms_of_split;
      const int end = min(first_term + terms_of_split, k);
#pragma unroll 1
      for (int term = first_term; term < end; term += TILE_K) {
        Held* const to = shared + turn.stage * stage_elements;
        BoxBarrier* const its = filled + turn.stage;
        wait_for(emptied + turn.stage, turn.phase);
        arrive_with(its, static_cast<int>(sizeof(Held)) * (First::elements + Second::elements));
        const int row = static_cast<int>(tile.m) * TILE_M, column = static_cast<int>(tile.n) * TILE_N;
        if constexpr (image == 0) {
          copy_windows<M, K>(to, first, row, term, digits, walks, its);
        } else {
          copy_tile<First, TILE_M>(to, first, row, term, batch, its);
        }
        if constexpr (image == 1) {
          copy_windows<N, K>(to + First::elements, second, column, term, digits, walks, its);
        } else {
          copy_tile<Second, TILE_N>(to + First::elements, second, column, term, batch, its);
        }
        turn.end();
      }
    }
    return;
  }

  Turn turn(0);
  int next = 0;
#pragma unroll 1
  for (unsigned at = blockIdx.x; at < static_cast<unsigned>(all); at += gridDim.x) {
    const Tile tile = tile_of(at, tiles_m, tiles_n, splits);
    const int first_term = static_cast<int>(tile.split) * terms_of_split;
    const int steps = ceil_divide(min(terms_of_split, k - first_term), TILE_K);
    if constexpr (!boxes_out) {
      if (at != blockIdx.x) sync<threads>(1);  // the tables, and finished sums, have been read
      fill(tables, digits, sizes, tile.m * TILE_M, tile.n * TILE_N);
    }
    Sums sums(thread);
    BoxBarrier* before = emptied;  // of the stage that is multiplied
#pragma unroll 1
    for (int t = 0; t < steps; ++t) {
      wait_for(filled + turn.stage, turn.phase);
      const Held* const its = shared + turn.stage * stage_elements;
      multiply_by_warpgroups<First, Second, 1>(sums.sum, its, its + First::elements);
      if (t > 0) give_back(before);
      before = emptied + turn.stage;
      turn.end();
    }
    end_products<0>(sums.sum);
    give_back(before);
    Out* const finished = reinterpret_cast<Out*>(memory + layout.finished_at);
    if constexpr (boxes_out) {
      int batch[BATCH_RANK];
      count<Batch>(batch, tile.batch, extents, multipliers);
      store_boxes(out, finished, next, tile, sizes, batch, sums, FINISH_OPERANDS);
      continue;
    }
    sums.finish();
    sync<threads>(1);
    const Place batch = Batch::place(digits, tile.batch, 2147483647, 0);
    Out* const to = held_in_register(address_of(out) + (out_start + batch.out));
    const ItsFinish finish(FINISH_OPERANDS, tile, sizes, sums, 0);
    if constexpr (joins) {
      fill(runs, tables, digits, tile.n * TILE_N);
      sync<threads>(1);
      keep(finished, runs, tables, sums, finish);
      sync<threads>(1);
      const bool whole_m = tile.m * TILE_M + TILE_M <= static_cast<unsigned>(m);
      const bool whole_n = tile.n * TILE_N + TILE_N <= static_cast<unsigned>(n) && runs_n % SPAN_N == 0;
      if (whole_m && whole_n) {
        store_joined<true>(to, finished, runs, tables);
      } else {
        store_joined<false>(to, finished, runs, tables);
      }
      continue;
    }
    if constexpr (stores_rows) {
      Out* const its_first = to + tables.out_n[0];
      const int columns = min(TILE_N, n - static_cast<int>(tile.n) * TILE_N);
      keep_rows(finished, its_first, columns, tables, sums, finish);
      sync<threads>(1);
      store_rows(its_first, columns, finished, tables);
      continue;
    }
    if (SPLIT > 1 && splits > 1) {
#pragma unroll
      for (int i = 0; i < THREAD_M; ++i) {
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) kept[kept_at(at, i, j, thread)] = sums.sum[i][j];
      }
      if constexpr (ADD_BY == AddBy::launch) continue;
      const unsigned of_part = static_cast<unsigned>(tiles_m) * static_cast<unsigned>(tiles_n);
      const unsigned first_part = at - tile.split * of_part;
      const unsigned in_batch = first_part - tile.batch * static_cast<unsigned>(splits) * of_part;
      Offset& is_last = tables.first[0];  // which nobody reads
      sync<threads>(1);
      if (thread == 0)
        is_last = last_of(arrived + (tile.batch * of_part + in_batch), static_cast<unsigned>(splits));
      sync<threads>(1);
      if (is_last == 0) continue;
      add_parts(sums, kept, first_part, of_part, splits);
    }
    const Columns columns = columns_of<THREAD_N>(tables, sums, 0);
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
      store_row(to, tables.out_m[sums.row(i)], columns, sums.sum[i], finish, finish.row(sums.row(i)));
  }
  if constexpr (boxes_out) {
    if (thread % 128 == 0) wait_for_box_groups<0>();
  }
}
