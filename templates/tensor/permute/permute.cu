// SPDX-License-Identifier: Apache-2.0
// The template `permute`, for problems of one array without sums: a block takes a box, reads it in the order
// in which the input lies in memory, turns it in shared memory, and writes it in the output's order. Extents
// and strides are constants: the preamble has them, with the problem's index names.
//
// Loads and stores are vectors at multiples of their size, wherever rows begin. A vector that is loaded
// across a row's end has elements outside the row, which are not used; a vector that is stored across a row's
// end is stored element by element.

#include "common/async_copy.cuh"
#include "common/functions.cuh"
#include "common/hinted_access.cuh"
#include "common/load_as.cuh"
#include "common/overlap.inl"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"
#include "tensor/permute/permute_layout.inl"

constexpr Hint load_hint = LOAD == Load::no_allocate ? Hint::no_allocate : Hint::none;
constexpr Hint store_hint = static_cast<Hint>(STORE);
constexpr bool staged = STAGING != Staging::none, copied = STAGING == Staging::async;

// All of it is known at compile time.
LAYOUT_FUNCTION Permutation make_permutation() {
  Permutation p = {};
  p.rank = RANK;
  for (int n = 0; n < RANK; ++n) {
    p.extents[n] = extent_of(n);
    p.input_strides[n] = input_stride_of(n);
    p.output_strides[n] = output_stride_of(n);
    p.input_order[n] = input_order_of(n);
    p.output_order[n] = output_order_of(n);
  }
  p.input_start = input_start;
  p.output_start = output_start;
  p.input_bytes = sizeof(T);
  p.output_bytes = sizeof(Out);
  return p;
}
LAYOUT_FUNCTION Box make_box() { return box_of(make_permutation(), TILE_IN, TILE_OUT, LEAST); }
template <bool READS>
LAYOUT_FUNCTION Rows make_rows() {
  const Permutation p = make_permutation();
  return rows_of(p, make_box(), READS, READS ? VECTOR_IN : VECTOR_OUT, staged ? RANK : 1,
                 READS && PAD > 0 ? padded_dimension(p) : -1);
}
LAYOUT_FUNCTION Series make_series() {
  return series_of(make_permutation(), make_box(), make_rows<false>(), VECTOR_OUT, BLOCK);
}
LAYOUT_FUNCTION Places make_places() {
  return places_of(make_permutation(), make_box(), make_rows<true>(), VECTOR_IN, PAD);
}
LAYOUT_FUNCTION int tile_of(int dimension) {
  constexpr Box box = make_box();
  return static_cast<int>(box.tiles[dimension]);
}
LAYOUT_FUNCTION int place_stride_of(int dimension) {
  constexpr Places places = make_places();
  return static_cast<int>(places.strides[dimension]);
}
template <bool READS>
LAYOUT_FUNCTION int order_of(int n) {
  return READS ? input_order_of(n) : output_order_of(n);
}

// True if 32 bits reach every element of a box; only huge strides need more.
LAYOUT_FUNCTION bool is_near() {
  long long from = 0, to = 0;
  for (int d = 0; d < RANK; ++d) {
    from += (tile_of(d) - 1) * (input_stride_of(d) < 0 ? -input_stride_of(d) : input_stride_of(d));
    to += (tile_of(d) - 1) * output_stride_of(d);
  }
  return from < (1ll << 30) && to < (1ll << 30);
}
template <bool NEAR>
struct OffsetOf {
  using Type = long long;
};
template <>
struct OffsetOf<true> {
  using Type = int;
};
using Offset = typename OffsetOf<is_near()>::Type;

struct Corner {
  int room[RANK];      // places of the box that lie in the arrays
  long long from, to;  // in the arrays
};
__device__ __forceinline__ Corner corner_of(long long block) {
  Corner corner = {{}, input_start, output_start};
#pragma unroll
  for (int n = 0; n < RANK; ++n) {
    const int d = BLOCK_ORDER == BlockOrder::output ? output_order_of(n) : input_order_of(n);
    const long long pieces = (extent_of(d) + tile_of(d) - 1) / tile_of(d);
    const long long at = block % pieces * tile_of(d);
    corner.room[d] = extent_of(d) - at < tile_of(d) ? static_cast<int>(extent_of(d) - at) : tile_of(d);
    corner.from += at * input_stride_of(d);
    corner.to += at * output_stride_of(d);
    block /= pieces;
  }
  return corner;
}

