// How a thread multiplies: THREAD_M x THREAD_N sums in registers, rows and columns read from the tiles in
// vectors. Needs TILE_M, TILE_N, TILE_K, THREAD_M, THREAD_N, WARP_N, Compute, ARITY, apply(), reduction and
// common/{integer,vector}.cuh.

struct Unit {
  int m, n;  // the first row and column
  Compute sum[THREAD_M][THREAD_N];

  // Of a warp's threads the lowest bit is a column and the next a row: neighbours and neighbours but one then
  // read the same rows and columns, and two accesses of 16 bytes pass shared memory at once.
  __device__ __forceinline__ explicit Unit(int thread) {
    const int warp = thread / 32, lane = thread % 32;
    int lane_m, lane_n;
    if constexpr (WARP_N > 1 && warp_m > 1) {
      lane_n = lane % 2 + lane / 4 % (WARP_N / 2) * 2;
      lane_m = lane / 2 % 2 + lane / (2 * WARP_N) * 2;
    } else {
      lane_n = lane % WARP_N;
      lane_m = lane / WARP_N;
    }
    m = (warp / (threads_n / WARP_N) * warp_m + lane_m) * piece_m;
    n = (warp % (threads_n / WARP_N) * WARP_N + lane_n) * piece_n;
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
#pragma unroll
      for (int j = 0; j < THREAD_N; ++j) sum[i][j] = neutral();
    }
  }

  __device__ __forceinline__ int row(int i) const {
    return m + i / piece_m * threads_m * piece_m + i % piece_m;
  }
  __device__ __forceinline__ int column(int j) const {
    return n + j / piece_n * threads_n * piece_n + j % piece_n;
  }

  template <int PIECE, int STRIDE, int N>
  static __device__ __forceinline__ void read(Compute (&numbers)[N], const Compute* from) {
#pragma unroll
    for (int p = 0; p < N / PIECE; ++p) {
      const Vector<Compute, PIECE> vector = load_vector<PIECE>(from + p * STRIDE);
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

  // The first `depth` terms of the operands' tiles; all TILE_K of them where a term of zeros adds nothing. Of
  // TURN terms each is read while the one before is multiplied.
  template <typename First, typename Second>
  __device__ __forceinline__ void accumulate(const Compute* first, const Compute* second, int depth) {
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
};
