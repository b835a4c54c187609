// SPDX-License-Identifier: Apache-2.0
// How a thread multiplies: THREAD_M x THREAD_N sums in registers, with rows and columns read from the tiles
// in vectors. Needs UNIT, TILE_M, TILE_N, TILE_K, THREAD_M, THREAD_N, WARP_N, Compute, added(), term() and
// common/{integer,matrix_f64,vector}.cuh.

struct Sums {
  int m, n;  // the first row and column
  Compute sum[THREAD_M][THREAD_N];

  // The lowest bit of a lane is a column and the next bit a row. Lanes next to each other and lanes two apart
  // then read the same rows and columns, and two accesses of 16 bytes pass shared memory at once. Tensor
  // cores have four lanes along N. (With signed numbers the compiler needs fewer registers.)
  __device__ __forceinline__ explicit Sums(int thread) {
    const int warp = thread / 32, lane = thread % 32;
    int lane_m, lane_n;
    if constexpr (WARP_N > 1 && warp_m > 1 && !tensor_cores && !matrices) {
      lane_n = lane % 2 + lane / 4 % (WARP_N / 2) * 2;
      lane_m = lane / 2 % 2 + lane / (2 * WARP_N) * 2;
    } else {
      lane_n = lane % WARP_N;
      lane_m = lane / WARP_N;
    }
    const int warp_along_m = warp / (threads_n / WARP_N), warp_along_n = warp % (threads_n / WARP_N);
    if constexpr (matrices) {
      m = warpgroups   ? warp / 4 * 32 * THREAD_M + warp % 4 * 16 + lane_m
          : pairs_rows ? warp_along_m * 16 + lane_m * 2
                       : warp_along_m * 8 + lane_m;
      n = pairs_columns ? (lane_n % 2 * (threads_n / WARP_N) + warp_along_n) * 16 + lane_n / 2 * 8
                        : (lane_n * (threads_n / WARP_N) + warp_along_n) * piece_n;
    } else {
      m = (warp_along_m * warp_m + lane_m) * piece_m;
      n = (warp_along_n * WARP_N + lane_n) * piece_n;
    }
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
#pragma unroll
      for (int j = 0; j < THREAD_N; ++j) sum[i][j] = neutral();
    }
  }

  __device__ __forceinline__ int row(int i) const {
    if constexpr (warpgroups) return m + i / 2 * 64 + i % 2 * 8;
    if constexpr (pairs_rows) return m + i / 2 * 2 * threads_m + i % 2;
    return m + i / piece_m * threads_m * piece_m + i % piece_m;
  }
  __device__ __forceinline__ int column(int j) const {
    return n + j / piece_n * threads_n * piece_n + j % piece_n;
  }

  // Reads pieces that are STRIDE apart, of numbers that are STEP apart.
  template <int PIECE, int STRIDE, int STEP = 1, int N>
  static __device__ __forceinline__ void read(Compute (&numbers)[N], const Compute* from) {
#pragma unroll
    for (int p = 0; p < N / PIECE; ++p) {
      Vector<Compute, PIECE> vector;
      if constexpr (STEP == 1) {
        vector = load_vector<PIECE>(from + p * STRIDE);
      } else {
#pragma unroll
        for (int e = 0; e < PIECE; ++e) vector.element[e] = from[p * STRIDE + e * STEP];
      }
#pragma unroll
      for (int e = 0; e < PIECE; ++e) numbers[p * PIECE + e] = vector.element[e];
    }
  }

  __device__ __forceinline__ void multiply(const Compute (&rows)[THREAD_M],
                                           const Compute (&columns)[THREAD_N]) {
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
#pragma unroll
      for (int j = 0; j < THREAD_N; ++j) sum[i][j] = added(sum[i][j], term(rows[i], columns[j]));
    }
  }

  // Adds the first `depth` terms of the operands' tiles, or all TILE_K of them where a term of zeros adds
  // nothing.
  template <typename First, typename Second, typename Element>
  __device__ __forceinline__ void accumulate(const Element* first, const Element* second, int depth) {
    if constexpr (warpgroups) {
      multiply_by_warpgroups<First, Second, asynchronous ? 1 : 0>(sum, first, second);
    } else if constexpr (matrices) {
      multiply_matrices<First, Second>(sum, first, second);
    } else {
      accumulate_numbers<First, Second>(first, second, depth);
    }
  }

  // Ends products that still run. Each thread then has eight neighbouring columns instead of every fourth
  // two, as column() counts them.
  template <int Rows = THREAD_M>
  __device__ __forceinline__ void finish() {
    if constexpr (warpgroups) end_products<0>(sum);
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
      if constexpr (pairs_columns) {
        gather_pairs(sum[i]);
      } else {
        gather(sum[i]);
      }
    }
  }

  // The same by ordinary multiplications or in tensor cores of doubles. Each of `turn` terms is read while
  // the term before it is multiplied.
  template <typename First, typename Second>
  __device__ __forceinline__ void accumulate_numbers(const Compute* first, const Compute* second, int depth) {
    if constexpr (tensor_cores) return accumulate_in_tensor_cores<First, Second>(first, second);
    constexpr int turn = smaller(TILE_K, larger(2, alignment_of(TILE_K, 1024 / (THREAD_M * THREAD_N))));
    const Compute* rows = first + First::place_of(m);
    const Compute* columns = second + Second::place_of(n);
    if (!zeros_add_nothing && depth < TILE_K) {
#pragma unroll 1
      for (int k = 0; k < depth; ++k) {
        Compute row[THREAD_M], column[THREAD_N];
        read<piece_m, First::reach>(row, rows + k * First::pitch);
        read<piece_n, Second::reach>(column, columns + k * Second::pitch);
        multiply(row, column);
      }
      return;
    }
#pragma unroll 1
    for (int begin = 0; begin < TILE_K; begin += turn) {
      Compute row[2][THREAD_M], column[2][THREAD_N];
      read<piece_m, First::reach>(row[0], rows);
      read<piece_n, Second::reach>(column[0], columns);
#pragma unroll
      for (int k = 0; k < turn; ++k) {
        if (k + 1 < turn) {
          read<piece_m, First::reach>(row[(k + 1) % 2], rows + (k + 1) * First::pitch);
          read<piece_n, Second::reach>(column[(k + 1) % 2], columns + (k + 1) * Second::pitch);
        }
        multiply(row[k % 2], column[k % 2]);
      }
      rows += turn * First::pitch;
      columns += turn * Second::pitch;
    }
  }

  // Adds the same terms in a warp's tensor cores, four at a time. The lanes are eight numbers q times four
  // numbers t: a lane brings term t of its two rows and of the column q, and gets the sums of these rows and
  // two columns.
  template <typename First, typename Second>
  __device__ __forceinline__ void accumulate_in_tensor_cores(const Compute* first, const Compute* second) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const Compute* rows = first + First::place_of(m, lane % 4);
    const Compute* columns = second + Second::place_of(n - lane % 4 * 2 + lane / 4, lane % 4);
    Compute row[2][THREAD_M], column[2][THREAD_N / 2];
    read<2, First::piece_step, First::row_step>(row[0], rows);
    read<1, Second::piece_step>(column[0], columns);
#pragma unroll
    for (int k = 0; k < TILE_K / 4; ++k) {
      if (k + 1 < TILE_K / 4) {
        read<2, First::piece_step, First::row_step>(row[(k + 1) % 2], rows + (k + 1) * 4 * First::term_step);
        read<1, Second::piece_step>(column[(k + 1) % 2], columns + (k + 1) * 4 * Second::term_step);
      }
#pragma unroll
      for (int i = 0; i < THREAD_M; i += 2) {
#pragma unroll
        for (int j = 0; j < THREAD_N; j += 2) {
          multiply_in_tensor_cores(sum[i][j], sum[i][j + 1], sum[i + 1][j], sum[i + 1][j + 1], row[k % 2][i],
                                   row[k % 2][i + 1], column[k % 2][j / 2]);
        }
      }
    }
  }
};
