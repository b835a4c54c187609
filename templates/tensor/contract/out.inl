// SPDX-License-Identifier: Apache-2.0
// How a block's sums get into the output: from registers, or through shared memory, where neighbours of
// different threads are joined; where the output's rows are whole, in pieces of 16 bytes at any address.
// Needs nest.inl, unit.inl, Tables, Tile, Sizes, Run, OUT_BY.

// The places in the output of WIDTH of a thread's columns, from `first` on.
template <int WIDTH>
struct Columns {
  Offset at[WIDTH / VECTOR_OUT];
};
template <int WIDTH>
__device__ __forceinline__ Columns<WIDTH> columns_of(const Tables& tables, const Sums& sums, int first) {
  Columns<WIDTH> columns;
#pragma unroll
  for (int j = 0; j < WIDTH; j += VECTOR_OUT)
    columns.at[j / VECTOR_OUT] = tables.out_n[sums.column(first + j)];
  return columns;
}

// The accesses that a finish reads besides the sum: where each begins, and, as the strides of the digits, how
// far they move the first, the second and the third access.
struct FinishOperands {
  const T* from[larger(1, FINISH_ACCESSES)];
  Digits digits;
};
template <int ACCESSES, int WIDTH>
struct Finish {
  FinishOperands operands;
  Tile tile;
  Sizes sizes;
  Place columns[WIDTH];

  // The columns are column(first), column(first + 1), … of `sums`.
  template <typename HasColumns>
  __device__ __forceinline__ Finish(const FinishOperands& its, const Tile& its_tile, const Sizes& its_sizes,
                                    const HasColumns& sums, int first)
      : operands(its), tile(its_tile), sizes(its_sizes) {
    const Place batch = Batch::place(operands.digits, tile.batch, 2147483647, 0);
#pragma unroll
    for (int f = 0; f < ACCESSES; ++f) operands.from[f] += of_access(f, batch);
#pragma unroll
    for (int j = 0; j < WIDTH; ++j)
      columns[j] = N::place(operands.digits, tile.n * TILE_N + sums.column(first + j), sizes.n, sizes.runs_n);
  }
  static __device__ __forceinline__ Offset of_access(int f, const Place& place) {
    return f == 0 ? place.first : f == 1 ? place.second : place.out;
  }
  __device__ __forceinline__ Place row(int at) const {
    return M::place(operands.digits, tile.m * TILE_M + at, sizes.m, 0);
  }
  __device__ __forceinline__ Compute of(Compute sum, const Place& row, int j) const {
    Compute input[ACCESSES + 1] = {sum};
#pragma unroll
    for (int f = 0; f < ACCESSES; ++f)
      input[f + 1] = to_float(operands.from[f][of_access(f, row) + of_access(f, columns[j])]);
    return finish::apply(input);
  }
};
template <int WIDTH>
struct Finish<0, WIDTH> {
  template <typename HasColumns>
  __device__ __forceinline__ Finish(const FinishOperands&, const Tile&, const Sizes&, const HasColumns&,
                                    int) {}
  __device__ __forceinline__ Place row(int) const { return {0, 0, 0}; }
  __device__ __forceinline__ Compute of(Compute sum, const Place&, int) const { return finish::apply({sum}); }
};
using ItsFinish = Finish<FINISH_ACCESSES, THREAD_N>;

// Stores a thread's sums of a row.
template <int WIDTH>
__device__ __forceinline__ void store_row(Out* out, Offset to_row, const Columns<WIDTH>& columns,
                                          const Compute (&sum)[WIDTH],
                                          const Finish<FINISH_ACCESSES, WIDTH>& finish, const Place& row) {
  if (to_row == nowhere) return;
#pragma unroll
  for (int j = 0; j < WIDTH; j += VECTOR_OUT) {
    const Offset to_column = columns.at[j / VECTOR_OUT];
    if (to_column == nowhere) continue;
    Vector<Out, VECTOR_OUT> vector;
#pragma unroll
    for (int e = 0; e < VECTOR_OUT; ++e)
      vector.element[e] = converted<Out>(finish.of(sum[j + e], row, j + e));
    store_hinted<store_hint>(reinterpret_cast<Vector<Out, VECTOR_OUT>*>(out + (to_row + to_column)), vector);
  }
}

// Fills the runs of a tile's columns from `from_n` on: neighbours along N's first index, or single vectors.
__device__ __forceinline__ void fill(Run* runs, const Tables& tables, const Digits& digits, unsigned from_n) {
  if constexpr (joins) {
    const bool neighbours = digits.out[N::first] == 1;
    const int extent = neighbours ? digits.extents[N::first] : VECTOR_OUT;
#pragma unroll 1
    for (int at = static_cast<int>(threadIdx.x); at < vectors_n; at += threads) {
      const unsigned column = from_n + at * VECTOR_OUT;
      const unsigned before =
          neighbours ? divided(column, digits.extents[N::first], digits.multipliers[N::first]) : 0;
      const int along = neighbours ? static_cast<int>(column - before * static_cast<unsigned>(extent)) : 0;
      const int first = max(0, at - along / VECTOR_OUT);
      const int length = min(vectors_n, at + (extent - along) / VECTOR_OUT) - first;
      const Offset out = tables.out_n[first * VECTOR_OUT];
      runs[at] = {out == nowhere ? 0 : out - first * TILE_M * VECTOR_OUT,
                  2u * static_cast<unsigned>(first) * TILE_M, -length * VECTOR_OUT,
                  (1u << 31) / static_cast<unsigned>(length) + 1};
    }
  }
}

