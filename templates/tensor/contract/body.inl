// SPDX-License-Identifier: Apache-2.0
// The body of contract.cu and contract_any.cu: an output is the sum over K of terms of a row of M and a
// column of N. There are four groups of indices: M moves the first operand and the output, N the second and
// the output, K is reduced, the batch moves all. Each group is counted through as one number, and an
// element's address is the sum of the offsets that the digits of two groups add; so strides, windows and
// diagonals make no difference. The extents and strides are arguments, their numbers are compiled in. Needs
// T, Compute, Out, neutral(), added(), term(), zeros_add_nothing and, for what is stored instead of a sum,
// finish::apply().

#include "common/async_copy.cuh"
#include "common/boxes.cuh"
#include "common/collectives.cuh"
#include "common/copy_groups.cuh"
#include "common/counter.cuh"
#include "common/float16.cuh"
#include "common/functions.cuh"
#include "common/halves.cuh"
#include "common/hinted_access.cuh"
#include "common/integer.cuh"
#include "common/matrix_f64.cuh"
#include "common/opaque.cuh"
#include "common/overlap.inl"
#include "common/pieces.cuh"
#include "common/resident_blocks.cuh"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/swizzled_matrix.cuh"
#include "common/vector.cuh"
#include "common/warp_matrix.cuh"

constexpr int warp_m = 32 / WARP_N;
constexpr int threads_m = TILE_M / THREAD_M;
constexpr int threads_n = TILE_N / THREAD_N;
constexpr int threads = threads_m * threads_n;
constexpr bool tensor_cores = UNIT == Unit::tensor_core;
constexpr bool warpgroups = UNIT == Unit::wgmma;
constexpr bool swizzles_halves = UNIT == Unit::wgmma_halves || UNIT == Unit::wgmma_half;
constexpr bool packs_halves = UNIT == Unit::packed_halves || UNIT == Unit::packed_half || swizzles_halves;
constexpr bool halved = UNIT == Unit::halves || UNIT == Unit::half || packs_halves;
constexpr bool one_half = UNIT == Unit::half || UNIT == Unit::packed_half || UNIT == Unit::wgmma_half;
constexpr bool matrices = UNIT == Unit::mma || warpgroups || halved;
constexpr bool packs_first = PACK != Pack::none && PACK != Pack::second;
constexpr bool packs_second = PACK != Pack::none && PACK != Pack::first;
// Packed rows are neighbours, but of an operand whose channels are, and of matrices of bytes.
constexpr bool of_bytes = matrices && sizeof(T) == 1;
constexpr bool first_along_k =
    packs_first ? of_bytes || (PACK == Pack::channels && WINDOWED == 0) : A_ALONG_K != 0;
constexpr bool second_along_k =
    packs_second ? of_bytes || (PACK == Pack::channels && WINDOWED == 1) : B_ALONG_K != 0;

// Rows and columns of bytes that stand term by term are multiplied in pairs of neighbours (mma.inl).
constexpr bool pairs_rows = of_bytes && !first_along_k, pairs_columns = of_bytes && !second_along_k;

// A thread's rows are pieces. A piece has as many neighbours as one access to shared memory takes, and a
// thread's pieces are as far apart as the pieces of all threads are long. Its columns are pieces in the same
// way.
constexpr int piece_m = matrices ? 1 : alignment_of(THREAD_M, 16 / static_cast<int>(sizeof(Compute)));
constexpr int piece_n = matrices ? 8 : alignment_of(THREAD_N, 16 / static_cast<int>(sizeof(Compute)));

// The type of an element in shared memory: that of the array for matrix instructions, of halves one of 16
// bits, else that of the sums.
template <bool AS_IT_IS, bool HALVED, typename As>
struct HeldType {
  using type = As;
};
template <typename As>
struct HeldType<true, false, As> {
  using type = T;
};
template <typename As>
struct HeldType<true, true, As> {
  using type = Float16;
};
using Held = HeldType<matrices, halved, Compute>::type;

