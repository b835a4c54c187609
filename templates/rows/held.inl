// SPDX-License-Identifier: Apache-2.0
// Vectors of a row that a thread holds in registers, for the tuned kernels. Needs Compute and the rest of the
// expression's code, T, VECTOR, ALIGNED, load_hint and store_hint.

// True if rows may begin within a vector. A row's first and last vectors are then written in parts, but read
// whole, with the elements that other rows have there.
constexpr bool shifted = VECTOR > ALIGNED;

__device__ __forceinline__ constexpr bool has(int mask, int k) { return (mask >> k & 1) != 0; }

// The places of a row's elements; its first vector begins `shift` elements before it.
struct Place {
  const T* from[INPUTS];
  T* to[OUTPUTS];
  int shift, columns;
  int readable[INPUTS];  // elements from the row's first one on, as far as vectors of the row reach
};

__device__ __forceinline__ Place place_of(long long row, const T* const (&inputs)[6], T* const (&outputs)[4],
                                          const long long (&strides)[6], long long rows, int columns) {
  Place place;
  place.columns = columns;
  place.shift = 0;
#pragma unroll
  for (int k = 0; k < OUTPUTS; ++k) {
    place.to[k] = outputs[k] + (has(WIDE, k) ? row * columns : row);
    if (shifted && has(WIDE, k)) place.shift = static_cast<int>(row * columns % VECTOR);
  }
#pragma unroll
  for (int k = 0; k < INPUTS; ++k) {
    place.from[k] = inputs[k] + (has(MATRICES, k) ? row * strides[k] : has(PER_ROW, k) ? row : 0);
    place.readable[k] = columns;
    if (shifted && has(MATRICES, k)) {
      place.shift = static_cast<int>(row * strides[k] % VECTOR);
      const long long behind = (rows - 1 - row) * strides[k];
      if (behind > 0) place.readable[k] = columns + (behind < VECTOR ? static_cast<int>(behind) : VECTOR);
    }
  }
  return place;
}

__device__ __forceinline__ Row row_of(const Place& place) {
  Row row;
  row.columns = static_cast<Compute>(place.columns);
  row.inverse = 1 / row.columns;
  Compute x[INPUTS] = {};
#pragma unroll
  for (int k = 0; k < INPUTS; ++k)
    if (has(PER_ROW | SCALARS, k)) x[k] = to_float(*place.from[k]);
  begin(row, x);
  return row;
}

using Loaded = Vector<T, VECTOR>;

// Loads the vector at element `at` of a row; elements outside the row may have any value. CHECKED: some
// elements may be outside.
template <bool CHECKED>
__device__ __forceinline__ Loaded load_part(const T* from, int at, int columns, int readable, bool is_aligned,
                                            bool is_kept) {
  Loaded vector = {};
  const bool is_whole = !CHECKED || (at < columns && at + VECTOR <= readable);
  if (is_whole && (VECTOR == 1 || is_aligned)) {
    const Loaded* const source = reinterpret_cast<const Loaded*>(from + at);
    vector = is_kept ? load_hinted<Hint::none>(source) : load_hinted<load_hint>(source);
  } else if (shifted && at < columns) {
#pragma unroll
    for (int e = 0; e < VECTOR; ++e)
      if (static_cast<unsigned>(at + e) < static_cast<unsigned>(columns)) vector.element[e] = from[at + e];
  }
  return vector;
}

// N vectors, STEP apart. ALL: any vector may be partly or wholly outside the row. Otherwise only the first
// and the last two may be, since N vectors just reach the row's end.
template <int N, int STEP, bool ALL>
struct Held {
  Loaded vector[INPUTS][N];

  static __device__ __forceinline__ constexpr bool checked(int item) {
    return ALL || item == N - 1 || (shifted && (item == 0 || item == N - 2));
  }
  static __device__ __forceinline__ int element(int first, int item, int shift) {
    return (first + item * STEP) * VECTOR - shift;
  }

  // Loads vectors from number `first` on, of the arrays in MASK.
  template <int MASK>
  __device__ __forceinline__ void load(const Place& place, int first) {
#pragma unroll
    for (int item = 0; item < N; ++item) load_item<MASK>(place, first, item);
  }
  template <int MASK>
  __device__ __forceinline__ void load_item(const Place& place, int first, int item) {
    const int at = element(first, item, place.shift);
#pragma unroll
    for (int k = 0; k < INPUTS; ++k) {
      if (!has(MASK, k)) continue;
      const bool is_column = has(PER_COLUMN, k);
      vector[k][item] = checked(item) ? load_part<true>(place.from[k], at, place.columns, place.readable[k],
                                                        !shifted || !is_column, is_column)
                                      : load_part<false>(place.from[k], at, place.columns, place.readable[k],
                                                         !shifted || !is_column, is_column);
    }
  }

  __device__ __forceinline__ void elements(int item, int e, Compute (&x)[INPUTS]) const {
#pragma unroll
    for (int k = 0; k < INPUTS; ++k)
      x[k] = has(MATRICES | PER_COLUMN, k) ? to_float(vector[k][item].element[e]) : Compute(0);
  }

