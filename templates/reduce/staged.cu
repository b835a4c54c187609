// reduce of short rows without gaps, by any reduction: a block's threads copy their rows to shared memory
// side by side, and then each has a row to itself, of which nothing is passed between threads.

#include "common/overlap.inl"
#include "common/shared.cuh"
#include "common/vector.cuh"
#include "reduce/general.cuh"

using R = General<static_cast<int>(function), T, wide, SHORT_PLACES != 0>;

static_assert(!overlapped || (LOAD != Load::bypass && LOAD != Load::wide),
              "these hints load by the read-only path");

constexpr bool finds_places = function == Function::argmin || function == Function::argmax;
constexpr bool has_moments =
    function == Function::var || function == Function::std || function == Function::mean_var;

// How a block's rows lie in shared memory, where a thread reads PIECE neighbours of its own at once. From one
// row to the next it is an odd number of pieces, so that a warp's threads read different banks.
template <int PIECE>
struct Pitch {
  int length, gap;
  float inverse;

  explicit __device__ __forceinline__ Pitch(int row_length)
      : length(row_length),
        gap(row_length / PIECE % 2 == 0 ? PIECE : 0),
        inverse(reciprocal(static_cast<float>(row_length))) {}
  __device__ __forceinline__ int place(int element) const {
    // The quotient is exact: half an element is more than what is rounded of up to 256 rows.
    const int row = static_cast<int>((static_cast<float>(element) + 0.5f) * inverse);
    return element + row * gap;
  }
};

// Copies `count` elements.
template <int PIECE>
__device__ __forceinline__ void stage(T* staged, const T* from, int count, const Pitch<PIECE>& pitch) {
  constexpr int step = BLOCK * VECTOR;
  constexpr int part = VECTOR < PIECE ? VECTOR : PIECE;  // of a vector, within a row
  for (int first = static_cast<int>(threadIdx.x) * VECTOR; first + VECTOR <= count; first += ITEMS * step) {
    Vector<T, VECTOR> vector[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int at = first + i * step;
      if (at + VECTOR <= count) vector[i] = load_once<static_cast<int>(LOAD), VECTOR>(from + at);
    }
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const int at = first + i * step;
      if (at + VECTOR > count) continue;
      if (pitch.gap == 0) {
        store_vector<VECTOR>(staged + at, vector[i]);
        continue;
      }
#pragma unroll
      for (int v = 0; v < VECTOR; v += part) {
        Vector<T, part> some;
#pragma unroll
        for (int e = 0; e < part; ++e) some.element[e] = vector[i].element[v + e];
        store_vector<part>(staged + pitch.place(at + v), some);
      }
    }
  }
  if constexpr (VECTOR > 1) {  // less than a vector
    const int at = count / VECTOR * VECTOR + static_cast<int>(threadIdx.x);
    if (at < count) staged[pitch.gap == 0 ? at : pitch.place(at)] = from[at];
  }
}

// A row of this thread alone.
template <int PIECE>
struct Line {
  const T* from;
  int length;

  __device__ __forceinline__ void load(T (&some)[TILE], int at) const {
#pragma unroll
    for (int k = 0; k < TILE; k += PIECE) {
      const Vector<T, PIECE> piece = load_vector<PIECE>(from + at + k);
#pragma unroll
      for (int e = 0; e < PIECE; ++e) some[k + e] = piece.element[e];
    }
  }
  // What is behind the end is 0.
  __device__ __forceinline__ void load_part(T (&some)[TILE], int at) const {
#pragma unroll
    for (int k = 0; k < TILE; k += PIECE) {
      Vector<T, PIECE> piece = {};
      if (at + k < length) piece = load_vector<PIECE>(from + at + k);
#pragma unroll
      for (int e = 0; e < PIECE; ++e) some[k + e] = piece.element[e];
    }
  }

  __device__ __forceinline__ R::Output reduced(Ratios ratios) const {
    const R::Shift shift = R::shift_of(from[0]);
    typename R::Partial total = nothing<R>();
    int at = 0;
#pragma unroll 2
    for (; at + TILE <= length; at += TILE) {
      T some[TILE];
      load(some, at);
      R::template add<TILE, true>(total, some, TILE, Places<TILE, TILE>{at}, shift);
    }
    if (at < length) {
      T some[TILE];
      load_part(some, at);
      R::template add<TILE, false>(total, some, length - at, Places<TILE, TILE>{at}, shift);
    }
    return R::output(total, shift, length, ratios);
  }