#include "tensor/contract/contract_layout.inl"
#include "tensor/contract/mma.inl"
#include "tensor/contract/mma_warpgroup.inl"
#include "tensor/contract/nest.inl"
#include "tensor/contract/operand.inl"
#include "tensor/contract/pack.inl"
#include "tensor/contract/unit.inl"

constexpr Hint store_hint = static_cast<Hint>(STORE);

using First = Operand<TILE_M, VECTOR_A, first_along_k, 1, threads_m * piece_m, 2>;
using Second = Operand<TILE_N, VECTOR_B, second_along_k, SPAN_N, threads_n * piece_n, 4>;

// Shared memory begins with these tables: where each row of M begins in the first operand and in the output,
// and where each column of N begins in the second operand and in the output. If K has several digits, the
// offsets that the terms of each stage add in both operands follow. Then come the tiles of both operands, one
// pair for each stage.
struct Tables {
  Offset first[TILE_M], out_m[TILE_M], second[TILE_N], out_n[TILE_N];
};
struct Terms {
  Offset first[TILE_K], second[TILE_K];
};
constexpr ContractStage stage_layout = contract_stage(
    {swizzles_halves ? TILE_M * TILE_K : First::elements, swizzles_halves ? TILE_N* TILE_K : Second::elements,
     static_cast<int>(sizeof(Held)), threads, halved, packs_halves, one_half, swizzles_halves});
constexpr int stage_elements = stage_layout.elements;

// If the output's neighbours are joined, shared memory has a Run before the tiles for each vector of columns:
// the run of neighbours that the vector belongs to. The finished sums take the tiles' place, run by run, and
// row by row within a run.
struct alignas(INDEX == 32 ? 16 : 8) Run {
  Offset out;            // where the run begins in the output, less its place in shared memory, in elements
  unsigned twice_place;  // that place in vectors, twice: TILE_M times its first in the tile
  int back;              // the elements of one of its rows, negative
  unsigned multiplier;   // 2^31 divided by the vectors of a row, rounded up or one more

  __device__ __forceinline__ int place() const { return static_cast<int>(twice_place / 2); }
  __device__ __forceinline__ int first() const { return static_cast<int>(twice_place / (2 * TILE_M)); }
  __device__ __forceinline__ int length() const {
    return static_cast<int>(static_cast<unsigned>(-back) / VECTOR_OUT);
  }
};
constexpr bool joins = OUT_BY == OutBy::shared && SPLIT == 1;
constexpr bool stores_rows = OUT_BY == OutBy::rows && SPLIT == 1;
constexpr bool boxes_out = OUT_BY == OutBy::boxes && SPLIT == 1;
constexpr int vectors_n = TILE_N / VECTOR_OUT;

constexpr ContractLayout layout = contract_layout(
    {TILE_M, TILE_N, TILE_K, stages, stage_elements, static_cast<int>(sizeof(Offset)),
     static_cast<int>(sizeof(Held)), static_cast<int>(sizeof(Out)), VECTOR_OUT, counted_terms, joins,
     stores_rows, warpgroups || swizzles_halves, in_boxes, boxes_out ? threads / 128 : 0});
constexpr int terms_at = layout.terms_at, runs_at = layout.runs_at, tiles_at = layout.tiles_at;
static_assert(boxes_out || sizeof(Tables) == terms_at, "as the layout has it");
static_assert(!counted_terms || stages * sizeof(Terms) == runs_at - terms_at, "as the layout has it");
static_assert(!joins || vectors_n * sizeof(Run) <= tiles_at - runs_at, "as the layout has it");

// The tile of a block.
struct Tile {
  unsigned m, n, batch, split;
};