  // Adds terms to `total`; IS_FIRST: it has none yet.
  template <int PASS, bool IS_FIRST>
  __device__ __forceinline__ void reduce(const Row& row, int first, int shift, int columns,
                                         Compute (&total)[Pass<PASS>::count]) const {
    using P = Pass<PASS>;
#pragma unroll
    for (int item = 0; item < N; ++item) {
      const int at = element(first, item, shift);
      Compute term[VECTOR][P::count];
#pragma unroll
      for (int e = 0; e < VECTOR; ++e) {
        Compute x[INPUTS];
        elements(item, e, x);
        P::terms(x, row, term[e]);
        const bool inside =
            shifted ? static_cast<unsigned>(at + e) < static_cast<unsigned>(columns) : at < columns;
        if (checked(item)) {
          Compute none[P::count];
          P::none(none);
#pragma unroll
          for (int r = 0; r < P::count; ++r) term[e][r] = inside ? term[e][r] : none[r];
        }
      }
#pragma unroll
      for (int by = 1; by < VECTOR; by *= 2) {
#pragma unroll
        for (int e = 0; e + by < VECTOR; e += 2 * by) P::combine(term[e], term[e + by]);
      }
      if (IS_FIRST && item == 0) {
#pragma unroll
        for (int r = 0; r < P::count; ++r) total[r] = term[0][r];
      } else {
        P::combine(total, term[0]);
      }
    }
  }

  __device__ __forceinline__ void store_item(const Place& place, const Row& row, int first, int item) const {
    const int at = element(first, item, place.shift);
    Loaded result[OUTPUTS];
#pragma unroll
    for (int e = 0; e < VECTOR; ++e) {
      Compute x[INPUTS], y[OUTPUTS];
      elements(item, e, x);
      results(x, row, y);
#pragma unroll
      for (int k = 0; k < OUTPUTS; ++k)
        if (has(WIDE, k)) result[k].element[e] = from_float<T>(y[k]);
    }
    const bool is_whole = !checked(item) || (at >= 0 && at + VECTOR <= place.columns);
#pragma unroll
    for (int k = 0; k < OUTPUTS; ++k) {
      if (!has(WIDE, k)) continue;
      if (is_whole) {
        store_hinted<store_hint>(reinterpret_cast<Loaded*>(place.to[k] + at), result[k]);
      } else if (shifted) {
#pragma unroll
        for (int e = 0; e < VECTOR; ++e)
          if (static_cast<unsigned>(at + e) < static_cast<unsigned>(place.columns))
            place.to[k][at + e] = result[k].element[e];
      }
    }
  }
};

__device__ __forceinline__ void store_row(const Place& place, const Row& row) {
  Compute y[OUTPUTS];
  row_results(row, y);
#pragma unroll
  for (int k = 0; k < OUTPUTS; ++k)
    if (!has(WIDE, k)) *place.to[k] = from_float<T>(y[k]);
}

// Reduces the totals of LANES neighbouring threads, a power of two up to a warp; each thread gets the result.
template <int PASS, int LANES, int ROWS>
__device__ __forceinline__ void reduce_lanes(Compute (&total)[ROWS][Pass<PASS>::count]) {
#pragma unroll
  for (int by = LANES / 2; by > 0; by /= 2) {
#pragma unroll
    for (int n = 0; n < ROWS; ++n) {
      Compute other[Pass<PASS>::count];
#pragma unroll
      for (int r = 0; r < Pass<PASS>::count; ++r) other[r] = __shfl_xor_sync(0xffffffffu, total[n][r], by);
      Pass<PASS>::combine(total[n], other);
    }
  }
}

// The least power of two that is at least `count`.
__device__ __forceinline__ constexpr int power_of_two(int count) {
  int power = 1;
  while (power < count) power *= 2;
  return power;
}

// The most reductions of a pass.
template <int PASS>
__device__ __forceinline__ constexpr int most_of_a_pass() {
  if constexpr (PASS < PASSES) {
    const int others = most_of_a_pass<PASS + 1>();
    return Pass<PASS>::count > others ? Pass<PASS>::count : others;
  } else {
    return 1;
  }
}
constexpr int MOST = most_of_a_pass<0>();

// Reduces the totals of WARPS neighbouring warps; each thread gets the result. `shared` has a place for each
// warp of the block, `warp` is this warp's number there.
template <int PASS, int WARPS, int ROWS, int BLOCK_WARPS>
__device__ __forceinline__ void reduce_warps(Compute (&total)[ROWS][Pass<PASS>::count], int warp,
                                             Compute (&shared)[ROWS][MOST][BLOCK_WARPS]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  constexpr int count = Pass<PASS>::count;
  if (lane == 0) {
#pragma unroll
    for (int n = 0; n < ROWS; ++n)
#pragma unroll
      for (int r = 0; r < count; ++r) shared[n][r][warp] = total[n][r];
  }
  __syncthreads();
#pragma unroll
  for (int n = 0; n < ROWS; ++n) {
    Pass<PASS>::none(total[n]);
    if (lane % power_of_two(WARPS) < WARPS) {
#pragma unroll
      for (int r = 0; r < count; ++r)
        total[n][r] = shared[n][r][warp / WARPS * WARPS + lane % power_of_two(WARPS)];
    }
  }
  reduce_lanes<PASS, power_of_two(WARPS), ROWS>(total);
}