  // The extreme and the first tile that has it, and then its place there. The last tile may begin among the
  // one before, which has none that are better. Behind rows shorter than a tile it reads what does not count.
  __device__ __forceinline__ long long place() const {
    using Place = PlaceReduction<T, function == Function::argmax>;
    using Value = Place::Value;
    T best = Value::none();
    int first = 0;
    T some[TILE];
    if (length < TILE) {
#pragma unroll 1
      for (int at = 0; at < length; ++at) best = Value::merge(best, from[at]);
    } else {
#pragma unroll 2
      for (int at = 0; at < length; at += TILE) {
        const int tile = at + TILE <= length ? at : length - TILE;
        load(some, tile);
        const T its = tree<Value, TILE>(some);
        if (Place::is_better(its, best)) first = tile;
        best = Value::merge(best, its);
      }
    }
    load(some, first);
    return first + place_in_tile(some, best);
  }

  // Two passes over the row: its mean, and what its elements are off it. Of TILE sums beside each other each
  // has few terms.
  template <typename Moments>
  __device__ __forceinline__ typename Moments::Output moments(Ratios ratios) const {
    using Number = typename Moments::Number;
    using Plain = typename Moments::Plain;
    const Number inverse = static_cast<Number>(ratios.mean);
    Number sum[TILE] = {};
    each([&](int k, T x) { sum[k] += static_cast<Number>(x); });
    const Number mean = tree<Plain, TILE>(sum) * inverse;
    Number rest[TILE] = {}, squares[TILE] = {};
    each([&](int k, T x) {
      const Number off = static_cast<Number>(x) - mean;
      rest[k] += off;
      squares[k] = fused(off, off, squares[k]);
    });
    const Number left = tree<Plain, TILE>(rest);
    const Number correction = left - left == 0 ? left * inverse : Number(0);  // an infinity has none
    return Moments::written(static_cast<double>(mean) + static_cast<double>(correction),
                            static_cast<double>(tree<Plain, TILE>(squares) - left * correction), ratios);
  }

 private:
  // use(place in a tile, element) of all elements.
  template <typename Use>
  __device__ __forceinline__ void each(Use use) const {
    T some[TILE];
    int at = 0;
#pragma unroll 2
    for (; at + TILE <= length; at += TILE) {
      load(some, at);
#pragma unroll
      for (int k = 0; k < TILE; ++k) use(k, some[k]);
    }
    if (at == length) return;
    load_part(some, at);
#pragma unroll
    for (int k = 0; k < TILE; ++k)
      if (at + k < length) use(k, some[k]);
  }
};

constexpr int most_terms = 8;  // of a sum of moments()

template <int PIECE>
__device__ __forceinline__ void reduce_block(T* staged, const T* x, R::Output* y, long long outer, int length,
                                             Ratios ratios) {
  const Pitch<PIECE> pitch(length);
  const long long first = static_cast<long long>(blockIdx.x) * BLOCK;
  const int rows = outer - first < BLOCK ? static_cast<int>(outer - first) : BLOCK;
  stage<PIECE>(staged, x + first * length, rows * length, pitch);
  __syncthreads();
  const int row = static_cast<int>(threadIdx.x);
  if (row >= rows) return;
  const Line<PIECE> line = {staged + row * (length + pitch.gap), length};
  if constexpr (finds_places) {
    y[first + row] = line.place();
  } else if constexpr (has_moments) {
    y[first + row] = length <= most_terms * TILE ? line.template moments<R>(ratios) : line.reduced(ratios);
  } else {
    y[first + row] = line.reduced(ratios);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(reduce_staged)(const T* x, R::Output* y, long long outer, int length, double mean_ratio,
                         double variance_ratio) {
  DYNAMIC_SHARED(T, staged);
  start();
  const Ratios ratios = {mean_ratio, variance_ratio};
  if (sizeof(T) == 4 && length % 4 == 0) {
    reduce_block<4>(staged, x, y, outer, length, ratios);
  } else if (length % 2 == 0) {
    reduce_block<2>(staged, x, y, outer, length, ratios);
  } else {
    reduce_block<1>(staged, x, y, outer, length, ratios);
  }
}
