// SPDX-License-Identifier: Apache-2.0
// A block's tile of the image in shared memory, with the windows' overhang: words, then the offset in the
// image of each row. A word of two elements has one of the tile's left half and the one at the same place of
// its right half.

struct NetworkShape {
  LayoutSize half_x, tile_y, outputs_x, vector;  // columns of a half, rows, outputs of a thread; elements
  LayoutSize lanes, word_bytes;                  // elements of a word, its bytes
  LayoutSize window_depth, window_height, window_width, before_x;
};
struct NetworkLayout {
  LayoutSize shift;            // the first column is moved so far that vectors of the image are vectors here
  LayoutSize thread_columns;   // of a pair's row, those beside each other that a thread reads together
  LayoutSize needed, pitch;    // columns of a half with its windows, and of a row
  LayoutSize tile_rows, rows;  // of a plane, of all planes
  LayoutSize bytes;            // of all
};

LAYOUT_FUNCTION NetworkLayout network_layout(const NetworkShape& s) {
  NetworkLayout at = {};
  at.shift = (s.vector - s.before_x % s.vector) % s.vector;
  at.thread_columns = s.lanes == 1 ? 1 : larger(s.outputs_x, 2);
  at.needed = s.half_x + s.window_width - 1 + at.shift;
  at.pitch = round_up(at.needed, larger(larger(s.vector, 4), at.thread_columns));
  at.tile_rows = s.tile_y + s.window_height - 1;
  at.rows = s.window_depth * at.tile_rows;
  at.bytes = at.rows * (at.pitch * s.word_bytes + 8);
  return at;
}