// Puts a thread's finished sums into their places in shared memory.
__device__ __forceinline__ void keep(Out* to, const Run* runs, const Tables& tables, const Sums& sums,
                                     const ItsFinish& finish) {
#pragma unroll
  for (int j = 0; j < THREAD_N; j += VECTOR_OUT) {
    const int column = sums.column(j);
    const Run run = runs[column / VECTOR_OUT];
    const int length = run.length();
    const int place = run.place() + column / VECTOR_OUT - run.first() + sums.m * length;
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
      const int row = sums.row(i);
      Vector<Out, VECTOR_OUT> vector = {};
      if (FINISH_ACCESSES == 0 || (tables.out_m[row] != nowhere && tables.out_n[column] != nowhere)) {
        const Place its_row = finish.row(row);
#pragma unroll
        for (int e = 0; e < VECTOR_OUT; ++e)
          vector.element[e] = converted<Out>(finish.of(sums.sum[i][j + e], its_row, j + e));
      }
      store_vector<VECTOR_OUT>(to + (place + (row - sums.m) * length) * VECTOR_OUT, vector);
    }
  }
}

// Stores the sums that all threads have kept, in the order of the places in shared memory: neighbouring
// threads store neighbours. WHOLE: each place exists.
template <bool WHOLE>
__device__ __forceinline__ void store_joined(Out* out, const Out* kept, const Run* runs,
                                             const Tables& tables) {
  constexpr int vectors = TILE_M * vectors_n;
  constexpr bool in_rounds = threads % TILE_M == 0 || TILE_M % threads == 0;
  const int thread = static_cast<int>(threadIdx.x);
  const Run* const its_runs = runs + (in_rounds ? threadIdx.x / TILE_M : 0);
  const Out* const its_kept = kept + thread * VECTOR_OUT;
  Out* const its_out = held_in_register(out + thread * VECTOR_OUT);
#pragma unroll(WHOLE ? ceil_divide(vectors, threads) : 1)
  for (int before = 0; before < vectors; before += threads) {
    const int at = before + thread;
    if (vectors % threads != 0 && at >= vectors) break;
    const Run run = its_runs[(in_rounds ? before : at) / TILE_M];
    const unsigned twice_place = 2 * static_cast<unsigned>(at) - run.twice_place;
    const int row = static_cast<int>(__umulhi(twice_place, run.multiplier));
    const Offset to_row = tables.out_m[row];
    if constexpr (!WHOLE) {
      const int column = (run.first() + static_cast<int>(twice_place / 2) - row * run.length()) * VECTOR_OUT;
      if (to_row == nowhere || tables.out_n[column] == nowhere) continue;
    }
    // The row's place in the run is subtracted, since `before` and `thread` already move by it.
    const Offset to = to_row + (run.out + row * run.back);
    store_hinted<store_hint>(reinterpret_cast<Vector<Out, VECTOR_OUT>*>(its_out + to) + before,
                             load_vector<VECTOR_OUT>(its_kept + before * VECTOR_OUT));
  }
}

// Rows of the output whose neighbours are the columns. In shared memory each begins as far from a multiple of
// 16 bytes as in the output, so that both have the same pieces.
constexpr int row_vector = 16 / static_cast<int>(sizeof(Out));
constexpr int finished_pitch = contract_row_pitch(TILE_N, sizeof(Out));

__device__ __forceinline__ int shift_of(const Out* row) {
  return static_cast<int>(reinterpret_cast<unsigned long long>(row) / sizeof(Out) % row_vector);
}

// Puts a thread's finished sums into their rows; `out` has the first of `count` columns.
__device__ __forceinline__ void keep_rows(Out* finished, const Out* out, int count, const Tables& tables,
                                          const Sums& sums, const ItsFinish& finish) {
#pragma unroll
  for (int i = 0; i < THREAD_M; ++i) {
    const int row = sums.row(i);
    const Offset to_row = tables.out_m[row];
    if (to_row == nowhere) continue;
    Out* const line = finished + row * finished_pitch + shift_of(out + to_row);
    const Place its_row = finish.row(row);
#pragma unroll
    for (int j = 0; j < THREAD_N; ++j) {
      const int column = sums.column(j);
      if (FINISH_ACCESSES == 0 || column < count)
        line[column] = converted<Out>(finish.of(sums.sum[i][j], its_row, j));
    }
  }
}

__device__ __forceinline__ void store_rows(Out* out, int count, const Out* finished, const Tables& tables) {
  constexpr int pieces = TILE_N / row_vector + 1;  // of a row
#pragma unroll 4
  for (int at = static_cast<int>(threadIdx.x); at < TILE_M * pieces; at += threads) {
    const int row = at / pieces, piece = at % pieces;
    const Offset to_row = tables.out_m[row];
    if (to_row == nowhere) continue;
    Out* const line = out + to_row;
    const int first = piece * row_vector - shift_of(line);
    const auto vector = load_vector<row_vector>(finished + row * finished_pitch + piece * row_vector);
    if (first >= 0 && first + row_vector <= count) {
      store_hinted<store_hint>(reinterpret_cast<Vector<Out, row_vector>*>(line + first), vector);
    } else {
#pragma unroll
      for (int e = 0; e < row_vector; ++e)
        if (first + e >= 0 && first + e < count) line[first + e] = vector.element[e];
    }
  }
}