__device__ __forceinline__ Tile tile_of(unsigned at, unsigned tiles_m, unsigned tiles_n, unsigned splits) {
  const unsigned all = at / (tiles_m * tiles_n);
  at -= all * (tiles_m * tiles_n);
  Tile tile;
  tile.batch = SPLIT == 1 || splits == 1 ? all : all / splits;
  tile.split = all - tile.batch * splits;
  if constexpr (BLOCK_ORDER == BlockOrder::row) {
    tile.m = at / tiles_n;
    tile.n = at - tile.m * tiles_n;
  } else if constexpr (BLOCK_ORDER == BlockOrder::column) {
    tile.n = at / tiles_m;
    tile.m = at - tile.n * tiles_m;
  } else {  // bands of 8 rows of tiles, each walked column by column
    const unsigned band = at / (8 * tiles_n);
    const unsigned in_band = at - band * (8 * tiles_n);
    const unsigned high = min(tiles_m - band * 8, 8u);
    tile.n = in_band / high;
    tile.m = band * 8 + in_band - tile.n * high;
  }
  return tile;
}

// The sizes of the groups, and the extent of N's index that is counted in runs.
struct Sizes {
  int m, n, k, runs_n;
};

// All threads fill the tables, for rows from `from_m` on and columns from `from_n` on; of a vector of columns
// only for the first one. Rows and columns beyond the end read the first one and are not stored.
constexpr int step_n = smaller(VECTOR_OUT, Second::offset_step);
__device__ __forceinline__ void fill(Tables& tables, const Digits& digits, const Sizes& sizes,
                                     unsigned from_m, unsigned from_n) {
  for (int row = static_cast<int>(threadIdx.x); row < TILE_M + TILE_N / step_n; row += threads) {
    if (row < TILE_M) {
      const Place place = M::place(digits, from_m + row, sizes.m, 0);
      tables.first[row] = place.out == nowhere ? 0 : place.first;
      tables.out_m[row] = place.out;
    } else {
      const int column = (row - TILE_M) * step_n;
      const Place place = N::place(digits, from_n + column, sizes.n, sizes.runs_n);
      tables.second[column] = place.out == nowhere ? 0 : place.second;
      tables.out_n[column] = place.out;
    }
  }
}

// Fills the terms of `stages` stages, from the term `from` on.
__device__ __forceinline__ void fill(Terms* terms, int stages, const Digits& digits, const Sizes& sizes,
                                     unsigned from) {
  if constexpr (counted_terms) {
    for (int at = static_cast<int>(threadIdx.x); at < stages * TILE_K; at += threads) {
      const Place place = K::place(digits, from + at, sizes.k, 0);
      terms[at / TILE_K].first[at % TILE_K] = place.first;
      terms[at / TILE_K].second[at % TILE_K] = place.second;
    }
  }
}

#include "tensor/contract/halves.inl"
#include "tensor/contract/out.inl"

// The place of a thread's j-th sum of its i-th row among the kept sums of all blocks.
__device__ __forceinline__ long long kept_at(long long block, int i, int j, int thread) {
  return ((block * THREAD_M + i) * THREAD_N + j) * threads + thread;
}

// Adds the sums that all parts of this block's tile have left, in the order of the parts.
__device__ __forceinline__ void add_parts(Sums& sums, const Compute* kept, long long first, long long tiles,
                                          int splits) {
  constexpr int at_once = larger(1, 64 / (THREAD_M * THREAD_N));
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < THREAD_M; ++i) {
#pragma unroll
    for (int j = 0; j < THREAD_N; ++j) sums.sum[i][j] = kept[kept_at(first, i, j, thread)];
  }
#pragma unroll(at_once)
  for (int split = 1; split < splits; ++split) {
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
#pragma unroll
      for (int j = 0; j < THREAD_N; ++j)
        sums.sum[i][j] = added(sums.sum[i][j], kept[kept_at(first + split * tiles, i, j, thread)]);
    }
  }
}

