// SPDX-License-Identifier: Apache-2.0
// How a warp multiplies elements of 16 bits in tensor cores, with sums in f32, or bytes with sums in i32. A
// thread's sums are those that the instruction gives it: of eight lanes q and four lanes t, rows q of
// THREAD_M groups of eight, and columns 2 t and 2 t + 1 of THREAD_N / 2 groups of eight, until gather() makes
// them all columns of fewer groups. Operands stay in shared memory as they are in the array: row by row where
// their neighbours are terms, else term by term, from which loads turn them. Needs common/warp_matrix.cuh,
// `threads_m`, `threads_n`, TILE_K, THREAD_M, THREAD_N.

constexpr int matrix_terms = 32 / static_cast<int>(sizeof(Held));  // of one product

// Where a lane finds the row that it loads for others, of a tile whose first group of eight begins at
// `start`; the other groups are STEP rows apart. The operand's first matrix of four is that of the terms and
// rows 0 to 7; TERMS_FIRST: the next one is that of other terms, else of other rows.
//
// Loads turn 16 bits at a time, two bytes of a term. So of bytes that stand term by term a load gives a lane
// two rows of two terms, and two loads give it four terms of these two rows. Two groups are then 16 rows that
// are neighbours, beginning at twice `start`: one has the even ones, the other the odd ones. The eight terms
// of a load are chosen so that they lie in different banks: of the four terms of lanes 0 and 1 the first two,
// and of lanes 2 and 3 the last two, or the other way round.
template <typename Side, int STEP, bool TERMS_FIRST>
struct MatrixRows {
  static constexpr bool turned = !Side::by_rows;
  static constexpr bool in_pairs = turned && sizeof(Held) == 1;
  int at;
  unsigned even;  // selects a lane's four terms of the even row, from the words of two loads

  __device__ __forceinline__ MatrixRows(int start, int lane) : even(lane % 4 < 2 ? 0x6420u : 0x2064u) {
    if constexpr (in_pairs) {
      const int to = lane % 8 / 2;
      const int half = lane / 8 % 2 ^ to / 2;
      at = Side::place_of(2 * start, lane / 16 * 16 + to * 4 + half * 2 + lane % 2);
    } else {
      const int group = TERMS_FIRST ? lane / 16 : lane / 8 % 2;
      const int terms = TERMS_FIRST ? lane / 8 % 2 : lane / 16;
      const int in_matrix = lane % 8;
      at = turned ? Side::place_of(start + group * STEP, matrix_terms / 2 * terms + in_matrix)
                  : Side::place_of(start + group * STEP + in_matrix, matrix_terms / 2 * terms);
    }
  }
  // The terms of a product from `term` on, of the groups `group`, an even number, and `group` + 1.
  template <typename Element>
  __device__ __forceinline__ void load(unsigned (&matrix)[4], const Element* tile, int group,
                                       int term) const {
    const Element* const from = tile + (at + group * STEP * Side::row_step + term * Side::term_step);
    if constexpr (in_pairs) {
      unsigned word[4];
      load_matrices<true>(word, from);
#pragma unroll
      for (int terms = 0; terms < 2; ++terms) {
        matrix[TERMS_FIRST ? terms : 2 * terms] = __byte_perm(word[2 * terms], word[2 * terms + 1], even);
        matrix[TERMS_FIRST ? 2 + terms : 2 * terms + 1] =
            __byte_perm(word[2 * terms], word[2 * terms + 1], even + 0x1111u);
      }
    } else {
      load_matrices<turned>(matrix, from);
    }
  }
};

template <typename First, typename Second, typename Element>
__device__ __forceinline__ void multiply_matrices(Compute (&sum)[THREAD_M][THREAD_N], const Element* first,
                                                  const Element* second) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const MatrixRows<First, threads_m, false> rows(warp / (threads_n / 4) * 8, lane);
  const MatrixRows<Second, 2 * threads_n, true> columns(warp % (threads_n / 4) * 8, lane);
#pragma unroll
  for (int term = 0; term < TILE_K; term += matrix_terms) {
    unsigned row[THREAD_M / 2][4], column[larger(1, THREAD_N / 4)][4];
#pragma unroll
    for (int i = 0; i < THREAD_M / 2; ++i) rows.load(row[i], first, 2 * i, term);
#pragma unroll
    for (int j = 0; j < THREAD_N / 4; ++j) columns.load(column[j], second, 2 * j, term);
#pragma unroll
    for (int i = 0; i < THREAD_M / 2; ++i) {
#pragma unroll
      for (int j = 0; j < THREAD_N / 2; ++j) {
        Compute its[4];
#pragma unroll
        for (int n = 0; n < 4; ++n) its[n] = sum[2 * i + n / 2][2 * j + n % 2];
        multiply_add_matrices<Element>(its, row[i], column[j / 2][j % 2 * 2], column[j / 2][j % 2 * 2 + 1]);
#pragma unroll
        for (int n = 0; n < 4; ++n) sum[2 * i + n / 2][2 * j + n % 2] = its[n];
      }
    }
  }
}

// Four lanes have four groups of eight columns, each lane two columns of each group. Afterwards lane t has
// the eight columns of group t.
template <typename Number, int N>
__device__ __forceinline__ void gather(Number (&sum)[N]) {
  const unsigned lane = threadIdx.x % 4;
#pragma unroll
  for (int first = 0; first + 8 <= N; first += 8) {
#pragma unroll
    for (int by = 1; by <= 2; by *= 2) {
#pragma unroll
      for (int group = 0; group < 4; ++group) {
        if ((group & by) != 0) continue;
        const bool upper = (lane & static_cast<unsigned>(by)) != 0;
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          Number& low = sum[first + 2 * group + e];
          Number& high = sum[first + 2 * (group + by) + e];
          const Number received = __shfl_xor_sync(~0u, upper ? low : high, by);
          low = upper ? received : low;
          high = upper ? high : received;
        }
      }
    }
  }
}

// The same of groups that have the even and the odd ones of 16 columns: a lane has four neighbouring columns
// of each 16, and gets eight of the first 16 if it is even, else of the second.
template <typename Number, int N>
__device__ __forceinline__ void gather_pairs(Number (&sum)[N]) {
  const bool odd = threadIdx.x % 2 != 0;
#pragma unroll
  for (int first = 0; first + 8 <= N; first += 8) {
    Number own[4], other[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const Number low = sum[first + e], high = sum[first + 4 + e];
      own[e] = odd ? high : low;
      other[e] = __shfl_xor_sync(~0u, odd ? low : high, 1);
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int its = e % 2 * 2 + e / 2;  // of 2 t, 2 t + 1 of the even columns, then of the odd ones
      sum[first + e] = odd ? other[its] : own[its];
      sum[first + 4 + e] = odd ? own[its] : other[its];
    }
  }
}
