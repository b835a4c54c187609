// SPDX-License-Identifier: Apache-2.0
// The box of the iteration space that a block takes, and its layout in memory. It is plain C++: the kernel
// evaluates it at compile time, the template in permute.cpp when it makes the grid.

constexpr int most_box_dimensions = 12;
struct Permutation {
  int rank;
  long long extents[most_box_dimensions];
  long long input_strides[most_box_dimensions], output_strides[most_box_dimensions];
  int input_order[most_box_dimensions], output_order[most_box_dimensions];  // dimensions by rising stride
  long long input_start, output_start;
  int input_bytes, output_bytes;  // of an element
};
struct Box {
  long long tiles[most_box_dimensions];
};

// The size of an extent's pieces: the whole extent if it needs no more than `need` places, else about equal
// pieces of about `need` places, rounded up to a multiple.
LAYOUT_FUNCTION long long piece_of(long long extent, long long need, long long multiple) {
  if (need >= extent) return extent;
  const long long pieces = (extent + need - 1) / need;
  const long long piece = (extent + pieces - 1) / pieces;
  const long long whole = (piece + multiple - 1) / multiple * multiple;
  return whole < extent ? whole : extent;
}

LAYOUT_FUNCTION int bytes_of(const Permutation& p, bool reads) {
  return reads ? p.input_bytes : p.output_bytes;
}

// The number of elements at whose multiples all rows of an array begin: a power of two, at most a sector of
// 32 bytes.
LAYOUT_FUNCTION long long grain_of(const Permutation& p, bool reads) {
  const long long* const strides = reads ? p.input_strides : p.output_strides;
  const int first = reads ? p.input_order[0] : p.output_order[0];
  if (strides[first] != 1) return 1;
  long long grain = 32 / bytes_of(p, reads);
  for (int d = 0; d < p.rank; ++d)
    while (d != first && strides[d] % grain != 0) grain /= 2;
  while ((reads ? p.input_start : p.output_start) % grain != 0) grain /= 2;
  return grain;
}

// Takes whole dimensions, in the order of rising strides, until `tile_in` elements are read one after the
// other, and in the same way until `tile_out` elements are written.
LAYOUT_FUNCTION Box box_of(const Permutation& p, long long tile_in, long long tile_out, long long least) {
  Box box = {};
  for (int d = 0; d < p.rank; ++d) box.tiles[d] = 1;
  const long long grain_in = grain_of(p, true), grain_out = grain_of(p, false);
  const long long both = grain_in > grain_out ? grain_in : grain_out;
  const bool shared = p.input_order[0] == p.output_order[0];
  for (int side = 0; side < 2; ++side) {
    const int* const order = side == 0 ? p.input_order : p.output_order;
    const long long grain = shared ? both : side == 0 ? grain_in : grain_out;
    long long need = side == 0 ? tile_in : tile_out;
    for (int n = 0; n < p.rank && need > 1; ++n) {
      const int d = order[n];
      const long long piece = piece_of(p.extents[d], need, n == 0 ? grain : 1);
      if (piece > box.tiles[d]) box.tiles[d] = piece;
      if (box.tiles[d] < p.extents[d]) break;
      need = (need + box.tiles[d] - 1) / box.tiles[d];
    }
  }
  long long elements = 1;
  for (int d = 0; d < p.rank; ++d) elements *= box.tiles[d];
  for (int n = 0; n < p.rank && elements < least; ++n) {
    const int d = p.output_order[n];
    const long long need = box.tiles[d] * ((least + elements - 1) / elements);
    const long long piece = piece_of(p.extents[d], need, d == p.input_order[0] || n == 0 ? both : 1);
    if (piece <= box.tiles[d]) continue;
    elements = elements / box.tiles[d] * piece;
    box.tiles[d] = piece;
  }
  return box;
}

// The dimension before which rows in shared memory are padded: the first in which the orders differ, along
// which neighbouring threads gather. -1: none, because the dimensions that both arrays have in common cover
// the banks.
LAYOUT_FUNCTION int padded_dimension(const Permutation& p) {
  long long common = p.input_bytes;
  for (int n = 0; n < p.rank && common < 128; ++n) {
    const int d = p.output_order[n];
    if (d != p.input_order[n]) return d;
    common *= p.extents[d];
  }
  return -1;
}

// A box as rows of one array. The elements of a row lie one after the other, over as many dimensions as
// possible.
struct Rows {
  int dimensions;      // so many of the order's first make a row
  long long elements;  // of a row
  long long count;
  bool shifted;     // whether rows begin between multiples of a vector
  bool whole;       // whether rows consist of whole vectors
  long long slots;  // vectors that a row touches, at most
};
LAYOUT_FUNCTION Rows rows_of(const Permutation& p, const Box& box, bool reads, long long vector, int most,
                             int end) {
  const long long* const strides = reads ? p.input_strides : p.output_strides;
  const int* const order = reads ? p.input_order : p.output_order;
  Rows rows = {1, box.tiles[order[0]], 1, false, true, 0};
  for (; rows.dimensions < most; ++rows.dimensions) {
    const int inner = order[rows.dimensions - 1], d = order[rows.dimensions];
    if (box.tiles[inner] < p.extents[inner] || strides[d] != strides[inner] * p.extents[inner]) break;
    if (box.tiles[d] == 1 || d == end) break;
    rows.elements *= box.tiles[d];
  }
  for (int n = rows.dimensions; n < p.rank; ++n) {
    rows.count *= box.tiles[order[n]];
    if (strides[order[n]] % vector != 0) rows.shifted = true;
  }
  const int last = order[rows.dimensions - 1];
  if ((reads ? p.input_start : p.output_start) % vector != 0) rows.shifted = true;
  if (box.tiles[last] < p.extents[last] && box.tiles[last] * strides[last] % vector != 0) rows.shifted = true;
  const long long at_the_edge = rows.elements / box.tiles[last] * (p.extents[last] % box.tiles[last]);
  rows.whole = !rows.shifted && rows.elements % vector == 0 && at_the_edge % vector == 0;
  rows.slots = (rows.elements + (rows.shifted ? 2 : 1) * (vector - 1)) / vector;
  return rows;
}