#ifdef IN_BOXES
#include "tensor/contract/boxes.inl"
#else
// The grid has a block for each tile of M and N, each of `splits` parts of K with `terms_of_split` terms, and
// each place in the batch. With several parts a block keeps its sums for tensor_contract_kept, or for the
// block of its tile that is the last to keep its own, as `arrived` tells.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks(RESIDENT_WARPS, threads))
    ENTRY(tensor_contract)(InputPointer<T> first, InputPointer<T> second, InOutPointer<Out> out,
                           InOutPointer<Compute> kept, InOutPointer<unsigned> arrived, long long first_start,
                           long long second_start, long long out_start, int m, int n, int k, int runs_n,
                           int tiles_m, int tiles_n, int splits, int terms_of_split, Extents extents,
                           Extents multipliers, Strides first_strides, Strides second_strides,
                           Strides out_strides FINISH_PARAMETERS) {
  SWIZZLED_SHARED(unsigned char, memory);
  Tables& tables = *reinterpret_cast<Tables*>(memory);
  Terms* const terms = reinterpret_cast<Terms*>(memory + terms_at);
  Run* const runs = reinterpret_cast<Run*>(memory + runs_at);
  Held* const shared = reinterpret_cast<Held*>(memory + tiles_at);
  const Digits digits = {extents, multipliers, first_strides, second_strides, out_strides};
  const Tile tile = tile_of(blockIdx.x, tiles_m, tiles_n, splits);
  const Place batch = Batch::place(digits, tile.batch, 2147483647, 0);
  const Sizes sizes = {m, n, k, runs_n};
  const int first_term = static_cast<int>(tile.split) * terms_of_split;
  const int left = min(terms_of_split, k - first_term);
  fill(tables, digits, sizes, tile.m * TILE_M, tile.n * TILE_N);
  fill(terms, stages, digits, sizes, first_term);
  start();
  __syncthreads();
  fill(runs, tables, digits, tile.n * TILE_N);

  const T* const from_first = first + (first_start + batch.first);
  const T* const from_second = second + (second_start + batch.second);
  const T* const held_first = held_in_register(from_first);
  const T* const held_second = held_in_register(from_second);
  const Offset first_step = digits.first[K::first], second_step = digits.second[K::first];
  First a;
  Second b;
  const int thread = static_cast<int>(threadIdx.x);
  const int rows_there = m - static_cast<int>(tile.m) * TILE_M;
  const int columns_there = n - static_cast<int>(tile.n) * TILE_N;
  if constexpr (tensor_cores) {
    a.share(threadIdx.x, tables.first);
    b.share(threadIdx.x, tables.second);
  } else {
    a.share(thread, tables.first, rows_there);
    b.share(thread, tables.second, columns_there);
  }
  Sums sums(thread);

  // The terms of the t-th tile of K, in a stage.
  const auto first_terms = [&](int t, int stage) {
    const int its = t * TILE_K;
    return First::Terms{(first_term + its) * first_step, first_step, terms[stage].first, left - its};
  };
  const auto second_terms = [&](int t, int stage) {
    const int its = t * TILE_K;
    return Second::Terms{(first_term + its) * second_step, second_step, terms[stage].second, left - its};
  };
  const auto copy = [&](int t, int stage) {
    Held* const to = shared + stage * stage_elements;
    a.copy(to, held_first, first_terms(t, stage));
    b.copy(to + First::elements, held_second, second_terms(t, stage));
  };
  const auto load = [&](int t, int stage) {
    a.load(from_first, first_terms(t, stage));
    b.load(from_second, second_terms(t, stage));
  };
  const auto put = [&](int stage) {
    Held* const to = shared + stage * stage_elements;
    a.put(to);
    b.put(to + First::elements);
  };

  const int all_tiles = ceil_divide(left, TILE_K);
  const int tiles = halved ? 0 : all_tiles;  // that are multiplied here
  if constexpr (packs_halves) {
    const int tiles_k = ceil_divide(k, TILE_K), first_tile = first_term / TILE_K;
    const Held* const its_first = packed_halves(first, tile.batch * tiles_m + tile.m, tiles_k, first_tile,
                                                packed_elements<FirstLayouts::packed>);
    const Held* const its_second = packed_halves(second, tile.batch * tiles_n + tile.n, tiles_k, first_tile,
                                                 packed_elements<SecondLayouts::packed>);
    accumulate_packed_halves<FirstLayouts::packed, SecondLayouts::packed>(sums, its_first, its_second, shared,
                                                                          all_tiles);
  } else if constexpr (halved) {
    accumulate_halves(
        sums, a, b, shared, all_tiles, [&](int t) { a.load(from_first, first_terms(t, t % 2)); },
        [&](int t) { b.load(from_second, second_terms(t, t % 2)); },
        [&](int t) { fill(terms + t % 2, 1, digits, sizes, first_term + t * TILE_K); });
  } else if constexpr (asynchronous) {
#pragma unroll 1
    for (int t = 0; t < stages_ahead; ++t) {
      if (t < tiles) copy(t, t);
      end_copy_group();
    }
  } else {
    load(0, 0);
    put(0);
  }
  int stage = 0;  // of the tile t
#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
    const int free = stage + stages_ahead < stages ? stage + stages_ahead : stage + stages_ahead - stages;
    if constexpr (asynchronous) wait_for_copy_groups<stages_ahead - 1>();
    if constexpr (warpgroups) show_to_products();
    __syncthreads();
    if constexpr (asynchronous) {
      if (t + stages_ahead < tiles) copy(t + stages_ahead, free);
      end_copy_group();
    } else {
      if (t + 1 < tiles) load(t + 1, free);
    }
    fill(terms + stage, 1, digits, sizes, first_term + (t + stages) * TILE_K);
    const Held* const its = shared + stage * stage_elements;
    sums.template accumulate<First, Second>(its, its + First::elements, left - t * TILE_K);
    if constexpr (!asynchronous) {
      if (t + 1 < tiles) put(free);
    }
    stage = stage + 1 == stages ? 0 : stage + 1;
  }
  if constexpr (matrices) sums.finish();

  Out* const to = held_in_register(out + (out_start + batch.out));
  const ItsFinish finish(FINISH_OPERANDS, tile, sizes, sums, 0);
  if constexpr (joins) {
    __syncthreads();  // the tiles have been read
    Out* const finished = reinterpret_cast<Out*>(shared);
    keep(finished, runs, tables, sums, finish);
    __syncthreads();
    const bool whole_m = tile.m * TILE_M + TILE_M <= static_cast<unsigned>(m);
    const bool whole_n = tile.n * TILE_N + TILE_N <= static_cast<unsigned>(n) && runs_n % SPAN_N == 0;
    if (whole_m && whole_n) {
      store_joined<true>(to, finished, runs, tables);
    } else {
      store_joined<false>(to, finished, runs, tables);
    }
    return;
  }
  if constexpr (stores_rows) {
    __syncthreads();  // the tiles have been read
    Out* const finished = reinterpret_cast<Out*>(shared);
    Out* const its_first = to + tables.out_n[0];
    const int columns = min(TILE_N, columns_there);
    keep_rows(finished, its_first, columns, tables, sums, finish);
    __syncthreads();
    store_rows(its_first, columns, finished, tables);
    return;
  }
  if (SPLIT > 1 && splits > 1) {
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
#pragma unroll
      for (int j = 0; j < THREAD_N; ++j) kept[kept_at(blockIdx.x, i, j, thread)] = sums.sum[i][j];
    }
    if constexpr (ADD_BY == AddBy::launch) return;
    const unsigned all = static_cast<unsigned>(tiles_m) * static_cast<unsigned>(tiles_n);
    const unsigned first_block = blockIdx.x - tile.split * all;
    const unsigned in_batch = first_block - tile.batch * static_cast<unsigned>(splits) * all;
    Offset& is_last = tables.first[0];  // which is not needed any more
    __syncthreads();
    if (threadIdx.x == 0)
      is_last = last_of(arrived + (tile.batch * all + in_batch), static_cast<unsigned>(splits));
    __syncthreads();
    if (is_last == 0) return;
    add_parts(sums, kept, first_block, all, splits);
  }
  const Columns columns = columns_of<THREAD_N>(tables, sums, 0);