// The last dimension in the order along which a box has several places; -1 if there is none.
template <bool READS>
LAYOUT_FUNCTION int last_of_box() {
  int last = -1;
  for (int n = 0; n < RANK; ++n)
    if (tile_of(order_of<READS>(n)) > 1) last = order_of<READS>(n);
  return last;
}

// The n-th vector that a thread reads or writes.
struct Spot {
  Offset from, to;  // of its row, from the corner
  int place;        // of its row in shared memory
  int first;        // its first element in the row, below 0 where the row begins within the vector
  int length;       // elements of the row
  bool inside;      // whether it has any of them
};
template <bool READS, int WIDTH>
__device__ __forceinline__ Spot spot_of(int n, const Corner& corner) {
  constexpr Rows rows = make_rows<READS>();
  constexpr Shares shares = shares_of(rows, BLOCK);
  constexpr int slots = static_cast<int>(rows.slots), count = static_cast<int>(rows.count);
  // The row is `row` + `fixed`; `fixed` is a constant where the loop over n is unrolled.
  int row, fixed, slot;
  bool inside;
  if constexpr (shares.steady) {
    row = static_cast<int>(threadIdx.x) / slots;
    slot = static_cast<int>(threadIdx.x) % slots;
    fixed = n * static_cast<int>(shares.rows);
    inside = row < static_cast<int>(shares.rows) && row + fixed < count;
  } else {
    const unsigned at = threadIdx.x + n * BLOCK;
    row = static_cast<int>(at / slots);
    slot = static_cast<int>(at % slots);
    fixed = 0;
    inside = row < count;
  }
  constexpr int last = order_of<READS>(rows.dimensions - 1);
  constexpr int elements = static_cast<int>(rows.elements);
  const int length =
      extent_of(last) % tile_of(last) == 0 ? elements : elements / tile_of(last) * corner.room[last];
  Spot spot = {0, 0, 0, slot * WIDTH, length, inside};
#pragma unroll
  for (int k = rows.dimensions; k < RANK; ++k) {
    const int d = order_of<READS>(k);
    const int size = tile_of(d);
    if (size == 1) continue;
    if (fixed % size != 0) {
      row += fixed;
      fixed = 0;
    }
    // The remaining row number is the digit of the last dimension; rows beyond its end are not inside.
    const bool is_last = d == last_of_box<READS>();
    const int digit = is_last ? row : static_cast<int>(static_cast<unsigned>(row) % size);
    row = static_cast<int>(static_cast<unsigned>(row) / size);
    fixed /= size;
    if (extent_of(d) % size != 0 && digit >= corner.room[d]) spot.inside = false;
    spot.from += digit * static_cast<Offset>(input_stride_of(d));
    spot.to += digit * static_cast<Offset>(output_stride_of(d));
    spot.place += digit * place_stride_of(d);
  }
  if constexpr (rows.shifted) {
    // Arrays begin at multiples of a vector.
    const unsigned start = static_cast<unsigned>(READS ? corner.from : corner.to) +
                           static_cast<unsigned>(READS ? spot.from : spot.to);
    spot.first -= static_cast<int>(start & (WIDTH - 1));
  }
  if (spot.first >= length) spot.inside = false;
  return spot;
}

// The type of elements between load and store. Short elements travel as whole words, which compilers would
// otherwise take apart and put together.
template <typename Element, int WIDTH, bool WORDS>
struct HeldAs {
  using Type = Vector<Element, WIDTH>;
};
template <typename Element, int WIDTH>
struct HeldAs<Element, WIDTH, true> {
  using Type = Vector<unsigned, WIDTH* static_cast<int>(sizeof(Element)) / 4>;
};
template <typename Element, int WIDTH>
using HeldOf = typename HeldAs<Element, WIDTH, sizeof(Element) < 4 && WIDTH * sizeof(Element) % 4 == 0>::Type;
template <int WIDTH>
using Held = HeldOf<T, WIDTH>;
template <typename To, typename From>
__device__ __forceinline__ To same_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "the same bytes");
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

using In = Held<VECTOR_IN>;
using Stored = HeldOf<Out, VECTOR_OUT>;
using StoredElements = Vector<Out, VECTOR_OUT>;