// How the threads of a block share the vectors of its rows. Each thread keeps its place in the row if that
// leaves few threads without a vector.
struct Shares {
  bool steady;
  long long rows;    // that the block takes at once, if steady
  long long passes;  // vectors of a thread
};
LAYOUT_FUNCTION Shares shares_of(const Rows& rows, long long block) {
  const bool steady = rows.slots <= block && block % rows.slots * 8 <= block;
  if (!steady) return {false, 0, (rows.count * rows.slots + block - 1) / block};
  const long long at_once = block / rows.slots;
  return {true, at_once, (rows.count + at_once - 1) / at_once};
}

// Rows of the output that a thread writes one after the other: they differ in one dimension, by multiples of
// `step`, so that all of them begin at the same element of a vector and their elements' places are found
// once.
struct Series {
  int dimension;  // -1: each row is alone
  long long step;
  long long starts;  // series along the dimension
  long long rows;    // of a series, at most
  long long passes;  // vectors' series of a thread
};
// True if threads store series of rows: finding places costs more than moving short elements.
LAYOUT_FUNCTION bool stores_series(const Permutation& p) { return p.input_bytes < 4; }
LAYOUT_FUNCTION Series series_of(const Permutation& p, const Box& box, const Rows& rows, long long vector,
                                 long long block) {
  Series series = {-1, 1, 1, 1, 0};
  for (int n = rows.dimensions; n < p.rank; ++n) {
    const int d = p.output_order[n];
    long long step = 1;
    while (p.output_strides[d] * step % vector != 0) step *= 2;
    const long long length = (box.tiles[d] + step - 1) / step;
    if (length > series.rows) series = {d, step, step < box.tiles[d] ? step : box.tiles[d], length, 0};
  }
  const long long all = rows.slots * rows.count;
  if (series.dimension >= 0) {
    const long long tile = box.tiles[series.dimension];
    // Each thread has a series if there are enough rows.
    while (series.rows > 1 && all / tile * series.starts < block) {
      series.step *= 2;
      series.starts = series.step < tile ? series.step : tile;
      series.rows = (tile + series.step - 1) / series.step;
    }
    series.passes = (all / tile * series.starts + block - 1) / block;
  } else {
    series.passes = (all + block - 1) / block;
  }
  return series;
}

// The box lies in shared memory as it is read. Where rows begin between multiples of a vector they do so in
// shared memory too: a vector that is read across a row's end is put there as it is.
struct Places {
  long long strides[most_box_dimensions];
  long long piece;  // so many elements of a vector are put there at once
  long long all;
};
LAYOUT_FUNCTION Places places_of(const Permutation& p, const Box& box, const Rows& rows, long long vector,
                                 long long pad) {
  const int padded = padded_dimension(p);
  if (padded < 0 || box.tiles[padded] == 1) pad = 0;
  Places places = {{}, vector, 0};
  while (!rows.shifted && pad % places.piece != 0) places.piece /= 2;
  long long stride = 1;
  for (int n = 0; n < rows.dimensions; ++n) {
    places.strides[p.input_order[n]] = stride;
    stride *= box.tiles[p.input_order[n]];
  }
  long long size = rows.elements;
  for (int n = rows.dimensions; n < p.rank; ++n) {
    const int d = p.input_order[n];
    if (box.tiles[d] == 1) continue;
    stride = size + (d == padded ? pad : 0) + (rows.shifted ? vector - 1 : 0);
    // The stride is the array's, modulo a piece.
    const long long like = rows.shifted ? p.input_strides[d] : 0;
    stride += ((like - stride) % places.piece + places.piece) % places.piece;
    places.strides[d] = stride;
    size += (box.tiles[d] - 1) * stride;
  }
  places.all = (size + (rows.shifted ? 2 : 1) * (vector - 1)) / vector * vector;
  return places;
}

// True if a vector of the output lies in one piece, at a multiple of its size, in shared memory too.
LAYOUT_FUNCTION bool gathers_vectors(const Permutation& p, const Box& box, const Rows& in, const Rows& out,
                                     const Places& places, long long vector) {
  const int first = p.output_order[0];
  if (places.strides[first] != 1 || box.tiles[first] % vector != 0 || in.shifted || out.shifted) return false;
  for (int d = 0; d < p.rank; ++d)
    if (d != first && places.strides[d] % vector != 0) return false;
  return true;
}

// True if a thread collects a vector's elements from a different element on than its neighbours, and turns
// the vector then: otherwise neighbours in the output that are whole words apart would meet in few banks.
LAYOUT_FUNCTION bool turns_vectors(const Permutation& p, const Box& box, const Places& places,
                                   long long vector) {
  const int first = p.output_order[0];
  return stores_series(p) && p.input_bytes == p.output_bytes && vector > 1 && vector * p.output_bytes >= 4 &&
         vector * p.output_bytes <= 8 && places.strides[first] * p.input_bytes % 4 == 0 &&
         box.tiles[first] >= 2 * vector;
}