#pragma unroll
  for (int i = 0; i < THREAD_M; ++i)
    store_row(to, tables.out_m[sums.row(i)], columns, sums.sum[i], finish, finish.row(sums.row(i)));
}

#endif

// Adds the sums that the parts of K have left, in the order of the parts. For each tile of M and N and each
// place in the batch the grid has a block for some threads of a tile, each row of a thread and each
// `kept_columns` of its columns. A block's x are these threads. Each of its y adds a run of the parts, and
// the first one adds the runs.
constexpr int kept_columns = contract_kept_columns(THREAD_N);
extern "C" __global__ void __launch_bounds__(contract_kept_threads)
    ENTRY(tensor_contract_kept)(InOutPointer<Out> out, InputPointer<Compute> kept, long long out_start, int m,
                                int n, int runs_n, int tiles_m, int tiles_n, int splits, int splits_of_run,
                                Extents extents, Extents multipliers, Strides out_strides FINISH_PARAMETERS) {
  DYNAMIC_SHARED(Compute, runs);
  const Digits digits = {extents, multipliers, {}, {}, out_strides};
  const unsigned tiles = static_cast<unsigned>(tiles_m) * static_cast<unsigned>(tiles_n);
  const unsigned pieces = threads / blockDim.x, its_blocks = pieces * THREAD_M * (THREAD_N / kept_columns);
  const unsigned at = blockIdx.x / its_blocks, in_tile = blockIdx.x % its_blocks;
  const int lane = static_cast<int>(threadIdx.x), lanes = static_cast<int>(blockDim.x);
  const int run = static_cast<int>(threadIdx.y);
  const int thread = static_cast<int>(in_tile % pieces) * lanes + lane;
  const int i = static_cast<int>(in_tile / pieces % THREAD_M);
  const int from = static_cast<int>(in_tile / pieces / THREAD_M) * kept_columns;
  const Tile tile = tile_of(at, tiles_m, tiles_n, 1);
  // The block that had the first part. The blocks of the other parts are `tiles` apart.
  const long long first = static_cast<long long>(tile.batch) * splits * tiles + (at - tile.batch * tiles);
  const int begin = run * splits_of_run, end = min(splits, begin + splits_of_run);
  start();
  const auto its_kept = [&](int split, int j) {
    return kept[kept_at(first + static_cast<long long>(split) * tiles, i, from + j, thread)];
  };
  Compute sum[kept_columns];
#pragma unroll
  for (int j = 0; j < kept_columns; ++j) sum[j] = its_kept(begin, j);
#pragma unroll(sizeof(Compute) == 4 ? 8 : 4)
  for (int split = begin + 1; split < end; ++split) {
#pragma unroll
    for (int j = 0; j < kept_columns; ++j) sum[j] = added(sum[j], its_kept(split, j));
  }
  if (run > 0) {
#pragma unroll
    for (int j = 0; j < kept_columns; ++j) runs[((run - 1) * kept_columns + j) * lanes + lane] = sum[j];
  }
  __syncthreads();
  if (run > 0) return;
#pragma unroll 1
  for (int other = 0; other + 1 < static_cast<int>(blockDim.y); ++other) {
#pragma unroll
    for (int j = 0; j < kept_columns; ++j)
      sum[j] = added(sum[j], runs[(other * kept_columns + j) * lanes + lane]);
  }
  const Sums sums(thread);
  const Sizes sizes = {m, n, 0, runs_n};
  const Place batch = Batch::place(digits, tile.batch, 2147483647, 0);
  const Finish<FINISH_ACCESSES, kept_columns> finish(FINISH_OPERANDS, tile, sizes, sums, from);
  Columns<kept_columns> columns;
#pragma unroll
  for (int j = 0; j < kept_columns; j += VECTOR_OUT)
    columns.at[j / VECTOR_OUT] =
        N::place(digits, tile.n * TILE_N + sums.column(from + j), sizes.n, sizes.runs_n).out;
  const Offset row = M::place(digits, tile.m * TILE_M + sums.row(i), sizes.m, 0).out;
  store_row(held_in_register(out + (out_start + batch.out)), row, columns, sum, finish,
            finish.row(sums.row(i)));
}