// `left`: elements from the corner to the array's end.
__device__ __forceinline__ In load(const T* corner, const Spot& spot, Offset left) {
  constexpr Rows rows = make_rows<true>();
  const Offset at = spot.from + spot.first * static_cast<Offset>(input_stride_of(input_order_of(0)));
  if constexpr (!rows.whole && input_elements % VECTOR_IN != 0) {
    if (at + VECTOR_IN > left) {
      Vector<T, VECTOR_IN> vector = {};
#pragma unroll
      for (int i = 0; i < VECTOR_IN; ++i)
        if (at + i < left) vector.element[i] = corner[at + i];
      return same_bits<In>(vector);
    }
  }
  return load_hinted<load_hint>(reinterpret_cast<const In*>(corner + at));
}

__device__ __forceinline__ void put(T* box, const Spot& spot, const In& vector) {
  constexpr Rows rows = make_rows<true>();
  constexpr int piece = static_cast<int>(make_places().piece);
  if constexpr (piece == VECTOR_IN) {
    store_as(box + spot.place + spot.first, vector);
  } else if constexpr (rows.whole && piece * sizeof(T) % 4 == 0) {
    using Piece = Held<piece>;
    const auto pieces = same_bits<Vector<Piece, VECTOR_IN / piece>>(vector);
#pragma unroll
    for (int i = 0; i < VECTOR_IN / piece; ++i)
      store_as(box + spot.place + spot.first + i * piece, pieces.element[i]);
  } else {
    const auto its = same_bits<Vector<T, VECTOR_IN>>(vector);
#pragma unroll
    for (int i = 0; i < VECTOR_IN; ++i)
      if (rows.whole || spot.first + i < spot.length) box[spot.place + spot.first + i] = its.element[i];
  }
}

