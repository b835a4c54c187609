// The box of the iteration space that a block takes: plain C++, which the kernel evaluates when it is
// compiled and its template in C++ when it makes the grid.

constexpr int most_box_dimensions = 12;
struct Box {
  long long tiles[most_box_dimensions];
};

// `need` places or all of an extent, in pieces of about the same size; a multiple, where they are not all.
BOX_FUNCTION long long piece_of(long long extent, long long need, long long multiple) {
  if (need >= extent) return extent;
  const long long pieces = (extent + need - 1) / need;
  const long long piece = (extent + pieces - 1) / pieces;
  return (piece + multiple - 1) / multiple * multiple;
}

// Dimensions are taken whole, in the order of rising strides, until `tile_in` elements are read one behind
// the other, and likewise until `tile_out` are written.
BOX_FUNCTION Box box_of(int rank, const long long* extents, const int* input_order, const int* output_order,
                        long long tile_in, long long tile_out, long long least, long long vector_in,
                        long long vector_out) {
  Box box = {};
  for (int d = 0; d < rank; ++d) box.tiles[d] = 1;
  const long long both = vector_in > vector_out ? vector_in : vector_out;
  const bool shared = input_order[0] == output_order[0];
  for (int side = 0; side < 2; ++side) {
    const int* const order = side == 0 ? input_order : output_order;
    const long long vector = shared ? both : side == 0 ? vector_in : vector_out;
    long long need = side == 0 ? tile_in : tile_out;
    for (int n = 0; n < rank && need > 1; ++n) {
      const int d = order[n];
      const long long piece = piece_of(extents[d], need, n == 0 ? vector : 1);
      if (piece > box.tiles[d]) box.tiles[d] = piece;
      if (box.tiles[d] < extents[d]) break;
      need = (need + box.tiles[d] - 1) / box.tiles[d];
    }
  }
  long long elements = 1;
  for (int d = 0; d < rank; ++d) elements *= box.tiles[d];
  for (int n = 0; n < rank && elements < least; ++n) {
    const int d = output_order[n];
    const long long need = box.tiles[d] * ((least + elements - 1) / elements);
    const long long piece = piece_of(extents[d], need, d == input_order[0] || n == 0 ? both : 1);
    if (piece <= box.tiles[d]) continue;
    elements = elements / box.tiles[d] * piece;
    box.tiles[d] = piece;
  }
  return box;
}