// Copies a vector into shared memory without a register.
__device__ __forceinline__ void copy(T* box, const T* corner, const Spot& spot, Offset left) {
  constexpr Rows rows = make_rows<true>();
  constexpr int piece = copied ? static_cast<int>(make_places().piece) : 16 / static_cast<int>(sizeof(T));
  const Offset at = spot.from + spot.first * static_cast<Offset>(input_stride_of(input_order_of(0)));
  T* const to = box + spot.place + spot.first;
  if constexpr (!rows.whole && input_elements % VECTOR_IN != 0) {
    if (at + VECTOR_IN > left) {
#pragma unroll 1
      for (int i = 0; at + i < left; ++i) to[i] = corner[at + i];
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < VECTOR_IN; i += piece) copy_async<piece>(to + i, corner + at + i, true);
}

template <typename Element>
__device__ __forceinline__ Out finished(Element element) {
  if constexpr (IDENTITY) {
    return element;
  } else {
    const Compute input[1] = {static_cast<Compute>(to_float(element))};
    return converted<Out>(apply(input));
  }
}

// The number of innermost dimensions that count as one when the places of a row's neighbours in shared memory
// are computed: as many as a vector crosses once at most.
LAYOUT_FUNCTION int count_inner() {
  constexpr Rows rows = make_rows<false>();
  int count = 1;
  for (int size = tile_of(output_order_of(0)); count < rows.dimensions && size + 1 < VECTOR_OUT; ++count)
    size *= tile_of(output_order_of(count));
  return count;
}
constexpr int inner_dimensions = count_inner();
LAYOUT_FUNCTION int count_inner_elements() {
  int size = 1;
  for (int k = 0; k < inner_dimensions; ++k) size *= tile_of(output_order_of(k));
  return size;
}
constexpr int inner_size = count_inner_elements();
constexpr unsigned last_inner_size = tile_of(output_order_of(inner_dimensions - 1)),
                   last_inner_step = place_stride_of(output_order_of(inner_dimensions - 1));
// The place is modulo 2^32: that of an element before a row's first may be anywhere, as nothing reads it.
template <int BEGIN, int END>
__device__ __forceinline__ unsigned place_along(unsigned element) {
  unsigned place = 0;
#pragma unroll
  for (int k = BEGIN; k < END; ++k) {
    const int d = output_order_of(k);
    const unsigned size = tile_of(d), digit = k + 1 < END ? element % size : element;
    place += digit * static_cast<unsigned>(place_stride_of(d));
    element /= size;
  }
  return place;
}
__device__ __forceinline__ unsigned outer_place(unsigned outer) {
  return place_along<inner_dimensions, make_rows<false>().dimensions>(outer);
}
// The order in which a thread collects a vector's elements: element_of(n) is the n-th. If `turned`, threads
// begin at different elements.
constexpr bool turned = turns_vectors(make_permutation(), make_box(), make_places(), VECTOR_OUT);
__device__ __forceinline__ unsigned turns() { return threadIdx.x % 32 * VECTOR_OUT / 32; }
__device__ __forceinline__ unsigned element_of(unsigned n) { return turned ? (n + turns()) % VECTOR_OUT : n; }
__device__ __forceinline__ void places_in_row(int first, int (&places)[VECTOR_OUT]) {
  constexpr Rows rows = make_rows<false>();
  constexpr bool is_all = rows.dimensions == inner_dimensions;
  if constexpr (is_all || (!rows.shifted && inner_size % VECTOR_OUT == 0)) {
    // The vector does not cross the end of the inner dimensions.
    const unsigned at = is_all ? first : static_cast<unsigned>(first) % inner_size;
    const unsigned outer = is_all ? 0 : outer_place(static_cast<unsigned>(first) / inner_size);
#pragma unroll
    for (int n = 0; n < VECTOR_OUT; ++n)
      places[n] = static_cast<int>(outer + place_along<0, inner_dimensions>(at + element_of(n)));
  } else {
    // The vector crosses the end of the inner dimensions at most once. `first` may be below 0, but by less
    // than a vector.
    const unsigned next = first + inner_size, at = next % inner_size, outer = next / inner_size;
    const unsigned here = outer_place(outer - 1),
                   there = outer_place(outer) - last_inner_size * last_inner_step;
#pragma unroll
    for (int n = 0; n < VECTOR_OUT; ++n) {
      const unsigned i = at + element_of(n);
      places[n] = static_cast<int>((i < inner_size ? here : there) + place_along<0, inner_dimensions>(i));
    }
  }
}

LAYOUT_FUNCTION bool gathers() {
  return gathers_vectors(make_permutation(), make_box(), make_rows<true>(), make_rows<false>(), make_places(),
                         VECTOR_OUT);
}

// Joins short elements into words; compilers take more instructions for that.
template <typename Element>
__device__ __forceinline__ Stored joined(const Element (&elements)[VECTOR_OUT]) {
  constexpr int bytes = sizeof(Element), words = VECTOR_OUT * bytes / 4;
  if constexpr (bytes < 4 && VECTOR_OUT * bytes % 4 == 0) {
    using Bits = typename Moved<bytes>::Type;
    const auto pair = [&](int i) {
      return __byte_perm(same_bits<Bits>(elements[i]), same_bits<Bits>(elements[i + 1]),
                         bytes == 1 ? 0x40 : 0x5410);
    };
    Stored vector;
#pragma unroll
    for (int i = 0; i < words; ++i)
      vector.element[i] = bytes == 1 ? __byte_perm(pair(4 * i), pair(4 * i + 2), 0x5410) : pair(2 * i);
    return vector;
  } else {
    Stored vector;
#pragma unroll
    for (int i = 0; i < VECTOR_OUT; ++i) vector.element[i] = elements[i];
    return vector;
  }
}
__device__ __forceinline__ Stored stored_of(const Held<VECTOR_OUT>& held) {
  const auto its = same_bits<Vector<T, VECTOR_OUT>>(held);
  Out elements[VECTOR_OUT];
#pragma unroll
  for (int i = 0; i < VECTOR_OUT; ++i) elements[i] = finished(its.element[i]);
  return joined(elements);
}
__device__ __forceinline__ void store_whole(Out* to, const Held<VECTOR_OUT>& held) {
  if constexpr (IDENTITY) {
    store_hinted<store_hint>(reinterpret_cast<Held<VECTOR_OUT>*>(to), held);
  } else {
    store_hinted<store_hint>(reinterpret_cast<Stored*>(to), stored_of(held));
  }
}

// Turns a vector whose elements were collected from the middle on, so that it begins with the first one.
template <typename Words>
__device__ __forceinline__ Words turned_back(const Words& from) {
  constexpr int words = sizeof(Words) / 4;
  const unsigned bits = 4 * turns() * sizeof(Out), bytes = words == 1 ? 0x32103210 : 0x76543210;
  const unsigned order = bytes << bits | bytes >> (-bits & 31);  // of a result's byte: which one of `from`
  Words to;
#pragma unroll
  for (int i = 0; i < words; ++i)
    to.element[i] = __byte_perm(from.element[0], from.element[words - 1], order >> (16 * i) & 0xffff);
  return to;
}

// Stores a vector of the output. Its elements are in shared memory at `places` behind `from`; `first` and
// `length` are as in Spot.
__device__ __forceinline__ void store(Out* to, const T* from, const int (&places)[VECTOR_OUT], int first,
                                      int length) {
  constexpr Rows rows = make_rows<false>();
  const auto has = [&](int i) {  // one comparison: below 0 is large
    return rows.whole || static_cast<unsigned>(first + i) < static_cast<unsigned>(length);
  };
  Stored vector;
  if constexpr (gathers()) {
    const auto held = load_as<Held<VECTOR_OUT>>(from + places[0]);
    if constexpr (rows.whole) return store_whole(to, held);
    vector = stored_of(held);
  } else {
    Out elements[VECTOR_OUT];
#pragma unroll
    for (int i = 0; i < VECTOR_OUT; ++i) elements[i] = finished(from[places[i]]);
    vector = joined(elements);
    if constexpr (turned) vector = turned_back(vector);
  }
  if (has(0) && has(VECTOR_OUT - 1)) {
    store_hinted<store_hint>(reinterpret_cast<Stored*>(to), vector);
  } else {
    const auto elements = same_bits<StoredElements>(vector);
#pragma unroll
    for (int i = 0; i < VECTOR_OUT; ++i)
      if (has(i)) to[i] = elements.element[i];
  }
}

constexpr auto inner_output_step = static_cast<Offset>(output_stride_of(output_order_of(0)));

// Stores the vector of a spot. The box begins in shared memory at `shift`.
__device__ __forceinline__ void store_spot(Out* corner, const Spot& spot, const T* memory, int shift,
                                           const int (&in_row)[VECTOR_OUT]) {
  int places[VECTOR_OUT];
#pragma unroll
  for (int i = 0; i < VECTOR_OUT; ++i) {
    unsigned place = static_cast<unsigned>(shift + spot.place + in_row[i]);
    // Elements outside the row are not stored, so any place may be read for them.
    if constexpr (!make_rows<false>().whole) place = min(place, static_cast<unsigned>(make_places().all - 1));
    places[i] = static_cast<int>(place);
  }
  store(corner + (spot.to + spot.first * inner_output_step), memory, places, spot.first, spot.length);
}

// Stores the vectors of the n-th series of rows that a thread writes.
__device__ __forceinline__ void store_series(int n, const Corner& corner, Out* to, const T* memory,
                                             int shift) {
  constexpr Rows rows = make_rows<false>();
  constexpr Series series = make_series();
  constexpr unsigned slots = rows.slots;
  const unsigned at = threadIdx.x + n * BLOCK;
  unsigned row = at / slots;
  Offset offset = 0;
  int place = shift;
  const auto move = [&](int d, int digit) {
    offset += digit * static_cast<Offset>(output_stride_of(d));
    place += digit * place_stride_of(d);
  };
  int rows_left = 1;  // of the series' dimension
  if constexpr (series.dimension >= 0) {
    constexpr int d = series.dimension;
    const int digit = static_cast<int>(row % static_cast<unsigned>(series.starts));
    row /= static_cast<unsigned>(series.starts);
    rows_left = corner.room[d] - digit;
    move(d, digit);
  }
#pragma unroll
  for (int k = rows.dimensions; k < RANK; ++k) {
    const int d = output_order_of(k);
    const unsigned size = static_cast<unsigned>(tile_of(d));
    if (size == 1 || d == series.dimension) continue;
    const int digit = static_cast<int>(row % size);
    row /= size;
    if (extent_of(d) % size != 0 && digit >= corner.room[d]) return;
    move(d, digit);
  }
  if (row > 0) return;
  constexpr int last = output_order_of(rows.dimensions - 1);
  constexpr int elements = static_cast<int>(rows.elements);
  const int length =
      extent_of(last) % tile_of(last) == 0 ? elements : elements / tile_of(last) * corner.room[last];
  int first = static_cast<int>(at % slots) * VECTOR_OUT;
  // Arrays begin at multiples of a vector.
  if constexpr (rows.shifted)
    first -= static_cast<int>((static_cast<unsigned>(corner.to) + static_cast<unsigned>(offset)) &
                              (VECTOR_OUT - 1));
  if (first >= length) return;
  int places[VECTOR_OUT];
  places_in_row(first, places);
  // For elements outside the row the row's first element is read.
#pragma unroll
  for (int i = 0; i < VECTOR_OUT; ++i)
    if (!rows.whole && static_cast<unsigned>(first) + element_of(i) >= static_cast<unsigned>(length))
      places[i] = 0;
  const T* from = memory + place;
  to += offset + first * inner_output_step;
  constexpr int d = series.dimension < 0 ? 0 : series.dimension, step = static_cast<int>(series.step);
  constexpr bool whole = series.dimension < 0 || extent_of(d) % tile_of(d) == 0;
#pragma unroll 8
  for (int r = 0; r < static_cast<int>(series.rows); ++r) {
    const bool is_there = whole && r * step + static_cast<int>(series.starts) <= tile_of(d);
    if (!is_there && r * step >= rows_left) break;
    store(to + r * (step * static_cast<Offset>(output_stride_of(d))), from + r * (step * place_stride_of(d)),
          places, first, length);
  }
}

// 64 registers suffice where loads take at most half of them; compilers would take more for addresses.
constexpr int bytes_held = copied ? 0
                                  : static_cast<int>(shares_of(make_rows<staged>(), BLOCK).passes) *
                                        static_cast<int>(sizeof(T)) * (staged ? VECTOR_IN : VECTOR_OUT);
constexpr int resident_threads = bytes_held > 128 ? 512 : 1024;

extern "C" __global__ void __launch_bounds__(BLOCK, resident_threads / BLOCK)
    ENTRY(tensor_permute)(InputPointer<T> input, InOutPointer<Out> output) {
  const Corner corner = corner_of(blockIdx.x);
  const T* const from = input + corner.from;
  Out* const to = output + corner.to;
  start();
  if constexpr (staged) {
    constexpr Rows rows = make_rows<true>();
    constexpr Places places = make_places();
    __shared__ __align__(16) T memory[places.all];
    // A vector has the same alignment in shared memory as in the array.
    const int shift = rows.shifted ? static_cast<int>(corner.from) & (VECTOR_IN - 1) : 0;
    T* const box = memory + shift;
    const long long all_left = input_elements - corner.from;
    const auto left = static_cast<Offset>(all_left < (1 << 30) || sizeof(Offset) == 8 ? all_left : 1 << 30);
    constexpr int loads = static_cast<int>(shares_of(rows, BLOCK).passes);
    if constexpr (copied) {
#pragma unroll
      for (int n = 0; n < loads; ++n) {
        const Spot spot = spot_of<true, VECTOR_IN>(n, corner);
        if (spot.inside) copy(box, from, spot, left);
      }
      wait_for_copies();
    } else {
      In loaded[loads];
#pragma unroll
      for (int n = 0; n < loads; ++n) {
        const Spot spot = spot_of<true, VECTOR_IN>(n, corner);
        if (spot.inside) loaded[n] = load(from, spot, left);
      }
#pragma unroll
      for (int n = 0; n < loads; ++n) {
        const Spot spot = spot_of<true, VECTOR_IN>(n, corner);
        if (spot.inside) put(box, spot, loaded[n]);
      }
    }
    __syncthreads();
    if constexpr (stores_series(make_permutation())) {
#pragma unroll 1
      for (int n = 0; n < static_cast<int>(make_series().passes); ++n)
        store_series(n, corner, to, memory, shift);
    } else {
      constexpr Shares shares = shares_of(make_rows<false>(), BLOCK);
      // True if a thread has the same place in each of its rows.
      constexpr bool same = shares.steady && !make_rows<false>().shifted;
      int in_row[VECTOR_OUT];
      if constexpr (same) places_in_row(spot_of<false, VECTOR_OUT>(0, corner).first, in_row);
#pragma unroll
      for (int n = 0; n < static_cast<int>(shares.passes); ++n) {
        const Spot spot = spot_of<false, VECTOR_OUT>(n, corner);
        if (!spot.inside) continue;
        if constexpr (!same) places_in_row(spot.first, in_row);
        store_spot(to, spot, memory, shift, in_row);
      }
    }
  } else {
    constexpr int moves = static_cast<int>(shares_of(make_rows<false>(), BLOCK).passes);
    constexpr auto input_step = static_cast<Offset>(input_stride_of(output_order_of(0)));
    constexpr auto output_step = static_cast<Offset>(output_stride_of(output_order_of(0)));
    using Loaded = Held<VECTOR_OUT>;
    Loaded loaded[moves];
#pragma unroll
    for (int n = 0; n < moves; ++n) {
      const Spot spot = spot_of<false, VECTOR_OUT>(n, corner);
      if (spot.inside)
        loaded[n] = load_hinted<load_hint>(
            reinterpret_cast<const Loaded*>(from + spot.from + spot.first * input_step));
    }
#pragma unroll
    for (int n = 0; n < moves; ++n) {
      const Spot spot = spot_of<false, VECTOR_OUT>(n, corner);
      if (spot.inside) store_whole(to + spot.to + spot.first * output_step, loaded[n]);
    }
  }
}
